# SPDX-License-Identifier: Apache-2.0
"""Generated code of version 1 of the management API; see ``protos/fabrictwin/api/v1``."""
