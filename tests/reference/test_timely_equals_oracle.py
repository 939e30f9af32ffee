# SPDX-License-Identifier: Apache-2.0
"""TIMELY's rates are those of the paper's rule, for any round-trip times."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from fabrictwin.engine.cc.timely import update_rate
from fabrictwin.engine.codes import Flag, PacketKind
from fabrictwin.model.timely import Timely
from fabrictwin.runtime.offline import open_simulation
from fabrictwin.units import PS_PER_S, PS_PER_US
from reference.timely import TimelyOracle
from validation.ethernet import build_roce, state_of
from validation.setups import packets_sent, port_index, star, wire_ps

LINE_BPS = 100_000_000_000
SIMULATION = {
    "topology": star(2),
    "workload": [{"kind": "stream", "src": "h0", "dst": "h1", "message": "4KiB"}],
    "rate": "100Gb/s",
}
RTTS_US = st.lists(st.one_of(st.integers(1, 60), st.integers(40, 520), st.integers(450, 5000)), max_size=60)


def oracle_of(rules: Timely) -> TimelyOracle:
    """The oracle with parameters of a scenario."""
    return TimelyOracle(
        rate=LINE_BPS,
        line=LINE_BPS,
        ewma=Fraction(rules.ewma_q16, 1 << 16),
        beta=Fraction(rules.beta_q16, 1 << 16),
        t_low=rules.t_low_ps,
        t_high=rules.t_high_ps,
        min_rtt=rules.min_rtt_ps,
        delta=rules.delta_bps,
        hai_threshold=rules.hai_threshold,
        hai_factor=rules.hai_factor,
        min_decrease=Fraction(rules.min_decrease_q16, 1 << 16),
        min_rate=rules.min_rate_bps,
    )


@settings(max_examples=30, deadline=None)
@given(RTTS_US, st.sampled_from(["profile: paper", "profile: hpcc"]), st.booleans())
def test_rate_after_any_round_trip_times_equals_the_oracle(
    rtts_us: list[int], profile: str, gentle: bool
) -> None:
    control = {"algorithm": "timely", "profile": profile.removeprefix("profile: ")}
    if gentle:
        # Small gradients: a decrease by the gradient does not always end at its bound.
        control |= {"min_rtt": "900us", "hai_threshold": 3}
    simulation = open_simulation(build_roce(**SIMULATION, congestion_control=control))  # type: ignore[arg-type]
    state = state_of(simulation)
    rules = simulation.plan.scenario.congestion_control.rates
    assert isinstance(rules, Timely)
    oracle = oracle_of(rules)
    for rtt_us in rtts_us:
        update_rate(state, 0, rtt_us * PS_PER_US)
        assert int(state.rate.rate_bps[0]) == oracle.hear(rtt_us * PS_PER_US)


def test_every_packet_leaves_when_the_oracle_says() -> None:
    control = {"algorithm": "timely", "profile": "paper", "t_low": "4us", "t_high": "30us", "min_rtt": "3us"}
    simulation = open_simulation(
        build_roce(
            star(4),
            [{"kind": "incast", "senders": "all", "receiver": "h0", "message": "1MiB", "count": "forever"}],
            rate="100Gb/s",
            mtu=1024,
            hca={"ack_every": 4},
            congestion_control=control | {"delta": "200Mb/s", "min_rate": "1Gb/s"},
            duration="1ms",
        ),
        trace=True,
    )
    simulation.run()
    rules = simulation.plan.scenario.congestion_control.rates
    assert isinstance(rules, Timely)
    for host in range(1, 4):
        oracle = oracle_of(rules)
        delay_ps = int(state_of(simulation).port.delay_ps[port_index(simulation, f"sw0/{host + 1}")])
        heard = [
            (int(row.start_ps) + delay_ps + wire_ps(int(row.wire), LINE_BPS), int(row.psn))
            for row in packets_sent(simulation, f"sw0/{host + 1}", PacketKind.ACK)
        ]
        ends_ps: dict[int, int] = {}
        limited = 0
        for row, after in pairwise(packets_sent(simulation, f"h{host}/1")):
            start_ps, line_ps = int(row.start_ps), wire_ps(int(row.wire), LINE_BPS)
            while heard and heard[0][0] <= start_ps:
                at_ps, psn = heard.pop(0)
                oracle.hear(at_ps - ends_ps.pop(psn))
            if int(row.bits) & Flag.ACK_REQUEST:
                ends_ps[int(row.psn)] = start_ps + line_ps
            limited += oracle.rate < LINE_BPS
            gap_ps = int(row.wire) * 8 * PS_PER_S // oracle.rate if oracle.rate < LINE_BPS else line_ps
            assert int(after.start_ps) - start_ps == gap_ps
        assert limited > 500
