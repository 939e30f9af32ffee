# SPDX-License-Identifier: Apache-2.0
"""What the director knows, as messages."""

from __future__ import annotations

from time import time
from typing import Any

from fabrictwin.api.v1 import common_pb2
from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.runtime.director.event_log import LoggedEvent
from fabrictwin.runtime.director.orders import FaultEntry, WorkloadEntry
from fabrictwin.runtime.director.watch import Watched


def describe_service(service: Watched, report: Any) -> pb.ServiceStatus:
    """A service, with its last report; None: it has sent none."""
    status = pb.ServiceStatus(
        shard=service.process,
        health=service.health,
        silent_s=service.silent_s,
        reached_ps=0 if report is None else int(report["reached_ps"]),
        next_event_ps=-1 if report is None else int(report["next_event_ps"]),
        checkpoint_ps=-1,
    )
    if service.checkpoint is not None:
        status.checkpoint_ps = service.checkpoint.reached_ps
        status.checkpoint_age_s = max(0.0, time() - service.checkpoint.at_s)
    if service.record is not None:
        status.service = service.record.service
        status.address = service.record.address
        status.metrics_address = service.record.metrics_address
        status.pid = service.record.pid
        status.version = service.record.version
    return status


def encode_fault(entry: FaultEntry, now_ps: int) -> pb.Fault:
    """A fault, as it is at a fabric time."""
    return pb.Fault(
        id=entry.fault.name,
        kind=entry.fault.kind,
        owner=entry.owner,
        text=entry.fault.text,
        start_ps=entry.fault.start_ps,
        end_ps=entry.end_ps,
        state=entry.state(now_ps),
    )


def encode_workload(entry: WorkloadEntry) -> pb.Workload:
    """A workload."""
    return pb.Workload(
        name=entry.job.name,
        kind=entry.job.kind,
        owner=entry.owner,
        start_ps=entry.start_ps,
        stop_ps=entry.stop_ps,
        flows=len(entry.job.flows),
    )


def encode_event(event: LoggedEvent) -> common_pb2.Event:
    """An event."""
    return common_pb2.Event(
        sequence=event.sequence,
        at_ps=event.at_ps,
        source=event.source,
        kind=event.kind,
        node=event.node,
        port=event.port,
        text=event.text,
    )
