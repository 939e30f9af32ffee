# SPDX-License-Identifier: Apache-2.0
"""The keys of a hardware model that a scenario may change, by kind of part and technology."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from fabrictwin.model.hardware.any_switch_model import Forwarding
from fabrictwin.model.hardware.ethernet_switch_model import ALPHA_UNIT, INFINITE_ALPHA, LARGEST_ALPHA
from fabrictwin.model.hardware.hca_model import LossRecovery
from fabrictwin.model.hardware.headroom import HeadroomProfile
from fabrictwin.model.quantities import (
    RateBps,
    SizeBytes,
    SizeOrNothing,
    Spec,
    TimePs,
    Wanted,
    read_fraction,
    read_time,
)

INFINITE_WORD = "infinite"
_SMALLEST_ALPHA = 1024


def _life(value: Any) -> int | None:
    return None if value == INFINITE_WORD else read_time(value)


def _alpha(value: Any) -> int:
    """In units of 2**-16; infinite is 0."""
    if value == INFINITE_WORD:
        return INFINITE_ALPHA
    alpha = read_fraction(value)
    if not 1 <= alpha * _SMALLEST_ALPHA <= LARGEST_ALPHA * _SMALLEST_ALPHA:
        raise ValueError(
            f"expected alpha from 1/{_SMALLEST_ALPHA} to {LARGEST_ALPHA}, or {INFINITE_WORD}, got {value}: a "
            "priority group may hold alpha * (shared_buffer - used)"
        )
    return round(alpha * ALPHA_UNIT)


TimeOrInfinite = Annotated[int | None, BeforeValidator(_life), Wanted("a time, or `infinite`")]
Alpha = Annotated[
    int | None,
    BeforeValidator(_alpha),
    Wanted("a number, a fraction such as `1/8`, or `infinite`"),
]


class Overrides(Spec):
    """Keys of a hardware model that changes a row of a table.

    Attributes:
        fields: Field of the model for each key that is not named as the field is without its unit.
        parts: Keys that are mappings with keys of their own.
    """

    fields: ClassVar[dict[str, str]] = {}
    parts: ClassVar[tuple[str, ...]] = ()

    base: Annotated[str, Field(description="row of the table of models")]
    fec_latency: Annotated[TimePs | None, Field(description="added by each received packet")] = None
    llr: Annotated[bool | None, Field(description="link-level retry")] = None

    def given(self) -> dict[str, Any]:
        """The keys that change something, with their values."""
        return {key: value for key, value in self if value is not None and key != "base"}


class AnySwitchOverrides(Overrides):
    """Keys of a ``switch_model`` of either technology."""

    forwarding_latency: Annotated[
        TimePs | None, Field(description="header in to header out, uncontended")
    ] = None
    forwarding: Annotated[Forwarding | None, Field(description="when a packet may leave")] = None


class SwitchOverrides(AnySwitchOverrides):
    """Keys of an InfiniBand ``switch_model``."""

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
    arbitration: Annotated[
        Literal["round_robin", "random"] | None, Field(description="choice among the inputs of an output")
    ] = None
    data_vls: Annotated[int | None, Field(description="data VLs that it has")] = None
    vl15_buffer: Annotated[SizeBytes | None, Field(description="buffer of VL15")] = None

    def given(self) -> dict[str, Any]:
        """As that of every model; an infinite lifetime is kept as None."""
        lives = self.model_fields_set & {"hoq_life", "leaf_hoq_life"}
        given = super().given() | {key: getattr(self, key) for key in sorted(lives)}
        if "hoq_life" in given:
            given.setdefault("leaf_hoq_life", given["hoq_life"])
        return given


class PfcOverrides(Overrides):
    """Keys of whatever sends and obeys PFC frames."""

    fields: ClassVar[dict[str, str]] = {
        "pfc_headroom": "headroom_bytes",
        "pfc_xon_offset": "xon_offset_bytes",
        "pfc_response": "response_ps",
        "pfc_quanta": "pause_quanta",
        "pfc_watchdog": "watchdog",
        "alpha": "alpha_q16",
        "egress_alpha": "egress_alpha_q16",
    }

    pfc_headroom: Annotated[
        SizeOrNothing | None,
        Field(description="buffer of a lossless priority for what comes after its pause; default: a formula"),
    ] = None
    headroom_profile: Annotated[HeadroomProfile | None, Field(description="which formula")] = None
    pfc_xon_offset: Annotated[
        SizeOrNothing | None, Field(description="a pause ends so far below the threshold that began it")
    ] = None
    pfc_response: Annotated[
        TimePs | None, Field(description="from the end of a PFC frame to its effect; default: IEEE 802.3's")
    ] = None


class EthernetSwitchOverrides(PfcOverrides, AnySwitchOverrides):
    """Keys of a RoCE ``switch_model``."""

    parts: ClassVar[tuple[str, ...]] = ("ecn", "pfc_watchdog")

    pfc_quanta: Annotated[
        int | None, Field(description="quanta of 512 bit times that a PFC frame pauses for; default: 65535")
    ] = None
    shared_buffer: Annotated[SizeBytes | None, Field(description="the pool that all ports share")] = None
    alpha: Annotated[
        Alpha, Field(description="a priority group may hold alpha times what is free of the pool")
    ] = None
    egress_alpha: Annotated[Alpha, Field(description="the same for the egress queue of a lossy priority")] = (
        None
    )
    reserve: Annotated[SizeOrNothing | None, Field(description="own buffer of each priority group")] = None
    ecn: Annotated[
        Any, Wanted("`none`, or a mapping"), Field(description="marking of egress queues; see below")
    ] = None
    pfc_watchdog: Annotated[
        Any, Wanted("`none`, or a mapping"), Field(description="what ends a pause storm; see below")
    ] = None


class AnyHcaOverrides(Overrides):
    """Keys of an ``hca_model`` of either technology."""

    tx_latency: Annotated[TimePs | None, Field(description="post to first byte on the wire")] = None
    rx_latency: Annotated[TimePs | None, Field(description="last byte off the wire to memory")] = None
    drain_rate: Annotated[RateBps | None, Field(description="rate at which the host takes data out")] = None
    ack_every: Annotated[int | None, Field(description="packets for one acknowledgement")] = None
    ack_timeout: Annotated[TimePs | None, Field(description="time without one before a retry")] = None
    retry_count: Annotated[int | None, Field(description="retries before the queue pair fails")] = None
    rnr_retry: Annotated[int | None, Field(description="retries after receiver-not-ready; 7: no end")] = None
    rnr_timer: Annotated[TimePs | None, Field(description="wait after receiver-not-ready")] = None
    receive_buffer: Annotated[
        SizeBytes | None, Field(description="input buffer of one VL, or of one lossless priority")
    ] = None


class HcaOverrides(AnyHcaOverrides):
    """Keys of an InfiniBand ``hca_model``."""

    credit_block: Annotated[SizeBytes | None, Field(description="unit of credit")] = None
    vl15_buffer: Annotated[SizeBytes | None, Field(description="buffer of VL15")] = None


class RoceHcaOverrides(PfcOverrides, AnyHcaOverrides):
    """Keys of a RoCE ``hca_model``."""

    loss_recovery: Annotated[
        LossRecovery | None,
        Field(description="what is sent again: all since the loss, what is missing, or the whole message"),
    ] = None
    reorder_packets: Annotated[
        int | None, Field(description="packets that may come ahead of one before it counts as lost")
    ] = None
    window_packets: Annotated[
        int | None, Field(description="unacknowledged packets of a queue pair at most; 0: no such limit")
    ] = None
