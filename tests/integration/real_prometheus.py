# SPDX-License-Identifier: Apache-2.0
"""The real Prometheus, with the project's own configuration, on a free port and in a folder of its own."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fabrictwin.telemetry import Target, target_groups
from integration.patience import PATIENCE_S, wait_until

DEPLOY = Path(__file__).resolve().parents[2] / "deploy" / "prometheus"
PORTS_TO_TRY = 5
"""Another program may take a port between the moment when it was free and that when it is listened on."""


class Sample(NamedTuple):
    """A series at one time."""

    labels: dict[str, str]
    value: float


class Prometheus:
    """A running server.

    Args:
        url: Where it answers.

    Attributes:
        url: The same.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def query(self, expression: str, at_s: float | None = None) -> list[Sample]:
        """An instant query, now or at a wall time; fails on PromQL that does not parse."""
        parameters = {"query": expression} | ({} if at_s is None else {"time": str(at_s)})
        data = self._get("query", parameters)["data"]
        if data["resultType"] == "scalar":
            return [Sample({}, float(data["result"][1]))]
        return [Sample(item["metric"], float(item["value"][1])) for item in data["result"]]

    def wait_for(self, expression: str, within_s: float = PATIENCE_S) -> None:
        """Waits until a query returns data."""
        wait_until(lambda: bool(self.query(expression)), lambda: f"no data: {expression}", within_s)

    def wait_for_scrapes(self) -> None:
        """Waits until each target was scraped once more, from beginning to end."""
        now_s = time.time()
        self.wait_for(f"min(up * timestamp(up)) > {now_s}")

    def names_of(self, selector: str) -> set[str]:
        """Names of the metrics that a selector finds."""
        return {sample.labels["__name__"] for sample in self.query(f"count by (__name__) ({selector})")}

    def targets(self) -> list[dict[str, Any]]:
        """What it scrapes."""
        return list(self._get("targets", {})["data"]["activeTargets"])

    def rules(self) -> list[dict[str, Any]]:
        """Every rule with its health."""
        groups = self._get("rules", {})["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def _get(self, path: str, parameters: dict[str, str]) -> dict[str, Any]:
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error


def skip_without_prometheus() -> str:
    """Path of the server; skips where it is not installed."""
    found = shutil.which("prometheus")
    if found is None:
        pytest.skip("Prometheus is not installed (Debian package prometheus)")
    return found


@contextmanager
def running_prometheus(
    folder: Path,
    twin: str,
    targets: Iterable[Target],
    more_rules: Iterable[Path] = (),
    alertmanager: str = "",
) -> Iterator[Prometheus]:
    """Runs the server over some targets; nothing is left behind.

    Args:
        folder: For its configuration and its data.
        twin: Name of the twin.
        targets: What to scrape.
        more_rules: Rule files besides the project's own.
        alertmanager: Where an Alertmanager answers, if one does.
    """
    program = skip_without_prometheus()
    configuration = folder / "prometheus"
    shutil.copytree(DEPLOY, configuration)
    file = configuration / "prometheus.yml"
    if alertmanager:
        address = alertmanager.removeprefix("http://")
        file.write_text(file.read_text().replace("alertmanager:9093", address))
    for path in more_rules:
        shutil.copy(path, configuration / "rules" / f"{path.name}.yml")
    (configuration / "targets" / "twin.json").write_text(json.dumps(target_groups(twin, targets)))
    command = [program, f"--config.file={file}", f"--storage.tsdb.path={folder / 'data'}", "--log.level=warn"]
    process, url = start_on_free_port(command, folder / "log")
    try:
        yield Prometheus(url)
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def start_on_free_port(command: list[str], log: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Starts a server of Prometheus' family on a free port; returns it, ready, and where it answers."""
    for _ in range(PORTS_TO_TRY):
        address = f"127.0.0.1:{_free_port()}"
        with log.open("w") as stream:
            process = subprocess.Popen(
                [*command, f"--web.listen-address={address}"], stdout=stream, stderr=stream
            )
        if _becomes_ready(process, f"http://{address}/-/ready"):
            return process, f"http://{address}"
        assert "address already in use" in log.read_text(), log.read_text()
    raise AssertionError(f"no port stays free: {log.read_text()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _becomes_ready(process: subprocess.Popen[bytes], url: str) -> bool:
    """Waits until it is; false if it ends instead."""

    def answers() -> bool:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return True
        except OSError:
            return False

    wait_until(lambda: process.poll() is not None or answers())
    return process.poll() is None
