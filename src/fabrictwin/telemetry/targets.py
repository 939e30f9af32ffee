# SPDX-License-Identifier: Apache-2.0
"""Where Prometheus finds a twin's services: the content of a file for its ``file_sd_configs``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypedDict

from fabrictwin.telemetry.metric import Service


class Target(NamedTuple):
    """One service process.

    Attributes:
        service: What it is.
        shard: Name of its logical process.
        address: ``host:port`` of its ``/metrics``.
    """

    service: Service
    shard: str
    address: str


class TargetGroup(TypedDict):
    """An entry of the file."""

    targets: list[str]
    labels: dict[str, str]


def target_groups(twin: str, targets: Iterable[Target]) -> list[TargetGroup]:
    """What the file says of a twin, to be written as JSON.

    Every series of a target gets the labels that rules and dashboards use.
    """
    return [
        {
            "targets": [target.address],
            "labels": {"twin": twin, "service": str(target.service), "shard": target.shard},
        }
        for target in targets
    ]
