# SPDX-License-Identifier: Apache-2.0
"""A twin whose services are started one by one, each with a command of its own."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from fabrictwin.runtime.blueprint import DIRECTOR, draw_blueprint
from fabrictwin.runtime.embedded_redis import EmbeddedRedis
from fabrictwin.runtime.scenario_source import read_source
from integration.redis_server import short_folder
from integration.services_at_work import Running, run_module
from services.__main__ import members_of

MODULES = {
    DIRECTOR: "services.director",
    "sm": "services.subnet_manager",
    "switch": "services.switch_node",
    "hca": "services.hca_endpoint",
    "cc": "services.congestion_control",
}


@contextmanager
def separate_services(
    scenario: Path, twin: str, seed: int, more: dict[str, list[str]] | None = None
) -> Iterator[tuple[str, dict[str, Running]]]:
    """Starts every service of a scenario, in an order of its own, each when the one before it listens.

    The director has no scenario yet.

    Args:
        scenario: The scenario.
        twin: Name of the twin.
        seed: Of the order.
        more: Further arguments, by the name of the logical process.

    Yields:
        The URL of the Redis server, and the services by the names of their logical processes.
    """
    members = members_of(draw_blueprint(read_source(scenario)))
    with short_folder() as folder, EmbeddedRedis(folder) as server, ExitStack() as stack:
        running: dict[str, Running] = {}
        for member in random.Random(seed).sample(members, len(members)):
            arguments = ["--redis", server.url, "--twin", twin]
            if member.process != DIRECTOR:
                arguments += ["--shard", f"{member.shard.number}/{member.shard.parts}"]
            arguments += (more or {}).get(member.process, [])
            module = MODULES[member.process.rstrip("0123456789")]
            log = folder / f"{member.process}.log"
            service = stack.enter_context(run_module(module, arguments, log))
            service.wait_for("listening")
            running[member.process] = service
        yield server.url, running
