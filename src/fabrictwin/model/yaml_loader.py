# SPDX-License-Identifier: Apache-2.0
"""A strict YAML 1.2 reader that knows the line of every key and value, and refuses what is only a trap.

Anchors, aliases, merge keys, tags, directives and several documents are refused; so are duplicate keys. Only
``true``/``false``, ``null``, decimal integers and decimal fractions are anything but text: ``on``, ``010``,
``0x1f``, ``22:22`` stay text, and the field that wanted a number says so. Size, depth and node count are
bounded, so hostile input is refused within a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.input_file import read_bytes

LARGEST_FILE_BYTES = 512 * 1024
LARGEST_LINE_CHARACTERS = 16 * 1024
LARGEST_DEPTH = 16
LARGEST_NODE_COUNT = 25_000
"""Keys and values. Reading one takes up to 20 µs, and hostile input has to be refused within a second."""
LARGEST_PROBLEM_COUNT = 20
"""Problems of form after which reading stops; a file with that many is not a scenario."""

FieldPath: TypeAlias = tuple[str | int, ...]
"""Where a value stands: keys and list indices from the root."""

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,18})\Z")
_FRACTION = re.compile(r"[-+]?((0|[1-9][0-9]{0,18})(\.[0-9]{1,30})?|\.[0-9]{1,30})([eE][-+]?[0-9]{1,2})?\Z")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


@dataclass(frozen=True)
class Document:
    """A YAML document as plain values, with the line of each.

    Attributes:
        value: Nested dict, list, str, int, float, bool and None.
        file: The name to show in messages.
        lines: 1-based line of each value (of its key, inside a mapping) by path.
    """

    value: Any
    file: str
    lines: dict[FieldPath, int] = field(repr=False)

    def line(self, path: FieldPath) -> int:
        """Line of a path, or of its nearest parent that is in the file."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def line_of(self, field_name: str) -> int:
        """Line of a dotted path such as ``workload[2].message``."""
        while field_name and field_name not in self._line_by_name:
            field_name = field_name[: max(field_name.rfind("."), field_name.rfind("["), 0)]
        return self._line_by_name.get(field_name, 1)

    @cached_property
    def _line_by_name(self) -> dict[str, int]:
        return {dotted(path): line for path, line in self.lines.items()}

    def problem(self, path: FieldPath, message: str) -> Problem:
        """A problem with the value at a path."""
        return Problem(message, self.file, self.line(path), dotted(path))


