# SPDX-License-Identifier: Apache-2.0
"""What a sweep looks at in each result: one value from one place, or from all entries of a list."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import Field

from fabrictwin.model.place import EVERY, LONGEST_PATH, Step, read_place, select
from fabrictwin.model.quantities import Spec
from fabrictwin.model.section import Section

_REDUCE: dict[str, Callable[[list[float]], float]] = {"min": min, "max": max, "mean": fmean, "sum": sum}


class MetricSpec(Spec):
    """Keys of an entry of ``metrics``; one that is only text is its ``path``."""

    path: Annotated[
        str, Field(max_length=LONGEST_PATH, description="place in the result, as in a scenario's `expect`")
    ]
    of: Annotated[
        Literal["min", "max", "mean", "sum"] | None,
        Field(description="what to take of several values; needed with `[*]`"),
    ] = None
    name: Annotated[str | None, Field(max_length=40, description="title of its column")] = None


@dataclass(frozen=True)
class Metric:
    """One value of each result.

    Attributes:
        name: Title of its column.
        steps: The place.
        of: What is taken of several values; None: there is one.
    """

    name: str
    steps: tuple[Step, ...]
    of: str | None = None

    @property
    def unit_name(self) -> str:
        """The name of the place that tells the unit."""
        names = [step.name for step in self.steps]
        return names[-2] if len(names) > 1 and names[-2].endswith("_ns") else names[-1]

    def value(self, result: Mapping[str, Any]) -> Any:
        """The value in a result; None where it has none."""
        try:
            values = [value for _, value in select(result, self.steps) if value is not None]
        except LookupError:
            return None
        if self.of is None:
            return values[0] if values else None
        return _REDUCE[self.of](values) if values else None


DEFAULT_METRICS = (
    Metric("goodput, sum", (Step("flows", EVERY), Step("goodput_bps")), "sum"),
    Metric("slowest flow", (Step("flows", EVERY), Step("goodput_bps")), "min"),
    Metric("latency p99, worst", (Step("flows", EVERY), Step("latency_ns"), Step("p99")), "max"),
    Metric("dropped", (Step("totals"), Step("dropped_packets"))),
    Metric("retransmitted", (Step("totals"), Step("retransmitted_packets"))),
)
"""What a sweep that names none looks at."""


def read_metrics(section: Section) -> list[tuple[Section, Metric]]:
    """The entries of ``metrics``, each with its place; problems are noted there."""
    metrics: list[tuple[Section, Metric]] = []
    for entry in section.read_list():
        if section.is_full:
            break
        spec = entry.read(MetricSpec, {"path": entry.value} if isinstance(entry.value, str) else ...)
        metric = _compile(spec, entry) if spec else None
        if metric is not None:
            metrics.append((entry, metric))
    return metrics


def _compile(spec: MetricSpec, section: Section) -> Metric | None:
    place = read_place(spec.path, section)
    if place is None:
        return None
    several = any(step.selector == EVERY for step in place.steps)
    if place.field.below or place.field.chosen_by:
        section.refuse(
            f"say what of {spec.path}: {', '.join(place.field.below) or place.field.chosen_by}", "path"
        )
        return None
    if several and spec.of is None:
        section.refuse(f"{spec.path} has many values; add 'of': min, max, mean or sum", "of")
        return None
    if not several and spec.of is not None:
        section.refuse(f"{spec.path} is one value; leave 'of' out", "of")
        return None
    name = spec.name or (f"{spec.of} {spec.path}" if spec.of else spec.path)
    return Metric(name, place.steps, spec.of)
