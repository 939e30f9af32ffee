# SPDX-License-Identifier: Apache-2.0
"""``fabrictwin bus``: reading along on the bus of a live twin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import redis
import typer
from rich.console import Console
from rich.text import Text

from fabrictwin.cli.console import diagnostics, output, printable
from fabrictwin.cli.options import JsonTarget, TwinName
from fabrictwin.cli.output_file import check_writable, write_json
from fabrictwin.cli.time_option import read_time_or_0_ps
from fabrictwin.errors import InputError, nearest
from fabrictwin.runtime.blueprint import draw_blueprint
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.transcript import Said, read_channel
from fabrictwin.runtime.bus.twin import Keys, list_twins
from fabrictwin.runtime.directory import TwinDirectory
from fabrictwin.runtime.local_twins import find_twin
from fabrictwin.runtime.record_text import Names, rows, show, show_ns
from fabrictwin.units import PS_PER_NS

app = typer.Typer(help="Reads along on the bus of a live twin.", no_args_is_help=True)


@app.callback()
def bus() -> None:
    """Reads along on the bus of a live twin."""


@app.command("tail")
def tail(
    channel: Annotated[str, typer.Argument(help="FROM:TO, as in switch0:hca0.", show_default=False)],
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="T", help="First promise to show, as in 1ms.", show_default=False),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="T", help="Last promise to show.", show_default=False)
    ] = None,
    twin: TwinName = None,
    redis_url: Annotated[
        str | None,
        typer.Option(
            "--redis",
            metavar="URL",
            help="The Redis server of a twin that runs elsewhere.",
            envvar="FABRICTWIN_REDIS",
            show_default=False,
        ),
    ] = None,
    json: JsonTarget = None,
) -> None:
    """Decodes what was said on a channel, by fabric time: packets, FCPs, notices, LFT writes, commands.

    Example: fabrictwin bus tail switch0:hca0 --from 100us --to 102us

    A channel keeps what its reader has not read, and some 20 us before that; --from and --to are promises.
    """
    check_writable([json])
    from_ns, to_ns = _time_ns(from_, "--from"), _time_ns(to, "--to")
    if redis_url is None:
        local = find_twin(twin)
        redis_url, twin = local.redis, local.name
    client = connect(redis_url)
    keys = Keys(_choose_twin(client, twin))
    said = read_channel(client, keys, channel, from_ns, to_ns)
    names = _names(client, keys.twin)
    if json is None:
        _print(output(), said, names)
    else:
        write_json(_as_json(keys.twin, channel, said, names), json)


def _time_ns(text: str | None, option: str) -> int | None:
    """A time in ns, rounded down, as IDs on the bus are."""
    return None if text is None else read_time_or_0_ps(text, option) // PS_PER_NS


def _choose_twin(client: redis.Redis, twin: str | None) -> str:
    """The twin that is meant: the one named, or the only one there is."""
    twins = list_twins(client)
    if twin is not None and twin in twins:
        return twin
    if twin is not None:
        raise InputError.of(f"{twin!r} is not a twin on this server{nearest(twin, twins)}", field="--twin")
    if len(twins) != 1:
        names = ", ".join(twins) or "none"
        raise InputError.of(f"expected one twin on this server, found {names}: name one", field="--twin")
    return twins[0]


def _names(client: redis.Redis, twin: str) -> Names:
    """Names from the scenario that the twin runs; indices where the director has not said which."""
    record = TwinDirectory(client, twin).read()
    return Names(None if record is None else draw_blueprint(record.source).plan)


def _print(console: Console, said: Iterable[Said], names: Names) -> None:
    is_empty = True
    for entry_id, window in said:
        is_empty = False
        promises = (
            f"#{window.sequence}  promises packets {show_ns(window.packets_promise_ps)}, "
            f"FCPs {show_ns(window.fcps_promise_ps)}; reached {show_ns(window.reached_ps)}"
        )
        console.print(Text.assemble((entry_id, "bold"), "  ", promises), soft_wrap=True)
        for row in rows(window, names):
            console.print(Text("  " + printable(show(row))), soft_wrap=True)
    if is_empty:
        diagnostics().print("nothing is kept of that time", soft_wrap=True)


def _as_json(twin: str, channel: str, said: Iterable[Said], names: Names) -> dict[str, Any]:
    """What was said, as ``fabrictwin.bus_tail/1``; times in ps."""
    windows = [
        {
            "id": entry_id,
            "sequence": window.sequence,
            "packets_promise_ps": window.packets_promise_ps,
            "fcps_promise_ps": window.fcps_promise_ps,
            "reached_ps": window.reached_ps,
            "records": list(rows(window, names)),
        }
        for entry_id, window in said
    ]
    return {"schema": "fabrictwin.bus_tail/1", "twin": twin, "channel": channel, "windows": windows}
