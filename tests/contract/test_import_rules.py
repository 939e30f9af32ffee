# SPDX-License-Identifier: Apache-2.0
"""Who may import whom, and that starting up stays light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
HEAVY = ("numba", "numpy", "plotly", "pydantic", "networkx")


def test_layers_keep_the_import_contracts() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    checked = subprocess.run([lint, "--no-cache"], cwd=REPOSITORY, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("module", ["fabrictwin.cli.main"])
def test_entry_point_imports_nothing_heavy(module: str) -> None:
    script = f"import sys, {module}; print(*sorted(set(sys.modules) & set({HEAVY!r})))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert loaded.stdout.split() == []
