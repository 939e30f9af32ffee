# SPDX-License-Identifier: Apache-2.0
"""A place in a document that is being read: its value, and where to note what is wrong with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from fabrictwin.errors import InputError, Problem, nearest
from fabrictwin.model.quantities import show_value, wanted_in
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
            self.refuse(f"unknown {what} {name!r}{nearest(name, candidates(name, valid))}", *keys)

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
                message, place = _explain(detail, spec)
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


def _explain(detail: Any, spec: type[BaseModel]) -> tuple[str, FieldPath]:
    """The message for one pydantic error, and where it stands below the spec."""
    place = tuple(part for part in detail["loc"] if not _is_union_branch(part))
    kind, got = detail["type"], show_value(detail["input"])
    owner, info = _field_at(spec, place)
    wanted = wanted_in(info) if info else ""
    context = detail.get("ctx", {})
    match kind:
        case "extra_forbidden":
            name = str(place[-1])
            return f"unknown key {name!r}{nearest(name, _keys(owner))}", place
        case "missing":
            return f"required key {place[-1]!r} is missing" + (f": {wanted}" if wanted else ""), place
        case "value_error":
            return str(context["error"]), place
        case "literal_error":
            return _explain_choice(detail, info), place
        case "greater_than_equal" | "greater_than" | "less_than_equal" | "less_than":
            return f"expected {_BOUND_WORDS[kind]} {next(iter(context.values()))}, got {got}", place
        case "too_short" | "too_long":
            least, most = (context.get(key) for key in ("min_length", "max_length"))
            bound = f"at least {least}" if kind == "too_short" else f"at most {most}"
            return f"expected {bound} entries, got {context['actual_length']}", place
    words = _TYPE_WORDS.get(kind, "")
    expected = wanted or words
    if expected:
        return f"expected {expected}, got {got}", place
    return f"{detail['msg'][0].lower()}{detail['msg'][1:]}, got {got}", place


_BOUND_WORDS = {
    "greater_than_equal": "at least",
    "greater_than": "more than",
    "less_than_equal": "at most",
    "less_than": "less than",
}
_TYPE_WORDS = {
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}


def _explain_choice(detail: Any, info: FieldInfo | None) -> str:
    got = detail["input"]
    choices = _choices(info.annotation) if info else []
    hint = nearest(got, choices) if isinstance(got, str) and choices else ""
    return f"expected {detail['ctx']['expected']}, got {show_value(got)}{hint}"


def _choices(annotation: Any) -> list[str]:
    """The words that a Literal allows, also where it may be left out."""
    if get_origin(annotation) is Literal:
        return [choice for choice in get_args(annotation) if isinstance(choice, str)]
    return [choice for part in get_args(annotation) for choice in _choices(part)]


def _is_union_branch(part: str | int) -> bool:
    """pydantic names the branch of a union in the place of an error; no key of a scenario looks like that."""
    return isinstance(part, str) and ("[" in part or part in {"int", "str", "float", "none", "bool"})


def _keys(owner: type[BaseModel] | None) -> list[str]:
    if owner is None:
        return []
    return [info.alias or name for name, info in owner.model_fields.items()]


def _field_at(spec: type[BaseModel], place: FieldPath) -> tuple[type[BaseModel] | None, FieldInfo | None]:
    """The model that owns the last key of a place, and the field that it names there."""
    owner: type[BaseModel] | None = spec
    info: FieldInfo | None = None
    for part in place:
        if isinstance(part, int):
            continue
        if info is not None:
            owner = _model_in(info.annotation)
        info = next(
            (
                info
                for name, info in (owner.model_fields if owner else {}).items()
                if (info.alias or name) == part
            ),
            None,
        )
        if info is None:
            break
    return owner, info


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in get_args(annotation):
        model = _model_in(part)
        if model is not None:
            return model
    return None
