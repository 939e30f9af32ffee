# SPDX-License-Identifier: Apache-2.0
"""Without marks alpha decays by (1 - g) every 55 us, and a queue pair hears at most one CNP every 50 us.

Setup: DCQCN with the parameters of the paper. A CNP at 0 and one at 1 ms; then eight senders to one receiver
at 40 Gb/s for 5 ms, every packet marked.
Expected: alpha (1 - 1/256)^(t / 55 us): 0.931 after 1 ms (18 periods); at most
t / 50 us + 1 CNPs per queue pair.
Tolerance: 0.001; none.
"""

from __future__ import annotations

import pytest

from fabrictwin.engine.cc.dcqcn import ONE_Q30, decay, on_cnp
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_MS, PS_PER_US
from validation.conftest import Note
from validation.ethernet import build_roce, state_of
from validation.setups import run, star

PAPER = {"algorithm": "dcqcn", "profile": "paper"}


def test_alpha_decays_without_marks(measured: Note) -> None:
    scenario = build_roce(
        star(2),
        [{"kind": "stream", "src": "h0", "dst": "h1", "message": "1MiB"}],
        rate="40Gb/s",
        congestion_control=PAPER,
    )
    state = state_of(open_simulation(scenario))
    on_cnp(state, 0, 0)
    alpha = int(decay(int(state.rate[0].alpha_q30), int(state.rate_rule[0].g_q30), 18)) / ONE_Q30
    measured("after 1 ms", "0.931 ± 0.001", f"{alpha:.4f}")
    assert alpha == pytest.approx((1 - 1 / 256) ** (PS_PER_MS // (55 * PS_PER_US)), abs=0.001)
    on_cnp(state, 0, PS_PER_MS)
    g = 1 / 256
    assert int(state.rate[0].alpha_q30) / ONE_Q30 == pytest.approx(alpha * (1 - g) + g, abs=0.001)


def test_queue_pair_hears_few_cnps(measured: Note) -> None:
    span_us = 5000
    simulation = run(
        build_roce(
            star(9),
            [{"kind": "incast", "senders": "all", "receiver": "h0", "message": "1MiB", "count": "forever"}],
            switch={"ecn": {"kmin": "1KB", "kmax": "2KB", "pmax": 1.0}},
            rate="40Gb/s",
            congestion_control=PAPER,
            duration=f"{span_us}us",
        )
    )
    most = int(simulation.readout().rates.cnps_sent.max())
    measured(f"every packet marked, {span_us} us", f"at most {span_us // 50 + 1} CNPs", f"{most}")
    assert 0 < most <= span_us // 50 + 1
