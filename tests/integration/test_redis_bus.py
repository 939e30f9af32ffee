# SPDX-License-Identifier: Apache-2.0
"""The bus over a real Redis server: order, bounds, repetition, and all that can be wrong with a server."""

from __future__ import annotations

import os
import signal
import struct
from collections.abc import Iterator
from pathlib import Path
from threading import Thread, Timer
from time import monotonic

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabrictwin.errors import InputError
from fabrictwin.runtime.bus import Entry
from fabrictwin.runtime.bus import redis_bus as redis_bus_module
from fabrictwin.runtime.bus import redis_link as redis_link_module
from fabrictwin.runtime.bus.errors import (
    BusFullError,
    BusReadOnlyError,
    BusRefusedError,
    BusUnreachableError,
    ChannelGapError,
    ChannelTrimmedError,
    NotOursError,
)
from fabrictwin.runtime.bus.redis_bus import RedisBus, Retention
from fabrictwin.runtime.bus.server import LONGEST_BLOCK_S, connect
from fabrictwin.runtime.bus.twin import create_twin
from fabrictwin.runtime.processor import Lookout, Seat
from integration.patience import PATIENCE_S, wait_until
from integration.redis_server import PAIR, TWIN, TwinOnServer, entries, entry, twin_on_server


@pytest.fixture
def twin() -> Iterator[TwinOnServer]:
    with twin_on_server() as running:
        yield running


def hear_all(bus: RedisBus, sender: str, count: int) -> list[Entry]:
    heard: list[Entry] = []
    while len(heard) < count:
        heard += bus.exchange({}, [sender], PATIENCE_S)[sender]
    return heard


def wait_in_vain(bus: RedisBus, sender: str) -> None:
    for _ in range(3):
        assert bus.exchange({}, [sender], 0.05) == {}


def cut_connections(twin: TwinOnServer) -> None:
    twin.client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")


