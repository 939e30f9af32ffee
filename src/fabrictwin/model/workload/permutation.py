# SPDX-License-Identifier: Apache-2.0
"""Every HCA sends to one other, and receives from one other."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabrictwin.model.program import Job
from fabrictwin.model.workload.draw import draw_derangement
from fabrictwin.model.workload.kind import JobContext, WorkloadKind, program
from fabrictwin.model.workload.pacing import MessagesSpec


class PermutationSpec(MessagesSpec):
    """Keys of ``permutation``."""

    kind: Literal["permutation"]
    pattern: Annotated[
        Literal["random", "shift"],
        Field(description="random: any permutation without a fixed point; shift: HCA i sends to i + `shift`"),
    ] = "random"
    shift: Annotated[int | None, Field(ge=1, description="with `pattern: shift`")] = None

    @model_validator(mode="after")
    def _check_shift(self) -> Self:
        if self.pattern == "shift" and self.shift is None:
            raise ValueError("'pattern: shift' needs a 'shift'")
        if self.pattern == "random" and self.shift is not None:
            raise ValueError("'shift' needs 'pattern: shift'")
        return self


def compile_permutation(spec: PermutationSpec, context: JobContext) -> Job | None:
    """One flow an HCA, in the order of the fabric."""
    hcas = context.every_hca()
    if len(hcas) < 2:
        context.section.refuse(f"needs at least 2 HCAs, the fabric has {len(hcas)}")
        return None
    if spec.shift is not None:
        if spec.shift % len(hcas) == 0:
            context.section.refuse(f"a shift of {spec.shift} over {len(hcas)} HCAs sends to itself", "shift")
            return None
        targets = [(index + spec.shift) % len(hcas) for index in range(len(hcas))]
    else:
        targets = draw_derangement(len(hcas), context.seed, context.name)
    flows = tuple(context.flow(spec, src, hcas[target]) for src, target in zip(hcas, targets, strict=True))
    programs = tuple(program(spec, src.node, spec.loop(index)) for index, src in enumerate(hcas))
    return Job(context.name, spec.kind, flows, programs)


PERMUTATION = WorkloadKind(
    "permutation",
    "Every HCA sends messages to one other and receives from one other.",
    PermutationSpec,
    flows=lambda _spec, hcas: hcas,
    compile=compile_permutation,
)
