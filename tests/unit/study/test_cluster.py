# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.errors import InputError
from fabrictwin.study.cluster import POD_HOSTS, REACHES, check_sizes, cluster_source, measure_cluster
from fabrictwin.study.source import Source
from fabrictwin.study.translate import keep
from unit.study.study_scenarios import INFINIBAND, source_of


def _plain() -> Source:
    source = source_of(INFINIBAND)
    return keep(source, source.expand()).source


@pytest.mark.parametrize("reach", REACHES)
@pytest.mark.parametrize("hosts", [64, 128])
def test_cluster_traffic_is_a_permutation_that_stays_within_its_reach(reach: str, hosts: int) -> None:
    source = _plain()
    scenario = cluster_source(source, source.expand(), hosts, reach).expand()
    names = [node.name for node in scenario.fabric.nodes]
    pairs = [
        (int(names[flow.src.node][1:]), int(names[flow.dst.node][1:]))
        for job in scenario.jobs
        for flow in job.flows
    ]
    assert sorted(src for src, _ in pairs) == sorted(dst for _, dst in pairs) == list(range(hosts))
    assert all(src != dst for src, dst in pairs)
    within = reach == REACHES[0]
    assert all((src // POD_HOSTS == dst // POD_HOSTS) == within for src, dst in pairs)


def test_cluster_has_as_much_bandwidth_on_every_tier() -> None:
    source = _plain()
    fabric = cluster_source(source, source.expand(), 96, REACHES[0]).expand().fabric
    tiers = {"h": 0, "leaf": 0, "spine": 0}
    for link in fabric.links:
        lower = min((fabric.nodes[end.node].name.rstrip("0123456789") for end in (link.a, link.b)), key=_tier)
        tiers[lower] += 1
    assert set(tiers.values()) == {96}


def _tier(name: str) -> int:
    return ("h", "leaf", "spine", "core").index(name)


def test_cluster_effective_bandwidth_is_at_most_the_link() -> None:
    source = _plain()
    effective = measure_cluster(cluster_source(source, source.expand(), 64, REACHES[0]).expand())
    assert 0 < effective.min_share <= effective.mean_share < 1
    assert effective.completion_ns > 0


@pytest.mark.parametrize("sizes", [[32], [64, 100], [2048]])
def test_cluster_size_that_is_not_whole_pods_is_refused(sizes: list[int]) -> None:
    with pytest.raises(InputError, match="multiples of 32"):
        check_sizes(sizes, "--sizes")
