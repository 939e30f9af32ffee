# SPDX-License-Identifier: Apache-2.0
"""The parts of an Ethernet switch model that are mappings of their own: ``ecn`` and ``pfc_watchdog``."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from fabrictwin.errors import nearest
from fabrictwin.model.hardware.ecn import ECN_SETS, PROBABILITY_UNIT, EcnProfile
from fabrictwin.model.hardware.ethernet_switch_model import PfcWatchdog
from fabrictwin.model.quantities import SizeBytes, Spec, TimePs, Wanted, read_fraction, show_value
from fabrictwin.model.section import Section

NONE_WORD = "none"


def _probability(value: Any) -> int:
    """In units of 2**-16."""
    probability = read_fraction(value)
    if not 1 <= probability * PROBABILITY_UNIT <= PROBABILITY_UNIT:
        raise ValueError(f"expected a probability above 0, at most 1, got {value}")
    return round(probability * PROBABILITY_UNIT)


def _profile(value: Any) -> str:
    if not isinstance(value, str) or value not in ECN_SETS:
        raise ValueError(f"unknown ECN profile {show_value(value)}{nearest(str(value), ECN_SETS)}")
    return value


class EcnKeys(Spec):
    """Keys of ``ecn``."""

    profile: Annotated[
        str | None,
        BeforeValidator(_profile),
        Wanted("a name"),
        Field(description="named set, for the keys that are not given"),
    ] = None
    kmin: Annotated[SizeBytes | None, Field(description="queue up to which nothing is marked")] = None
    kmax: Annotated[SizeBytes | None, Field(description="queue above which everything is marked")] = None
    pmax: Annotated[
        int | None,
        BeforeValidator(_probability),
        Wanted("a number from 0 to 1"),
        Field(description="probability at `kmax`"),
    ] = None


class WatchdogKeys(Spec):
    """Keys of ``pfc_watchdog``; the defaults are SONiC's."""

    detection: Annotated[TimePs, Field(gt=0, description="a pause of this length is a storm")] = (
        PfcWatchdog().detection_ps
    )
    restoration: Annotated[TimePs, Field(gt=0, description="without pause for so long, it is over")] = (
        PfcWatchdog().restoration_ps
    )
    poll: Annotated[TimePs, Field(gt=0, description="time between two looks")] = PfcWatchdog().poll_ps


def read_parts(section: Section, rate_bps: int) -> dict[str, Any]:
    """The mappings that a switch model holds, by their keys; problems are noted there.

    Args:
        section: The switch model.
        rate_bps: Rate of the cables, for ECN sets that grow with it.
    """
    parts: dict[str, Any] = {}
    if section.at("ecn").value is not None:
        parts["ecn"] = _read_ecn(section.at("ecn"), rate_bps)
    if section.at("pfc_watchdog").value is not None:
        parts["pfc_watchdog"] = _read_watchdog(section.at("pfc_watchdog"))
    return parts


def _read_ecn(section: Section, rate_bps: int) -> EcnProfile | None:
    if section.value == NONE_WORD:
        return None
    keys = section.read(EcnKeys)
    if keys is None:
        return None
    named = ECN_SETS[keys.profile].at(rate_bps) if keys.profile else None
    if named is None and None in (keys.kmin, keys.kmax, keys.pmax):
        section.refuse(
            "expected {profile: …}, or all of kmin, kmax and pmax, e.g. {kmin: 100KB, kmax: 400KB, pmax: 0.2}"
        )
        return None
    base = named or EcnProfile(0, 0, 0)
    return EcnProfile(keys.kmin or base.kmin_bytes, keys.kmax or base.kmax_bytes, keys.pmax or base.pmax_q16)


def _read_watchdog(section: Section) -> PfcWatchdog | None:
    if section.value == NONE_WORD:
        return None
    keys = section.read(WatchdogKeys)
    return PfcWatchdog(keys.detection, keys.restoration, keys.poll) if keys else None
