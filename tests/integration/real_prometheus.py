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

DEPLOY = Path(__file__).resolve().parents[2] / "deploy" / "prometheus"
SCRAPE_INTERVAL = "1s"
READY_TIMEOUT_S = 30


class Sample(NamedTuple):
    """A series at one time."""

    labels: dict[str, str]
    value: float


class Prometheus:
    """A running server.

    Args:
        url: Where it answers.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def query(self, expression: str, at_s: float | None = None) -> list[Sample]:
        """An instant query, now or at a wall time; fails on PromQL that does not parse."""
        parameters = {"query": expression} | ({} if at_s is None else {"time": str(at_s)})
        data = self._get("query", parameters)["data"]
        if data["resultType"] == "scalar":
            return [Sample({}, float(data["result"][1]))]
        return [Sample(item["metric"], float(item["value"][1])) for item in data["result"]]

    def wait_for(self, expression: str, timeout_s: float) -> None:
        """Waits until a query returns data."""
        end_s = time.monotonic() + timeout_s
        while not self.query(expression):
            assert time.monotonic() < end_s, f"no data after {timeout_s} s: {expression}"
            time.sleep(0.5)

    def targets(self) -> list[dict[str, Any]]:
        """What it scrapes."""
        return list(self._get("targets", {})["data"]["activeTargets"])

    def rules(self) -> list[dict[str, Any]]:
        """Every rule with its health."""
        groups = self._get("rules", {})["data"]["groups"]
        return [rule for group in groups for rule in group["rules"]]

    def _get(self, path: str, parameters: dict[str, str]) -> dict[str, Any]:
        url = f"{self._url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
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
    folder: Path, twin: str, targets: Iterable[Target], more_rules: Iterable[Path] = ()
) -> Iterator[Prometheus]:
    """Runs the server over some targets; nothing is left behind.

    Args:
        folder: For its configuration and its data.
        twin: Name of the twin.
        targets: What to scrape.
        more_rules: Rule files besides the project's own.
    """
    program = skip_without_prometheus()
    configuration = folder / "prometheus"
    shutil.copytree(DEPLOY, configuration)
    file = configuration / "prometheus.yml"
    file.write_text(file.read_text().replace(" 2s", f" {SCRAPE_INTERVAL}"))
    for path in more_rules:
        shutil.copy(path, configuration / "rules" / f"{path.name}.yml")
    (configuration / "targets" / "twin.json").write_text(json.dumps(target_groups(twin, targets)))
    address = f"127.0.0.1:{_free_port()}"
    command = [program, f"--config.file={file}", f"--storage.tsdb.path={folder / 'data'}"]
    command += [f"--web.listen-address={address}", "--log.level=warn"]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait_until_ready(process, f"http://{address}/-/ready", folder / "log")
        yield Prometheus(f"http://{address}")
    finally:
        process.terminate()
        process.wait(timeout=20)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end_s = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < end_s:
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"Prometheus is not ready after {READY_TIMEOUT_S} s: {log.read_text()}")
