# SPDX-License-Identifier: Apache-2.0
"""Grafana's dashboards agree with what writes them, with the catalogue of metrics and with the rules."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from ruamel.yaml import YAML

from fabrictwin.telemetry.catalogue import CATALOGUE
from fabrictwin.telemetry.metric import Kind
from integration.dashboards import TWINS, is_fed, queries

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
FOLDER = DEPLOY / "grafana" / "dashboards"
DASHBOARDS = sorted(FOLDER.glob("*.json"))
GRID_COLUMNS = 24
METRIC = r"\b(fabrictwin[_:][\w:]+|node_infiniband_\w+|infiniband_\(switch\|hca\)_\w+)"


def _load(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def _queries(dashboard: dict[str, Any]) -> Iterator[str]:
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel["targets"])


def test_dashboards_are_what_the_code_writes(tmp_path: Path) -> None:
    writer = DEPLOY / "grafana" / "make_dashboards.py"
    subprocess.run([sys.executable, str(writer), str(tmp_path)], check=True, timeout=60)
    written = {path.name: path.read_text() for path in tmp_path.glob("*.json")}
    committed = {path.name: path.read_text() for path in DASHBOARDS}
    assert written == committed, "run: python deploy/grafana/make_dashboards.py"


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_have_title_unit_and_description(path: Path) -> None:
    dashboard = _load(path)
    titles = [panel["title"] for panel in dashboard["panels"]]
    assert len(set(titles)) == len(titles)
    for panel in dashboard["panels"]:
        assert "? " in f"{panel['description']} ", f"{panel['title']}: which question does it answer?"
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]
        references = [target["refId"] for target in panel["targets"]]
        assert all(references)
        assert len(set(references)) == len(references)


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_dashboards_can_be_narrowed_to_a_twin(path: Path) -> None:
    dashboard = _load(path)
    names = [variable["name"] for variable in dashboard["templating"]["list"]]
    assert names[:3] == ["datasource", "twin", "node"]
    assert [query for query in _queries(dashboard) if 'twin=~"$twin"' not in query] == []


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_read_only_what_is_exported_or_recorded(path: Path) -> None:
    rules = "".join(file.read_text() for file in (DEPLOY / "prometheus" / "rules").glob("*.yml"))
    known = set(re.findall(r"record: (\S+)", rules))
    for metric in CATALOGUE:
        known.add(metric.name + ("_bucket" if metric.kind is Kind.HISTOGRAM else ""))
    for query in _queries(_load(path)):
        for name in re.findall(METRIC, query):
            assert name.replace("(switch|hca)", "switch") in known, name


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_rates_of_the_fabric_are_recorded_ones(path: Path) -> None:
    """rate() is per second of wall time: right for what the services do, wrong for what the fabric does."""
    for panel in _load(path)["panels"]:
        if "wall time" not in panel["title"]:
            assert not any("rate(" in target["expr"] for target in panel["targets"]), panel["title"]


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_every_query_is_run_on_a_twin_that_feeds_it(path: Path) -> None:
    asked = queries(path, "t")
    assert [query for query in asked if not any(is_fed(query, twin) for twin in TWINS)] == []


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_dashboards_are_read_by_the_sdk_without_loss(path: Path) -> None:
    register_default_plugins()
    written = _load(path)
    read = json.loads(JSONEncoder().encode(Dashboard.from_json(written)))
    assert read["templating"] == written["templating"]
    for panel, again in zip(written["panels"], read["panels"], strict=True):
        kept = ("type", "title", "description", "gridPos", "targets", "options")
        assert {key: panel.get(key) for key in kept} == {key: again.get(key) for key in kept}


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_panels_do_not_overlap(path: Path) -> None:
    places = [panel["gridPos"] for panel in _load(path)["panels"]]
    cells = [
        (x, y)
        for at in places
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert max(x for x, _ in cells) < GRID_COLUMNS


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_dashboards_show_faults_and_lead_to_each_other(path: Path) -> None:
    dashboard = _load(path)
    (faults,) = dashboard["annotations"]["list"]
    assert faults["expr"].startswith("fabrictwin_fault_active{")
    (menu,) = dashboard["links"]
    assert menu["type"] == "dashboards"
    assert set(menu["tags"]) <= set(dashboard["tags"])
    uids = {_load(other)["uid"] for other in DASHBOARDS}
    links = [
        link["url"]
        for panel in dashboard["panels"]
        for link in panel["fieldConfig"]["defaults"].get("links", [])
    ]
    assert {link.split("?")[0].removeprefix("/d/") for link in links} <= uids


def test_provisioning_is_yaml_and_names_what_the_dashboards_use() -> None:
    provisioning = DEPLOY / "grafana" / "provisioning"
    (source,) = YAML(typ="safe").load(provisioning / "datasources" / "prometheus.yml")["datasources"]
    (provider,) = YAML(typ="safe").load(provisioning / "dashboards" / "fabrictwin.yml")["providers"]
    assert (source["type"], provider["type"]) == ("prometheus", "file")
