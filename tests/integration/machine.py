# SPDX-License-Identifier: Apache-2.0
"""The installed command on live twins, in a runtime folder of their own that is searched for leftovers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from integration.patience import wait_until

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("fabrictwin")
WITHIN_S = 300
FABRIC = """\
version: 1
name: {name}
seed: 5
duration: {duration}
fabric:
  technology: infiniband
  topology: {{generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}}
  switch_model: quantum2
  hca_model: connectx7
workload:
"""
ENDLESS = "  - {kind: permutation, name: shuffle, pattern: random, message: 64KiB, count: forever}\n"
SHORT = "  - {kind: incast, name: burst, senders: [h1, h2], receiver: h0, message: 64KiB, count: 2}\n"


class Machine:
    """Where twins run.

    Attributes:
        folder: Their runtime folder; short enough for sockets.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mark = f"XDG_RUNTIME_DIR={folder}"
        path = os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY)])
        self.environment = os.environ | {"XDG_RUNTIME_DIR": str(folder), "PYTHONPATH": path}

    def scenario(self, name: str, *, duration: str = "10s", workload: str = ENDLESS) -> Path:
        """Writes a scenario file."""
        path = self.folder / f"{name}.yaml"
        path.write_text(FABRIC.format(name=name, duration=duration) + workload)
        return path

    def run(self, *arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Runs the command to its end."""
        return subprocess.run(
            [PROGRAM, *arguments],
            capture_output=True,
            text=True,
            env=self.environment | variables,
            timeout=WITHIN_S,
        )

    def do(self, *arguments: str | Path) -> str:
        """What the command prints; it has to succeed."""
        run = self.run(*arguments)
        assert run.returncode == 0, (run.stdout, run.stderr)
        return run.stdout

    def ask(self, *arguments: str | Path) -> dict[str, Any]:
        """What the command gives as JSON."""
        answer: dict[str, Any] = json.loads(self.do(*arguments, "--json", "-"))
        return answer

    def status(self, *arguments: str) -> dict[str, Any]:
        """How a twin is; a service may be slow to answer on a busy machine."""
        run = self.run("status", *arguments, "--json", "-")
        assert run.returncode in (0, 1), (run.stdout, run.stderr)
        status: dict[str, Any] = json.loads(run.stdout)
        return status

    def wait_for_health(self, shard: str, health: str) -> None:
        """Waits until the command says how a service is."""

        def is_so() -> bool:
            return (shard, health) in [(each["shard"], each["health"]) for each in self.status()["services"]]

        wait_until(is_so, self.status)

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Runs the command beside the test."""
        return subprocess.Popen(
            [PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, env=self.environment
        )

    def processes(self) -> list[int]:
        """Every process that was started from here and still runs."""
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdecimal() and self._mark.encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
        return found

    def leftovers(self) -> list[str]:
        """Processes and files of twins."""
        twins = self.folder / "fabrictwin"
        files = [str(path) for path in twins.rglob("*")] if twins.exists() else []
        return [*map(str, self.processes()), *files]


@contextmanager
def machine() -> Iterator[Machine]:
    """A place for twins; whatever is left there is ended."""
    folder = Path(tempfile.mkdtemp(prefix="ft-"))
    place = Machine(folder)
    try:
        yield place
    finally:
        for pid in place.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, 9)
        shutil.rmtree(folder, ignore_errors=True)
