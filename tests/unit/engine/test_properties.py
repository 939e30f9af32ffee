# SPDX-License-Identifier: Apache-2.0
"""What must hold in the engine on any fabric, whatever happens to it, and however it is split."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabrictwin.engine.codes import SEQUENCE_MASK
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_MS, PS_PER_US
from reference.random_scenarios import scenario_texts
from validation.rings import ring
from validation.setups import Keys, build, star

RANDOM_FABRICS = settings(
    max_examples=25, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
QUIET_PS = 200 * PS_PER_MS
"""By then every flow-control packet that was lost has been made up for, on the slowest cable too."""


@st.composite
def runs_to_rest(draw: st.DrawFn, *, faults: bool) -> Scenario:
    """A random scenario whose work ends, without a lasting deadlock; one last message when all is quiet."""
    keys: Keys = json.loads(draw(scenario_texts()))
    switch = keys["fabric"]["switch_model"]
    if faults:
        switch |= {"hoq_life": "5us", "leaf_hoq_life": "5us"}
    else:
        switch |= {"hoq_life": "infinite", "leaf_hoq_life": "infinite"}
        keys["faults"] = []
        keys["fabric"]["hca_model"] |= {"ack_timeout": "1s"}
        keys["routing"] = {"engine": "up_down"}
    for job in keys["workload"]:
        job["stop"] = "20us"
    last = {"kind": "stream", "name": "last", "src": "h0", "dst": "h1", "message": "1B"}
    keys["workload"].append(last | {"start": f"{2 * QUIET_PS // PS_PER_MS}ms"})
    keys["duration"] = "1s"
    # A subnet manager that answers within nanoseconds makes steps as short, over hundreds of milliseconds.
    keys.pop("subnet_manager", None)
    return parse_scenario(json.dumps(keys))


def credit_ledger(simulation: Simulation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[ports, VLs] where links are up: blocks a sender may use, blocks the other end holds, its buffer."""
    readout = simulation.readout()
    vls = simulation.plan.vls
    port = readout.by_port("port")
    cabled = (port.peer >= 0) & (port.up == 1)
    sender = readout.by_port_vl("pv").reshape(-1, vls)[cabled, :-1]
    receiver = readout.by_port_vl("pv_input").reshape(-1, vls)[port.peer[cabled], :-1]
    allowed = (sender["fccl"].astype(int) - sender["fctbs"]) & SEQUENCE_MASK
    return allowed, receiver["held_blocks"].astype(int), receiver["cap"].astype(int)


@RANDOM_FABRICS
@given(runs_to_rest(faults=True))
def test_credits_are_whole_again_after_any_faults(scenario: Scenario) -> None:
    simulation = open_simulation(scenario)
    for time_ps in range(PS_PER_US, 60 * PS_PER_US, PS_PER_US):
        simulation.run(time_ps)
        allowed, held, cap = credit_ledger(simulation)
        assert (allowed + held <= cap).all()
    simulation.run(QUIET_PS)
    allowed, held, cap = credit_ledger(simulation)
    assert not held.any()
    assert (allowed == cap).all()


@RANDOM_FABRICS
@given(runs_to_rest(faults=False))
def test_nothing_is_dropped_and_all_is_delivered_without_faults(scenario: Scenario) -> None:
    simulation = open_simulation(scenario)
    simulation.run()
    totals = simulation.result()["totals"]
    assert simulation.stopped == "idle"
    assert totals["dropped_packets"] == totals["retransmitted_packets"] == totals["failed_messages"] == 0
    assert_everything_posted_is_delivered(simulation)


def assert_everything_posted_is_delivered(simulation: Simulation) -> None:
    """Once and in order: the responder has counted every PSN once, and every byte of every message."""
    readout = simulation.readout()
    assert (readout.requesters.free_psn == readout.responders.expected_psn).all()
    assert (readout.requesters.posted == readout.responders.messages).all()
    assert (readout.requesters.posted == readout.requesters.completed).all()


def test_no_buffer_overflows_while_the_counters_of_credits_wrap() -> None:
    """Eight VLs, buffers of four packets, every port oversubscribed: 400,000 packets and no loss."""
    jobs = [
        {"kind": "uniform_random", "load": 0.2, "message": f"{500 * (vl + 1)}B", "sl": vl, "stop": "500us"}
        for vl in range(8)
    ]
    buffers = {"buffer_per_vl": f"{4 * 65 * 64}B"}
    scenario = build(star(12), jobs, switch=buffers, hca={"receive_buffer": f"{2 * 65 * 64}B"}, duration="1s")
    simulation = open_simulation(scenario)
    for time_ps in range(PS_PER_US, 500 * PS_PER_US, 5 * PS_PER_US):
        simulation.run(time_ps)
        allowed, held, cap = credit_ledger(simulation)
        assert (held <= cap).all()
        assert (allowed + held <= cap).all()
    simulation.run()
    totals = simulation.result()["totals"]
    sent_blocks = simulation.readout().by_port("port").xmit_bytes // 64
    assert totals["packets"] > 100_000
    assert sent_blocks.max() > 8 * (SEQUENCE_MASK + 1)
    assert totals["dropped_packets"] == totals["retransmitted_packets"] == 0
    assert totals["xmit_wait_ns"] > 0
    assert_everything_posted_is_delivered(simulation)


