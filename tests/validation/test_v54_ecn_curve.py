# SPDX-License-Identifier: Apache-2.0
"""Marks follow Pmax (q - Kmin) / (Kmax - Kmin), none below Kmin, all above Kmax.

Setup: one output of a switch with Kmin 100 KB, Kmax 400 KB, Pmax 0.2; 20 000 draws at each queue length.
Expected: the curve.
Tolerance: three standard deviations of the binomial distribution.
"""

from __future__ import annotations

from math import sqrt

import pytest

from fabrictwin.engine.ethernet.port import is_marked
from fabrictwin.runtime.offline import open_simulation
from validation.conftest import Note
from validation.ethernet import build_roce, state_of
from validation.setups import port_index, star

DRAWS = 20_000
KMIN, KMAX, PMAX = 100_000, 400_000, 0.2


@pytest.mark.parametrize("queue_bytes", [50_000, 100_000, 150_000, 250_000, 400_000, 400_001])
def test_share_of_marks_is_that_of_the_curve(queue_bytes: int, measured: Note) -> None:
    ecn = {"kmin": f"{KMIN}B", "kmax": f"{KMAX}B", "pmax": PMAX}
    simulation = open_simulation(build_roce(star(2), [], switch={"ecn": ecn}, duration="1us"))
    state, p = state_of(simulation), port_index(simulation, "sw0/1")
    marks = 0
    for number in range(DRAWS):
        state.port[p].xmit_pkts = number
        marks += bool(is_marked(state, p, queue_bytes))
    expected = PMAX * min(max(queue_bytes - KMIN, 0) / (KMAX - KMIN), 1) if queue_bytes <= KMAX else 1.0
    measured(f"{queue_bytes} B", f"{expected:.4f} ± 3 σ", f"{marks / DRAWS:.4f}")
    sigma = sqrt(expected * (1 - expected) / DRAWS)
    assert abs(marks / DRAWS - expected) <= 3 * sigma + 1 / DRAWS
