# SPDX-License-Identifier: Apache-2.0
"""Every panel of our dashboards shows something of the composed twin, asked of its own Prometheus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from compose.composed import ComposedTwin, injected
from integration.dashboards import DASHBOARDS, LIVE_INFINIBAND, is_fed, queries

pytestmark = pytest.mark.compose


@pytest.fixture(scope="module")
def slow_link(composed_twin: ComposedTwin) -> Iterator[ComposedTwin]:
    """The twin while one of its links runs slow, so that there is a fault and an alert to show."""
    with injected(composed_twin, "link_degraded", "--link", "leaf1/5,spine0/3", "--rate", "100Gb/s"):
        yield composed_twin


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_return_data(slow_link: ComposedTwin, path: Path) -> None:
    fed = [query for query in queries(path, "composed") if is_fed(query, LIVE_INFINIBAND)]
    assert fed
    for query in fed:
        slow_link.metrics.wait_for(query)
