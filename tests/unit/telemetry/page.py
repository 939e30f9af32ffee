# SPDX-License-Identifier: Apache-2.0
"""The pages of a simulation in the middle of its run, read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.telemetry import Exporter, Health, Service
from fabrictwin.telemetry.stepped import SteppedSimulation
from fabrictwin.units import PS_PER_US

SERVICES = {NodeKind.SWITCH: Service.SWITCH_NODE, NodeKind.HCA: Service.HCA_ENDPOINT}
Page = dict[str, dict[tuple[tuple[str, str], ...], float]]


@dataclass
class Scraped:
    """A simulation in the middle of its run, and the pages of its switches and of its HCAs."""

    stepped: SteppedSimulation
    exporters: dict[NodeKind, Exporter]
    pages: dict[NodeKind, Page]

    @property
    def simulation(self) -> Simulation:
        return self.stepped.simulation

    def value(self, node: NodeKind, name: str, /, **labels: str) -> float:
        return self.pages[node][name][tuple(sorted(labels.items()))]


def read_page(exporter: Exporter) -> Page:
    """Values by name and labels; no series may come twice."""
    page: Page = {}
    for family in text_string_to_metric_families(b"".join(exporter.render()).decode()):
        for sample in family.samples:
            series = page.setdefault(sample.name, {})
            assert tuple(sorted(sample.labels.items())) not in series, f"{sample.name}: the same series twice"
            series[tuple(sorted(sample.labels.items()))] = sample.value
    return page


def scrape(scenario: str, at_us: Sequence[int]) -> Scraped:
    """Runs a scenario up to some fabric times and scrapes it at each."""
    healths = {kind: Health("page", service, f"{kind}0", "page") for kind, service in SERVICES.items()}
    simulation = open_simulation(parse_scenario(scenario, file="page"))
    stepped = SteppedSimulation(simulation, healths.values())
    exporters = {kind: Exporter(health, stepped.nodes_of(kind)) for kind, health in healths.items()}
    for to_us in at_us:
        stepped.step(to_us * PS_PER_US)
        pages = {kind: read_page(exporter) for kind, exporter in exporters.items()}
    return Scraped(stepped, exporters, pages)