def test_exchange_hands_over_in_order_and_people_can_read_along(twin: TwinOnServer) -> None:
    a, b = twin.end("a"), twin.end("b")
    said = entries(1, 9, 400)
    a.exchange({"b": said}, (), 0.0)
    heard = b.exchange({}, ["a"], PATIENCE_S)["a"]
    assert [item.payload for item in heard] == [item.payload for item in said]
    assert [item.promise_ps for item in heard] == [item.promise_ps // 1000 * 1000 for item in said]
    shown = twin.client.xrange(twin.keys.channel("a", "b"), "1", "2")
    assert [key for key, _ in shown] == [b"1-0", b"1-1", b"2-0", b"2-1", b"2-2"]


def test_exchange_looks_soon_at_those_that_are_not_waited_for() -> None:
    with twin_on_server((("a", "c"), ("b", "c"))) as twin:
        a, b, c = twin.end("a"), twin.end("b"), twin.end("c")
        b.exchange({"c": entries(1, 1)}, (), 0.0)
        heard = []
        for number in range(1, 13):
            a.exchange({"c": entries(number, number)}, (), 0.0)
            heard.append(c.exchange({}, ["a"], PATIENCE_S))
            if number == 6:
                b.exchange({"c": entries(2, 3)}, (), 0.0)
        assert all(item["a"] for item in heard)
        assert [len(item["b"]) for item in heard[:4] if "b" in item] == [1]
        assert [len(item["b"]) for item in heard[6:10] if "b" in item] == [2]
        assert c.exchange({}, (), 0.0) == {}


def test_exchange_wakes_up_when_a_sender_speaks(twin: TwinOnServer) -> None:
    a, b = twin.end("a"), twin.end("b")

    def is_woken_up(number: int) -> bool:
        answers: list[dict[str, list[Entry]]] = []
        waiting = Thread(target=lambda: answers.append(b.exchange({}, ["a"], PATIENCE_S)))
        waiting.start()
        wait_until(lambda: any("b" in client["flags"] for client in twin.client.client_list()))
        began = monotonic()
        a.exchange({"b": [entry(number, number * 1000)]}, (), 0.0)
        waiting.join(PATIENCE_S)
        assert answers == [{"a": [entry(number, number * 1000)]}]
        return monotonic() - began < LONGEST_BLOCK_S / 4

    # A busy machine may be slow, but not each time; one that only looks again and again would be.
    assert any(is_woken_up(number) for number in range(1, 100))


def test_exchange_that_looks_before_it_sleeps_hears_the_same(twin: TwinOnServer) -> None:
    a = twin.end("a")
    lookout = Lookout(Seat(None, look_us=2000))
    lookout.begin()
    b = RedisBus(twin.client, twin.keys, twin.epoch, "b", PAIR, lookout=lookout)
    for number in range(1, 4):
        said = entry(number, 1000 * number)
        speaker = Timer(0.02 * (number - 1), a.exchange, ({"b": [said]}, (), 0.0))
        speaker.start()
        assert hear_all(b, "a", 1) == [said]
        speaker.join()
    assert b.exchange({}, ["a"], 0.05) == {}


def test_exchange_without_an_answer_comes_back_in_time(twin: TwinOnServer) -> None:
    began = monotonic()
    assert twin.end("b").exchange({}, ["a"], 0.3) == {}
    assert monotonic() - began >= 0.3


def test_exchange_with_a_slow_reader_waits_and_trims_nothing_unread(twin: TwinOnServer) -> None:
    a, b = twin.end("a", Retention(bound=8)), twin.end("b", Retention(bound=8, history_ns=0))
    said = entries(1, 20)
    assert a.exchange({"b": said}, (), 0.1) == {}
    assert twin.length("a", "b") == 8
    heard: list[Entry] = []
    while len(heard) < 20:
        heard += b.exchange({}, (), 0.0).get("a", [])
        b.exchange({}, (), 0.0)
        a.exchange({}, (), 0.05)
        assert twin.length("a", "b") <= 9
    assert [item.payload for item in heard] == [item.payload for item in said]


def test_exchange_with_both_channels_full_does_not_deadlock(twin: TwinOnServer) -> None:
    heard: dict[str, list[Entry]] = {}

    def talk(name: str, other: str) -> None:
        bus = twin.end(name, Retention(bound=2))
        got = list(bus.exchange({other: entries(1, 30)}, [other], PATIENCE_S).get(other, []))
        heard[name] = got + (hear_all(bus, other, 30 - len(got)) if len(got) < 30 else [])
        bus.exchange({}, (), 0.0)

    threads = [Thread(target=talk, args=names) for names in PAIR]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert {name: len(got) for name, got in heard.items()} == {"a": 30, "b": 30}


def test_stream_stays_short_and_keeps_the_history_asked_for(twin: TwinOnServer) -> None:
    a, b = twin.end("a"), twin.end("b", Retention(history_ns=50))
    for first in range(1, 1001, 10):
        a.exchange({"b": entries(first, first + 9)}, (), 0.0)
        b.exchange({}, ["a"], PATIENCE_S)
    oldest = twin.client.xrange(twin.keys.channel("a", "b"), count=1)[0][0]
    assert 500 < int(oldest.split(b"-")[0]) <= 950


def test_checkpoint_decides_what_is_trimmed_and_where_reading_goes_on(twin: TwinOnServer) -> None:
    kept = Retention(bound=1024, history_ns=0, checkpoints=True)
    a, b = twin.end("a"), twin.end("b", kept)
    a.exchange({"b": entries(1, 10)}, (), 0.0)
    hear_all(b, "a", 10)
    checkpoint = dict(b.cursors)
    for first in range(11, 411, 10):
        a.exchange({"b": entries(first, first + 9)}, (), 0.0)
        hear_all(b, "a", 10)
    assert twin.length("a", "b") == 410
    b.close()
    again = RedisBus(twin.client, twin.keys, twin.epoch, "b", PAIR, cursors=checkpoint, retention=kept)
    assert [item.payload for item in hear_all(again, "a", 400)] == [item.payload for item in entries(11, 410)]
    again.keep_from(again.cursors)
    again.exchange({}, (), 0.0)
    assert twin.length("a", "b") == 1


def test_writer_that_comes_back_goes_on_behind_its_last_entry(twin: TwinOnServer) -> None:
    twin.end("a").exchange({"b": entries(1, 5)}, (), 0.0)
    again = twin.end("a")
    assert again.written["b"].sequence == 5
    again.exchange({"b": entries(6, 7)}, (), 0.0)
    assert len(hear_all(twin.end("b"), "a", 7)) == 7


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rhythm=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 900), st.booleans()), max_size=15))
def test_exchange_with_connections_that_break_loses_and_repeats_nothing(
    rhythm: list[tuple[int, int, bool]],
) -> None:
    with twin_on_server() as twin:
        a, b = twin.end("a", Retention(bound=5)), twin.end("b", Retention(bound=5, history_ns=0))
        said: list[Entry] = []
        heard: list[Entry] = []
        promise_ps = 0
        for count, step_ps, cut in rhythm:
            fresh = []
            for _ in range(count):
                promise_ps += step_ps
                fresh.append(entry(len(said) + len(fresh) + 1, promise_ps))
            said += fresh
            if cut:
                cut_connections(twin)
            a.exchange({"b": fresh}, (), 0.01)
            heard += b.exchange({}, (), 0.01).get("a", [])
        while len(heard) < len(said):
            a.exchange({}, (), 0.01)
            heard += b.exchange({}, (), 0.01).get("a", [])
        assert [item.payload for item in heard] == [item.payload for item in said]


