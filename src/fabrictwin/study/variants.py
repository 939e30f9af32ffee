# SPDX-License-Identifier: Apache-2.0
"""The variants that a comparison runs: a row each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.fabric import Technology
from fabrictwin.model.qos import DEFAULT_LOSSLESS_PRIORITY
from fabrictwin.model.routing_names import ROUTING_OPTIONS
from fabrictwin.model.scenario import Scenario
from fabrictwin.model.yaml_loader import FieldPath
from fabrictwin.study.source import Source
from fabrictwin.study.translate import PFC_FAULTS, Translation, keep, other_technology, translate

REORDER_PACKETS = 4096
"""Sprayed packets overtake each other; so many may before one counts as lost (the M of this page: adapters
that place packets in any order publish no such number)."""


@dataclass(frozen=True)
class Variant:
    """A row of the table of variants.

    Attributes:
        name: Its key in results.
        title: What it is called.
        technology: Link layer.
        changes: What differs from the plain form of its technology.
        spraying: Whether every packet takes an output of its own.
        lossy: Whether no priority has PFC.
    """

    name: str
    title: str
    technology: Technology
    changes: Mapping[FieldPath, Any] = field(default_factory=dict)
    spraying: bool = False
    lossy: bool = False


_NO_CONTROL: dict[FieldPath, Any] = {("congestion_control",): {"algorithm": "none"}}

VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant("infiniband", "InfiniBand", Technology.INFINIBAND),
        Variant("infiniband_no_cc", "InfiniBand, no CC", Technology.INFINIBAND, _NO_CONTROL),
        Variant("roce", "RoCE", Technology.ROCE),
        Variant(
            "roce_spraying",
            "RoCE, spraying",
            Technology.ROCE,
            {
                ("fabric", "hca_model", "loss_recovery"): "selective_repeat",
                ("fabric", "hca_model", "reorder_packets"): REORDER_PACKETS,
            },
            spraying=True,
        ),
        Variant("roce_no_cc", "RoCE, no CC", Technology.ROCE, _NO_CONTROL),
        Variant(
            "roce_lossy",
            "RoCE, lossy",
            Technology.ROCE,
            {("fabric", "hca_model", "loss_recovery"): "go_back_n"},
            lossy=True,
        ),
    )
}
"""Every variant, in the order of the tables."""


@dataclass(frozen=True)
class Pair:
    """A scenario in both technologies.

    Attributes:
        forms: Its plain form in each.
        own: The technology of the file.
    """

    forms: Mapping[Technology, Translation]
    own: Technology

    def source(self, variant: Variant) -> Source:
        """What a variant runs."""
        source = self.forms[variant.technology].source.change(variant.changes)
        if variant.spraying:
            source = source.change({("routing",): _spray(source.value.get("routing") or {})})
        return _lose(source) if variant.lossy else source


def _spray(routing: Mapping[str, Any]) -> dict[str, Any]:
    """The same routing, with spraying: it takes the place of tables and of flowlets."""
    kept = {key: routing[key] for key in routing if key in ROUTING_OPTIONS["ecmp"] and key != "flowlet"}
    return {**kept, "engine": "ecmp", "spraying": True}


def _lose(source: Source) -> Source:
    """The same without PFC: every job keeps its priority."""
    priorities = (source.value.get("qos") or {}).get("lossless_priorities") or [DEFAULT_LOSSLESS_PRIORITY]
    jobs = source.value.get("workload") or []
    faults = source.value.get("faults") or []
    return source.change(
        {
            ("qos", "lossless_priorities"): [],
            ("workload",): [{**job, "sl": min(priorities)} if job.get("sl") is None else job for job in jobs],
            ("faults",): [fault for fault in faults if fault["kind"] not in PFC_FAULTS],
        }
    )


def pair_up(source: Source, scenario: Scenario) -> Pair:
    """A scenario, and the same in the other technology.

    Args:
        source: The scenario.
        scenario: The same, expanded.

    Raises:
        InputError: It has no counterpart.
    """
    own = scenario.fabric.technology
    forms = {own: keep(source, scenario), other_technology(own): translate(source, scenario)}
    return Pair(forms, own)


def expand_variants(pair: Pair) -> dict[str, Scenario]:
    """Every variant, expanded.

    Raises:
        InputError: With the problems of all of them; each says of which variant it is.
    """
    scenarios: dict[str, Scenario] = {}
    problems: list[Problem] = []
    for variant in VARIANTS.values():
        try:
            scenarios[variant.name] = pair.source(variant).expand()
        except InputError as error:
            problems += [
                Problem(f"as '{variant.title}': {one.message}", one.file, one.line, one.field)
                for one in error.problems
            ]
    if problems:
        raise InputError(problems)
    return scenarios
