# SPDX-License-Identifier: Apache-2.0
"""Runs a scenario in the oracle and in the engine, and finds the first event that differs."""

from __future__ import annotations

from fabrictwin.model.scenario import Scenario
from fabrictwin.subnet.routes import Routes
from reference.case import Case


def case_of(scenario: Scenario, routes: Routes) -> Case:
    """The case that a scenario describes, with the forwarding tables that its routing engine made."""
    fabric = scenario.fabric
    tables = dict(zip(fabric.switches, routes.lft.tolist(), strict=True))
    return Case(
        fabric=fabric,
        switches={node: scenario.switch_models[fabric.nodes[node].model] for node in fabric.switches},
        hcas={node: scenario.hca_models[fabric.nodes[node].model] for node in fabric.hcas},
        mtu_bytes=scenario.mtu_bytes,
        jobs=scenario.jobs,
        lft={node: dict(enumerate(table)) for node, table in tables.items()},
        lids={end: lid for end, lid in routes.lid_of.items() if end.port > 0},
        actions=scenario.actions,
        seed=scenario.seed,
        qos=scenario.qos,
        congestion_control=scenario.congestion_control,
    )
