# SPDX-License-Identifier: Apache-2.0
"""Where a run ends, and what is odd about it."""

from __future__ import annotations

from fabrictwin.cli.console import print_warnings
from fabrictwin.errors import InputError, Problem
from fabrictwin.model.scenario import Scenario
from fabrictwin.units import show_time


def check_end(scenario: Scenario, until_ps: int | None, file: str) -> None:
    """Says where the end of a run is not what one would expect.

    Raises:
        InputError: Nothing ends the run.
    """
    if not scenario.jobs and until_ps is None and not scenario.says_duration:
        raise InputError.of(
            "without a workload nothing ends the run: give it a 'duration', or --until", file=file
        )
    if until_ps is not None and until_ps > scenario.duration_ps:
        duration = show_time(scenario.duration_ps)
        print_warnings([Problem(f"the run ends earlier, with the scenario: at {duration}", field="--until")])


def known_end(until_ps: int | None, scenario: Scenario) -> int | None:
    """Fabric time at which a run stops at the latest; None: nobody knows when its work is done."""
    ends = [until_ps, scenario.duration_ps if scenario.says_duration else None]
    return min((end for end in ends if end is not None), default=None)
