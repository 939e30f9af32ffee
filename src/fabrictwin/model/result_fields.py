# SPDX-License-Identifier: Apache-2.0
"""The places of a result, ``fabrictwin.result/1``, that an expectation may be about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ResultField:
    """A place of a result.

    Attributes:
        below: What stands in it, by name; empty for a plain value.
        chosen_by: What an entry is chosen by in brackets, where the place is a list; otherwise empty.
    """

    below: Mapping[str, ResultField] = field(default_factory=dict)
    chosen_by: str = ""


_VALUE = ResultField()


def _values(*names: str) -> dict[str, ResultField]:
    return dict.fromkeys(names, _VALUE)


RESULT_FIELDS: dict[str, ResultField] = {
    **_values("schema"),
    "scenario": ResultField(_values("name", "sha256", "seed")),
    "fabric": ResultField(_values("technology", "switches", "hcas", "links")),
    **_values("fabric_time_ns", "stopped", "wall_s", "startup_s", "packet_hops", "engine_events"),
    **_values("peak_rss_bytes", "digest"),
    "flows": ResultField(
        {
            **_values("name", "src", "dst", "sl", "messages", "bytes", "first_ns", "last_ns", "goodput_bps"),
            "latency_ns": ResultField(_values("min", "mean", "p50", "p99", "max")),
            **_values("failed_messages", "retransmitted_packets", "rate_limited_ns"),
        },
        chosen_by="name",
    ),
    "ports": ResultField(
        _values(
            *("node", "port", "guid", "peer", "rate_bps", "state"),
            *("port_xmit_data", "port_xmit_pkts", "port_xmit_discards", "port_xmit_wait"),
            "pfc_paused_ns",
            *("port_rcv_data", "port_rcv_pkts", "port_rcv_errors", "port_rcv_switch_relay_errors"),
            *("symbol_error_counter", "local_link_integrity_errors", "link_downed_counter", "vl15_dropped"),
            *("port_mark_fecn", "port_pkt_rcv_fecn", "port_pkt_rcv_becn", "flow_control_packets"),
        ),
        chosen_by="node/port",
    ),
    "totals": ResultField(
        _values(
            *("packets", "bytes", "messages", "dropped_packets", "retransmitted_packets", "failed_messages"),
            *("fecn_marked", "becn_received", "flow_control_packets", "xmit_wait_ns"),
            *("ecn_marked", "cnp_sent", "cnp_received", "pfc_pause_sent", "pfc_pause_received"),
            *("pfc_paused_ns", "lossless_drops"),
        )
    ),
    "deadlock": ResultField({"cycle": ResultField(chosen_by="index"), "since_ns": _VALUE}),
    "jobs": ResultField(
        {
            **_values("name", "kind", "iterations"),
            "iteration_ns": ResultField(chosen_by="index"),
            **_values("algbw_bps", "busbw_bps"),
        },
        chosen_by="name",
    ),
    "events": ResultField(
        _values(
            *("fabric_ns", "source", "kind", "text", "node", "port", "value", "block"),
            *("flow", "queue_pair", "dlid"),
        ),
        chosen_by="index",
    ),
}
"""Every place, by name. What a run did not have (a deadlock, a port of an event) is missing or null there."""
