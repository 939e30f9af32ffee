# SPDX-License-Identifier: Apache-2.0
"""Version 1 of the bus messages; never edited by hand, see ``make protos``."""
