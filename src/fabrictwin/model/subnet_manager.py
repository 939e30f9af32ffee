# SPDX-License-Identifier: Apache-2.0
"""The subnet managers of a fabric: where they run, which of them wins, and how long they take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from fabrictwin.model.fabric import Fabric, NodeKind
from fabrictwin.model.lookup import find_hca_port, find_node, first_cabled_port
from fabrictwin.model.quantities import Endpoint, Spec, TimePs, Wanted
from fabrictwin.model.section import Section
from fabrictwin.units import PS_PER_MS, PS_PER_S, PS_PER_US, show_time

DEFAULT_TRAP_LATENCY_PS = 100 * PS_PER_US
DEFAULT_SMP_RTT_PS = 20 * PS_PER_US
DEFAULT_MAX_WIRE_SMPS = 4
DEFAULT_SWEEP_INTERVAL_PS = 10 * PS_PER_S
DEFAULT_SMINFO_POLLING_TIMEOUT_PS = 10 * PS_PER_S
DEFAULT_POLLING_RETRY_NUMBER = 4
DEFAULT_TRANSACTION_TIMEOUT_PS = 200 * PS_PER_MS
DEFAULT_TRANSACTION_RETRIES = 3
"""OpenSM's defaults (P, models.md section 1.9); the two latencies are assumptions (M)."""

HIGHEST_PRIORITY = 15
"""SMInfo.Priority has four bits (IBTA volume 1)."""
DEFAULT_PRIORITY = 0
"""OpenSM's ``sm_priority`` (P, models.md section 1.9)."""
MOST_MANAGERS = 8

Priority = Annotated[int, Field(ge=0, le=HIGHEST_PRIORITY, description="the higher one becomes master")]


class ManagerKeys(Spec):
    """Keys of an entry of ``subnet_manager.managers``."""

    node: Annotated[Endpoint, Field(description="the HCA that it runs on")]
    priority: Priority = DEFAULT_PRIORITY


class SubnetManagerKeys(Spec):
    """Keys of ``subnet_manager``."""

    managers: Annotated[
        Any,
        Wanted("a list"),
        Field(description="where subnet managers run; by default one, on the first HCA that has a cable"),
    ] = None
    trap_latency: Annotated[
        TimePs, Field(gt=0, description="from a link's change to the beginning of the sweep that it causes")
    ] = DEFAULT_TRAP_LATENCY_PS
    smp_rtt: Annotated[TimePs, Field(gt=1, description="round trip of one management packet")] = (
        DEFAULT_SMP_RTT_PS
    )
    max_wire_smps: Annotated[
        int, Field(ge=1, le=1024, description="management packets under way at a time")
    ] = DEFAULT_MAX_WIRE_SMPS
    sweep_interval: Annotated[TimePs, Field(ge=PS_PER_MS, description="time between two light sweeps")] = (
        DEFAULT_SWEEP_INTERVAL_PS
    )
    sminfo_polling_timeout: Annotated[
        TimePs, Field(ge=PS_PER_MS, description="time between two polls of the master by a standby")
    ] = DEFAULT_SMINFO_POLLING_TIMEOUT_PS
    polling_retry_number: Annotated[
        int, Field(ge=0, le=1000, description="a standby takes over when more polls than this had no answer")
    ] = DEFAULT_POLLING_RETRY_NUMBER
    transaction_timeout: Annotated[
        TimePs, Field(gt=0, description="how long the answer to a management packet is waited for")
    ] = DEFAULT_TRANSACTION_TIMEOUT_PS
    transaction_retries: Annotated[
        int, Field(ge=0, le=100, description="how often a management packet without an answer is repeated")
    ] = DEFAULT_TRANSACTION_RETRIES

    @model_validator(mode="after")
    def _check_timeout(self) -> Self:
        if self.transaction_timeout <= self.smp_rtt:
            raise ValueError(
                f"'transaction_timeout' ({show_time(self.transaction_timeout)}) must be longer than "
                f"'smp_rtt' ({show_time(self.smp_rtt)})"
            )
        return self


