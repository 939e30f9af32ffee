# SPDX-License-Identifier: Apache-2.0
"""Where two traces part, for people: the last common events and the first that differ."""

from __future__ import annotations

from collections.abc import Sequence

from reference.packet import PacketKind
from reference.world import FcpRow, PacketRow

COMMON_ROWS = 10
DIFFERENT_ROWS = 6

Row = PacketRow | FcpRow


def first_difference(oracle: Sequence[Row], engine: Sequence[Row], nodes: Sequence[str]) -> str:
    """A text that shows where two traces part; empty where they are equal.

    Args:
        oracle: Packets and flow-control packets of the oracle.
        engine: Those of the engine.
        nodes: Names of the nodes.
    """
    ours, theirs = sorted(oracle, key=_order), sorted(engine, key=_order)
    if ours == theirs:
        return ""
    shorter = min(len(ours), len(theirs))
    at = next((index for index in range(shorter) if ours[index] != theirs[index]), shorter)
    lines = [f"the traces differ at row {at} of {len(ours)} (oracle) and {len(theirs)} (engine)"]
    lines += [f"  both    {_show(row, nodes)}" for row in ours[max(0, at - COMMON_ROWS) : at]]
    lines += [f"  oracle  {_show(row, nodes)}" for row in ours[at : at + DIFFERENT_ROWS]]
    lines += [f"  engine  {_show(row, nodes)}" for row in theirs[at : at + DIFFERENT_ROWS]]
    return "\n".join(lines)


def _order(row: Row) -> tuple[int, int, int, bool]:
    return row.start_ps, row.node, row.port, isinstance(row, PacketRow)


def _show(row: Row, nodes: Sequence[str]) -> str:
    place = f"{row.start_ps:>12} {nodes[row.node]}/{row.port} vl {row.vl}"
    if isinstance(row, FcpRow):
        return f"{place} FCP fccl {row.fccl}"
    marks = " fecn" * row.fecn + " becn" * row.becn
    kind = PacketKind(row.kind).name
    return f"{place} {kind} qp {row.queue_pair} psn {row.psn} {row.wire_bytes} B{marks}"
