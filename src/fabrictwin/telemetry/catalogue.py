# SPDX-License-Identifier: Apache-2.0
"""Every metric of a twin, a row each. ``docs/metrics.md`` is written from it; so are the exporters' answers.

IBTA counters carry the names, labels and units of infiniband_exporter, so that what was written for a real
fabric works on a twin. Counters never wrap or saturate. There are no timestamps: a value is of the moment of
the scrape, and ``fabrictwin_fabric_seconds_total`` of the same scrape says which fabric time that was.
"""

from __future__ import annotations

from fabrictwin.telemetry.device_metrics import DEVICE_METRICS
from fabrictwin.telemetry.ethernet_metrics import ETHERNET_METRICS
from fabrictwin.telemetry.metric import Metric, Row, Rows, Service, make_metrics

MOST_FLOWS = 1000
"""Flows that have series of their own, the first of the scenario; the others count only at their HCAs."""

_EVERY = tuple(Service)
_SWITCH = (Service.SWITCH_NODE,)
_HCA = (Service.HCA_ENDPOINT,)
_FABRIC = (Service.SWITCH_NODE, Service.HCA_ENDPOINT)
_STEPPED = tuple(service for service in Service if service is not Service.DIRECTOR)

_SECONDS = "seconds of fabric time"
_NEVER = "Always 0: a simulated fabric has no {}."

_IBTA: tuple[Row, ...] = (
    # the name goes behind infiniband_<side>_port_
    ("transmit_data_bytes_total", "bytes", "port_xmit_data", "PortXmitData, in bytes."),
    ("receive_data_bytes_total", "bytes", "port_rcv_data", "PortRcvData, in bytes."),
    ("transmit_packets_total", "packets", "port_xmit_pkts", "PortXmitPkts."),
    ("receive_packets_total", "packets", "port_rcv_pkts", "PortRcvPkts."),
    ("unicast_transmit_packets_total", "packets", "port_xmit_pkts", "PortUnicastXmitPkts: every packet."),
    ("unicast_receive_packets_total", "packets", "port_rcv_pkts", "PortUnicastRcvPkts: every packet."),
    ("multicast_transmit_packets_total", "packets", "zero", _NEVER.format("multicast")),
    ("multicast_receive_packets_total", "packets", "zero", _NEVER.format("multicast")),
    ("symbol_error_total", "errors", "symbol_error_counter", "SymbolErrorCounter."),
    ("link_error_recovery_total", "recoveries", "zero", _NEVER.format("link error recovery")),
    ("link_downed_total", "failures", "link_downed_counter", "LinkDownedCounter."),
    ("receive_errors_total", "packets", "port_rcv_errors", "PortRcvErrors."),
    (
        "receive_remote_physical_errors_total",
        "packets",
        "zero",
        _NEVER.format("packet marked bad on its way"),
    ),
    (
        "receive_switch_relay_errors_total",
        "packets",
        "port_rcv_switch_relay_errors",
        "PortRcvSwitchRelayErrors.",
    ),
    ("transmit_discards_total", "packets", "port_xmit_discards", "PortXmitDiscards."),
    ("transmit_constraint_errors_total", "packets", "zero", _NEVER.format("partition enforcement")),
    ("receive_constraint_errors_total", "packets", "zero", _NEVER.format("partition enforcement")),
    (
        "local_link_integrity_errors_total",
        "errors",
        "local_link_integrity_errors",
        "LocalLinkIntegrityErrors.",
    ),
    ("excessive_buffer_overrun_errors_total", "errors", "zero", _NEVER.format("buffer overrun")),
    ("vl15_dropped_total", "packets", "vl15_dropped", "VL15Dropped."),
    (
        "transmit_wait_total",
        "ticks of 1 ps",
        "xmit_wait_ps",
        "PortXmitWait: ticks of 1 ps of fabric time in which the port had data to send and no credits.",
    ),
    ("qp1_dropped_total", "packets", "zero", _NEVER.format("general services on queue pair 1")),
)

_PORT: tuple[Row, ...] = (
    ("up", "1", "port_up", "1: its link is active."),
    ("rate_bytes_per_second", "bytes per second of fabric time", "port_rate", "Data rate of its link now."),
    (
        "enabled_rate_bytes_per_second",
        "bytes per second of fabric time",
        "enabled_rate",
        "Data rate that its link was cabled for; more than the rate now: the link is degraded.",
    ),
)

_INFINIBAND_PORT: tuple[Row, ...] = (
    ("fecn_marked_packets_total", "packets", "port_mark_fecn", "Packets that it has marked (FECN)."),
    ("fecn_received_packets_total", "packets", "port_pkt_rcv_fecn", "PortPktRcvFECN: received with a FECN."),
    ("becn_received_packets_total", "packets", "port_pkt_rcv_becn", "PortPktRcvBECN: received with a BECN."),
    (
        "flow_control_packets_total",
        "packets",
        "flow_control_packets",
        "Flow-control packets sent.",
    ),
)

