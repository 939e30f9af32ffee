# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.runtime.offline import open_simulation
from fabrictwin.study.outcome import run_scenario, thin_out
from unit.study.study_scenarios import source_of

INCAST = """\
version: 1
name: incast
fabric:
  technology: {technology}
  topology: {{generator: single_switch, hosts: 4}}
  {parts}
workload:
  - {{kind: incast, name: burst, senders: [h1, h2, h3], receiver: h0, message: 256KiB}}
  - {{kind: stream, name: late, src: h1, dst: h2, message: 64KiB, start: 1ms}}
"""
PARTS = {
    "infiniband": "switch_model: quantum2",
    "roce": "switch_model: {base: spectrum4, shared_buffer: 2MB, alpha: 1/64}",
}


@pytest.mark.parametrize("technology", PARTS)
def test_outcome_counts_what_held_the_links_back(technology: str) -> None:
    scenario = source_of(INCAST.format(technology=technology, parts=PARTS[technology])).expand()
    row = run_scenario(scenario).row
    assert row["held_back"]["worst_port"] in ("h1/1", "h2/1", "h3/1")
    assert 0 < row["held_back"]["mean"] < row["held_back"]["max"] < 1
    assert (row["pfc_paused_ns"] > 0) == (technology == "roce")
    assert (row["xmit_wait_ns"] > 0) == (technology == "infiniband")


def test_outcome_of_a_job_is_done_when_its_last_message_is() -> None:
    scenario = source_of(INCAST.format(technology="infiniband", parts=PARTS["infiniband"])).expand()
    whole, cut = run_scenario(scenario), run_scenario(scenario, 500_000_000)
    assert [job["completion_ns"] is not None for job in whole.row["jobs"]] == [True, True]
    assert [job["completion_ns"] is not None for job in cut.row["jobs"]] == [True, False]
    assert whole.delivered_bytes[-1] == 3 * 256 * 1024 + 64 * 1024
    assert whole.row["goodput_bps"]["slowest_flow"].startswith("burst:")


def test_pause_of_a_port_in_the_result_is_that_of_the_time_series() -> None:
    simulation = open_simulation(source_of(INCAST.format(technology="roce", parts=PARTS["roce"])).expand())
    simulation.run()
    paused_ns = [port["pfc_paused_ns"] for port in simulation.result()["ports"]]
    assert sum(paused_ns) > 0
    assert paused_ns == (simulation.samples.xmit_wait_ps[-1] // 1000).tolist()


def test_thin_out_keeps_both_ends() -> None:
    thinned = thin_out(np.arange(1000), 10)
    assert len(thinned) == 10
    assert (thinned[0], thinned[-1]) == (0, 999)
