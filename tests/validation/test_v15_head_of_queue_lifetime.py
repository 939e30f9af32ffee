# SPDX-License-Identifier: Apache-2.0
"""The head of a blocked queue is dropped after its lifetime; the seventh in a row stalls the VL.

Setup: h0 sends to h1 through a switch; h1 stops at 5 us, so that its buffer fills and the leaf port blocks.
Expected: the first packet that stays at the head is dropped after 4.096 us * 2^n: 268.4 ms with n = 0x10,
1073.7 ms with n = 0x12; the others follow each after as long. The seventh stalls the VL, and all that waits
is dropped.
Tolerance: none (one packet time is allowed): no drop a packet time before, one drop at the time.
"""

from __future__ import annotations

import pytest

from fabrictwin.units import PS_PER_MS, PS_PER_NS, PS_PER_US
from validation.conftest import Note
from validation.setups import build, counter, events, line, open_simulation, packets_sent, wire_bytes, wire_ps

CABLE_PS, FORWARDING_PS = 50_000, 200_000
PACKET_PS = wire_ps(wire_bytes(4096), 400_000_000_000)


@pytest.mark.parametrize(("code", "expected_ms"), [(0x10, 268.4), (0x12, 1073.7)])
def test_blocked_head_is_dropped_after_its_lifetime(code: int, expected_ms: float, measured: Note) -> None:
    life_ps = 4_096_000 << code
    scenario = build(
        line(1),
        [{"kind": "stream", "src": "h0", "dst": "h1", "message": "1MiB", "count": "forever"}],
        switch={"leaf_hoq_life": f"{life_ps}ps"},
        hca={"ack_timeout": "100s"},
        duration="20s",
        faults=[{"kind": "slow_receiver", "node": "h1", "rate": "0Gb/s", "at": "5us"}],
    )
    simulation = open_simulation(scenario, trace=True)
    simulation.run(100 * PS_PER_US)
    # The switch offers packets in their order; this is the first that has not left.
    blocked = len(packets_sent(simulation, "sw0/2"))
    head_since_ps = int(packets_sent(simulation, "h0/1").start_ps[blocked]) + CABLE_PS + FORWARDING_PS
    drops = []
    for number in range(1, 8):
        simulation.run(head_since_ps + number * life_ps - PACKET_PS)
        drops.append(counter(simulation, "sw0/2", "port_xmit_discards"))
        simulation.run(head_since_ps + number * life_ps + PACKET_PS)
        drops.append(counter(simulation, "sw0/2", "port_xmit_discards"))
    (stalled,) = events(simulation, "vl_stalled")
    stall_ps = round(stalled["fabric_ns"] * PS_PER_NS) - head_since_ps
    measured(
        f"n = 0x{code:x}",
        f"a drop after 1 to 7 times {expected_ms} ms, then a stall",
        f"drops so far: {drops[1::2]}, stall after {stall_ps / PS_PER_MS:.1f} ms",
    )
    assert life_ps / PS_PER_MS == pytest.approx(expected_ms, abs=0.05)
    assert drops[:13] == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    assert drops[13] > 7
    assert stall_ps == 7 * life_ps
    assert stalled["node"] == "sw0"
