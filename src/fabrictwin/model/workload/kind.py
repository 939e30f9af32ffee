# SPDX-License-Identifier: Apache-2.0
"""What every kind of workload has in common: its keys, its row of the table, what it is compiled with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from fabrictwin.model.fabric import Fabric, PortRef
from fabrictwin.model.lookup import find_hca_port, first_cabled_port
from fabrictwin.model.named import NamedSpec
from fabrictwin.model.program import Flow, Instruction, Job, Program
from fabrictwin.model.quantities import Endpoint, PortText, TimePs, Wanted, show_value
from fabrictwin.model.section import Section

MOST_FLOWS = 1_100_000
"""Flows of one scenario; uniform traffic among 1,024 hosts needs 1,047,552."""
MOST_QPS = 256


class JobSpec(NamedSpec):
    """The keys that every kind of workload takes."""

    sl: Annotated[
        int | None,
        Field(
            ge=0,
            le=15,
            description="service level, on RoCE the priority, 0 to 7; default: 0, on RoCE the first lossless",
        ),
    ] = None
    transport: Annotated[
        Literal["rdma", "tcp"],
        Field(description="`tcp`: on RoCE, TCP connections instead of queue pairs, in a lossy priority"),
    ] = "rdma"
    qps: Annotated[
        int, Field(ge=1, le=MOST_QPS, description="queue pairs that a pair of hosts spreads over")
    ] = 1
    start: Annotated[TimePs, Field(description="fabric time of the first message")] = 0
    stop: Annotated[TimePs | None, Field(description="nothing is posted from here on")] = None


@dataclass(frozen=True)
class JobContext:
    """What a workload is compiled with.

    Attributes:
        fabric: The fabric that it runs on.
        section: The entry of the scenario; problems are noted there.
        name: Name of the job.
        seed: Seed of the scenario.
        default_sl: Service level of a workload that names none.
    """

    fabric: Fabric
    section: Section
    name: str
    seed: int
    default_sl: int = 0

    def hca(self, text: PortText, *keys: str | int) -> PortRef | None:
        """The HCA port that a text names; a problem is noted where there is none."""
        return find_hca_port(self.fabric, self.section, text, *keys)

    def hcas(self, texts: Sequence[PortText], key: str) -> list[PortRef] | None:
        """The HCA ports that a list names, each once; an empty list stands for every HCA.

        Returns:
            The ports, or None where there was a problem.
        """
        if not texts:
            return self.every_hca()
        ports: list[PortRef] = []
        for index, text in enumerate(texts):
            port = self.hca(text, key, index)
            if port is None:
                if self.section.is_full:
                    break
                continue
            ports.append(port)
        if len(ports) < len(texts):
            return None
        return None if self._refuse_twice(ports, key) else ports

    def _refuse_twice(self, ports: Sequence[PortRef], key: str) -> bool:
        seen: set[int] = set()
        for index, port in enumerate(ports):
            if port.node in seen:
                self.section.refuse(f"{self.fabric.nodes[port.node].name!r} stands there twice", key, index)
                return True
            seen.add(port.node)
        return False

    def every_hca(self) -> list[PortRef]:
        """The first cabled port of every HCA that has one, in the order of the fabric."""
        ports = (first_cabled_port(self.fabric, node) for node in self.fabric.hcas)
        return [port for port in ports if port is not None]

    def flow(self, spec: JobSpec, src: PortRef, dst: PortRef) -> Flow:
        """A flow of this job between two ports."""
        return self.named_flow(f"{self.name}:{self._end(src)}>{self._end(dst)}", spec, src, dst)

    def named_flow(self, name: str, spec: JobSpec, src: PortRef, dst: PortRef) -> Flow:
        """The same with a name of its own."""
        return Flow(name, src, dst, self.sl(spec), spec.qps, tcp=spec.transport == "tcp")

    def sl(self, spec: JobSpec) -> int:
        """The service level of this job."""
        return self.default_sl if spec.sl is None else spec.sl

    def _end(self, port: PortRef) -> str:
        node = self.fabric.nodes[port.node].name
        return node if port.port == 1 else self.fabric.port_name(port)


def program(spec: JobSpec, node: int, instructions: Sequence[Instruction], delay_ps: int = 0) -> Program:
    """The program of a rank that starts and stops when its job does.

    Args:
        spec: The job.
        node: Index of the HCA.
        instructions: What it does.
        delay_ps: So much after the start of the job.
    """
    return Program(node, tuple(instructions), spec.start + delay_ps, spec.stop)


@dataclass(frozen=True, slots=True)
class WorkloadKind:
    """A row of the table of workloads.

    Attributes:
        name: Value of ``kind``.
        summary: One line for the reference.
        spec: Its keys.
        flows: Number of flows for (spec, number of HCAs), known before anything is expanded.
        compile: Writes the job; None where a problem was noted.
    """

    name: str
    summary: str
    spec: type[JobSpec]
    flows: Callable[[Any, int], int]
    compile: Callable[[Any, JobContext], Job | None]


ALL_WORD = "all"


def _hca_list(value: Any) -> list[Any]:
    if value == ALL_WORD:
        return []
    if not isinstance(value, list) or not value:
        raise ValueError(f"expected 'all' or a list of HCAs such as [h0, h1], got {show_value(value)}")
    return value


HcaList = Annotated[
    list[Endpoint],
    BeforeValidator(_hca_list),
    Wanted("`all`, or a list of HCAs, e.g. `[h0, h1]`"),
]
"""HCAs by name; an empty list stands for ``all``."""
