# SPDX-License-Identifier: Apache-2.0
"""The hardware models of a scenario: a row of the table, or one with some parameters changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Generic, TypeVar

from fabrictwin.errors import nearest
from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware import (
    ETHERNET_SWITCH_MODELS,
    HCA_MODELS,
    ROCE_HCA_MODELS,
    SWITCH_MODELS,
    AnySwitchModel,
    EthernetSwitchModel,
    HcaModel,
    SwitchModel,
    check_ethernet_switch_model,
    check_hca_model,
    check_switch_model,
)
from fabrictwin.model.quantities import show_value
from fabrictwin.model.scenario.ethernet_parts import read_parts
from fabrictwin.model.scenario.overrides import (
    EthernetSwitchOverrides,
    HcaOverrides,
    Overrides,
    RoceHcaOverrides,
    SwitchOverrides,
)
from fabrictwin.model.section import Section

ModelT = TypeVar("ModelT", AnySwitchModel, HcaModel)

_UNITS = ("", "_ps", "_bytes", "_bps")


@dataclass(frozen=True)
class _Part(Generic[ModelT]):
    """A kind of hardware.

    Attributes:
        what: Its name in messages.
        tables: Its models, by technology.
        overrides: What a scenario may change.
        defaults: What a scenario without a choice has.
    """

    what: str
    tables: Mapping[Technology, Mapping[str, ModelT]]
    overrides: Mapping[Technology, type[Overrides]]
    defaults: Mapping[Technology, str]


_SWITCH: _Part[AnySwitchModel] = _Part(
    "switch",
    {Technology.INFINIBAND: SWITCH_MODELS, Technology.ROCE: ETHERNET_SWITCH_MODELS},
    {Technology.INFINIBAND: SwitchOverrides, Technology.ROCE: EthernetSwitchOverrides},
    {Technology.INFINIBAND: "quantum2", Technology.ROCE: "spectrum4"},
)
_HCA: _Part[HcaModel] = _Part(
    "HCA",
    {Technology.INFINIBAND: HCA_MODELS, Technology.ROCE: ROCE_HCA_MODELS},
    {Technology.INFINIBAND: HcaOverrides, Technology.ROCE: RoceHcaOverrides},
    {Technology.INFINIBAND: "connectx7", Technology.ROCE: "connectx7_roce"},
)


def read_switch_model(
    section: Section, technology: Technology, mtu_bytes: int, rate_bps: int | None
) -> AnySwitchModel | None:
    """The switch model of a scenario; problems are noted in the section.

    Args:
        section: Key ``switch_model``.
        technology: Link layer of the fabric.
        mtu_bytes: Largest payload of a packet.
        rate_bps: Rate of the cables; None: that of the model's ports.
    """
    model = _read_model(section, _SWITCH, technology, rate_bps)
    if isinstance(model, EthernetSwitchModel):
        return _checked(model, check_ethernet_switch_model(model, mtu_bytes), section)
    if isinstance(model, SwitchModel):
        return _checked(model, check_switch_model(model, mtu_bytes), section)
    return None


def read_hca_model(section: Section, technology: Technology, mtu_bytes: int) -> HcaModel | None:
    """The HCA model of a scenario; problems are noted in the section."""
    model = _read_model(section, _HCA, technology, None)
    return _checked(model, check_hca_model(model, mtu_bytes), section) if model else None


def _read_model(
    section: Section, part: _Part[ModelT], technology: Technology, rate_bps: int | None
) -> ModelT | None:
    default = part.defaults[technology]
    value = default if section.value is None else section.value
    if isinstance(value, str):
        return _find_row(section, part, technology, value)
    if not isinstance(value, dict):
        section.refuse(f"expected a model or {{base: {default}, …}}, got {show_value(value)}")
        return None
    own = part.overrides[technology]
    known = _refuse_foreign(section, value, part, technology)
    spec = section.read(own, {key: value[key] for key in value if key not in known})
    base = _find_row(section, part, technology, spec.base, "base") if spec else None
    if spec is None or base is None:
        return None
    given = spec.given()
    if own.parts:
        given |= read_parts(section, min(rate_bps or base.rate_bps, base.rate_bps))
    names = {field.name for field in fields(base)}
    changes = {_field(key, own, names): given[key] for key in sorted(given)}
    return replace(base, name=f"{base.name}+", **changes)


def _refuse_foreign(
    section: Section, value: Mapping[str, Any], part: _Part[ModelT], technology: Technology
) -> set[str]:
    """Notes the keys that only a model of another technology has; they are not looked at any more."""
    own = part.overrides[technology].model_fields
    foreign: set[str] = set()
    for other, spec in part.overrides.items():
        for key in value:
            if key in spec.model_fields and key not in own and key not in foreign:
                foreign.add(key)
                section.refuse(
                    f"{key!r} is a parameter of {part.what} models of technology {other.value!r}; on "
                    f"{technology.label} there are {', '.join(own)}",
                    key,
                )
    return foreign


def _field(key: str, spec: type[Overrides], names: set[str]) -> str:
    """The field of a model that a key of a scenario sets: the same name, with the unit of the field."""
    if key in spec.fields:
        return spec.fields[key]
    return next(name for unit in _UNITS if (name := key + unit) in names)


def _find_row(
    section: Section, part: _Part[ModelT], technology: Technology, name: str, *keys: str
) -> ModelT | None:
    right = part.tables[technology]
    if name in right:
        return right[name]
    other = next((other for other, table in part.tables.items() if name in table), None)
    if other is not None:
        section.refuse(
            f"{name!r} is {_an(part.what)} model of technology {other.value!r}; on "
            f"{technology.label} use one of {', '.join(right)}",
            *keys,
        )
    else:
        section.refuse(f"unknown {part.what} model {name!r}{nearest(name, right)}", *keys)
    return None


def _an(what: str) -> str:
    return f"an {what}" if what == "HCA" else f"a {what}"


def _checked(model: ModelT, problems: list[str], section: Section) -> ModelT | None:
    """The model, unless its parameters are out of range; each problem stands at the key that it names."""
    keys = {field: key for overrides in (EthernetSwitchOverrides,) for key, field in overrides.fields.items()}
    for problem in problems:
        name, _, rest = problem.partition(" ")
        key = next(name.removesuffix(unit) for unit in reversed(_UNITS) if name.endswith(unit))
        unit = name.removeprefix(key).removeprefix("_")
        key = keys.get(name, key)
        written = isinstance(section.value, dict) and key in section.value
        section.refuse(f"{key} {rest}" + (f" ({unit})" if unit else ""), *([key] if written else []))
    return None if problems else model