@dataclass(frozen=True, slots=True)
class SubnetManagerTiming:
    """The timing of the subnet managers.

    Attributes:
        trap_latency_ps: From a link's change to the beginning of the sweep that it causes.
        smp_rtt_ps: Round trip of one management packet.
        max_wire_smps: Management packets under way at a time.
        sweep_interval_ps: Between two light sweeps.
        sminfo_polling_timeout_ps: Between two polls of the master by a standby.
        polling_retry_number: A standby takes over when more polls than this have had no answer.
        transaction_timeout_ps: After which a management packet is repeated.
        transaction_retries: How often it is.
    """

    trap_latency_ps: int = DEFAULT_TRAP_LATENCY_PS
    smp_rtt_ps: int = DEFAULT_SMP_RTT_PS
    max_wire_smps: int = DEFAULT_MAX_WIRE_SMPS
    sweep_interval_ps: int = DEFAULT_SWEEP_INTERVAL_PS
    sminfo_polling_timeout_ps: int = DEFAULT_SMINFO_POLLING_TIMEOUT_PS
    polling_retry_number: int = DEFAULT_POLLING_RETRY_NUMBER
    transaction_timeout_ps: int = DEFAULT_TRANSACTION_TIMEOUT_PS
    transaction_retries: int = DEFAULT_TRANSACTION_RETRIES

    @property
    def no_answer_ps(self) -> int:
        """Time until a management packet to a node that does not answer is given up."""
        return self.transaction_timeout_ps * (1 + self.transaction_retries)

    def smp_time_ps(self, smps: int) -> int:
        """Time for some management packets to be answered, a few under way at a time."""
        return -(-smps // self.max_wire_smps) * self.smp_rtt_ps


@dataclass(frozen=True, slots=True)
class Manager:
    """A subnet manager.

    Attributes:
        node: Index of the node that it runs on.
        port: Port of that node.
        priority: 0 to 15; the higher one becomes master.
        guid: GUID of the port; among equal priorities the lower one becomes master.
    """

    node: int
    port: int
    priority: int
    guid: int

    @property
    def rank(self) -> tuple[int, int]:
        """The highest one becomes master."""
        return self.priority, -self.guid


def default_managers(fabric: Fabric) -> tuple[Manager, ...]:
    """One subnet manager, on the first cabled HCA; on the first switch where there is none; or nobody."""
    for node in fabric.hcas:
        port = first_cabled_port(fabric, node)
        if port is not None:
            return (Manager(node, port.port, DEFAULT_PRIORITY, fabric.nodes[node].port_guid(port.port)),)
    return tuple(Manager(node, 0, DEFAULT_PRIORITY, fabric.nodes[node].guid) for node in fabric.switches[:1])


def read_managers(section: Section) -> list[tuple[Section, ManagerKeys]]:
    """The entries of ``managers``, each with its place; problems are noted there.

    Args:
        section: The list.
    """
    listed = section.read_list()
    if len(listed) > MOST_MANAGERS:
        section.refuse(f"expected at most {MOST_MANAGERS} subnet managers, got {len(listed)}")
        return []
    read = [(entry, entry.read(ManagerKeys)) for entry in listed]
    return [(entry, keys) for entry, keys in read if keys is not None]


def compile_managers(entries: Sequence[tuple[Section, ManagerKeys]], fabric: Fabric) -> tuple[Manager, ...]:
    """Where the subnet managers run; problems are noted in the entries.

    Args:
        entries: What :func:`read_managers` gave.
        fabric: The fabric.
    """
    managers: dict[int, Manager] = {}
    for section, keys in entries:
        port = find_hca_port(fabric, section, keys.node, "node")
        if port is None:
            continue
        if port.node in managers:
            section.refuse(f"a second subnet manager on {keys.node.node!r}", "node")
            continue
        guid = fabric.nodes[port.node].port_guid(port.port)
        managers[port.node] = Manager(port.node, port.port, keys.priority, guid)
    return tuple(managers.values()) if entries else default_managers(fabric)


def find_manager(
    managers: Sequence[Manager], fabric: Fabric, section: Section, name: str, *keys: str | int
) -> Manager | None:
    """The subnet manager that runs on an HCA; a problem is noted where there is none.

    Args:
        managers: All subnet managers.
        fabric: The fabric.
        section: Where the name stands.
        name: Name of the HCA.
        keys: Where the name stands, below the section.
    """
    node = find_node(fabric, section, name, *keys, kind=NodeKind.HCA)
    if node is None:
        return None
    manager = next((manager for manager in managers if manager.node == node), None)
    if manager is None:
        hosts = [fabric.nodes[manager.node].name for manager in managers]
        section.refuse_name("host of a subnet manager", name, hosts, *keys)
    return manager
