# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin result``: what has happened in a twin so far."""

from __future__ import annotations

import json as json_format
from typing import Any

from fabrictwin.api.v1.director_pb2 import ResultRequest
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import output
from fabrictwin.cli.options import DirectorAddress, JsonTarget, TwinName
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json
from fabrictwin.cli.summary import print_summary

WITHIN_S = 120.0


def result(json: JsonTarget = None, twin: TwinName = None, director: DirectorAddress = None) -> None:
    """Says what has happened in a twin that is paused or has stopped, as 'simulate' does.

    Example: fabrictwin result --json result.json

    A deadlock is a result, not an error.
    """
    check_writable([json])
    with open_director(twin, director) as stub:
        found = fetch_result(stub)
    if json is not None:
        write_json(found, json)
    if json != STANDARD_OUTPUT:
        print_summary(output(), found)


def fetch_result(director: DirectorStub) -> dict[str, Any]:
    """The result, ``fabrictwin.result/1``."""
    text = b"".join(chunk.json for chunk in director.Result(ResultRequest(), timeout=WITHIN_S))
    found: dict[str, Any] = json_format.loads(text)
    return found
