# SPDX-License-Identifier: Apache-2.0
"""Many senders, one receiver."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabrictwin.model.program import Job
from fabrictwin.model.quantities import Endpoint
from fabrictwin.model.workload.kind import HcaList, JobContext, WorkloadKind, program
from fabrictwin.model.workload.pacing import MessagesSpec


class IncastSpec(MessagesSpec):
    """Keys of ``incast``."""

    kind: Literal["incast"]
    senders: Annotated[HcaList, Field(description="who sends; `all`: everybody but the receiver")]
    receiver: Annotated[Endpoint, Field(description="who receives")]


def compile_incast(spec: IncastSpec, context: JobContext) -> Job | None:
    """One flow a sender, in the order of the list."""
    receiver, senders = context.hca(spec.receiver, "receiver"), context.hcas(spec.senders, "senders")
    if receiver is None or senders is None:
        return None
    if not spec.senders:
        senders = [port for port in senders if port.node != receiver.node]
    for index, sender in enumerate(senders):
        if sender.node == receiver.node:
            context.section.refuse(f"{spec.receiver.node!r} is the receiver too", "senders", index)
            return None
    flows = tuple(context.flow(spec, sender, receiver) for sender in senders)
    programs = tuple(program(spec, sender.node, spec.loop(index)) for index, sender in enumerate(senders))
    return Job(context.name, spec.kind, flows, programs)


INCAST = WorkloadKind(
    "incast",
    "Several HCAs send messages to one at the same time.",
    IncastSpec,
    flows=lambda spec, hcas: len(spec.senders) or hcas,
    compile=compile_incast,
)
