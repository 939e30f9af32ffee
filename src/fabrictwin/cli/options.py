# SPDX-License-Identifier: Apache-2.0
"""Arguments and options that several verbs take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ScenarioFile = Annotated[
    Path, typer.Argument(metavar="SCENARIO", help="Scenario file (YAML).", show_default=False)
]
JsonTarget = Annotated[
    str | None,
    typer.Option(
        "--json",
        metavar="FILE",
        help="Write the result as JSON here; - is standard output.",
        show_default=False,
    ),
]
ReportTarget = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE.html", help="Write a page with charts here.", show_default=False),
]
UntilTime = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="Stop at this fabric time, e.g. 2ms.", show_default=False),
]
Processes = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, metavar="N", help="Runs at a time; default: one a core.", show_default=False
    ),
]
TwinName = Annotated[
    str | None,
    typer.Option(
        "--twin", metavar="NAME", help="Which twin; default: the only one that runs here.", show_default=False
    ),
]
DirectorAddress = Annotated[
    str | None,
    typer.Option(
        "--director", metavar="HOST:PORT", help="Director of a twin that runs elsewhere.", show_default=False
    ),
]
Owner = Annotated[
    str | None,
    typer.Option("--owner", metavar="WHO", help="In whose name; default: the user's.", show_default=False),
]
