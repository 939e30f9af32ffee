# SPDX-License-Identifier: Apache-2.0
"""A twin as a drill sees it: by way of its director, step by step of fabric time or of wall time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic, sleep, time
from typing import Any, TypeVar

import grpc

from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.api.v1.common_pb2 import Page
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.drills.look import Look
from fabrictwin.errors import FabricTwinError

GLANCE_S = 0.5
"""How long one wait takes; between two the drill can be stopped."""
_ANSWER_S = 0.3
PATIENCE_S = 300.0
"""Longest wall time in which fabric time does not go on, though it should."""
ANSWER_S = 120.0
"""Longest wall time of a call: a busy machine may need it."""

T = TypeVar("T")


class RefusedError(FabricTwinError):
    """The twin refused what it was asked for, or does not answer."""


class StoppedByUserError(FabricTwinError):
    """Somebody wants the drill to end."""


class Twin:
    """The twin of a drill.

    Args:
        director: Its director.
        is_stopping: Whether somebody wants the drill to end.

    Attributes:
        heeds: Whether it asks for that while it waits; not while a drill cleans up.
    """

    def __init__(self, director: DirectorStub, is_stopping: Callable[[], bool]) -> None:
        self._director = director
        self._is_stopping = is_stopping
        self.heeds = True

    def status(self) -> pb.StatusResponse:
        """How it is."""
        return _ask(lambda: self._director.Status(pb.StatusRequest(), timeout=ANSWER_S))

    def pause(self) -> int:
        """Makes it stand; returns the fabric time."""
        if self.has_ended():
            return int(self.status().fabric_time_ps)
        return int(_ask(lambda: self._director.Pause(pb.PauseRequest(), timeout=PATIENCE_S)).fabric_time_ps)

    def resume(self) -> None:
        """Lets it go on, until it is paused."""
        if not self.has_ended():
            _ask(lambda: self._director.Resume(pb.ResumeRequest(), timeout=ANSWER_S))

    def has_ended(self) -> bool:
        """Whether its fabric time will not go on.

        Raises:
            RefusedError: It has failed.
        """
        status = self.status()
        if status.state == pb.TWIN_STATE_FAILED:
            raise RefusedError(f"the twin has failed: {status.error}")
        return status.state == pb.TWIN_STATE_STOPPED

    def go_to(self, until_ps: int) -> None:
        """Lets it go on to a fabric time and stand there, or to its end.

        Raises:
            RefusedError: It does not get there.
            StoppedByUserError: Somebody wants the drill to end.
        """
        if self.has_ended():
            return
        _ask(lambda: self._director.Resume(pb.ResumeRequest(until_ps=until_ps), timeout=ANSWER_S))
        reached_ps, since_s = -1, monotonic()
        while True:
            self._check_wanted()
            answer = self._glance()
            if answer is None:
                pass
            elif answer.state == pb.TWIN_STATE_FAILED:
                raise RefusedError(f"the twin has failed: {answer.error}")
            elif answer.done:
                return
            elif answer.fabric_time_ps > reached_ps:
                reached_ps, since_s = answer.fabric_time_ps, monotonic()
            if monotonic() - since_s > PATIENCE_S:
                raise RefusedError(f"fabric time has not gone on for {PATIENCE_S:.0f} s")

    def _glance(self) -> pb.WaitResponse | None:
        """How far it is; None: it is too busy to say."""
        try:
            return self._director.Wait(pb.WaitRequest(), timeout=GLANCE_S + _ANSWER_S)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
                return None
            raise RefusedError(error.details() or str(error)) from None

    def go_for(self, wall_s: float) -> None:
        """Lets it go on for a wall time, and stand then.

        Raises:
            StoppedByUserError: Somebody wants the drill to end.
        """
        self.resume()
        self.sleep(wall_s)
        self.pause()

    def sleep(self, wall_s: float) -> None:
        """Waits, whatever the twin does.

        Raises:
            StoppedByUserError: Somebody wants the drill to end.
        """
        deadline = monotonic() + wall_s
        while (left_s := deadline - monotonic()) > 0:
            self._check_wanted()
            sleep(min(left_s, GLANCE_S))

    def _check_wanted(self) -> None:
        if self.heeds and self._is_stopping():
            raise StoppedByUserError("somebody wanted the drill to end")

    def look(self) -> Look:
        """What it is like, while it stands."""
        status = self.status()
        chunks = _ask(lambda: list(self._director.Result(pb.ResultRequest(), timeout=ANSWER_S)))
        result: Mapping[str, Any] = json.loads(b"".join(chunk.json for chunk in chunks))
        active = tuple(fault.id for fault in self.faults() if fault.state == "active")
        return Look(int(status.fabric_time_ps), time(), result, active, status.stopped)

    def faults(self) -> list[pb.Fault]:
        """Every fault that it has or had."""
        faults: list[pb.Fault] = []
        request = pb.ListFaultsRequest()
        while True:
            answer = _ask(partial(self._director.ListFaults, request, timeout=ANSWER_S))
            faults += answer.faults
            if not answer.next_page:
                return faults
            request = pb.ListFaultsRequest(page=Page(token=answer.next_page))

    def inject(self, entry: Mapping[str, Any], owner: str) -> pb.Fault:
        """Makes something go wrong."""
        request = pb.InjectFaultRequest(fault=json.dumps(entry), owner=owner)
        return _ask(lambda: self._director.InjectFault(request, timeout=ANSWER_S)).fault

    def clear(self, fault: str, by: str) -> pb.Fault:
        """Ends a fault."""
        return _ask(
            lambda: self._director.ClearFault(pb.ClearFaultRequest(id=fault, by=by), timeout=ANSWER_S)
        ).fault

    def start_workload(self, entry: Mapping[str, Any], owner: str) -> pb.Workload:
        """Adds traffic."""
        request = pb.StartWorkloadRequest(workload=json.dumps(entry), owner=owner)
        return _ask(lambda: self._director.StartWorkload(request, timeout=ANSWER_S)).workload

    def stop_workload(self, name: str, by: str) -> pb.Workload:
        """Ends traffic."""
        return _ask(
            lambda: self._director.StopWorkload(pb.StopWorkloadRequest(name=name, by=by), timeout=ANSWER_S)
        ).workload

    def workloads(self) -> list[pb.Workload]:
        """All traffic, up to a thousand entries."""
        return list(
            _ask(lambda: self._director.ListWorkloads(pb.ListWorkloadsRequest(), timeout=ANSWER_S)).workloads
        )

    def sweep(self, by: str) -> int:
        """Has the master subnet manager sweep; returns when that takes effect."""
        return int(
            _ask(lambda: self._director.SweepSubnet(pb.SweepSubnetRequest(by=by), timeout=ANSWER_S)).at_ps
        )

    def hand_over(self, to: int, by: str) -> int:
        """Has the subnet managers change places; returns when that takes effect."""
        request = pb.HandOverSubnetRequest(to=to, by=by)
        return int(_ask(lambda: self._director.HandOverSubnet(request, timeout=ANSWER_S)).at_ps)

    def scenario(self) -> str:
        """The scenario that it runs, as YAML."""
        request = pb.GetScenarioRequest()
        return str(_ask(lambda: self._director.GetScenario(request, timeout=ANSWER_S)).scenario)

    def command_log(self) -> str:
        """What was done to it, as ``simulate --commands`` reads it."""
        chunks = _ask(lambda: list(self._director.CommandLog(pb.CommandLogRequest(), timeout=ANSWER_S)))
        return b"".join(chunk.lines for chunk in chunks).decode()


def _ask(call: Callable[[], T]) -> T:
    """What a call answers; its refusal in the director's own words."""
    try:
        return call()
    except grpc.RpcError as error:
        details = getattr(error, "details", lambda: "")() or str(error)
        raise RefusedError(details) from None
