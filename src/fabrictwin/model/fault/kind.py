# SPDX-License-Identifier: Apache-2.0
"""What every kind of fault has in common: its keys, its place in the table and what it is compiled with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from fabrictwin.model.action import ActionKind
from fabrictwin.model.fabric import Fabric, Link, PortRef, Technology
from fabrictwin.model.hardware import HcaModel
from fabrictwin.model.lookup import find_cable
from fabrictwin.model.named import NamedSpec
from fabrictwin.model.quantities import Cable, Endpoint, TimePs
from fabrictwin.model.section import Section
from fabrictwin.model.subnet_manager import Manager


class FaultSpec(NamedSpec):
    """The keys that every kind of fault takes."""

    at: Annotated[TimePs, Field(description="fabric time at which it begins")]

    @property
    def end_ps(self) -> int | None:
        """Fabric time at which it is over; None: never."""
        return None


class LastingFaultSpec(FaultSpec):
    """A fault that ends after a time, or never."""

    duration: Annotated[TimePs | None, Field(description="how long it lasts; default: to the end", gt=0)] = (
        None
    )

    @property
    def end_ps(self) -> int | None:
        """Fabric time at which it is over; None: never."""
        return None if self.duration is None else self.at + self.duration


class LinkFaultSpec(LastingFaultSpec):
    """A lasting fault of one cable."""

    link: Annotated[Cable, Field(description="the two ends of a cable")]


class HcaFaultSpec(LastingFaultSpec):
    """A lasting fault of one HCA port."""

    node: Annotated[Endpoint, Field(description="the HCA")]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that a fault holds changed for a while; the fault table turns it into actions.

    Attributes:
        kind: What is changed.
        target: The port; for a cable its end ``a``.
        value: What it is changed to.
        restored: What it is before and after.
        start_ps: From when.
        end_ps: Until when; None: for ever.
    """

    kind: ActionKind
    target: PortRef
    value: int
    restored: int
    start_ps: int
    end_ps: int | None


@dataclass(frozen=True)
class FaultContext:
    """What a fault is compiled with.

    Attributes:
        fabric: The fabric that it happens to.
        section: The entry of the scenario; problems are noted there.
        mtu_bytes: Largest payload of a packet.
        hca_models: HCA models by name.
        managers: The subnet managers.
        lossless: Lossless priorities.
    """

    fabric: Fabric
    section: Section
    mtu_bytes: int
    hca_models: Mapping[str, HcaModel]
    managers: tuple[Manager, ...] = ()
    lossless: frozenset[int] = frozenset()

    def cable(self, spec: LinkFaultSpec) -> Link | None:
        """The cable that a fault names; a problem is noted where there is none."""
        return find_cable(self.fabric, self.section, spec.link, "link")


def link_state_change(link: Link, start_ps: int, end_ps: int | None) -> Change:
    """A cable that is down for a while."""
    return Change(ActionKind.LINK_STATE, link.a, 0, 1, start_ps, end_ps)


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A row of the table of faults.

    Attributes:
        name: Value of ``kind``.
        summary: One line for the reference.
        spec: Its keys.
        compile: What it changes; None where a problem was noted.
        technology: The only one that has it; None: both have.
    """

    name: str
    summary: str
    spec: type[FaultSpec]
    compile: Callable[[Any, FaultContext], list[Change] | None]
    technology: Technology | None = None