_PORT_VL: tuple[Row, ...] = (
    (
        "queued_bytes",
        "bytes",
        "queued_bytes",
        "Packets in a switch that wait for this output and VL, in credit blocks; on RoCE "
        "their frames, and the VL is the priority. 0 at an HCA.",
    ),
    (
        "blocked_seconds",
        _SECONDS,
        "blocked_ps",
        "How long its next packet has waited for credits, or on RoCE for the end of a pause; 0: none waits.",
    ),
)

_INFINIBAND_VL: tuple[Row, ...] = (
    ("credit_bytes", "bytes", "credit_bytes", "What it may send before it has to wait for credits."),
)

_TRANSPORT: tuple[Row, ...] = (
    ("messages_posted_total", "messages", "posted", "Messages posted on its queue pairs."),
    ("messages_completed_total", "messages", "completed", "Messages acknowledged to the end."),
    ("messages_failed_total", "messages", "failed", "Messages given up: retries exhausted."),
    ("messages_received_total", "messages", "received", "Messages received to the end."),
    ("received_payload_bytes_total", "bytes", "received_bytes", "Payload received in order."),
    (
        "retransmitted_packets_total",
        "packets",
        "retransmitted",
        "Packets sent again.",
    ),
    (
        "rate_limited_seconds_total",
        _SECONDS,
        "limited_ps",
        "Injection-rate delay put between packets by congestion control, summed over queue pairs.",
    ),
    (
        "queue_pairs_throttled",
        "queue pairs",
        "throttled",
        "Queue pairs whose CCTI is above the least; on RoCE those that are held below the link's rate.",
    ),
)

_CCTI: tuple[Row, ...] = (
    ("ccti_max", "index", "ccti_max", "Greatest index into the congestion control table of its queue pairs."),
)

_FLOW: tuple[Row, ...] = (
    ("received_bytes_total", "bytes", "flow_received_bytes", "Payload that a flow has delivered in order."),
    ("received_messages_total", "messages", "flow_received_messages", "Messages that a flow has delivered."),
)

_HCA_SERVICE: tuple[Row, ...] = (
    ("flows", "flows", "flows", f"Flows of the twin; the first {MOST_FLOWS} have series of their own."),
    ("messages_outstanding", "messages", "outstanding", "Messages neither acknowledged nor failed."),
)

_ENGINE: tuple[Row, ...] = (
    ("packet_hops_total", "packets", "packet_hops", "Packets over links, acknowledgements included."),
    ("engine_events_total", "events", "engine_events", "Events that the engine has handled."),
)

_HEALTH: tuple[Row, ...] = (
    ("twin_up", "1", "up", "1: the twin is loaded here and has not failed."),
    (
        "fabric_seconds_total",
        _SECONDS,
        "fabric_seconds",
        "Fabric time reached. A rate divided by its rate is per second of fabric time.",
    ),
    (
        "fabric_wall_ratio",
        "1",
        "speed",
        "Fabric time per wall time, over the last second or more before the scrape.",
    ),
    ("step_seconds", "seconds", "steps", "Wall time that a step computes, without waiting."),
    ("last_step_timestamp_seconds", "seconds since 1970", "stepped_at_s", "Wall time of the last step."),
    (
        "checkpoint_timestamp_seconds",
        "seconds since 1970",
        "checkpoint_at_s",
        "Wall time of the last checkpoint; its age is time() minus this.",
    ),
    ("checkpoint_fabric_seconds", _SECONDS, "checkpoint_seconds", "Fabric time of the last checkpoint."),
)

_PHASE: tuple[Row, ...] = (
    (
        "phase_seconds_total",
        "seconds",
        "phases",
        "Wall time of the stepping thread: in compiled code (simulate), in what is around it (talk), in the "
        "client of the bus (bus), asleep until others have something to say (wait).",
    ),
)

_CHANNEL: tuple[Row, ...] = (
    (
        "promise_lag_seconds",
        _SECONDS,
        "promise_lags",
        "How far the promise of an incoming channel trails the furthest one but the director's.",
    ),
    ("promise_wait_seconds_total", "seconds", "waits", "Wall time waited while this promise was the least."),
    ("bus_received_entries_total", "entries", "received_entries", "Entries read from a channel."),
    ("bus_received_bytes_total", "bytes", "received_bytes", "Bytes read from a channel."),
    ("bus_sent_entries_total", "entries", "sent_entries", "Entries written to a channel."),
    ("bus_sent_bytes_total", "bytes", "sent_bytes", "Bytes written to a channel."),
)


def _names(side: str, device: Rows, named: Rows, uplink: Rows) -> tuple[Metric, ...]:
    services = _SWITCH if side == "switch" else _HCA
    rate = (("rate_bytes_per_second", "bytes per second", "device_rate", "Rate of its fastest cabled port."),)
    info = (("info", "1", "one", "Name and LID of a GUID."),)
    cables = (("uplink_info", "1", "one", "What is at the other end of a cable."),)
    prefix = f"infiniband_{side}"
    return (
        *make_metrics(prefix, rate, device, services),
        *make_metrics(prefix, info, named, services),
        *make_metrics(prefix, cables, uplink, services),
    )


