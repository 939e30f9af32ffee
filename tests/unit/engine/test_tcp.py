# SPDX-License-Identifier: Apache-2.0
"""TCP in a lossy priority beside RDMA in a lossless one."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from fabrictwin.engine.simulation import Simulation
from fabrictwin.errors import InputError
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_MS, PS_PER_US
from validation.ethernet import build_roce, state_of, wire_bytes
from validation.setups import build, port_index, rates_bps, star

MTU = 1024
LINE_BPS = 100e9 * MTU / wire_bytes(MTU)
"""Payload that a link carries."""


def beside_rdma(tcp: int, rdma: int, weights: dict[int, int] | None = None) -> Simulation:
    """So many TCP connections and so many RDMA streams to h0, from a host each, without end."""
    endless: dict[str, Any] = {"kind": "stream", "dst": "h0", "message": "1MiB", "count": "forever"}
    jobs = [
        endless | {"src": f"h{n}", "name": f"tcp{n}", "sl": 0, "transport": "tcp"} for n in range(1, tcp + 1)
    ]
    jobs += [endless | {"src": f"h{tcp + n}", "name": f"rdma{n}", "sl": 3} for n in range(1, rdma + 1)]
    return open_simulation(
        build_roce(
            star(1 + tcp + rdma),
            jobs,
            switch={"shared_buffer": "4MB", "egress_alpha": "1/8"},
            hca={"ack_timeout": "4ms"},
            rate="100Gb/s",
            mtu=MTU,
            qos={"lossless_priorities": [3], "weights": weights or {}},
            duration="1s",
        )
    )


@pytest.mark.parametrize(("weights", "share"), [({0: 32, 3: 96}, 0.25), ({0: 64, 3: 64}, 0.5)])
def test_tcp_beside_rdma_gets_its_weight_and_alone_loses_packets(
    weights: dict[int, int], share: float
) -> None:
    simulation = beside_rdma(6, 2, weights)
    rates = rates_bps(simulation, 10 * PS_PER_MS, 25 * PS_PER_MS)
    tcp = sum(rate for name, rate in rates.items() if name.startswith("tcp"))
    more = state_of(simulation).lane_more
    assert tcp / sum(rates.values()) == pytest.approx(share, abs=0.02)
    assert sum(rates.values()) == pytest.approx(LINE_BPS, rel=0.01)
    assert int(more.lossless_drops.sum()) == 0
    assert int(more.lossy_drops.sum()) > 100
    flows = simulation.result()["flows"]
    assert {flow["retransmitted_packets"] > 0 for flow in flows if flow["name"].startswith("tcp")} == {True}
    assert {flow["retransmitted_packets"] for flow in flows if flow["name"].startswith("rdma")} == {0}


def test_tcp_alone_fills_a_link_that_loses_nothing() -> None:
    simulation = beside_rdma(1, 0)
    (rate,) = rates_bps(simulation, PS_PER_MS, 3 * PS_PER_MS).values()
    assert rate == pytest.approx(LINE_BPS, rel=0.01)
    assert simulation.result()["totals"]["dropped_packets"] == 0


def test_window_doubles_each_round_trip_until_a_loss_halves_it() -> None:
    simulation = beside_rdma(2, 0)
    simulation.run(PS_PER_US)
    assert state_of(simulation).tcp.window_q8[0] == 10 << 8
    windows = []
    for step in range(1, 400):
        simulation.run(step * PS_PER_MS // 400)
        windows.append(int(state_of(simulation).tcp.window_q8[0]) / 256)
    steps = list(pairwise(windows))
    assert all(after <= 2 * before for before, after in steps)
    falls = [after / before for before, after in steps if after < before]
    assert falls
    assert falls[0] == pytest.approx(0.5, abs=0.02)


def test_tcp_hears_no_congestion_notification() -> None:
    simulation = open_simulation(
        build_roce(
            star(3),
            [
                {"kind": "stream", "src": src, "dst": "h0", "message": "1MiB", "sl": 0, "transport": "tcp"}
                for src in ("h1", "h2")
            ],
            switch={"ecn": {"kmin": "5KB", "kmax": "20KB", "pmax": 1}},
            rate="100Gb/s",
            congestion_control={"algorithm": "dcqcn", "profile": "paper"},
        )
    )
    simulation.run()
    assert simulation.result()["totals"]["ecn_marked"] > 0
    assert int(state_of(simulation).port_more.ecn_received[port_index(simulation, "h0/1")]) > 0
    assert simulation.result()["totals"]["cnp_sent"] == 0


@pytest.mark.parametrize(
    ("builder", "keys", "expected"),
    [
        (build, {"sl": 0}, "transport: 'tcp' belongs to technology 'roce'; on InfiniBand use 'rdma'"),
        (build_roce, {}, "transport: 'tcp' needs 'sl', a priority that is not lossless"),
        (build_roce, {"sl": 3}, "sl: priority 3 is lossless, and TCP goes by what is lost"),
        (build_roce, {"sl": 0, "transport": "udp"}, "transport: expected 'rdma' or 'tcp', got 'udp'"),
    ],
)
def test_tcp_that_is_wrong_is_refused(builder: Any, keys: dict[str, Any], expected: str) -> None:
    stream = {"kind": "stream", "src": "h0", "dst": "h1", "message": "4KiB", "transport": "tcp"} | keys
    with pytest.raises(InputError) as caught:
        builder(star(2), [stream])
    (problem,) = caught.value.problems
    assert expected in str(problem)
