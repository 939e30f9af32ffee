# SPDX-License-Identifier: Apache-2.0
"""Bus bandwidth is algorithm bandwidth times the collective's factor.

Setup: the table of factors for 2 to 512 ranks, and an all-to-all and an all-reduce that run.
Expected (nccl-tests, doc/PERFORMANCE.md): all-reduce 2 (n - 1) / n; reduce-scatter, all-gather and
all-to-all (n - 1) / n; broadcast and reduce 1.
Tolerance: none for the factors; 1e-12 where the result divides floating-point numbers.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from fabrictwin.model.workload.collective import BUS_FACTORS
from validation.conftest import Note
from validation.setups import build, run, star

SHARE = ("reduce_scatter", "all_gather", "all_to_all")
WHOLE = ("broadcast", "reduce")


def test_factors_are_those_of_nccl_tests(measured: Note) -> None:
    for ranks in (2, 3, 8, 64, 512):
        share = Fraction(ranks - 1, ranks)
        expected = {"all_reduce": 2 * share} | dict.fromkeys(SHARE, share) | dict.fromkeys(WHOLE, Fraction(1))
        assert {name: factor(ranks) for name, factor in BUS_FACTORS.items()} == expected
    factors = ", ".join(f"{name} {BUS_FACTORS[name](8)}" for name in BUS_FACTORS)
    measured("factors, 8 ranks", "2 (n-1)/n, (n-1)/n, 1", factors)


@pytest.mark.parametrize(("kind", "factor"), [("all_reduce", Fraction(7, 4)), ("all_to_all", Fraction(7, 8))])
def test_result_of_a_run_uses_the_factor(kind: str, factor: Fraction, measured: Note) -> None:
    job = run(build(star(8), [{"kind": kind, "ranks": "all", "bytes": "8MiB"}])).result()["jobs"][0]
    ratio = job["busbw_bps"] / job["algbw_bps"]
    measured(f"{kind} that runs, 8 ranks", f"{float(factor)}", f"{ratio:g}")
    assert ratio == pytest.approx(float(factor), rel=1e-12)
    assert job["algbw_bps"] == pytest.approx(8 * 2**23 / job["iteration_ns"][0] * 1e9, rel=1e-12)
