# SPDX-License-Identifier: Apache-2.0
"""What a row of the catalogue says about a metric."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from fabrictwin.model.fabric import Technology


class Kind(StrEnum):
    """Prometheus' types of metrics."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Service(StrEnum):
    """The services that export metrics, by the name of their folder."""

    DIRECTOR = "director"
    SUBNET_MANAGER = "subnet_manager"
    SWITCH_NODE = "switch_node"
    HCA_ENDPOINT = "hca_endpoint"
    CONGESTION_CONTROL = "congestion_control"


class Rows(StrEnum):
    """What a metric has one series for each of; only those that the shard owns."""

    SERVICE = "service"
    SWITCH = "switch"
    SWITCH_NAMES = "switch, with its name"
    SWITCH_PORT = "cabled switch port"
    SWITCH_UPLINK = "cabled switch port, with names"
    HCA_PORT = "cabled HCA port"
    HCA = "GUID of a cabled HCA port"
    HCA_NAMES = "cabled HCA port, with its name"
    HCA_UPLINK = "cabled HCA port, with names"
    HCA_QP_STATE = "cabled HCA port and state of its queue pairs"
    PORT = "cabled port"
    PORT_NAMES = "cabled port, with names"
    PORT_VL = "data VL or priority of a cabled port"
    DEVICE = "cabled HCA port, as node_exporter names it"
    DEVICE_NAMES = "HCA with a cabled port"
    INFINIBAND_PORT = "cabled port, InfiniBand"
    INFINIBAND_HCA_PORT = "cabled HCA port, InfiniBand"
    INFINIBAND_VL = "data VL of a cabled port, InfiniBand"
    ROCE_PORT = "cabled port, RoCE"
    ROCE_DEVICE = "cabled HCA port, RoCE, as node_exporter names it"
    ROCE_HCA_PORT = "cabled HCA port, RoCE"
    ROCE_PRIORITY = "priority of a cabled port, RoCE"
    LOSSLESS = "lossless priority of a cabled port, RoCE"
    SWITCH_BUFFER = "switch, RoCE"
    FLOW_SENT = "flow, at its sender"
    FLOW_RECEIVED = "flow, at its receiver"
    WORKLOAD = "workload"
    EVENT = "kind of event"
    HEALTH = "what the labels name"


_PS_DIGITS = 12
_PPM_DIGITS = 6
_DEVICE = ("device", "port", "guid")
_UPLINK = ("uplink", "uplink_guid", "uplink_type", "uplink_port", "uplink_lid")

LABELS: dict[Rows, tuple[str, ...]] = {
    Rows.SERVICE: (),
    Rows.SWITCH: ("guid",),
    Rows.SWITCH_NAMES: ("guid", "switch", "lid"),
    Rows.SWITCH_PORT: ("guid", "port"),
    Rows.SWITCH_UPLINK: ("guid", "port", "switch", *_UPLINK),
    Rows.HCA: ("guid",),
    Rows.HCA_NAMES: ("guid", "hca", "lid"),
    Rows.HCA_PORT: ("guid", "port"),
    Rows.HCA_UPLINK: ("guid", "port", "hca", *_UPLINK),
    Rows.HCA_QP_STATE: ("guid", "port", "state"),
    Rows.PORT: ("guid", "port"),
    Rows.PORT_NAMES: ("guid", "port", "node", "kind", "peer", "peer_port"),
    Rows.PORT_VL: ("guid", "port", "vl"),
    Rows.DEVICE: _DEVICE,
    Rows.DEVICE_NAMES: ("device", "board_id", "firmware_version", "hca_type"),
    Rows.INFINIBAND_PORT: ("guid", "port"),
    Rows.INFINIBAND_HCA_PORT: ("guid", "port"),
    Rows.INFINIBAND_VL: ("guid", "port", "vl"),
    Rows.ROCE_PORT: ("guid", "port"),
    Rows.ROCE_DEVICE: _DEVICE,
    Rows.ROCE_HCA_PORT: ("guid", "port"),
    Rows.ROCE_PRIORITY: ("guid", "port", "priority"),
    Rows.LOSSLESS: ("guid", "port", "priority"),
    Rows.SWITCH_BUFFER: ("guid",),
    Rows.FLOW_SENT: ("flow", "src", "dst"),
    Rows.FLOW_RECEIVED: ("flow", "src", "dst"),
    Rows.WORKLOAD: ("workload", "kind"),
    Rows.EVENT: ("kind",),
}
"""Labels of the series that are read from the engine's arrays; those of HEALTH rows stand with the metric."""

TECHNOLOGY: dict[Rows, Technology] = {
    **dict.fromkeys(
        (Rows.INFINIBAND_PORT, Rows.INFINIBAND_HCA_PORT, Rows.INFINIBAND_VL), Technology.INFINIBAND
    ),
    **dict.fromkeys(
        (
            *(Rows.ROCE_PORT, Rows.ROCE_DEVICE, Rows.ROCE_HCA_PORT),
            *(Rows.ROCE_PRIORITY, Rows.LOSSLESS, Rows.SWITCH_BUFFER),
        ),
        Technology.ROCE,
    ),
}
"""Rows that only a fabric of one technology has."""


class Metric(NamedTuple):
    """A row of the catalogue.

    Attributes:
        name: As exported.
        unit: Of a value, in base units.
        source: A counter of :data:`fabrictwin.engine.port_counters.PORT_COUNTERS`, or a name in
            :data:`fabrictwin.telemetry.columns.COLUMNS`; for HEALTH rows, an attribute of
            :class:`fabrictwin.telemetry.health.Health`. One that ends in ``_ps`` and feeds seconds is divided
            by 10^12, one that ends in ``_ppm`` by 10^6.
        help: What it means.
        rows: What it has a series for.
        services: Who exports it.
        own_labels: Labels of HEALTH rows.
    """

    name: str
    unit: str
    source: str
    help: str
    rows: Rows
    services: tuple[Service, ...]
    own_labels: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """Counters end in ``_total``; the only histogram is that of the steps."""
        if self.source == "steps":
            return Kind.HISTOGRAM
        return Kind.COUNTER if self.name.endswith("_total") else Kind.GAUGE

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of its labels."""
        return self.own_labels or LABELS.get(self.rows, ())

    @property
    def digits(self) -> int:
        """The source counts in 10^-digits of the unit."""
        if self.source.endswith("_ppm"):
            return _PPM_DIGITS
        return _PS_DIGITS if self.source.endswith("_ps") and self.unit.startswith("seconds") else 0


Row = tuple[str, str, str, str]
"""(name, unit, source, help) of a metric."""


def make_metrics(
    prefix: str,
    table: tuple[Row, ...],
    rows: Rows,
    services: tuple[Service, ...],
    labels: tuple[str, ...] = (),
) -> tuple[Metric, ...]:
    """The metrics of a table, whose names all begin alike and which have the same series."""
    return tuple(
        Metric(f"{prefix}_{name}", unit, source, text, rows, services, labels)
        for name, unit, source, text in table
    )