@pytest.mark.parametrize("llr", [False, True])
@pytest.mark.parametrize("engine", ["ftree", "up_down"])
def test_every_byte_arrives_once_through_flaps_and_symbol_errors(engine: str, llr: bool) -> None:
    cables = [["h0/1", "leaf0/1"], ["leaf0/5", "spine0/1"], ["leaf1/6", "spine1/2"]]
    faults: list[Keys] = [
        {"kind": "symbol_errors", "link": cable, "at": "1us", "probability": 0.02} for cable in cables
    ]
    faults += [
        {
            "kind": "link_flap",
            "link": ["h5/1", "leaf1/2"],
            "at": "5us",
            "down": "7us",
            "up": "9us",
            "count": 3,
        },
        {
            "kind": "link_flap",
            "link": ["leaf0/6", "spine1/1"],
            "at": "3us",
            "down": "4us",
            "up": "6us",
            "count": 4,
        },
    ]
    permutation = {"kind": "permutation", "pattern": "shift", "shift": 5, "message": "100KB", "count": 10}
    scenario = build(
        {"generator": "fat_tree", "levels": 2, "leaves": 4, "hosts_per_leaf": 4, "spines": 2},
        [permutation | {"qps": 2}, {"kind": "all_to_all", "ranks": "all", "bytes": "160KB", "sl": 1}],
        switch={"llr": llr},
        hca={"llr": llr, "ack_timeout": "30us"},
        routing={"engine": engine},
        faults=faults,
    )
    simulation = open_simulation(scenario)
    simulation.run()
    result = simulation.result()
    assert simulation.stopped == "idle"
    assert result["totals"]["failed_messages"] == 0
    assert result["totals"]["retransmitted_packets"] > 0
    assert result["totals"]["dropped_packets"] > 0
    assert sum(port["link_downed_counter"] for port in result["ports"]) == 14
    assert (sum(port["local_link_integrity_errors"] for port in result["ports"]) > 0) is llr
    assert [flow["bytes"] for flow in result["flows"]] == [1_000_000] * 16 + [10_000] * 240
    assert_everything_posted_is_delivered(simulation)


FAT_TREE = {"generator": "fat_tree", "levels": 2, "leaves": 4, "hosts_per_leaf": 3, "spines": 2}
CHAIN = {"generator": "chain", "switches": 3, "hosts_per_switch": 3}
FOREVER: Keys = {"message": "100KB", "count": "forever"}
LONG = "60m"
"""Shards go ahead by the delay of a cable: with long ones they meet less often."""


def faulty_tree() -> Scenario:
    """Flaps, a dead switch, symbol errors, several queue pairs; the subnet manager answers."""
    return build(
        FAT_TREE,
        [{"kind": "permutation", "pattern": "random", "qps": 3} | FOREVER],
        hca={"ack_timeout": "20us"},
        length=LONG,
        routing={"engine": "ftree"},
        duration="150us",
        faults=[
            {
                "kind": "link_flap",
                "link": ["leaf0/4", "spine0/1"],
                "at": "5us",
                "down": "3us",
                "up": "8us",
                "count": 3,
            },
            {"kind": "switch_down", "switch": "spine1", "at": "50us", "duration": "20us"},
            {"kind": "symbol_errors", "link": ["h1/1", "leaf0/2"], "at": "1us", "probability": 0.05},
            {"kind": "link_degraded", "link": ["h7/1", "leaf2/2"], "at": "20us", "width": "1x"},
        ],
    )


def congested_chain(control: str) -> Scenario:
    return build(
        CHAIN,
        [
            {"kind": "incast", "name": "hot", "senders": ["h0", "h1", "h3", "h4", "h7"], "receiver": "h8"}
            | FOREVER,
            {"kind": "stream", "name": "victim", "src": "h2", "dst": "h6"} | FOREVER,
        ],
        congestion_control={"algorithm": "ib_cca", "control": control, "marking_rate": 2, "ccti_timer": 10},
        length=LONG,
        duration="100us",
    )


