# SPDX-License-Identifier: Apache-2.0
"""Writes a fabric as ibnetdiscover would print it, in both forms."""

from __future__ import annotations

from collections.abc import Iterator

from fabrictwin.model.fabric import Fabric, NodeKind, PortRef
from fabrictwin.model.topology import TOPOLOGIES, Equipment, build_topology

_ROW = {NodeKind.SWITCH: "SW", NodeKind.HCA: "CA"}


def tree(k: int) -> Fabric:
    """A k-ary fat tree of three levels."""
    row = TOPOLOGIES["fat_tree"]
    parameters = row.parameters.model_validate({"levels": 3, "k": k})
    return build_topology("fat_tree", parameters, Equipment.of("native_ib", "native_hca"))


def plain_form(fabric: Fabric) -> str:
    """The output without ``-p``, all links at 4x NDR; a node's LID is its number and one."""
    ports = _ports_of(fabric)
    return "".join(line for index in range(len(fabric.nodes)) for line in _block(fabric, index, ports[index]))


def _ports_of(fabric: Fabric) -> list[list[tuple[int, PortRef]]]:
    """(port, its neighbour) of every node's cables, by port."""
    ports: list[list[tuple[int, PortRef]]] = [[] for _ in fabric.nodes]
    for link in fabric.links:
        for end in (link.a, link.b):
            ports[end.node].append((end.port, link.other(end)))
    return [sorted(of_node) for of_node in ports]


def _block(fabric: Fabric, index: int, ports: list[tuple[int, PortRef]]) -> Iterator[str]:
    node = fabric.nodes[index]
    is_switch = node.kind is NodeKind.SWITCH
    word, prefix, key = ("Switch", "S", "switchguid") if is_switch else ("Ca", "H", "caguid")
    yield f"vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x{node.guid:x}\n{key}=0x{node.guid:x}\n"
    tail = f" enhanced port 0 lid {index + 1} lmc 0" if is_switch else ""
    yield f'{word}\t{node.ports} "{prefix}-{node.guid:016x}"\t\t# "{_description(fabric, index)}"{tail}\n'
    for port, peer in ports:
        own = "" if is_switch else f"({node.port_guid(port):x}) "
        lid = "" if is_switch else f"lid {index + 1} lmc 0 "
        other = fabric.nodes[peer.node]
        to_switch = other.kind is NodeKind.SWITCH
        guid = "" if to_switch else f"({other.port_guid(peer.port):x}) "
        yield (
            f'[{port}]{own}\t"{"S" if to_switch else "H"}-{other.guid:016x}"[{peer.port}]{guid}\t\t'
            f'# {lid}"{_description(fabric, peer.node)}" lid {peer.node + 1} 4xNDR\n'
        )
    yield "\n"


def _description(fabric: Fabric, index: int) -> str:
    node = fabric.nodes[index]
    return f"MF0;{node.name}:MQM9700/U1" if node.kind is NodeKind.SWITCH else f"{node.name} mlx5_0"


def ports_form(fabric: Fabric) -> str:
    """The output of ``-p`` of the same fabric; switch ports without a cable have rows too."""
    rows: list[str] = []
    for index, ports in enumerate(_ports_of(fabric)):
        node, peers = fabric.nodes[index], dict(ports)
        for port in range(1, node.ports + 1):
            own = f"{_ROW[node.kind]} {index + 1:5} {port:2} 0x{node.port_guid(port):016x}"
            peer = peers.get(port)
            if peer is None:
                rows.append(f"{own} 4x SDR {' ' * 33}'{_description(fabric, index)}'\n")
                continue
            other = fabric.nodes[peer.node]
            rows.append(
                f"{own} 4x NDR - {_ROW[other.kind]} {peer.node + 1:5} {peer.port:2} "
                f"0x{other.port_guid(peer.port):016x} "
                f"( '{_description(fabric, index)}' - '{_description(fabric, peer.node)}' )\n"
            )
    return "".join(rows)
