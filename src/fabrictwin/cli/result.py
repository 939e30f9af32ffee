# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin result``: what has happened in a twin so far."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import Annotated, Any

import typer

from fabrictwin.api.v1.director_pb2 import CommandLogRequest, ResultRequest
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import output
from fabrictwin.cli.expectations import judge
from fabrictwin.cli.options import DirectorAddress, JsonTarget, TwinName
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json, write_text
from fabrictwin.cli.summary import print_summary

WITHIN_S = 120.0
PAUSED = "paused"


def result(
    json: JsonTarget = None,
    commands: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG",
            help="Write here what people did, for 'simulate --commands'.",
            show_default=False,
        ),
    ] = None,
    twin: TwinName = None,
    director: DirectorAddress = None,
) -> None:
    """Says what has happened in a twin that is paused or has stopped, as 'simulate' does.

    Example: fabrictwin result --json result.json

    A deadlock is a result, not an error. Exit code 1: it has stopped, and an expectation is not met.
    """
    check_writable([json, commands])
    with open_director(twin, director) as stub:
        found, failures = fetch_result(stub)
        log = b"" if commands is None else fetch_command_log(stub)
    if commands is not None:
        write_text(commands, log.decode())
    if json is not None:
        write_json(found, json)
    if json != STANDARD_OUTPUT:
        print_summary(output(), found)
    if found["stopped"] != PAUSED:
        judge(failures)


def fetch_result(director: DirectorStub) -> tuple[dict[str, Any], list[str]]:
    """(the result, what the scenario expects of it in vain)."""
    chunks = list(director.Result(ResultRequest(), timeout=WITHIN_S))
    found: dict[str, Any] = json_format.loads(b"".join(chunk.json for chunk in chunks))
    return found, [failure for chunk in chunks for failure in chunk.expectations_not_met]


def fetch_command_log(director: DirectorStub) -> bytes:
    """What people have done to the twin, as JSON lines."""
    return b"".join(chunk.lines for chunk in director.CommandLog(CommandLogRequest(), timeout=WITHIN_S))
