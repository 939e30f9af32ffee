# SPDX-License-Identifier: Apache-2.0
"""A scenario as a document of plain values, to derive others from: values change, lines stay."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabrictwin.model.scenario import Scenario, expand_document
from fabrictwin.model.yaml_loader import LARGEST_FILE_BYTES, Document, FieldPath, read_document, read_text

BASE = "base"
_HARDWARE = ("switch_model", "hca_model")


@dataclass(frozen=True)
class Source:
    """What a scenario is made of.

    Attributes:
        document: Its values, with the lines of the file that they came from.
        base: Folder that imported files are looked for in.
    """

    document: Document
    base: Path

    @property
    def value(self) -> Any:
        """Nested dict, list and plain values."""
        return self.document.value

    @property
    def sha256(self) -> str:
        """Hash of the values, however they are written."""
        text = json.dumps(self.value, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def expand(self) -> Scenario:
        """The scenario.

        Raises:
            InputError: With every problem of it.
        """
        return expand_document(self.document, sha256=self.sha256, base=self.base)

    def with_value(self, value: Any) -> Source:
        """Other values; one that is not in the file has the line of what it stands in."""
        return Source(Document(value, self.document.file, self.document.lines), self.base)

    def change(self, changes: Mapping[FieldPath, Any]) -> Source:
        """The same with some values changed or added, one after the other."""
        value = self.value
        for path, new in changes.items():
            value = put(value, path, new)
        return self.with_value(value)


def read_source(path: Path) -> Source:
    """Reads a scenario file, without judging it.

    Raises:
        InputError: It cannot be read, or is not YAML.
    """
    text = read_text(path, largest_bytes=LARGEST_FILE_BYTES)
    return Source(read_document(text, str(path)), path.parent)


def put(value: Any, path: Sequence[str | int], new: Any) -> Any:
    """A copy of nested values with one of them changed; mappings on the way are made where there are none.

    A hardware model that is only named becomes a mapping with that ``base`` where a key below it is set.

    Raises:
        LookupError: An index stands where there is no list, or beyond its end.
    """
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        if not isinstance(value, list) or step >= len(value):
            raise LookupError(f"there is no entry {step} in it")
        return [put(item, rest, new) if index == step else item for index, item in enumerate(value)]
    inner = dict(value) if isinstance(value, dict) else {}
    below = inner.get(step)
    if step in _HARDWARE and isinstance(below, str) and rest:
        below = {BASE: below}
    inner[step] = put(below, rest, new)
    return inner
