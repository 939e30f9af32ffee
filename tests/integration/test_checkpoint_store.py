# SPDX-License-Identifier: Apache-2.0
"""Checkpoints in a real Redis server, and a writer that is killed while it writes one."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from time import sleep

import numpy as np
import pytest

from fabrictwin.runtime.bus.twin import Identity
from fabrictwin.runtime.checkpoint import Checkpoint, CheckpointError, CheckpointStore, Snapshot
from fabrictwin.runtime.directory import TwinDirectory
from integration.redis_server import TwinOnServer, twin_on_server
from integration.services_at_work import environment

SIZE = 1 << 20
WRITER = """
import sys
from itertools import count
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import Identity
from fabrictwin.runtime.checkpoint import CheckpointStore
from integration.test_checkpoint_store import checkpoint_of
store = CheckpointStore(connect(sys.argv[1]), sys.argv[2], Identity(*sys.argv[3:]))
for number in count(int(sys.stdin.readline())):
    store.save("switch0", checkpoint_of(number))
    print(number, flush=True)
"""


def checkpoint_of(number: int) -> Checkpoint:
    """A checkpoint of which every part says its number."""
    arrays = {name: np.full(SIZE, number, np.int64) for name in ("first", "second", "third")}
    return Checkpoint(number, number, {}, Snapshot({"number": number}, arrays))


def _number_of(checkpoint: Checkpoint | None) -> int:
    """The number of a checkpoint that is whole."""
    assert checkpoint is not None
    number = checkpoint.reached_ps
    assert checkpoint.snapshot.plain == {"number": number}
    assert all((array == number).all() for array in checkpoint.snapshot.arrays.values())
    return number


@pytest.fixture(scope="module")
def twin() -> Iterator[TwinOnServer]:
    """A twin without processes."""
    with twin_on_server() as twin:
        yield twin


def _identity(twin: TwinOnServer) -> Identity:
    return Identity("fabrictwin.bus/1", "0.1.0", "abc", twin.epoch)


def test_process_without_a_checkpoint_has_none(twin: TwinOnServer) -> None:
    assert CheckpointStore(twin.client, twin.keys.twin, _identity(twin)).load("cc") is None


def test_later_checkpoint_takes_the_place_of_the_earlier_one(twin: TwinOnServer) -> None:
    store = CheckpointStore(twin.client, twin.keys.twin, _identity(twin))
    for number in (1, 2):
        age = store.save("hca0", checkpoint_of(number))
        assert _number_of(store.load("hca0")) == number
        assert TwinDirectory(twin.client, twin.keys.twin).checkpoints() == {"hca0": age}
    assert age.size_bytes > 3 * 8 * SIZE


def test_checkpoint_of_an_earlier_twin_of_the_same_name_is_refused(twin: TwinOnServer) -> None:
    CheckpointStore(twin.client, twin.keys.twin, _identity(twin)).save("hca1", checkpoint_of(1))
    later = CheckpointStore(twin.client, twin.keys.twin, _identity(twin)._replace(epoch="later"))
    with pytest.raises(CheckpointError, match="epoch"):
        later.load("hca1")


def test_writer_that_is_killed_leaves_the_old_checkpoint_or_the_new_one(twin: TwinOnServer) -> None:
    identity, rng = _identity(twin), random.Random(4)
    store = CheckpointStore(twin.client, twin.keys.twin, identity)
    arguments = [twin.server.url, twin.keys.twin, *identity]
    paths = os.pathsep.join([environment()["PYTHONPATH"], "tests"])
    number = 0
    for _ in range(6):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, *arguments],
            env=environment() | {"PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as writer:
            assert writer.stdin is not None
            assert writer.stdout is not None
            print(number + 1, file=writer.stdin, flush=True)
            told = [int(writer.stdout.readline())]
            # One takes some tens of milliseconds, most of which it is being written.
            sleep(rng.random() / 10)
            writer.send_signal(signal.SIGKILL)
            told += map(int, writer.stdout.readlines())
        number = _number_of(store.load("switch0"))
        assert number in (told[-1], told[-1] + 1)
