# SPDX-License-Identifier: Apache-2.0
"""The folder of a sweep: a file for each point, so that a sweep that was killed goes on where it was."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from fabrictwin.cli.output_file import check_folder, write_text
from fabrictwin.cli.result_rows import Result

SCHEMA = "fabrictwin.sweep-point/1"
KEY_CHARACTERS = 24


class SweepFolder:
    """Results of points, by their keys.

    Args:
        folder: The folder; it is made when the first result is kept.

    Attributes:
        bad: What was wrong with files that could not be used.

    Raises:
        InputError: It is a file, or nothing can be written there.
    """

    def __init__(self, folder: Path) -> None:
        check_folder(folder)
        self._folder = folder
        self.bad: list[str] = []

    def _file(self, key: str) -> Path:
        return self._folder / f"{key[:KEY_CHARACTERS]}.json"

    def keep(self, key: str, values: str, result: Result) -> None:
        """Writes a result, whole or not at all.

        Args:
            key: Key of the point.
            values: Its parameters, for people who look into the folder.
            result: Its result.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        content = {
            "schema": SCHEMA,
            "key": key,
            "point": values,
            "sha256": _sha256(result),
            "result": result,
        }
        write_text(self._file(key), json.dumps(content, ensure_ascii=True))

    def find(self, key: str) -> Result | None:
        """The result of a point; None where there is none that is whole, which ``bad`` then says."""
        file = self._file(key)
        try:
            content = json.loads(file.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self.bad.append(f"{file}: not a result: {error}")
            return None
        problem = _problem(content, key)
        if problem:
            self.bad.append(f"{file}: {problem}")
            return None
        result: Result = content["result"]
        return result


def _problem(content: Any, key: str) -> str:
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        return f"not a {SCHEMA}"
    if content.get("key") != key:
        return "of another point"
    if content.get("sha256") != _sha256(content.get("result")):
        return "its result is not what was written"
    return ""


def _sha256(result: Any) -> str:
    return hashlib.sha256(json.dumps(result, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
