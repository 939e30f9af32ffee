# SPDX-License-Identifier: Apache-2.0
"""A store-and-forward switch adds one serialisation of the packet.

Setup: as V03, with switches that store and forward; h = 1, 3, 5.
Expected: h times the wire time of the packet more than with cut-through: 4122 B at 400 Gb/s are 82.44 ns
(81.9 ns for the 4096 B of payload alone), and 4178 B on Ethernet 83.56 ns.
Tolerance: none, it is arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_NS
from validation.conftest import Note
from validation.ethernet import build_roce
from validation.ethernet import wire_bytes as ethernet_wire_bytes
from validation.setups import build, latency_ps, line, run, wire_bytes, wire_ps

Build = Callable[..., Scenario]


def path_latency_ps(switches: int, forwarding: str, build: Build = build) -> int:
    scenario = build(
        line(switches),
        [{"kind": "stream", "src": "h0", "dst": "h1", "message": "4096B"}],
        switch={"forwarding": forwarding},
    )
    return latency_ps(run(scenario))


@pytest.mark.parametrize("switches", [1, 3, 5])
def test_every_switch_adds_a_serialisation(switches: int, measured: Note) -> None:
    added_ps = path_latency_ps(switches, "store_and_forward") - path_latency_ps(switches, "cut_through")
    expected_ps = switches * wire_ps(wire_bytes(4096), 400_000_000_000)
    measured(f"switches: {switches}", f"{expected_ps / PS_PER_NS:.2f} ns", f"{added_ps / PS_PER_NS:.2f} ns")
    assert added_ps == expected_ps


@pytest.mark.parametrize("switches", [1, 3, 5])
def test_every_ethernet_switch_adds_a_serialisation(switches: int, measured: Note) -> None:
    stored_ps = path_latency_ps(switches, "store_and_forward", build_roce)
    added_ps = stored_ps - path_latency_ps(switches, "cut_through", build_roce)
    expected_ps = switches * wire_ps(ethernet_wire_bytes(4096), 400_000_000_000)
    measured(
        f"RoCEv2, switches: {switches}",
        f"{expected_ps / PS_PER_NS:.2f} ns",
        f"{added_ps / PS_PER_NS:.2f} ns",
    )
    assert added_ps == expected_ps
