# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fabrictwin.errors import InputError
from fabrictwin.runtime import local_twins
from fabrictwin.runtime.local_twins import (
    STATE_FILE,
    clear_folder,
    find_twin,
    is_alive,
    known_twins,
    lock_folder,
    running_twins,
    twin_folder,
)


@pytest.fixture(autouse=True)
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(local_twins, "LONGEST_FOLDER_BYTES", 4096)


def _write_state(name: str) -> None:
    state = {"twin": name, "pid": 1, "director": "127.0.0.1:7", "redis": "unix:///r", "services": {}}
    (twin_folder(name) / STATE_FILE).write_text(json.dumps(state))


def test_find_twin_gives_the_only_one_that_runs() -> None:
    with lock_folder(twin_folder("demo")):
        _write_state("demo")
        twin = find_twin()
    assert (twin.name, twin.director, twin.redis) == ("demo", "127.0.0.1:7", "unix:///r")


def test_find_twin_of_several_wants_a_name() -> None:
    with lock_folder(twin_folder("a")), lock_folder(twin_folder("b")):
        _write_state("a")
        with pytest.raises(InputError, match="2 twins, say which one: a, b"):
            find_twin()
        assert find_twin("a").name == "a"


def test_find_twin_unknown_names_the_nearest() -> None:
    with lock_folder(twin_folder("demo")), pytest.raises(InputError, match="did you mean 'demo'"):
        find_twin("dmo")


def test_find_twin_without_any_says_how_to_start_one() -> None:
    with pytest.raises(InputError, match="fabrictwin up"):
        find_twin()


def test_find_twin_that_starts_says_so() -> None:
    with lock_folder(twin_folder("demo")), pytest.raises(InputError, match="still starting"):
        find_twin("demo")


def test_find_twin_that_died_says_where_its_logs_are() -> None:
    with lock_folder(twin_folder("demo")):
        _write_state("demo")
    assert running_twins() == []
    assert known_twins() == ["demo"]
    with pytest.raises(InputError, match=r"has died.*fabrictwin down --twin demo"):
        find_twin("demo")


def test_lock_is_refused_while_a_twin_lives() -> None:
    with lock_folder(twin_folder("demo")), pytest.raises(BlockingIOError), lock_folder(twin_folder("demo")):
        pass


def test_lock_is_held_by_a_process_that_inherits_it() -> None:
    folder = twin_folder("demo")
    with lock_folder(folder) as lock:
        child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(lock,))
    assert is_alive(folder)
    child.communicate(b"\n")
    assert not is_alive(folder)


def test_clear_folder_leaves_nothing() -> None:
    folder = twin_folder("demo")
    with lock_folder(folder):
        _write_state("demo")
        (folder / "below").mkdir()
        clear_folder(folder, keep_lock=False)
        assert not folder.exists()


def test_lock_folder_after_it_was_removed_locks_the_new_one() -> None:
    folder = twin_folder("demo")
    with lock_folder(folder):
        clear_folder(folder, keep_lock=False)
        with lock_folder(folder):
            assert is_alive(folder)


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "x" * 65, "a b"])
def test_twin_folder_refuses_what_is_no_name(name: str) -> None:
    with pytest.raises(InputError, match="expected a name"):
        twin_folder(name)


def test_twin_folder_refuses_a_path_that_holds_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("XDG_RUNTIME_DIR", "")
    monkeypatch.setenv("XDG_STATE_HOME", "/" + "x" * 90)
    with pytest.raises(InputError, match="too long"):
        twin_folder("demo")
