# SPDX-License-Identifier: Apache-2.0
"""An idle path of cut-through switches takes one serialisation, the switches and the cables.

Setup: one message of 4096 B over h = 1, 3, 5 cut-through switches of 230 ns, 400 Gb/s.
Expected: S/C + h * 230 ns + (h + 1) * 50 ns = 412, 972, 1532 ns with cables of 10 m, plus what the HCAs
take to send and to receive. Slope in h: 280 ns. Slope in cable length: 5 ns/m.
Tolerance: 1 ns, because S above is the payload; with 26 bytes of headers the wire takes 82.44 ns, not
81.92. The slopes are exact.
"""

from __future__ import annotations

from itertools import pairwise

import pytest

from fabrictwin.model.hardware import HCA_MODELS
from fabrictwin.units import PS_PER_NS
from validation.conftest import Note
from validation.setups import PROPAGATION_PS_PER_M, build, latency_ps, line, run

NIC_PS = HCA_MODELS["native_hca"].tx_latency_ps + HCA_MODELS["native_hca"].rx_latency_ps


def path_latency_ps(switches: int, cable_m: int) -> int:
    """From one end of a line to the other, without what the HCAs take."""
    scenario = build(
        line(switches),
        [{"kind": "stream", "src": "h0", "dst": "h1", "message": "4096B"}],
        switch={"forwarding_latency": "230ns"},
        length=f"{cable_m}m",
    )
    return latency_ps(run(scenario)) - NIC_PS


@pytest.mark.parametrize(("switches", "expected_ns"), [(1, 412), (3, 972), (5, 1532)])
def test_latency_is_one_serialisation_the_switches_and_the_cables(
    switches: int, expected_ns: int, measured: Note
) -> None:
    latency_ns = path_latency_ps(switches, 10) / PS_PER_NS
    measured(f"switches: {switches}", f"{expected_ns} ± 1 ns", f"{latency_ns:.2f} ns")
    assert latency_ns == pytest.approx(expected_ns, abs=1)


def test_every_switch_adds_its_latency_and_one_cable(measured: Note) -> None:
    latencies = [path_latency_ps(switches, 10) for switches in (1, 2, 3, 4, 5)]
    steps = {after - before for before, after in pairwise(latencies)}
    measured("slope in switches", "280 ns", " ".join(f"{step / PS_PER_NS:g} ns" for step in steps))
    assert steps == {280 * PS_PER_NS}


def test_every_metre_adds_five_nanoseconds(measured: Note) -> None:
    """Two cables become 90 m longer each."""
    slope_ps = (path_latency_ps(1, 100) - path_latency_ps(1, 10)) / (2 * 90)
    measured("slope in length", "5 ns/m", f"{slope_ps / PS_PER_NS:g} ns/m")
    assert slope_ps == PROPAGATION_PS_PER_M
