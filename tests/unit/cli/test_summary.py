# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from io import StringIO
from typing import Any

from rich.console import Console

from fabrictwin.cli.summary import print_summary


def _printed(console: Console, result: dict[str, Any]) -> str:
    print_summary(console, result)
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def test_summary_shows_scenario_work_events_and_digest(console: Console, result: dict[str, Any]) -> None:
    text = _printed(console, result)
    assert "example (seed 7): 8 switches, 16 HCAs, 32 links, infiniband" in text
    assert "12,000,000 packet-hops (9.60 M/s)" in text
    assert "link_down leaf0/6 peer=spine1/1" in text
    assert text.endswith(f"digest {'cd' * 32}\n")


def test_summary_flows_are_cut_to_twenty_with_a_total_of_all(
    console: Console, result: dict[str, Any]
) -> None:
    text = _printed(console, result)
    assert "the 20 slowest of 32 flows" in text
    assert "all 32" in text
    assert (
        sum(line.split()[:1] in (["perm"], ["ring"]) and "Gb/s" in line for line in text.splitlines()) == 20
    )


def test_summary_totals_leave_out_what_did_not_happen(console: Console, result: dict[str, Any]) -> None:
    totals = next(line for line in _printed(console, result).splitlines() if line.startswith("totals"))
    assert "dropped packets 12" in totals
    assert "fecn" not in totals


def test_summary_of_the_first_run_keeps_compiling_apart_from_running(
    console: Console, result: dict[str, Any]
) -> None:
    text = _printed(console, result | {"wall_s": 31.25, "startup_s": 30.0})
    assert "compiled the kernels in 30 s" in text
    assert "simulated 2 ms in 1.25 s" in text


def test_summary_deadlock_names_the_closed_cycle(console: Console, result: dict[str, Any]) -> None:
    result["deadlock"] = {"cycle": ["sw0/2 vl0", "sw1/2 vl0"]}
    assert "sw0/2 vl0 -> sw1/2 vl0 -> sw0/2 vl0" in _printed(console, result)


def test_summary_without_deadlock_does_not_speak_of_one(console: Console, result: dict[str, Any]) -> None:
    assert "DEADLOCK" not in _printed(console, result)


def test_summary_in_a_pipe_has_no_control_characters(console: Console, result: dict[str, Any]) -> None:
    result["flows"][0]["name"] = "\x1b[2J"
    result["scenario"]["name"] = "\x1b]0;title\x07"
    result["events"][0]["peer"] = "\x1b[31m"
    text = _printed(console, result)
    assert all(character.isprintable() or character == "\n" for character in text)


def test_summary_of_a_run_in_which_nothing_moved_is_short(console: Console, result: dict[str, Any]) -> None:
    for port in result["ports"]:
        port["port_xmit_data"] = 0
    nothing = {
        "flows": [],
        "jobs": [],
        "events": [],
        "packet_hops": 0,
        "totals": {"packets": 0},
        "wall_s": 0.25,
    }
    text = _printed(console, result | nothing)
    assert "totals: nothing moved" in text
    assert len(text.splitlines()) == 5


def test_summary_of_a_live_twin_has_no_wall_times(console: Console, result: dict[str, Any]) -> None:
    for name in ("wall_s", "startup_s", "peak_rss_bytes"):
        del result[name]
    result["stopped"] = "paused"
    text = _printed(console, result)
    assert "of fabric time, paused: 12,000,000 packet-hops, " in text
    assert "simulated" not in text


def test_summary_of_roce_shows_how_long_ports_were_paused(console: Console, result: dict[str, Any]) -> None:
    result["fabric"]["technology"] = "roce"
    for port in result["ports"]:
        port |= {"port_xmit_wait": 0, "pfc_paused_ns": result["fabric_time_ns"] // 4}
    text = _printed(console, result)
    assert "paused by PFC" in text
    assert "waited for credits" not in text
    assert "25.0%" in text