def dotted(path: FieldPath) -> str:
    """``workload[2].message`` from ``("workload", 2, "message")``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def read_text(path: Path, *, largest_bytes: int) -> str:
    """The text of a UTF-8 file.

    Raises:
        InputError: It cannot be read, is larger than ``largest_bytes``, or is not UTF-8.
    """
    data = read_bytes(path, largest_bytes=largest_bytes)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError.of("is not UTF-8 text", file=str(path), line=line) from None


def read_document(text: str, file: str) -> Document:
    """Reads one YAML document.

    Args:
        text: The whole file.
        file: Its name, for messages.

    Raises:
        InputError: The text is not YAML, holds something that is refused, or exceeds a bound.
    """
    _check_size(text, file)
    builder = _Builder(file)
    try:
        builder.read(YAML(typ="safe", pure=True).parse(text))
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        builder.refuse(line, (), f"character U+{error.character:04X} is not allowed")
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        context = f" {error.context}" if error.context else ""
        builder.refuse(mark.line + 1 if mark else 0, (), f"not YAML: {error.problem}{context}")
    except YAMLError as error:
        builder.refuse(0, (), f"not YAML: {error}")
    except _ReadingStopped:
        pass
    if builder.problems:
        raise InputError(builder.problems)
    return Document(builder.root, file, builder.lines)


def _check_size(text: str, file: str) -> None:
    if len(text) > LARGEST_FILE_BYTES:
        raise InputError.of(f"is larger than {LARGEST_FILE_BYTES:,} characters", file=file)
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > LARGEST_LINE_CHARACTERS:
            raise InputError.of(
                f"is longer than {LARGEST_LINE_CHARACTERS:,} characters", file=file, line=number
            )


class _ReadingStopped(Exception):  # noqa: N818  it is a signal, not an error
    """Reading has stopped; the reason is among the problems."""


class _Builder:
    """Turns parser events into plain values; recursion is bounded by LARGEST_DEPTH."""

    def __init__(self, file: str) -> None:
        self.root: Any = None
        self.lines: dict[FieldPath, int] = {}
        self.problems: list[Problem] = []
        self._file = file
        self._nodes = 0

    def refuse(self, line: int, path: FieldPath, message: str) -> None:
        """Notes a problem, and stops when there are too many."""
        self.problems.append(Problem(message, self._file, line, dotted(path)))
        if len(self.problems) >= LARGEST_PROBLEM_COUNT:
            raise _ReadingStopped

    def read(self, events: Iterator[Event]) -> None:
        documents = 0
        for event in events:
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    self.refuse(_line(event), (), "a second document; one file holds one scenario")
                    raise _ReadingStopped
                if event.version or event.tags:
                    self.refuse(
                        _line(event), (), "a % directive is not allowed; the file is read as YAML 1.2"
                    )
            elif isinstance(event, NodeEvent):
                self.root = self._node(event, events, ())

    def _stop(self, event: Event, path: FieldPath, message: str) -> None:
        self.refuse(_line(event), path, message)
        raise _ReadingStopped

    def _node(self, event: Any, events: Iterator[Event], path: FieldPath) -> Any:
        self._count(event, path)
        if len(path) > LARGEST_DEPTH:
            self._stop(event, path[:3], f"nested deeper than {LARGEST_DEPTH} levels")
        self.lines.setdefault(path, _line(event))
        if isinstance(event, AliasEvent):
            self.refuse(_line(event), path, f"alias '*{event.anchor}' is not allowed; write the value out")
            return None
        if event.anchor:
            self.refuse(_line(event), path, f"anchor '&{event.anchor}' is not allowed; write the value out")
        if event.ctag:
            self.refuse(
                _line(event), path, f"tag '{event.ctag}' is not allowed; quote the value if it is text"
            )
        if isinstance(event, MappingStartEvent):
            return self._mapping(events, path)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(events, path)
        is_plain = event.implicit[0] and not event.style
        return resolve_scalar(event.value) if is_plain else event.value

    def _count(self, event: Event, path: FieldPath) -> None:
        self._nodes += 1
        if self._nodes > LARGEST_NODE_COUNT:
            self._stop(
                event, path, f"more than {LARGEST_NODE_COUNT:,} keys and values; use a generator or an import"
            )

    def _mapping(self, events: Iterator[Event], path: FieldPath) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for event in events:
            if isinstance(event, MappingEndEvent):
                break
            key = self._key(event, path)
            place = (*path, key)
            if key in mapping:
                first = self.lines[place]
                self.refuse(_line(event), place, f"duplicate key; it stands in line {first} already")
            else:
                self.lines[place] = _line(event)
            mapping[key] = self._node(next(events), events, place)
        return mapping

    def _key(self, event: Any, path: FieldPath) -> str:
        self._count(event, path)
        if not isinstance(event, ScalarEvent):
            self._stop(event, path, "a key must be a word, not a list, a mapping or an alias")
        if event.anchor or event.ctag:
            self.refuse(_line(event), path, "a key must not have an anchor or a tag")
        if event.value == "<<" and not event.style:
            self.refuse(_line(event), path, "merge key '<<' is not allowed; write the keys out")
        if event.value == "":
            self.refuse(_line(event), path, "an empty key")
        return str(event.value)

    def _sequence(self, events: Iterator[Event], path: FieldPath) -> list[Any]:
        sequence: list[Any] = []
        for event in events:
            if isinstance(event, SequenceEndEvent):
                break
            sequence.append(self._node(event, events, (*path, len(sequence))))
        return sequence


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def resolve_scalar(text: str) -> str | int | float | bool | None:
    """The value of an unquoted scalar."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    if _FRACTION.match(text):
        return float(text)
    return text
