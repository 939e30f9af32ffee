# SPDX-License-Identifier: Apache-2.0
"""A place in a document that is being read: its value, and where to note what is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fabrictwin.errors import InputError, Problem, nearest
from fabrictwin.model.quantities import show_value
from fabrictwin.model.spec_errors import explain
from fabrictwin.model.yaml_loader import Document, FieldPath

MOST_PROBLEMS = 50
"""Problems that are shown; a file that has more is not read to its end."""
_MOST_CANDIDATES = 200

SpecT = TypeVar("SpecT", bound=BaseModel)


@dataclass(frozen=True)
class Section:
    """A part of a document, and the list of problems that all its parts share.

    Attributes:
        document: The document.
        path: Where the part stands.
        problems: What is wrong so far, over the whole document.
    """

    document: Document
    path: FieldPath = ()
    problems: list[Problem] = field(default_factory=list)

    def at(self, *keys: str | int) -> Section:
        """A part of this part."""
        return replace(self, path=(*self.path, *keys))

    @property
    def value(self) -> Any:
        """The value of this part; None where the file has nothing there."""
        value = self.document.value
        for key in self.path:
            try:
                value = value[key]
            except (KeyError, IndexError, TypeError):
                return None
        return value

    @property
    def is_full(self) -> bool:
        """So many problems that reading on is of no use."""
        return len(self.problems) >= MOST_PROBLEMS

    def refuse(self, message: str, *keys: str | int) -> None:
        """Notes a problem with this part, or with the part of it at ``keys``."""
        if not self.is_full:
            self.problems.append(self.document.problem((*self.path, *keys), message))

    def refuse_elsewhere(self, problem: Problem) -> None:
        """Takes over a problem that another part found; a line that it does not know is looked up here."""
        if self.is_full:
            return
        if not problem.line and problem.field:
            file, line = problem.file or self.document.file, self.document.line_of(problem.field)
            problem = Problem(problem.message, file, line, problem.field)
        self.problems.append(problem)

    def refuse_name(self, what: str, name: str, valid: Collection[str], *keys: str | int) -> None:
        """Notes that a name is unknown, with the nearest valid one.

        Args:
            what: The kind of thing, e.g. ``node``.
            name: What stands there.
            valid: Every name that would be accepted.
            keys: Where, below this part.
        """
        if not self.is_full:
            self.refuse(f"unknown {what} {show_value(name)}{nearest(name, candidates(name, valid))}", *keys)

    def read(self, spec: type[SpecT], value: Any = ...) -> SpecT | None:
        """This part as a spec; every problem with it is noted.

        Args:
            spec: What it has to be.
            value: Read this instead of the section's own value.

        Returns:
            The spec, or None where there was a problem.
        """
        value = self.value if value is ... else value
        if not isinstance(value, dict):
            self.refuse(f"expected a mapping with keys such as {_examples(spec)}, got {show_value(value)}")
            return None
        try:
            return spec.model_validate(value)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                if self.is_full:
                    break
                message, place = explain(detail, spec)
                self.refuse(message, *place)
            return None

    def read_kind(self, what: str, table: Collection[str]) -> str | None:
        """The key ``kind`` of this part, which must be a row of a table.

        Args:
            what: What the table holds, for the message.
            table: Names of the rows.
        """
        value = self.value
        if not isinstance(value, dict):
            self.refuse(f"expected a mapping with the key 'kind', got {show_value(value)}")
            return None
        if "kind" not in value:
            self.refuse(f"required key 'kind' is missing: one of {', '.join(table)}", "kind")
            return None
        kind = value["kind"]
        if not isinstance(kind, str):
            self.refuse(f"expected one of {', '.join(table)}, got {show_value(kind)}", "kind")
            return None
        if kind not in table:
            self.refuse_name(f"kind of {what}", kind, table, "kind")
            return None
        return kind

    def read_list(self) -> list[Section]:
        """The entries of this part, which must be a list; nothing is an empty list."""
        value = self.value
        if value is None:
            return []
        if not isinstance(value, list):
            self.refuse(f"expected a list, got {show_value(value)}")
            return []
        return [self.at(index) for index in range(len(value))]

    def raise_problems(self) -> None:
        """Raises everything noted, in the order of the file.

        Raises:
            InputError: Something has been noted.
        """
        if not self.problems:
            return
        ordered = sorted(self.problems, key=lambda problem: problem.line)
        if self.is_full:
            ordered.append(Problem(f"{MOST_PROBLEMS} problems; there may be more", self.document.file))
        raise InputError(ordered)


def candidates(name: str, valid: Collection[str]) -> Iterable[str]:
    """Few enough of the valid names to look for the nearest: those that begin alike and are about as long."""
    if len(valid) <= _MOST_CANDIDATES:
        return valid
    alike = [other for other in valid if other[:1] == name[:1]] or list(valid)
    alike.sort(key=lambda other: (abs(len(other) - len(name)), other))
    return alike[:_MOST_CANDIDATES]


def _examples(spec: type[BaseModel]) -> str:
    return ", ".join(list(spec.model_fields)[:3])
