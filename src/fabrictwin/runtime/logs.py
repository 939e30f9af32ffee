# SPDX-License-Identifier: Apache-2.0
"""Structured logs: one JSON object a line on standard error, with the service, its shard and fabric time."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

import structlog

from fabrictwin.units import PS_PER_NS

Log = structlog.typing.FilteringBoundLogger


def open_log(service: str, shard: str, level: str, fabric_time_ps: Callable[[], int]) -> Log:
    """The log of one process.

    Args:
        service: Name of the service.
        shard: Name of its logical process.
        level: Least level that is written: debug, info, warning or error.
        fabric_time_ps: Tells the fabric time that a line is stamped with.
    """

    def stamp(_: object, __: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        return {"service": service, "shard": shard, "fabric_ns": fabric_time_ps() // PS_PER_NS, **event}

    log: Log = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            stamp,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
    )
    return log
