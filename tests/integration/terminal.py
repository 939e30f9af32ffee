# SPDX-License-Identifier: Apache-2.0
"""A command on a terminal of its own, at which somebody presses keys."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from integration.patience import PATIENCE_S


class Session(NamedTuple):
    """What came of it.

    Attributes:
        returncode: Exit code.
        shown: Everything that was written to the terminal.
    """

    returncode: int
    shown: str


def run_on_terminal(
    command: Sequence[str | Path],
    environment: Mapping[str, str],
    *,
    until: str,
    keys: bytes,
    size: tuple[int, int] = (100, 30),
) -> Session:
    """Runs a command, waits for a text on the screen, presses keys, and waits for the end.

    Args:
        command: The command line.
        environment: Its environment.
        until: The text.
        keys: What is pressed then.
        size: (columns, lines) of the terminal.
    """
    ours, theirs = pty.openpty()
    columns, lines = size
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = subprocess.Popen(
        command,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=dict(environment) | {"TERM": "xterm-256color"},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    shown, pressed, deadline = b"", False, time.monotonic() + PATIENCE_S
    try:
        while time.monotonic() < deadline:
            shown += _read(ours)
            if not pressed and until.encode() in shown:
                os.write(ours, keys)
                pressed = True
            if process.poll() is not None:
                return Session(process.returncode, (shown + _read(ours)).decode(errors="replace"))
        raise AssertionError(f"did not end: {shown[-2000:]!r}")
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _read(descriptor: int) -> bytes:
    ready, _, _ = select.select([descriptor], [], [], 0.1)
    try:
        return os.read(descriptor, 1 << 16) if ready else b""
    except OSError:  # the other end is closed
        return b""
