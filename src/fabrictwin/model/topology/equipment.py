# SPDX-License-Identifier: Apache-2.0
"""What a topology is built of: one switch model, one HCA model and one kind of cable."""

from __future__ import annotations

from dataclasses import dataclass

from fabrictwin.model.fabric import MM_PER_M, NodeKind, Technology
from fabrictwin.model.hardware import (
    ETHERNET_SWITCH_MODELS,
    HCA_MODELS,
    ROCE_HCA_MODELS,
    SWITCH_MODELS,
    AnySwitchModel,
    HardwareModel,
    HcaModel,
)
from fabrictwin.units import show_rate

DEFAULT_LENGTH_MM = 10 * MM_PER_M


@dataclass(frozen=True, slots=True)
class LinkDefaults:
    """A cable, where the topology does not say otherwise.

    Attributes:
        rate_bps: Effective rate of each direction.
        length_mm: Cable length.
    """

    rate_bps: int
    length_mm: int = DEFAULT_LENGTH_MM


@dataclass(frozen=True, slots=True)
class Equipment:
    """The parts of a fabric.

    Attributes:
        switch: Model of every switch.
        hca: Model of every HCA.
        link: Every cable's rate and length.
    """

    switch: AnySwitchModel
    hca: HcaModel
    link: LinkDefaults

    @property
    def technology(self) -> Technology:
        """Link layer of the fabric."""
        return self.switch.technology

    def slowest(self, *kinds: NodeKind) -> HardwareModel:
        """The model of those kinds whose ports are the slowest: no cable between them is faster."""
        models: list[HardwareModel] = [self.hca if kind is NodeKind.HCA else self.switch for kind in kinds]
        return min(models, key=lambda model: model.highest_rate_bps)

    def rate_problem(self, rate_bps: int, *kinds: NodeKind) -> str:
        """What is wrong with the rate of a cable between nodes of some kinds; empty if nothing is."""
        model = self.slowest(*kinds)
        if rate_bps <= model.highest_rate_bps:
            return ""
        most = show_rate(model.highest_rate_bps)
        return f"{show_rate(rate_bps)} is more than a port of {model.name} can do; the most is {most}"

    @classmethod
    def of(cls, switch: str, hca: str, length_mm: int = DEFAULT_LENGTH_MM) -> Equipment:
        """Parts by their names in the hardware tables, cabled at the highest rate that both have.

        Raises:
            KeyError: A name is not in its table.
        """
        switch_model: AnySwitchModel = (SWITCH_MODELS | ETHERNET_SWITCH_MODELS)[switch]
        hca_model = (HCA_MODELS | ROCE_HCA_MODELS)[hca]
        rate_bps = min(switch_model.rate_bps, hca_model.rate_bps)
        return cls(switch_model, hca_model, LinkDefaults(rate_bps, length_mm))
