# SPDX-License-Identifier: Apache-2.0
"""Every rank sends a different part of its buffer to every other."""

from __future__ import annotations

from typing import Literal

from fabrictwin.model.program import Instruction, Job, Op
from fabrictwin.model.quantities import LARGEST_MESSAGE_BYTES
from fabrictwin.model.workload.collective import CollectiveSpec, bus_factor, divide_up, rank_ports
from fabrictwin.model.workload.kind import JobContext, WorkloadKind, program

MOST_RANKS = 512


class AllToAllSpec(CollectiveSpec):
    """Keys of ``all_to_all``."""

    kind: Literal["all_to_all"]


def compile_all_to_all(spec: AllToAllSpec, context: JobContext) -> Job | None:
    """Rank r posts bytes / n to r + 1, r + 2, … at once, then waits for its part from every other rank."""
    ports = rank_ports(spec, context)
    if ports is None:
        return None
    ranks = len(ports)
    part_bytes = divide_up(spec.bytes, ranks)
    if ranks > MOST_RANKS or part_bytes > LARGEST_MESSAGE_BYTES:
        context.section.refuse(
            f"takes up to {MOST_RANKS} ranks and 2 GiB a pair of ranks, got {ranks} ranks and {part_bytes} B"
        )
        return None
    steps = range(1, ranks)
    flows = tuple(context.flow(spec, ports[r], ports[(r + s) % ranks]) for r in range(ranks) for s in steps)
    programs = tuple(
        program(spec, ports[rank].node, _instructions(spec, rank, ranks, part_bytes)) for rank in range(ranks)
    )
    factor = bus_factor("all_to_all", ranks)
    return Job(context.name, spec.kind, flows, programs, spec.bytes, factor)


def _instructions(spec: AllToAllSpec, rank: int, ranks: int, part_bytes: int) -> list[Instruction]:
    def flow(src: int, step: int) -> int:
        return src * (ranks - 1) + step - 1

    body = [Instruction(Op.POST, flow(rank, step), part_bytes) for step in range(1, ranks)]
    body += [Instruction(Op.WAIT_RECEIVED, flow((rank - step) % ranks, step)) for step in range(1, ranks)]
    return [*body, Instruction(Op.MARK), Instruction(Op.LOOP, 0, spec.iterations), Instruction(Op.END)]


def _count_flows(spec: AllToAllSpec, hcas: int) -> int:
    ranks = min(len(spec.ranks) or hcas, MOST_RANKS)
    return ranks * (ranks - 1)


ALL_TO_ALL = WorkloadKind(
    "all_to_all",
    "Every rank sends `bytes` / n to every other rank.",
    AllToAllSpec,
    flows=_count_flows,
    compile=compile_all_to_all,
)
