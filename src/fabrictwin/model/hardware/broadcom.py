# SPDX-License-Identifier: Apache-2.0
"""Broadcom's Tomahawk and Trident switches.

Tomahawk 5's alpha, reserve and XON offset are SONiC's for the 7060X6 with ports of 400 Gb/s. The others have
an assumed alpha of 1 (M), and the reserve of 4 KiB and the offset of 3 KiB of HPCC's simulator of such
switches (P).
"""

from __future__ import annotations

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware.ecn import ECN_SETS
from fabrictwin.model.hardware.ethernet_switch_model import EthernetSwitchModel
from fabrictwin.units import PS_PER_NS

_TOMAHAWK_RATE_BPS = 800_000_000_000
_TRIDENT2_RATE_BPS = 40_000_000_000

TOMAHAWK5 = EthernetSwitchModel(
    name="tomahawk5",
    title="Broadcom Tomahawk 5, 64 ports of 800 GbE",
    technology=Technology.ROCE,
    source="64 x 800 Gb/s (A); SONiC: pool of 165,364,160 B, alpha, reserve, XON offset, ECN (P); latency of "
    "the class of 300 ns to 2 µs (A), 500 ns taken (M)",
    ports=64,
    rate_bps=_TOMAHAWK_RATE_BPS,
    forwarding_latency_ps=500 * PS_PER_NS,
    shared_buffer_bytes=165_364_160,
    reserve_bytes=18_796,
    xon_offset_bytes=3_556,
    ecn=ECN_SETS["sonic_azure"].at(_TOMAHAWK_RATE_BPS),
)

TOMAHAWK_ULTRA = EthernetSwitchModel(
    name="tomahawk_ultra",
    title="Broadcom Tomahawk Ultra, 64 ports of 800 GbE",
    technology=Technology.ROCE,
    source="51.2 Tb/s, 250 ns, link-level retry (A; credit-based flow control is not modelled); buffer not "
    "published, Tomahawk 5's taken (M)",
    ports=64,
    rate_bps=_TOMAHAWK_RATE_BPS,
    forwarding_latency_ps=250 * PS_PER_NS,
    shared_buffer_bytes=TOMAHAWK5.shared_buffer_bytes,
    ecn=ECN_SETS["sonic_azure"].at(_TOMAHAWK_RATE_BPS),
    llr=True,
)

TRIDENT2 = EthernetSwitchModel(
    name="trident2",
    title="Broadcom Trident II, 32 ports of 40 GbE",
    technology=Technology.ROCE,
    source="DCQCN paper: 32 x 40 Gb/s, 12 MB (M), ECN (A); latency of Trident+, 850 ns (A), taken (M)",
    ports=32,
    rate_bps=_TRIDENT2_RATE_BPS,
    forwarding_latency_ps=850 * PS_PER_NS,
    shared_buffer_bytes=12_000_000,
    ecn=ECN_SETS["dcqcn_paper"].at(_TRIDENT2_RATE_BPS),
)
