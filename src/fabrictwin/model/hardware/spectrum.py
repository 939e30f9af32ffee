# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's Spectrum switches.

The buffer is that of SONiC's templates for the SN5600; another page says 128 MB. The reserve is SONiC's
pipeline latency, which it calls xon.
"""

from __future__ import annotations

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware.ecn import ECN_SETS
from fabrictwin.model.hardware.ethernet_switch_model import EthernetSwitchModel
from fabrictwin.units import PS_PER_NS

_RATE_BPS = 800_000_000_000

SPECTRUM4 = EthernetSwitchModel(
    name="spectrum4",
    title="NVIDIA Spectrum-4 (SN5600), 64 ports of 800 GbE",
    technology=Technology.ROCE,
    source="vendor pages: 64 x 800 Gb/s (A); SONiC: ingress pool of 113.7 MB, reserve 19 KiB, alpha, "
    "ECN (P); latency not published, Rosetta's 350 ns (A) taken (M); XON offset of HPCC's simulator (M)",
    ports=64,
    rate_bps=_RATE_BPS,
    forwarding_latency_ps=350 * PS_PER_NS,
    shared_buffer_bytes=113_700_000,
    reserve_bytes=19 * 1024,
    headroom_profile="h2_sonic",
    ecn=ECN_SETS["sonic_sn5600_tor"].at(_RATE_BPS),
)
