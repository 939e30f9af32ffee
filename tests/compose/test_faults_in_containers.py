# SPDX-License-Identifier: Apache-2.0
"""Faults of the composed twin reach Alertmanager, and traffic goes round a switch whose container is gone."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from compose.composed import ComposedTwin, injected
from integration.patience import PATIENCE_S, wait_until

pytestmark = pytest.mark.compose

SEEN_WITHIN_S = 3 * PATIENCE_S
"""Fabric time crawls on a busy machine, and a command takes effect at the next look-around."""


def _alerts(twin: ComposedTwin, name: str, **labels: str) -> list[dict[str, Any]]:
    """Alerts that Alertmanager has, also those that it keeps quiet."""
    filters = [("filter", f'{label}="{value}"') for label, value in ({"alertname": name} | labels).items()]
    with urlopen(f"{twin.alertmanager}/api/v2/alerts?{urlencode(filters)}", timeout=PATIENCE_S) as answer:
        return list(json.load(answer))


def _wait_for_alert(twin: ComposedTwin, name: str, **labels: str) -> None:
    wait_until(
        lambda: any(alert["status"]["state"] == "active" for alert in _alerts(twin, name, **labels)),
        lambda: twin.metrics.query("ALERTS"),
        SEEN_WITHIN_S,
    )


def _wait_until_quiet(twin: ComposedTwin, name: str, **labels: str) -> None:
    wait_until(lambda: not _alerts(twin, name, **labels), lambda: twin.metrics.query("ALERTS"), SEEN_WITHIN_S)


@pytest.mark.parametrize(
    ("arguments", "alert", "labels"),
    [
        (["link_down", "--link", "leaf1/5,spine0/3"], "LinkDown", {"node": "leaf1", "port": "5"}),
        (["sm_down", "--node", "h15"], "SubnetManagerLost", {"shard": "sm1"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_fault_is_alerted_and_the_alert_ends_with_it(
    composed_twin: ComposedTwin, arguments: list[str], alert: str, labels: dict[str, str]
) -> None:
    assert _alerts(composed_twin, alert, **labels) == []
    with injected(composed_twin, *arguments):
        _wait_for_alert(composed_twin, alert, **labels)
    _wait_until_quiet(composed_twin, alert, **labels)


def test_traffic_goes_round_a_dead_switch_while_its_container_is_killed_and_comes_back(
    composed_twin: ComposedTwin,
) -> None:
    def wait_for_traffic(comparison: str) -> None:
        """Waits until what leaves spine1 is so, while traffic goes through spine0."""
        rate = "sum by (node) (fabrictwin:port_transmit_bytes:per_fabric_second{node='%s'})"
        both = f"({rate % 'spine1'} {comparison}) and on () ({rate % 'spine0'} > 1e9)"
        composed_twin.metrics.wait_for(both, SEEN_WITHIN_S)

    wait_for_traffic("> 1e9")
    # spine1 is in switch1.
    with injected(composed_twin, "switch_down", "--switch", "spine1"):
        _wait_for_alert(composed_twin, "SwitchDown", node="spine1")
        composed_twin.container("switch1").kill()
        composed_twin.wait_for_health("switch1", "unreachable")
        _wait_for_alert(composed_twin, "FabricTwinServiceDown", shard="switch1")
        composed_twin.container("switch1").start()
        composed_twin.wait_for_health("switch1", "serving")
        wait_for_traffic("< 1")
        quiet = _alerts(composed_twin, "LinkDown", node="leaf0", peer="spine1")
        assert quiet
        assert {alert["status"]["state"] for alert in quiet} == {"suppressed"}
    wait_for_traffic("> 1e9")
    for alert in ("SwitchDown", "FabricTwinServiceDown", "LinkDown"):
        _wait_until_quiet(composed_twin, alert)
