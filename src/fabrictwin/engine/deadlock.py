# SPDX-License-Identifier: Apache-2.0
"""The no-progress monitor: which outputs wait for each other in a circle, and will for ever.

**Models**: nothing; it reads the arrays between two runs of the loop. An output VL that is blocked for
credits waits for
the input buffer at the other end, and that for the outputs that its packets want. Outputs are taken away from
the set of the blocked ones as long as their buffer can still drain; what is left is a deadlock.
**Validated by**: tests/validation (V16).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabrictwin.engine.readout import Readout
from fabrictwin.model.fabric import Technology


@dataclass(frozen=True)
class Deadlock:
    """A cycle of output VLs that wait for each other.

    Attributes:
        cycle: ``node/port vl`` of each, in the order of waiting.
        since_ps: Fabric time from which the last of them has been blocked.
    """

    cycle: tuple[str, ...]
    since_ps: int


def find_deadlock(readout: Readout, patience_ps: int) -> Deadlock | None:
    """The deadlock that a fabric is in, once each of its outputs has been blocked for a patience."""
    vls = readout.plan.vls
    pv = readout.by_port_vl("pv")
    port = readout.by_port("port")
    blocked, since_ps = _blocked(readout, pv)
    suspects = np.flatnonzero(blocked & (since_ps < readout.now_ps - patience_ps))
    suspects = _keep_circular(suspects, port, vls)
    if len(suspects) == 0:
        return None
    wanted = _outputs_wanted(readout, set(port.node[suspects // vls].tolist()))
    stuck = {int(index) for index in suspects}
    while True:
        freed = {index for index in stuck if not _is_stuck(_buffer_behind(index, port, vls), wanted, stuck)}
        if not freed:
            break
        stuck -= freed
    if not stuck:
        return None
    cycle = _find_cycle(stuck, lambda index: wanted[_buffer_behind(index, port, vls)] & stuck)
    names = tuple(_name(readout, index) for index in cycle)
    return Deadlock(names, int(max(since_ps[index] for index in cycle)))


def _blocked(readout: Readout, pv: Any) -> tuple[np.ndarray, np.ndarray]:
    """([ports * vls] whether packets wait for credits or for the end of a pause, since when)."""
    if readout.plan.scenario.fabric.technology is not Technology.ROCE:
        return np.asarray(pv.blocked == 1), np.asarray(pv.blocked_at_ps)
    lane = readout.by_port_vl("lane")
    return np.asarray((lane.until_ps != 0) & (pv.ring_count > 0)), np.maximum(
        lane.paused_at_ps, lane.departed_ps
    )


def _keep_circular(suspects: np.ndarray, port: Any, vls: int) -> np.ndarray:
    """Suspects whose other end has a suspect too, and so on: none are left where no circle is blocked."""
    while True:
        nodes = port.node[suspects // vls]
        kept = suspects[np.isin(port.peer_node[suspects // vls], nodes)]
        if len(kept) == len(suspects):
            return kept
        suspects = kept


def _buffer_behind(index: int, port: Any, vls: int) -> int:
    """The input buffer that an output VL sends into, as the PV of the receiving port."""
    p, vl = divmod(index, vls)
    return int(port.peer[p]) * vls + vl


def _is_stuck(buffer: int, wanted: dict[int, set[int]], stuck: set[int]) -> bool:
    """Whether a buffer holds packets and all of them want outputs that are stuck."""
    outputs = wanted.get(buffer)
    return bool(outputs) and outputs <= stuck  # type: ignore[operator]


def _outputs_wanted(readout: Readout, nodes: set[int]) -> dict[int, set[int]]:
    """Output VLs that the packets of each input buffer of some switches wait for."""
    wanted: dict[int, set[int]] = defaultdict(set)
    vls = readout.plan.vls
    fabric = readout.plan.scenario.fabric
    add = _add_queued if fabric.technology is Technology.ROCE else _add_wanted
    for owned, state in readout.states:
        arrays: Any = state
        for node in fabric.switches:
            if node in nodes and owned[node]:
                add(arrays, node, vls, wanted)
    return wanted


def _add_wanted(state: Any, node: int, vls: int, wanted: dict[int, set[int]]) -> None:
    first, count = int(state.node.port0[node]), int(state.node.ports[node])
    base = int(state.port.voq0[first])
    heads = np.asarray(state.voq.head[base : base + count * (vls - 1) * count])
    for at in np.flatnonzero(heads >= 0):
        out, rest = divmod(int(at), (vls - 1) * count)
        output = (first + out) * vls + rest // count
        index = int(heads[at])
        while index >= 0:
            packet = state.packet[index]
            wanted[int(packet.port) * vls + int(packet.vl)].add(output)
            index = int(packet.next)


def _add_queued(state: Any, node: int, vls: int, wanted: dict[int, set[int]]) -> None:
    """The same where packets wait in one queue for an output's priority."""
    first, count = int(state.node.port0[node]), int(state.node.ports[node])
    for output in range(first * vls, (first + count) * vls):
        p, vl = divmod(output, vls)
        index = int(state.pv.ring_head[vl * len(state.port) + p])
        while index >= 0:
            packet = state.packet[index]
            wanted[int(packet.port) * vls + int(packet.vl)].add(output)
            index = int(packet.next)


def _find_cycle(stuck: set[int], successors: Any) -> list[int]:
    """A cycle in a graph in which every node has a successor."""
    path: list[int] = [min(stuck)]
    seen = {path[0]: 0}
    while True:
        following = min(successors(path[-1]))
        if following in seen:
            return path[seen[following] :]
        seen[following] = len(path)
        path.append(following)


def _name(readout: Readout, index: int) -> str:
    p, vl = divmod(index, readout.plan.vls)
    ports = readout.plan.ports
    node = int(np.searchsorted(ports.first, p, side="right")) - 1
    name = readout.plan.scenario.fabric.nodes[node].name
    return f"{name}/{p - int(ports.first[node]) + 1} vl{vl}"
