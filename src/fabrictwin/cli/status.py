# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin status``: how a twin and its services are."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.text import Text

from fabrictwin.api.v1.director_pb2 import ServiceStatus, StatusRequest, StatusResponse, TwinState
from fabrictwin.cli.clock import show_state
from fabrictwin.cli.connection import open_director
from fabrictwin.cli.console import counted, output, printable
from fabrictwin.cli.message_json import as_plain
from fabrictwin.cli.options import DirectorAddress, JsonTarget, TwinName
from fabrictwin.cli.output_file import STANDARD_OUTPUT, check_writable, write_json
from fabrictwin.cli.tables import plain_table
from fabrictwin.errors import EXIT_NO
from fabrictwin.units import PS_PER_S, show_clock, show_time

SERVING = "serving"
STATE_STYLES = {"running": "green", "paused": "yellow", "stopped": "bold", "failed": "bold red"}
SILENT_AFTER_S = 3.0
"""Services are asked every second and have two to answer."""


def status(json: JsonTarget = None, twin: TwinName = None, director: DirectorAddress = None) -> None:
    """Says how a twin and its services are, and how far it is.

    Example: fabrictwin status

    Exit code 1: it has failed, or a service does not answer.
    """
    check_writable([json])
    with open_director(twin, director) as stub:
        answer = stub.Status(StatusRequest())
    if json is not None:
        write_json({"schema": "fabrictwin.status/1"} | as_plain(answer), json)
    if json != STANDARD_OUTPUT:
        print_status(output(), answer)
    if not is_healthy(answer):
        raise typer.Exit(EXIT_NO)


def is_healthy(answer: StatusResponse) -> bool:
    """Whether the twin has not failed, and every service answers."""
    return answer.state != TwinState.TWIN_STATE_FAILED and all(
        service.health == SERVING for service in answer.services
    )


def print_status(console: Console, answer: StatusResponse) -> None:
    """Prints what a twin does, and a line for each service."""
    state = show_state(answer.state)
    head = Text.assemble((printable(answer.twin), "bold"), ": ", (state, STATE_STYLES.get(state, "")))
    if answer.stopped:
        head.append(f" by {answer.stopped}")
    head.append(f" at {show_clock(answer.fabric_time_ps)} of {show_clock(answer.duration_ps)}")
    if state == "running":
        head.append(f", {show_speed(answer.speed)}")
    if answer.pace:
        head.append(f", paced to {show_speed(answer.pace)}")
    head.append(f", scenario {printable(answer.scenario)}, version {printable(answer.version)}")
    console.print(head, soft_wrap=True)
    if answer.error:
        console.print(Text(printable(answer.error), style="bold red"), soft_wrap=True)
    if answer.deadlock_cycle:
        cycle = " -> ".join(map(printable, [*answer.deadlock_cycle, answer.deadlock_cycle[0]]))
        console.print(Text(f"DEADLOCK, each waits for the next: {cycle}", style="bold red"), soft_wrap=True)
    facts = [counted(answer.active_faults, "active fault"), f"{answer.packet_hops:,} packet-hops"]
    console.print(", ".join(facts))
    table = plain_table(
        "", ["process", "service", "health", "address", "metrics"], ["reached", "checkpoint", "pid"]
    )
    for service in answer.services:
        table.add_row(*_row(service))
    console.print()
    console.print(table)


def _row(service: ServiceStatus) -> list[Text | str]:
    return [
        Text(printable(service.shard)),
        Text(printable(service.service or "-")),
        show_health(service),
        Text(printable(service.address or "-")),
        Text(printable(service.metrics_address or "-")),
        show_clock(service.reached_ps),
        "-" if service.checkpoint_ps < 0 else f"{service.checkpoint_age_s:.0f} s ago",
        str(service.pid or "-"),
    ]


def show_health(service: ServiceStatus) -> Text:
    """A service's health, and for how long it has said nothing."""
    text = printable(service.health.replace("_", " "))
    if service.silent_s > SILENT_AFTER_S:
        text += f" for {service.silent_s:.0f} s"
    return Text(text, style="green" if service.health == SERVING else "bold red")


def show_speed(speed: float) -> str:
    """Fabric time for each second of wall time."""
    return f"{show_time(speed * PS_PER_S)} a second"
