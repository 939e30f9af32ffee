# SPDX-License-Identifier: Apache-2.0
"""The monitoring chain, as an operator has it: Prometheus and Alertmanager over HTTP."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabrictwin.errors import FabricTwinError, InputError

ANSWER_S = 10.0


class MonitorError(FabricTwinError):
    """Prometheus or Alertmanager does not answer, or refuses a query."""


@dataclass(frozen=True, slots=True)
class SeenAlert:
    """An alert as it is now.

    Attributes:
        alert: Its name.
        state: ``pending``, ``firing`` or, of Alertmanager, ``notified``.
        text: Its other labels.
    """

    alert: str
    state: str
    text: str


class Monitor:
    """Asks Prometheus, and Alertmanager if there is one.

    Args:
        prometheus: URL of Prometheus.
        alertmanager: URL of Alertmanager; None: there is none.
        twin: Only alerts of this twin count; those that do not say which count too.
    """

    def __init__(self, prometheus: str, alertmanager: str | None, twin: str) -> None:
        self._prometheus = _check_url(prometheus, "--prometheus")
        self._alertmanager = None if alertmanager is None else _check_url(alertmanager, "--alertmanager")
        self._twin = twin

    def query(self, promql: str) -> float | None:
        """The number that a query gives; None: it gives no data.

        Raises:
            MonitorError: Prometheus does not answer, or does not understand it.
        """
        parameters = urllib.parse.urlencode({"query": promql})
        data = _get(f"{self._prometheus}/api/v1/query?{parameters}")["data"]
        if data["resultType"] == "scalar":
            return float(data["result"][1])
        values = [float(series["value"][1]) for series in data["result"]]
        return max(values, default=None)

    def alerts(self) -> list[SeenAlert]:
        """Every alert that is pending, fires or was handed over.

        Raises:
            MonitorError: One of the two does not answer.
        """
        rows = _get(f"{self._prometheus}/api/v1/alerts")["data"]["alerts"]
        seen = [(row["labels"], row["state"]) for row in rows]
        if self._alertmanager is not None:
            rows = _get(f"{self._alertmanager}/api/v2/alerts?inhibited=false&silenced=false")
            seen += [(row["labels"], "notified") for row in rows]
        return [
            SeenAlert(labels["alertname"], state, _say(labels))
            for labels, state in seen
            if labels.get("twin", self._twin) == self._twin
        ]


def _check_url(text: str, option: str) -> str:
    parts = urllib.parse.urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InputError.of(f"expected a URL such as 'http://127.0.0.1:9090', got {text!r}", field=option)
    return text.rstrip("/")


def _get(url: str) -> Any:
    try:
        with urllib.request.urlopen(url, timeout=ANSWER_S) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        reason = error.read().decode(errors="replace")[:300]
        raise MonitorError(f"{url.partition('?')[0]} refuses: {reason}") from None
    except (OSError, ValueError) as error:
        raise MonitorError(f"{url.partition('?')[0]} does not answer: {error}") from None


def _say(labels: Mapping[str, str]) -> str:
    """The labels that say what an alert is about."""
    about = ("node", "port", "peer", "shard", "service", "severity")
    return ", ".join(f"{key}={labels[key]}" for key in about if key in labels)
