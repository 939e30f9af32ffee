# SPDX-License-Identifier: Apache-2.0
"""What was said on a channel, for people and for scripts: records with names in place of indices."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fabrictwin.engine.cbfc import FCP_INIT, FCP_LOST, FCP_RESYNC, FCP_UPDATE
from fabrictwin.engine.codes import NEVER, Flag, PacketKind
from fabrictwin.engine.ethernet.pfc import PFC_FRAME
from fabrictwin.engine.plan import Plan
from fabrictwin.model.action import ActionKind
from fabrictwin.model.controller import PeerKind, unpack_ports
from fabrictwin.model.fabric import PortRef
from fabrictwin.runtime.convert import WindowData
from fabrictwin.subnet.lids import LFT_BLOCK_LIDS

_FCP_KINDS = {
    FCP_UPDATE: "update",
    FCP_RESYNC: "resync",
    FCP_LOST: "lost",
    FCP_INIT: "init",
    PFC_FRAME: "pfc",
}
_FCP_VALUES = {FCP_RESYNC: "lost_blocks", PFC_FRAME: "quanta"}
"""What the value of a record is, if it is not an FCCL."""

Row = dict[str, Any]


class Names:
    """Names of nodes, ports and flows by their indices; where the plan is unknown, the indices."""

    def __init__(self, plan: Plan | None) -> None:
        self._plan = plan

    def node(self, index: int) -> str:
        """Name of a node."""
        return f"node {index}" if self._plan is None else self._plan.scenario.fabric.nodes[index].name

    def port(self, index: int) -> str:
        """``node/port`` of a port index."""
        if self._plan is None:
            return f"port {index}"
        return self._plan.scenario.fabric.port_name(self._end(self._plan, index))

    def peer(self, index: int) -> str:
        """``node/port`` at the other end of a port's cable."""
        if self._plan is None:
            return "?"
        fabric = self._plan.scenario.fabric
        end = self._end(self._plan, index)
        link = fabric.link_at.get(end)
        return "?" if link is None else fabric.port_name(link.other(end))

    def port_vl(self, index: int) -> tuple[int, int]:
        """Port index and VL of a port-VL index; without a plan the index itself, and -1."""
        return (index, -1) if self._plan is None else divmod(index, self._plan.vls)

    def flow(self, qp: int) -> str:
        """Name of the flow that a queue pair belongs to."""
        if self._plan is None or not 0 <= qp < int(self._plan.first_qp[-1]):
            return f"qp {qp}"
        number = int(np.searchsorted(self._plan.first_qp, qp, "right")) - 1
        return self._plan.flows[number][1].name

    @staticmethod
    def _end(plan: Plan, index: int) -> PortRef:
        node = int(np.searchsorted(plan.ports.first, index, "right")) - 1
        return PortRef(node, index - int(plan.ports.first[node]) + 1)


def rows(window: WindowData, names: Names) -> Iterator[Row]:
    """Every record of a Window as a mapping: its ``record`` kind, and fields with names and units."""
    for kind, records in window.records.items():
        describe = _KINDS[kind].describe
        fields = records.dtype.names or ()
        for record in records.tolist():
            yield {"record": kind, **describe(dict(zip(fields, record, strict=True)), names)}
    for line in window.commands:
        yield {"record": "command", "command": _parse(line)}


def show(row: Row) -> str:
    """One line of text for a record."""
    return _KINDS[row["record"]].show(row)


def show_ns(ps: int) -> str:
    """Nanoseconds to the picosecond."""
    return "never" if ps >= NEVER else f"{ps // 1000}.{ps % 1000:03d} ns"


class _Kind(NamedTuple):
    describe: Callable[[Row, Names], Row]
    show: Callable[[Row], str]


def _packet(record: Row, names: Names) -> Row:
    return {
        "from": names.peer(record["port"]),
        "to": names.port(record["port"]),
        "flow": names.flow(record["qp"]),
        "qp": record["qp"],
        "kind": PacketKind(record["kind"]).name,
        "bits": [flag.name.lower() for flag in Flag if record["bits"] & flag],
        "psn": record["psn"],
        "bytes": record["wire"],
        "payload_bytes": record["payload"],
        "dlid": record["dlid"],
        "sl": record["sl"],
        "vl": record["vl"],
        "start_ps": record["start_ps"],
        "head_in_ps": record["head_in_ps"],
        "tail_in_ps": record["head_in_ps"] + record["ser_ps"],
    }


def _show_packet(row: Row) -> str:
    bits = f" [{' '.join(row['bits'])}]" if row["bits"] else ""
    return (
        f"packet  {row['from']} → {row['to']}  {row['flow']} {row['kind']} psn {row['psn']}{bits}  "
        f"{row['bytes']} B vl {row['vl']}  starts {show_ns(row['start_ps'])}, "
        f"arrives {show_ns(row['head_in_ps'])} to {show_ns(row['tail_in_ps'])}"
    )


