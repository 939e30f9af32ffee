# SPDX-License-Identifier: Apache-2.0
"""A ring all-reduce takes 2 (n - 1) steps of S / n bytes, each with a fixed cost.

Setup: n ranks at 400 Gb/s (50 GB/s each way) on a non-blocking fabric, S bytes, one iteration. A rank
computes after each message for so long that a step's fixed cost (send, path, receive, compute) is alpha.
Expected: T = 2 (n - 1) / n * S / B + 2 (n - 1) * alpha and bus bandwidth S / T * 2 (n - 1) / n
(nccl-tests): with 1 GiB, n = 8 and 2 us 37.61 ms and 49.96 GB/s; n = 64 and 5 us 42.91 ms and 49.27 GB/s; n
= 512 and 5 us 47.98 ms and 44.67 GB/s.
Tolerance: 1 %, of which headers take 0.6 %: B is the rate of payload and 26 bytes go with 4096.
"""

from __future__ import annotations

import pytest

from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.setups import Keys, build, latency_ps, run, star, wire_bytes, wire_ps

GIB = 2**30
LINK_BPS = 400_000_000_000


def fabric(ranks: int) -> Keys:
    """One switch, or a fat tree with as many cables up as down where one has too few ports."""
    if ranks <= 64:
        return star(ranks)
    return {"generator": "fat_tree", "levels": 2, "leaves": ranks // 32, "hosts_per_leaf": 32, "spines": 32}


def law(ranks: int, size_bytes: int, alpha_us: float) -> tuple[float, float]:
    """(time in ms, bus bandwidth in GB/s)."""
    time_s = 2 * (ranks - 1) / ranks * size_bytes * 8 / LINK_BPS + 2 * (ranks - 1) * alpha_us / 1e6
    return time_s * 1e3, size_bytes / time_s * 2 * (ranks - 1) / ranks / 1e9


def path_ps() -> int:
    """Fixed cost of a step without computing: the idle latency of a packet less its wire time."""
    one_packet = [{"kind": "stream", "src": "h0", "dst": "h1", "message": "4KiB"}]
    return latency_ps(run(build(star(2), one_packet))) - wire_ps(wire_bytes(4096), LINK_BPS)


@pytest.mark.parametrize(
    ("ranks", "size_bytes", "alpha_us"),
    [
        (8, GIB, 2),
        (8, GIB // 16, 2),
        (64, GIB // 16, 5),
        pytest.param(64, GIB, 5, marks=pytest.mark.slow),
        pytest.param(512, GIB, 5, marks=pytest.mark.slow),
    ],
)
def test_time_and_bus_bandwidth_follow_the_law(
    ranks: int, size_bytes: int, alpha_us: int, measured: Note
) -> None:
    compute_ps = alpha_us * PS_PER_US - path_ps()
    all_reduce = {
        "kind": "all_reduce",
        "algorithm": "ring",
        "ranks": "all",
        "bytes": f"{size_bytes}B",
        "step_latency": f"{compute_ps}ps",
    }
    scenario = build(fabric(ranks), [all_reduce], routing={"engine": "ftree" if ranks > 64 else "min_hop"})
    job = run(scenario).result()["jobs"][0]
    time_ms, busbw = job["iteration_ns"][0] / 1e6, job["busbw_bps"] / 8e9
    expected_ms, expected_busbw = law(ranks, size_bytes, alpha_us)
    measured(
        f"{ranks} ranks, {size_bytes // 2**20} MiB, {alpha_us} us",
        f"{expected_ms:.2f} ms, {expected_busbw:.2f} GB/s ± 1%",
        f"{time_ms:.2f} ms, {busbw:.2f} GB/s",
    )
    assert time_ms == pytest.approx(expected_ms, rel=0.01)
    assert busbw == pytest.approx(expected_busbw, rel=0.01)


def test_law_gives_the_published_figures() -> None:
    figures = {(8, 2): (37.61, 49.96), (64, 5): (42.91, 49.27), (512, 5): (47.98, 44.67)}
    for (ranks, alpha_us), expected in figures.items():
        assert law(ranks, GIB, alpha_us) == pytest.approx(expected, rel=0.0002)
