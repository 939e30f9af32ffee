# SPDX-License-Identifier: Apache-2.0
"""Who does something to a twin; it stands in the command log and in the lists."""

from __future__ import annotations

import getpass


def owner_or_user(owner: str | None) -> str:
    """Who was named, or who runs this."""
    if owner:
        return owner
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no name for this user id
        return "unknown"
