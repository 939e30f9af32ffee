# SPDX-License-Identifier: Apache-2.0
"""InfiniScale IV: the 36-port QDR switch of the clusters of 2009 to 2013."""

from __future__ import annotations

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware.limits import CREDIT_BLOCK_BYTES
from fabrictwin.model.hardware.switch_model import SwitchModel
from fabrictwin.units import PS_PER_NS

INFINISCALE4 = SwitchModel(
    name="infiniscale4",
    title="Mellanox InfiniScale IV, 36 ports of QDR",
    technology=Technology.INFINIBAND,
    source="ib_flit_sim's model of the part: 36 x 40 Gb/s signalling, input buffer of about 1000 flits of "
    "64 B, 100 to 150 ns in all (P); middle taken (C)",
    ports=36,
    # QDR signals at 40 Gb/s; 8b/10b leaves 32.
    rate_bps=32_000_000_000,
    forwarding_latency_ps=125 * PS_PER_NS,
    # The model speaks of the buffer of a port; the twin gives each VL as much.
    buffer_per_vl_bytes=1000 * CREDIT_BLOCK_BYTES,
)
