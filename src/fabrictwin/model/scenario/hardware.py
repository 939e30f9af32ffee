# SPDX-License-Identifier: Apache-2.0
"""The hardware models of a scenario: a row of the table, or one with some parameters changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field

from fabrictwin.errors import nearest
from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware import (
    HCA_MODELS,
    SWITCH_MODELS,
    HcaModel,
    SwitchModel,
    check_hca_model,
    check_switch_model,
)
from fabrictwin.model.quantities import RateBps, SizeBytes, Spec, TimePs, Wanted, read_time, show_value
from fabrictwin.model.section import Section

INFINITE_WORD = "infinite"
DEFAULT_SWITCH_MODEL = "quantum2"
DEFAULT_HCA_MODEL = "connectx7"

_ROCE_MODELS = {
    "switch": ("spectrum4", "tomahawk5", "tomahawk_ultra", "trident2"),
    "HCA": ("connectx6_roce", "connectx7_roce", "connectx8_roce"),
}
_ROCE_PARAMETERS = ("shared_buffer", "alpha", "pfc_headroom", "pfc_xon_offset", "ecn")


def _life(value: Any) -> int | None:
    return None if value == INFINITE_WORD else read_time(value)


TimeOrInfinite = Annotated[int | None, BeforeValidator(_life), Wanted("a time, or `infinite`")]


class SwitchOverrides(Spec):
    """Keys of a ``switch_model`` that changes a row of the table."""

    base: Annotated[str, Field(description="row of the table of switch models")]
    forwarding_latency: Annotated[
        TimePs | None, Field(description="header in to header out, uncontended")
    ] = None
    forwarding: Annotated[
        Literal["cut_through", "store_and_forward"] | None, Field(description="when a packet may leave")
    ] = None
    buffer_per_vl: Annotated[SizeBytes | None, Field(description="input buffer of one port and VL")] = None
    credit_block: Annotated[SizeBytes | None, Field(description="unit of credit")] = None
    fcp_min_gap: Annotated[
        TimePs | None, Field(description="shortest time between two flow-control packets of a VL")
    ] = None
    hoq_life: Annotated[
        TimeOrInfinite, Field(description="longest time at the head of an output queue, on every port")
    ] = None
    leaf_hoq_life: Annotated[
        TimeOrInfinite,
        Field(description="the same on ports that face an HCA; default: as `hoq_life` if given"),
    ] = None
    vl_stall_count: Annotated[int | None, Field(description="so many drops in a row stall the VL")] = None
    fec_latency: Annotated[TimePs | None, Field(description="added by each received hop")] = None
    arbitration: Annotated[
        Literal["round_robin", "random"] | None, Field(description="choice among the inputs of an output")
    ] = None
    data_vls: Annotated[int | None, Field(description="data VLs that it has")] = None
    llr: Annotated[bool | None, Field(description="link-level retry")] = None
    vl15_buffer: Annotated[SizeBytes | None, Field(description="buffer of VL15")] = None


class HcaOverrides(Spec):
    """Keys of an ``hca_model`` that changes a row of the table."""

    base: Annotated[str, Field(description="row of the table of HCA models")]
    tx_latency: Annotated[TimePs | None, Field(description="post to first byte on the wire")] = None
    rx_latency: Annotated[TimePs | None, Field(description="last byte off the wire to memory")] = None
    drain_rate: Annotated[RateBps | None, Field(description="rate at which the host takes data out")] = None
    ack_every: Annotated[int | None, Field(description="packets for one acknowledgement")] = None
    ack_timeout: Annotated[TimePs | None, Field(description="time without one before a retry")] = None
    retry_count: Annotated[int | None, Field(description="retries before the queue pair fails")] = None
    rnr_retry: Annotated[int | None, Field(description="retries after receiver-not-ready; 7: no end")] = None
    rnr_timer: Annotated[TimePs | None, Field(description="wait after receiver-not-ready")] = None
    receive_buffer: Annotated[SizeBytes | None, Field(description="input buffer of one VL")] = None
    credit_block: Annotated[SizeBytes | None, Field(description="unit of credit")] = None
    fec_latency: Annotated[TimePs | None, Field(description="added by each received packet")] = None
    llr: Annotated[bool | None, Field(description="link-level retry")] = None
    vl15_buffer: Annotated[SizeBytes | None, Field(description="buffer of VL15")] = None


ModelT = TypeVar("ModelT", SwitchModel, HcaModel)


def read_switch_model(section: Section, mtu_bytes: int) -> SwitchModel | None:
    """The switch model of a scenario; problems are noted in the section."""
    model = _read_model(section, SWITCH_MODELS, SwitchOverrides, "switch", DEFAULT_SWITCH_MODEL)
    return _checked(model, check_switch_model, section, mtu_bytes)


def read_hca_model(section: Section, mtu_bytes: int) -> HcaModel | None:
    """The HCA model of a scenario; problems are noted in the section."""
    model = _read_model(section, HCA_MODELS, HcaOverrides, "HCA", DEFAULT_HCA_MODEL)
    return _checked(model, check_hca_model, section, mtu_bytes)


def _read_model(
    section: Section,
    table: Mapping[str, ModelT],
    overrides: type[SwitchOverrides] | type[HcaOverrides],
    what: str,
    default: str,
) -> ModelT | None:
    value = default if section.value is None else section.value
    if isinstance(value, str):
        return _find_row(section, table, value, what)
    if not isinstance(value, dict):
        section.refuse(f"expected a model or {{base: {default}, …}}, got {show_value(value)}")
        return None
    foreign = [key for key in value if key in _ROCE_PARAMETERS]
    for key in foreign:
        section.refuse(f"{key!r} is a parameter of Ethernet switches (technology 'roce')", key)
    spec = section.read(overrides, {key: value[key] for key in value if key not in foreign})
    base = _find_row(section, table, spec.base, what, "base") if spec else None
    if spec is None or base is None:
        return None
    # null is as good as nothing, except that an infinite lifetime is kept as None.
    given = {key: value for key, value in spec if value is not None or key in _lives(spec)}
    del given["base"]
    if "hoq_life" in given:
        given.setdefault("leaf_hoq_life", given["hoq_life"])
    names = {field.name for field in fields(base)}
    return replace(base, name=f"{base.name}+", **{_field(key, names): given[key] for key in sorted(given)})


def _lives(spec: Spec) -> set[str]:
    return spec.model_fields_set & {"hoq_life", "leaf_hoq_life"}


def _field(key: str, names: set[str]) -> str:
    """The field of a model that a key of a scenario sets: the same name, with the unit of the field."""
    return next(name for suffix in ("", "_ps", "_bytes", "_bps") if (name := key + suffix) in names)


def _find_row(
    section: Section, table: Mapping[str, ModelT], name: str, what: str, *keys: str
) -> ModelT | None:
    right = [row for row, model in table.items() if model.technology is Technology.INFINIBAND]
    if name in right:
        return table[name]
    if name in table or name in _ROCE_MODELS[what]:
        section.refuse(
            f"{name!r} is a {what} model of technology 'roce'; on InfiniBand use one of {', '.join(right)}",
            *keys,
        )
    else:
        section.refuse(f"unknown {what} model {name!r}{nearest(name, right)}", *keys)
    return None


def _checked(
    model: ModelT | None, check: Callable[[ModelT, int], list[str]], section: Section, mtu_bytes: int
) -> ModelT | None:
    """The model, unless its parameters are out of range; each problem stands at the key that it names."""
    problems = check(model, mtu_bytes) if model else []
    for problem in problems:
        name, _, rest = problem.partition(" ")
        key = name.removesuffix("_ps").removesuffix("_bytes").removesuffix("_bps")
        written = isinstance(section.value, dict) and key in section.value
        unit = name.removeprefix(key).removeprefix("_")
        section.refuse(f"{key} {rest}" + (f" ({unit})" if unit else ""), *([key] if written else []))
    return None if problems else model
