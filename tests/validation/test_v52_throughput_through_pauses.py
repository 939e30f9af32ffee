# SPDX-License-Identifier: Apache-2.0
"""Pauses cost no throughput if what is left in the buffer at XON lasts until the sender is heard again.

Setup: h0 sends at 400 Gb/s through one switch to h1 at 200 Gb/s; the buffer pauses h0 at 200 KB and lets it
go on at a backlog that is varied; cables of 100 m, no response time.
Expected: the output is never idle iff the backlog at XON is at least 2 * R_d * D with R_d the rate at which
the buffer drains, here 200 Gb/s: 25 kB.
Tolerance: two frames and a PFC frame, which may be on their way: above the law by them no idle time at all,
below the law by them some.
"""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.ethernet import build_roce, wire_bytes
from validation.setups import packets_sent, run, wire_ps

BUFFER_BYTES, DRAIN_BPS, LENGTH_M = 200_000, 200 * 10**9, 100
LAW_BYTES = 2 * DRAIN_BPS // 8 * LENGTH_M * 5 // 10**9


def idle_share(backlog_bytes: int) -> float:
    """Share of the time in which the slower cable carries nothing."""
    topology = {
        "nodes": {"h0": "hca", "h1": "hca", "sw0": {"switch": 2}},
        "links": [["h0/1", "sw0/1"], ["sw0/2", "h1/1", {"rate": "200Gb/s"}]],
    }
    scenario = build_roce(
        topology,
        [{"kind": "stream", "src": "h0", "dst": "h1", "message": "8MiB", "count": "forever"}],
        switch={
            "shared_buffer": f"{BUFFER_BYTES}B",
            "alpha": "infinite",
            "pfc_headroom": "70KB",
            "reserve": "1B",
            "pfc_xon_offset": f"{BUFFER_BYTES - backlog_bytes}B",
            "forwarding_latency": "0ns",
        },
        hca={"pfc_response": "0ns"},
        length=f"{LENGTH_M}m",
        duration="400us",
    )
    simulation = run(scenario, trace=True)
    assert simulation.result()["totals"]["pfc_pause_sent"] > 3
    starts = packets_sent(simulation, "sw0/2").start_ps
    starts = starts[starts > 50 * PS_PER_US]
    gaps_ps = np.diff(starts) - wire_ps(wire_bytes(4096), DRAIN_BPS)
    return float(gaps_ps.clip(0).sum() / (starts[-1] - starts[0]))


@pytest.mark.parametrize(("frames", "idles"), [(3, False), (-3, True)])
def test_output_idles_only_below_the_law(frames: int, idles: bool, measured: Note) -> None:
    backlog = LAW_BYTES + frames * wire_bytes(4096)
    share = idle_share(backlog)
    measured(
        f"backlog {backlog} B, law {LAW_BYTES} B", "idle" if idles else "never idle", f"{share:.4f} idle"
    )
    assert (share > 0.001) is idles
