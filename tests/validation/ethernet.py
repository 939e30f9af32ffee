# SPDX-License-Identifier: Apache-2.0
"""RoCE fabrics to measure on, and how to read their priorities, buffers and rates."""

from __future__ import annotations

import json
from typing import Any

from fabrictwin.engine.simulation import Simulation
from fabrictwin.engine.state import Records, State
from fabrictwin.model.scenario import Scenario, parse_scenario
from validation.setups import Keys, port_index

HEADERS_BYTES = 82
"""Preamble 8, Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4, gap 12."""
GAP_BYTES = 20
PRIORITY = 3


def wire_bytes(payload_bytes: int) -> int:
    """Bytes on the wire of a packet with a payload."""
    return -(-payload_bytes // 4) * 4 + HEADERS_BYTES


def build_roce(
    topology: Keys,
    workload: list[Keys],
    *,
    switch: Keys | None = None,
    hca: Keys | None = None,
    rate: str = "400Gb/s",
    length: str = "10m",
    mtu: int = 4096,
    **sections: Any,
) -> Scenario:
    """A RoCE scenario, through the same door as a file; no ECN and no congestion control but those given."""
    text = {
        "version": 1,
        "name": "validation",
        "fabric": {
            "technology": "roce",
            "topology": topology,
            "switch_model": {"base": "spectrum4", "ecn": "none"} | (switch or {}),
            "hca_model": {"base": "connectx8_roce"} | (hca or {}),
            "link": {"rate": rate, "length": length},
            "mtu": mtu,
        },
        "qos": {"lossless_priorities": [PRIORITY]},
        "workload": workload,
    }
    return parse_scenario(json.dumps(text | sections, indent=1))


def state_of(simulation: Simulation) -> State:
    """The arrays of a simulation in one shard."""
    (state,) = (state for _, state in simulation.readout().states)
    assert isinstance(state, State)
    return state


def lane(simulation: Simulation, port: str, priority: int = PRIORITY) -> int:
    """Row of a priority of ``node/number``."""
    return priority * simulation.plan.ports.total + port_index(simulation, port)


def priority_group(simulation: Simulation, port: str, priority: int = PRIORITY) -> Records:
    """LANE of a priority of ``node/number``."""
    return state_of(simulation).lane[lane(simulation, port, priority)]
