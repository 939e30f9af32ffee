# SPDX-License-Identifier: Apache-2.0
"""The real Alertmanager with the project's own configuration: one root alert, the rest kept quiet."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from integration.patience import PATIENCE_S, wait_until
from integration.real_alertmanager import CONFIGURATION, program, read_alerts, running_alertmanager

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
Labels = dict[str, str]

SWITCH = {"alertname": "SwitchDown", "twin": "t", "node": "spine0", "peer": "spine0"}
QUIET: list[Labels] = [
    {"alertname": "LinkDown", "twin": "t", "node": "spine0", "port": "1", "peer": "leaf0"},
    {"alertname": "LinkDown", "twin": "t", "node": "leaf0", "port": "5", "peer": "spine0"},
    {"alertname": "XmitWaitCongestion", "twin": "t", "node": "leaf0", "port": "5", "peer": "spine0"},
    {"alertname": "LinkDown", "twin": "t", "node": "leaf3", "port": "2", "peer": "h9"},
    {"alertname": "FabricTwinStalled", "twin": "t", "shard": "hca0"},
    {"alertname": "SubnetManagerLost", "twin": "t", "shard": "sm0"},
]
"""What follows from the roots."""
LOUD: list[Labels] = [
    SWITCH,
    {"alertname": "LinkFlapping", "twin": "t", "node": "leaf3", "port": "2", "peer": "h9"},
    {"alertname": "FabricTwinServiceDown", "twin": "t", "service": "subnet_manager", "shard": "sm0"},
    {"alertname": "SubnetManagerLost", "twin": "t", "shard": "sm1"},
    {"alertname": "LinkDown", "twin": "t", "node": "leaf0", "port": "1", "peer": "h0"},
    {"alertname": "LinkDown", "twin": "other", "node": "leaf0", "port": "5", "peer": "spine0"},
]
"""The roots, and what has another reason."""


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a running Alertmanager answers."""
    with running_alertmanager(tmp_path_factory.mktemp("alertmanager")) as url:
        yield url


def _states(url: str) -> dict[str, str]:
    """State of each alert by its labels."""
    return {json.dumps(alert, sort_keys=True): alert.state for alert in read_alerts(url)}


def test_configuration_is_accepted() -> None:
    command = [program("amtool"), "check-config", str(CONFIGURATION)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_configuration_names_only_alerts_that_there_are() -> None:
    rules = (DEPLOY / "prometheus" / "rules" / "alerts.yml").read_text(encoding="utf-8")
    alerts = set(re.findall(r"- alert: (\S+)", rules))
    matchers = [
        matcher
        for rule in YAML(typ="safe").load(CONFIGURATION)["inhibit_rules"]
        for matcher in (*rule["source_matchers"], *rule["target_matchers"])
    ]
    named = {name for matcher in matchers for name in re.findall(r"[A-Z]\w+", matcher)}
    assert len(named) > 10
    assert named - alerts == set()


def test_what_follows_from_a_root_alert_is_suppressed(alertmanager: str) -> None:
    request = urllib.request.Request(
        f"{alertmanager}/api/v2/alerts",
        json.dumps([{"labels": labels} for labels in QUIET + LOUD]).encode(),
        {"Content-Type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=PATIENCE_S).close()
    expected = {
        json.dumps(labels, sort_keys=True): state
        for state, group in (("suppressed", QUIET), ("active", LOUD))
        for labels in group
    }
    wait_until(lambda: _states(alertmanager) == expected, lambda: _states(alertmanager))
