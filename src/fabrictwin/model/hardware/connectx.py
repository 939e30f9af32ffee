# SPDX-License-Identifier: Apache-2.0
"""ConnectX HCAs: HDR, NDR, XDR.

Latency: a published table of `ib_send_lat` has 0.82 µs for 32 B over RC (A). Behind one Quantum switch
(130 ns), two cables of 10 m (100 ns) and the wire time of the packet, about 590 ns remain for both ends; the
split of 350 ns to send and 240 ns to receive is ours (C). ConnectX-7 and ConnectX-8 publish no such table:
ConnectX-6's is taken (M).
"""

from __future__ import annotations

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware.hca_model import HcaModel
from fabrictwin.units import PS_PER_NS

_TX_LATENCY_PS = 350 * PS_PER_NS
_RX_LATENCY_PS = 240 * PS_PER_NS

CONNECTX6 = HcaModel(
    name="connectx6",
    title="NVIDIA ConnectX-6, HDR",
    technology=Technology.INFINIBAND,
    source="rate: vendor pages (A); latencies from ib_send_lat, 0.82 µs for 32 B (A, split C)",
    ports=2,
    rate_bps=200_000_000_000,
    tx_latency_ps=_TX_LATENCY_PS,
    rx_latency_ps=_RX_LATENCY_PS,
    llr=True,
)

CONNECTX7 = HcaModel(
    name="connectx7",
    title="NVIDIA ConnectX-7, NDR",
    technology=Technology.INFINIBAND,
    source="rate: vendor pages (A); latencies as ConnectX-6 (M)",
    ports=2,
    rate_bps=400_000_000_000,
    tx_latency_ps=_TX_LATENCY_PS,
    rx_latency_ps=_RX_LATENCY_PS,
    llr=True,
)

CONNECTX8 = HcaModel(
    name="connectx8",
    title="NVIDIA ConnectX-8, XDR",
    technology=Technology.INFINIBAND,
    source="rate: vendor pages (A); latencies as ConnectX-6 (M)",
    ports=2,
    rate_bps=800_000_000_000,
    tx_latency_ps=_TX_LATENCY_PS,
    rx_latency_ps=_RX_LATENCY_PS,
    llr=True,
)
