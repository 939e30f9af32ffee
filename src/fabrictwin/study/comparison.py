# SPDX-License-Identifier: Apache-2.0
"""A comparison: everything that is run for a scenario, made before anything runs, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fabrictwin.errors import Problem
from fabrictwin.model.fabric import Technology
from fabrictwin.model.scenario import Scenario
from fabrictwin.study import cluster, idle_latency
from fabrictwin.study.cluster import Effective, cluster_source, measure_cluster
from fabrictwin.study.idle_latency import IdleLatency, chain_source, measure_idle_latency
from fabrictwin.study.outcome import Outcome, run_scenario
from fabrictwin.study.parallel import Task, run_all
from fabrictwin.study.source import Source
from fabrictwin.study.variants import VARIANTS, Pair, expand_variants, pair_up

SCHEMA = "fabrictwin.compare/1"
PLAIN = {Technology.INFINIBAND: "infiniband", Technology.ROCE: "roce"}
"""The variant of each technology that the others differ from."""

Key = tuple[str, ...]
"""What a run is for: ``variant``, name; ``idle``, technology; or ``cluster``, hosts, reach, variant."""

NOT_MODELLED = (
    "Adaptive routing and in-network reduction of InfiniBand; of Ethernet the load balancing and congestion "
    "control that vendors keep to themselves (spraying draws an output at random for every packet).",
    "Hosts beyond a latency each way and a rate at which they take data: no PCIe, driver or software.",
    "Headroom pools that ports share, and the cells and pipelines of a switch's buffer: it is one pool with "
    "a threshold.",
    "Policies of Ethernet's routing protocols and messages that they lose; convergence itself is simulated.",
    "Bit errors, unless the scenario has them as a fault; FEC is inside the published latencies.",
    "Price, power, operations. And parts of the same class are not the same part: the pairs are ours.",
)


@dataclass(frozen=True)
class Comparison:
    """What is run for a scenario.

    Attributes:
        pair: The scenario in both technologies.
        variants: Every variant, expanded, by name.
        chains: Idle fabrics by technology and number of switches.
        clusters: Clusters by (hosts, reach, variant).
    """

    pair: Pair
    variants: Mapping[str, Scenario]
    chains: Mapping[Technology, dict[int, Scenario]]
    clusters: Mapping[tuple[int, str, str], Scenario]

    @property
    def scenario(self) -> Scenario:
        """The scenario in its own technology, plain."""
        return self.variants[PLAIN[self.pair.own]]

    @property
    def warnings(self) -> list[Problem]:
        """What is legal but unwise about the plain form that is not the file's own."""
        for technology, name in PLAIN.items():
            if technology is not self.pair.own:
                title = VARIANTS[name].title
                return [
                    Problem(f"as '{title}': {one.message}", one.file) for one in self.variants[name].warnings
                ]
        return []

    def tasks(self, until_ps: int | None) -> dict[Key, Task[Any]]:
        """Every run, the longest first."""
        tasks: dict[Key, Task[Any]] = {}
        for name, scenario in self.variants.items():
            tasks["variant", name] = (run_scenario, (scenario, until_ps))
        for (hosts, reach, name), scenario in sorted(self.clusters.items(), key=lambda item: -item[0][0]):
            tasks["cluster", str(hosts), reach, name] = (measure_cluster, (scenario,))
        for technology, chains in self.chains.items():
            tasks["idle", technology.value] = (measure_idle_latency, (chains,))
        return tasks


@dataclass(frozen=True)
class Findings:
    """What a comparison gave.

    Attributes:
        comparison: What was run.
        outcomes: What each variant gave, in the order of the table.
        idle: Latency of idle fabrics.
        clusters: Effective bandwidth by (hosts, reach, variant).
    """

    comparison: Comparison
    outcomes: Mapping[str, Outcome]
    idle: tuple[IdleLatency, ...]
    clusters: Mapping[tuple[int, str, str], Effective]


def plan_comparison(source: Source, scenario: Scenario, sizes: Sequence[int]) -> Comparison:
    """Makes everything that a comparison runs.

    Args:
        source: The scenario.
        scenario: The same, expanded.
        sizes: Hosts of the clusters.

    Raises:
        InputError: The scenario has no counterpart, or one of its variants is wrong.
    """
    pair = pair_up(source, scenario)
    variants = expand_variants(pair)
    chains = {
        technology: {
            count: chain_source(pair.source(VARIANTS[name]), variants[name], count).expand()
            for count in idle_latency.SWITCH_COUNTS
        }
        for technology, name in PLAIN.items()
    }
    clusters = {
        (hosts, reach, name): cluster_source(
            pair.source(VARIANTS[name]), variants[name], hosts, reach
        ).expand()
        for hosts in sizes
        for reach in cluster.REACHES
        for name in cluster.VARIANTS
    }
    return Comparison(pair, variants, chains, clusters)


def run_comparison(comparison: Comparison, until_ps: int | None, processes: int) -> Iterator[tuple[Key, Any]]:
    """Runs everything; yields each part as it is done, for :func:`collect`."""
    yield from run_all(comparison.tasks(until_ps), processes)


def collect(comparison: Comparison, parts: Mapping[Key, Any]) -> Findings:
    """What came of it, in the order of the tables, whatever was done first."""
    return Findings(
        comparison,
        {name: parts["variant", name] for name in comparison.variants},
        tuple(parts["idle", technology.value] for technology in comparison.chains),
        {key: parts["cluster", str(key[0]), *key[1:]] for key in comparison.clusters},
    )


def describe(findings: Findings) -> dict[str, Any]:
    """The result of a comparison, ``fabrictwin.compare/1``."""
    comparison = findings.comparison
    scenario = comparison.scenario
    return {
        "schema": SCHEMA,
        "scenario": {"name": scenario.name, "seed": scenario.seed, "technology": comparison.pair.own.value},
        "forms": {
            technology.value: {"mapped": list(form.mapped), "dropped": list(form.dropped)}
            for technology, form in comparison.pair.forms.items()
        },
        "variants": [
            {"name": name, "title": VARIANTS[name].title, **outcome.row}
            for name, outcome in findings.outcomes.items()
        ],
        "idle_latency": [idle_latency.describe(latency) for latency in findings.idle],
        "clusters": [
            {"hosts": hosts, "reach": reach, "variant": name, **asdict(effective)}
            for (hosts, reach, name), effective in findings.clusters.items()
        ],
        "not_modelled": list(NOT_MODELLED),
    }
