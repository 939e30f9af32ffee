# SPDX-License-Identifier: Apache-2.0
"""The kernels' source, run by the Python interpreter, gives the digest of the compiled kernels.

What the compiler may not do (wrap an integer, reorder a sum, read beside an array) would show here.
"""

from __future__ import annotations

import os
import subprocess
import sys

SCENARIO = """
version: 1
name: interpreted
seed: 3
duration: 12us
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 1}
  switch_model: {base: quantum2, buffer_per_vl: 16KiB, llr: false}
  hca_model: {base: connectx7, llr: false}
routing: {engine: up_down}
congestion_control: {algorithm: ib_cca}
workload:
  - {kind: incast, senders: [h1, h2, h3], receiver: h0, message: 32KiB, count: forever}
  - {kind: all_reduce, algorithm: ring, ranks: all, bytes: 64KiB}
faults:
  - {kind: symbol_errors, link: [leaf1/3, spine0/2], at: 2us, duration: 3us, probability: 0.05}
  - {kind: link_down, link: [leaf0/1, h0/1], at: 8us, duration: 1us}
  - {kind: receiver_not_ready, node: h2, at: 4us, duration: 2us}
"""
PROGRAM = """
import sys
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.runtime.offline import open_simulation
simulation = open_simulation(parse_scenario(sys.stdin.read()))
simulation.run()
result = simulation.result()
print(result["packet_hops"], result["digest"])
"""


def _run(**environment: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    done = subprocess.run(
        command, input=SCENARIO, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_interpreted_kernels_give_the_digest_of_the_compiled_ones() -> None:
    interpreted = _run(NUMBA_DISABLE_JIT="1")
    assert int(interpreted.split()[0]) > 100
    assert interpreted == _run()
