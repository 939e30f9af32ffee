# SPDX-License-Identifier: Apache-2.0
"""A cable damages packets."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from fabrictwin.model.action import ActionKind
from fabrictwin.model.fabric import Technology
from fabrictwin.model.fault.kind import Change, FaultContext, FaultKind, LinkFaultSpec
from fabrictwin.model.hardware.headroom import frame_bytes

PROBABILITY_UNIT = 2**32
_OVERHEAD_BYTES = 26
"""LRH, BTH, ICRC and VCRC of a full InfiniBand packet (models.md section 1.3)."""


class SymbolErrorsSpec(LinkFaultSpec):
    """Keys of ``symbol_errors``."""

    kind: Literal["symbol_errors"]
    probability: Annotated[
        float | None, Field(gt=0, le=1, description="that a packet is hit, in each direction")
    ] = None
    ber: Annotated[
        float | None,
        Field(
            gt=0, lt=1, description="instead: bit error rate behind the FEC, applied to packets of full size"
        ),
    ] = None

    every: Annotated[
        int | None, Field(ge=1, le=10**9, description="instead: each packet of so many, in each direction")
    ] = None

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if sum(value is not None for value in (self.probability, self.ber, self.every)) != 1:
            raise ValueError("give either 'probability', 'ber' or 'every'")
        return self


def compile_symbol_errors(spec: SymbolErrorsSpec, context: FaultContext) -> list[Change] | None:
    """The probability in units of 2**-32, or the period as a negative number."""
    link = context.cable(spec)
    if link is None:
        return None
    if spec.every is not None:
        return [Change(ActionKind.LINK_ERROR, link.a, -spec.every, 0, spec.at, spec.end_ps)]
    value = _probability(spec, _packet_bytes(context))
    if value == 0:
        field = "ber" if spec.probability is None else "probability"
        context.section.refuse("would hit less than one packet in 2**32", field)
        return None
    return [Change(ActionKind.LINK_ERROR, link.a, value, 0, spec.at, spec.end_ps)]


def _packet_bytes(context: FaultContext) -> int:
    """A packet of full size."""
    if context.fabric.technology is Technology.ROCE:
        return frame_bytes(context.mtu_bytes)
    return context.mtu_bytes + _OVERHEAD_BYTES


def _probability(spec: SymbolErrorsSpec, packet_bytes: int) -> int:
    # Decimal arithmetic gives the same last bit on every machine; the mathematics library does not.
    if spec.probability is not None:
        hit = Decimal(str(spec.probability))
    else:
        hit = 1 - (1 - Decimal(str(spec.ber))) ** (8 * packet_bytes)
    return round(hit * PROBABILITY_UNIT)


SYMBOL_ERRORS = FaultKind(
    "symbol_errors",
    "A cable damages packets, which link-level retry or the transport sends again.",
    SymbolErrorsSpec,
    compile_symbol_errors,
)
