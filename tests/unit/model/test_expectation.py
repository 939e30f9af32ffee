# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.scenario import Scenario, parse_scenario

RESULT: dict[str, Any] = {
    "stopped": "idle",
    "deadlock": None,
    "fabric_time_ns": 2_000_000,
    "flows": [
        {
            "name": "s0",
            "goodput_bps": 397_500_000_000.0,
            "bytes": 1 << 20,
            "latency_ns": {"p99": 1500, "max": 1600},
        },
        {"name": "p:h0>h1", "goodput_bps": 100_000_000_000.0, "bytes": 1 << 20, "latency_ns": {"p99": 3000}},
    ],
    "ports": [{"node": "leaf0", "port": 1, "link_downed_counter": 0}, {"node": "leaf0", "port": 2}],
    "totals": {"dropped_packets": 0, "packets": 512},
    "jobs": [{"name": "ring", "iteration_ns": [100, 120], "busbw_bps": 1}],
}


def _scenario(*entries: str) -> Scenario:
    lines = "".join(f"  - {{{entry}}}\n" for entry in entries)
    return parse_scenario(
        f"""\
version: 1
name: t
fabric: {{topology: {{generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 1}}}}
workload:
  - {{kind: stream, name: s0, src: h0, dst: h1, message: 1KiB}}
  - {{kind: incast, name: p, senders: [h0], receiver: h1, message: 1KiB}}
  - {{kind: all_reduce, name: ring, ranks: all, bytes: 1KiB}}
expect:
{lines}"""
    )


def _failures(entry: str) -> list[str]:
    (expectation,) = _scenario(entry).expectations
    return expectation.failures(RESULT)


def _refused(entry: str) -> str:
    with pytest.raises(InputError) as caught:
        _scenario(entry)
    return str(caught.value)


@pytest.mark.parametrize(
    "entry",
    [
        "path: 'flows[s0].goodput_bps', min: 397Gb/s, max: 398Gb/s",
        "path: 'flows[s0].goodput_bps', min: 3.9e11",
        "path: 'flows[*].goodput_bps', min: 100Gb/s",
        "path: 'flows[p:h0>h1].latency_ns.p99', max: 3us",
        "path: 'flows[s0].latency_ns.max', max: 1.6us",
        "path: 'flows[s0].bytes', equals: 1MiB",
        "path: fabric_time_ns, equals: 2ms",
        "path: stopped, equals: idle",
        "path: deadlock, equals: null",
        "path: totals.dropped_packets, equals: 0",
        "path: 'ports[leaf0/1].link_downed_counter', max: 0",
        "path: 'jobs[ring].iteration_ns[1]', max: 120ns",
        "path: 'jobs[ring].iteration_ns[*]', min: 100ns",
    ],
)
def test_expectation_that_holds_has_no_failure(entry: str) -> None:
    assert _failures(entry) == []


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            "path: 'flows[s0].goodput_bps', min: 398Gb/s",
            ["flows[s0].goodput_bps is 397,500,000,000.0; expected at least 398,000,000,000"],
        ),
        (
            "path: 'flows[*].goodput_bps', max: 99Gb/s",
            [
                "flows[s0].goodput_bps is 397,500,000,000.0; expected at most 99,000,000,000",
                "flows[p:h0>h1].goodput_bps is 100,000,000,000.0; expected at most 99,000,000,000",
            ],
        ),
        ("path: stopped, equals: deadlock", ["stopped is 'idle'; expected 'deadlock'"]),
        ("path: stopped, min: 1", ["stopped is 'idle'; expected a number"]),
        ("path: totals.dropped_packets, equals: false", ["totals.dropped_packets is 0; expected False"]),
        (
            "path: totals.fecn_marked, equals: 0",
            ["totals.fecn_marked: the result has no 'fecn_marked' there (valid: dropped_packets, packets)"],
        ),
        (
            "path: 'ports[leaf0/3].vl15_dropped', max: 1",
            ["ports[leaf0/3].vl15_dropped: 'ports' has nothing called 'leaf0/3'"],
        ),
        (
            "path: 'jobs[ring].iteration_ns[2]', max: 1",
            ["jobs[ring].iteration_ns[2]: 'jobs[ring].iteration_ns' has nothing called '2'"],
        ),
        ("path: deadlock.since_ns, max: 1", ["deadlock.since_ns: the result has no 'since_ns' there"]),
    ],
)
def test_expectation_that_does_not_hold_says_what_is_there(entry: str, expected: list[str]) -> None:
    assert _failures(entry) == expected


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("min: 1", "expect[0].path: required key 'path' is missing"),
        ("path: stopped", "expect[0]: give 'min', 'max' or 'equals'"),
        ("path: stopped, equals: idle, max: 3", "'equals' leaves no room for 'min' and 'max'"),
        (
            "path: Stopped, equals: 1",
            "expected a place in the result such as 'flows[s0].goodput_bps', got 'Stopped'",
        ),
        ("path: 'flows[s0', equals: 1", "expected a place in the result such as"),
        ("path: __class__, equals: 1", "expected a place in the result such as"),
        ("path: '', equals: 1", "expected a place in the result such as"),
        ("path: flow, equals: 1", "unknown part of the result 'flow'; did you mean 'flows'?"),
        ("path: 'stopped[0]', equals: 1", "'stopped' is not a list: nothing in it can be chosen by '0'"),
        ("path: stopped.early, equals: 1", "'stopped' is a plain value: it has no field 'early'"),
        ("path: totals.droped_packets, equals: 0", "unknown field of totals 'droped_packets'; did you mean"),
        ("path: 'ports[leaf0/1].symbol_errors', max: 1", "did you mean 'symbol_error_counter'?"),
        ("path: 'flows[s0].latency_ns.p98', max: 1us", "unknown field of flows.latency_ns 'p98'"),
        ("path: events, max: 1000", "say which of the events: events[index], or events[*] for all"),
        ("path: 'events[link_down].kind', equals: x", "say which of the events: events[index]"),
        ("path: 'jobs[ring].iteration_ns', max: 1us", "say which of the jobs.iteration_ns:"),
        ("path: totals, max: 3", "only 'equals: null' can be expected of all of it; say what of totals:"),
        ("path: deadlock, equals: sw0", "only 'equals: null' can be expected of all of it"),
        ("path: flows.goodput_bps, min: 1", "say which of the flows: flows[name], or flows[*] for all"),
        ("path: 'flows[s1].goodput_bps', min: 1", "unknown flow 's1'; did you mean 's0'?"),
        (
            "path: 'flows[s0].goodput', min: 1",
            "unknown field of flows 'goodput'; did you mean 'goodput_bps'?",
        ),
        ("path: 'jobs[rin].busbw_bps', min: 1", "unknown job 'rin'; did you mean 'ring'?"),
        ("path: 'ports[leaf0].state', equals: 1", "expected a port such as 'leaf0/1', got 'leaf0'"),
        ("path: 'ports[leaf9/1].state', equals: 1", "unknown node 'leaf9'"),
        ("path: 'flows[s0].goodput_bps', min: 3us", "expected a rate such as"),
        ("path: 'flows[s0].latency_ns.p99', max: 3Gb/s", "expected a time such as"),
        ("path: totals.packets, min: many", "expected a number for 'packets', got 'many'"),
        ("path: totals.packets, min: [1]", "expected a number for 'packets', got a list"),
    ],
)
def test_expectation_that_is_wrong_is_refused(entry: str, expected: str) -> None:
    message = _refused(entry)
    assert expected in message
    assert "expect[0]" in message
