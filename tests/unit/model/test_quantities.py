# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from fabrictwin.model.quantities import read_fraction


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("1/8", Fraction(1, 8)),
        ("2.5/5", Fraction(1, 2)),
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        (0.00390625, Fraction(1, 256)),
        (1e-9, Fraction(1, 10**9)),
        ("0", Fraction(0)),
    ],
)
def test_fraction_is_exact(value: Any, expected: Fraction) -> None:
    assert read_fraction(value) == expected


@pytest.mark.parametrize("value", ["1/0", "-1", -1, "x", "1/2/3", "", True, None, [1], "1e3", float("inf")])
def test_what_is_no_fraction_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"expected a number such as 0\.125 or 1/8, got"):
        read_fraction(value)
