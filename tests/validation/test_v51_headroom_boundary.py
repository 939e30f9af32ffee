# SPDX-License-Identifier: Apache-2.0
"""Nothing is lost iff the headroom of a lossless priority holds what comes after the pause.

Setup: h0 sends at line rate through one switch to a host that stops; cables of 100 m; the headroom of the
switch is bisected. The switch's pipeline lies before its buffer and takes no time here.
Expected: loss iff headroom < 2 * R * D + 2 * MTU + R * response: what is on the cable, what is sent until the
PFC frame has come and taken effect, a frame that is being sent each way. At 400 Gb/s and 100 m the first term
is 50 kB. The Linux mlx5 formula (217 941 B) and SONiC's value lose nothing.
A buffer holds frames without preamble and gap, 4158 B of the 4178 B that each takes of the cable.
Tolerance: the two MTUs are the worst case of where frames lie in time; the boundary found must lie between
2 * R * D + R * response and the law.
"""

from __future__ import annotations

import pytest

from fabrictwin.model.hardware.headroom import headroom_bytes
from validation.conftest import Note
from validation.ethernet import GAP_BYTES, build_roce, wire_bytes
from validation.setups import run, star

RATE_BPS, LENGTH_M, MTU = 400 * 10**9, 100, 4096
ON_CABLES_BYTES = 2 * RATE_BPS // 8 * LENGTH_M * 5 // 10**9


def drops(headroom: int, response_ns: int) -> int:
    scenario = build_roce(
        star(2),
        [{"kind": "stream", "src": "h0", "dst": "h1", "message": "4MiB", "count": "forever"}],
        switch={
            "forwarding_latency": "0ns",
            "shared_buffer": "1MB",
            "alpha": "1/4",
            "pfc_headroom": f"{headroom}B",
        },
        hca={"pfc_response": f"{response_ns}ns", "receive_buffer": "1MiB"},
        length=f"{LENGTH_M}m",
        faults=[{"kind": "slow_receiver", "node": "h1", "rate": "0Gb/s", "at": "10us"}],
        duration="200us",
    )
    return int(run(scenario).result()["totals"]["lossless_drops"])


def least_headroom(response_ns: int) -> int:
    """The least headroom that loses nothing."""
    low, high = 0, 400_000
    while low < high:
        middle = (low + high) // 2
        if drops(middle, response_ns) == 0:
            high = middle
        else:
            low = middle + 1
    return low


@pytest.mark.parametrize("response_ns", [0, 1000])
def test_headroom_boundary_is_the_law(response_ns: int, measured: Note) -> None:
    wire = ON_CABLES_BYTES + RATE_BPS // 8 * response_ns // 10**9
    base = wire * (wire_bytes(MTU) - GAP_BYTES) // wire_bytes(MTU)
    law = base + 2 * MTU
    found = least_headroom(response_ns)
    measured(f"response {response_ns} ns", f"{base} to {law} B", f"{found} B")
    assert base <= found <= law
    assert drops(law, response_ns) == 0
    assert drops(base - MTU, response_ns) > 0


@pytest.mark.parametrize("profile", ["h1_mlx5", "h2_sonic"])
def test_headroom_of_the_vendors_loses_nothing(profile: str, measured: Note) -> None:
    headroom = headroom_bytes(profile, RATE_BPS, LENGTH_M * 1000, MTU)
    lost = drops(headroom, 1000)
    measured(f"{profile}: {headroom} B", "0 lost", f"{lost} lost")
    assert lost == 0
    if profile == "h1_mlx5":
        assert headroom == 217_941
