# SPDX-License-Identifier: Apache-2.0
"""A switch of the engine does what the oracle says: every departure and mark, every drop, every PFC frame.

The oracle gets what adapters send, and which priority each output chooses; everything else it works out
itself. That an adapter obeys what the oracle's PFC frames say is looked at too.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabrictwin.engine.codes import Flag, PacketKind
from fabrictwin.engine.rng import Stream, draw_below
from fabrictwin.engine.simulation import Simulation
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_NS, PS_PER_US
from reference.shared_buffer import PFC_WIRE_BYTES, Departure, Frame, PfcFrame, Rules, SwitchOracle
from validation.ethernet import build_roce, state_of
from validation.setups import Keys, counter, port_index, star, wire_ps

HOSTS, RATE_BPS, SEED = 5, 100_000_000_000, 7
DURATION_PS = 60 * PS_PER_US
LATENCY_PS, RESPONSE_PS = 300 * PS_PER_NS, 200 * PS_PER_NS
SWITCH = "sw0"
CROWDED: Keys = {
    "shared_buffer": "200KB",
    "alpha": "1/2",
    "egress_alpha": "1",
    "reserve": "4KB",
    "pfc_headroom": "40KB",
    "pfc_xon_offset": "3KB",
    "pfc_quanta": 40,
    "ecn": {"kmin": "10KB", "kmax": "60KB", "pmax": 0.25},
    "forwarding": "cut_through",
    "lossless": [3],
    "length": "20m",
}
"""A switch in which everything happens."""


class Traces(NamedTuple):
    """What a run of the engine shows of its switch."""

    arrivals: list[tuple[int, Frame]]
    departures: list[Departure]
    pfc: list[PfcFrame]
    sent: list[tuple[int, int, int]]
    choices: dict[int, deque[int]]
    drops: int
    delay_ps: int


def simulate(keys: Keys) -> Simulation:
    """Four hosts send to one in two priorities, one of them a little the other way."""
    messages: Keys = {"kind": "stream", "count": "forever", "qps": 2}
    workload: list[Keys] = [
        messages | {"src": f"h{number}", "dst": "h0", "message": "30KB", "sl": 0 if number == 4 else 3}
        for number in range(1, HOSTS)
    ]
    workload += [messages | {"src": "h0", "dst": "h1", "message": "9KB", "sl": 0}]
    workload += [messages | {"src": "h3", "dst": "h0", "message": "20KB", "sl": 0}]
    switch = {key: keys[key] for key in keys if key not in ("lossless", "length")}
    simulation = open_simulation(
        build_roce(
            star(HOSTS),
            workload,
            switch=switch | {"forwarding_latency": f"{LATENCY_PS}ps"},
            hca={"pfc_response": f"{RESPONSE_PS}ps"},
            rate="100Gb/s",
            length=keys["length"],
            mtu=1024,
            seed=SEED,
            qos={"lossless_priorities": keys["lossless"], "weights": {0: 32, 3: 64}},
            congestion_control={"algorithm": "dcqcn", "profile": "hpcc"},
            duration="1ms",
        ),
        trace=True,
    )
    simulation.run(DURATION_PS)
    return simulation


def read_traces(simulation: Simulation, keys: Keys) -> Traces:
    packets, frames = simulation.trace()
    plan = simulation.plan
    first = port_index(simulation, f"{SWITCH}/1")
    host_of = {port_index(simulation, f"h{number}/1"): number for number in range(HOSTS)}
    ends = {
        qp: (plan.scenario.fabric.index_of, flow)
        for index, (_, flow) in enumerate(plan.flows)
        for qp in range(int(plan.first_qp[index]), int(plan.first_qp[index + 1]))
    }
    number_of = {plan.scenario.fabric.index_of[f"h{number}"]: number for number in range(HOSTS)}
    delay_ps = int(state_of(simulation).port.delay_ps[first])
    arrivals, departures, sent = [], [], []
    choices: dict[int, deque[int]] = {port: deque() for port in range(HOSTS)}
    for row in packets:
        name = (int(row.qp), int(row.psn), int(row.kind))
        is_data = row.kind == PacketKind.DATA
        if int(row.port) in host_of:
            flow = ends[int(row.qp)][1]
            outside = number_of[(flow.dst if is_data else flow.src).node]
            frame = Frame(name, host_of[int(row.port)], outside, int(row.vl), int(row.wire), bool(is_data))
            at_ps = int(row.start_ps) + delay_ps + LATENCY_PS
            if keys["forwarding"] == "store_and_forward":
                at_ps += wire_ps(frame.wire_bytes, RATE_BPS)
            arrivals.append((at_ps, frame))
            sent.append((int(row.start_ps), frame.inside, frame.priority))
        else:
            port = int(row.port) - first
            choices[port].append(int(row.vl))
            is_marked = bool(int(row.bits) & Flag.CE)
            departures.append(Departure(int(row.start_ps), port, name, is_marked))
    pfc = [PfcFrame(int(row.start_ps), int(row.port) - first, int(row.vl), int(row.fccl)) for row in frames]
    drops = sum(counter(simulation, f"{SWITCH}/{port + 1}", "port_xmit_discards") for port in range(HOSTS))
    return Traces(arrivals, departures, pfc, sent, choices, drops, delay_ps)


def rules_of(simulation: Simulation, keys: Keys) -> Rules:
    (model,) = simulation.plan.scenario.switch_models.values()
    read: Any = model
    return Rules(
        rate_bps=RATE_BPS,
        shared=read.shared_buffer_bytes,
        alpha=Fraction(read.alpha_q16, 2**16) if read.alpha_q16 else None,
        egress_alpha=Fraction(read.egress_alpha_q16, 2**16) if read.egress_alpha_q16 else None,
        reserve=read.reserve_bytes,
        headroom=read.headroom_bytes,
        xon_offset=read.xon_offset_bytes,
        quanta=read.pause_quanta,
        lossless=frozenset(keys["lossless"]),
        kmin=read.ecn.kmin_bytes,
        kmax=read.ecn.kmax_bytes,
        pmax=Fraction(read.ecn.pmax_q16, 2**16),
    )


def play(simulation: Simulation, traces: Traces, rules: Rules) -> SwitchOracle:
    first = port_index(simulation, f"{SWITCH}/1")
    choices = {port: deque(chosen) for port, chosen in traces.choices.items()}

    def draw(port: int, sent: int) -> int:
        return int(draw_below(SEED, int(Stream.ECN), first + port, sent, 1 << 16))

    oracle = SwitchOracle(rules, choices, draw)
    oracle.run(traces.arrivals, DURATION_PS)
    return oracle


def assert_equal(oracle: SwitchOracle, traces: Traces) -> None:
    assert sorted(oracle.departures) == sorted(traces.departures)
    assert sorted(oracle.pfc) == sorted(traces.pfc)
    assert len(oracle.dropped) == traces.drops
    assert not any(oracle.choices.values())


def assert_obeyed(frames: list[PfcFrame], traces: Traces) -> None:
    """No adapter starts a packet of a priority while a frame that it has heard pauses that."""
    pauses: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for frame in sorted(frames):
        heard_ps = frame.start_ps + wire_ps(PFC_WIRE_BYTES, RATE_BPS) + traces.delay_ps + RESPONSE_PS
        ends_ps = heard_ps + wire_ps(frame.quanta * 64, RATE_BPS)
        before = pauses.setdefault((frame.port, frame.priority), [])
        if before:
            before[-1] = (before[-1][0], min(before[-1][1], heard_ps))
        before.append((heard_ps, ends_ps))
    for start_ps, host, priority in traces.sent:
        for from_ps, to_ps in pauses.get((host, priority), ()):
            assert not from_ps < start_ps < to_ps, (start_ps, host, priority, from_ps, to_ps)


def check(keys: Keys) -> tuple[SwitchOracle, Traces]:
    simulation = simulate(keys)
    traces = read_traces(simulation, keys)
    oracle = play(simulation, traces, rules_of(simulation, keys))
    assert_equal(oracle, traces)
    assert_obeyed(oracle.pfc, traces)
    return oracle, traces


@st.composite
def crowded_switches(draw: st.DrawFn) -> Keys:
    """Switches so small that packets are dropped, marked and paused."""
    return {
        "shared_buffer": draw(st.sampled_from(["120KB", "200KB", "600KB"])),
        "alpha": draw(st.sampled_from(["1/16", "1/2", "3", "infinite"])),
        "egress_alpha": draw(st.sampled_from(["1/8", "1", "infinite"])),
        "reserve": draw(st.sampled_from(["0B", "4KB", "20KB"])),
        "pfc_headroom": draw(st.sampled_from(["3KB", "12KB"])),
        "pfc_xon_offset": draw(st.sampled_from(["0B", "3KB", "12KB"])),
        "pfc_quanta": draw(st.sampled_from([3, 40, 65_535])),
        "ecn": draw(
            st.fixed_dictionaries(
                {
                    "kmin": st.sampled_from(["4KB", "10KB", "40KB"]),
                    "kmax": st.sampled_from(["41KB", "80KB", "300KB"]),
                    "pmax": st.sampled_from([0.01, 0.25, 1]),
                }
            )
        ),
        "forwarding": draw(st.sampled_from(["cut_through", "store_and_forward"])),
        "lossless": draw(st.sampled_from([[3], [0, 3], []])),
        "length": draw(st.sampled_from(["3m", "20m", "97m"])),
    }


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(crowded_switches())
def test_switch_of_any_rules_equals_the_oracle(keys: Keys) -> None:
    check(keys)


def test_crowded_switch_pauses_refreshes_marks_and_drops() -> None:
    oracle, traces = check(CROWDED)
    quanta = [frame.quanta for frame in oracle.pfc]
    assert quanta.count(0) > 3
    assert quanta.count(40) > quanta.count(0) + 3, "no pause is refreshed"
    marks = sum(departure.is_marked for departure in oracle.departures)
    assert 10 < marks < len(oracle.departures) - 10
    assert {frame.priority for frame in oracle.dropped} == {0}
    assert traces.drops > 10


@pytest.mark.parametrize(
    "change",
    [
        {"alpha": Fraction(33, 64)},
        {"egress_alpha": Fraction(31, 32)},
        {"reserve": 5_000},
        {"xon_offset": 4_100},
        {"quanta": 41},
        {"kmin": 11_000},
        {"kmax": 59_000},
        {"pmax": Fraction(1, 2)},
        {"shared": 199_000},
        {"headroom": 0},
    ],
    ids=lambda change: next(iter(change)),
)
def test_oracle_of_other_rules_differs(change: dict[str, Any]) -> None:
    simulation = simulate(CROWDED)
    traces = read_traces(simulation, CROWDED)
    rules = rules_of(simulation, CROWDED)
    with pytest.raises(AssertionError):
        assert_equal(play(simulation, traces, replace(rules, **change)), traces)
