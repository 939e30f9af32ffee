# SPDX-License-Identifier: Apache-2.0
"""Prometheus' configuration and rules, judged by promtool."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fabrictwin.telemetry.catalogue import CATALOGUE
from fabrictwin.telemetry.metric import Kind

DEPLOY = Path(__file__).resolve().parents[2] / "deploy" / "prometheus"
RULES = sorted((DEPLOY / "rules").glob("*.yml"))
RULE_TESTS = sorted((DEPLOY / "tests").glob("*.yml"))
METRIC = r"\b(fabrictwin_\w+|node_infiniband_\w+|infiniband_\(switch\|hca\)_\w+)"


@pytest.fixture(scope="module")
def promtool() -> str:
    found = shutil.which("promtool")
    if found is None:
        pytest.skip("promtool is not installed (Debian package prometheus)")
    return found


def _run(*command: str | Path) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_configuration_is_accepted(promtool: str) -> None:
    assert "2 rule files found" in _run(promtool, "check", "config", DEPLOY / "prometheus.yml")


def test_rules_are_accepted(promtool: str) -> None:
    _run(promtool, "check", "rules", "--lint=all", "--lint-fatal", *RULES)


def test_rules_do_what_their_tests_say(promtool: str) -> None:
    _run(promtool, "test", "rules", *RULE_TESTS)


@pytest.mark.parametrize("kind", ["record", "alert"])
def test_every_rule_has_a_test(kind: str) -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in RULE_TESTS)
    rules = "".join(path.read_text(encoding="utf-8") for path in RULES)
    names = re.findall(rf"- {kind}: (\S+)", rules)
    assert names
    assert [name for name in names if name not in tests] == []


def test_every_alert_is_told_of_with_its_severity() -> None:
    page = (DEPLOY.parents[1] / "docs" / "monitoring.md").read_text(encoding="utf-8")
    rules = (DEPLOY / "rules" / "alerts.yml").read_text(encoding="utf-8")
    alerts = re.findall(r"- alert: (\w+)\n(?:.*\n)*?\s+labels: {severity: (\w+)", rules)
    assert len(alerts) == rules.count("- alert: ")
    told = re.findall(r"^\| (\w+) \| (critical|warning) \|", page, re.MULTILINE)
    assert sorted(told) == sorted(alerts)


def test_rules_read_only_metrics_of_the_catalogue() -> None:
    exported = {metric.name + ("_sum" if metric.kind is Kind.HISTOGRAM else "") for metric in CATALOGUE}
    for path in RULES:
        for name in re.findall(METRIC, path.read_text()):
            plain = name.replace("(switch|hca)", "switch")
            assert plain in exported, f"{path.name}: {name}"
