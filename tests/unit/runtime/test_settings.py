# SPDX-License-Identifier: Apache-2.0
"""Settings come from flags, then from the environment, then from defaults, and are all checked at once."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from fabrictwin.errors import InputError
from fabrictwin.runtime.settings import OPTIONS, Settings, ShardOf, read_settings


def test_settings_without_anything_are_the_defaults() -> None:
    assert read_settings("x", [], {}) == Settings()


def test_settings_and_options_have_the_same_names() -> None:
    assert [item.name for item in fields(Settings)] == list(OPTIONS)


def test_flag_wins_over_the_environment() -> None:
    environment = {"FABRICTWIN_TWIN": "from-environment", "FABRICTWIN_SHARD": "1/4"}
    settings = read_settings("x", ["--twin", "from-flag"], environment)
    assert (settings.twin, settings.shard) == ("from-flag", ShardOf(1, 4))


def test_setting_that_says_what_is_the_default_elsewhere_holds() -> None:
    here = Settings(redis="")
    assert read_settings("x", [], {}, here).redis == ""
    assert read_settings("x", ["--redis", Settings().redis], {}, here).redis == Settings().redis


def test_wrong_settings_are_all_named_at_once() -> None:
    arguments = ["--twin", "a/b", "--port", "70000", "--shard", "2/2", "--log-level", "loud", "--grace", "-1"]
    with pytest.raises(InputError) as caught:
        read_settings("x", arguments, {"FABRICTWIN_REDIS": "http://localhost"})
    fields_named = [problem.field for problem in caught.value.problems]
    assert fields_named == ["--twin", "FABRICTWIN_REDIS", "--shard", "--port", "--log-level", "--grace"]


@pytest.mark.parametrize("text", ["0", "-1/2", "1/1", "0/65", "a/b", "0/0", "1/2/3", ""])
def test_shard_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_settings("x", [f"--shard={text}"], {})


def test_advertised_host_is_the_listening_one_by_default() -> None:
    assert read_settings("x", ["--listen", "127.0.0.2"], {}).host == "127.0.0.2"
    assert read_settings("x", ["--listen", "0.0.0.0", "--advertise", "switch0"], {}).host == "switch0"


def test_redis_url_may_stand_in_a_file() -> None:
    url = "file:///run/secrets/redis_url"
    assert read_settings("x", [], {"FABRICTWIN_REDIS": url}).redis == url


def test_scenario_that_is_no_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    with pytest.raises(InputError, match="expected a file, got"):
        read_settings("x", ["--scenario", str(path)], {})
    path.touch()
    assert read_settings("x", ["--scenario", str(path)], {}).scenario == path
