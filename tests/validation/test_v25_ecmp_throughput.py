# SPDX-License-Identifier: Apache-2.0
"""ECMP on a leaf-spine fabric gives a random permutation much less than all of its links.

Setup: L leaves of L hosts and L spines, a random permutation, q queue pairs for each pair of hosts, over
which it spreads its traffic; the paths that the switches' hash chooses, and the max-min fair rates on them.
Expected: the mean rate 8 x 8 x 8: 0.605 (q = 1), 0.753 (2), 0.880 (4), 0.955 (8), 0.985 (16); 16 x 16 x 16:
0.555, 0.705, 0.844, 0.933, 0.977.
Tolerance: 0.015, three standard errors of the mean over so many permutations.
"""

from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.engine.rng import Stream, draw_below
from validation.conftest import Note
from validation.ecmp_paths import max_min_rates, random_permutation

EXPECTED = {
    8: {1: 0.605, 2: 0.753, 4: 0.880, 8: 0.955, 16: 0.985},
    16: {1: 0.555, 2: 0.705, 4: 0.844, 8: 0.933, 16: 0.977},
}
RUNS = {8: 60, 16: 20}


def mean_rate(size: int, queue_pairs: int, number: int) -> float:
    """Mean max-min rate of a host in one permutation, as a share of its link."""
    hosts = size * size
    source = np.repeat(np.arange(hosts), queue_pairs)
    target = np.repeat(random_permutation(hosts, number), queue_pairs)
    leaf, other = source // size, target // size
    seeds = [draw_below(number, Stream.PATH, switch, 0, 1 << 31) for switch in range(size)]
    spine = np.empty(len(source), np.int64)
    for qp in range(len(source)):
        entropy = draw_below(number, Stream.ENTROPY, qp, 0, 1 << 16)
        key = int(target[qp]) << 16 | int(entropy)
        spine[qp] = draw_below(0, Stream.PATH, seeds[leaf[qp]], key, size)
    crossing = leaf != other
    up = np.where(crossing, leaf * size + spine, -1)
    down = np.where(crossing, hosts + spine * size + other, -1)
    rates = max_min_rates(np.stack([2 * hosts + source, up, down], axis=1), 3 * hosts)
    return float(rates.sum() / hosts)


@pytest.mark.parametrize(("size", "queue_pairs"), [(size, q) for size in EXPECTED for q in EXPECTED[size]])
def test_mean_rate_of_a_permutation(size: int, queue_pairs: int, measured: Note) -> None:
    expected = EXPECTED[size][queue_pairs]
    mean = float(np.mean([mean_rate(size, queue_pairs, number) for number in range(RUNS[size])]))
    measured(f"{size} x {size} x {size}, q = {queue_pairs}", f"{expected} ± 0.015", f"{mean:.3f}")
    assert mean == pytest.approx(expected, abs=0.015)