def _fcp(record: Row, names: Names) -> Row:
    port, vl = names.port_vl(record["pv"])
    return {
        "from": names.peer(port),
        "to": names.port(port),
        "vl": vl,
        "kind": _FCP_KINDS.get(record["kind"], str(record["kind"])),
        _FCP_VALUES.get(record["kind"], "fccl"): record["value"],
        "arrival_ps": record["arrival_ps"],
    }


def _show_fcp(row: Row) -> str:
    arrives = show_ns(row["arrival_ps"])
    if "quanta" in row:
        said = f"pause {row['quanta']} quanta" if row["quanta"] else "resume"
        return f"pfc     {row['from']} → {row['to']}  priority {row['vl']} {said}  arrives {arrives}"
    said = f"lost {row['lost_blocks']} blocks" if "lost_blocks" in row else f"FCCL {row['fccl']}"
    kind = "" if row["kind"] == "update" else f" ({row['kind']})"
    return f"fcp     {row['from']} → {row['to']}  vl {row['vl']} {said}{kind}  arrives {arrives}"


def _notice(record: Row, names: Names) -> Row:
    return {
        "port": f"{names.node(record['node'])}/{record['port']}",
        "change": ActionKind(record["kind"]).name.lower(),
        "value": record["value"],
        "at_ps": record["at_ps"],
    }


def _show_notice(row: Row) -> str:
    return f"notice  {row['port']} {row['change']} {row['value']}  at {show_ns(row['at_ps'])}"


def _lft_write(record: Row, names: Names) -> Row:
    return {
        "node": names.node(record["node"]),
        "block": record["block"],
        "ports": list(record["ports"]),
        "at_ps": record["at_ps"],
    }


def _show_lft_write(row: Row) -> str:
    first = row["block"] * LFT_BLOCK_LIDS
    lids = f"block {row['block']} (LIDs {first} to {first + LFT_BLOCK_LIDS - 1})"
    return f"lft     {row['node']} {lids}  at {show_ns(row['at_ps'])}"


def _route_write(record: Row, names: Names) -> Row:
    return {
        "node": names.node(record["node"]),
        "lid": record["lid"],
        "ports": list(unpack_ports(record["ports"])),
        "at_ps": record["at_ps"],
    }


def _show_route_write(row: Row) -> str:
    ports = " ".join(map(str, row["ports"])) or "none"
    return f"route   {row['node']} destination {row['lid']} ports {ports}  at {show_ns(row['at_ps'])}"


def _sm_message(record: Row, names: Names) -> Row:
    row = {
        "message": PeerKind(record["kind"]).name.lower(),
        "state": record["state"],
        "priority": record["priority"],
        "guid": f"0x{record['guid']:016x}",
        "at_ps": record["at_ps"],
    }
    if record["kind"] == PeerKind.LFT_BLOCK:
        row |= {"node": names.node(record["node"]), "block": record["block"], "ports": list(record["ports"])}
    return row


def _show_sm_message(row: Row) -> str:
    block = f" {row['node']} block {row['block']}" if "block" in row else ""
    sender = f"{row['guid']} state {row['state']} priority {row['priority']}"
    return f"sm      {row['message']}{block} from {sender}  at {show_ns(row['at_ps'])}"


def _reaction(record: Row, names: Names) -> Row:
    return {"entity": record["entity"], "value": record["value"], "at_ps": record["time_ps"]}


def _show_reaction(row: Row) -> str:
    return f"cc      entity {row['entity']} value {row['value']}  at {show_ns(row['at_ps'])}"


def _as_it_is(record: Row, names: Names) -> Row:
    return record


def _show_report(row: Row) -> str:
    said = ", ".join(
        f"{name.removesuffix('_ps')} {show_ns(value) if name.endswith('_ps') else value}"
        for name, value in row.items()
        if name != "record"
    )
    return f"report  {said}"


def _show_command(row: Row) -> str:
    return f"command {json.dumps(row['command'], ensure_ascii=False)}"


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return line.decode(errors="replace")


_KINDS = {
    "packet": _Kind(_packet, _show_packet),
    "fcp": _Kind(_fcp, _show_fcp),
    "notice": _Kind(_notice, _show_notice),
    "lft_write": _Kind(_lft_write, _show_lft_write),
    "sm_message": _Kind(_sm_message, _show_sm_message),
    "reaction": _Kind(_reaction, _show_reaction),
    "report": _Kind(_as_it_is, _show_report),
    "command": _Kind(_as_it_is, _show_command),
    "route_write": _Kind(_route_write, _show_route_write),
}
