# SPDX-License-Identifier: Apache-2.0
"""Keys of a terminal, one by one as they are pressed."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WaitForKey = Callable[[float], str]


@contextmanager
def single_keys() -> Iterator[WaitForKey]:
    """Takes keys without waiting for the end of a line.

    Yields:
        A function that waits for at most so many seconds, and gives the key, or nothing where none was
        pressed. Where standard input is no terminal it only waits.
    """
    if not sys.stdin.isatty():
        yield _only_wait
        return
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    tty.setcbreak(descriptor)
    try:
        yield lambda wait_s: _read(descriptor, wait_s)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _read(descriptor: int, wait_s: float) -> str:
    ready, _, _ = select.select([descriptor], [], [], wait_s)
    return os.read(descriptor, 1).decode(errors="replace") if ready else ""


def _only_wait(wait_s: float) -> str:
    time.sleep(wait_s)
    return ""
