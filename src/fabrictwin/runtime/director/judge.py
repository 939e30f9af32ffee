# SPDX-License-Identifier: Apache-2.0
"""Where every run of a scenario looks around, and what it sees: idle, or deadlocked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabrictwin.engine.build import Plan
from fabrictwin.units import PS_PER_US

FIRST_STEP_PS = PS_PER_US


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends.

    Attributes:
        stopped: ``idle`` or ``deadlock``.
        end_ps: Fabric time of the end.
        cycle: The output VLs of a deadlock.
        since_ps: Since when they wait.
    """

    stopped: str
    end_ps: int
    cycle: tuple[str, ...] = ()
    since_ps: int = 0


class GridJudge:
    """Looks around at equal steps of fabric time.

    Args:
        plan: The scenario and its rows.
    """

    def __init__(self, plan: Plan) -> None:
        self._duration_ps = plan.scenario.duration_ps

    def next_look_ps(self, after_ps: int) -> int:
        """The first fabric time after another at which every run looks around."""
        return min(self._duration_ps, (after_ps // FIRST_STEP_PS + 1) * FIRST_STEP_PS)

    def look(self, at_ps: int, reports: Mapping[str, Any]) -> Ending | None:
        """Whether the run ends here."""
        if all(report["idle"] for report in reports.values()):
            return Ending("idle", max(int(report["last_live_ps"]) for report in reports.values()))
        return None
