# SPDX-License-Identifier: Apache-2.0
"""Random small RoCE fabrics, with faults, pauses and losses, give the same digest however they are split."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabrictwin.engine.partition import Partition, split_by_kind, split_evenly
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.runtime.offline import open_simulation

TOPOLOGIES: tuple[tuple[dict[str, Any], int, list[str]], ...] = (
    ({"generator": "single_switch", "hosts": 5}, 5, ["h4/1", "sw0/5"]),
    (
        {"generator": "fat_tree", "levels": 2, "leaves": 3, "hosts_per_leaf": 2, "spines": 2},
        6,
        ["leaf0/3", "spine0/1"],
    ),
    ({"generator": "chain", "switches": 3, "hosts_per_switch": 2}, 6, ["sw0/3", "sw1/4"]),
)
"""Topology, hosts, a cable that a fault may cut."""

CONTROLS: tuple[dict[str, Any], ...] = (
    {"algorithm": "none"},
    {"algorithm": "dcqcn", "profile": "hpcc"},
    {"algorithm": "timely", "profile": "paper", "t_low": "5us", "t_high": "30us", "min_rtt": "3us"},
    {"algorithm": "hpcc", "profile": "paper", "base_rtt": "3us"},
)


@st.composite
def scenario_texts(draw: st.DrawFn) -> str:
    """A RoCE scenario of a few hosts, so crowded that pauses, marks and losses happen."""
    topology, hosts, cable = draw(st.sampled_from(TOPOLOGIES))
    host = st.integers(0, hosts - 1).map("h{}".format)
    pair = st.tuples(host, host).filter(lambda ends: ends[0] != ends[1])
    workload: list[dict[str, Any]] = [
        {
            "kind": "stream",
            "src": src,
            "dst": dst,
            "message": f"{draw(st.sampled_from([100, 9000, 65536]))}B",
            "count": draw(st.integers(1, 6)),
            "sl": draw(st.sampled_from([3, 3, 3, 0])),
            "qps": draw(st.integers(1, 3)),
        }
        for src, dst in draw(st.lists(pair, min_size=1, max_size=5))
    ]
    for job in workload:
        job["transport"] = draw(st.sampled_from(["rdma", "tcp"])) if job["sl"] == 0 else "rdma"
    workload.append(
        {"kind": "incast", "senders": "all", "receiver": "h0", "message": "64KiB", "count": 2, "sl": 3}
    )
    faults: list[dict[str, Any]] = []
    if draw(st.booleans()):
        faults.append(
            {"kind": "slow_receiver", "node": "h0", "rate": "30Gb/s", "at": "3us", "duration": "40us"}
        )
    lossless = draw(st.sampled_from([[3], []]))
    if lossless and draw(st.booleans()):
        faults.append({"kind": "pfc_storm", "node": "h1", "priority": 3, "at": "5us", "duration": "20us"})
    if draw(st.booleans()):
        faults.append({"kind": "link_down", "link": cable, "at": "6us", "duration": "30us"})
    if draw(st.booleans()):
        faults.append(
            {"kind": "symbol_errors", "link": cable, "at": "1us", "every": draw(st.integers(3, 40))}
        )
    if draw(st.booleans()):
        flooding = draw(st.booleans())
        faults.append(
            {"kind": "dead_host", "node": "h2", "at": "4us", "duration": "60us", "flooding": flooding}
        )
    control = draw(st.sampled_from(CONTROLS))
    recoveries = ["go_back_n", "selective_repeat"] + ["go_back_0"] * (control["algorithm"] != "hpcc")
    switch = {
        "base": "spectrum4",
        "shared_buffer": draw(st.sampled_from(["800KB", "4MB"])),
        "alpha": draw(st.sampled_from(["1/16", "1", "infinite"])),
        "pfc_headroom": draw(st.sampled_from(["12KB", "60KB"])),
        "forwarding": draw(st.sampled_from(["cut_through", "store_and_forward"])),
        "ecn": draw(st.sampled_from(["none", {"kmin": "20KB", "kmax": "80KB", "pmax": 0.3}])),
    }
    hca = {
        "base": "connectx7_roce",
        "receive_buffer": "256KiB",
        "loss_recovery": draw(st.sampled_from(recoveries)),
        "reorder_packets": draw(st.sampled_from([0, 64])),
        "ack_timeout": "60us",
    }
    scenario = {
        "version": 1,
        "name": "random-roce",
        "seed": draw(st.integers(0, 2**31)),
        "duration": "300us",
        "fabric": {
            "technology": "roce",
            "topology": topology,
            "switch_model": switch,
            "hca_model": hca,
            "link": {"rate": "100Gb/s", "length": draw(st.sampled_from(["2m", "30m"]))},
            "mtu": 1024,
        },
        "routing": {"engine": "ecmp", "spraying": draw(st.booleans())},
        "congestion_control": control,
        "qos": {"lossless_priorities": lossless},
        "workload": workload,
        "faults": faults,
    }
    return json.dumps(scenario, indent=1)


def _outcome(scenario: Scenario, partition: Partition) -> dict[str, Any]:
    simulation = open_simulation(scenario, partition=partition)
    simulation.run()
    result = simulation.result()
    return {name: result[name] for name in ("digest", "stopped", "fabric_time_ns", "totals")}


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario_texts())
def test_digest_of_random_roce_fabrics_is_the_same_however_they_are_split(text: str) -> None:
    scenario = parse_scenario(text)
    fabric = scenario.fabric
    whole = _outcome(scenario, split_evenly(fabric, 1))
    assert _outcome(scenario, split_evenly(fabric, 2)) == whole
    assert _outcome(scenario, split_evenly(fabric, 5)) == whole
    assert _outcome(scenario, split_by_kind(fabric, 1, 1)) == whole
    assert _outcome(scenario, split_by_kind(fabric, 2, 2)) == whole
    if not fabric.switches or scenario.qos.lossless:
        assert whole["totals"]["bytes"] > 0
