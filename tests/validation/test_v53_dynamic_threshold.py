# SPDX-License-Identifier: Apache-2.0
"""With a dynamic threshold, N equally congested queues each hold alpha B / (1 + alpha N).

Setup: N hosts send at 100 Gb/s to hosts that have stopped; buffer of 16 MB; each ingress port is one queue
(priority group), paused at its threshold.
Expected: 8.00 MB (alpha 1, N 1), 5.33 (1, 2), 14.2 (8, 1), 3.88 (8, 4), 1.00 (1/8, 8).
Tolerance: one frame.
"""

from __future__ import annotations

import pytest

from validation.conftest import Note
from validation.ethernet import build_roce, priority_group
from validation.setups import run, star

BUFFER_BYTES = 16_000_000


@pytest.mark.parametrize(
    ("alpha", "queues", "expected_mb"),
    [("1", 1, 8.00), ("1", 2, 5.33), ("8", 1, 14.2), ("8", 4, 3.88), ("1/8", 8, 1.00)],
)
def test_queue_stops_at_its_share(alpha: str, queues: int, expected_mb: float, measured: Note) -> None:
    numerator, _, denominator = alpha.partition("/")
    factor = int(numerator) / int(denominator or 1)
    law_bytes = factor * BUFFER_BYTES / (1 + factor * queues)
    simulation = run(
        build_roce(
            star(2 * queues),
            [
                {"kind": "stream", "src": f"h{i}", "dst": f"h{i + queues}", "message": "64MiB"}
                for i in range(queues)
            ],
            switch={"shared_buffer": f"{BUFFER_BYTES}B", "alpha": alpha, "reserve": "1B"},
            rate="100Gb/s",
            faults=[
                {"kind": "slow_receiver", "node": f"h{i + queues}", "rate": "0Gb/s", "at": "0us"}
                for i in range(queues)
            ],
            duration="2500us",
        )
    )
    held = [int(priority_group(simulation, f"sw0/{i + 1}").held_bytes) for i in range(queues)]
    cell = ", ".join(sorted({f"{size / 1e6:.2f}" for size in held}))
    measured(f"alpha {alpha}, N {queues}", f"{expected_mb:g} MB ± 1 frame", f"{cell} MB")
    assert law_bytes / 1e6 == pytest.approx(expected_mb, rel=0.005)
    assert all(size == pytest.approx(law_bytes, abs=4200) for size in held)
