# SPDX-License-Identifier: Apache-2.0
"""One sender, one receiver."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.program import Job
from fabrictwin.model.quantities import Endpoint
from fabrictwin.model.workload.kind import JobContext, WorkloadKind, program
from fabrictwin.model.workload.pacing import MessagesSpec


class StreamSpec(MessagesSpec):
    """Keys of ``stream``."""

    kind: Literal["stream"]
    src: Annotated[Endpoint, Field(description="sender")]
    dst: Annotated[Endpoint, Field(description="receiver")]


def compile_stream(spec: StreamSpec, context: JobContext) -> Job | None:
    """One flow, which carries the name of the job."""
    src, dst = context.hca(spec.src, "src"), context.hca(spec.dst, "dst")
    if src is None or dst is None:
        return None
    if src.node == dst.node:
        context.section.refuse(f"'src' and 'dst' are the same HCA {spec.src.node!r}", "dst")
        return None
    flow = context.named_flow(context.name, spec, src, dst)
    return Job(context.name, spec.kind, (flow,), (program(spec, src.node, spec.loop(0)),))


STREAM = WorkloadKind(
    "stream",
    "One HCA sends messages to another.",
    StreamSpec,
    flows=lambda _spec, _hcas: 1,
    compile=compile_stream,
)
