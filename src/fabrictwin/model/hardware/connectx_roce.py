# SPDX-License-Identifier: Apache-2.0
"""ConnectX adapters in Ethernet mode.

An adapter takes 300 to 600 ns on either side (M); the middle is taken. The receive buffer of a port is
262,016 B where a vendor page shows it (A); ConnectX-8, whose headroom alone would fill that, is taken to have
twice as much (M). XON offset as Linux sets it: one MTU between XOFF and XON (P).
"""

from __future__ import annotations

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware.hca_model import HcaModel
from fabrictwin.units import PS_PER_NS

_LATENCY_PS = 450 * PS_PER_NS
_RECEIVE_BUFFER_BYTES = 262_016
_LARGEST_MTU_BYTES = 4096

CONNECTX6_ROCE = HcaModel(
    name="connectx6_roce",
    title="NVIDIA ConnectX-6, 200 GbE",
    technology=Technology.ROCE,
    source="rate: vendor pages (A); receive buffer: vendor page of an earlier part (A); latencies (M)",
    ports=2,
    rate_bps=200_000_000_000,
    tx_latency_ps=_LATENCY_PS,
    rx_latency_ps=_LATENCY_PS,
    receive_buffer_bytes=_RECEIVE_BUFFER_BYTES,
    xon_offset_bytes=_LARGEST_MTU_BYTES,
)

CONNECTX7_ROCE = HcaModel(
    name="connectx7_roce",
    title="NVIDIA ConnectX-7, 400 GbE",
    technology=Technology.ROCE,
    source="rate: vendor pages (A); receive buffer as ConnectX-6's (M); latencies (M)",
    ports=2,
    rate_bps=400_000_000_000,
    tx_latency_ps=_LATENCY_PS,
    rx_latency_ps=_LATENCY_PS,
    receive_buffer_bytes=_RECEIVE_BUFFER_BYTES,
    xon_offset_bytes=_LARGEST_MTU_BYTES,
)

CONNECTX8_ROCE = HcaModel(
    name="connectx8_roce",
    title="NVIDIA ConnectX-8, 800 GbE",
    technology=Technology.ROCE,
    source="rate: vendor pages (A); receive buffer twice ConnectX-6's (M); latencies (M)",
    ports=2,
    rate_bps=800_000_000_000,
    tx_latency_ps=_LATENCY_PS,
    rx_latency_ps=_LATENCY_PS,
    receive_buffer_bytes=2 * _RECEIVE_BUFFER_BYTES,
    xon_offset_bytes=_LARGEST_MTU_BYTES,
)
