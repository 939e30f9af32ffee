# SPDX-License-Identifier: Apache-2.0
"""DCQCN and HPCC share a bottleneck fairly and keep it busy; HPCC at eta, with next to nothing in the queue.

Setup: 2, 8 and 15 senders to one receiver through one switch. DCQCN: 40 Gb/s, parameters and ECN of the
paper; 40 ms, of which the last 20 are measured. HPCC: 100 Gb/s, parameters of the paper, MTU 1024, cables of
500 m, so that the idle round trip is 10.5 us and T 13 us; 10 ms, of which the last 5 are measured.
Expected: Jain's index at least 0.95, utilisation of the receiver's link at least 0.9; HPCC's eta = 0.95.
Tolerance: none beside the bounds. HPCC: 0.01 of eta, for the additive increase of all senders between two
multiplicative ones; a mean queue of 2 % of B T, where line rates would make it (N - 1) B T.
"""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_MS, PS_PER_US
from validation.conftest import Note
from validation.ethernet import build_roce, lane, state_of, wire_bytes
from validation.setups import delivered_bytes, jain, rates_bps, star

TELEMETRY_BYTES = 42


@pytest.mark.parametrize("senders", [2, 8, 15])
def test_senders_share_the_bottleneck(senders: int, measured: Note) -> None:
    scenario = build_roce(
        star(senders + 1),
        [{"kind": "incast", "senders": "all", "receiver": "h0", "message": "1MiB", "count": "forever"}],
        switch={"ecn": {"profile": "dcqcn_paper"}},
        rate="40Gb/s",
        congestion_control={"algorithm": "dcqcn", "profile": "paper"},
        duration="40ms",
    )
    rates = rates_bps(open_simulation(scenario), 20 * PS_PER_MS, 40 * PS_PER_MS)
    fairness = jain(np.array(list(rates.values())))
    used = sum(rates.values()) / (40e9 * 4096 / wire_bytes(4096))
    measured(f"{senders} senders", "Jain ≥ 0.95, use ≥ 0.90", f"Jain {fairness:.3f}, use {used:.3f}")
    assert fairness >= 0.95
    assert used >= 0.9


@pytest.mark.parametrize("senders", [2, 8, 15])
def test_hpcc_holds_the_bottleneck_at_eta_with_next_to_nothing_in_the_queue(
    senders: int, measured: Note
) -> None:
    scenario = build_roce(
        star(senders + 1),
        [{"kind": "incast", "senders": "all", "receiver": "h0", "message": "1MiB", "count": "forever"}],
        rate="100Gb/s",
        length="500m",
        mtu=1024,
        congestion_control={"algorithm": "hpcc", "profile": "paper"},
        duration="10ms",
    )
    simulation = open_simulation(scenario)
    simulation.run(5 * PS_PER_MS)
    before, queues = delivered_bytes(simulation), []
    for step in range(1, 201):
        simulation.run(5 * PS_PER_MS + step * 25 * PS_PER_US)
        queues.append(int(state_of(simulation).pv.waiting_blocks[lane(simulation, "sw0/1")]))
    after = delivered_bytes(simulation)
    sent = np.array([after[name] - before[name] for name in before])
    fairness = jain(sent)
    used = int(sent.sum()) * 8 / 5e-3 / 100e9 * (wire_bytes(1024) + TELEMETRY_BYTES) / 1024
    filled = float(np.mean(queues)) / (100e9 / 8 * 13e-6)
    measured(
        f"HPCC, {senders} senders",
        "Jain ≥ 0.95, use 0.95 ± 0.01, queue ≤ 2 % of B T",
        f"Jain {fairness:.3f}, use {used:.3f}, queue {100 * filled:.1f} %",
    )
    assert fairness >= 0.95
    assert used == pytest.approx(0.95, abs=0.01)
    assert filled <= 0.02