def test_addition_that_arrived_unnoticed_is_not_repeated(twin: TwinOnServer) -> None:
    a, b = twin.end("a"), twin.end("b")
    a.exchange({"b": entries(1, 2)}, (), 0.0)
    for late in entries(3, 4):
        twin.client.xadd(twin.keys.channel("a", "b"), {"b": late.payload}, id=f"{late.promise_ps // 1000}-0")
    a.exchange({"b": entries(3, 6)}, (), 0.0)
    assert [item.payload for item in hear_all(b, "a", 6)] == [item.payload for item in entries(1, 6)]


def test_second_writer_of_a_channel_is_found(twin: TwinOnServer) -> None:
    first, second = twin.end("a"), twin.end("a")
    first.exchange({"b": [entry(1, 1000)]}, (), 0.0)
    with pytest.raises(ChannelGapError, match="a → b: somebody else"):
        second.exchange({"b": [Entry(1000, entry(1, 1001).payload)]}, (), 0.0)


def test_lost_entry_is_found(twin: TwinOnServer) -> None:
    twin.end("a").exchange({"b": entries(1, 5)}, (), 0.0)
    twin.client.xdel(twin.keys.channel("a", "b"), "3-0")
    with pytest.raises(ChannelGapError, match="a → b: expected entry 3, got entry 4"):
        twin.end("b").exchange({}, ["a"], PATIENCE_S)


def test_entries_trimmed_before_they_were_read_are_found(twin: TwinOnServer) -> None:
    b = twin.end("b")
    twin.end("a").exchange({"b": entries(1, 5)}, (), 0.0)
    twin.client.xtrim(twin.keys.channel("a", "b"), maxlen=2, approximate=False)
    with pytest.raises(ChannelTrimmedError, match="not read yet has been trimmed"):
        b.exchange({}, ["a"], PATIENCE_S)


def test_flushed_server_stops_writer_and_waiting_reader(twin: TwinOnServer) -> None:
    a, b = twin.end("a"), twin.end("b")
    a.exchange({"b": entries(1, 2)}, (), 0.0)
    hear_all(b, "a", 2)
    twin.client.flushall()
    with pytest.raises(NotOursError, match="flushed"):
        a.exchange({"b": entries(3, 3)}, (), 0.0)
    with pytest.raises(NotOursError, match="gone"):
        wait_in_vain(b, "a")
    assert twin.client.dbsize() == 0


