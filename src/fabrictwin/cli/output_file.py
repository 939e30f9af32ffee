# SPDX-License-Identifier: Apache-2.0
"""Files that a command writes: checked before the work begins, and written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from fabrictwin.cli.console import output
from fabrictwin.errors import InputError, Problem

STANDARD_OUTPUT = "-"


def check_writable(targets: Iterable[str | Path | None], *, inputs: Iterable[Path] = ()) -> None:
    """Makes sure, before a long run, that its output can be written.

    Args:
        targets: Files to be written after the run; None and ``-`` (standard output) are passed over.
        inputs: Files that are read, which must not be overwritten.

    Raises:
        InputError: Every target that is a folder, an input or another target, or that cannot be written.
    """
    taken = {_identity(path): "would overwrite the file that is read" for path in inputs}
    problems: list[Problem] = []
    for target in targets:
        if target is None or target == STANDARD_OUTPUT:
            continue
        file = Path(target)
        problem = taken.get(_identity(file)) or _obstacle(file)
        taken.setdefault(_identity(file), "two outputs would be written to the same file")
        if problem:
            problems.append(Problem(problem, file=str(file)))
    if problems:
        raise InputError(problems)


def check_folder(folder: Path) -> None:
    """Makes sure that a folder is there, or can be made, and takes new files.

    Raises:
        InputError: It is a file, or nothing can be written there.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError.of("expected a folder to write to, this is a file", file=str(folder))
    above = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    problem = _cannot_write_in(above)
    if problem:
        raise InputError.of(problem, file=str(folder))


def _identity(file: Path) -> str:
    return os.path.realpath(file)


def _obstacle(file: Path) -> str:
    try:
        if file.is_dir():
            return "expected a file to write to, this is a folder"
        if not file.parent.is_dir():
            return f"cannot be written: there is no folder {str(file.parent)!r}"
        if _is_special(file):
            return "" if os.access(file, os.W_OK) else "cannot be written: no permission"
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    return _cannot_write_in(Path(_identity(file)).parent)


def _is_special(file: Path) -> bool:
    """Whether it is a device or a pipe: there is no whole file to replace."""
    return file.exists() and not file.is_file()


def _cannot_write_in(folder: Path) -> str:
    try:
        with TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return f"cannot be written: {error.strerror}"


def write_text(target: Path, text: str) -> None:
    """Writes a file; until all of it is written, whatever had the name before keeps it.

    Raises:
        OSError: It cannot be written.
    """
    if _is_special(target):
        target.write_text(text, encoding="utf-8")
        return
    whole = Path(_identity(target))
    draft = whole.with_name(f".{whole.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(whole)
    finally:
        draft.unlink(missing_ok=True)


def write_json(result: dict[str, Any], target: str) -> None:
    """Writes a result.

    Args:
        result: A result of one of our schemas.
        target: A file, or ``-`` for standard output.

    Raises:
        OSError: It cannot be written.
    """
    text = json.dumps(result, indent=1, ensure_ascii=True) + "\n"
    if target == STANDARD_OUTPUT:
        output().out(text, end="", highlight=False)
    else:
        write_text(Path(target), text)
