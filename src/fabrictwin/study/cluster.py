# SPDX-License-Identifier: Apache-2.0
"""Effective bandwidth against cluster size: three-tier fat trees of a scenario's parts, full of traffic.

A pod has 32 hosts on 4 leaves, and 8 spines above them; pods are joined by 32 cores, so that every tier has
as much bandwidth as the hosts. Every host sends one message, to a host of its pod or of another one, all at
once: a random permutation, the same for both technologies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import Technology
from fabrictwin.model.scenario import Scenario
from fabrictwin.model.workload.draw import draw_below, draw_derangement
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.study.source import Source
from fabrictwin.study.translate import usual_link

HOSTS_PER_LEAF = 8
LEAVES = 4
SPINES = 8
CORES_PER_SPINE = 4
POD_HOSTS = HOSTS_PER_LEAF * LEAVES
FEWEST_HOSTS, MOST_HOSTS = 2 * POD_HOSTS, 32 * POD_HOSTS
DEFAULT_SIZES = (64, 128, 256)
REACHES = ("within a pod", "across pods")
MESSAGE = "4MiB"
VARIANTS = ("infiniband", "infiniband_no_cc", "roce", "roce_spraying", "roce_no_cc")
"""Variants that are measured so."""


@dataclass(frozen=True)
class Effective:
    """Effective bandwidth of one cluster.

    Attributes:
        mean_share: Mean goodput of a host as a share of its link.
        min_share: The slowest host's.
        completion_ns: When the last byte had arrived.
        retransmitted_packets: Packets sent again.
        digest: Of the run.
    """

    mean_share: float
    min_share: float
    completion_ns: float
    retransmitted_packets: int
    digest: str


def check_sizes(sizes: list[int], field: str) -> None:
    """Refuses what is no number of whole pods, two at least.

    Raises:
        InputError: With every wrong size.
    """
    wrong = [size for size in sizes if size % POD_HOSTS or not FEWEST_HOSTS <= size <= MOST_HOSTS]
    if wrong:
        raise InputError.of(
            f"expected multiples of {POD_HOSTS}, the hosts of a pod, from {FEWEST_HOSTS} to {MOST_HOSTS:,}, "
            f"got {', '.join(map(str, wrong))}",
            field=field,
        )


def cluster_source(source: Source, scenario: Scenario, hosts: int, reach: str) -> Source:
    """A scenario's parts as a cluster of a size, with its traffic.

    Args:
        source: A variant; its hardware is written out.
        scenario: The same, expanded, for its cables.
        hosts: Hosts of the cluster.
        reach: One of ``REACHES``.
    """
    fabric = source.value["fabric"]
    roce = scenario.fabric.technology is Technology.ROCE
    routing = {"engine": "ecmp", "spraying": scenario.routing.spraying} if roce else {"engine": "ftree"}
    return source.with_value(
        {
            "version": 1,
            "name": f"cluster-{hosts}",
            "seed": scenario.seed,
            "fabric": {
                **{key: fabric[key] for key in ("switch_model", "hca_model", "mtu") if key in fabric},
                "technology": scenario.fabric.technology.value,
                "topology": _topology(hosts // POD_HOSTS),
                "link": usual_link(scenario),
            },
            "routing": routing,
            "congestion_control": source.value["congestion_control"],
            "workload": [
                {"kind": "stream", "src": f"h{src}", "dst": f"h{dst}", "message": MESSAGE}
                for src, dst in enumerate(_partners(hosts, reach, scenario.seed))
            ],
        }
    )


def _topology(pods: int) -> dict[str, Any]:
    leaves, spines = range(pods * LEAVES), range(pods * SPINES)
    links: list[list[str]] = []
    for leaf in leaves:
        links += [
            [f"h{leaf * HOSTS_PER_LEAF + port}/1", f"leaf{leaf}/{port + 1}"] for port in range(HOSTS_PER_LEAF)
        ]
        links += [
            [
                f"leaf{leaf}/{HOSTS_PER_LEAF + spine + 1}",
                f"spine{leaf // LEAVES * SPINES + spine}/{leaf % LEAVES + 1}",
            ]
            for spine in range(SPINES)
        ]
    for spine in spines:
        pod, column = divmod(spine, SPINES)
        links += [
            [f"spine{spine}/{LEAVES + core + 1}", f"core{column * CORES_PER_SPINE + core}/{pod + 1}"]
            for core in range(CORES_PER_SPINE)
        ]
    switches = [
        *(f"leaf{leaf}" for leaf in leaves),
        *(f"spine{spine}" for spine in spines),
        *(f"core{core}" for core in range(SPINES * CORES_PER_SPINE)),
    ]
    hosts = [f"h{host}" for host in range(pods * POD_HOSTS)]
    return {"nodes": dict.fromkeys(hosts, "hca") | dict.fromkeys(switches, "switch"), "links": links}


def _partners(hosts: int, reach: str, seed: int) -> list[int]:
    """[hosts] whom each host sends to: a random permutation, without a fixed point or without a pod's own."""
    pods = hosts // POD_HOSTS
    if reach == REACHES[0]:
        places = [draw_derangement(POD_HOSTS, seed, f"pod {pod}") for pod in range(pods)]
        return [pod * POD_HOSTS + place for pod in range(pods) for place in places[pod]]
    partners = draw_derangement(hosts, seed, "cluster")
    draws = 0
    for host in range(hosts):
        while partners[host] // POD_HOSTS == host // POD_HOSTS:
            other = draw_below(hosts, seed, "swap", draws)
            draws += 1
            if host // POD_HOSTS not in (partners[other] // POD_HOSTS, other // POD_HOSTS):
                partners[host], partners[other] = partners[other], partners[host]
    return partners


def measure_cluster(scenario: Scenario) -> Effective:
    """Runs a cluster until every message has arrived."""
    simulation = open_simulation(scenario)
    simulation.run()
    result = simulation.result()
    rate_bps = scenario.fabric.links[0].rate_bps
    shares = [flow["goodput_bps"] / rate_bps for flow in result["flows"]]
    return Effective(
        sum(shares) / len(shares),
        min(shares),
        max(flow["last_ns"] for flow in result["flows"]),
        result["totals"]["retransmitted_packets"],
        result["digest"],
    )
