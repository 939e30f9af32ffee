# SPDX-License-Identifier: Apache-2.0
"""The gRPC service ``Director``."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from fabrictwin.api.v1 import common_pb2
from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.api.v1.director_pb2_grpc import DirectorServicer as Base
from fabrictwin.errors import InputError
from fabrictwin.runtime.director.core import NOT_READY, Director
from fabrictwin.runtime.director.port_watch import watch_ports
from fabrictwin.runtime.director.state import TwinState
from fabrictwin.runtime.director.subnet import find_master
from fabrictwin.runtime.failures import StateError, UnknownNameError
from fabrictwin.runtime.interceptors import DEFAULT_DEADLINE_S, encode_problem
from fabrictwin.runtime.reading import cut_page
from fabrictwin.runtime.scenario_source import ScenarioSource
from fabrictwin.runtime.version import VERSION
from services.director.messages import describe_service, encode_event, encode_fault, encode_workload

LARGEST_CHUNK_BYTES = 1 << 20
MOST_IMPORTED = 4
_ANSWER_BEFORE_S = 0.2
"""`Wait` answers this long before its deadline, so that the answer arrives."""

_STATES = {
    TwinState.EMPTY: pb.TWIN_STATE_EMPTY,
    TwinState.STARTING: pb.TWIN_STATE_STARTING,
    TwinState.RUNNING: pb.TWIN_STATE_RUNNING,
    TwinState.PAUSED: pb.TWIN_STATE_PAUSED,
    TwinState.STOPPED: pb.TWIN_STATE_STOPPED,
    TwinState.FAILED: pb.TWIN_STATE_FAILED,
}


class DirectorServicer(Base):
    """Converts, calls the director, converts."""

    def __init__(self, director: Director) -> None:
        self._director = director

    async def Load(self, request: pb.LoadRequest, context: Any) -> pb.LoadResponse:
        """Takes a scenario."""
        if len(request.imported) > MOST_IMPORTED:
            raise InputError.of(f"expected at most {MOST_IMPORTED} files", field="imported")
        source = ScenarioSource(request.scenario, request.file or "<scenario>", dict(request.imported))
        blueprint = await self._director.load(source, start=request.start)
        warnings = [encode_problem(problem) for problem in blueprint.scenario.warnings]
        return pb.LoadResponse(sha256=blueprint.scenario.sha256, warnings=warnings)

    async def GetScenario(self, request: pb.GetScenarioRequest, context: Any) -> pb.GetScenarioResponse:
        """The scenario as it was loaded."""
        blueprint = self._director.blueprint
        source = blueprint.source
        return pb.GetScenarioResponse(
            scenario=source.text, file=source.file, sha256=blueprint.scenario.sha256
        )

    async def Resume(self, request: pb.ResumeRequest, context: Any) -> pb.ClockResponse:
        """Lets fabric time go on."""
        if request.until_ps < 0:
            raise InputError.of("expected a fabric time, or 0", field="until_ps")
        self._director.go(request.until_ps or None)
        return self._clock()

    async def Pause(self, request: pb.PauseRequest, context: Any) -> pb.ClockResponse:
        """Stops fabric time."""
        await self._director.pause()
        return self._clock()

    async def Step(self, request: pb.StepRequest, context: Any) -> pb.ClockResponse:
        """Lets a paused twin go on by a span of fabric time."""
        if request.by_ps <= 0:
            raise InputError.of("expected a span of fabric time above 0", field="by_ps")
        if self._director.running_clock and self._director.twin.state is TwinState.RUNNING:
            raise StateError("fabric time goes on already: pause first")
        self._director.go(self._director.twin.reached_ps + request.by_ps)
        return self._clock()

    async def SetPace(self, request: pb.SetPaceRequest, context: Any) -> pb.ClockResponse:
        """Limits how fast fabric time goes."""
        if not 0 <= request.pace < float("inf"):
            raise InputError.of(f"expected fabric seconds per wall second, got {request.pace}", field="pace")
        clock = self._director.running_clock
        self._director.twin.pace = request.pace
        clock.pace_from_here()
        return self._clock()

    def _clock(self) -> pb.ClockResponse:
        twin = self._director.twin
        return pb.ClockResponse(state=_STATES[twin.state], fabric_time_ps=twin.reached_ps)

    async def Wait(self, request: pb.WaitRequest, context: Any) -> pb.WaitResponse:
        """Answers when fabric time has been reached or the twin has stopped."""
        director, twin = self._director, self._director.twin

        def is_there() -> bool:
            if request.until_ps:
                return director.has_ended or twin.reached_ps >= request.until_ps
            return director.has_ended or twin.state is TwinState.PAUSED

        remaining_s = context.time_remaining()
        patience_s = DEFAULT_DEADLINE_S if remaining_s is None else remaining_s
        done = await director.until(is_there, max(0.0, patience_s - _ANSWER_BEFORE_S))
        return pb.WaitResponse(
            done=done,
            state=_STATES[twin.state],
            fabric_time_ps=twin.reached_ps,
            stopped=twin.stopped,
            error=twin.error,
        )

    async def Status(self, request: pb.StatusRequest, context: Any) -> pb.StatusResponse:
        """How the twin is and how far."""
        director, twin = self._director, self._director.twin
        response = pb.StatusResponse(
            twin=twin.name,
            version=VERSION,
            state=_STATES[twin.state],
            fabric_time_ps=twin.reached_ps,
            duration_ps=twin.duration_ps,
            until_ps=twin.goal_ps if twin.goal_ps < twin.duration_ps else 0,
            pace=twin.pace,
            speed=twin.speed,
            stopped=twin.stopped,
            deadlock_cycle=twin.deadlock.cycle if twin.deadlock else (),
            error=twin.error,
            last_event=twin.events.last,
        )
        if director.watch is not None:
            scenario = director.blueprint.scenario
            response.scenario, response.scenario_sha256 = scenario.name, scenario.sha256
            reports = director.clock.reports if director.clock else {}
            response.active_faults = len(director.active_faults())
            response.packet_hops = sum(int(report["packet_hops"]) for report in reports.values())
            for service in director.watch.services.values():
                response.services.append(describe_service(service, reports.get(service.process)))
        return response

    async def InjectFault(self, request: pb.InjectFaultRequest, context: Any) -> pb.InjectFaultResponse:
        """Makes something go wrong, for a while."""
        command = self._director.order(
            lambda orders, at_ps: orders.inject_fault(request.fault, request.owner, at_ps)
        )
        return pb.InjectFaultResponse(fault=self._fault(str(command.arguments["id"])))

    async def ClearFault(self, request: pb.ClearFaultRequest, context: Any) -> pb.ClearFaultResponse:
        """Ends a fault before its lease does."""
        self._director.order(lambda orders, at_ps: orders.clear_fault(request.id, request.by, at_ps))
        return pb.ClearFaultResponse(fault=self._fault(request.id))

    async def ListFaults(self, request: pb.ListFaultsRequest, context: Any) -> pb.ListFaultsResponse:
        """Faults of the scenario and those injected."""
        entries = self._director.active_faults() if request.active else self._director.orders.faults()
        shown, token = cut_page(entries, request.page)
        faults = [encode_fault(entry, self._director.twin.reached_ps) for entry in shown]
        return pb.ListFaultsResponse(faults=faults, next_page=token)

    def _fault(self, name: str) -> pb.Fault:
        return encode_fault(self._director.orders.fault(name), self._director.twin.reached_ps)

    async def StartWorkload(self, request: pb.StartWorkloadRequest, context: Any) -> pb.StartWorkloadResponse:
        """Adds traffic."""
        command = self._director.order(
            lambda orders, at_ps: orders.start_workload(request.workload, request.owner, at_ps)
        )
        entry = self._director.orders.workload(str(command.arguments["name"]))
        return pb.StartWorkloadResponse(workload=encode_workload(entry))

    async def StopWorkload(self, request: pb.StopWorkloadRequest, context: Any) -> pb.StopWorkloadResponse:
        """Ends a workload."""
        self._director.order(lambda orders, at_ps: orders.stop_workload(request.name, request.by, at_ps))
        entry = self._director.orders.workload(request.name)
        return pb.StopWorkloadResponse(workload=encode_workload(entry))

    async def ListWorkloads(self, request: pb.ListWorkloadsRequest, context: Any) -> pb.ListWorkloadsResponse:
        """Workloads of the scenario and those added."""
        entries, token = cut_page(self._director.orders.workloads(), request.page)
        workloads = [encode_workload(entry) for entry in entries]
        return pb.ListWorkloadsResponse(workloads=workloads, next_page=token)

    async def SweepSubnet(self, request: pb.SweepSubnetRequest, context: Any) -> pb.CommandResponse:
        """Makes the master subnet manager sweep."""
        director = self._director
        managers = director.orders.scenario.managers
        if director.watch is None or director.clock is None:
            raise StateError(NOT_READY)
        return self._order_subnet("sm.sweep", await find_master(director.watch, len(managers)), request.by)

    async def HandOverSubnet(self, request: pb.HandOverSubnetRequest, context: Any) -> pb.CommandResponse:
        """Makes the master subnet manager hand over to another."""
        return self._order_subnet("sm.handover", request.to, request.by)

    def _order_subnet(self, do: str, number: int, by: str) -> pb.CommandResponse:
        scenario = self._director.orders.scenario
        if number >= len(scenario.managers):
            count = len(scenario.managers)
            raise UnknownNameError(f"no subnet manager {number}: the scenario has {count}, numbered from 0")
        node = scenario.fabric.nodes[scenario.managers[number].node].name
        command = self._director.order(lambda orders, at_ps: orders.order_subnet(do, node, by, at_ps))
        return pb.CommandResponse(at_ps=command.at_ps)

    async def Result(self, request: pb.ResultRequest, context: Any) -> AsyncIterator[pb.ResultChunk]:
        """The result, ``fabrictwin.result/1``."""
        result = await self._director.result()
        text = json.dumps(result).encode()
        for first in range(0, len(text), LARGEST_CHUNK_BYTES):
            yield pb.ResultChunk(json=text[first : first + LARGEST_CHUNK_BYTES])
        expectations = self._director.blueprint.scenario.expectations
        failures = [text for expectation in expectations for text in expectation.failures(result)]
        yield pb.ResultChunk(expectations_not_met=failures)

    async def WatchEvents(
        self, request: pb.WatchEventsRequest, context: Any
    ) -> AsyncIterator[common_pb2.Event]:
        """Events from a number on, and then each as it happens."""
        events = self._director.twin.events
        following = getattr(request, "from") or events.last + 1
        while not self._director.host.stopping.is_set():
            for event in events.since(following):
                yield encode_event(event)
                following = event.sequence + 1
            await self._director.twin.changes.wait(1.0)

    async def WatchPorts(
        self, request: common_pb2.WatchPortsRequest, context: Any
    ) -> AsyncIterator[common_pb2.PortActivity]:
        """What goes over the ports of the fabric, again and again."""
        director = self._director
        partition = director.blueprint.partition
        shards = [name for number, name in enumerate(partition.names) if number in partition.owner]
        if director.watch is None or director.clock is None:
            raise StateError(NOT_READY)
        async for activity in watch_ports(director.watch, shards, request, director.host.stopping):
            yield activity

    async def CommandLog(
        self, request: pb.CommandLogRequest, context: Any
    ) -> AsyncIterator[pb.CommandLogChunk]:
        """What people have done to the twin."""
        if self._director.commands is None:
            raise StateError("the twin has no scenario yet: load one first")
        text = self._director.commands.text()
        for first in range(0, len(text), LARGEST_CHUNK_BYTES):
            yield pb.CommandLogChunk(lines=text[first : first + LARGEST_CHUNK_BYTES])

    async def Shutdown(self, request: pb.ShutdownRequest, context: Any) -> pb.ShutdownResponse:
        """Stops the twin and all of its services."""
        await self._director.shut_down(request.by)
        return pb.ShutdownResponse()
