# SPDX-License-Identifier: Apache-2.0
"""Forward error correction adds a codeword to every hop, and a jitter of less than one.

Setup: 100 Gb/s with RS(544,514), whose 5440 bits take 51.2 ns at 106.25 Gb/s; single packets, far enough
apart not to meet, over one cable and over two switches (three hops), with and without FEC.
Expected: each hop adds 51.2 ns and a jitter from 0 to below 51.2 ns.
Tolerance: none for the bounds. The mean of 4000 draws lies within 2 % of one and a half codewords a hop
(its standard error is 0.3 %), and their range covers 90 % of what one hop allows.
"""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.units import PS_PER_NS
from validation.conftest import Note
from validation.setups import build, line, run

CODEWORD_PS = 51_200
MESSAGES = 4000


def latencies_ps(switches: int, fec_latency: str) -> np.ndarray:
    scenario = build(
        line(switches),
        [{"kind": "stream", "src": "h0", "dst": "h1", "message": "1KiB", "count": MESSAGES, "rate": "1Gb/s"}],
        switch={"fec_latency": fec_latency},
        hca={"fec_latency": fec_latency},
        rate="100Gb/s",
    )
    return run(scenario).message_latencies_ps


@pytest.mark.parametrize("hops", [1, 3])
def test_every_hop_adds_a_codeword_and_less_than_a_codeword_of_jitter(hops: int, measured: Note) -> None:
    (plain_ps,) = set(latencies_ps(hops - 1, "0ns").tolist())
    added_ps = latencies_ps(hops - 1, "51.2ns") - plain_ps
    measured(
        f"hops: {hops}",
        f"{hops * 51.2:.1f} to below {hops * 102.4:.1f} ns",
        f"{added_ps.min() / PS_PER_NS:.1f} to {added_ps.max() / PS_PER_NS:.1f} ns",
    )
    assert len(added_ps) == MESSAGES
    assert added_ps.min() >= hops * CODEWORD_PS
    assert added_ps.max() < 2 * hops * CODEWORD_PS
    assert added_ps.mean() == pytest.approx(1.5 * hops * CODEWORD_PS, rel=0.02)
    assert np.ptp(added_ps) > 0.9 * CODEWORD_PS
