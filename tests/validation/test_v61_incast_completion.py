# SPDX-License-Identifier: Apache-2.0
"""An incast is over when everything has passed the receiver's link.

Setup: N hosts send 2 MB each to one at 100 Gb/s, all at once, MTU 4096, no congestion control; one switch,
or two tiers where it has too few ports.
Expected: N * 490 * 4150 * 8 / C for packets of 4150 bytes with 4086 of payload: 2440 us with 15 senders, 20
660 us with 127. An InfiniBand packet carries 4096 bytes in 4122, so that 2 MB are 489 packets and 2 012 714
bytes on the wire: 1.0 % less.
RoCEv2, lossless: 4096 in 4178, 2 040 098 bytes on the wire, 0.3 % more.
Tolerance: 2 % of the published figures, which leaves room for that; 0.1 % of N times those bytes * 8 / C plus
the latency of one packet through the idle path, for the flow-control packets of the acknowledgements.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_US
from validation import ethernet
from validation.conftest import Note
from validation.setups import Keys, build, latency_ps, run, star, wire_bytes, wire_ps

MESSAGE, MTU = 2_000_000, 4096
LINK_BPS = 100_000_000_000


TREE = {"generator": "fat_tree", "levels": 2, "leaves": 4, "hosts_per_leaf": 32, "spines": 32}
"""128 hosts where a switch has 64 ports."""

Bytes = Callable[[int], int]


@pytest.mark.parametrize(
    ("name", "topology", "senders", "published_us", "builder", "packet_bytes"),
    [
        ("N = 15", star(16), 15, 2440, build, wire_bytes),
        ("N = 127", star(128), 127, 20_660, build, wire_bytes),
        ("RoCEv2, N = 15", star(16), 15, 2440, ethernet.build_roce, ethernet.wire_bytes),
        ("RoCEv2, N = 127, two tiers", TREE, 127, 20_660, ethernet.build_roce, ethernet.wire_bytes),
    ],
)
def test_last_message_ends_when_all_bytes_have_passed_the_link(
    name: str,
    topology: Keys,
    senders: int,
    published_us: int,
    builder: Callable[..., Scenario],
    packet_bytes: Bytes,
    measured: Note,
) -> None:
    incast = {"kind": "incast", "senders": "all", "receiver": "h0", "message": f"{MESSAGE}B"}
    simulation = run(builder(topology, [incast], rate="100Gb/s"))
    tail_us = int(simulation.message_latencies_ps.max()) / PS_PER_US
    one_packet = [{"kind": "stream", "src": f"h{senders}", "dst": "h0", "message": f"{MTU}B"}]
    path_us = latency_ps(run(builder(topology, one_packet, rate="100Gb/s"))) / PS_PER_US
    packets, rest = divmod(MESSAGE, MTU)
    wire = senders * (packets * packet_bytes(MTU) + packet_bytes(rest))
    law_us = wire_ps(wire, LINK_BPS) / PS_PER_US + path_us
    measured(name, f"{published_us} us ± 2% ({law_us:.1f} us ± 0.1%)", f"{tail_us:.1f} us")
    assert packets + 1 == 489
    assert simulation.result()["totals"]["dropped_packets"] == 0
    assert tail_us == pytest.approx(published_us, rel=0.02)
    assert tail_us == pytest.approx(law_us, rel=0.001)
