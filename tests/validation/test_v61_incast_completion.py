# SPDX-License-Identifier: Apache-2.0
"""An incast is over when everything has passed the receiver's link.

Setup: N hosts send 2 MB each to one at 100 Gb/s, all at once, MTU 4096, no congestion control.
Expected: N * 490 * 4150 * 8 / C for packets of 4150 bytes with 4086 of payload: 2440 us with 15 senders, 20
660 us with 127. An InfiniBand packet carries 4096 bytes in 4122, so that 2 MB are 489 packets and 2 012 714
bytes on the wire: 1.0 % less.
Tolerance: 2 % of the published figures, which leaves room for that 1 %; 0.1 % of N * 2 012 714 * 8 / C plus
the latency of one packet through the idle path, for the flow-control packets of the acknowledgements.
"""

from __future__ import annotations

import pytest

from fabrictwin.units import PS_PER_US
from validation.conftest import Note
from validation.setups import build, latency_ps, run, star, wire_bytes, wire_ps

MESSAGE, MTU = 2_000_000, 4096
LINK_BPS = 100_000_000_000


@pytest.mark.parametrize(("senders", "published_us"), [(15, 2440), (127, 20_660)])
def test_last_message_ends_when_all_bytes_have_passed_the_link(
    senders: int, published_us: int, measured: Note
) -> None:
    incast = {"kind": "incast", "senders": "all", "receiver": "h0", "message": f"{MESSAGE}B"}
    tail_us = (
        int(run(build(star(senders + 1), [incast], rate="100Gb/s")).message_latencies_ps.max()) / PS_PER_US
    )
    one_packet = [{"kind": "stream", "src": "h1", "dst": "h0", "message": f"{MTU}B"}]
    path_us = latency_ps(run(build(star(2), one_packet, rate="100Gb/s"))) / PS_PER_US
    packets, rest = divmod(MESSAGE, MTU)
    wire = senders * (packets * wire_bytes(MTU) + wire_bytes(rest))
    law_us = wire_ps(wire, LINK_BPS) / PS_PER_US + path_us
    measured(f"N = {senders}", f"{published_us} us ± 2% ({law_us:.1f} us ± 0.1%)", f"{tail_us:.1f} us")
    assert packets + 1 == 489
    assert tail_us == pytest.approx(published_us, rel=0.02)
    assert tail_us == pytest.approx(law_us, rel=0.001)
