# SPDX-License-Identifier: Apache-2.0
"""A VL moves at most one buffer of credits in a round trip of the cable.

Setup: one cable of length L between two HCAs, one VL, 2048 credit blocks (128 KiB). Messages of one packet
of 2046 bytes on the wire: 32 blocks with 2 bytes to spare, so that rounding to blocks costs 0.1 % and not
the 1.6 % of a full MTU.
Expected: min(C, 1 048 576 bit / (2 L * 5 ns/m + t)). At 400 Gb/s: full rate at 262 m, 209.7 Gb/s at 500 m,
104.9 at 1 km, 10.5 at 10 km; at 100 Gb/s full rate at 1.05 km.
Tolerance: 3 %. The given numbers leave out t, the wire time of a packet and of the flow-control packet that
answers it: 1.6 % of the round trip at 262 m and at 1.05 km, less of the others.
With full packets (4122 bytes, 65 blocks) 31 fit. That law, 31 packets in 2 L * 5 ns/m + t, is exact; the
tolerance of 0.5 % is half a burst of packets at each end of a window of 100 round trips.
"""

from __future__ import annotations

import pytest

from fabrictwin.units import PS_PER_S, PS_PER_US
from validation.conftest import Note
from validation.setups import (
    FCP_BYTES,
    PROPAGATION_PS_PER_M,
    build,
    line,
    open_simulation,
    rates_bps,
    wire_bytes,
    wire_ps,
)

BLOCKS, BLOCK_BYTES = 2048, 64


def wire_rate_gbps(gbps: int, length_m: int, payload: int) -> float:
    """Bits of data packets a second, headers included, over 100 round trips."""
    stream = {"kind": "stream", "name": "s", "src": "h0", "dst": "h1"}
    scenario = build(
        line(0),
        [stream | {"message": f"{payload}B", "count": "forever"}],
        rate=f"{gbps}Gb/s",
        length=f"{length_m}m",
        duration="1s",
    )
    round_trip_ps = 2 * length_m * PROPAGATION_PS_PER_M
    start_ps = 3 * round_trip_ps + 10 * PS_PER_US
    rates = rates_bps(open_simulation(scenario), start_ps, start_ps + 100 * round_trip_ps)
    return rates["s"] * wire_bytes(payload) / payload / 1e9


@pytest.mark.parametrize(
    ("gbps", "length_m", "expected_gbps"),
    [
        (400, 100, 400.0),
        (400, 262, 400.0),
        (400, 500, 209.7),
        (400, 1000, 104.9),
        (400, 10_000, 10.5),
        (100, 1050, 100.0),
        (100, 2100, 49.9),
    ],
)
def test_throughput_is_a_buffer_a_round_trip(
    gbps: int, length_m: int, expected_gbps: float, measured: Note
) -> None:
    rate_gbps = wire_rate_gbps(gbps, length_m, 2020)
    measured(f"{gbps} Gb/s, {length_m} m", f"{expected_gbps} Gb/s ± 3%", f"{rate_gbps:.1f} Gb/s")
    assert rate_gbps == pytest.approx(expected_gbps, rel=0.03)


@pytest.mark.parametrize("length_m", [500, 1000])
def test_full_packets_move_as_many_as_fit_a_round_trip(length_m: int, measured: Note) -> None:
    wire = wire_bytes(4096)
    fitting = BLOCKS // -(-wire // BLOCK_BYTES)
    fixed_ps = wire_ps(wire, 400_000_000_000) + wire_ps(FCP_BYTES, 400_000_000_000)
    expected_gbps = 8 * fitting * wire * PS_PER_S / (2 * length_m * PROPAGATION_PS_PER_M + fixed_ps) / 1e9
    rate_gbps = wire_rate_gbps(400, length_m, 4096)
    measured(f"full packets, {length_m} m", f"{expected_gbps:.1f} Gb/s ± 0.5%", f"{rate_gbps:.1f} Gb/s")
    assert rate_gbps == pytest.approx(expected_gbps, rel=0.005)
