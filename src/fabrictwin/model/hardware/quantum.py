# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's Quantum switches: HDR, NDR, XDR.

Common to the three: 131,072 B of buffer per port and VL is not published; it is the most that InfiniBand's
credit fields can say (2048 blocks of 64 B, A). Eight data VLs are from memory (M): no public page that was
read says how many. Link-level retry is A: the firmware notes describe physical-layer retransmission on
Quantum. FEC stays 0, because the published port-to-port latencies already hold it.
"""

from __future__ import annotations

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware.switch_model import SwitchModel
from fabrictwin.units import PS_PER_NS

QUANTUM_HDR = SwitchModel(
    name="quantum_hdr",
    title="NVIDIA Quantum (QM8700), 40 ports of HDR",
    technology=Technology.INFINIBAND,
    source="vendor pages: 40 x 200 Gb/s, 'sub-130 ns' port to port (A)",
    ports=40,
    rate_bps=200_000_000_000,
    forwarding_latency_ps=130 * PS_PER_NS,
    llr=True,
)

QUANTUM2 = SwitchModel(
    name="quantum2",
    title="NVIDIA Quantum-2 (QM9700), 64 ports of NDR",
    technology=Technology.INFINIBAND,
    source="vendor pages: 64 x 400 Gb/s (A); latency in conflict, under 150 ns against about 330 ns with FEC "
    "(A); middle taken: 230 ns ± 100 (C)",
    ports=64,
    rate_bps=400_000_000_000,
    forwarding_latency_ps=230 * PS_PER_NS,
    llr=True,
)

QUANTUM_X800 = SwitchModel(
    name="quantum_x800",
    title="NVIDIA Quantum-X800 (Q3400), 144 ports of XDR",
    technology=Technology.INFINIBAND,
    source="vendor pages: 144 x 800 Gb/s (A); latency not published, Quantum-2's taken (M)",
    ports=144,
    rate_bps=800_000_000_000,
    # Not published: the twin assumes the generation before it.
    forwarding_latency_ps=QUANTUM2.forwarding_latency_ps,
    llr=True,
)
