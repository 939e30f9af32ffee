# SPDX-License-Identifier: Apache-2.0
"""The real Alertmanager, with the project's own configuration, on a free port and in a folder of its own."""

from __future__ import annotations

import json
import shutil
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from integration.patience import PATIENCE_S
from integration.real_prometheus import start_on_free_port

CONFIGURATION = Path(__file__).resolve().parents[2] / "deploy" / "alertmanager" / "alertmanager.yml"


class Alert(dict[str, str]):
    """The labels of an alert.

    Attributes:
        state: ``active``, or ``suppressed`` where another one inhibits it.
    """

    state: str = ""


def program(name: str) -> str:
    """Path of a program of Alertmanager's; skips where it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed (Debian package prometheus-alertmanager)")
    return found


@contextmanager
def running_alertmanager(folder: Path) -> Iterator[str]:
    """Runs the server; gives where it answers, and leaves nothing behind."""
    command = [
        program("prometheus-alertmanager"),
        f"--config.file={CONFIGURATION}",
        f"--storage.path={folder / 'alertmanager'}",
        "--cluster.listen-address=",
        "--log.level=warn",
    ]
    process, url = start_on_free_port(command, folder / "alertmanager.log")
    try:
        yield url
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def read_alerts(url: str) -> list[Alert]:
    """The alerts that it knows."""
    with urllib.request.urlopen(f"{url}/api/v2/alerts", timeout=PATIENCE_S) as answer:
        rows: list[dict[str, Any]] = json.load(answer)
    alerts = []
    for row in rows:
        alert = Alert(row["labels"])
        alert.state = row["status"]["state"]
        alerts.append(alert)
    return alerts
