# SPDX-License-Identifier: Apache-2.0
"""LID assignment: who answers to which local identifier.

Every cabled HCA port gets 2^LMC consecutive LIDs whose first is a multiple of 2^LMC; every switch gets one
LID, for its port 0. Numbers follow node indices, HCA ports first, so the same fabric always gets the same
LIDs and ``h0`` of a generated fabric is LID 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.fabric import PortRef
from fabrictwin.subnet.graph import Array, SubnetGraph

FIRST_UNICAST_LID = 0x0001
LAST_UNICAST_LID = 0xBFFF
"""Unicast LIDs end here; multicast begins at 0xC000 (models.md section 1.6)."""
MAX_LMC = 7
LFT_BLOCK_LIDS = 64
"""LIDs in one block of a linear forwarding table, the payload of one SMP (models.md section 1.6)."""


class Targets(NamedTuple):
    """Every unicast LID in use as a destination, grouped by the switch that delivers it; what the kernels
    take.

    Attributes:
        first: [switches + 1] int32, first target of a switch; its own LID comes first, then its endpoints by
            port.
        lid: [targets] int32.
        port: [targets] uint8, port of the delivering switch; 0 for the switch itself.
        end: [targets] int32, endpoint number, -1 for the switch itself.
    """

    first: Array
    lid: Array
    port: Array
    end: Array


@dataclass(frozen=True, eq=False)
class Lids:
    """Which LID is whose.

    Attributes:
        graph: The fabric.
        lmc: LID mask control: each endpoint answers to 2^lmc LIDs.
        switch_lid: [switches] int32.
        end_lid: [endpoints] int32, base LID.
    """

    graph: SubnetGraph
    lmc: int
    switch_lid: Array
    end_lid: Array

    @cached_property
    def top(self) -> int:
        """The highest LID in use."""
        ends = self.end_lid + (1 << self.lmc) - 1
        return int(max(self.switch_lid.max(initial=0), ends.max(initial=0)))

    @property
    def width(self) -> int:
        """Entries of a forwarding table: up to the highest LID in use, in whole blocks."""
        return (self.top // LFT_BLOCK_LIDS + 1) * LFT_BLOCK_LIDS

    @cached_property
    def targets(self) -> Targets:
        """Every LID that some switch delivers."""
        ends = np.flatnonzero(self.graph.end_switch >= 0).astype(np.int32)
        per_end = 1 << self.lmc
        switches = np.arange(self.graph.switch_count, dtype=np.int32)
        end = np.concatenate([np.full(len(switches), -1, np.int32), np.repeat(ends, per_end)])
        at = np.concatenate([switches, np.repeat(self.graph.end_switch[ends], per_end)])
        port = np.concatenate(
            [np.zeros(len(switches), np.uint8), np.repeat(self.graph.end_port[ends], per_end)]
        )
        offset = np.tile(np.arange(per_end, dtype=np.int32), len(ends))
        lid = np.concatenate([self.switch_lid, np.repeat(self.end_lid[ends], per_end) + offset])
        order = np.lexsort((lid, port, at))
        first = np.searchsorted(at[order], np.arange(len(switches) + 1))
        return Targets(first.astype(np.int32), lid[order].astype(np.int32), port[order], end[order])


def is_up(graph: SubnetGraph, targets: Targets) -> Array:
    """[targets] bool: whether whoever has the LID is up; a switch's own LID always counts as up."""
    up: Array = np.append(graph.end_alive, np.uint8(1))[targets.end] != 0
    return up


def delivering_switch(targets: Targets) -> Array:
    """[targets] int32: the switch that delivers each LID."""
    return np.repeat(np.arange(len(targets.first) - 1, dtype=np.int32), np.diff(targets.first))


def assign_lids(graph: SubnetGraph, lmc: int = 0, given: Mapping[PortRef, int] | None = None) -> Lids:
    """Gives every switch and every cabled HCA port its LIDs.

    Args:
        graph: The fabric.
        lmc: LID mask control, 0 to 7.
        given: LIDs to keep, by port (port 0 for a switch), as an imported file may hold them. Everybody else
            gets the lowest free LIDs.

    Returns:
        The assignment.

    Raises:
        InputError: The LMC or a given LID is out of range, misaligned or taken, or the unicast LIDs run out.
    """
    if not 0 <= lmc <= MAX_LMC:
        raise InputError.of(f"expected an LMC from 0 to {MAX_LMC}, got {lmc}", field="routing.lmc")
    ends = [PortRef(int(n), int(p)) for n, p in zip(graph.end_node, graph.end_hca_port, strict=True)]
    switches = [PortRef(int(node), 0) for node in graph.switch_node]
    given = given or {}
    taken = _take_given(graph, ends + switches, len(ends), lmc, given)
    end_lid = _fill(ends, given, 1 << lmc, taken)
    switch_lid = _fill(switches, given, 1, taken)
    if end_lid is None or switch_lid is None:
        raise InputError.of(
            f"the fabric needs {len(switches)} LIDs for switches and {len(ends)} x {1 << lmc} for HCA ports, "
            f"but unicast LIDs end at 0x{LAST_UNICAST_LID:04X} ({LAST_UNICAST_LID}); lower the LMC or "
            "split the fabric into several subnets",
            field="routing.lmc",
        )
    return Lids(graph, lmc, switch_lid, end_lid)


def _take_given(
    graph: SubnetGraph, ports: list[PortRef], ends: int, lmc: int, given: Mapping[PortRef, int]
) -> Array:
    """Marks the LIDs that are given; every clash is a problem of its own."""
    taken = np.zeros(LAST_UNICAST_LID + 1, bool)
    taken[:FIRST_UNICAST_LID] = True
    problems = []
    for number, port in enumerate(ports):
        if port not in given:
            continue
        base, count = given[port], 1 << lmc if number < ends else 1
        who = graph.fabric.port_name(port) if port.port else graph.fabric.nodes[port.node].name
        if base < FIRST_UNICAST_LID or base + count - 1 > LAST_UNICAST_LID:
            problems.append(
                f"{who}: expected a unicast LID from 0x{FIRST_UNICAST_LID:04X} to 0x{LAST_UNICAST_LID:04X}, "
                f"got {base}"
            )
        elif base % count:
            problems.append(f"{who}: LID {base} is not a multiple of {count}, as LMC {lmc} demands")
        elif taken[base : base + count].any():
            problems.append(f"{who}: LID {base} is already that of another port")
        else:
            taken[base : base + count] = True
    if problems:
        raise InputError([Problem(problem) for problem in problems])
    return taken


def _fill(ports: list[PortRef], given: Mapping[PortRef, int], count: int, taken: Array) -> Array | None:
    """Base LIDs of ports: given ones, else the lowest free aligned ones; None when they run out."""
    lids = np.empty(len(ports), np.int32)
    cursor = 0
    for number, port in enumerate(ports):
        base = given.get(port)
        if base is None:
            while cursor + count <= len(taken) and taken[cursor : cursor + count].any():
                cursor += count
            if cursor + count > len(taken):
                return None
            base = cursor
            taken[base : base + count] = True
        lids[number] = base
    return lids
