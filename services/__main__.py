# SPDX-License-Identifier: Apache-2.0
"""``python -m services``: all services of a twin on this machine, with a Redis server of their own."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from fabrictwin.errors import EXIT_FAILURE, EXIT_INPUT, FabricTwinError, InputError
from fabrictwin.runtime.blueprint import DIRECTOR, Blueprint, draw_blueprint
from fabrictwin.runtime.local_stack import LocalStack, Make, Member
from fabrictwin.runtime.scenario_source import read_source
from fabrictwin.runtime.settings import Settings, ShardOf, read_settings
from fabrictwin.runtime.shard_process import load_kernels
from services.congestion_control.service import make_service as make_congestion_control
from services.director.service import make_paused_service as make_paused_director
from services.director.service import make_service as make_director
from services.hca_endpoint.service import make_service as make_hca_endpoint
from services.subnet_manager.service import make_service as make_subnet_manager
from services.switch_node.service import make_service as make_switch_node

PROGRAM = "python -m services"
BY_PREFIX: dict[str, Make] = {
    "switch": make_switch_node,
    "hca": make_hca_endpoint,
    "cc": make_congestion_control,
    "sm": make_subnet_manager,
}
"""The services by the names of their logical processes, but for the number at the end."""


def members_of(blueprint: Blueprint, *, is_paused: bool = False) -> tuple[Member, ...]:
    """The services that a scenario wants, the director first.

    Args:
        blueprint: The scenario.
        is_paused: Whether the twin waits at fabric time 0.
    """
    names = blueprint.processes
    members = [Member(DIRECTOR, make_paused_director if is_paused else make_director, ShardOf(0, 1))]
    for name in names:
        prefix = name.rstrip("0123456789")
        count = sum(other.rstrip("0123456789") == prefix for other in names)
        members.append(Member(name, BY_PREFIX[prefix], ShardOf(int(name[len(prefix) :] or 0), count)))
    return tuple(members)


def run(arguments: list[str]) -> int:
    """Runs the stack; returns its exit code."""
    parser = argparse.ArgumentParser(prog=PROGRAM, allow_abbrev=False)
    parser.add_argument("--scenario", required=True, type=Path, help="scenario file (YAML)")
    parser.add_argument(
        "--state-dir", required=True, type=Path, help="folder for twin.json, logs and sockets"
    )
    parser.add_argument("--paused", action="store_true", help="wait at fabric time 0 until told to go on")
    own, rest = parser.parse_known_args(arguments)
    settings = read_settings(PROGRAM, rest, os.environ, Settings(redis=""))
    blueprint = draw_blueprint(read_source(own.scenario))
    load_kernels(blueprint)
    stack = LocalStack(settings, own.state_dir, blueprint, members_of(blueprint, is_paused=own.paused))
    return stack.run(embedded=not settings.redis)


def main() -> None:
    """The command."""
    try:
        code = run(sys.argv[1:])
    except InputError as error:
        print(*(f"error: {problem}" for problem in error.problems), sep="\n", file=sys.stderr)
        code = EXIT_INPUT
    except FabricTwinError as error:
        print(f"error: {error}", file=sys.stderr)
        code = EXIT_FAILURE
    sys.exit(code)


if __name__ == "__main__":
    main()
