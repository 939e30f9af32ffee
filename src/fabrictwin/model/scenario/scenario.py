# SPDX-License-Identifier: Apache-2.0
"""What a scenario is once it has been read, expanded and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabrictwin.errors import Problem
from fabrictwin.model.action import Action
from fabrictwin.model.congestion import CongestionControl
from fabrictwin.model.expectation import Expectation
from fabrictwin.model.fabric import Fabric
from fabrictwin.model.fault import Change, Fault
from fabrictwin.model.hardware import AnySwitchModel, HcaModel
from fabrictwin.model.program import Job
from fabrictwin.model.qos import Qos
from fabrictwin.model.routing_names import RoutingSpec
from fabrictwin.model.subnet_manager import Manager, SubnetManagerTiming


@dataclass(frozen=True, slots=True)
class Deployment:
    """How the services split a fabric; it has no effect on the result.

    Attributes:
        switch_shards: Processes for switches.
        hca_shards: Processes for HCAs.
    """

    switch_shards: int = 1
    hca_shards: int = 1


@dataclass(frozen=True)
class Scenario:
    """Everything that determines a run.

    Attributes:
        name: Name of the scenario, and of the twin that runs it.
        seed: Seed of every random choice.
        duration_ps: Fabric time at which the run stops at the latest.
        says_duration: Whether the file gives it; if not, it is only a bound for work that ends by itself.
        fabric: Nodes and links.
        switch_models: Switch models by ``Node.model``.
        hca_models: HCA models by ``Node.model``.
        mtu_bytes: Largest payload of a packet.
        routing: How the subnet is routed.
        congestion_control: What every switch and HCA is set to.
        qos: Virtual lanes and their arbitration.
        jobs: The workload, compiled.
        changes: What the faults change, each with an index into ``faults``.
        actions: The same as actions, in order of time; ``Action.fault`` is such an index too.
        faults: The scheduled faults, for reports.
        expectations: Assertions on the result.
        deployment: How the services split it.
        subnet_manager: Timing of the subnet managers.
        managers: Where they run; a manager's number everywhere else is its index here.
        sha256: Hash of the file, and of the file that it imports.
        warnings: What was odd in an imported file, and how it was taken; what is legal but unwise.
    """

    name: str
    seed: int
    duration_ps: int
    says_duration: bool
    fabric: Fabric = field(repr=False)
    switch_models: Mapping[str, AnySwitchModel]
    hca_models: Mapping[str, HcaModel]
    mtu_bytes: int
    routing: RoutingSpec
    congestion_control: CongestionControl
    qos: Qos
    jobs: tuple[Job, ...] = field(repr=False)
    changes: tuple[tuple[int, Change], ...] = field(repr=False)
    actions: tuple[Action, ...] = field(repr=False)
    faults: tuple[Fault, ...]
    expectations: tuple[Expectation, ...]
    deployment: Deployment
    subnet_manager: SubnetManagerTiming
    managers: tuple[Manager, ...]
    sha256: str
    warnings: tuple[Problem, ...] = ()

    @property
    def data_vls(self) -> int:
        """Operational data VLs."""
        return self.qos.data_vls
