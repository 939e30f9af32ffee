# SPDX-License-Identifier: Apache-2.0
"""What must hold in the oracle on any fabric, whatever happens to it."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from fabrictwin.model.scenario import parse_scenario
from reference.compare import case_of
from reference.credits import FIELD
from reference.fabric import OracleFabric
from reference.port import Port
from reference.random_scenarios import scenario_texts


def blocks_accounted_for(port: Port, vl: int) -> int:
    """Blocks of the peer's buffer that the sender may use, that are on their way, or that packets hold."""
    sender, receiver = port.lanes[vl].sender, port.peer.lanes[vl].receiver
    allowed = (sender.fccl - sender.fctbs) % FIELD
    on_the_way = (sender.fctbs - receiver.abr) % FIELD
    return allowed + on_the_way + receiver.held


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(scenario_texts())
def test_credits_are_conserved_and_messages_arrive_once_and_in_order(text: str) -> None:
    scenario = parse_scenario(text)
    fabric = OracleFabric(case_of(scenario))
    for tenth in range(1, 11):
        fabric.run(scenario.duration_ps * tenth // 10)
        for port in fabric.ports.values():
            for vl, lane in enumerate(port.peer.lanes):
                assert not port.up or blocks_accounted_for(port, vl) <= lane.receiver.cap
    for pair in fabric.queue_pairs:
        in_memory = [message for message in pair.messages if message.in_memory_ps is not None]
        assert in_memory == pair.messages[: len(in_memory)]
        assert in_memory == sorted(in_memory, key=lambda message: message.in_memory_ps or 0)
        accepted = pair.responder.epsn
        assert all(message.end <= accepted for message in in_memory)
