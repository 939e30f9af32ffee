# SPDX-License-Identifier: Apache-2.0
"""Lists whose entries have a kind, by which a table is chosen from, and a name: workloads and faults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import Field

from fabrictwin.model.quantities import Name, Spec
from fabrictwin.model.section import Section


class NamedSpec(Spec):
    """The keys of every entry."""

    kind: Annotated[str, Field(description="row of the table of kinds")]
    name: Annotated[Name | None, Field(description="name in the result; default: the kind and its index")] = (
        None
    )


NamedT = TypeVar("NamedT", bound=NamedSpec)


def read_named(
    section: Section, what: str, specs: Mapping[str, type[NamedT]]
) -> list[tuple[Section, NamedT]]:
    """The entries of a list, each with its place and with its name filled in; problems are noted there.

    Args:
        section: The list.
        what: What an entry is, for messages.
        specs: The keys of each kind.
    """
    entries: list[tuple[Section, NamedT]] = []
    names: set[str] = set()
    for index, entry in enumerate(section.read_list()):
        if section.is_full:
            break
        kind = entry.read_kind(what, specs)
        spec = entry.read(specs[kind]) if kind else None
        if spec is None:
            continue
        named = spec.model_copy(update={"name": spec.name or f"{spec.kind}{index}"})
        if named.name in names:
            entry.refuse(f"a second {what} with the name {named.name!r}", "name")
        names.add(str(named.name))
        entries.append((entry, named))
    return entries
