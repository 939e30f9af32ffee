# SPDX-License-Identifier: Apache-2.0
"""``python -m integration.shuffled_stack``: ``python -m services``, but the services start in any order."""

from __future__ import annotations

import argparse
import random
import sys
from dataclasses import replace
from pathlib import Path
from time import sleep

from fabrictwin.runtime.blueprint import Blueprint, draw_blueprint
from fabrictwin.runtime.local_stack import LocalStack, Make, Member
from fabrictwin.runtime.scenario_source import read_source
from fabrictwin.runtime.service import Service
from fabrictwin.runtime.settings import Settings
from fabrictwin.runtime.shard_process import load_kernels
from services.__main__ import members_of

LONGEST_DELAY_S = 0.4


def delayed(make: Make, delay_s: float) -> Make:
    """A service that begins later."""

    def make_late(settings: Settings, blueprint: Blueprint) -> Service:
        sleep(delay_s)
        return make(settings, blueprint)

    return make_late


def shuffle(members: tuple[Member, ...], seed: int) -> tuple[Member, ...]:
    """The members in another order, each some time after the one before."""
    order = random.Random(seed).sample(members, len(members))
    gap_s = LONGEST_DELAY_S / len(order)
    print("starting:", *(member.process for member in order), file=sys.stderr)
    return tuple(
        replace(member, make=delayed(member.make, gap_s * place)) for place, member in enumerate(order)
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--scenario", required=True, type=Path)
    parser.add_argument("--state-dir", required=True, type=Path)
    parser.add_argument("--twin", required=True)
    parser.add_argument("--seed", required=True, type=int)
    given = parser.parse_args()
    blueprint = draw_blueprint(read_source(given.scenario))
    load_kernels(blueprint)
    members = shuffle(members_of(blueprint), given.seed)
    sys.exit(LocalStack(Settings(twin=given.twin), given.state_dir, blueprint, members).run(embedded=True))


if __name__ == "__main__":
    main()
