# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from fabrictwin.cli.result_rows import (
    FLOW_NUMBERS,
    FLOW_TEXTS,
    JOB_NUMBERS,
    JOB_TEXTS,
    event_row,
    flow_name,
    flow_row,
    job_row,
    port_load,
    slowest_flows,
)


def test_flow_row_has_a_cell_for_each_column(result: dict[str, Any]) -> None:
    row = flow_row(result["flows"][0])
    assert len(row) == len(FLOW_TEXTS + FLOW_NUMBERS)
    assert row[:3] == ["perm", "h0", "h5"]
    assert row[6:9] == ["27 us", "85 us", "190 us"]


def test_flow_row_without_messages_shows_no_latency(result: dict[str, Any]) -> None:
    flow = result["flows"][0] | {"messages": 0, "latency_ns": None}
    assert flow_row(flow)[6:9] == ["-", "-", "-"]


def test_job_row_gives_bandwidth_in_bytes(result: dict[str, Any]) -> None:
    row = job_row(result["jobs"][0])
    assert len(row) == len(JOB_TEXTS + JOB_NUMBERS)
    assert row[3:] == ["825 us", "950 us", "22.50 GB/s", "42.19 GB/s"]


def test_event_row_of_a_port_names_the_port_and_all_else_that_the_event_says() -> None:
    event = {
        "fabric_ns": 1500,
        "source": "switch_node",
        "kind": "link_rate",
        "node": "leaf0",
        "port": 6,
        "value": 9,
    }
    assert event_row(event) == ["1.5 us", "link_rate leaf0/6 value=9"]
    assert event_row(event | {"kind": "link_down"}) == ["1.5 us", "link_down leaf0/6"]


def test_event_row_without_a_node_names_its_source() -> None:
    event = {"fabric_ns": 0, "source": "subnet_manager", "kind": "sweep", "text": "heavy"}
    assert event_row(event) == ["0 ps", "sweep subnet_manager: heavy"]


def test_flow_name_of_a_job_is_cut_before_its_ends() -> None:
    flow = {"name": "burst:h1>h0", "src": "h1", "dst": "h0"}
    assert flow_name(flow) == "burst: h1 → h0"


def test_slowest_flows_come_first_and_ties_go_by_name() -> None:
    flows = [{"name": name, "goodput_bps": bps} for name, bps in (("c", 1), ("a", 9), ("b", 1))]
    assert [flow["name"] for flow in slowest_flows(flows, 2)] == ["b", "c"]


def test_port_load_full_link_is_one() -> None:
    port = {"port_xmit_data": 50_000, "rate_bps": 400 * 10**9}
    assert port_load(port, 1_000) == 1.0
    assert port_load(port, 0) == 0.0
