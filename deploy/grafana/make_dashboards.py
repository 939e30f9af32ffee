# SPDX-License-Identifier: Apache-2.0
"""Writes the dashboards of ``dashboards/`` from the Python files beside it.

Run it after a change: ``python deploy/grafana/make_dashboards.py [FOLDER]``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from congestion import congestion
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from jobs import jobs
from overview import overview
from port import port
from subnet import subnet
from twin import twin

from drills import drills

FOLDER = Path(__file__).with_name("dashboards")
DASHBOARDS = {
    "overview": overview,
    "port": port,
    "congestion": congestion,
    "subnet": subnet,
    "jobs": jobs,
    "drills": drills,
    "twin": twin,
}
"""What makes the dashboard of each file."""


def main(folder: Path) -> None:
    """Writes every dashboard as JSON."""
    encoder = JSONEncoder(sort_keys=True, indent=2)
    for name, make in DASHBOARDS.items():
        (folder / f"{name}.json").write_text(encoder.encode(make().build()) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
