# SPDX-License-Identifier: Apache-2.0
"""A link that breaks is routed around at once, or after the next light sweep if no trap arrives.

Setup: the uplink of a leaf breaks that a stream of small messages takes; trap 100 us, SMP 20 us, 4 at a time.
The trap is lost where the spine's agent hangs and the leaf's own way to the manager leads over the cable.
Expected: the first packet leaves on another uplink after trap + sweep + LFT writes: ceil(MADs / 4) and
ceil(blocks / 4) SMP times. With a lost trap the same begins at the next tick of 10 s, so at most 10 s later.
Tolerance: the time between two messages.
"""

from __future__ import annotations

from math import ceil

from fabrictwin.engine.simulation import Simulation
from fabrictwin.units import PS_PER_MS, PS_PER_S, PS_PER_US, show_time
from validation.conftest import Note
from validation.setups import Keys, build, events, packets_sent, run
from validation.subnets import SPINES, TREE, sweep_mads, time_of, times

GAP_PS = 5 * PS_PER_US
SMP_PS, TRAP_PS = 20 * PS_PER_US, 100 * PS_PER_US
UPLINKS = [f"leaf2/{5 + spine}" for spine in range(SPINES)]


def _stream(start: str, count: int) -> Keys:
    """From a host on leaf 2, 64 bytes every 5 us."""
    rate = {"message": "64B", "rate": "102.4Mb/s", "start": start, "count": count}
    return {"kind": "stream", "name": "s", "src": "h8", "dst": "h0"} | rate


def _run(work: Keys, faults: list[Keys]) -> Simulation:
    scenario = build(
        TREE, [work], hca={"ack_timeout": "4s", "retry_count": 7}, faults=faults, duration="10.02s"
    )
    return run(scenario, trace=True)


def _uplink_of(work: Keys) -> int:
    """The spine that the stream goes through while everything is up."""
    simulation = _run(work | {"count": 1}, [])
    return next(spine for spine, port in enumerate(UPLINKS) if len(packets_sent(simulation, port)))


def _restored_ps(simulation: Simulation, broken: int) -> int:
    """When the first packet left on another uplink."""
    others = [port for spine, port in enumerate(UPLINKS) if spine != broken]
    return min(int(sent.start_ps[0]) for port in others if len(sent := packets_sent(simulation, port)))


def test_broken_uplink_is_replaced_after_trap_sweep_and_writes(measured: Note) -> None:
    work = _stream("100us", 800)
    broken = _uplink_of(work)
    down_ps = 500 * PS_PER_US
    link = [f"leaf2/{5 + broken}", f"spine{broken}/3"]
    simulation = _run(work, [{"kind": "link_down", "link": link, "at": f"{down_ps}ps"}])
    (swept_ps,), (begun_ps,) = times(simulation, "swept"), times(simulation, "sweep")
    writes = [time_of(event) for event in events(simulation, "lft_write")]
    outage_ps = _restored_ps(simulation, broken) - down_ps
    sweep_ps = ceil(sweep_mads(simulation) / 4) * SMP_PS
    bound_ps = TRAP_PS + sweep_ps + ceil(len(writes) / 4) * SMP_PS
    measured(
        "trap 128",
        f"trap + sweep + writes of {len(writes)} blocks: {show_time(bound_ps)}",
        f"outage {show_time(outage_ps)}",
    )
    assert begun_ps == down_ps + TRAP_PS
    assert swept_ps - begun_ps == sweep_ps
    assert max(writes) == down_ps + bound_ps
    assert times(simulation, "first_packet")[0] == _restored_ps(simulation, broken)
    assert writes[0] - down_ps <= outage_ps <= bound_ps + GAP_PS + PS_PER_US


def test_lost_trap_is_made_up_for_by_the_light_sweep(measured: Note) -> None:
    work = _stream("9.99s", 4000)
    broken = _uplink_of(work)
    down_ps = 9_992 * PS_PER_MS
    link = [f"leaf2/{5 + broken}", f"spine{broken}/3"]
    hang = {"kind": "sma_unresponsive", "node": f"spine{broken}", "at": "9.991s", "duration": "2ms"}
    simulation = _run(work, [hang, {"kind": "link_down", "link": link, "at": f"{down_ps}ps"}])
    assert len(events(simulation, "trap_lost")) == 1
    assert times(simulation, "sweep") == [10 * PS_PER_S]
    writes = [time_of(event) for event in events(simulation, "lft_write")]
    restored_ps = _restored_ps(simulation, broken)
    sweep_ps = ceil(sweep_mads(simulation) / 4) * SMP_PS
    late_ps = restored_ps - down_ps - (sweep_ps + ceil(len(writes) / 4) * SMP_PS)
    measured(
        "trap lost, 8 ms before a light sweep",
        "as long as to the light sweep more, at most 10 s",
        f"outage {show_time(restored_ps - down_ps)}",
    )
    assert 0 < late_ps <= 10 * PS_PER_S
    assert writes[0] <= restored_ps <= max(writes) + GAP_PS + PS_PER_US
