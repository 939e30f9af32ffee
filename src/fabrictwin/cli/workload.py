# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin workload``: traffic of a running twin: list it, add some, end some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.text import Text

from fabrictwin.api.v1.director_pb2 import (
    ListWorkloadsRequest,
    StartWorkloadRequest,
    StopWorkloadRequest,
    Workload,
)
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import counted, output, printable
from fabrictwin.cli.entry_command import EntryCommands, read_pages, show_entry
from fabrictwin.cli.message_json import as_plain
from fabrictwin.cli.options import DirectorAddress, JsonTarget, Owner, TwinName
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json
from fabrictwin.cli.owner import owner_or_user
from fabrictwin.cli.tables import plain_table
from fabrictwin.model.workload import WORKLOADS
from fabrictwin.units import show_clock

EXAMPLES = {
    "stream": "--src h0 --dst h5 --message 1MiB --count forever",
    "incast": "--senders h1,h2,h3 --receiver h0 --message 1MiB --count 4",
    "permutation": "--message 256KiB --count forever",
    "uniform_random": "--load 0.5 --message 64KiB",
    "all_reduce": "--ranks all --bytes 16MiB --iterations 10",
    "all_to_all": "--ranks all --bytes 16MiB",
}
OPTIONAL = {
    "start": "fabric time of the first message; default: at once",
    "name": "its name; default: the kind and a number",
}

app = typer.Typer(help="Traffic of a running twin.", no_args_is_help=True)
start_app = typer.Typer(
    help=f"Adds traffic.\n\nExample: fabrictwin workload start incast {EXAMPLES['incast']}",
    short_help="Adds traffic.",
    no_args_is_help=True,
)
app.add_typer(start_app, name="start")


@app.command("list")
def list_workloads(json: JsonTarget = None, twin: TwinName = None, director: DirectorAddress = None) -> None:
    """Lists the traffic of the scenario and what was added.

    Example: fabrictwin workload list
    """
    check_writable([json])
    with open_director(twin, director) as stub:
        workloads = [*read_workloads(stub)]
    if json is not None:
        rows = [as_plain(workload) for workload in workloads]
        write_json({"schema": "fabrictwin.workloads/1", "workloads": rows}, json)
    if json == STANDARD_OUTPUT:
        return
    table = plain_table("", ["name", "kind", "owner"], ["flows", "begins", "stops"])
    for workload in workloads:
        texts = (workload.name, workload.kind, workload.owner)
        table.add_row(
            *(Text(printable(text)) for text in texts),
            f"{workload.flows:,}",
            show_clock(workload.start_ps),
            "-" if workload.stop_ps < 0 else show_clock(workload.stop_ps),
        )
    output().print(table if workloads else "no workloads")


def read_workloads(director: DirectorStub) -> Iterator[Workload]:
    """Every workload of a twin, in order of its beginning."""
    for page in read_pages(lambda page: director.ListWorkloads(ListWorkloadsRequest(page=page))):
        yield from page.workloads


@app.command("stop")
def stop_workload(
    name: Annotated[str, typer.Argument(metavar="ID", help="Its name.", show_default=False)],
    owner: Owner = None,
    twin: TwinName = None,
    director: DirectorAddress = None,
) -> None:
    """Ends traffic: what is posted is delivered, nothing more is posted.

    Example: fabrictwin workload stop incast-1
    """
    with open_director(twin, director) as stub:
        workload = stub.StopWorkload(StopWorkloadRequest(name=name, by=owner_or_user(owner))).workload
    show_entry(workload, f"{workload.name} posts nothing from {show_clock(workload.stop_ps)} on")


def start_workload(
    entry: str,
    owner: Owner = None,
    json: JsonTarget = None,
    twin: TwinName = None,
    director: DirectorAddress = None,
) -> None:
    """Has the director add traffic, and says what it has made of it.

    Args:
        entry: An entry of a scenario's ``workload``, as JSON.
        owner: Who starts it.
        json: Where to write the workload.
        twin: Name of the twin.
        director: host:port of its director.
    """
    check_writable([json])
    with open_director(twin, director) as stub:
        request = StartWorkloadRequest(workload=entry, owner=owner_or_user(owner))
        workload = stub.StartWorkload(request).workload
    what = f"{workload.kind}, {counted(workload.flows, 'flow')}"
    show_entry(workload, f"{workload.name} begins at {show_clock(workload.start_ps)}: {what}", json)


EntryCommands("fabrictwin workload start", EXAMPLES, OPTIONAL, start_workload).add_to(
    start_app, WORKLOADS.values()
)
