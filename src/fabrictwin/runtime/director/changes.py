# SPDX-License-Identifier: Apache-2.0
"""Waking coroutines when a thread has changed something."""

from __future__ import annotations

import asyncio


class Changes:
    """A bell that any thread may ring and coroutines of one event loop wait for."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Future[None]] = set()

    def attach(self) -> None:
        """Belongs to the running event loop from now on."""
        self._loop = asyncio.get_running_loop()

    def ring(self) -> None:
        """Wakes everybody who waits."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self, timeout_s: float | None = None) -> None:
        """Returns at the next ring, or after a time."""
        assert self._loop is not None
        future = self._loop.create_future()
        self._waiting.add(future)
        try:
            await asyncio.wait((future,), timeout=timeout_s)
        finally:
            self._waiting.discard(future)
