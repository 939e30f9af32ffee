# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin fault``: faults of a running twin: list them, inject one, end one before its lease does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.text import Text

from fabrictwin.api.v1.director_pb2 import (
    ClearFaultRequest,
    Fault,
    InjectFaultRequest,
    ListFaultsRequest,
)
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import output, printable
from fabrictwin.cli.entry_command import EntryCommands, read_pages, show_entry
from fabrictwin.cli.message_json import as_plain
from fabrictwin.cli.options import DirectorAddress, JsonTarget, Owner, TwinName
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json
from fabrictwin.cli.owner import owner_or_user
from fabrictwin.cli.tables import plain_table
from fabrictwin.model.fault import FAULTS
from fabrictwin.units import show_clock

EXAMPLES = {
    "link_down": "--link leaf0/5,spine0/1 --duration 1ms",
    "link_flap": "--link leaf0/5,spine0/1 --down 50us --up 100us --count 3",
    "link_degraded": "--link leaf0/5,spine0/1 --width 1x --duration 1ms",
    "symbol_errors": "--link leaf0/5,spine0/1 --ber 1e-9 --duration 1ms",
    "switch_down": "--switch spine0 --duration 1ms",
    "slow_receiver": "--node h0 --rate 10Gb/s --duration 1ms",
    "receiver_not_ready": "--node h0 --duration 100us",
    "sm_down": "--node h0 --duration 5ms",
    "sma_unresponsive": "--node leaf0 --duration 5ms",
}
OPTIONAL = {
    "at": "fabric time at which it begins; default: at once",
    "name": "its id; default: the kind and a number",
    "duration": "its lease: how long it lasts",
}

app = typer.Typer(help="Faults of a running twin.", no_args_is_help=True)
inject_app = typer.Typer(
    help=f"Injects a fault.\n\nExample: fabrictwin fault inject link_down {EXAMPLES['link_down']}",
    short_help="Injects a fault.",
    no_args_is_help=True,
)
app.add_typer(inject_app, name="inject")


@app.command("list")
def list_faults(
    active: Annotated[bool, typer.Option("--active", help="Only those that are active now.")] = False,
    json: JsonTarget = None,
    twin: TwinName = None,
    director: DirectorAddress = None,
) -> None:
    """Lists the faults of the scenario and those that were injected.

    Example: fabrictwin fault list --active
    """
    check_writable([json])
    with open_director(twin, director) as stub:
        faults = [*read_faults(stub, active=active)]
    if json is not None:
        write_json({"schema": "fabrictwin.faults/1", "faults": [as_plain(fault) for fault in faults]}, json)
    if json == STANDARD_OUTPUT:
        return
    table = plain_table("", ["id", "state", "what", "owner"], ["begins", "ends"])
    for fault in faults:
        texts = (fault.id, fault.state, fault.text, fault.owner)
        end = "never" if fault.end_ps < 0 else show_clock(fault.end_ps)
        table.add_row(*(Text(printable(text)) for text in texts), show_clock(fault.start_ps), end)
    output().print(table if faults else "no faults")


def read_faults(director: DirectorStub, *, active: bool) -> Iterator[Fault]:
    """Every fault of a twin, in order of its beginning."""
    for page in read_pages(lambda page: director.ListFaults(ListFaultsRequest(active=active, page=page))):
        yield from page.faults


@app.command("clear")
def clear_fault(
    fault_id: Annotated[str, typer.Argument(metavar="ID", help="Its id.", show_default=False)],
    owner: Owner = None,
    twin: TwinName = None,
    director: DirectorAddress = None,
) -> None:
    """Ends a fault that was injected before its lease does.

    Example: fabrictwin fault clear link_down-1
    """
    with open_director(twin, director) as stub:
        fault = stub.ClearFault(ClearFaultRequest(id=fault_id, by=owner_or_user(owner))).fault
    what = f"ends at {show_clock(fault.end_ps)}" if fault.end_ps > fault.start_ps else "will not begin"
    show_entry(fault, f"{fault.id} {what}: {fault.text}")


def inject_fault(
    entry: str,
    owner: Owner = None,
    json: JsonTarget = None,
    twin: TwinName = None,
    director: DirectorAddress = None,
) -> None:
    """Has the director inject a fault, and says what it has made of it.

    Args:
        entry: An entry of a scenario's ``faults``, as JSON.
        owner: Who injects it.
        json: Where to write the fault.
        twin: Name of the twin.
        director: host:port of its director.
    """
    check_writable([json])
    with open_director(twin, director) as stub:
        fault = stub.InjectFault(InjectFaultRequest(fault=entry, owner=owner_or_user(owner))).fault
    end = "" if fault.end_ps < 0 else f", over at {show_clock(fault.end_ps)}"
    show_entry(fault, f"{fault.id} begins at {show_clock(fault.start_ps)}{end}: {fault.text}", json)


EntryCommands("fabrictwin fault inject", EXAMPLES, OPTIONAL, inject_fault).add_to(inject_app, FAULTS.values())