def _value(name: str, unit: str, text: str, service: Service, labels: tuple[str, ...] = ()) -> Metric:
    """A metric that a service counts or sets by name."""
    return Metric(f"fabrictwin_{name}", unit, "values", text, Rows.HEALTH, (service,), labels)


CATALOGUE: tuple[Metric, ...] = (
    *make_metrics("infiniband_switch_port", _IBTA, Rows.SWITCH_PORT, _SWITCH),
    *_names("switch", Rows.SWITCH, Rows.SWITCH_NAMES, Rows.SWITCH_UPLINK),
    *make_metrics("infiniband_hca_port", _IBTA, Rows.HCA_PORT, _HCA),
    *_names("hca", Rows.HCA, Rows.HCA_NAMES, Rows.HCA_UPLINK),
    Metric("fabrictwin_port_info", "1", "one", "Names of a port and its peer.", Rows.PORT_NAMES, _FABRIC),
    *make_metrics("fabrictwin_port", _PORT, Rows.PORT, _FABRIC),
    *make_metrics("fabrictwin_port", _INFINIBAND_PORT, Rows.INFINIBAND_PORT, _FABRIC),
    *make_metrics("fabrictwin_port_vl", _PORT_VL, Rows.PORT_VL, _FABRIC),
    *make_metrics("fabrictwin_port_vl", _INFINIBAND_VL, Rows.INFINIBAND_VL, _FABRIC),
    *ETHERNET_METRICS,
    *DEVICE_METRICS,
    *make_metrics("fabrictwin_hca", _TRANSPORT, Rows.HCA_PORT, _HCA),
    *make_metrics("fabrictwin_hca", _CCTI, Rows.INFINIBAND_HCA_PORT, _HCA),
    Metric(
        "fabrictwin_hca_queue_pairs",
        "queue pairs",
        "qp_states",
        "Queue pairs by what their requester does.",
        Rows.HCA_QP_STATE,
        _HCA,
    ),
    *make_metrics("fabrictwin_flow", _FLOW, Rows.FLOW_RECEIVED, _HCA),
    Metric(
        "fabrictwin_flow_retransmitted_packets_total",
        "packets",
        "flow_retransmitted",
        "Packets that a flow has sent again.",
        Rows.FLOW_SENT,
        _HCA,
    ),
    Metric(
        "fabrictwin_workload_iterations_total",
        "iterations",
        "iterations",
        "Iterations that every rank of this shard has ended; the least over the shards counts.",
        Rows.WORKLOAD,
        _HCA,
    ),
    *make_metrics("fabrictwin", _HCA_SERVICE, Rows.SERVICE, _HCA),
    *make_metrics("fabrictwin", _ENGINE, Rows.SERVICE, _FABRIC),
    Metric(
        "fabrictwin_fabric_events_total",
        "events",
        "events",
        "Entries of the event log about links, queue pairs and tables.",
        Rows.EVENT,
        _FABRIC,
    ),
    Metric(
        "fabrictwin_build_info",
        "1",
        "names",
        "What runs here.",
        Rows.HEALTH,
        _EVERY,
        ("version", "twin", "service", "shard", "scenario"),
    ),
    *make_metrics("fabrictwin", _HEALTH, Rows.HEALTH, _EVERY),
    *make_metrics("fabrictwin", _PHASE, Rows.HEALTH, _STEPPED, ("phase",)),
    *make_metrics("fabrictwin", _CHANNEL, Rows.HEALTH, _EVERY, ("peer",)),
    _value("twin_state", "1", "1: the twin is in this state.", Service.DIRECTOR, ("state",)),
    _value(
        "fault_active",
        "1",
        "1: the fault has been injected and not cleared.",
        Service.DIRECTOR,
        ("fault", "kind", "target"),
    ),
    _value(
        "deadlocked_outputs",
        "outputs",
        "Outputs that wait for each other in a circle, for ever; 0: no deadlock is known.",
        Service.DIRECTOR,
    ),
    _value("commands_total", "commands", "Commands accepted.", Service.DIRECTOR, ("do",)),
    _value(
        "sm_state",
        "SMState",
        "SMInfo.SMState: 0 not active, 1 discovering, 2 standby, 3 master.",
        Service.SUBNET_MANAGER,
    ),
    _value(
        "sm_events_total",
        "events",
        "Traps, sweeps, failovers.",
        Service.SUBNET_MANAGER,
        ("kind",),
    ),
    _value(
        "sm_lft_blocks_written_total",
        "blocks",
        "Blocks of forwarding tables written to switches.",
        Service.SUBNET_MANAGER,
    ),
    _value("cc_becns_total", "notifications", "BECNs that it has handled.", Service.CONGESTION_CONTROL),
)
"""Every metric."""

METRIC_OF: dict[str, Metric] = {metric.name: metric for metric in CATALOGUE}
"""A row by its name."""
