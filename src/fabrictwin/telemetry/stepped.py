# SPDX-License-Identifier: Apache-2.0
"""A simulation in one process that can be scraped while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import cast

import numpy as np

from fabrictwin.engine.plan import Plan
from fabrictwin.engine.simulation import Simulation
from fabrictwin.engine.state import State
from fabrictwin.model.fabric import NodeKind
from fabrictwin.telemetry.health import Health


class SteppedSimulation:
    """Steps a simulation, and stands still between two steps while exporters copy.

    Args:
        simulation: In one shard.
        healths: Where it tells of its steps; one for each service that it plays.

    Attributes:
        longest_hold_ns: Wall time that the longest copy has taken.
    """

    def __init__(self, simulation: Simulation, healths: Iterable[Health]) -> None:
        self.simulation, self._healths = simulation, tuple(healths)
        (_, state), *others = simulation.readout().states
        if others:
            raise ValueError("expected a simulation in one shard")
        self.state = cast(State, state)
        self.longest_hold_ns = 0
        self._lock = threading.Lock()

    @contextmanager
    def hold(self) -> Iterator[int]:
        """Keeps it between two steps; a simulation settles its arrays at the end of each."""
        with self._lock:
            began_ns = time.perf_counter_ns()
            yield self.simulation.now_ps
            self.longest_hold_ns = max(self.longest_hold_ns, time.perf_counter_ns() - began_ns)

    def step(self, to_ps: int) -> None:
        """Simulates up to a fabric time."""
        with self._lock:
            began_ns = time.perf_counter_ns()
            self.simulation.run(to_ps)
            took_ns = time.perf_counter_ns() - began_ns
            for health in self._healths:
                health.reached_ps = self.simulation.now_ps
                health.steps.add(took_ns)
                health.stepped_at_s = time.time()

    def nodes_of(self, kind: NodeKind) -> NodesOfKind:
        """Its switches or its HCAs, as a service would have them."""
        return NodesOfKind(self, kind)


class NodesOfKind:
    """The part of a stepped simulation that one service would simulate."""

    def __init__(self, stepped: SteppedSimulation, kind: NodeKind) -> None:
        self.hold = stepped.hold
        self.state = stepped.state
        self.plan: Plan = stepped.simulation.plan
        self.owned = np.array([node.kind is kind for node in self.plan.scenario.fabric.nodes], bool)
