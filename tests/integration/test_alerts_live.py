# SPDX-License-Identifier: Apache-2.0
"""From a fault in a live twin to Alertmanager: the root alert, and what it keeps quiet."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from integration.patience import wait_until
from integration.real_alertmanager import Alert, read_alerts, running_alertmanager
from integration.real_prometheus import running_prometheus, skip_without_prometheus
from integration.watched_twin import running_twin, targets_of

pytestmark = pytest.mark.slow

DEADLOCK = Path(__file__).resolve().parents[2] / "deploy" / "scenarios" / "deadlock-ring.yaml"
DEAD_SPINE = """
version: 1
name: dead-spine
duration: 60s
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}
  switch_model: quantum2
  hca_model: connectx7
  link: {rate: 400Gb/s, length: 10m}
  mtu: 4096
routing: {engine: ftree}
workload:
  - {kind: stream, name: far, src: h2, dst: h1, message: 1MiB, count: forever}
faults:
  - {kind: switch_down, switch: spine0, at: 100us}
"""


def _watch(scenario: str, name: str, folder: Path, is_so: Callable[[list[Alert]], bool]) -> None:
    """Brings a twin up and waits until its alerts are as they should be."""
    skip_without_prometheus()
    with (
        running_alertmanager(folder) as alertmanager,
        running_twin(name, scenario, folder) as twin,
        running_prometheus(folder, name, targets_of(twin), alertmanager=alertmanager),
    ):
        wait_until(lambda: is_so(read_alerts(alertmanager)), lambda: read_alerts(alertmanager))


def test_dead_switch_is_one_alert_and_its_neighbours_are_quiet(tmp_path: Path) -> None:
    def is_so(alerts: list[Alert]) -> bool:
        roots = [alert for alert in alerts if alert["alertname"] == "SwitchDown"]
        links = [alert for alert in alerts if alert["alertname"] == "LinkDown"]
        both_ends = {alert["node"] for alert in links} == {"spine0", "leaf0", "leaf1"}
        quiet = all(alert.state == "suppressed" for alert in links)
        return (
            [root["node"] for root in roots] == ["spine0"]
            and roots[0].state == "active"
            and both_ends
            and quiet
        )

    _watch(DEAD_SPINE, "dead-spine", tmp_path, is_so)


def test_deadlock_is_an_alert(tmp_path: Path) -> None:
    def is_so(alerts: list[Alert]) -> bool:
        names = [alert["alertname"] for alert in alerts if alert.state == "active"]
        return names == ["FlowControlDeadlock"]

    _watch(DEADLOCK.read_text(), DEADLOCK.stem, tmp_path, is_so)