def lanes_with_a_slow_receiver() -> Scenario:
    jobs = [
        {"kind": "uniform_random", "load": 0.4, "message": f"{3000 * (sl + 1)}B", "sl": sl} for sl in range(4)
    ]
    return build(
        CHAIN,
        jobs,
        switch={"hoq_life": "4us", "buffer_per_vl": "16640B", "arbitration": "random"},
        hca={"ack_timeout": "40us"},
        length=LONG,
        qos={
            "data_vls": 4,
            "vlarb_high": [[3, 20]],
            "vlarb_low": [[0, 10], [1, 80], [2, 160]],
            "vl_high_limit": 2,
        },
        duration="150us",
        faults=[
            {"kind": "slow_receiver", "node": "h4", "rate": "0Gb/s", "at": "10us", "duration": "50us"},
            {"kind": "receiver_not_ready", "node": "h0", "at": "30us", "duration": "20us"},
        ],
    )


def collectives() -> Scenario:
    return build(
        {"generator": "rail_optimized", "scalable_units": 1, "servers_per_unit": 4, "rails": 3, "spines": 2},
        [
            {"kind": "all_reduce", "ranks": "all", "bytes": "400KB", "iterations": 2, "qps": 2},
            {
                "kind": "all_reduce",
                "algorithm": "tree",
                "ranks": ["h0", "h4", "h5", "h9"],
                "bytes": "400KB",
                "sl": 1,
            },
            {"kind": "all_to_all", "ranks": "all", "bytes": "300KB", "start": "20us"},
        ],
        switch={"fec_latency": "51.2ns", "fcp_min_gap": "100ns", "credit_block": "128B"},
        length=LONG,
        routing={"engine": "dfsssp", "lmc": 1},
    )


def stored_and_retried() -> Scenario:
    return build(
        FAT_TREE,
        [{"kind": "uniform_random", "load": 0.7, "message": "2000B"}],
        switch={"forwarding": "store_and_forward", "llr": True},
        hca={"llr": True, "drain_rate": "300Gb/s"},
        routing={"engine": "min_hop"},
        duration="60us",
        faults=[{"kind": "symbol_errors", "link": ["leaf1/4", "spine0/2"], "at": "0us", "probability": 0.3}],
    )


SCENARIOS = {
    "faults on a tree, ftree": faulty_tree,
    "congestion control by queue pair": lambda: congested_chain("qp"),
    "congestion control by SL": lambda: congested_chain("sl"),
    "four VLs, head-of-queue lifetime, slow receiver": lanes_with_a_slow_receiver,
    "collectives, dfsssp, FEC jitter": collectives,
    "store-and-forward, link-level retry": stored_and_retried,
    "deadlock, explicit routes": lambda: ring(6, 3, 4, arbitration="random"),
}


def outcome(scenario: Scenario, shards: int = 1, step_ps: int | None = None) -> dict[str, Any]:
    """The result of a run without what counts the engine's own events; in steps, if a length is given."""
    simulation = open_simulation(scenario, shards=shards)
    if step_ps is not None:
        for time_ps in range(step_ps, scenario.duration_ps, step_ps):
            simulation.run(time_ps)
            if simulation.stopped != "duration":
                break
    simulation.run()
    result = simulation.result()
    del result["engine_events"]
    return result


@pytest.mark.parametrize("name", SCENARIOS)
def test_result_is_the_same_every_time_and_for_any_number_of_shards(name: str) -> None:
    scenario = SCENARIOS[name]()
    expected = outcome(scenario)
    assert expected["packet_hops"] > 100
    for shards in (1, 2, 3, 4, 8):
        assert outcome(scenario, shards) == expected, f"{shards} shards"


@RANDOM_FABRICS
@given(scenario_texts(), st.sampled_from([2, 3, 8]))
def test_result_of_a_random_scenario_is_the_same_for_any_number_of_shards(text: str, shards: int) -> None:
    scenario = parse_scenario(text)
    assert outcome(scenario, shards) == outcome(scenario)


def test_result_depends_on_the_seed() -> None:
    digests = {
        outcome(
            build(
                FAT_TREE,
                [{"kind": "uniform_random", "load": 0.5, "message": "4KiB"}],
                duration="20us",
                seed=seed,
            )
        )["digest"]
        for seed in (1, 2)
    }
    assert len(digests) == 2


@pytest.mark.parametrize(
    "name",
    [
        "faults on a tree, ftree",
        "four VLs, head-of-queue lifetime, slow receiver",
        "collectives, dfsssp, FEC jitter",
        "deadlock, explicit routes",
    ],
)
def test_result_does_not_depend_on_where_a_run_is_interrupted(name: str) -> None:
    scenario = SCENARIOS[name]()
    expected = outcome(scenario)["digest"]
    assert outcome(scenario, step_ps=777_777)["digest"] == expected
    assert outcome(scenario, shards=3, step_ps=1_234_567)["digest"] == expected
