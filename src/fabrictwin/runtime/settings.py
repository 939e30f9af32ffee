# SPDX-License-Identifier: Apache-2.0
"""Where and how a process runs: flags, environment variables, defaults. What it simulates is the scenario.

A field ``redis`` is the flag ``--redis`` and the variable ``FABRICTWIN_REDIS``; the flag wins.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from fabrictwin.errors import InputError, Problem
from fabrictwin.model.quantities import NAME_PATTERN

ENVIRONMENT_PREFIX = "FABRICTWIN_"
MOST_SHARDS = 64
_SHARD = re.compile(r"(\d{1,4})/(\d{1,4})\Z")
_LEVELS = ("debug", "info", "warning", "error")
_LARGEST_PORT = 65_535
_LONGEST_LOOK_US = 100_000


class ShardOf(NamedTuple):
    """Which part of the work a process has.

    Attributes:
        number: Its number, from 0.
        parts: Number of parts.
    """

    number: int
    parts: int


def _read_twin(text: str) -> str:
    if not NAME_PATTERN.match(text):
        raise ValueError(f"expected 1 to 64 letters, digits or any of _.-, got {text!r}")
    return text


def _read_redis(text: str) -> str:
    if not text.startswith(("redis://", "rediss://", "unix://", "file:///")):
        raise ValueError(
            "expected redis://HOST:PORT, rediss://HOST:PORT, unix:///PATH, or file:///PATH of a file with "
            f"one of these, got {text!r}"
        )
    return text


def _read_file(text: str) -> Path:
    path = Path(text)
    if not path.is_file():
        raise ValueError(f"expected a file, got {text!r}")
    return path


def _read_shard(text: str) -> ShardOf:
    match = _SHARD.match(text)
    if not match or not int(match[1]) < int(match[2]) <= MOST_SHARDS:
        raise ValueError(f"expected NUMBER/COUNT with 0 <= NUMBER < COUNT <= {MOST_SHARDS}, got {text!r}")
    return ShardOf(int(match[1]), int(match[2]))


def _read_port(text: str) -> int:
    if not text.isdecimal() or int(text) > _LARGEST_PORT:
        raise ValueError(f"expected a port from 0 (any that is free) to {_LARGEST_PORT}, got {text!r}")
    return int(text)


def _read_level(text: str) -> str:
    if text not in _LEVELS:
        raise ValueError(f"expected one of {', '.join(_LEVELS)}, got {text!r}")
    return text


def _read_seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 3600:
        raise ValueError(f"expected seconds from 0 to 3600, got {text!r}")
    return seconds


def _read_microseconds(text: str) -> int:
    if not text.isdecimal() or int(text) > _LONGEST_LOOK_US:
        raise ValueError(f"expected whole microseconds from 0 to {_LONGEST_LOOK_US}, got {text!r}")
    return int(text)


def _read_cpu(text: str) -> int:
    usable = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if not text.isdecimal() or int(text) not in usable:
        raise ValueError(f"expected a processor that this process may use ({usable}), got {text!r}")
    return int(text)


@dataclass(frozen=True, slots=True)
class Option:
    """How a setting is read.

    Attributes:
        read: Turns its text into its value; a ValueError says what was expected.
        metavar: What stands for the text in the help.
        text: What it is.
    """

    read: Callable[[str], Any]
    metavar: str
    text: str


OPTIONS = {
    "twin": Option(_read_twin, "NAME", "name of the twin; prefix of its keys in Redis"),
    "redis": Option(_read_redis, "URL", "the Redis server that carries the bus"),
    "scenario": Option(_read_file, "FILE", "what the director begins with; default: it waits for one"),
    "shard": Option(_read_shard, "I/N", "this process is number I, from 0, of N"),
    "listen": Option(str, "HOST", "address that the gRPC and metrics ports are bound to"),
    "port": Option(_read_port, "PORT", "gRPC port; 0: any that is free"),
    "metrics_port": Option(_read_port, "PORT", "port of /metrics; 0: any that is free"),
    "advertise": Option(str, "HOST", "host name that others reach this process by; default: --listen"),
    "log_level": Option(_read_level, "LEVEL", f"least level of the log: {', '.join(_LEVELS)}"),
    "cpu": Option(_read_cpu, "N", "keep the stepping thread on this processor; default: on any"),
    "shared_cpu": Option(_read_cpu, "N", "the processor to go to while others want that of --cpu"),
    "look": Option(
        _read_microseconds,
        "US",
        "how long the stepping thread looks for an answer, and does not sleep; default: 0",
    ),
    "checkpoint": Option(_read_seconds, "SECONDS", "wall time between two checkpoints; 0: none are made"),
    "grace": Option(_read_seconds, "SECONDS", "how long calls in flight may take at the end"),
}
"""Every setting; there is a field of :class:`Settings` for each."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a service, as :data:`OPTIONS` describes them."""

    twin: str = "fabrictwin"
    redis: str = "redis://127.0.0.1:6379/0"
    scenario: Path | None = None
    shard: ShardOf = ShardOf(0, 1)  # noqa: RUF009  a tuple does not change
    listen: str = "127.0.0.1"
    port: int = 0
    metrics_port: int = 0
    advertise: str = ""
    log_level: str = "info"
    cpu: int | None = None
    shared_cpu: int | None = None
    look: int = 0
    checkpoint: float = 5.0
    grace: float = 5.0

    @property
    def host(self) -> str:
        """Host name that others reach this process by."""
        return self.advertise or self.listen


DEFAULTS = Settings()
"""What holds where nobody says anything."""


def read_settings(
    program: str, arguments: Sequence[str], environment: Mapping[str, str], defaults: Settings = DEFAULTS
) -> Settings:
    """Reads settings from flags and from the environment.

    Args:
        program: Name of the program, for its help.
        arguments: The command line behind the program's name.
        environment: Environment variables.
        defaults: What holds where neither says anything.

    Raises:
        InputError: With every value that is wrong.
        SystemExit: After ``--help``, or on a flag that does not exist.
    """
    flags = vars(settings_parser(program).parse_args(arguments))
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, option in OPTIONS.items():
        text, place = flags[name], _flag(name)
        if text is None:
            text, place = environment.get(_variable(name)), _variable(name)
        if text is None:
            continue
        try:
            values[name] = option.read(text)
        except ValueError as error:
            problems.append(Problem(str(error), field=place))
    if problems:
        raise InputError(problems)
    return replace(defaults, **values)


def settings_parser(program: str) -> argparse.ArgumentParser:
    """The flags of a service, all optional."""
    parser = argparse.ArgumentParser(prog=program, allow_abbrev=False)
    for name, option in OPTIONS.items():
        parser.add_argument(_flag(name), metavar=option.metavar, help=f"{option.text} [{_variable(name)}]")
    return parser


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _variable(name: str) -> str:
    return ENVIRONMENT_PREFIX + name.upper()
