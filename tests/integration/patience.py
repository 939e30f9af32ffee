# SPDX-License-Identifier: Apache-2.0
"""How long tests wait: as long as a busy machine may need. What is waited for has to come, no matter when."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

PATIENCE_S = 120.0
"""Longest wait for what takes a second on an idle machine."""
_LOOK_EVERY_S = 0.05


def wait_until(
    is_so: Callable[[], bool], otherwise: Callable[[], object] = str, within_s: float = PATIENCE_S
) -> None:
    """Waits until something is so.

    Args:
        is_so: Whether it is.
        otherwise: What the test fails with if it does not become so.
        within_s: Longest wait.
    """
    deadline_s = monotonic() + within_s
    while not is_so():
        assert monotonic() < deadline_s, otherwise()
        sleep(_LOOK_EVERY_S)
