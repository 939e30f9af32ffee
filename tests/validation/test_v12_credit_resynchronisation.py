# SPDX-License-Identifier: Apache-2.0
"""Neither a lost data packet nor a lost flow-control packet leaks credits for good.

Setup: h0 - switch - h1 at 400 Gb/s over 100 m; the switch's input buffer holds 16 packets, which the round
trip of 1.1 us needs. A symbol error hits exactly one data packet, or exactly one flow-control packet, of
h0's cable: a window of 1 ns around its start in a run without errors.
Expected: at rest after the next flow-control packet, which comes within 65 536 symbol times (5.24 ms), the
sender's credits are the whole buffer again (ABR = FCTBS). In a stream the throughput of the 10 ms after the
loss is that of a run without it.
Tolerance: none for the credits; 0.1 % of the throughput, for one packet more or less in the window.
"""

from __future__ import annotations

import pytest

from fabrictwin.engine.codes import SEQUENCE_MASK
from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_MS, PS_PER_US
from validation.conftest import Note
from validation.setups import (
    Keys,
    build,
    counter,
    fcps_sent,
    line,
    open_simulation,
    packets_sent,
    port_index,
    rates_bps,
    run,
)

PACKET_BLOCKS = 65
BUFFER_BLOCKS = 16 * PACKET_BLOCKS
REFRESH_PS = 65_536 * 4 * 20
"""65 536 symbol times are so many byte times of four lanes; a byte takes 20 ps."""

WHAT = pytest.mark.parametrize("what", ["data packet", "flow-control packet"])


def one_hit(start_ps: int) -> list[Keys]:
    """A symbol error for 1 ns: it hits what starts in the middle of it."""
    window = {"at": f"{start_ps - 500}ps", "duration": "1ns", "probability": 1.0}
    return [{"kind": "symbol_errors", "link": ["h0/1", "sw0/1"]} | window]


def stream(message: str, count: int | str, faults: list[Keys]) -> Scenario:
    return build(
        line(1),
        [
            {"kind": "stream", "name": "s", "src": "h0", "dst": "h1", "message": message, "count": count},
            # Keeps a run from ending before the refresh.
            {"kind": "stream", "name": "later", "src": "h1", "dst": "h0", "message": "4KiB", "start": "15ms"},
        ],
        switch={"buffer_per_vl": f"{64 * BUFFER_BLOCKS}B"},
        length="100m",
        duration="20ms",
        faults=faults,
    )


def starts_of(what: str, message: str) -> list[int]:
    """Starts of data or flow-control packets on h0's cable with nothing that starts within 2 ns the other
    way."""
    simulation = run(stream(message, 1, []), trace=True)
    data, fcps = packets_sent(simulation, "h0/1").start_ps, fcps_sent(simulation, "sw0/1").start_ps
    wanted, others = (data, fcps) if what == "data packet" else (fcps, data)
    return [int(start) for start in wanted if abs(others - start).min() > 2000]


def credits(simulation: Simulation) -> int:
    """Blocks that h0 may send."""
    sender = simulation.readout().by_port_vl("pv")[port_index(simulation, "h0/1") * simulation.plan.vls]
    return (int(sender.fccl) - int(sender.fctbs)) & SEQUENCE_MASK


def hits(simulation: Simulation) -> int:
    return sum(counter(simulation, port, "symbol_error_counter") for port in ("h0/1", "sw0/1"))


@WHAT
def test_credits_are_whole_at_rest_after_a_loss_in_a_stream(what: str, measured: Note) -> None:
    start_ps = next(start for start in starts_of(what, "1MiB") if start > 10 * PS_PER_US)
    simulation = run(stream("1MiB", 1, one_hit(start_ps)))
    measured(f"{what} of a stream", f"{BUFFER_BLOCKS} blocks", f"{credits(simulation)} blocks")
    assert simulation.stopped == "idle"
    assert hits(simulation) == 1
    assert simulation.result()["flows"][0]["bytes"] == 1 << 20
    assert credits(simulation) == BUFFER_BLOCKS


@WHAT
def test_credits_are_whole_after_the_refresh_when_nothing_else_is_sent(what: str, measured: Note) -> None:
    """The only packet, or the flow-control packet for it, is lost; nothing moves until the refresh."""
    start_ps = starts_of(what, "4KiB")[0]
    simulation = open_simulation(stream("4KiB", 1, one_hit(start_ps)))
    simulation.run(REFRESH_PS - 2 * PS_PER_US)
    missing = BUFFER_BLOCKS - credits(simulation)
    simulation.run(REFRESH_PS + 10 * PS_PER_US)
    measured(
        f"the only {what}",
        f"{PACKET_BLOCKS} blocks missing, none after 5.24 ms",
        f"{missing} missing, then {BUFFER_BLOCKS - credits(simulation)}",
    )
    assert hits(simulation) == 1
    assert missing == PACKET_BLOCKS
    assert credits(simulation) == BUFFER_BLOCKS


@WHAT
def test_throughput_after_a_loss_is_that_without(what: str, measured: Note) -> None:
    start_ps = next(start for start in starts_of(what, "1MiB") if start > 10 * PS_PER_US)
    window = (PS_PER_MS, 11 * PS_PER_MS)
    before = rates_bps(open_simulation(stream("1MiB", "forever", [])), *window)["s"]
    simulation = open_simulation(stream("1MiB", "forever", one_hit(start_ps)))
    after = rates_bps(simulation, *window)["s"]
    measured(
        f"throughput after the loss of a {what}",
        f"{before / 1e9:.1f} Gb/s ± 0.1%",
        f"{after / 1e9:.1f} Gb/s",
    )
    assert hits(simulation) == 1
    assert after == pytest.approx(before, rel=0.001)
