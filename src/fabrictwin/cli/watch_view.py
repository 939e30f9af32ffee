# SPDX-License-Identifier: Apache-2.0
"""What ``watch`` draws: a page that fills the terminal, the problem at the top."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from fabrictwin.api.v1.common_pb2 import Event, PortLoad
from fabrictwin.api.v1.director_pb2 import StatusResponse
from fabrictwin.cli.clock import show_state
from fabrictwin.cli.console import printable
from fabrictwin.cli.status import SERVING, show_speed
from fabrictwin.cli.watch_feed import Watched
from fabrictwin.cli.watch_verdict import FULL, WAITS_MUCH, find_problems, name_port, share
from fabrictwin.units import show_clock, show_rate, show_size

SIDE_BY_SIDE = 120
"""Columns from which the two lists of ports stand side by side."""
MOST_PORT_ROWS = 16
LEAST_PORT_ROWS = 2
LEAST_EVENT_ROWS = 3
MOST_FINDINGS = 5
LEAST_WAIT = 0.005
"""Share of the time that is shown as more than 0 %."""
LEAST_BAR, MOST_BAR = 6, 30
_NUMBERS_WIDTH = 28
_BADGES = {
    "running": "bold black on green",
    "paused": "bold black on yellow",
    "stopped": "bold white on blue",
    "failed": "bold white on red",
}
_BLOCKS = " ▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_RULE = "─"


def draw(watched: Watched, width: int, height: int) -> RenderableType:
    """The page.

    Args:
        watched: What is known of the twin.
        width: Columns of the terminal.
        height: Its lines.
    """
    findings = find_problems(watched)[:MOST_FINDINGS]
    head = [_head(watched.status, width), *(_line(f" ● {text}", style, width) for text, style in findings)]
    head += [Text(), _throughput(watched, width)]
    foot = [_services(watched.status, width), _line(" q leaves; the twin goes on", "dim", width)]
    room = height - len(head) - len(foot)
    port_rows, event_rows = _share_out(room, lists=1 if width >= SIDE_BY_SIDE else 2)
    return Group(*head, _ports(watched, width, port_rows), *_events(watched.events, width, event_rows), *foot)


def _share_out(room: int, lists: int) -> tuple[int, int]:
    """(rows of each list of ports, rows of events) in so many lines; each list has a title."""
    left = room - lists - 1
    port_rows = max(LEAST_PORT_ROWS, min(MOST_PORT_ROWS, (left - LEAST_EVENT_ROWS) // (lists + 1)))
    return port_rows, max(0, left - lists * port_rows)


def _line(text: str, style: str, width: int) -> Text:
    line = Text(printable(text), style=style, no_wrap=True)
    line.truncate(width, overflow="ellipsis")
    return line


def _head(status: StatusResponse, width: int) -> Text:
    state = show_state(status.state)
    line = Text.assemble(
        (f" {printable(status.twin)} ", "bold"), (f" {state.upper()} ", _BADGES.get(state, ""))
    )
    clock = f" {show_clock(status.fabric_time_ps)}"
    behind = f" of {show_clock(status.duration_ps)}"
    if state == "running":
        behind += f", {show_speed(status.speed)}"
    elif status.stopped:
        behind += f", by {status.stopped}"
    done = status.fabric_time_ps / status.duration_ps if status.duration_ps else 0.0
    bar_width = min(60, width - len(line) - len(clock) - len(behind) - 2)
    line.append(clock, "bold")
    if bar_width >= 8:
        line.append(" ")
        line.append(bar(done, bar_width), "cyan on grey23")
    line.append(behind)
    line.truncate(width, overflow="ellipsis")
    line.no_wrap = True
    return line


def _throughput(watched: Watched, width: int) -> Text:
    activity = watched.activity
    if activity is None:
        return _line(" nothing is known of the ports yet", "dim", width)
    line = Text(no_wrap=True)
    line.append(" throughput ", "dim")
    line.append(f"{show_rate(activity.injected_bps):>11}", "bold")
    line.append("  goodput ", "dim")
    line.append(f"{show_rate(activity.delivered_bps):>11}", "bold")
    line.append("  ports waiting for credits ", "dim")
    line.append(f"{activity.ports_blocked:,} ", "bold")
    line.append(sparkline(list(watched.history), max(0, min(60, width - len(line) - 2))), "cyan")
    line.truncate(width)
    return line


def _ports(watched: Watched, width: int, rows: int) -> RenderableType:
    activity = watched.activity
    busiest = list(activity.busiest)[:rows] if activity else []
    waiting = [load for load in activity.most_blocked if load.waited >= LEAST_WAIT] if activity else []
    column = width // 2 if width >= SIDE_BY_SIDE else width
    busy = _port_list(
        "busiest ports: share of the rate, rate, queue", [_busy_row(load) for load in busiest], column, rows
    )
    blocked = _port_list(
        "waiting for credits: share of the time, now, queue",
        [_waiting_row(load) for load in waiting[:rows]],
        column,
        rows,
    )
    if width < SIDE_BY_SIDE:
        return Group(*busy, *blocked)
    grid = Table.grid()
    grid.add_column(width=column)
    grid.add_column(width=width - column)
    for left, right in zip(busy, blocked, strict=True):
        grid.add_row(left, right)
    return grid


class _Row(NamedTuple):
    """A line of a list of ports: its name, how far its bar goes and in which style, two numbers."""

    name: str
    part: float
    style: str
    number: str
    queue: str


def _busy_row(load: PortLoad) -> _Row:
    part = share(load)
    return _row(load, part, "yellow" if part >= FULL else "cyan", show_rate(load.sent_bps))


def _waiting_row(load: PortLoad) -> _Row:
    return _row(
        load, load.waited, "red" if load.waited >= WAITS_MUCH else "cyan", "now" if load.blocked else ""
    )


def _row(load: PortLoad, part: float, style: str, number: str) -> _Row:
    queue = show_size(load.queued_bytes) if load.queued_bytes else ""
    return _Row(printable(name_port(load)), min(1.0, part), style, number, queue)


def _port_list(title: str, rows: Sequence[_Row], width: int, height: int) -> list[Text]:
    """So many lines and a title."""
    name_width = max((len(row.name) for row in rows), default=0)
    name_width = min(name_width, width - _NUMBERS_WIDTH - LEAST_BAR - 2)
    bar_width = min(MOST_BAR, width - _NUMBERS_WIDTH - name_width - 2)
    lines = [_title(title, width), *(_port_line(row, name_width, bar_width) for row in rows)]
    if not rows:
        lines.append(Text("   none", "dim"))
    return lines + [Text()] * (height + 1 - len(lines))


def _title(text: str, width: int) -> Text:
    return Text(f" {_RULE * 2} {text} ".ljust(width - 1, _RULE), "dim", no_wrap=True)


def _port_line(row: _Row, name_width: int, bar_width: int) -> Text:
    name = Text(row.name, no_wrap=True)
    name.truncate(name_width, overflow="ellipsis", pad=True)
    numbers = f"{row.part:>5.0%}{row.number:>12}{row.queue:>11}"
    return Text.assemble(
        " ", name, " ", (bar(row.part, bar_width), f"{row.style} on grey23"), numbers, no_wrap=True
    )


def _events(events: Iterable[Event], width: int, rows: int) -> list[Text]:
    # Each service tells of its events by itself, so they do not quite come in order.
    shown = sorted(events, key=lambda event: event.at_ps)[-rows:] if rows else []
    lines = [_title("events", width)]
    lines += [_event_line(event, width) for event in shown]
    return lines + [Text()] * (rows + 1 - len(lines))


def _event_line(event: Event, width: int) -> Text:
    place = f"{event.node}/{event.port}" if event.port else event.node
    parts = [event.kind, place, event.text]
    line = Text(f" {show_clock(event.at_ps):>15}  ", no_wrap=True)
    line.append(printable(" ".join(filter(None, parts))), _EVENT_STYLES.get(event.kind, ""))
    line.truncate(width, overflow="ellipsis")
    return line


_EVENT_STYLES = {
    "link_down": "red",
    "link_up": "green",
    "fault.inject": "bold red",
    "fault.clear": "green",
    "trap": "yellow",
    "subnet_up": "green",
    "first_packet": "green",
    "failed": "bold red",
}


def _services(status: StatusResponse, width: int) -> Text:
    line = Text(" ", no_wrap=True)
    for service in status.services:
        is_well = service.health == SERVING
        line.append("✓ " if is_well else "✗ ", "green" if is_well else "bold red")
        line.append(f"{printable(service.shard)}  ", "" if is_well else "bold red")
    line.truncate(width, overflow="ellipsis")
    return line


def bar(part: float, width: int) -> str:
    """A bar of so many columns, filled to an eighth of a column."""
    eighths = round(min(1.0, max(0.0, part)) * width * 8)
    full, rest = divmod(eighths, 8)
    return (_EIGHTHS[8] * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def sparkline(values: Sequence[float], width: int) -> str:
    """The last values as blocks of eight heights; the highest of them is as high as it goes."""
    shown = values[-width:] if width else []
    top = max(shown, default=0.0)
    if top <= 0:
        return ""
    return "".join(_BLOCKS[max(1, round(value / top * 8))] if value > 0 else _BLOCKS[1] for value in shown)
