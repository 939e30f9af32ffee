# SPDX-License-Identifier: Apache-2.0
"""What every call goes through: its version, a deadline, the one table from errors to status codes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import DecodeError

from fabrictwin.api.v1 import common_pb2 as pb
from fabrictwin.errors import FabricTwinError, InputError, Problem
from fabrictwin.runtime.bus.errors import BusError, TwinExistsError
from fabrictwin.runtime.failures import NotReadyError, StateError, UnknownNameError
from fabrictwin.runtime.logs import Log

VERSION_KEY = "fabrictwin-version"
PROBLEMS_KEY = "fabrictwin-problems-bin"
DEFAULT_DEADLINE_S = 30.0
"""Time for a call that has no deadline of its own."""
MOST_PROBLEMS = 100
MOST_DETAIL_CHARACTERS = 4096
"""A status message travels in a header, and headers are small."""


STATUS_CODES: tuple[tuple[type[Exception], grpc.StatusCode], ...] = (
    (InputError, grpc.StatusCode.INVALID_ARGUMENT),
    (StateError, grpc.StatusCode.FAILED_PRECONDITION),
    (UnknownNameError, grpc.StatusCode.NOT_FOUND),
    (TwinExistsError, grpc.StatusCode.ALREADY_EXISTS),
    (BusError, grpc.StatusCode.UNAVAILABLE),
    (NotReadyError, grpc.StatusCode.UNAVAILABLE),
    (TimeoutError, grpc.StatusCode.DEADLINE_EXCEEDED),
    (FabricTwinError, grpc.StatusCode.ABORTED),
)
"""The status code of each error, most special first."""

Handler = Any
Continuation = Callable[[grpc.HandlerCallDetails], Awaitable[Handler]]


class CallGuard(grpc.aio.ServerInterceptor):  # type: ignore[type-arg]  # generic in its stub only
    """The interceptor of every service.

    Args:
        version: Version of this service.
        log: Where unexpected errors are written.
    """

    def __init__(self, version: str, log: Log) -> None:
        self._version = version
        self._log = log

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> Handler:
        """Wraps the handler of a call."""
        details = handler_call_details
        handler = await continuation(details)
        if handler is None:
            return None
        theirs = dict(details.invocation_metadata or ()).get(VERSION_KEY, self._version)
        if handler.unary_unary:
            return grpc.unary_unary_rpc_method_handler(
                self._guard_unary(handler.unary_unary, str(theirs), details.method),
                _tolerant(handler.request_deserializer),
                handler.response_serializer,
            )
        if handler.unary_stream:
            return grpc.unary_stream_rpc_method_handler(
                self._guard_stream(handler.unary_stream, str(theirs), details.method),
                _tolerant(handler.request_deserializer),
                handler.response_serializer,
            )
        return handler

    def _guard_unary(self, method: Any, theirs: str, name: str) -> Any:
        async def guarded(request: Any, context: Any) -> Any:
            await self._check(request, context, theirs)
            limit_s = None if context.time_remaining() is not None else DEFAULT_DEADLINE_S
            try:
                async with asyncio.timeout(limit_s):
                    return await method(request, context)
            except Exception as error:
                await self._end(context, error, name)
                raise

        return guarded

    def _guard_stream(self, method: Any, theirs: str, name: str) -> Any:
        async def guarded(request: Any, context: Any) -> AsyncIterator[Any]:
            await self._check(request, context, theirs)
            try:
                async for response in method(request, context):
                    yield response
            except Exception as error:
                await self._end(context, error, name)
                raise

        return guarded

    async def _end(self, context: Any, error: Exception, name: str) -> None:
        """Ends a call with the status of its error, or writes an unexpected one into the log."""
        if isinstance(error, FabricTwinError | TimeoutError):
            await abort(context, error)
        elif not isinstance(error, grpc.aio.AbortError):
            self._log.exception("call_failed", method=name)

    async def _check(self, request: Any, context: Any, theirs: str) -> None:
        """Refuses what cannot be read, and callers of another version."""
        if request is None:
            await abort(context, InputError.of("the request is no message of this call's type"))
        if theirs != self._version:
            await context.abort(
                grpc.StatusCode.FAILED_PRECONDITION,
                f"the caller is FabricTwin {theirs[:40]}, this is {self._version}: use the same version",
            )


def _tolerant(deserialize: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    """Gives None for what is no message: an error here would reach the caller as UNKNOWN."""

    def read(data: bytes) -> Any:
        try:
            return deserialize(data)
        except DecodeError:
            return None

    return read


async def abort(context: Any, error: Exception) -> None:
    """Ends a call with the status of an error."""
    code = next(code for kind, code in STATUS_CODES if isinstance(error, kind))
    metadata: tuple[tuple[str, bytes], ...] = ()
    if isinstance(error, InputError):
        metadata = ((PROBLEMS_KEY, encode_problems(error).SerializeToString()),)
    text = str(error) or "the call took longer than its deadline"
    await context.abort(code, text[:MOST_DETAIL_CHARACTERS], metadata)


def encode_problems(error: InputError) -> pb.Problems:
    """The problems of an error, as they travel; cut so that they fit into a header."""
    message = pb.Problems()
    size = 0
    for problem in error.problems[:MOST_PROBLEMS]:
        size += len(problem.message) + len(problem.file) + len(problem.field) + 16
        if size > MOST_DETAIL_CHARACTERS:
            break
        message.problems.append(encode_problem(problem))
    return message


def encode_problem(problem: Problem) -> pb.Problem:
    """A problem, as it travels."""
    return pb.Problem(message=problem.message, file=problem.file, line=problem.line, field=problem.field)
