# SPDX-License-Identifier: Apache-2.0
"""Every HCA sends each message to another HCA drawn uniformly, at a given load."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.fabric import PortRef
from fabrictwin.model.program import FOREVER, Instruction, Job, Op, Program
from fabrictwin.model.quantities import MessageBytes
from fabrictwin.model.workload.draw import draw_below
from fabrictwin.model.workload.kind import JobContext, JobSpec, WorkloadKind, program
from fabrictwin.model.workload.pacing import Arrival, interval_ps, pace

MOST_HOSTS = 1024


class UniformRandomSpec(JobSpec):
    """Keys of ``uniform_random``."""

    kind: Literal["uniform_random"]
    load: Annotated[
        float, Field(gt=0, le=1, description="payload posted, as a fraction of the rate of the HCA's port")
    ]
    message: Annotated[MessageBytes, Field(description="size of a message")]
    arrival: Annotated[Arrival, Field(description="exponential or equal gaps between messages")] = "poisson"


def compile_uniform_random(spec: UniformRandomSpec, context: JobContext) -> Job | None:
    """N (N - 1) flows, those of one sender side by side; one endless program an HCA."""
    hcas = context.every_hca()
    if not 2 <= len(hcas) <= MOST_HOSTS:
        context.section.refuse(
            f"takes 2 to {MOST_HOSTS} HCAs, the fabric has {len(hcas)}: each pair of them is a flow"
        )
        return None
    flows = tuple(context.flow(spec, src, dst) for src in hcas for dst in hcas if src != dst)
    programs = tuple(_program(spec, context, index, src, len(hcas) - 1) for index, src in enumerate(hcas))
    return Job(context.name, spec.kind, flows, programs)


def _program(spec: UniformRandomSpec, context: JobContext, index: int, src: PortRef, peers: int) -> Program:
    rate_bps = Fraction(str(spec.load)) * context.fabric.link_at[src].rate_bps
    mean_ps = interval_ps(spec.message, rate_bps)
    # Equal gaps would make every host post at the same moment, so each gets a phase of its own.
    phase_ps = draw_below(mean_ps, context.seed, context.name, index) if spec.arrival == "fixed" else 0
    instructions = (
        pace(mean_ps, spec.arrival),
        Instruction(Op.POST_RANDOM, index * peers, spec.message, peers),
        Instruction(Op.LOOP, 0, FOREVER),
        Instruction(Op.END),
    )
    return program(spec, src.node, instructions, phase_ps)


UNIFORM_RANDOM = WorkloadKind(
    "uniform_random",
    "Every HCA sends each message to another one drawn at random, without end.",
    UniformRandomSpec,
    flows=lambda _spec, hcas: min(hcas, MOST_HOSTS) * (min(hcas, MOST_HOSTS) - 1),
    compile=compile_uniform_random,
)
