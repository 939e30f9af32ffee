# SPDX-License-Identifier: Apache-2.0
"""The connection to a twin's director: its address, a deadline for each call, errors in our words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import grpc

from fabrictwin.api.v1.common_pb2 import Problems
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.errors import FabricTwinError, InputError, Problem
from fabrictwin.runtime.grpc_server import CLIENT_OPTIONS
from fabrictwin.runtime.interceptors import PROBLEMS_KEY, VERSION_KEY
from fabrictwin.runtime.local_twins import find_twin
from fabrictwin.runtime.version import VERSION

WITHIN_S = 10.0
"""Time for a call that names no other."""

_ADDRESS = re.compile(r"([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})\Z")
_REFUSED = (
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.OUT_OF_RANGE,
)
"""What was asked for is wrong, and nothing was done."""


class TwinError(FabricTwinError):
    """A twin does not answer, or could not do what was asked for. CLI exit code 3."""


@contextmanager
def open_director(twin: str | None, address: str | None) -> Iterator[DirectorStub]:
    """The director of a twin.

    Args:
        twin: Name of a twin on this machine; None: the only one.
        address: host:port of a director elsewhere, instead of a name.

    Yields:
        Its stub. Calls get a deadline, and their errors leave the block as ours.

    Raises:
        InputError: There is no such twin, or the director refused a call.
        TwinError: It does not answer, or a call failed.
    """
    target = find_address(twin, address)
    with grpc.insecure_channel(target, options=CLIENT_OPTIONS) as channel:
        try:
            yield DirectorStub(grpc.intercept_channel(channel, _Caller()))
        except grpc.RpcError as error:
            raise in_our_words(error, target) from None


def find_address(twin: str | None, address: str | None) -> str:
    """host:port of a director.

    Raises:
        InputError: There is no such twin, or the address is none.
    """
    if address is None:
        return find_twin(twin).director
    if twin is not None:
        raise InputError.of("give either '--twin' or '--director'")
    match = _ADDRESS.match(address)
    if match is None or not 0 < int(match[2]) < 65536:
        raise InputError.of(
            f"expected HOST:PORT such as '127.0.0.1:7000', got {address!r}", field="--director"
        )
    return address


def in_our_words(error: Any, target: str) -> FabricTwinError:
    """What a failed call means to the person who made it."""
    code, details = error.code(), error.details() or ""
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        return InputError(_problems(error) or [Problem(details)])
    if code in _REFUSED:
        return InputError.of(details)
    if code is grpc.StatusCode.UNAVAILABLE:
        return TwinError(f"the director at {target} does not answer: {details}")
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return TwinError(f"the director at {target} did not answer in time")
    return TwinError(f"the director at {target} failed: {code.name}: {details}")


def _problems(error: Any) -> list[Problem]:
    for key, value in error.trailing_metadata() or ():
        if key == PROBLEMS_KEY:
            found = Problems.FromString(value).problems
            return [Problem(one.message, one.file, one.line, one.field) for one in found]
    return []


class _Details(NamedTuple):
    """Of a call, as grpc wants them from an interceptor."""

    method: str
    timeout: float | None
    metadata: Sequence[tuple[str, str | bytes]] | None
    credentials: grpc.CallCredentials | None
    wait_for_ready: bool | None
    compression: grpc.Compression | None


class _Caller(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):  # type: ignore[type-arg]  # generic in its stub only
    """Adds our version, and a deadline to a call that waits for one answer."""

    def intercept_unary_unary(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        """A call with one answer."""
        return continuation(_with_version(details, WITHIN_S), request)

    def intercept_unary_stream(self, continuation: Callable[..., Any], details: Any, request: Any) -> Any:
        """A call with a stream of answers, which may go on for as long as it likes."""
        return continuation(_with_version(details, None), request)


def _with_version(details: Any, within_s: float | None) -> _Details:
    return _Details(
        details.method,
        within_s if details.timeout is None else details.timeout,
        [*(details.metadata or ()), (VERSION_KEY, VERSION)],
        details.credentials,
        details.wait_for_ready,
        details.compression,
    )
