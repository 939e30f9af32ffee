# SPDX-License-Identifier: Apache-2.0
"""Entry point of ``fabrictwin``: finds the verb, loads only that, and turns errors into exit codes.

Exit codes: 0 done, 1 the answer is no, 2 the input or the usage is wrong and nothing was started,
3 the system failed, 130 interrupted.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from fabrictwin.cli.console import print_failure, print_problems
from fabrictwin.errors import EXIT_FAILURE, EXIT_INPUT, FabricTwinError, InputError, nearest

PROGRAM = "fabrictwin"
EXIT_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb of the command line.

    Attributes:
        module: Module below ``fabrictwin.cli`` that holds it; imported only when the verb is used.
        attribute: The function, or the typer application of a verb with sub-verbs.
        help: One line for ``fabrictwin --help``.
    """

    module: str
    attribute: str
    help: str


VERBS = {
    "simulate": Verb("simulate", "simulate", "Run a scenario, packet by packet, and say what happened."),
    "validate": Verb("validate", "validate", "Read, expand and check a scenario; show every error at once."),
    "routes": Verb("routes", "routes", "Compute forwarding tables; check for credit loops; dump them."),
    "import": Verb("import_", "app", "Make a scenario from a real fabric."),
    "up": Verb("up", "up", "Start a live twin on this machine, in the background."),
    "status": Verb("status", "status", "Say how a twin and its services are."),
    "watch": Verb("watch", "watch", "Look at a twin as it runs: traffic, blocked ports, faults, events."),
    "pause": Verb("pause", "pause", "Stop fabric time."),
    "resume": Verb("resume", "resume", "Let fabric time go on."),
    "step": Verb("step", "step", "Let a paused twin go on by a span of fabric time."),
    "wait": Verb("wait", "wait", "Wait until a twin has stopped, or has passed a fabric time."),
    "result": Verb("result", "result", "Say what has happened in a twin, as simulate does."),
    "down": Verb("down", "down", "End a twin; leave nothing behind."),
    "fault": Verb("fault", "app", "List the faults of a twin, inject one, clear one."),
    "workload": Verb("workload", "app", "List the traffic of a twin, start some, stop some."),
    "drill": Verb("drill", "app", "Break a twin on purpose, and judge what follows."),
    "bus": Verb("bus", "app", "Read along on the bus of a live twin."),
    "compare": Verb("compare", "compare", "Run a scenario as InfiniBand and as RoCE, side by side."),
    "sweep": Verb("sweep", "sweep", "Run a scenario with every combination of some values."),
    "bench": Verb("bench", "bench", "Measure speed and memory; one JSON line a case."),
}


def _application() -> typer.Typer:
    return typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _overview() -> typer.Typer:
    """What ``fabrictwin --help`` shows: every verb by its one line, without importing any."""
    app = _application()

    @app.callback(no_args_is_help=True)
    def overview(
        _: Annotated[
            bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version)
        ] = False,
    ) -> None:
        """A digital twin of RDMA fabrics: simulates InfiniBand packet by packet.

        Example: fabrictwin simulate deploy/scenarios/demo.yaml --report demo.html

        Exit codes: 0 done, 1 the answer is no, 2 the input or usage is wrong, 3 the system failed.
        """

    for name, verb in VERBS.items():
        app.command(name, help=verb.help)(lambda: None)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"{PROGRAM} {version(PROGRAM)}\n")
        raise typer.Exit


def load_verb(name: str) -> Callable[..., None] | typer.Typer:
    """The function of a verb, or its typer application; imports its module."""
    verb = VERBS[name]
    target: Callable[..., None] | typer.Typer = getattr(
        import_module(f"fabrictwin.cli.{verb.module}"), verb.attribute
    )
    return target


def _verb_application(name: str) -> typer.Typer:
    target = load_verb(name)
    app = _application()
    app.callback()(lambda: None)
    if isinstance(target, typer.Typer):
        app.add_typer(target, name=name)
    else:
        app.command(name)(target)
    return app


def _dispatch(arguments: Sequence[str]) -> None:
    name = arguments[0] if arguments else ""
    if name and not name.startswith("-") and name not in VERBS:
        raise InputError.of(f"{name!r} is not a verb of {PROGRAM}{nearest(name, VERBS)}")
    app = _verb_application(name) if name in VERBS else _overview()
    app(args=list(arguments), prog_name=PROGRAM)


def run(arguments: Sequence[str]) -> int:
    """Runs one command line.

    Args:
        arguments: What stands behind ``fabrictwin``.

    Returns:
        The exit code.
    """
    try:
        _dispatch(arguments)
    except InputError as error:
        print_problems(error.problems)
        return EXIT_INPUT
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    except (FabricTwinError, OSError) as error:
        # A twin that does not answer, a full disk, a folder that has gone: the line says which, and a
        # traceback would only hide it.
        print_failure(error)
        return EXIT_FAILURE
    except Exception as error:  # the one broad catch: whatever is left is our failure, not the user's
        traceback.print_exc()
        print_failure(error)
        return EXIT_FAILURE
    return 0


def main() -> None:
    """The installed command."""
    signal.signal(signal.SIGINT, lambda *_: sys.exit(EXIT_INTERRUPTED))
    with Path(os.devnull).open("w") as nowhere:
        # Closed by whoever started us: then nobody wants to read it.
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
        sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
