# SPDX-License-Identifier: Apache-2.0
"""The drills' container reaches the engine, the director and the alerts, without being root."""

from __future__ import annotations

import pytest

from compose.composed import ComposedTwin

pytestmark = pytest.mark.compose


def test_drills_container_runs_a_drill_and_goes(composed_twin: ComposedTwin) -> None:
    arguments = ("link-down", "--drills", "/deploy/drills/composed")
    said = composed_twin.compose(
        "--profile", "drills", "run", "--rm", "--no-deps", "-T", "drills", *arguments
    )
    assert "PASS" in said
    assert "drills" not in composed_twin.containers()
