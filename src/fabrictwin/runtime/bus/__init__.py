# SPDX-License-Identifier: Apache-2.0
"""The bus: ordered, bounded channels of Windows between the logical processes of a twin."""

from fabrictwin.runtime.bus.interface import DEFAULT_BOUND, START, Bus, Cursor, Entry

__all__ = ["DEFAULT_BOUND", "START", "Bus", "Cursor", "Entry"]
