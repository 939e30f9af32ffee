# SPDX-License-Identifier: Apache-2.0
"""The verbs of a live twin, on one twin that goes on from test to test."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from urllib.request import urlopen

import pytest

from integration.machine import PROGRAM, WITHIN_S, Machine, machine
from integration.patience import PATIENCE_S, wait_until
from integration.terminal import run_on_terminal


@pytest.fixture(scope="module")
def place() -> Iterator[Machine]:
    with machine() as place:
        place.do("up", place.scenario("live"))
        yield place
        place.do("down")
        assert place.leftovers() == []


def _clock_us(text: str) -> float:
    match = re.search(r"at ([0-9.,]+) ms", text)
    assert match is not None, text
    return float(match[1].replace(",", "")) * 1000


def test_status_shows_every_service_and_where_it_answers(place: Machine) -> None:
    wait_until(lambda: place.run("status").returncode == 0)
    status = place.status()
    assert status["schema"] == "fabrictwin.status/1"
    assert status["twin"] == "live"
    assert {service["shard"] for service in status["services"]} >= {"switch0", "hca0", "cc"}
    for service in status["services"]:
        with urlopen(f"http://{service['metrics_address']}/metrics", timeout=PATIENCE_S) as page:
            assert b"fabrictwin_" in page.read()
    table = place.run("status").stdout
    assert "live: " in table
    assert "serving" in table
    assert "switch_node" in table


def test_step_of_a_paused_twin_goes_exactly_so_far(place: Machine) -> None:
    paused_us = _clock_us(place.do("pause"))
    stepped = place.do("step", "5us")
    assert stepped.startswith("paused at")
    assert _clock_us(stepped) == pytest.approx(paused_us + 5, abs=1e-6)
    assert place.status()["state"] == "paused"


def test_step_of_a_twin_that_runs_is_refused(place: Machine) -> None:
    place.do("resume")
    run = place.run("step", "5us")
    assert run.returncode == 2
    assert "pause first" in run.stderr


def test_pace_holds_fabric_time_back_until_it_is_lifted(place: Machine) -> None:
    place.do("pause")
    before_ps, since_s = place.status()["fabric_time_ps"], time.monotonic()
    assert place.do("resume", "--pace", "10us").startswith("running at")
    assert "paced to 10 us a second" in place.do("status")
    place.do("wait", "--until", f"{before_ps // 1000 + 5000}ns")
    paused_us = _clock_us(place.do("pause"))
    assert paused_us - before_ps / 1e6 <= 10 * (time.monotonic() - since_s)
    place.do("resume", "--pace", "0s")
    assert place.status()["pace"] == 0


def test_pace_that_is_no_time_is_refused(place: Machine) -> None:
    run = place.run("resume", "--pace", "fast")
    assert run.returncode == 2
    assert run.stderr.startswith("error: --pace: expected a time")


def test_wait_returns_behind_the_fabric_time(place: Machine) -> None:
    place.do("resume")
    now_ps = place.status()["fabric_time_ps"]
    until_us = now_ps // 1_000_000 + 20
    assert _clock_us(place.do("wait", "--until", f"{until_us}us")) >= until_us


def test_wait_beyond_its_timeout_exits_1(place: Machine) -> None:
    run = place.run("wait", "--until", "9s", "--timeout", "0.5")
    assert run.returncode == 1
    assert "not there yet" in run.stdout


def test_result_of_a_paused_twin_is_that_of_a_simulation_up_to_there(place: Machine) -> None:
    place.do("pause")
    live = place.ask("result")
    simulated = place.ask("simulate", place.scenario("live"), "--until", f"{live['fabric_time_ns']}ns")
    assert live["digest"] == simulated["digest"]
    summary = place.do("result")
    assert "live (seed 5)" in summary
    assert "busiest ports" in summary
    assert live["digest"] in summary


def test_result_of_a_twin_that_runs_is_refused(place: Machine) -> None:
    place.do("resume")
    run = place.run("result")
    assert run.returncode == 2
    assert "pause it first" in run.stderr


def test_fault_with_wrong_values_shows_all_problems_and_injects_nothing(place: Machine) -> None:
    before = [fault["id"] for fault in place.ask("fault", "list")["faults"]]
    run = place.run("fault", "inject", "link_flap", "--link", "leaf0/3", "--down", "1mss", "--count", "0")
    assert run.returncode == 2
    assert "error: --link: expected at least 2 entries, got 1" in run.stderr
    assert "error: --down: expected a time" in run.stderr
    assert "error: --up: required key 'up' is missing" in run.stderr
    assert "error: --count: expected at least 1, got 0" in run.stderr
    assert "4 errors" in run.stderr
    run = place.run("fault", "inject", "link_down", "--link", "leaf0/3,spin0/1", "--duration", "1ms")
    assert run.returncode == 2
    assert run.stderr.startswith("error: --link: unknown node 'spin0'; did you mean 'spine0'")
    assert [fault["id"] for fault in place.ask("fault", "list")["faults"]] == before


def test_workload_with_wrong_values_shows_all_problems_and_starts_nothing(place: Machine) -> None:
    before = [workload["name"] for workload in place.ask("workload", "list")["workloads"]]
    wrong = ("--receiver", "h9", "--senders", "h1,h8", "--message", "4KiB")
    run = place.run("workload", "start", "incast", *wrong)
    assert run.returncode == 2
    assert "error: --receiver: unknown HCA 'h9'" in run.stderr
    assert "error: --senders: unknown HCA 'h8'" in run.stderr
    assert [workload["name"] for workload in place.ask("workload", "list")["workloads"]] == before


def test_fault_in_the_past_is_refused_in_the_twins_own_clock(place: Machine) -> None:
    run = place.run(
        "fault", "inject", "link_down", "--link", "leaf0/3,spine0/1", "--duration", "1ms", "--at", "1ns"
    )
    assert run.returncode == 2
    assert re.match(r"error: --at: expected a fabric time from [0-9.,]+ ms on, got '1ns'", run.stderr)


def test_fault_that_does_not_exist_cannot_be_cleared(place: Machine) -> None:
    run = place.run("fault", "clear", "nothing")
    assert run.returncode == 2
    assert "'nothing'" in run.stderr


def test_fault_is_injected_listed_and_cleared(place: Machine) -> None:
    place.do("resume")
    link = ("--link", "leaf0/3,spine0/1")
    fault = place.ask("fault", "inject", "link_down", *link, "--duration", "5s", "--owner", "anna")
    assert fault["owner"] == "anna"
    assert fault["end_ps"] - fault["start_ps"] == 5 * 10**12
    place.do("wait", "--until", f"{fault['start_ps'] // 1000 + 1}ns")
    (active,) = place.ask("fault", "list", "--active")["faults"]
    assert (active["id"], active["state"]) == (fault["id"], "active")
    assert "link_down leaf0/3 - spine0/1" in place.do("fault", "list")
    assert fault["id"] in place.do("fault", "clear", fault["id"])
    (cleared,) = (each for each in place.ask("fault", "list")["faults"] if each["id"] == fault["id"])
    place.do("wait", "--until", f"{cleared['end_ps'] // 1000 + 1}ns")
    assert place.ask("fault", "list", "--active")["faults"] == []


def test_fault_may_begin_later_under_a_name_and_be_called_off(place: Machine) -> None:
    place.do("resume")
    cable = ("--link", "leaf1/3,spine0/2", "--duration", "1ms")
    early = place.run("fault", "inject", "link_down", *cable, "--at", "1ns")
    assert early.returncode == 2
    assert early.stderr.startswith("error: --at: ")
    assert place.do("fault", "inject", "link_down", *cable, "--at", "5s", "--name", "later").startswith(
        "later "
    )
    again = place.run("fault", "inject", "link_down", *cable, "--name", "later")
    assert again.returncode == 2
    assert again.stderr.startswith("error: --name: ")
    assert place.do("fault", "clear", "later").startswith("later will not begin")
    assert place.ask("fault", "list", "--active")["faults"] == []


def test_workload_is_started_and_stopped(place: Machine) -> None:
    place.do("resume")
    added = place.ask(
        "workload", "start", "stream", "--src", "h0", "--dst", "h3", "--message", "4KiB", "--count", "forever"
    )
    assert added["flows"] == 1
    assert added["name"] in place.do("workload", "list")
    place.do("wait", "--until", f"{added['start_ps'] // 1000 + 20_000}ns")
    assert added["name"] in place.do("workload", "stop", added["name"])
    place.do("pause")
    result = place.ask("result")
    (flow,) = (flow for flow in result["flows"] if flow["name"] == added["name"])
    assert flow["bytes"] > 0


def test_what_people_did_is_replayed_to_the_same_digest(place: Machine) -> None:
    scenario, log = place.scenario("live"), place.folder / "commands"
    place.do("resume")
    place.do("fault", "inject", "slow_receiver", "--node", "h1", "--rate", "10Gb/s", "--duration", "100us")
    place.do(
        "workload", "start", "stream", "--src", "h2", "--dst", "h0", "--message", "64KiB", "--count", "3"
    )
    place.do("wait", "--until", f"{place.ask('status')['fabric_time_ps'] // 1000 + 200_000}ns")
    place.do("pause")
    live = place.ask("result", "--commands", log)
    until = f"{live['fabric_time_ns']}ns"
    assert live["digest"] != place.ask("simulate", scenario, "--until", until)["digest"]
    assert live["digest"] == place.ask("simulate", scenario, "--commands", log, "--until", until)["digest"]


def test_watch_in_a_pipe_writes_lines_and_leaves_the_twin_alone(place: Machine) -> None:
    place.do("resume")
    watching = place.start("watch")
    assert watching.stdout is not None
    lines = [watching.stdout.readline() for _ in range(4)]
    watching.send_signal(signal.SIGINT)
    assert watching.wait(WITHIN_S) == 0
    assert all(" ms running" in line for line in lines)
    assert "throughput" in lines[-1]
    assert place.status()["state"] == "running"


@pytest.mark.parametrize("key", [b"q", b"\x03"], ids=["q", "Ctrl-C"])
def test_watch_on_a_terminal_is_left_by_a_key_and_leaves_the_twin_alone(place: Machine, key: bytes) -> None:
    place.do("resume")
    session = run_on_terminal([PROGRAM, "watch"], place.environment, until="goodput", keys=key)
    assert session.returncode == 0
    assert "RUNNING" in session.shown
    assert "q leaves; the twin goes on" in session.shown
    # The screen from before is back, and the cursor.
    assert session.shown.rindex("\x1b[?1049l") > session.shown.rindex("\x1b[?1049h")
    assert session.shown.rindex("\x1b[?25h") > session.shown.rindex("\x1b[?25l")
    assert place.status()["state"] == "running"


def test_wait_on_a_terminal_shows_how_far_it_is(place: Machine) -> None:
    place.do("resume")
    command = [PROGRAM, "wait", "--until", "9s"]
    session = run_on_terminal(command, place.environment, until="of 9,000.000000 ms", keys=b"\x03")
    assert session.returncode == 130
    assert "waiting" in session.shown


def test_second_twin_of_the_same_name_is_refused(place: Machine) -> None:
    before = place.processes()
    run = place.run("up", place.scenario("live"))
    assert run.returncode == 2
    assert "a twin 'live' runs already" in run.stderr
    assert place.processes() == before


def test_twin_answers_at_the_address_of_its_director(place: Machine) -> None:
    status = place.do("up", place.scenario("other"))
    match = re.search(r"director +(\S+)", status)
    assert match is not None
    try:
        assert place.status("--director", match[1])["twin"] == "other"
        run = place.run("status")
        assert run.returncode == 2
        assert "there are 2 twins, say which one: live, other" in run.stderr
        assert place.status("--twin", "live")["twin"] == "live"
    finally:
        place.do("down", "--twin", "other")
    assert place.status()["twin"] == "live"


def test_service_that_does_not_answer_is_shown(place: Machine) -> None:
    (frozen,) = (service for service in place.status()["services"] if service["shard"] == "cc")
    os.kill(frozen["pid"], signal.SIGSTOP)
    try:
        place.wait_for_health("cc", "unreachable")
        run = place.run("status")
    finally:
        os.kill(frozen["pid"], signal.SIGCONT)
    assert run.returncode == 1
    assert "unreachable" in run.stdout
    place.wait_for_health("cc", "serving")
