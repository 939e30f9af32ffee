# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.model.hardware.ecn import ECN_SETS, EcnProfile

GBPS = 10**9


@pytest.mark.parametrize(
    ("name", "gbps", "expected"),
    [
        ("dcqcn_paper", 40, EcnProfile(5_000, 200_000, 655)),
        ("hpcc", 25, EcnProfile(100_000, 400_000, 13_107)),
        ("hpcc", 100, EcnProfile(400_000, 1_600_000, 13_107)),
        ("conweave", 100, EcnProfile(100_000, 400_000, 13_107)),
        ("dctcp", 100, EcnProfile(300_000, 300_000, 65_536)),
        ("sonic_azure", 400, EcnProfile(1 << 20, 2 << 20, 3_277)),
        ("sonic_sn5600_tor", 800, EcnProfile(166_912, 282_624, 3_277)),
        ("sonic_sn5600_leaf", 800, EcnProfile(166_912, 239_616, 3_277)),
    ],
)
def test_ecn_set_has_the_published_values(name: str, gbps: int, expected: EcnProfile) -> None:
    assert ECN_SETS[name].at(gbps * GBPS) == expected


def test_ecn_sets_stand_under_their_names_and_tell_their_source() -> None:
    assert all(name == row.name for name, row in ECN_SETS.items())
    assert all(row.source.endswith(("(A)", "(P)")) for row in ECN_SETS.values())
