# SPDX-License-Identifier: Apache-2.0
"""Faults: one file and one row per kind; each compiles to primitive changes of the fabric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fabrictwin.model.action import Action
from fabrictwin.model.fabric import Fabric, Technology
from fabrictwin.model.fault.dead_host import DEAD_HOST
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, FaultSpec
from fabrictwin.model.fault.link_degraded import LINK_DEGRADED
from fabrictwin.model.fault.link_down import LINK_DOWN
from fabrictwin.model.fault.link_flap import LINK_FLAP
from fabrictwin.model.fault.overlap import find_overlaps, schedule
from fabrictwin.model.fault.pfc_storm import PFC_STORM
from fabrictwin.model.fault.receiver_not_ready import RECEIVER_NOT_READY
from fabrictwin.model.fault.slow_receiver import SLOW_RECEIVER
from fabrictwin.model.fault.sm_down import SM_DOWN
from fabrictwin.model.fault.sma_unresponsive import SMA_UNRESPONSIVE
from fabrictwin.model.fault.switch_down import SWITCH_DOWN
from fabrictwin.model.fault.symbol_errors import SYMBOL_ERRORS
from fabrictwin.model.hardware import HcaModel
from fabrictwin.model.named import read_named
from fabrictwin.model.section import Section
from fabrictwin.model.subnet_manager import Manager

FAULTS: dict[str, FaultKind] = {
    kind.name: kind
    for kind in (
        LINK_DOWN,
        LINK_FLAP,
        LINK_DEGRADED,
        SYMBOL_ERRORS,
        SWITCH_DOWN,
        SLOW_RECEIVER,
        RECEIVER_NOT_READY,
        SM_DOWN,
        SMA_UNRESPONSIVE,
        PFC_STORM,
        DEAD_HOST,
    )
}
MOST_ACTIONS = 50_000


@dataclass(frozen=True, slots=True)
class Fault:
    """A scheduled fault, for reports.

    Attributes:
        name: Unique name.
        kind: Row of the fault table.
        start_ps: Fabric time at which it begins.
        end_ps: Fabric time at which it is over; None: never.
        text: What it does, in words.
    """

    name: str
    kind: str
    start_ps: int
    end_ps: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of a scenario, compiled.

    Attributes:
        specs: One per entry; ``Action.fault`` is an index into it.
        changes: What they change, each with the index of its fault.
        actions: The same as actions, in order of time.
    """

    specs: tuple[Fault, ...] = ()
    changes: tuple[tuple[int, Change], ...] = ()
    actions: tuple[Action, ...] = ()


def read_faults(section: Section) -> list[tuple[Section, FaultSpec]]:
    """The entries of a scenario's faults, each with its place; problems are noted there.

    Args:
        section: The list.
    """
    return read_named(section, "fault", {name: kind.spec for name, kind in FAULTS.items()})


def compile_faults(
    entries: list[tuple[Section, FaultSpec]],
    fabric: Fabric,
    mtu_bytes: int,
    hca_models: Mapping[str, HcaModel],
    managers: tuple[Manager, ...] = (),
    lossless: frozenset[int] = frozenset(),
) -> Faults:
    """Writes the actions of every entry; problems are noted in its section.

    Args:
        entries: What :func:`read_faults` gave.
        fabric: The fabric that they happen to.
        mtu_bytes: Largest payload of a packet.
        hca_models: HCA models by name.
        managers: The subnet managers.
        lossless: Lossless priorities.
    """
    changes: list[tuple[int, Change]] = []
    for index, (section, spec) in enumerate(entries):
        if section.is_full:
            break
        kind = FAULTS[spec.kind]
        if kind.technology not in (None, fabric.technology):
            section.refuse(_foreign(kind, fabric.technology), "kind")
            continue
        made = kind.compile(spec, FaultContext(fabric, section, mtu_bytes, hca_models, managers, lossless))
        changes += [(index, change) for change in made or ()]
        if 2 * len(changes) > MOST_ACTIONS:
            section.refuse(f"the faults would change the fabric more than {MOST_ACTIONS:,} times")
            return Faults()
    for later, earlier in find_overlaps(changes):
        section, spec = entries[later]
        section.refuse(f"overlaps with {entries[earlier][1].name!r}, which changes the same thing", "at")
    return Faults(tuple(_describe(*entry) for entry in entries), tuple(changes), schedule(changes))


def _foreign(kind: FaultKind, technology: Technology) -> str:
    names = [name for name, other in FAULTS.items() if other.technology in (None, technology)]
    assert kind.technology is not None
    return (
        f"{kind.name!r} belongs to technology {kind.technology.value!r}; on {technology.label} use one of "
        f"{', '.join(names)}"
    )


def _describe(section: Section, spec: FaultSpec) -> Fault:
    parts = []
    for key, value in section.value.items():
        shown = " - ".join(map(str, value)) if isinstance(value, list) else str(value)
        if key in {"link", "node", "switch"}:
            parts.append(shown)
        elif key not in {"kind", "name", "at", "duration"}:
            parts.append(f"{key} {shown}")
    return Fault(str(spec.name), spec.kind, spec.at, spec.end_ps, f"{spec.kind} {', '.join(parts)}")


__all__ = [
    "FAULTS",
    "Change",
    "Fault",
    "FaultKind",
    "FaultSpec",
    "Faults",
    "compile_faults",
    "find_overlaps",
    "read_faults",
    "schedule",
]
