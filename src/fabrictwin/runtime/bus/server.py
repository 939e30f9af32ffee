# SPDX-License-Identifier: Apache-2.0
"""The Redis server: connecting to it, and its errors in our words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit, urlunsplit

import redis
from redis import exceptions
from redis.backoff import NoBackoff
from redis.retry import Retry

from fabrictwin.errors import InputError
from fabrictwin.runtime.bus.errors import (
    BusError,
    BusFullError,
    BusReadOnlyError,
    BusRefusedError,
    BusServerError,
    BusUnreachableError,
)

SCHEMES = ("redis", "rediss", "unix")
FILE = "file"
"""Scheme of a URL that names a file with the true one: a secret, which belongs in no command line."""
LEAST_VERSION = (6, 2)
"""XADD NOMKSTREAM and XTRIM MINID."""
CONNECT_S = 10.0
LONGEST_BLOCK_S = 1.0
"""A blocking read asks the server to answer within this time."""
ANSWER_S = 15.0
"""A server that does not answer for this long is taken for gone; on a crowded machine seconds may pass."""
READ_BYTES = 1 << 18


def connect(url: str) -> redis.Redis:
    """A client of a server that answers, lets us in and is new enough. It never repeats a command by itself.

    Args:
        url: ``redis://[user:password@]host:port[/database]``, ``rediss://…``, ``unix://[user:password@]/path``,
            or ``file:///path`` of a file that holds one of these.

    Raises:
        InputError: The URL is not one of these, or the file cannot be read.
        BusError: The server cannot be used; the message says why.
    """
    if urlsplit(url).scheme == FILE:
        url = _read_url(url)
    if urlsplit(url).scheme not in SCHEMES:
        raise InputError.of(
            f"{hide_password(url)!r} is not a Redis URL; expected redis://host:port, rediss://host:port, "
            f"unix:///path, or file:///path of a file with one of these"
        )
    try:
        client = redis.Redis.from_url(
            url,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            socket_connect_timeout=CONNECT_S,
            socket_timeout=LONGEST_BLOCK_S + ANSWER_S,
            socket_read_size=READ_BYTES,
        )
    except ValueError as error:
        raise InputError.of(f"{hide_password(url)!r} is not a Redis URL: {error}") from error
    with in_our_words(hide_password(url)):
        version = str(client.info("server")["redis_version"])
    if tuple(int(part) for part in version.split(".")[:2]) < LEAST_VERSION:
        wanted = ".".join(map(str, LEAST_VERSION))
        raise BusServerError(f"{hide_password(url)} is Redis {version}; the bus needs {wanted} or newer")
    return client


def _read_url(url: str) -> str:
    path = Path(unquote(urlsplit(url).path))
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError.of(f"cannot read the URL of the Redis server: {error}", file=str(path)) from error


def hide_password(url: str) -> str:
    """The URL with its password replaced by ``***``."""
    parts = urlsplit(url)
    user, separator, host = parts.netloc.rpartition("@")
    name, colon, _ = user.partition(":")
    shown = f"{name}:***" if colon else name
    return urlunsplit(parts._replace(netloc=f"{shown}{separator}{host}"))


@contextmanager
def in_our_words(where: str) -> Iterator[None]:
    """Turns the client's errors into those of the bus."""
    try:
        yield
    except exceptions.RedisError as error:
        raise explain(error, where) from error


def where_is(client: redis.Redis) -> str:
    """Where a client is connected to, for messages."""
    settings = client.get_connection_kwargs()
    if "path" in settings:
        return f"unix://{settings['path']}"
    return f"redis://{settings.get('host', 'localhost')}:{settings.get('port', 6379)}"


def explain(error: exceptions.RedisError, where: str) -> BusError:
    """What an error of the client means."""
    text = str(error)
    match error:
        case exceptions.AuthenticationError():
            return BusRefusedError(f"{where} refuses the user or the password: {text}")
        case exceptions.NoPermissionError():
            return BusRefusedError(f"{where} does not let this user do what the bus needs: {text}")
        case exceptions.OutOfMemoryError():
            return BusFullError(
                f"the memory of {where} is full (maxmemory): remove twins that are over, or raise maxmemory"
            )
        case exceptions.ReadOnlyError() | exceptions.BusyLoadingError():
            return BusReadOnlyError(f"{where} takes no writes: {text}")
        case exceptions.TimeoutError():
            return BusUnreachableError(f"{where} does not answer: {text}")
        case exceptions.ConnectionError():
            return BusUnreachableError(f"{where} cannot be reached: {text}")
    if text.startswith("MISCONF"):
        return BusReadOnlyError(f"{where} takes no writes, since it cannot save to its disk: {text}")
    return BusServerError(f"{where}: {text}")
