# SPDX-License-Identifier: Apache-2.0
"""One connection to the Redis server, on which many commands go out at once and are answered in order."""

from __future__ import annotations

import os
import socket
import ssl
import struct
from collections.abc import Callable, Sequence
from time import monotonic, perf_counter_ns, sleep
from typing import Any, cast

import hiredis
import redis
from redis import exceptions

from fabrictwin.runtime.bus.server import (
    ANSWER_S,
    LONGEST_BLOCK_S,
    READ_BYTES,
    explain,
    in_our_words,
    where_is,
)
from fabrictwin.runtime.processor import CROWDED_NS, Lookout

RETRY_PAUSE_S = 0.05
_TIMEOUT = struct.pack("@ll", int(LONGEST_BLOCK_S + ANSWER_S), 0)

LOST = (exceptions.ConnectionError, exceptions.TimeoutError)
"""Errors after which nobody knows which commands were done."""


class Link:
    """A connection that belongs to one thread.

    Attributes:
        where: The server, for messages.
    """

    def __init__(self, client: redis.Redis, lookout: Lookout | None = None) -> None:
        """Connects.

        Args:
            client: The server.
            lookout: Says whether to look for an answer before it sleeps; None: it does not.

        Raises:
            BusError: The server cannot be used.
        """
        self.where = where_is(client)
        self._buffer = bytearray(READ_BYTES)
        self._lookout = lookout or Lookout()
        self._connection = cast(Any, client.connection_pool.make_connection())
        with in_our_words(self.where):
            self._connect()

    def _connect(self) -> None:
        """Connects, and takes over the socket and what parses its answers.

        The client's own reading and writing would ask the kernel before each whether it may, and goes through
        half a dozen layers; that costs as much as the exchange itself.
        """
        connection = self._connection
        connection.connect()
        self._socket: socket.socket = connection._sock
        self._receive: Callable[[bytearray], int] = self._socket.recv_into
        self._reader: Any = hiredis.Reader(replyError=connection._parser.parse_error)
        if not isinstance(self._socket, ssl.SSLSocket):
            self._socket.settimeout(None)
            if self._lookout.look_ns > 0:
                self._receive = self._look
            for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
                self._socket.setsockopt(socket.SOL_SOCKET, option, _TIMEOUT)

    def call(self, pieces: Sequence[bytes], missing: int) -> list[Any]:
        """Sends packed commands and returns their answers; an error from the server is one, too.

        Args:
            pieces: The commands; one may be in several pieces.
            missing: How many there are.

        Raises:
            redis.exceptions.ConnectionError: The connection is lost.
            redis.exceptions.TimeoutError: The server does not answer.
        """
        gets, feed, buffer = self._reader.gets, self._reader.feed, self._buffer
        receive = self._receive
        answers: list[Any] = []
        try:
            self._socket.sendall(b"".join(pieces))
            while missing:
                answer = gets()
                if answer is False:
                    received = receive(buffer)
                    if not received:
                        raise exceptions.ConnectionError("the server has closed the connection")
                    feed(buffer, 0, received)
                    continue
                answers.append(answer)
                missing -= 1
        except (BlockingIOError, TimeoutError) as error:
            raise exceptions.TimeoutError("the server does not answer") from error
        except OSError as error:
            raise exceptions.ConnectionError(str(error)) from error
        return answers

    def _look(self, buffer: bytearray) -> int:
        """Receives; looks for a while before it sleeps, and lets others run between two looks."""
        lookout = self._lookout
        if not lookout.may_look():
            return self._socket.recv_into(buffer)
        at_ns = perf_counter_ns()
        until_ns = at_ns + lookout.look_ns
        while at_ns < until_ns:
            try:
                received = self._socket.recv_into(buffer, 0, socket.MSG_DONTWAIT)
            except BlockingIOError:
                os.sched_yield()
            else:
                lookout.note(crowded=False)
                return received
            before_ns, at_ns = at_ns, perf_counter_ns()
            if at_ns > before_ns + CROWDED_NS:
                lookout.note(crowded=True)
                break
        return self._socket.recv_into(buffer)

    def ask(self, command: bytes) -> Any:
        """The answer to one packed command.

        Raises:
            BusError: There is none.
        """
        try:
            answer = self.call([command], 1)[0]
        except exceptions.RedisError as error:
            raise explain(error, self.where) from error
        if isinstance(answer, exceptions.RedisError):
            raise explain(answer, self.where) from answer
        return answer

    def reconnect(self, deadline: float, cause: exceptions.RedisError) -> None:
        """Connects again after a loss.

        Args:
            deadline: When to give up, as ``time.monotonic`` has it.
            cause: What lost the connection.

        Raises:
            BusError: The server did not come back, or does not let us in.
        """
        self._connection.disconnect()
        while True:
            error = explain(cause, self.where)
            if monotonic() >= deadline or not is_passing(cause):
                raise error from cause
            try:
                self._connect()
                return
            except exceptions.RedisError as again:
                cause = again
            sleep(RETRY_PAUSE_S)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.disconnect()


def is_passing(error: exceptions.RedisError) -> bool:
    """Whether an error may go away by itself."""
    return isinstance(error, LOST) and not isinstance(
        error, exceptions.AuthenticationError | exceptions.AuthorizationError
    )


def is_repetition(answer: Any) -> bool:
    """Whether XADD was refused because the stream has this entry, or a later one."""
    return isinstance(answer, exceptions.ResponseError) and "equal or smaller" in str(answer)
