# SPDX-License-Identifier: Apache-2.0
"""The drills that are at hand: those that come with the project, or those of a folder."""

from __future__ import annotations

from pathlib import Path

from fabrictwin.errors import InputError, nearest

SUFFIX = ".yaml"


def drills_folder() -> Path:
    """The folder of the project's own drills: below the working directory, or beside the sources."""
    below = Path("deploy/drills")
    return below if below.is_dir() else Path(__file__).resolve().parents[3] / below


def drill_files(folder: Path) -> dict[str, Path]:
    """Every drill of a folder by its name, in order.

    Raises:
        InputError: There is no such folder.
    """
    if not folder.is_dir():
        raise InputError.of("no such folder of drills", file=str(folder))
    return {path.stem: path for path in sorted(folder.glob(f"*{SUFFIX}"))}


def find_drill(folder: Path, name: str) -> Path:
    """The file of a drill.

    Args:
        folder: Where drills are.
        name: Its name, or the path of its file.

    Raises:
        InputError: There is none.
    """
    if name.endswith(SUFFIX):
        return Path(name)
    files = drill_files(folder)
    if name not in files:
        raise InputError.of(f"no drill {name[:80]!r} in {folder}{nearest(name, files)}")
    return files[name]
