# SPDX-License-Identifier: Apache-2.0
"""The shipped real file is what the real tools say of the fabric that its script describes."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).resolve().parents[2] / "deploy" / "scenarios"
TOOLS = ("ibsim", "opensm", "ibnetdiscover")


def _without_date(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("# Topology file: generated on ")]


@pytest.mark.opensm
def test_real_tools_reproduce_the_shipped_file() -> None:
    missing = [tool for tool in TOOLS if shutil.which(tool, path="/usr/sbin:/usr/bin:/sbin:/bin") is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    script = runpy.run_path(str(SCENARIOS / "make_ibnetdiscover.py"))
    made = script["discover"](script["build_fabric"]())
    shipped = (SCENARIOS / "hdr_fat_tree.ibnetdiscover").read_text(encoding="utf-8")
    assert _without_date(made) == _without_date(shipped)