def test_later_twin_of_the_same_name_stops_the_earlier_one(twin: TwinOnServer) -> None:
    b = twin.end("b")
    twin.client.flushall()
    create_twin(twin.client, TWIN, "sha", PAIR)
    with pytest.raises(NotOursError, match="another one of this name"):
        wait_in_vain(b, "a")
    with pytest.raises(NotOursError, match="another one of this name"):
        twin.end("a")


def test_full_server_says_so(twin: TwinOnServer) -> None:
    a = twin.end("a")
    twin.client.config_set("maxmemory", "1")
    with pytest.raises(BusFullError, match="maxmemory"):
        a.exchange({"b": entries(1, 1)}, (), 0.0)


def test_server_that_cannot_save_says_so(twin: TwinOnServer) -> None:
    a = twin.end("a")
    Path(twin.server.url.removeprefix("unix://")).with_name("dump.rdb").mkdir()
    twin.client.config_set("save", "3600 1")
    twin.client.bgsave()
    wait_until(lambda: twin.client.info("persistence")["rdb_last_bgsave_status"] != "ok")
    with pytest.raises(BusReadOnlyError, match="cannot save to its disk"):
        a.exchange({"b": entries(1, 1)}, (), 0.0)


def test_replica_says_that_it_takes_no_writes(twin: TwinOnServer) -> None:
    a = twin.end("a")
    twin.client.replicaof("127.0.0.1", "1")
    with pytest.raises(BusReadOnlyError, match="takes no writes"):
        a.exchange({"b": entries(1, 1)}, (), 0.0)


def test_wrong_password_is_refused_and_not_shown(twin: TwinOnServer) -> None:
    twin.client.config_set("requirepass", "right")
    path = twin.server.url.removeprefix("unix://")
    connect(f"unix://:right@{path}").close()
    for url in (twin.server.url, f"unix://:secret@{path}"):
        with pytest.raises(BusRefusedError, match="refuses the user or the password") as caught:
            connect(url)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://localhost", "localhost:6379", "redis://localhost:x"])
def test_url_that_is_none_is_wrong_input(url: str) -> None:
    with pytest.raises(InputError, match="is not a Redis URL"):
        connect(url)


@pytest.mark.parametrize("url", ["unix:///nowhere/redis.sock", "redis://127.0.0.1:1"])
def test_server_that_is_not_there_is_unreachable(url: str) -> None:
    with pytest.raises(BusUnreachableError, match=r"cannot be reached"):
        connect(url)


def test_server_that_dies_is_missed_in_bounded_time(
    twin: TwinOnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_bus_module, "RECONNECT_S", 0.5)
    b = twin.end("b")
    os.kill(twin.server.pid, signal.SIGKILL)
    with pytest.raises(BusUnreachableError, match="cannot be reached"):
        b.exchange({}, ["a"], PATIENCE_S)


def test_server_that_freezes_and_comes_back_has_every_entry_once(
    twin: TwinOnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_link_module, "_TIMEOUT", struct.pack("@ll", 0, 200_000))
    monkeypatch.setattr(redis_bus_module, "RECONNECT_S", PATIENCE_S)
    a = twin.end("a")
    os.kill(twin.server.pid, signal.SIGSTOP)
    Timer(0.6, os.kill, (twin.server.pid, signal.SIGCONT)).start()
    a.exchange({"b": entries(1, 3)}, (), PATIENCE_S)
    a.exchange({"b": entries(4, 5)}, (), PATIENCE_S)
    assert [item.payload for item in hear_all(twin.end("b"), "a", 5)] == [e.payload for e in entries(1, 5)]
    assert twin.length("a", "b") == 5
