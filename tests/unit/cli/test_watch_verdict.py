# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fabrictwin.api.v1.director_pb2 import Fault, TwinState
from fabrictwin.cli.watch_verdict import BAD, GOOD, WORRYING, find_problems
from unit.cli.watched_twin import sound_twin, troubled_twin


def _texts(style: str | None = None) -> list[str]:
    found = find_problems(troubled_twin())
    return [finding.text for finding in found if style in (None, finding.style)]


def test_sound_twin_has_no_problem() -> None:
    (finding,) = find_problems(sound_twin())
    assert finding.style == GOOD


def test_fault_is_named_first_with_what_is_left_of_its_lease() -> None:
    assert _texts()[0] == "link_down-1: link_down leaf0/5 - spine0/1, over in 420 us"


def test_fault_without_an_end_has_no_lease() -> None:
    watched = sound_twin()
    watched.faults = [Fault(id="x", text="switch_down spine0", end_ps=-1)]
    assert find_problems(watched)[0].text == "x: switch_down spine0"


def test_many_faults_are_counted() -> None:
    watched = sound_twin()
    watched.faults = [Fault(id=str(number), text="t", end_ps=-1) for number in range(5)]
    assert [finding.text for finding in find_problems(watched)][-1] == "and 2 more faults"


def test_ports_that_are_down_and_lost_packets_are_counted() -> None:
    assert "2 ports down" in _texts(BAD)
    assert "1 packet discarded, 12 sent again" in _texts(WORRYING)


def test_slow_receiver_is_told_from_other_stalls() -> None:
    slow = next(text for text in _texts(BAD) if text.startswith("slow receiver"))
    assert slow == "slow receiver: h5/1 takes less than it is sent; leaf1/2 waits 88% of the time"


def test_credit_stalls_name_the_worst_port_and_the_full_one() -> None:
    stalls = _texts(WORRYING)[-1]
    assert stalls == (
        "credit stalls: leaf1/2 → h5/1 waits 88% of the time, and 1 more port; full: leaf0/1 → h0/1"
    )


def test_service_that_does_not_answer_is_shown_with_its_silence() -> None:
    watched = sound_twin()
    watched.status.services[0].health = "unreachable"
    watched.status.services[0].silent_s = 4.2
    assert find_problems(watched)[0] == ("switch0 is unreachable for 4 s", BAD)


def test_failure_and_deadlock_come_before_everything() -> None:
    watched = troubled_twin()
    watched.status.state = TwinState.TWIN_STATE_FAILED
    watched.status.error = "channel switch0:hca0 has a gap"
    watched.status.deadlock_cycle.extend(["a/1 vl0", "b/1 vl0"])
    first, second, *_ = find_problems(watched)
    assert first.text == "the twin has failed: channel switch0:hca0 has a gap"
    assert second.text.startswith("DEADLOCK: 2 outputs")
