# SPDX-License-Identifier: Apache-2.0
"""Looking around: at which fabric times every run of a scenario does, and whether it ends there.

A look-around needs every shard at the same fabric time, with nothing under way between them. The times depend
only on the scenario, so that a run ends at the same one however it is split and wherever it is interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fabrictwin.engine.deadlock import Deadlock, find_deadlock
from fabrictwin.engine.outlook import Outlook
from fabrictwin.engine.plan import Plan
from fabrictwin.engine.readout import Readout
from fabrictwin.units import PS_PER_US

PATIENCE_PS = 10 * PS_PER_US
"""An output must have been blocked for this long before a deadlock is looked for."""

FIRST_STEP_PS = PS_PER_US
MOST_LOOKS = 256
FEWEST_LOOKS = 16
MOST_BYTES = 64 << 20


class LookGrid:
    """Equal steps of fabric time; after so many looks only every second one counts, and the step doubles.

    So a run of any length has between half and all of its places.

    Args:
        ports: Ports of the fabric.
        flows: Flows of the scenario.

    Attributes:
        step_ps: Fabric time between two looks.
        most: Looks that fill the grid, even.
    """

    def __init__(self, ports: int, flows: int) -> None:
        width = 8 * (3 * ports + flows)
        self.most = max(FEWEST_LOOKS, min(MOST_LOOKS, MOST_BYTES // max(1, width)) // 2 * 2)
        self.step_ps = FIRST_STEP_PS
        self._looks = 0

    def is_due(self, time_ps: int) -> bool:
        """Whether a fabric time is on the grid."""
        return time_ps % self.step_ps == 0

    def next_ps(self, after_ps: int) -> int:
        """The first fabric time on the grid after another."""
        return (after_ps // self.step_ps + 1) * self.step_ps

    def count(self) -> None:
        """Counts a look."""
        self._looks += 1
        if self._looks == self.most:
            self._looks //= 2
            self.step_ps *= 2


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ends before its duration.

    Attributes:
        stopped: ``idle`` or ``deadlock``.
        end_ps: Fabric time of the end.
        deadlock: The deadlock.
    """

    stopped: str
    end_ps: int
    deadlock: Deadlock | None = None


class Judge:
    """Looks around.

    Args:
        plan: The scenario and its rows, as they are at the start.

    Attributes:
        grid: Where it looks, besides at the end of the duration.
    """

    def __init__(self, plan: Plan) -> None:
        self.grid = LookGrid(plan.ports.total, len(plan.flows))
        self._scenario = plan.scenario
        self._has_work = bool(plan.scenario.jobs)

    def next_look_ps(self, after_ps: int) -> int:
        """The first fabric time after another at which every run looks around."""
        return min(self._scenario.duration_ps, self.grid.next_ps(after_ps))

    def is_due(self, time_ps: int) -> bool:
        """Whether every run looks around at a fabric time."""
        return time_ps == self._scenario.duration_ps or self.grid.is_due(time_ps)

    def look(
        self,
        at_ps: int,
        outlooks: Iterable[Outlook],
        readout: Callable[[], Readout],
        *,
        ordered: bool = False,
    ) -> Ending | None:
        """Whether the run ends here; takes one place of the grid.

        Args:
            at_ps: Fabric time that every shard has reached.
            outlooks: How each is.
            readout: Reads their arrays; called only if there may be a deadlock.
            ordered: A command takes effect at this fabric time: work may follow.
        """
        self.grid.count()
        self._has_work |= ordered
        outlooks = list(outlooks)
        if ordered:
            return None
        if self._has_work and all(outlook.is_idle for outlook in outlooks):
            return Ending("idle", max(outlook.last_live_ps for outlook in outlooks))
        if min(outlook.blocked_since_ps for outlook in outlooks) >= at_ps - PATIENCE_PS:
            return None
        deadlock = find_deadlock(readout(), PATIENCE_PS)
        return Ending("deadlock", at_ps, deadlock) if deadlock and self._waits_for_ever() else None

    def _waits_for_ever(self) -> bool:
        """Whether nothing that drops packets will break a deadlock."""
        return not any(model.breaks_deadlocks for model in self._scenario.switch_models.values())
