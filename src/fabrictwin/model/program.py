# SPDX-License-Identifier: Apache-2.0
"""Rank programs: what a workload becomes before the engine runs it.

A job has flows (directed, between two HCA ports, spread over one or more queue pairs) and programs, one per
rank.
A program is a list of instructions that the engine interprets in fabric time; every workload kind is only a
different way to write such programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from fabrictwin.model.fabric import PortRef

LOOP_DEPTH = 3
"""Loop counters of a rank; ``Instruction.c`` of a LOOP names the one it uses."""

FOREVER = 0
"""Count of a LOOP that never ends by itself."""


class Op(IntEnum):
    """What an instruction does; ``a``, ``b`` and ``c`` are its operands."""

    END = 0
    """The rank is done."""
    POST = 1
    """Post a message of ``b`` bytes on flow ``a`` (split evenly over its queue pairs) and go on at once."""
    POST_RANDOM = 2
    """POST of ``b`` bytes on one of the ``c`` flows that start at ``a``, drawn uniformly."""
    WAIT_SENT = 3
    """Wait until the last packet of everything posted on flow ``a`` has been put on the wire."""
    WAIT_RECEIVED = 4
    """Wait for the next message of flow ``a`` to be complete in this rank's memory, and consume it."""
    COMPUTE = 5
    """Do nothing for ``a`` picoseconds."""
    PACE = 6
    """Wait until ``a`` ps after the last PACE (or the start); ``b`` = 1 draws an exponential with mean a."""
    LOOP = 7
    """Go back to instruction ``a`` until the body has run ``b`` times (FOREVER: always), by counter ``c``."""
    MARK = 8
    """One iteration of the job is complete on this rank."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step of a rank program; operands as :class:`Op` says. Flows are indices into ``Job.flows``."""

    op: Op
    a: int = 0
    b: int = 0
    c: int = 0


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages from one HCA port to another.

    Attributes:
        name: Name in the result; unique within the scenario.
        src: Sending HCA port.
        dst: Receiving HCA port.
        sl: Service level, 0-15.
        qps: Queue pairs that each message is split over.
        management: Datagrams of queue pair 0 on VL15 instead of a reliable connection.
        tcp: On RoCE, a TCP connection instead of a queue pair.
    """

    name: str
    src: PortRef
    dst: PortRef
    sl: int = 0
    qps: int = 1
    management: bool = False
    tcp: bool = False


@dataclass(frozen=True, slots=True)
class Program:
    """The program of one rank.

    Attributes:
        node: Index of the HCA that runs it.
        instructions: What it does, ending with END.
        start_ps: Fabric time of its first instruction.
        stop_ps: It posts nothing from this fabric time on; None: no limit.
    """

    node: int
    instructions: tuple[Instruction, ...]
    start_ps: int = 0
    stop_ps: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One entry of a scenario's workload, compiled.

    Attributes:
        name: Name in the result.
        kind: Row of the workload table.
        flows: Every flow that its programs post on or wait for.
        programs: One per rank that does something.
        iteration_bytes: The ``bytes`` that algorithm bandwidth is computed from; 0: not a collective.
        bus_factor: Bus bandwidth over algorithm bandwidth, as a fraction (numerator, denominator).
    """

    name: str
    kind: str
    flows: tuple[Flow, ...]
    programs: tuple[Program, ...]
    iteration_bytes: int = 0
    bus_factor: tuple[int, int] = (1, 1)
