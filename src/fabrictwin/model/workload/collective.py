# SPDX-License-Identifier: Apache-2.0
"""What the collectives have in common: their ranks, their iterations and their bus factors."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from fabrictwin.model.fabric import PortRef
from fabrictwin.model.quantities import SizeBytes
from fabrictwin.model.workload.kind import HcaList, JobContext, JobSpec

MOST_ITERATIONS = 10**6

BUS_FACTORS: dict[str, Callable[[int], Fraction]] = {
    "all_reduce": lambda ranks: Fraction(2 * (ranks - 1), ranks),
    "reduce_scatter": lambda ranks: Fraction(ranks - 1, ranks),
    "all_gather": lambda ranks: Fraction(ranks - 1, ranks),
    "all_to_all": lambda ranks: Fraction(ranks - 1, ranks),
    "broadcast": lambda _ranks: Fraction(1),
    "reduce": lambda _ranks: Fraction(1),
}
"""Bus bandwidth over algorithm bandwidth, by number of ranks (nccl-tests, ``doc/PERFORMANCE.md``)."""


class CollectiveSpec(JobSpec):
    """The keys that every collective takes."""

    ranks: Annotated[HcaList, Field(description="who takes part, in rank order; `all`: every HCA")]
    bytes: Annotated[SizeBytes, Field(description="buffer of each rank")]
    iterations: Annotated[
        int, Field(ge=1, le=MOST_ITERATIONS, description="how often, one after the other")
    ] = 1


def bus_factor(collective: str, ranks: int) -> tuple[int, int]:
    """(numerator, denominator) of a row of ``BUS_FACTORS``."""
    return BUS_FACTORS[collective](ranks).as_integer_ratio()


def rank_ports(spec: CollectiveSpec, context: JobContext) -> list[PortRef] | None:
    """The HCA port of each rank; a problem is noted where there are fewer than two."""
    ports = context.hcas(spec.ranks, "ranks")
    if ports is not None and len(ports) < 2:
        context.section.refuse(f"needs at least 2 ranks, got {len(ports)}", "ranks")
        return None
    return ports


def divide_up(total_bytes: int, parts: int) -> int:
    """Size of each of so many equal parts, rounded up to whole bytes."""
    return -(-total_bytes // parts)
