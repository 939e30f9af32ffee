# SPDX-License-Identifier: Apache-2.0
"""Answering questions about the arrays of a shard while it goes on, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from fabrictwin.api.v1.common_pb2 import Page, PortCounters, PortSelection
from fabrictwin.api.v1.common_pb2 import Port as PortMessage
from fabrictwin.engine.plan import Plan
from fabrictwin.engine.port_counters import ARRAYS_OF_VLS, PORT_COUNTERS, waited_for_credits
from fabrictwin.errors import InputError, nearest
from fabrictwin.model.fabric import PortRef
from fabrictwin.runtime.failures import UnknownNameError
from fabrictwin.telemetry import FabricSource
from fabrictwin.units import PS_PER_NS

LARGEST_PAGE = 1000
BPS_FS = 8 * 10**15

Item = TypeVar("Item")


def cut_page(items: Sequence[Item], page: Page, most: int = LARGEST_PAGE) -> tuple[Sequence[Item], str]:
    """(the elements of a page, the token of the next page or an empty text).

    Args:
        items: All elements.
        page: Which of them are asked for.
        most: How many fit into an answer.

    Raises:
        InputError: The size or the token is none.
    """
    if page.size > LARGEST_PAGE:
        raise InputError.of(f"expected 0 to {LARGEST_PAGE}, got {page.size}", field="page.size")
    if page.token and not (page.token.isdecimal() and len(page.token) < 10):
        raise InputError.of("expected the 'next_page' of an earlier answer", field="page.token")
    first = int(page.token or 0)
    last = first + min(page.size or LARGEST_PAGE, most)
    return items[first:last], str(last) if last < len(items) else ""


def pick(index_of: Mapping[str, int], names: Sequence[str], what: str) -> list[int]:
    """Indices of what is asked for by name, or of all that there is.

    Args:
        index_of: What there is, by name.
        names: What is asked for; empty: everything.
        what: What it is: ``node``, ….

    Raises:
        UnknownNameError: One of the names is not there.
        InputError: There are too many names.
    """
    if len(names) > LARGEST_PAGE:
        raise InputError.of(f"expected at most {LARGEST_PAGE} names, got {len(names)}", field=f"{what}s")
    for name in names:
        if name not in index_of:
            raise UnknownNameError(f"no {what} {name[:80]!r} is here{nearest(name[:80], index_of)}")
    return [index_of[name] for name in names] if names else list(index_of.values())


def find_nodes(source: FabricSource, names: Sequence[str]) -> list[int]:
    """Indices of nodes of a shard by name, or of all of them; see :func:`pick`."""
    nodes = source.plan.scenario.fabric.nodes
    return pick({nodes[index].name: int(index) for index in np.flatnonzero(source.owned)}, names, "node")


def select_ports(source: FabricSource, select: PortSelection) -> tuple[Sequence[PortRef], str]:
    """(the ports of a page, the token of the next page)."""
    nodes = source.plan.scenario.fabric.nodes
    ends = [
        PortRef(index, number)
        for index in find_nodes(source, select.nodes)
        for number in range(1, nodes[index].ports + 1)
    ]
    return cut_page(ends, select.page)


def rows_of(plan: Plan, ends: Sequence[PortRef]) -> tuple[np.ndarray, np.ndarray]:
    """(the rows of some ports, the rows of their VLs, VL by VL of one port after the other)."""
    rows = np.array([plan.ports.of(end) for end in ends], np.int64)
    return rows, plan.lanes(rows)


def describe_port(source: FabricSource, end: PortRef, port: Any) -> PortMessage:
    """A port, from its PORT record."""
    plan, fabric = source.plan, source.plan.scenario.fabric
    link = fabric.link_at.get(end)
    node = fabric.nodes[end.node]
    lid_of = plan.forwarding.lid_of
    return PortMessage(
        node=node.name,
        number=end.port,
        guid=node.port_guid(end.port),
        peer=fabric.port_name(link.other(end)) if link else "",
        rate_bps=BPS_FS // int(port.fs_per_byte) if link else 0,
        state="active" if port.up else "down",
        lid=lid_of.get(end, lid_of.get(PortRef(end.node, 0), 0)),
    )


def read_counters(source: FabricSource, ends: Sequence[PortRef]) -> tuple[int, list[PortCounters]]:
    """(fabric time in ps, counters of some ports)."""
    plan, fabric = source.plan, source.plan.scenario.fabric
    rows, lanes = rows_of(plan, ends)
    columns: dict[str, np.ndarray] = {}
    with source.hold() as at_ps:
        for name, (array, field) in PORT_COUNTERS.items():
            if array in ARRAYS_OF_VLS:
                columns[name] = getattr(source.state, array)[field][lanes].reshape(len(rows), -1).sum(axis=1)
            else:
                columns[name] = getattr(source.state, array)[field][rows]
        waited_ps = waited_for_credits(source.state.port_more[rows], source.state.pv[lanes], at_ps)
    columns["port_xmit_wait"] = waited_ps // PS_PER_NS
    lists = {name: column.tolist() for name, column in columns.items()}
    return at_ps, [
        PortCounters(
            node=fabric.nodes[end.node].name,
            number=end.port,
            counters={name: column[index] for name, column in lists.items()},
        )
        for index, end in enumerate(ends)
    ]
