# SPDX-License-Identifier: Apache-2.0
"""Tables in the format of OpenSM's dump files, for tools and people that know those.

``opensm-lid-matrix.dump`` holds, for every switch, the hops to every other switch: the fewest, then by port.
Ports that the engine's directions forbid are ``ff``. ``opensm.fdbs`` holds the forwarding tables: port and
hops by LID. An HCA is one hop farther than its switch. The formats are those that OpenSM 3.3.23 writes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabrictwin.subnet.graph import NO_PORT, Array
from fabrictwin.subnet.hops import DETOUR, DOWN, UP, Paths, count_hops, undirected
from fabrictwin.subnet.lids import delivering_switch
from fabrictwin.subnet.routes import Routes

LID_MATRIX_FILE = "opensm-lid-matrix.dump"
FDBS_FILE = "opensm.fdbs"

_UNKNOWN = 0xFF


def lid_matrix_lines(routes: Routes) -> Iterator[str]:
    """Lines of ``opensm-lid-matrix.dump``, switches in order of GUID."""
    lids = routes.lids
    paths = _legal_paths(routes)
    by_lid = np.argsort(lids.switch_lid).tolist()
    for switch in _by_guid(routes):
        yield f"Switch: guid 0x{_guid(routes, switch):016x}"
        matrix = _hops_by_port(routes, paths, switch)
        for other in by_lid:
            if matrix[other, 0] != _UNKNOWN:
                row = " ".join(f"{hops:02x}" for hops in matrix[other].tolist())
                yield f"0x{lids.switch_lid[other]:04x}: {row} # portguid 0x{_guid(routes, other):016x}"


def fdbs_lines(routes: Routes) -> Iterator[str]:
    """Lines of ``opensm.fdbs``, switches in order of GUID."""
    targets = routes.lids.targets
    order = np.argsort(targets.lid)
    lids = targets.lid[order]
    at = delivering_switch(targets)[order]
    to_hca = (targets.end[order] >= 0).astype(np.int64)
    paths = _legal_paths(routes)
    for switch in _by_guid(routes):
        yield f"dump_ucast_routes: Switch 0x{_guid(routes, switch):016x}"
        yield "LID    : Port : Hops : Optimal"
        matrix = _hops_by_port(routes, paths, switch)[at]
        ports = routes.lft[switch, lids]
        by_port = matrix[np.arange(len(at)), np.minimum(ports, matrix.shape[1] - 1)]
        columns = (lids, ports, np.where(at == switch, 0, by_port), matrix[:, 0], to_hca)
        best_ports = matrix[:, 1:].argmin(axis=1) + 1
        for row in zip(*(column.tolist() for column in (*columns, best_ports)), strict=True):
            yield _fdbs_line(*row)


def _fdbs_line(lid: int, port: int, hops: int, best: int, to_hca: int, best_port: int) -> str:
    if port == NO_PORT:
        return f"0x{lid:04X} : UNREACHABLE"
    if hops == _UNKNOWN:
        return f"0x{lid:04X} : {port:03d}  : HOPS UNKNOWN"
    verdict = "yes" if hops == best else f"No {best + to_hca} hop path possible via port {best_port}!"
    return f"0x{lid:04X} : {port:03d}  : {hops + to_hca:02d}   : {verdict}"


def _by_guid(routes: Routes) -> list[int]:
    return sorted(range(routes.graph.switch_count), key=lambda switch: _guid(routes, switch))


def _guid(routes: Routes, switch: int) -> int:
    return routes.graph.fabric.nodes[int(routes.graph.switch_node[switch])].guid


def _legal_paths(routes: Routes) -> Paths:
    """The paths that the engine looked at; all shortest ones for tables that were given."""
    channels = routes.graph.channels
    if routes.directions is None or routes.hops is None:
        everywhere = undirected(channels)
        return Paths(channels, everywhere, count_hops(channels, everywhere))
    return Paths(channels, routes.directions, routes.hops)


def _hops_by_port(routes: Routes, paths: Paths, switch: int) -> Array:
    """[switches, ports + 1] uint8 hops from a switch to every other: the fewest in column 0, then by port."""
    channels, directions, hops = paths
    ports = int(routes.graph.switch_ports[switch])
    matrix = np.full((len(hops.left), ports + 1), _UNKNOWN, np.uint8)
    matrix[:, 0] = np.minimum(hops.left[:, switch], _UNKNOWN)
    detour = hops.kind[:, switch] == DETOUR
    for channel in range(channels.first[switch], channels.first[switch + 1]):
        peer = channels.peer[channel]
        peer_left, peer_kind = hops.left[:, peer], hops.kind[:, peer]
        if directions.up[channel]:
            allowed = (hops.kind[:, switch] == UP) & (peer_kind < DETOUR)
        else:
            allowed = (hops.kind[:, switch] == DOWN) & (peer_kind == DOWN)
        usable = (allowed | detour) & (peer_left < _UNKNOWN - 1) & (channels.alive[channel] != 0)
        matrix[usable, channels.port[channel]] = peer_left[usable] + 1
    return matrix
