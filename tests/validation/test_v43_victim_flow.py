# SPDX-License-Identifier: Apache-2.0
"""A victim flow loses its bandwidth to somebody else's congestion; congestion control gives it back.

Setup: on sw1 M hosts send to the same hot port, and one host of sw0 sends there too; the victim goes from
sw0 over the same cable between the switches to an idle host of sw1. 400 Gb/s, every flow without end.
Expected: without congestion control the hot port gives each of M + 1 flows C / (M + 1), the remote one
fills the cable's buffer, and the victim gets as little as it: C / (M + 1), 20 % with M = 4. Ideal control
would give the victim C - C / (M + 1), 80 % with M = 4.
Tolerance: without control 3 % of the value: turns are exact, headers cost 0.6 %. With control the victim
must have 70 % of C, over 5 ms from 5 ms on: before that its own CCTI falls, which rose when it first met
the remote contributor.
"""

from __future__ import annotations

import pytest

from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_MS, PS_PER_US
from validation.conftest import Note
from validation.setups import Keys, build, open_simulation, rates_bps

LINK_BPS = 400e9


def two_switches(local: int, control: Keys, rate: str = "400Gb/s", mtu: int = 4096) -> Scenario:
    """Hosts 0 and 1 (remote contributor and victim) are on sw0; on sw1 the first two receive."""
    hosts = local + 2
    hot, idle = f"h{hosts}", f"h{hosts + 1}"
    contributors = ["h0", *(f"h{hosts + 2 + number}" for number in range(local))]
    endless = {"message": "1MiB", "count": "forever"}
    return build(
        {"generator": "chain", "switches": 2, "hosts_per_switch": hosts},
        [
            {"kind": "incast", "name": "hot", "senders": contributors, "receiver": hot} | endless,
            {"kind": "stream", "name": "victim", "src": "h1", "dst": idle} | endless,
        ],
        congestion_control=control,
        rate=rate,
        mtu=mtu,
        duration="100ms",
    )


@pytest.mark.parametrize("local", [1, 2, 4, 8])
def test_victim_gets_the_share_of_the_remote_contributor(local: int, measured: Note) -> None:
    simulation = open_simulation(two_switches(local, {"algorithm": "none"}))
    share = rates_bps(simulation, 100 * PS_PER_US, 600 * PS_PER_US)["victim"] / LINK_BPS
    measured(f"M = {local}, no control", f"{1 / (local + 1):.3f} of C ± 3%", f"{share:.3f}")
    assert share == pytest.approx(1 / (local + 1), rel=0.03)


@pytest.mark.parametrize(("gbps", "local"), [(400, 4), (400, 8), (100, 4)])
def test_congestion_control_gives_the_victim_its_bandwidth(gbps: int, local: int, measured: Note) -> None:
    simulation = open_simulation(two_switches(local, {"algorithm": "ib_cca"}, f"{gbps}Gb/s"))
    rates = rates_bps(simulation, 5 * PS_PER_MS, 10 * PS_PER_MS)
    share = rates["victim"] / (gbps * 1e9)
    measured(f"M = {local}, ib_cca, {gbps} Gb/s", "at least 0.700 of C", f"{share:.3f}")
    assert share >= 0.7


def test_parameters_of_the_first_hardware_work_at_its_speed(measured: Note) -> None:
    """Gran et al. chose them on QDR; congestion control hears of marks in far fewer packets there."""
    control = {"algorithm": "ib_cca", "profile": "gran_ipdps10"}
    simulation = open_simulation(two_switches(4, control, "32Gb/s", 2048))
    share = rates_bps(simulation, 30 * PS_PER_MS, 50 * PS_PER_MS)["victim"] / 32e9
    measured("M = 4, gran_ipdps10, 32 Gb/s, MTU 2048", "at least 0.700 of C", f"{share:.3f}")
    assert share >= 0.7
