# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of ``scenario.md`` from the models and tables that read a scenario.

Run it after a change of a key: ``python docs/make_scenario_reference.py``. What stands
between ``<!-- table: X -->`` and ``<!-- end -->`` is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from fabrictwin.model.congestion import PROFILES, RATE_ALGORITHMS, IbCcaSpec
from fabrictwin.model.expectation import ExpectationSpec
from fabrictwin.model.fabric import MM_PER_M
from fabrictwin.model.fault import FAULTS
from fabrictwin.model.fault.kind import FaultSpec
from fabrictwin.model.hardware import (
    ETHERNET_SWITCH_MODELS,
    HCA_MODELS,
    ROCE_HCA_MODELS,
    SWITCH_MODELS,
    AnySwitchModel,
)
from fabrictwin.model.hardware.ecn import ECN_SETS
from fabrictwin.model.qos import QosSpec, RoceQosSpec
from fabrictwin.model.quantities import wanted_in
from fabrictwin.model.result_fields import RESULT_FIELDS, ResultField
from fabrictwin.model.routing_names import ROUTING_OPTIONS, TECHNOLOGY_ENGINES, RoutingKeys
from fabrictwin.model.scenario.ethernet_parts import EcnKeys, WatchdogKeys
from fabrictwin.model.scenario.fabric import FabricKeys, ImportKeys, LinkKeys
from fabrictwin.model.scenario.load import DeploymentKeys, ScenarioKeys
from fabrictwin.model.scenario.overrides import (
    EthernetSwitchOverrides,
    HcaOverrides,
    RoceHcaOverrides,
    SwitchOverrides,
)
from fabrictwin.model.subnet_manager import ManagerKeys, SubnetManagerKeys
from fabrictwin.model.topology import TOPOLOGIES
from fabrictwin.model.workload import WORKLOADS, JobSpec
from fabrictwin.model.workload.collective import BUS_FACTORS
from fabrictwin.units import show_rate, show_time

