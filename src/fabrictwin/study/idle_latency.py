# SPDX-License-Identifier: Apache-2.0
"""The latency of a small message through an idle fabric of 1, 3 and 5 switches, and where it comes from.

It is simulated, not added up; the parts are listed beside it. One switch is a leaf, three are leaf, spine,
leaf, five go through a three-tier tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fabrictwin.model.fabric import PROPAGATION_PS_PER_MM, Technology
from fabrictwin.model.scenario import Scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.study.source import Source
from fabrictwin.study.translate import usual_link
from fabrictwin.units import PS_PER_NS, show_rate

SWITCH_COUNTS = (1, 3, 5)
MESSAGE = "32B"
"""As in the published measurements of ``ib_send_lat``."""


@dataclass(frozen=True)
class FieldFigure:
    """What people in the field say of a technology, in ns: (least, most).

    Attributes:
        hop_words: The figure for a hop, in words.
        hop_ns: What is taken for it.
        end_words: The figure from end to end, in words.
        end_ns: What is taken for it.
        end_switches: Numbers of switches that it holds for.
    """

    hop_words: str
    hop_ns: tuple[int, int]
    end_words: str
    end_ns: tuple[int, int]
    end_switches: tuple[int, ...]


FIELD_FIGURES = {
    Technology.INFINIBAND: FieldFigure(
        "100 ns-class hops", (100, 199), "1 to 2 µs end to end", (1_000, 2_000), SWITCH_COUNTS
    ),
    Technology.ROCE: FieldFigure(
        "300 to 500 ns hops", (300, 500), "3 to 5 µs through three tiers", (3_000, 5_000), (5,)
    ),
}


@dataclass(frozen=True)
class Part:
    """One constant of a path.

    Attributes:
        name: What it is.
        time_ps: How long it takes.
        source: Where the number comes from, with grade.
    """

    name: str
    time_ps: int
    source: str


@dataclass(frozen=True)
class IdleLatency:
    """What a technology's idle fabric takes.

    Attributes:
        technology: Link layer.
        by_switches_ps: Latency of a message, from its post to its last byte in memory, by number of switches.
        parts: The constants.
    """

    technology: Technology
    by_switches_ps: dict[int, int]
    parts: tuple[Part, ...]

    @property
    def hop_ps(self) -> int:
        """What one more switch and its cable add."""
        first, last = SWITCH_COUNTS[0], SWITCH_COUNTS[-1]
        return (self.by_switches_ps[last] - self.by_switches_ps[first]) // (last - first)


def chain_source(source: Source, scenario: Scenario, switches: int) -> Source:
    """A scenario's parts as two hosts with so many switches between them, and one message.

    Args:
        source: The scenario; its hardware is written out.
        scenario: The same, expanded.
        switches: Switches on the way.
    """
    names = [f"sw{number}" for number in range(switches)]
    links = [["h0/1", "sw0/1"], *([a + "/2", b + "/1"] for a, b in pairwise(names))]
    links.append([f"{names[-1]}/2", "h1/1"])
    fabric = source.value["fabric"]
    return source.with_value(
        {
            "version": 1,
            "name": f"idle-{switches}",
            "fabric": {
                **{key: fabric[key] for key in ("switch_model", "hca_model", "mtu") if key in fabric},
                "technology": scenario.fabric.technology.value,
                "topology": {
                    "nodes": {"h0": "hca", "h1": "hca"} | dict.fromkeys(names, "switch"),
                    "links": links,
                },
                "link": usual_link(scenario),
            },
            "workload": [{"kind": "stream", "src": "h0", "dst": "h1", "message": MESSAGE}],
        }
    )


def measure_idle_latency(scenarios: dict[int, Scenario]) -> IdleLatency:
    """Simulates one message through each fabric.

    Args:
        scenarios: Chains of :func:`chain_source`, by number of switches.
    """
    by_switches_ps = {}
    for switches, scenario in scenarios.items():
        simulation = open_simulation(scenario)
        simulation.run()
        by_switches_ps[switches] = int(simulation.message_latencies_ps[0])
    scenario = next(iter(scenarios.values()))
    return IdleLatency(
        scenario.fabric.technology, by_switches_ps, _parts(scenario, min(by_switches_ps.items()))
    )


def _parts(scenario: Scenario, shortest: tuple[int, int]) -> tuple[Part, ...]:
    hca, switch = next(iter(scenario.hca_models.values())), next(iter(scenario.switch_models.values()))
    link = scenario.fabric.links[0]
    cable_ps = link.length_mm * PROPAGATION_PS_PER_MM
    switches, total_ps = shortest
    named_ps = hca.tx_latency_ps + hca.rx_latency_ps + switches * switch.forwarding_latency_ps
    rest_ps = total_ps - named_ps - (switches + 1) * cable_ps
    return (
        Part("host, send", hca.tx_latency_ps, f"{hca.name}: {hca.source}"),
        Part("switch, each", switch.forwarding_latency_ps, f"{switch.name}: {switch.source}"),
        Part(f"cable of {link.length_mm / 1000:g} m, each", cable_ps, "5 ns/m, fibre and copper alike (P)"),
        Part(
            f"the rest: the packet's bytes at {show_rate(link.rate_bps)}, FEC if set",
            rest_ps,
            "wire sizes of docs/models (P)",
        ),
        Part("host, receive", hca.rx_latency_ps, f"{hca.name}: {hca.source}"),
    )


def judge(latency: IdleLatency) -> list[str]:
    """Whether the constants agree with what people in the field say; one text a figure."""
    figure = FIELD_FIGURES[latency.technology]
    label = latency.technology.label
    switch = next(part for part in latency.parts if part.name.startswith("switch"))
    texts = [_compare(f"{label}, a switch", [switch.time_ps], figure.hop_words, figure.hop_ns)]
    ends = [latency.by_switches_ps[count] for count in figure.end_switches]
    counts = " and ".join(map(str, figure.end_switches))
    texts.append(_compare(f"{label}, {counts} switches", ends, figure.end_words, figure.end_ns))
    return texts


def _compare(what: str, times_ps: list[int], words: str, bounds_ns: tuple[int, int]) -> str:
    shown = ", ".join(f"{time_ps / PS_PER_NS:,.0f} ns" for time_ps in times_ps)
    least, most = (bound * PS_PER_NS for bound in bounds_ns)
    agrees = all(least <= time_ps <= most for time_ps in times_ps)
    verdict = "agrees with" if agrees else "DISAGREES with"
    return f"{what}: {shown}; {verdict} the field's '{words}'"


def describe(latency: IdleLatency) -> dict[str, Any]:
    """As it stands in the JSON result."""
    return {
        "technology": latency.technology.value,
        "message": MESSAGE,
        "latency_ns": {str(count): ps / PS_PER_NS for count, ps in latency.by_switches_ps.items()},
        "hop_ns": latency.hop_ps / PS_PER_NS,
        "parts": [
            {"name": part.name, "ns": part.time_ps / PS_PER_NS, "source": part.source}
            for part in latency.parts
        ],
        "field": judge(latency),
    }
