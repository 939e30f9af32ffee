# SPDX-License-Identifier: Apache-2.0
"""Go back to 0 lives and gets nowhere where go-back-N progresses.

Setup: h0 sends messages of 4 MiB, 4096 packets of 1 KiB, to h1 at 40 Gb/s through one switch; on the cable of
h1 each 256th packet is lost, in each direction. 20 ms.
Expected: with go back to 0 goodput 0 while the link is busy all the time; go-back-N progresses (published:
the same, with RDMA SEND, WRITE and READ). If losses were random, a message would pass with a probability of
(1 - 1/256)^4096 = 1.1e-7: none of those tried in 20 ms does, at p = 1/256 either.
The timeout of go-back-N is 100 us; that of go back to 0 is longer than a message, which is acknowledged when
it is whole.
Tolerance: none for the goodput of 0; 1 % for the link, which waits for a timeout if the NAK of the last
packets of a message is lost.
"""

from __future__ import annotations

import pytest

from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_MS, PS_PER_S
from validation.conftest import Note
from validation.ethernet import build_roce
from validation.setups import Keys, counter, delivered_bytes, line, run

RATE_BPS, DURATION_PS = 40_000_000_000, 20 * PS_PER_MS


def lossy(recovery: str, losses: Keys, timeout: str = "67ms") -> Scenario:
    return build_roce(
        line(1),
        [{"kind": "stream", "name": "s", "src": "h0", "dst": "h1", "message": "4MiB", "count": "forever"}],
        hca={"loss_recovery": recovery, "ack_timeout": timeout},
        rate="40Gb/s",
        mtu=1024,
        faults=[{"kind": "symbol_errors", "link": ["sw0/2", "h1/1"], "at": "0us"} | losses],
        duration="1s",
    )


@pytest.mark.parametrize(
    ("name", "losses"),
    [("each 256th packet lost", {"every": 256}), ("1/256 lost at random", {"probability": 1 / 256})],
)
def test_going_back_to_0_keeps_the_link_busy_for_nothing(name: str, losses: Keys, measured: Note) -> None:
    simulation = run(lossy("go_back_0", losses), DURATION_PS)
    busy = 8 * counter(simulation, "h0/1", "port_xmit_data") * PS_PER_S / DURATION_PS / RATE_BPS
    measured(
        f"go back to 0, {name}",
        "goodput 0, link 100 % busy",
        f"goodput {delivered_bytes(simulation)['s']}, link {100 * busy:.1f} % busy",
    )
    assert delivered_bytes(simulation)["s"] == 0
    assert simulation.result()["totals"]["messages"] == 0
    assert busy == pytest.approx(1, abs=0.01)


def test_going_back_n_progresses(measured: Note) -> None:
    simulation = run(lossy("go_back_n", {"every": 256}, "100us"), DURATION_PS)
    goodput_bps = 8 * delivered_bytes(simulation)["s"] * PS_PER_S / DURATION_PS
    measured("go-back-N, each 256th packet lost", "progress", f"{goodput_bps / 1e9:.1f} Gb/s")
    assert simulation.result()["totals"]["messages"] > 0
    assert goodput_bps > 0.5 * RATE_BPS


def test_going_back_to_0_delivers_where_nothing_is_lost() -> None:
    simulation = run(lossy("go_back_0", {"every": 10**9}), DURATION_PS)
    assert delivered_bytes(simulation)["s"] == simulation.result()["totals"]["messages"] * 4 * 2**20 > 0