PAGE = Path(__file__).with_name("scenario.md")
_BLOCK = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(header)]
    lines.append(["---"] * len(lines[0]))
    lines += [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _keys(model: type[BaseModel], without: Iterable[str] = (), default: str = "") -> str:
    rows = [
        (f"`{info.alias or key}`", _wanted(info), default or _default(info), info.description or "")
        for key, info in model.model_fields.items()
        if key not in {*without, "kind"}
    ]
    return _table(("key", "value", "default", "meaning"), rows)


def _wanted(info: FieldInfo) -> str:
    if wanted_in(info):
        return wanted_in(info)
    choices = _choices(info.annotation)
    if choices:
        return " ".join(f"`{choice}`" for choice in choices)
    kinds = {int: "a number", float: "a number", bool: "`true` or `false`", str: "text"}
    plain = next(
        (text for kind, text in kinds.items() if kind in (info.annotation, *get_args(info.annotation))), ""
    )
    container = {list: "a list", dict: "a mapping"}.get(get_origin(info.annotation) or info.annotation, "")
    return (container or plain or "a mapping") + _bounds(info)


def _choices(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [choice for part in get_args(annotation) for choice in _choices(part)]


def _bounds(info: FieldInfo) -> str:
    words = {"ge": "from", "gt": "above", "le": "to", "lt": "below"}
    parts = []
    for part in info.metadata:
        for name, word in words.items():
            bound = getattr(part, name, None)
            if bound is not None:
                parts.append(f"{word} {'2^63' if bound == 2**63 else bound}")
    return " " + " ".join(parts) if parts else ""


def _default(info: FieldInfo) -> str:
    if info.default is PydanticUndefined:
        return "required"
    if info.default is None or info.default == [] or info.default == {}:
        return ""
    if wanted_in(info).startswith("a time"):
        return f"`{show_time(info.default).replace(' ', '')}`" if info.default else "`0us`"
    if wanted_in(info).startswith("a length"):
        return f"`{info.default // MM_PER_M}m`"
    return f"`{info.default}`"


def _attributes(documentation: str) -> dict[str, str]:
    """What the ``Attributes:`` of a docstring say, by name."""
    _, _, listed = documentation.partition("Attributes:")
    found: dict[str, str] = {}
    name = ""
    for line in listed.splitlines():
        match = re.match(r" {8}(\w+): (.*)", line)
        if match:
            name = match[1]
            found[name] = match[2]
        elif name and line.strip():
            found[name] += " " + line.strip()
    return found


def _topologies() -> str:
    rows = []
    for row in TOPOLOGIES.values():
        texts = _attributes(row.parameters.__doc__ or "")
        keys = [key for key in row.parameters.model_fields if key != "generator"]
        shown = "; ".join(f"`{key}`: {texts[key].rstrip('.').replace('``', '`')}" for key in keys)
        rows.append((f"`{row.name}`" if row.name != "explicit" else "nodes and links", row.title, shown))
    return _table(("generator", "what", "keys"), rows)


def _hardware() -> str:
    every: list[AnySwitchModel] = [*SWITCH_MODELS.values(), *ETHERNET_SWITCH_MODELS.values()]
    switches = [
        (
            f"`{m.name}`",
            m.technology.label,
            m.title,
            show_rate(m.rate_bps),
            show_time(m.forwarding_latency_ps),
            m.source,
        )
        for m in every
    ]
    hcas = [
        (
            f"`{m.name}`",
            m.technology.label,
            m.title,
            show_rate(m.rate_bps),
            f"{show_time(m.tx_latency_ps)} + {show_time(m.rx_latency_ps)}",
            m.source,
        )
        for m in (*HCA_MODELS.values(), *ROCE_HCA_MODELS.values())
    ]
    return _table(("model", "technology", "part", "port", "latency", "source"), switches + hcas)


def _ecn_sets() -> str:
    rows = (
        (f"`{m.name}`", f"{m.kmin_bytes:,} B", f"{m.kmax_bytes:,} B", f"{float(m.pmax):g}", m.source)
        for m in ECN_SETS.values()
    )
    return _table(("profile", "kmin", "kmax", "pmax", "source"), rows)


def _kinds(rows: Iterable[Any], common: type[BaseModel]) -> str:
    parts = []
    for row in rows:
        keys = _keys(row.spec, common.model_fields)
        parts.append(f"\n`{row.name}` — {row.summary}\n\n{keys}")
    return "".join(parts) + "\n"


def _profiles(profiles: Mapping[str, Any], spec: type[BaseModel]) -> str:
    rows = [
        (f"`{name}`", *(f"`{_written(profile.parameters[name])}`" for profile in profiles.values()))
        for name in spec.model_fields
    ]
    sources = [("source", *(profile.source for profile in profiles.values()))]
    return _table(("parameter", *(f"`{name}`" for name in profiles)), rows + sources)


def _rates(algorithm: str) -> str:
    """Parameters of one of RoCE's algorithms, and its profiles."""
    row = RATE_ALGORITHMS[algorithm]
    return _keys(row.spec, default="the profile's") + "\n" + _profiles(row.profiles, row.spec)


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _routing() -> str:
    return _table(
        ("engine", "technology", "options"),
        (
            (
                f"`{name}`",
                ", ".join(kind.label for kind, names in TECHNOLOGY_ENGINES.items() if name in names),
                " ".join(f"`{option}`" for option in options),
            )
            for name, options in ROUTING_OPTIONS.items()
        ),
    )


def _result() -> str:
    rows = (
        (_bracketed(name, part), " ".join(_bracketed(*field) for field in part.below.items()))
        for name, part in RESULT_FIELDS.items()
    )
    return _table(("part", "fields"), rows)


def _bracketed(name: str, part: ResultField) -> str:
    return f"`{name}[{part.chosen_by}]`" if part.chosen_by else f"`{name}`"


def _bus_factors() -> str:
    rows = ((f"`{name}`", str(factor(8))) for name, factor in BUS_FACTORS.items())
    return _table(("collective", "of 8 ranks"), rows)


TABLES: dict[str, Callable[[], str]] = {
    "scenario": lambda: _keys(ScenarioKeys),
    "fabric": lambda: _keys(FabricKeys),
    "link": lambda: _keys(LinkKeys),
    "topologies": _topologies,
    "import": lambda: _keys(ImportKeys),
    "hardware": _hardware,
    "switch_model": lambda: _keys(SwitchOverrides),
    "hca_model": lambda: _keys(HcaOverrides),
    "ethernet switch_model": lambda: _keys(EthernetSwitchOverrides),
    "roce hca_model": lambda: _keys(RoceHcaOverrides),
    "ecn": lambda: _keys(EcnKeys),
    "ecn profiles": _ecn_sets,
    "pfc_watchdog": lambda: _keys(WatchdogKeys),
    "routing": lambda: _keys(RoutingKeys) + "\n" + _routing(),
    "congestion_control": lambda: _keys(IbCcaSpec, default="the profile's"),
    "profiles": lambda: _profiles(PROFILES, IbCcaSpec),
    "dcqcn": lambda: _rates("dcqcn"),
    "timely": lambda: _rates("timely"),
    "hpcc": lambda: _rates("hpcc"),
    "qos": lambda: _keys(QosSpec),
    "roce qos": lambda: _keys(RoceQosSpec),
    "workload": lambda: _keys(JobSpec),
    "workload kinds": lambda: _kinds(WORKLOADS.values(), JobSpec),
    "bus factors": _bus_factors,
    "faults": lambda: _keys(FaultSpec),
    "fault kinds": lambda: _kinds(FAULTS.values(), FaultSpec),
    "expect": lambda: _keys(ExpectationSpec) + "\n" + _result(),
    "subnet_manager": lambda: _keys(SubnetManagerKeys),
    "managers": lambda: _keys(ManagerKeys),
    "deployment": lambda: _keys(DeploymentKeys),
}


def fill(page: str) -> str:
    """The page with every table written anew.

    Raises:
        KeyError: The page asks for a table that is not in ``TABLES``.
    """
    return _BLOCK.sub(lambda block: f"{block[1]}{TABLES[block[2]]()}{block[3]}", page)


if __name__ == "__main__":
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
