# SPDX-License-Identifier: Apache-2.0
"""The result as JSON. What only the process knows is added here: the engine may not look at the clock."""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fabrictwin.errors import InputError, Problem

STANDARD_OUTPUT = "-"


def peak_rss_bytes() -> int:
    """The largest resident set of this process so far."""
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes


def check_writable(targets: Iterable[str | Path | None]) -> None:
    """Makes sure, before a long run, that its output can be written.

    Args:
        targets: Files to be written after the run; None and ``-`` (standard output) are passed over.

    Raises:
        InputError: Every target that is a folder, or whose folder is missing or read-only.
    """
    files = [Path(target) for target in targets if target not in (None, STANDARD_OUTPUT)]
    problems = [Problem(problem, file=str(file)) for file in files if (problem := _obstacle(file))]
    if problems:
        raise InputError(problems)


def _obstacle(target: Path) -> str:
    if target.is_dir():
        return "expected a file to write to, this is a folder"
    if not target.parent.is_dir():
        return f"cannot be written: there is no folder {str(target.parent)!r}"
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        return "cannot be written: no permission"
    return ""


def write_json(result: dict[str, Any], target: str) -> None:
    """Writes a result.

    Args:
        result: A result of schema ``fabrictwin.result/1``.
        target: A file, or ``-`` for standard output.
    """
    text = json.dumps(result, indent=1, ensure_ascii=True) + "\n"
    if target == STANDARD_OUTPUT:
        sys.stdout.write(text)
    else:
        Path(target).write_text(text, encoding="utf-8")
