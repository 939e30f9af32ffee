# SPDX-License-Identifier: Apache-2.0
"""A scenario of one technology as one of the other: the same hosts, cables and workload.

What both have is kept; hardware models are replaced by their pairs; what only one side has is dropped, and
said. docs/compare.md has the rules.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fabrictwin.model.congestion import DEFAULT_PROFILE
from fabrictwin.model.dcqcn import DEFAULT_DCQCN_PROFILE
from fabrictwin.model.fabric import Fabric, Link, NodeKind, Technology
from fabrictwin.model.fault import FAULTS
from fabrictwin.model.qos import DEFAULT_LOSSLESS_PRIORITY, PRIORITIES
from fabrictwin.model.scenario import Scenario
from fabrictwin.model.topology import DEFAULT_LENGTH_MM
from fabrictwin.study.hardware_pairs import find_pair
from fabrictwin.study.source import BASE, Source

TREES = ("fat_tree", "rail_optimized")
"""Generators whose fabrics ``ftree`` routes."""
PFC_FAULTS = ("pfc_storm",)
"""Kinds of faults that need a lossless priority."""
_KEPT_OF_HARDWARE = {
    "switch_model": ("fec_latency",),
    "hca_model": (
        *("fec_latency", "drain_rate", "ack_every", "ack_timeout", "retry_count", "rnr_retry", "rnr_timer"),
    ),
}
"""How a part is set. What it is, its latencies and buffers, is that of its pair."""
_DEFAULT_CONTROL = {
    Technology.INFINIBAND: {"algorithm": "ib_cca", "profile": DEFAULT_PROFILE},
    Technology.ROCE: {"algorithm": "dcqcn", "profile": DEFAULT_DCQCN_PROFILE},
}


@dataclass(frozen=True)
class Translation:
    """A scenario as one of a technology.

    Attributes:
        source: The scenario.
        mapped: What became what, in words.
        dropped: What has no counterpart, in words.
    """

    source: Source
    mapped: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


def other_technology(technology: Technology) -> Technology:
    """The technology that a scenario is compared with."""
    return Technology.INFINIBAND if technology is Technology.ROCE else Technology.ROCE


def keep(source: Source, scenario: Scenario) -> Translation:
    """A scenario in its own technology, with hardware written out and congestion control on.

    Args:
        source: The scenario.
        scenario: The same, expanded.
    """
    notes = _Notes()
    value = {**source.value}
    value["fabric"] = {**value["fabric"], **_own_hardware(value["fabric"], scenario)}
    technology = scenario.fabric.technology
    if scenario.congestion_control.algorithm == "none":
        value["congestion_control"] = _DEFAULT_CONTROL[technology]
        notes.mapped.append(
            f"congestion control none → {_control_text(technology)}, but in the variants without"
        )
    if technology is Technology.ROCE and not scenario.qos.lossless:
        value["qos"] = {**(value.get("qos") or {}), "lossless_priorities": _priorities(value)}
        notes.mapped.append("no lossless priority → PFC, but in the lossy variant")
    notes.dropped += [
        f"fault {fault['kind']} in the lossy variant: nothing is paused there"
        for fault in value.get("faults") or []
        if fault["kind"] in PFC_FAULTS
    ]
    _drop(value, "expect", "it judges the scenario's own run", notes)
    return Translation(source.with_value(value), tuple(notes.mapped), tuple(notes.dropped))


def translate(source: Source, scenario: Scenario) -> Translation:
    """A scenario as one of the other technology.

    Args:
        source: The scenario.
        scenario: The same, expanded.

    Raises:
        InputError: No part of the other technology fits.
    """
    to = other_technology(scenario.fabric.technology)
    notes = _Notes()
    value = {**source.value}
    value["fabric"] = _translate_fabric(source, scenario, to, notes)
    value["routing"] = _translate_routing(value, scenario, to, notes)
    value["congestion_control"] = _DEFAULT_CONTROL[to]
    algorithm = scenario.congestion_control.algorithm
    notes.mapped.append(f"congestion control {algorithm} → {_control_text(to)}")
    _translate_workload(value, to, notes)
    _translate_faults(value, to, notes)
    if to is Technology.ROCE:
        _drop(value, "subnet_manager", "Ethernet switches have none", notes)
    _drop(value, "expect", "it judges the scenario's own run", notes)
    return Translation(source.with_value(value), tuple(notes.mapped), tuple(notes.dropped))


@dataclass
class _Notes:
    mapped: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)


def _drop(value: dict[str, Any], key: str, why: str, notes: _Notes) -> None:
    if value.pop(key, None) is not None:
        notes.dropped.append(f"{key}: {why}")


def _control_text(technology: Technology) -> str:
    control = _DEFAULT_CONTROL[technology]
    return f"{control['algorithm']}, profile {control['profile']}"


def _own_hardware(fabric: dict[str, Any], scenario: Scenario) -> dict[str, Any]:
    """The models that a scenario names, or changes, or has by default."""
    names = {"switch_model": next(iter(scenario.switch_models)), "hca_model": next(iter(scenario.hca_models))}
    return {key: fabric.get(key) or name for key, name in names.items()}


def _translate_fabric(source: Source, scenario: Scenario, to: Technology, notes: _Notes) -> dict[str, Any]:
    fabric: dict[str, Any] = {**source.value["fabric"], "technology": to.value}
    for key, model in _own_hardware(source.value["fabric"], scenario).items():
        own = model if isinstance(model, dict) else {BASE: model}
        pair = find_pair(own[BASE], scenario.fabric, to)
        kept = {name: own[name] for name in own if name in _KEPT_OF_HARDWARE[key]}
        fabric[key] = {BASE: pair, **kept} if kept else pair
        notes.mapped.append(f"{own[BASE]} → {pair}")
        lost = [name for name in own if name not in (BASE, *kept)]
        if lost:
            notes.dropped.append(f"{key}: {', '.join(lost)} (of {own[BASE]}; {pair} has its own)")
    if "import" in fabric["topology"]:
        fabric["topology"] = write_topology(scenario.fabric)
        notes.mapped.append("imported fabric → the same nodes and cables, written out")
    else:
        fastest_bps = max((link.rate_bps for link in scenario.fabric.links), default=None)
        link = fabric.get("link") or {}
        if fastest_bps is not None and "rate" not in link:
            fabric["link"] = {**link, "rate": _write_rate(fastest_bps)}
    return fabric


def usual_link(scenario: Scenario) -> dict[str, str]:
    """The cable that most hosts have, as a scenario writes it; at most as fast as the ports of its models."""
    fabric = scenario.fabric
    models = [*scenario.switch_models.values(), *scenario.hca_models.values()]
    fastest_bps = min(model.highest_rate_bps for model in models)
    counts = Counter(
        (min(link.rate_bps, fastest_bps), link.length_mm)
        for link in fabric.links
        if NodeKind.HCA in (fabric.nodes[link.a.node].kind, fabric.nodes[link.b.node].kind)
    )
    if not counts:
        return write_link(min(model.rate_bps for model in models), DEFAULT_LENGTH_MM)
    return write_link(*max(counts, key=lambda cable: (counts[cable], cable)))


def write_link(rate_bps: int, length_mm: int) -> dict[str, str]:
    """A cable as a scenario writes it, exactly."""
    return {"rate": _write_rate(rate_bps), "length": f"{length_mm // 1000}.{length_mm % 1000:03d}m"}


def _write_rate(rate_bps: int) -> str:
    return f"{rate_bps // 1_000_000}.{rate_bps % 1_000_000:06d}Mb/s"


def write_topology(fabric: Fabric) -> dict[str, Any]:
    """Nodes and cables of a fabric, as a scenario writes them."""

    def cable(link: Link) -> list[Any]:
        facts = write_link(link.rate_bps, link.length_mm)
        return [fabric.port_name(link.a), fabric.port_name(link.b), facts]

    highest: dict[int, int] = {}
    for end in fabric.link_at:
        highest[end.node] = max(highest.get(end.node, 1), end.port)
    return {
        "nodes": {
            node.name: {node.kind.value: node.ports if node.kind is NodeKind.HCA else highest.get(index, 1)}
            for index, node in enumerate(fabric.nodes)
        },
        "links": [cable(link) for link in fabric.links],
    }


def _translate_routing(
    value: dict[str, Any], scenario: Scenario, to: Technology, notes: _Notes
) -> dict[str, Any]:
    own = value.get("routing") or {}
    engine = scenario.routing.engine
    if engine == "explicit":
        return {key: own[key] for key in ("engine", "tables")}
    if to is Technology.ROCE:
        new = "ecmp"
    else:
        new = "ftree" if value["fabric"]["topology"].get("generator") in TREES else "min_hop"
    notes.mapped.append(f"routing {engine} → {new}")
    lost = [key for key in own if key != "engine"]
    if lost:
        notes.dropped.append(f"routing: {', '.join(lost)} (of {engine})")
    return {"engine": new}


def _translate_workload(value: dict[str, Any], to: Technology, notes: _Notes) -> None:
    """Service levels are priorities; every priority that is used is lossless, as every VL is."""
    _drop(value, "qos", "lanes, weights and priorities are of one technology", notes)
    jobs = []
    for job in value.get("workload") or []:
        if to is Technology.INFINIBAND and job.get("transport") == "tcp":
            notes.mapped.append(f"TCP of a {job['kind']} → RDMA in its service level")
            job = {key: job[key] for key in job if key != "transport"}
        if to is Technology.ROCE and job.get("sl") is not None and job["sl"] >= PRIORITIES:
            notes.dropped.append(f"sl {job['sl']} of a {job['kind']}: there are {PRIORITIES} priorities")
            job = {key: job[key] for key in job if key != "sl"}
        jobs.append(job)
    value["workload"] = jobs
    if to is Technology.ROCE:
        value["qos"] = {"lossless_priorities": _priorities(value)}


def _priorities(value: dict[str, Any]) -> list[int]:
    """The priorities that the RDMA of a workload uses on RoCE."""
    jobs = [job for job in value.get("workload") or [] if job.get("transport") != "tcp"]
    used = {DEFAULT_LOSSLESS_PRIORITY if job.get("sl") is None else job["sl"] for job in jobs}
    return sorted(used) or [DEFAULT_LOSSLESS_PRIORITY]


def _translate_faults(value: dict[str, Any], to: Technology, notes: _Notes) -> None:
    faults = value.get("faults") or []
    foreign = [fault["kind"] for fault in faults if FAULTS[fault["kind"]].technology not in (None, to)]
    value["faults"] = [fault for fault in faults if fault["kind"] not in foreign]
    notes.dropped += [f"fault {kind}: it does not exist on {to.label}" for kind in foreign]
