# SPDX-License-Identifier: Apache-2.0
"""What ``make demo`` shows is so: the cable dies, the subnet manager heals it, the replay is the same."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.machine import PROGRAM, REPOSITORY, WITHIN_S, Machine, machine


@pytest.fixture
def place() -> Iterator[Machine]:
    with machine() as place:
        yield place


def test_demo_shows_how_a_link_dies_and_heals_and_leaves_nothing(place: Machine, tmp_path: Path) -> None:
    environment = place.environment | {"FABRICTWIN": str(PROGRAM), "BUILD": str(tmp_path)}
    run = subprocess.run(
        ["sh", "deploy/demo.sh"],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        timeout=2 * WITHIN_S,
    )
    assert run.returncode == 0, (run.stdout, run.stderr)
    steps = [
        "demo is up after",
        "link_down leaf1/5",
        "trap 128 from",
        "LFT blocks to write on 2 switches",
        "subnet_up subnet_manager: forwarding tables written",
        "first_packet leaf1/6: first packet on the new path to",
        "the same digest",
        "demo is down",
    ]
    places = [run.stdout.find(step) for step in steps]
    assert -1 not in places, run.stdout
    assert places == sorted(places)
    assert (tmp_path / "demo.html").stat().st_size > 10_000
    assert place.leftovers() == []
