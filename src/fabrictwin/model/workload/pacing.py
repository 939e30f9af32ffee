# SPDX-License-Identifier: Apache-2.0
"""How messages follow each other: closed loop, or open loop at a rate."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabrictwin.model.program import Instruction, Op
from fabrictwin.model.quantities import Count, MessageBytes, RateBps
from fabrictwin.model.workload.kind import JobSpec
from fabrictwin.units import PS_PER_S

Arrival = Literal["fixed", "poisson"]


class MessagesSpec(JobSpec):
    """Messages one after the other, or at a rate."""

    message: Annotated[MessageBytes, Field(description="size of a message")]
    count: Annotated[Count, Field(description="messages of each sender")] = 1
    rate: Annotated[
        RateBps | None,
        Field(description="payload posted per second; default: the next message when the last has been sent"),
    ] = None
    arrival: Annotated[
        Arrival | None, Field(description="with `rate`: equal gaps (the default) or exponential ones")
    ] = None

    @model_validator(mode="after")
    def _check_arrival(self) -> Self:
        if self.arrival is not None and self.rate is None:
            raise ValueError("'arrival' needs a 'rate'")
        return self

    def loop(self, flow: int) -> tuple[Instruction, ...]:
        """The program that sends the messages on a flow."""
        if self.rate is None:
            return (
                Instruction(Op.POST, flow, self.message),
                Instruction(Op.WAIT_SENT, flow),
                Instruction(Op.LOOP, 0, self.count),
                Instruction(Op.END),
            )
        return (
            pace(interval_ps(self.message, Fraction(self.rate)), self.arrival or "fixed"),
            Instruction(Op.POST, flow, self.message),
            Instruction(Op.LOOP, 0, self.count),
            Instruction(Op.END),
        )


def interval_ps(message_bytes: int, rate_bps: Fraction) -> int:
    """Mean time between the posts of two messages, at least 1 ps."""
    return max(1, round(message_bytes * 8 * PS_PER_S / rate_bps))


def pace(mean_ps: int, arrival: Arrival) -> Instruction:
    """Waits for the next arrival."""
    return Instruction(Op.PACE, mean_ps, int(arrival == "poisson"))
