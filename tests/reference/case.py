# SPDX-License-Identifier: Apache-2.0
"""What the oracle simulates: a compiled scenario with its routes, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fabrictwin.model.action import Action
from fabrictwin.model.congestion import CongestionControl
from fabrictwin.model.fabric import Fabric, PortRef
from fabrictwin.model.hardware import HcaModel, SwitchModel
from fabrictwin.model.program import Job
from fabrictwin.model.qos import Qos

ONE_VL = Qos(data_vls=1, sl2vl=(0,) * 16, vlarb_high=(), vlarb_low=((0, 64),), vl_high_limit=0)
NO_CONTROL = CongestionControl()


@dataclass(frozen=True)
class Case:
    """Everything that the oracle needs.

    Attributes:
        fabric: Nodes and cables.
        switches: Model of each switch, by node.
        hcas: Model of each HCA, by node.
        mtu_bytes: Largest payload.
        jobs: The workload.
        actions: The faults, in the order of their index.
        lft: Output port by node and LID; 255 or absent: none.
        lids: LID of each HCA port.
        lmc: An HCA port has 2**lmc LIDs; queue pairs of a flow take them in turn.
        service_level: SL of the path from a port to a LID, where routing decides it; None: the flow's.
        lft_writes: (fabric time, switch, output port by LID) of what is written into tables later.
        seed: Seed of every draw.
        qos: VLs and their arbitration, the same on every port.
        congestion_control: The setting of every switch and HCA.
    """

    fabric: Fabric
    switches: Mapping[int, SwitchModel]
    hcas: Mapping[int, HcaModel]
    mtu_bytes: int
    jobs: Sequence[Job]
    lft: Mapping[int, Mapping[int, int]]
    lids: Mapping[PortRef, int]
    lmc: int = 0
    service_level: Callable[[PortRef, int], int] | None = None
    actions: Sequence[Action] = ()
    lft_writes: Sequence[tuple[int, int, Mapping[int, int]]] = ()
    seed: int = 1
    qos: Qos = ONE_VL
    congestion_control: CongestionControl = NO_CONTROL
