# SPDX-License-Identifier: Apache-2.0
"""What only a whole RoCE fabric shows: headroom that does not fit, or that is too little, and marking that
comes too late."""

from __future__ import annotations

from collections.abc import Iterator

from fabrictwin.errors import Problem
from fabrictwin.model.congestion import CongestionControl
from fabrictwin.model.fabric import Link, NodeKind, PortRef, Technology
from fabrictwin.model.hardware import EthernetSwitchModel, HcaModel
from fabrictwin.model.hardware.ethernet_switch_model import ALPHA_UNIT
from fabrictwin.model.hardware.headroom import headroom_bytes, least_headroom_bytes, response_ps
from fabrictwin.model.scenario.fabric import ScenarioFabric
from fabrictwin.model.section import Section

PfcModel = EthernetSwitchModel | HcaModel


def check_lossless(section: Section, built: ScenarioFabric, lossless: frozenset[int]) -> list[Problem]:
    """Whether every lossless priority has headroom, and enough of it.

    Args:
        section: Key ``fabric``; headroom that does not fit is refused there.
        built: What it describes.
        lossless: Lossless priorities.

    Returns:
        Warnings of headroom that may lose packets.
    """
    if built.fabric.technology is not Technology.ROCE or not lossless:
        return []
    _check_switches(section, built, len(lossless))
    _check_hcas(section, built)
    return [
        *_note_little(section, built, "switch_model", NodeKind.SWITCH),
        *_note_little(section, built, "hca_model", NodeKind.HCA),
    ]


def check_marking(
    section: Section, built: ScenarioFabric, lossless: frozenset[int], control: CongestionControl
) -> list[Problem]:
    """Warnings of marks that never come, or only after pauses.

    Args:
        section: Key ``fabric``.
        built: What it describes.
        lossless: Lossless priorities.
        control: Congestion control.
    """
    model = built.switch_model
    if control.algorithm != "dcqcn" or not isinstance(model, EthernetSwitchModel):
        return []
    place = (*section.path, "switch_model")
    if model.ecn is None:
        return [
            section.document.problem(place, "the switches mark nothing: dcqcn will hear of no congestion")
        ]
    groups = len(lossless) * max((len(links) for _, links in _cables(built, NodeKind.SWITCH)), default=0)
    threshold = _shared_threshold(model, groups)
    if not lossless or model.ecn.kmin_bytes < threshold:
        return []
    text = (
        f"ECN marks from {model.ecn.kmin_bytes:,} B on, but with all {groups} lossless priority groups of a "
        f"switch congested PFC pauses at alpha * shared_buffer / (1 + alpha * {groups}) = {threshold:,} B: "
        "pauses come before marks, and congestion spreads"
    )
    return [section.document.problem(place, text)]


def check_acknowledgements(section: Section, built: ScenarioFabric, control: CongestionControl) -> None:
    """Refuses an algorithm that adapters never tell what it needs.

    Args:
        section: Key ``congestion_control``.
        built: What ``fabric`` describes.
        control: Congestion control.
    """
    if control.algorithm == "hpcc" and built.hca_model.loss_recovery == "go_back_0":
        section.refuse(
            "hpcc needs an acknowledgement of every packet, and with loss_recovery 'go_back_0' adapters "
            "acknowledge whole messages only; expected go_back_n or selective_repeat",
            "algorithm",
        )


def _shared_threshold(model: EthernetSwitchModel, groups: int) -> int:
    """What each of some equally congested priority groups gets of the pool."""
    if model.alpha_q16 == 0:
        return model.shared_buffer_bytes // max(1, groups)
    return model.alpha_q16 * model.shared_buffer_bytes // (ALPHA_UNIT + model.alpha_q16 * groups)


def _cables(built: ScenarioFabric, kind: NodeKind) -> Iterator[tuple[int, list[Link]]]:
    """(node, its cables) of every node of a kind."""
    for index, node in built.fabric.of_kind(kind):
        ends = (PortRef(index, number) for number in range(1, node.ports + 1))
        yield index, [built.fabric.link_at[end] for end in ends if end in built.fabric.link_at]


def _headroom(model: PfcModel, link: Link, mtu_bytes: int) -> int:
    if model.headroom_bytes is not None:
        return model.headroom_bytes
    return headroom_bytes(model.headroom_profile, link.rate_bps, link.length_mm, mtu_bytes)


def _origin(model: PfcModel) -> str:
    return "pfc_headroom" if model.headroom_bytes is not None else f"formula {model.headroom_profile}"


def _check_switches(section: Section, built: ScenarioFabric, priorities: int) -> None:
    model = built.switch_model
    assert isinstance(model, EthernetSwitchModel)
    for index, links in _cables(built, NodeKind.SWITCH):
        name = built.fabric.nodes[index].name
        total = priorities * sum(_headroom(model, link, built.mtu_bytes) for link in links)
        if total > model.shared_buffer_bytes:
            section.refuse(
                f"headroom is larger than the buffer: {len(links)} ports of {name} with "
                f"{priorities} lossless priorities each take {total:,} B by {_origin(model)}; "
                f"shared_buffer is {model.shared_buffer_bytes:,} B",
                "switch_model",
            )
            return


def _check_hcas(section: Section, built: ScenarioFabric) -> None:
    model = built.hca_model
    for node, links in _cables(built, NodeKind.HCA):
        for link in links:
            headroom = _headroom(model, link, built.mtu_bytes)
            if model.receive_buffer_bytes - headroom <= model.xon_offset_bytes:
                section.refuse(
                    f"headroom and XON offset are larger than the receive buffer of "
                    f"{built.fabric.nodes[node].name}: XOFF stands at receive_buffer - headroom = "
                    f"{model.receive_buffer_bytes:,} - {headroom:,} B (by {_origin(model)}), XON "
                    f"{model.xon_offset_bytes:,} B lower",
                    "hca_model",
                )
                return


def _note_little(section: Section, built: ScenarioFabric, key: str, kind: NodeKind) -> list[Problem]:
    """A warning if the headroom of some port is less than what comes after a pause at worst."""
    models: dict[NodeKind, PfcModel] = {NodeKind.HCA: built.hca_model}
    if isinstance(built.switch_model, EthernetSwitchModel):
        models[NodeKind.SWITCH] = built.switch_model
    own = models[kind]
    for node, links in _cables(built, kind):
        for link in links:
            other = link.b.node if link.a.node == node else link.a.node
            waits_ps = models[built.fabric.nodes[other].kind].response_ps
            if waits_ps is None:
                waits_ps = response_ps(link.rate_bps)
            least = least_headroom_bytes(link.rate_bps, link.length_mm, built.mtu_bytes, waits_ps)
            headroom = _headroom(own, link, built.mtu_bytes)
            if headroom < least:
                text = (
                    f"headroom of {built.fabric.nodes[node].name} is {headroom:,} B by {_origin(own)}, less "
                    f"than 2 * rate * delay + response + 2 frames = {least:,} B: lossless packets can be lost"
                )
                return [section.document.problem((*section.path, key), text)]
    return []
