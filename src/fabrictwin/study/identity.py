# SPDX-License-Identifier: Apache-2.0
"""What a stored result depends on beside its scenario: the program that made it."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parent.parent
_DECISIVE = ("model", "subnet", "engine", "runtime/offline.py", "units.py")


@cache
def program_sha256() -> str:
    """Hash of all sources that a result depends on."""
    digest = hashlib.sha256()
    for name in _DECISIVE:
        path = _PACKAGE / name
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.relative_to(_PACKAGE).as_posix().encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()
