# SPDX-License-Identifier: Apache-2.0
"""One stream of RDMA writes gets the payload's share of the wire.

Setup: h0 - switch - h1, MTU 4096, one message of 100 MB, no loss; InfiniBand and RoCEv2.
Expected: C * 4096 / 4122: every packet carries 26 bytes of headers and checksums. 397.5 Gb/s at 400 Gb/s.
C * 4096 / 4178 on Ethernet, 392.2 Gb/s at 400 Gb/s: 82 bytes, preamble and gap included.
Tolerance: 0.1 %. The measure runs from the first byte posted to the last in memory, so that it holds one
latency of the path (0.8 us of 2 ms, 0.04 %), and flow-control packets for the acknowledgements take 0.01 %
of the link.
"""

from __future__ import annotations

import pytest

from validation.conftest import Note
from validation.ethernet import build_roce
from validation.setups import build, run, star


@pytest.mark.parametrize("gbps", [100, 200, 400, 800])
def test_stream_reaches_the_payload_share_of_the_wire(gbps: int, measured: Note) -> None:
    scenario = build(
        star(2), [{"kind": "stream", "src": "h0", "dst": "h1", "message": "100MB"}], rate=f"{gbps}Gb/s"
    )
    goodput = run(scenario).result()["flows"][0]["goodput_bps"] / 1e9
    expected = gbps * 4096 / 4122
    measured(f"{gbps} Gb/s", f"{expected:.1f} Gb/s ± 0.1 %", f"{goodput:.1f} Gb/s")
    assert goodput == pytest.approx(expected, rel=0.001)


@pytest.mark.parametrize("gbps", [100, 400, 800])
def test_stream_reaches_the_payload_share_of_an_ethernet_frame(gbps: int, measured: Note) -> None:
    scenario = build_roce(
        star(2), [{"kind": "stream", "src": "h0", "dst": "h1", "message": "100MB"}], rate=f"{gbps}Gb/s"
    )
    goodput = run(scenario).result()["flows"][0]["goodput_bps"] / 1e9
    expected = gbps * 4096 / 4178
    measured(f"RoCEv2, {gbps} Gb/s", f"{expected:.1f} Gb/s ± 0.1 %", f"{goodput:.1f} Gb/s")
    assert goodput == pytest.approx(expected, rel=0.001)
