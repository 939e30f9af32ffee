# SPDX-License-Identifier: Apache-2.0
"""A queue pair whose peer is dead retries after its timeout, and fails when the retries are used up.

Setup: the cable of h1 is cut before h0 sends; retry count 7, timeout codes 20 and 14; both technologies.
Expected: a timeout is 4.096 us * 2^code: 4.295 s and 67.1 ms. The first packet is sent again no earlier
than that; after 8 timeouts (34.4 s, 0.537 s) the queue pair fails and with it the message.
Tolerance: none; a timeout runs from the start of the packet that it guards.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_NS, PS_PER_S
from validation.conftest import Note
from validation.ethernet import build_roce
from validation.setups import build, events, line, packets_sent, run


@pytest.mark.parametrize(("code", "timeout_s"), [(20, 4.295), (14, 0.0671)])
@pytest.mark.parametrize(
    ("name", "builder"), [("", build), ("RoCEv2, ", build_roce)], ids=["infiniband", "roce"]
)
def test_dead_peer_is_tried_eight_times_a_timeout_apart(
    name: str, builder: Callable[..., Scenario], code: int, timeout_s: float, measured: Note
) -> None:
    timeout_ps = 4_096_000 << code
    scenario = builder(
        line(1),
        [{"kind": "stream", "src": "h0", "dst": "h1", "message": "4KiB", "start": "1us"}],
        hca={"ack_timeout": f"{timeout_ps}ps", "retry_count": 7},
        faults=[{"kind": "link_down", "link": ["sw0/2", "h1/1"], "at": "0us"}],
    )
    simulation = run(scenario, trace=True)
    starts = packets_sent(simulation, "h0/1").start_ps.tolist()
    (error,) = events(simulation, "qp_error")
    error_ps = round(error["fabric_ns"] * PS_PER_NS) - starts[0]
    measured(
        f"{name}timeout {code}",
        f"retry after {timeout_s} s, error after {8 * timeout_ps / PS_PER_S:.3f} s",
        f"retry after {(starts[1] - starts[0]) / PS_PER_S:.4g} s, error after {error_ps / PS_PER_S:.3f} s",
    )
    assert timeout_ps / PS_PER_S == pytest.approx(timeout_s, rel=0.001)
    assert [start - starts[0] for start in starts] == [number * timeout_ps for number in range(8)]
    assert error_ps == 8 * timeout_ps
    assert simulation.stopped == "idle"
    assert simulation.result()["totals"]["failed_messages"] == 1
    assert simulation.result()["totals"]["dropped_packets"] == 8
