# SPDX-License-Identifier: Apache-2.0
"""Commands for faults and workloads: one for each row of their tables, with an option for each of its keys.

What stands behind an option is judged by the director, with everything else that is wrong. Here it is only
given the type that the key takes: text, a number, or a list where there are commas.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from inspect import Parameter, Signature
from typing import Annotated, Any, Protocol, TypeVar, get_args, get_origin

import typer
from google.protobuf.message import Message
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from rich.text import Text

from fabrictwin.api.v1.common_pb2 import Page
from fabrictwin.cli.console import output, printable
from fabrictwin.cli.message_json import as_plain
from fabrictwin.cli.output_file import STANDARD_OUTPUT, write_json
from fabrictwin.errors import InputError, Problem
from fabrictwin.model.quantities import wanted_in

Send = Callable[..., None]
"""Takes an entry as JSON, and then the values of its own parameters by name."""


@dataclass(frozen=True, slots=True)
class EntryCommands:
    """The commands of one table.

    Attributes:
        verb: Command line before the kind, for the examples.
        examples: The rest of it behind the kind, by kind.
        optional: What a key means that may be left out here although it may not in a file, or means something
            else here.
        send: What to do with an entry; its parameters behind the first are options of every command.
    """

    verb: str
    examples: Mapping[str, str]
    optional: Mapping[str, str]
    send: Send

    def command(self, kind: str, spec: type[BaseModel]) -> Send:
        """A function that typer makes a command of: its signature has an option for each key.

        Args:
            kind: Row of the table; value of the key ``kind``.
            spec: The keys of the row.
        """
        fields = {name: info for name, info in spec.model_fields.items() if name != "kind"}
        _, *own = Signature.from_callable(self.send, eval_str=True).parameters.values()

        def command(**values: Any) -> None:
            texts = {name: values.pop(name) for name in fields}
            entry = {"kind": kind} | {
                name: read_value(fields[name], text) for name, text in texts.items() if text is not None
            }
            with _in_options(fields):
                self.send(json.dumps(entry), **values)

        parameters = [self._parameter(name, info) for name, info in self._in_order(fields)]
        parameters += [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in own]
        command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return command

    def _in_order(self, fields: Mapping[str, FieldInfo]) -> list[tuple[str, FieldInfo]]:
        """What must be given first."""
        return sorted(fields.items(), key=lambda item: item[0] in self.optional or not item[1].is_required())

    def _parameter(self, name: str, info: FieldInfo) -> Parameter:
        is_required = info.is_required() and name not in self.optional
        meaning = self.optional.get(name) or info.description or ""
        wanted = "; ".join(filter(None, ("required" if is_required else "", _wanted(info))))
        option = typer.Option(
            option_name(name),
            metavar=_metavar(info),
            help=f"{meaning} ({wanted})" if wanted else meaning,
            show_default=False,
        )
        return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[str | None, option])

    def add_to(self, app: typer.Typer, kinds: Collection[Any]) -> None:
        """Adds a command for each row of the table."""
        for row in kinds:
            example = f"Example: {self.verb} {row.name} {self.examples.get(row.name, '--help')}"
            app.command(row.name, help=f"{row.summary}\n\n{example}", short_help=row.summary)(
                self.command(row.name, row.spec)
            )


def option_name(key: str) -> str:
    """The option of a key."""
    return "--" + key.replace("_", "-")


def _wanted(info: FieldInfo) -> str:
    """What stands there, in words; a list is written with commas on a command line."""
    wanted = wanted_in(info).replace("`", "")
    if _takes_list(info):
        before, _, listed = wanted.partition("[")
        return before + listed.rstrip("]").replace(", ", ",")
    return wanted or ", ".join(_choices(info.annotation))


def _choices(annotation: Any) -> list[str]:
    """The words that a Literal allows, also where it may be left out."""
    parts = get_args(annotation)
    return [choice for part in parts for choice in ([part] if isinstance(part, str) else _choices(part))]


def _metavar(info: FieldInfo) -> str:
    if _takes_list(info):
        return "A,B,…"
    is_number = {int, float} & {info.annotation, *get_args(info.annotation)} and not wanted_in(info)
    return "N" if is_number else "VALUE"


def _takes_list(info: FieldInfo) -> bool:
    return get_origin(info.annotation) is list


def read_value(info: FieldInfo, text: str) -> Any:
    """The text of an option as the type that a key takes; where nothing fits, as what it looks like."""
    candidates: list[Any] = [text]
    for read in (int, float):
        try:
            candidates.append(read(text))
            break
        except ValueError:
            continue
    if _takes_list(info):
        candidates.append([part.strip() for part in text.split(",")])
    return next((value for value in candidates if _fits(info, value)), candidates[-1])


def _fits(info: FieldInfo, value: Any) -> bool:
    field: Any = Annotated[info.annotation, info]
    adapter: TypeAdapter[Any] = TypeAdapter(field)
    try:
        adapter.validate_python(value, strict=True)
    except ValidationError:
        return False
    return True


@contextmanager
def _in_options(fields: Mapping[str, FieldInfo]) -> Iterator[None]:
    """Problems leave the block with the option that they are about."""
    try:
        yield
    except InputError as error:
        raise InputError([_at_option(problem, fields) for problem in error.problems]) from None


def _at_option(problem: Problem, fields: Mapping[str, FieldInfo]) -> Problem:
    """The entry stands in no file that a person could look into, and its list has but this one."""
    key = problem.field.removeprefix("[0]").lstrip(".").partition("[")[0].partition(".")[0]
    return Problem(problem.message, field=option_name(key) if key in fields else key)


def show_entry(entry: Message, line: str, json_target: str | None = None) -> None:
    """Says what a director has made of an entry.

    Args:
        entry: A fault or a workload.
        line: It in words.
        json_target: Where to write it as JSON; ``-`` is standard output, where the line then does not stand.
    """
    if json_target is not None:
        write_json(as_plain(entry), json_target)
    if json_target != STANDARD_OUTPUT:
        output().print(Text(printable(line)), soft_wrap=True)


class _OnePage(Protocol):
    next_page: str


_P = TypeVar("_P", bound=_OnePage)


def read_pages(read: Callable[[Page], _P]) -> Iterator[_P]:
    """Every page of a list of entries, by the call that gives one."""
    token = ""
    while True:
        answer = read(Page(token=token))
        yield answer
        token = answer.next_page
        if not token:
            return
