# SPDX-License-Identifier: Apache-2.0
"""Generic parts, for hardware without published data and for imported fabrics of mixed ages.

Every number here is an assumption (M), in the middle of the parts that do publish; override what you know.
"""

from __future__ import annotations

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware.ethernet_switch_model import EthernetSwitchModel
from fabrictwin.model.hardware.hardware_model import MAX_PORTS
from fabrictwin.model.hardware.hca_model import HcaModel
from fabrictwin.model.hardware.spectrum import SPECTRUM4
from fabrictwin.model.hardware.switch_model import SwitchModel
from fabrictwin.units import PS_PER_NS

NATIVE_IB = SwitchModel(
    name="native_ib",
    title="Generic InfiniBand switch of any radix",
    technology=Technology.INFINIBAND,
    source="assumed: 200 ns, 400 Gb/s ports, the largest standard buffer (M)",
    ports=MAX_PORTS,
    any_radix=True,
    rate_bps=400_000_000_000,
    any_rate=True,
    forwarding_latency_ps=200 * PS_PER_NS,
)

NATIVE_ROCE = EthernetSwitchModel(
    name="native_roce",
    title="Generic RoCE switch of any radix",
    technology=Technology.ROCE,
    source="assumed: Spectrum-4's numbers, buffer included, with as many ports as are needed (M)",
    ports=MAX_PORTS,
    any_radix=True,
    rate_bps=SPECTRUM4.rate_bps,
    any_rate=True,
    forwarding_latency_ps=SPECTRUM4.forwarding_latency_ps,
    shared_buffer_bytes=SPECTRUM4.shared_buffer_bytes,
    reserve_bytes=SPECTRUM4.reserve_bytes,
    headroom_profile=SPECTRUM4.headroom_profile,
    ecn=SPECTRUM4.ecn,
)

NATIVE_HCA = HcaModel(
    name="native_hca",
    title="Generic InfiniBand HCA",
    technology=Technology.INFINIBAND,
    source="assumed: ConnectX-6 class latencies, 400 Gb/s ports (M)",
    ports=2,
    rate_bps=400_000_000_000,
    any_rate=True,
    tx_latency_ps=350 * PS_PER_NS,
    rx_latency_ps=240 * PS_PER_NS,
)
