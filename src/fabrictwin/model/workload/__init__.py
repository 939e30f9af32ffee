# SPDX-License-Identifier: Apache-2.0
"""Workloads: one file and one row per kind; each compiles to rank programs."""

from __future__ import annotations

from fabrictwin.model.fabric import Fabric, Technology
from fabrictwin.model.named import read_named
from fabrictwin.model.program import FOREVER, Job, Op
from fabrictwin.model.qos import DROP_VL, PRIORITIES, Qos
from fabrictwin.model.section import Section
from fabrictwin.model.workload.all_reduce import ALL_REDUCE
from fabrictwin.model.workload.all_to_all import ALL_TO_ALL
from fabrictwin.model.workload.incast import INCAST
from fabrictwin.model.workload.kind import MOST_FLOWS, JobContext, JobSpec, WorkloadKind
from fabrictwin.model.workload.permutation import PERMUTATION
from fabrictwin.model.workload.stream import STREAM
from fabrictwin.model.workload.uniform_random import UNIFORM_RANDOM

WORKLOADS: dict[str, WorkloadKind] = {
    kind.name: kind for kind in (STREAM, INCAST, PERMUTATION, UNIFORM_RANDOM, ALL_REDUCE, ALL_TO_ALL)
}


def read_workload(section: Section) -> list[tuple[Section, JobSpec]]:
    """The entries of a scenario's workload, each with its place; problems are noted there.

    Args:
        section: The list.
    """
    entries = read_named(section, "workload", {name: kind.spec for name, kind in WORKLOADS.items()})
    for entry, spec in entries:
        if spec.stop is not None and spec.stop <= spec.start:
            entry.refuse("'stop' must be after 'start'", "stop")
    return entries


def compile_workload(
    entries: list[tuple[Section, JobSpec]], fabric: Fabric, seed: int, default_sl: int = 0
) -> tuple[Job, ...]:
    """Writes the rank programs of every entry; problems are noted in its section.

    Args:
        entries: What :func:`read_workload` gave.
        fabric: The fabric that they run on.
        seed: Seed of the scenario.
        default_sl: Service level of a workload that names none.
    """
    jobs: list[Job] = []
    if not _is_affordable(entries, len(fabric.hcas)):
        return ()
    for section, spec in entries:
        if section.is_full:
            break
        context = JobContext(fabric, section, str(spec.name), seed, default_sl)
        job = WORKLOADS[spec.kind].compile(spec, context)
        if job is not None:
            jobs.append(job)
    return tuple(jobs)


def _is_affordable(entries: list[tuple[Section, JobSpec]], hcas: int) -> bool:
    """Whether there are not too many flows, counted before any is made."""
    flows = 0
    for section, spec in entries:
        flows += WORKLOADS[spec.kind].flows(spec, hcas)
        if flows > MOST_FLOWS:
            section.refuse(f"the workload would have {flows:,} flows or more; the most is {MOST_FLOWS:,}")
            return False
    return True


def check_service_levels(entries: list[tuple[Section, JobSpec]], qos: Qos, technology: Technology) -> None:
    """Notes the service levels of a workload whose packets would all be dropped, or, TCP's, never."""
    for section, spec in entries:
        if spec.transport == "tcp":
            _check_tcp(section, spec, qos, technology)
        sl = qos.default_sl if spec.sl is None else spec.sl
        if qos.sl2vl[sl] != DROP_VL:
            continue
        if technology is Technology.ROCE:
            section.refuse(f"expected a priority from 0 to {PRIORITIES - 1}, got {sl}", "sl")
        else:
            section.refuse(f"SL {sl} goes to VL {DROP_VL} in 'qos.sl2vl': every packet is dropped", "sl")


def _check_tcp(section: Section, spec: JobSpec, qos: Qos, technology: Technology) -> None:
    if technology is not Technology.ROCE:
        section.refuse("'tcp' belongs to technology 'roce'; on InfiniBand use 'rdma'", "transport")
    elif spec.sl is None:
        section.refuse("'tcp' needs 'sl', a priority that is not lossless", "transport")
    elif spec.sl in qos.lossless:
        section.refuse(
            f"priority {spec.sl} is lossless, and TCP goes by what is lost: expected one that is not", "sl"
        )


def is_endless(job: Job) -> bool:
    """Whether a job never ends by itself: it loops for ever, and nothing stops it."""
    return any(
        step.op is Op.LOOP and step.b == FOREVER
        for program in job.programs
        if program.stop_ps is None
        for step in program.instructions
    )


__all__ = [
    "WORKLOADS",
    "JobContext",
    "JobSpec",
    "WorkloadKind",
    "check_service_levels",
    "compile_workload",
    "is_endless",
    "read_workload",
]
