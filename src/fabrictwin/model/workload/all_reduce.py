# SPDX-License-Identifier: Apache-2.0
"""Every rank ends with the sum of all buffers: by a ring or by a tree."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.fabric import PortRef
from fabrictwin.model.program import Flow, Instruction, Job, Op
from fabrictwin.model.quantities import LARGEST_MESSAGE_BYTES, TimePs
from fabrictwin.model.workload.collective import CollectiveSpec, bus_factor, divide_up, rank_ports
from fabrictwin.model.workload.kind import JobContext, WorkloadKind, program

MOST_TREE_CHUNKS = 64
SMALLEST_TREE_CHUNK_BYTES = 64 * 1024

_INNER, _OUTER = 0, 1
"""Loop counters: of the steps or chunks, and of the iterations."""


class AllReduceSpec(CollectiveSpec):
    """Keys of ``all_reduce``."""

    kind: Literal["all_reduce"]
    algorithm: Annotated[Literal["ring", "tree"], Field(description="how")] = "ring"
    step_latency: Annotated[
        TimePs, Field(description="time that a rank computes after each message received")
    ] = 0

    def receive(self, flow: int) -> list[Instruction]:
        """Waits for a message and works on it."""
        wait = [Instruction(Op.WAIT_RECEIVED, flow)]
        return [*wait, Instruction(Op.COMPUTE, self.step_latency)] if self.step_latency else wait


def compile_all_reduce(spec: AllReduceSpec, context: JobContext) -> Job | None:
    """The ring or the tree, over the ranks in their order."""
    ports = rank_ports(spec, context)
    if ports is None:
        return None
    parts = len(ports) if spec.algorithm == "ring" else _tree_chunks(spec.bytes)
    chunk_bytes = divide_up(spec.bytes, parts)
    if chunk_bytes > LARGEST_MESSAGE_BYTES:
        context.section.refuse(f"makes messages of {chunk_bytes} B; the most is 2 GiB", "bytes")
        return None
    write = _write_ring if spec.algorithm == "ring" else _write_tree
    flows, bodies = write(spec, context, ports, chunk_bytes)
    end = [Instruction(Op.MARK), Instruction(Op.LOOP, 0, spec.iterations, _OUTER), Instruction(Op.END)]
    programs = tuple(program(spec, port.node, body + end) for port, body in zip(ports, bodies, strict=True))
    return Job(context.name, spec.kind, flows, programs, spec.bytes, bus_factor("all_reduce", len(ports)))


def _write_ring(
    spec: AllReduceSpec, context: JobContext, ports: list[PortRef], chunk_bytes: int
) -> tuple[tuple[Flow, ...], list[list[Instruction]]]:
    """2 (n - 1) times: send bytes / n to the next rank, wait for as much from the previous one.

    Flow r leaves rank r.
    """
    ranks = len(ports)
    flows = tuple(context.flow(spec, ports[rank], ports[(rank + 1) % ranks]) for rank in range(ranks))
    bodies = [
        [
            Instruction(Op.POST, rank, chunk_bytes),
            *spec.receive((rank - 1) % ranks),
            Instruction(Op.LOOP, 0, 2 * (ranks - 1), _INNER),
        ]
        for rank in range(ranks)
    ]
    return flows, bodies


def _tree_chunks(total_bytes: int) -> int:
    return min(MOST_TREE_CHUNKS, divide_up(total_bytes, SMALLEST_TREE_CHUNK_BYTES))


def _write_tree(
    spec: AllReduceSpec, context: JobContext, ports: list[PortRef], chunk_bytes: int
) -> tuple[tuple[Flow, ...], list[list[Instruction]]]:
    """Chunks go up the binary tree (parent of r is (r - 1) // 2) and come down again behind each other.

    Flow r - 1 takes rank r's chunks up to its parent; flow n - 1 + r - 1 brings them down to it.
    """
    ranks, chunks = len(ports), _tree_chunks(spec.bytes)
    up = [context.flow(spec, ports[rank], ports[(rank - 1) // 2]) for rank in range(1, ranks)]
    down = [context.flow(spec, ports[(rank - 1) // 2], ports[rank]) for rank in range(1, ranks)]
    bodies = []
    for rank in range(ranks):
        children = [child for child in (2 * rank + 1, 2 * rank + 2) if child < ranks]
        reduce = [step for child in children for step in spec.receive(child - 1)]
        reduce += [Instruction(Op.POST, rank - 1, chunk_bytes)] if rank else []
        broadcast = [Instruction(Op.WAIT_RECEIVED, ranks + rank - 2)] if rank else []
        broadcast += [Instruction(Op.POST, ranks + child - 2, chunk_bytes) for child in children]
        # A chunk takes as many hops up as down: until the first is back, so many more have been sent up.
        ahead = min(2 * ((rank + 1).bit_length() - 1), chunks)
        bodies.append(_pipeline(reduce, broadcast, chunks, ahead))
    return tuple(up + down), bodies


def _pipeline(
    reduce: list[Instruction], broadcast: list[Instruction], chunks: int, ahead: int
) -> list[Instruction]:
    """``reduce`` runs ``ahead`` chunks before ``broadcast``; each runs once a chunk."""
    body: list[Instruction] = []
    for steps, times in ((reduce, ahead), (reduce + broadcast, chunks - ahead), (broadcast, ahead)):
        if times:
            body += [*steps, Instruction(Op.LOOP, len(body), times, _INNER)]
    return body


ALL_REDUCE = WorkloadKind(
    "all_reduce",
    "Every rank ends with the sum of the buffers of all.",
    AllReduceSpec,
    flows=lambda spec, hcas: 2 * (len(spec.ranks) or hcas),
    compile=compile_all_reduce,
)
