# SPDX-License-Identifier: Apache-2.0
"""What a twin tells a monitoring system: the catalogue of metrics, and the exporter that answers scrapes."""

from fabrictwin.telemetry.exporter import Exporter
from fabrictwin.telemetry.exposition import CONTENT_TYPE
from fabrictwin.telemetry.health import Channel, Health
from fabrictwin.telemetry.metric import Service
from fabrictwin.telemetry.snapshot import FabricSource
from fabrictwin.telemetry.targets import Target, target_groups

__all__ = [
    "CONTENT_TYPE",
    "Channel",
    "Exporter",
    "FabricSource",
    "Health",
    "Service",
    "Target",
    "target_groups",
]
