# SPDX-License-Identifier: Apache-2.0
"""Reads a file that a user names, and never more of it than its bound."""

from __future__ import annotations

from pathlib import Path

from fabrictwin.errors import InputError


def read_bytes(path: Path, *, largest_bytes: int) -> bytes:
    """The content of a regular file.

    Args:
        path: The file.
        largest_bytes: Bound of its size.

    Raises:
        InputError: There is no such file, it is a folder or a device, it is too large, or it cannot be read.
    """
    file = str(path)
    try:
        problem = file_problem(path)
        if problem:
            raise InputError.of(problem, file=file)
        with path.open("rb") as stream:
            content = stream.read(largest_bytes + 1)
    except OSError as error:
        raise InputError.of(f"cannot be read: {error.strerror}", file=file) from None
    if len(content) > largest_bytes:
        raise InputError.of(f"is larger than {largest_bytes:,} bytes", file=file)
    return content


def file_problem(path: Path) -> str:
    """Why a path is not that of a regular file; empty if it is."""
    if path.is_file():
        return ""
    if path.is_dir():
        return "a folder, not a file"
    return "not a regular file" if path.exists() else "no such file"
