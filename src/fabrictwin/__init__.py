# SPDX-License-Identifier: Apache-2.0
"""FabricTwin: a digital twin of InfiniBand and RoCE fabrics."""
