# SPDX-License-Identifier: Apache-2.0
"""What a model of an Ethernet switch is: a shared buffer, PFC and ECN."""

from __future__ import annotations

from dataclasses import dataclass

from fabrictwin.model.hardware.any_switch_model import AnySwitchModel
from fabrictwin.model.hardware.ecn import PROBABILITY_UNIT, EcnProfile
from fabrictwin.model.hardware.hardware_model import MAX_LATENCY_PS, check_hardware
from fabrictwin.model.hardware.headroom import HeadroomProfile, check_headroom, frame_bytes
from fabrictwin.model.hardware.limits import SMALLEST_MTU_BYTES, check_range
from fabrictwin.units import PS_PER_MS

ALPHA_UNIT = 1 << 16
INFINITE_ALPHA = 0
LARGEST_ALPHA = 64
"""SONiC's ``dynamic_th`` goes from 1/128 to 64, and on to infinite (P)."""
LARGEST_BUFFER_BYTES = 1 << 32
PRIORITIES = 8
LONGEST_PAUSE_QUANTA = 65_535


@dataclass(frozen=True, slots=True)
class PfcWatchdog:
    """What breaks a pause that does not end; the defaults are SONiC's (P).

    Attributes:
        detection_ps: A queue that is paused for so long without sending is stormed: its packets are dropped.
        restoration_ps: It is restored when it has not been paused for so long.
        poll_ps: How often it is looked at.
    """

    detection_ps: int = 200 * PS_PER_MS
    restoration_ps: int = 200 * PS_PER_MS
    poll_ps: int = 200 * PS_PER_MS


@dataclass(frozen=True, slots=True, kw_only=True)
class EthernetSwitchModel(AnySwitchModel):
    """A row of the table of Ethernet switches.

    Attributes:
        shared_buffer_bytes: The pool that all ports share, beside reserves and headroom.
        alpha_q16: A priority group may hold alpha times what is free of the pool; in units of 2**-16,
            0 is infinite.
        egress_alpha_q16: The same for the egress queue of a lossy priority.
        reserve_bytes: Own buffer of each priority group.
        headroom_bytes: Own buffer of each lossless priority group for what comes after its pause; None: by
            ``headroom_profile``, from rate, length and MTU.
        headroom_profile: Formula for it.
        xon_offset_bytes: A pause ends so far below the threshold.
        pause_quanta: Quanta that a PFC frame asks for.
        response_ps: From the end of a PFC frame to the stop of its priority; None: as IEEE 802.3 allows at
            the rate of the cable.
        ecn: Marking of each egress queue; None: none.
        watchdog: What ends a pause storm; None: nothing.
    """

    shared_buffer_bytes: int
    alpha_q16: int = ALPHA_UNIT
    egress_alpha_q16: int = ALPHA_UNIT
    reserve_bytes: int = 4 * 1024
    headroom_bytes: int | None = None
    headroom_profile: HeadroomProfile = "h3_8021qbb"
    xon_offset_bytes: int = 3 * 1024
    pause_quanta: int = LONGEST_PAUSE_QUANTA
    response_ps: int | None = None
    ecn: EcnProfile | None = None
    watchdog: PfcWatchdog | None = None

    @property
    def breaks_deadlocks(self) -> bool:
        """Whether there is a watchdog."""
        return self.watchdog is not None


def check_ethernet_switch_model(model: EthernetSwitchModel, mtu_bytes: int = SMALLEST_MTU_BYTES) -> list[str]:
    """What is wrong with a switch model.

    Args:
        model: A row of the table, or one that a scenario has changed.
        mtu_bytes: Largest payload of a packet, which the buffer must hold.

    Returns:
        One text per problem, each beginning with the field's name; empty for a sound model.
    """
    checks = [
        *check_hardware(model),
        check_range("forwarding_latency_ps", model.forwarding_latency_ps, 0, MAX_LATENCY_PS),
        _check_buffer(model.shared_buffer_bytes, mtu_bytes),
        _check_alpha("alpha", model.alpha_q16),
        _check_alpha("egress_alpha", model.egress_alpha_q16),
        check_range("reserve_bytes", model.reserve_bytes, 0, model.shared_buffer_bytes),
        check_range("xon_offset_bytes", model.xon_offset_bytes, 0, model.shared_buffer_bytes),
        check_range("pause_quanta", model.pause_quanta, 1, LONGEST_PAUSE_QUANTA),
        check_range("data_vls", model.data_vls, PRIORITIES, PRIORITIES),
        check_headroom(model.headroom_bytes, model.shared_buffer_bytes),
        *_check_ecn(model.ecn),
        *_check_watchdog(model.watchdog),
    ]
    if model.response_ps is not None:
        checks.append(check_range("response_ps", model.response_ps, 0, MAX_LATENCY_PS))
    return [problem for problem in checks if problem]


def _check_buffer(buffer_bytes: int, mtu_bytes: int) -> str:
    frame = frame_bytes(mtu_bytes)
    problem = check_range("shared_buffer_bytes", buffer_bytes, frame, LARGEST_BUFFER_BYTES)
    return f"{problem} (one frame of {mtu_bytes} B of payload is {frame} B)" if problem else ""


def _check_alpha(name: str, alpha_q16: int) -> str:
    if 0 <= alpha_q16 <= LARGEST_ALPHA * ALPHA_UNIT:
        return ""
    return f"{name} must be above 0, at most {LARGEST_ALPHA}, or infinite; got {alpha_q16 / ALPHA_UNIT:g}"


def _check_ecn(ecn: EcnProfile | None) -> list[str]:
    if ecn is None:
        return []
    order = (
        ""
        if 0 <= ecn.kmin_bytes <= ecn.kmax_bytes
        else f"ecn must have kmin <= kmax, got {ecn.kmin_bytes} and {ecn.kmax_bytes}: the probability grows "
        "from kmin, pmax * (queue - kmin) / (kmax - kmin), and is 1 above kmax"
    )
    probability = (
        ""
        if 0 < ecn.pmax_q16 <= PROBABILITY_UNIT
        else f"ecn must have 0 < pmax <= 1, got {ecn.pmax_q16 / PROBABILITY_UNIT:g}"
    )
    return [order, probability]


def _check_watchdog(watchdog: PfcWatchdog | None) -> list[str]:
    if watchdog is None:
        return []
    return [
        "" if value > 0 else f"watchdog must have {name} above 0, got {value} ps"
        for name, value in (
            ("detection", watchdog.detection_ps),
            ("restoration", watchdog.restoration_ps),
            ("poll", watchdog.poll_ps),
        )
    ]
