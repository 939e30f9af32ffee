# SPDX-License-Identifier: Apache-2.0
"""The headroom formulas against the values that are published for them."""

from __future__ import annotations

import pytest

from fabrictwin.model.hardware.headroom import (
    HEADROOM_PROFILES,
    HeadroomProfile,
    frame_bytes,
    headroom_bytes,
    least_headroom_bytes,
    response_ps,
)

GBPS = 10**9
METRE = 1_000


@pytest.mark.parametrize(
    ("gbps", "metres", "expected"),
    [
        (100, 5, 42_321),
        (100, 100, 62_841),
        (200, 100, 114_541),
        (400, 5, 135_861),
        (400, 100, 217_941),
        (400, 300, 390_741),
        (800, 100, 424_741),
    ],
)
def test_mlx5_headroom_is_that_of_the_driver(gbps: int, metres: int, expected: int) -> None:
    assert headroom_bytes("h1_mlx5", gbps * GBPS, metres * METRE, 4096) == expected


def test_mlx5_headroom_below_40_gbps_is_that_of_40() -> None:
    assert headroom_bytes("h1_mlx5", 10 * GBPS, 5 * METRE, 4096) == headroom_bytes(
        "h1_mlx5", 40 * GBPS, 5 * METRE, 4096
    )


@pytest.mark.parametrize(
    ("gbps", "metres", "mtu", "expected"),
    [
        # 1024 + 3 * (9100 + 37 878 of cable + 819 + 394 * 64) = 220 063, in whole KiB.
        (100, 300, 1024, 215 * 1024),
        # 4096 + 3 * (9100 + 2 525 of cable + 819 + 905 * 64) = 215 188.
        (400, 5, 4096, 211 * 1024),
        (10, 5, 1024, 43 * 1024),
    ],
)
def test_sonic_headroom_is_its_formula_with_the_constants_of_spectrum4(
    gbps: int, metres: int, mtu: int, expected: int
) -> None:
    assert headroom_bytes("h2_sonic", gbps * GBPS, metres * METRE, mtu) == expected


@pytest.mark.parametrize(("gbps", "metres", "static"), [(50, 300, 117_760), (100, 300, 202_752)])
def test_sonic_headroom_of_spectrum4_is_above_the_static_tables(gbps: int, metres: int, static: int) -> None:
    assert static <= headroom_bytes("h2_sonic", gbps * GBPS, metres * METRE, 4096) < 1.2 * static


@pytest.mark.parametrize(
    ("gbps", "bits"),
    [
        (10, 672 + 8_192 + 34_304),
        (25, 672 + 6_144 + 40_960),
        (40, 672 + 24_576 + 60_416),
        (100, 672 + 122_880 + 201_728),
        (400, 672 + 4 * 122_880 + 463_360),
    ],
)
def test_standard_headroom_adds_up_the_delays_of_the_standard(gbps: int, bits: int) -> None:
    # 8 m of cable are 40 ns each way: 80 bits a Gb/s.
    expected = -(-(bits + 80 * gbps) // 8) + 2 * frame_bytes(1024)
    assert headroom_bytes("h3_8021qbb", gbps * GBPS, 8 * METRE, 1024) == expected


@pytest.mark.parametrize(
    ("gbps", "quanta"),
    [(10, 67), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905), (800, 905)],
)
def test_response_is_the_quanta_of_the_standard(gbps: int, quanta: int) -> None:
    assert response_ps(gbps * GBPS) == -(-quanta * 512 * 1000 // gbps)


def test_response_of_a_rate_between_two_is_that_of_the_higher_in_quanta() -> None:
    assert response_ps(56 * GBPS) == -(-394 * 512 * 1000 // 56)
    assert response_ps(1600 * GBPS) == 905 * 512 * 1000 // 1600


@pytest.mark.parametrize("profile", HEADROOM_PROFILES)
@pytest.mark.parametrize("gbps", [10, 25, 40, 50, 100, 200, 400, 800])
@pytest.mark.parametrize("metres", [1, 10, 100, 300])
def test_every_profile_covers_the_worst_case(profile: HeadroomProfile, gbps: int, metres: int) -> None:
    rate_bps, length_mm = gbps * GBPS, metres * METRE
    worst = least_headroom_bytes(rate_bps, length_mm, 4096, response_ps(rate_bps))
    assert headroom_bytes(profile, rate_bps, length_mm, 4096) >= worst


def test_least_headroom_is_both_ways_the_response_and_two_frames() -> None:
    # 100 m are 500 ns; 400 Gb/s are 50 bytes a ns.
    expected = 50 * (2 * 500 + 200) + 2 * frame_bytes(4096)
    assert least_headroom_bytes(400 * GBPS, 100 * METRE, 4096, 200_000) == expected


@pytest.mark.parametrize(("payload", "frame"), [(4096, 4160), (1024, 1088), (1, 64), (0, 64)])
def test_frame_is_payload_and_headers_in_whole_words_on_the_wire(payload: int, frame: int) -> None:
    assert frame_bytes(payload) == frame
