# SPDX-License-Identifier: Apache-2.0
"""What ``redis-cli XRANGE`` shows of two microseconds is what crossed then: packet by packet, FCP by FCP."""

from __future__ import annotations

import codecs
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fabrictwin.engine.partition import split_by_kind
from fabrictwin.model.scenario import load_scenario
from fabrictwin.runtime.convert import WindowData, decode
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_NS
from integration.live_twin import live_twin

FCP_MODULUS = 4096
SCENARIO = """
version: 1
name: seen
duration: 100s
fabric: {technology: infiniband, topology: {generator: single_switch, hosts: 4}}
workload: [{kind: incast, senders: [h1, h2, h3], receiver: h0, message: 64KiB, count: forever}]
deployment: {switch_shards: 1, hca_shards: 1}
"""
CHANNEL = ("switch0", "hca0")
FROM_NS, TO_NS, END_NS = 50_000, 52_000, 60_000
"""Behind the fabric time at which the twin was paused."""
PROGRAM = Path(sys.executable).with_name("fabrictwin")


def _xrange(redis_url: str, key: str, first: str, last: str) -> list[tuple[str, WindowData]]:
    """Entries as ``redis-cli`` shows them: ID, field, value, quoted."""
    program = shutil.which("redis-cli")
    if program is None:
        pytest.skip("redis-cli is not installed (Debian: redis-tools)")
    socket = redis_url.removeprefix("unix://").partition("?")[0]
    command = [program, "-s", socket, "--no-raw", "XRANGE", key, first, last]
    shown = subprocess.run(command, capture_output=True, check=True).stdout
    quoted = re.findall(rb'"((?:[^"\\]|\\.)*)"', shown)
    texts = [codecs.escape_decode(text)[0] for text in quoted]
    assert set(texts[1::3]) <= {b"b"}
    return [(texts[at].decode(), decode(texts[at + 2])) for at in range(0, len(texts), 3)]


def _records(windows: list[WindowData], name: str) -> np.ndarray:
    return np.concatenate([window.records[name] for window in windows if name in window.records])


def test_two_microseconds_on_the_bus_are_those_of_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "seen.yaml"
    path.write_text(SCENARIO)
    scenario = load_scenario(path)
    simulation = open_simulation(scenario, partition=split_by_kind(scenario.fabric, 1, 1), trace=True)
    with live_twin(path, "seen") as twin:
        paused_ns = twin.pause() // PS_PER_NS
        from_ns, to_ns = paused_ns + FROM_NS, paused_ns + TO_NS
        twin.step(END_NS * PS_PER_NS)
        key = f"ft:{{seen}}:ch:{CHANNEL[0]}:{CHANNEL[1]}"
        earlier = _xrange(twin.state["redis"], key, "-", f"({from_ns}")
        entries = _xrange(twin.state["redis"], key, str(from_ns), str(to_ns))
        tail = [PROGRAM, "bus", "tail", ":".join(CHANNEL), "--redis", twin.state["redis"], "--twin", "seen"]
        tail += ["--from", f"{from_ns}ns", "--to", f"{to_ns}ns", "--json", "-"]
        decoded = json.loads(subprocess.run(tail, capture_output=True, check=True).stdout)["windows"]
    simulation.run((paused_ns + END_NS) * PS_PER_NS)
    packets, fcps = simulation.trace()
    windows = [window for _, window in entries]
    assert len(windows) > 2
    for name, window in entries:
        assert from_ns <= int(name.partition("-")[0]) <= to_ns
        assert window.packets_promise_ps // PS_PER_NS == int(name.partition("-")[0])
    # All cables are alike, so what a window holds are the packets whose effect is between two promises.
    first_ps, last_ps = earlier[-1][1].reached_ps, windows[-1].reached_ps
    ahead_ps = windows[0].packets_promise_ps - windows[0].reached_ps
    assert from_ns * PS_PER_NS - 2 * ahead_ps < first_ps + ahead_ps < from_ns * PS_PER_NS
    ports = simulation.plan.ports
    switch = scenario.fabric.switches[0]
    mine = np.arange(ports.first[switch], ports.first[switch] + scenario.fabric.nodes[switch].ports)
    crossed = packets[
        np.isin(packets.port, mine) & (packets.start_ps >= first_ps) & (packets.start_ps < last_ps)
    ]
    said = _records(windows, "packet")
    assert len(said) > 10
    assert sorted(zip(said["start_ps"], said["qp"], said["psn"], said["kind"], strict=True)) == sorted(
        zip(crossed.start_ps, crossed.qp, crossed.psn, crossed.kind, strict=True)
    )
    crossed_fcps = fcps[np.isin(fcps.port, mine) & (fcps.start_ps >= first_ps) & (fcps.start_ps < last_ps)]
    said_fcps = _records(windows, "fcp")
    assert len(said_fcps) > 10
    assert sorted(said_fcps["value"] % FCP_MODULUS) == sorted(crossed_fcps.fccl % FCP_MODULUS)
    flight_ps = set(np.sort(said_fcps["arrival_ps"]) - np.sort(crossed_fcps.start_ps))
    assert len(flight_ps) == 1
    assert [window["sequence"] for window in decoded] == [window.sequence for window in windows]
    assert sum(len(window["records"]) for window in decoded) == sum(window.weight for window in windows)
