# SPDX-License-Identifier: Apache-2.0
"""Reads the entries of an explicit topology: one node, one link, one port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from reprlib import repr as shown

from fabrictwin.errors import Problem, nearest
from fabrictwin.model.check import MAX_GUID
from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.hardware import HardwareModel
from fabrictwin.model.hardware.hardware_model import MAX_PORTS
from fabrictwin.model.topology.equipment import Equipment, LinkDefaults
from fabrictwin.model.topology.parameters import TOPOLOGY_FIELD
from fabrictwin.units import parse_length_mm, parse_rate_bps

_NODE_FORMS = "hca, switch, {hca: PORTS} or {switch: PORTS}"
_LINK_FORM = "a link is [node/port, node/port] or [node/port, node/port, {rate: 400Gb/s, length: 10m}]"

End = tuple[str, int]
"""A node's name and a port number."""

Complain = Callable[[str], None]
"""Takes the message of a problem whose place is known."""


@dataclass(frozen=True, slots=True)
class NodeSpec:
    """A node as it was written; None where it was not said."""

    kind: NodeKind
    ports: int | None = None
    guid: int | None = None


@dataclass(frozen=True, slots=True)
class LinkSpec:
    """A link as it was written; None where it was not said."""

    a: End
    b: End
    rate_bps: int | None = None
    length_mm: int | None = None

    def cable(self, defaults: LinkDefaults) -> LinkDefaults:
        """Its rate and length, from the defaults where it does not say."""
        return LinkDefaults(
            defaults.rate_bps if self.rate_bps is None else self.rate_bps,
            defaults.length_mm if self.length_mm is None else self.length_mm,
        )


def parse_node(name: str, entry: object, equipment: Equipment, problems: list[Problem]) -> NodeSpec:
    """Reads one entry of ``nodes``.

    Args:
        name: The node's name.
        entry: What stands beside it.
        equipment: Models of the nodes, which bound their ports.
        problems: Takes what is wrong with the entry.

    Returns:
        The node; with a problem, the best guess at it, so that its links can still be checked.
    """
    field = f"{TOPOLOGY_FIELD}.nodes.{name}"

    def complain(message: str) -> None:
        problems.append(Problem(message, field=field))

    if isinstance(entry, str):
        if entry not in ("hca", "switch"):
            complain(f"{entry!r} is no kind of node{nearest(entry, ('hca', 'switch'))}; write {_NODE_FORMS}")
        return NodeSpec(NodeKind.HCA if entry == "hca" else NodeKind.SWITCH)
    kinds = [kind for kind in ("hca", "switch") if isinstance(entry, Mapping) and kind in entry]
    if not isinstance(entry, Mapping) or len(kinds) != 1:
        complain(f"expected {_NODE_FORMS}, got {shown(entry)}")
        return NodeSpec(NodeKind.SWITCH)
    for key in entry:
        if key not in (*kinds, "guid"):
            complain(f"unknown key {key!r}{nearest(str(key), (*kinds, 'guid'))}")
    kind = NodeKind(kinds[0])
    ports = _parse_ports(entry[kind], equipment.hca if kind is NodeKind.HCA else equipment.switch, complain)
    return NodeSpec(kind, ports, _parse_guid(entry.get("guid"), complain))


def _parse_ports(value: object, model: HardwareModel, complain: Complain) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        complain(f"expected a number of ports from 1 to {model.ports}, got {shown(value)}")
        return model.ports
    if value > model.ports:
        complain(f"{value} ports are more than the {model.ports} of the model {model.name}")
    return min(value, MAX_PORTS)


def _parse_guid(value: object, complain: Complain) -> int | None:
    if value is None:
        return None
    try:
        guid = int(value, 16) if isinstance(value, str) and len(value) <= 18 else 0
    except ValueError:
        guid = 0
    if not 0 < guid <= MAX_GUID:
        expected = "a quoted text of up to 16 hexadecimal digits, such as '0x0002c90300001234'"
        complain(f"guid must be {expected}, got {shown(value)}")
        return None
    return guid


def parse_link(
    entry: object, field: str, nodes: Mapping[str, NodeSpec], problems: list[Problem]
) -> LinkSpec | None:
    """Reads one entry of ``links``.

    Args:
        entry: What was written.
        field: Where it stands.
        nodes: Every node, by name.
        problems: Takes what is wrong with the entry.

    Returns:
        The link; None if an end cannot be known.
    """

    def complain(message: str) -> None:
        problems.append(Problem(message, field=field))

    if not isinstance(entry, (list, tuple)) or not 2 <= len(entry) <= 3:
        complain(f"{_LINK_FORM}, got {shown(entry)}")
        return None
    ends = [parse_end(text, nodes, complain) for text in entry[:2]]
    rate_bps, length_mm = _parse_cable(entry[2] if len(entry) == 3 else {}, complain)
    if ends[0] is None or ends[1] is None:
        return None
    return LinkSpec(ends[0], ends[1], rate_bps, length_mm)


def parse_end(text: object, nodes: Mapping[str, object], complain: Complain) -> End | None:
    """Reads ``node/port``.

    Args:
        text: What was written.
        nodes: Every node, by name.
        complain: Takes a message if it is wrong.

    Returns:
        The end; None if it is wrong.
    """
    name, slash, port = text.partition("/") if isinstance(text, str) else ("", "", "")
    if not slash or not port.isascii() or not port.isdecimal() or len(port) > 9:
        complain(f"expected a port such as 'h0/1', got {shown(text)}")
        return None
    if name not in nodes:
        complain(f"unknown node {name!r}{nearest(name, nodes)}")
        return None
    return name, int(port)


def _parse_cable(entry: object, complain: Complain) -> tuple[int | None, int | None]:
    if not isinstance(entry, Mapping):
        complain(f"{_LINK_FORM}, got {shown(entry)} as the third")
        return None, None
    readers: dict[str, Callable[[str], int]] = {"rate": parse_rate_bps, "length": parse_length_mm}
    values: dict[str, int] = {}
    for key, value in entry.items():
        if key not in readers:
            complain(f"unknown key {key!r}{nearest(str(key), readers)}")
            continue
        try:
            values[key] = readers[key](str(value))
        except ValueError as error:
            complain(f"{key}: {error}")
    return values.get("rate"), values.get("length")
