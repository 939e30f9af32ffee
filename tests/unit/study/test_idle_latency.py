# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.study.idle_latency import (
    SWITCH_COUNTS,
    IdleLatency,
    chain_source,
    judge,
    measure_idle_latency,
)
from unit.study.study_scenarios import INFINIBAND, ROCE, source_of


def _measured(text: str) -> IdleLatency:
    source = source_of(text)
    scenario = source.expand()
    return measure_idle_latency(
        {count: chain_source(source, scenario, count).expand() for count in SWITCH_COUNTS}
    )


@pytest.mark.parametrize("text", [INFINIBAND, ROCE])
def test_idle_latency_is_the_sum_of_its_parts_at_every_distance(text: str) -> None:
    latency = _measured(text)
    send, switch, cable, rest, receive = (part.time_ps for part in latency.parts)
    for count, total_ps in latency.by_switches_ps.items():
        assert total_ps == send + count * switch + (count + 1) * cable + rest + receive
    assert latency.hop_ps == switch + cable
    assert all(part.source for part in latency.parts)


def test_idle_latency_judges_a_hop_that_is_not_what_the_field_says() -> None:
    fast, slow = (
        judge(_measured(INFINIBAND.replace("forwarding_latency: 150ns", f"forwarding_latency: {time}")))[0]
        for time in ("130ns", "230ns")
    )
    assert "130 ns; agrees" in fast
    assert "230 ns; DISAGREES" in slow
