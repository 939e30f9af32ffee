# SPDX-License-Identifier: Apache-2.0
"""A simulation that runs at a pace, with its switches and its HCAs behind ``/metrics`` of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from fabrictwin.engine.simulation import Simulation
from fabrictwin.model.fabric import NodeKind
from fabrictwin.telemetry import CONTENT_TYPE, Exporter, Health, Service, Target
from fabrictwin.telemetry.stepped import SteppedSimulation
from fabrictwin.units import PS_PER_MS

SERVICES = {NodeKind.SWITCH: Service.SWITCH_NODE, NodeKind.HCA: Service.HCA_ENDPOINT}
STEP_PS = PS_PER_MS // 10


@dataclass
class Running:
    """A simulation under way.

    Attributes:
        stepped: It.
        targets: Where its metrics are.
        history: [ports] bytes that each port has sent, by the fabric time of the end of each step.
        walls: Wall time of these ends, seconds since 1970.
        moving: Set while it steps.
        stop: Set at the end.
    """

    stepped: SteppedSimulation
    targets: list[Target]
    history: dict[int, np.ndarray] = field(default_factory=dict)
    walls: dict[int, float] = field(default_factory=dict)
    moving: threading.Event = field(default_factory=threading.Event)
    stop: threading.Event = field(default_factory=threading.Event)
    _stepping: threading.Lock = field(default_factory=threading.Lock)

    def run(self, pace_ps_per_s: int) -> None:
        """Steps at a pace until told to stop."""
        next_s = time.monotonic()
        while not self.stop.is_set():
            with self._stepping:
                if self.moving.is_set():
                    self._step()
            next_s = max(next_s + STEP_PS / pace_ps_per_s, time.monotonic())
            self.stop.wait(next_s - time.monotonic())
            while not self.moving.wait(0.05) and not self.stop.is_set():
                pass

    def _step(self) -> None:
        self.stepped.step(self.stepped.simulation.now_ps + STEP_PS)
        self.history[self.stepped.simulation.now_ps] = self.stepped.state.port.xmit_bytes.copy()
        self.walls[self.stepped.simulation.now_ps] = time.time()

    def halt(self) -> None:
        """Lets it stand; returns when it does."""
        with self._stepping:
            self.moving.clear()


@contextmanager
def running_simulation(simulation: Simulation, pace_ps_per_s: int) -> Iterator[Running]:
    """Runs a simulation in a thread and serves its metrics; both end with the context."""
    name = simulation.plan.scenario.name
    healths = {kind: Health(name, service, f"{kind}0", name) for kind, service in SERVICES.items()}
    stepped = SteppedSimulation(simulation, healths.values())
    servers = [
        _serve(Exporter(health, stepped.nodes_of(kind)), health.shard) for kind, health in healths.items()
    ]
    targets = [
        Target(SERVICES[kind], f"{kind}0", f"127.0.0.1:{server.server_address[1]}")
        for kind, server in zip(healths, servers, strict=True)
    ]
    running = Running(stepped, targets)
    running.moving.set()
    stepping = threading.Thread(target=running.run, args=(pace_ps_per_s,))
    stepping.start()
    try:
        yield running
    finally:
        running.stop.set()
        stepping.join()
        for server in servers:
            server.shutdown()
            server.server_close()


def _serve(exporter: Exporter, name: str) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = exporter.render()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(sum(map(len, parts))))
            self.end_headers()
            for part in parts:
                self.wfile.write(part)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: one line a scrape tells nobody anything."""

    exporter.render()  # the first page is the slow one
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, name=name, daemon=True).start()
    return server
