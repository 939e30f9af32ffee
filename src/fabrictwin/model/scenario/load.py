# SPDX-License-Identifier: Apache-2.0
"""Reads a scenario file: every section is read before any is compiled, to show all problems at once."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from fabrictwin.model.congestion import compile_congestion_control, read_congestion_control
from fabrictwin.model.expectation import check_expectations, read_expectations
from fabrictwin.model.fabric import Technology
from fabrictwin.model.fault import compile_faults, read_faults
from fabrictwin.model.program import Job
from fabrictwin.model.qos import compile_qos, read_qos
from fabrictwin.model.quantities import Name, Spec, TimePs, Wanted, show_value
from fabrictwin.model.routing_names import compile_routing, read_routing
from fabrictwin.model.scenario.ethernet_checks import check_acknowledgements, check_lossless, check_marking
from fabrictwin.model.scenario.fabric import read_fabric, read_technology
from fabrictwin.model.scenario.scenario import Deployment, Scenario
from fabrictwin.model.section import Section, SpecT
from fabrictwin.model.subnet_manager import (
    SubnetManagerKeys,
    SubnetManagerTiming,
    compile_managers,
    read_managers,
)
from fabrictwin.model.workload import check_service_levels, compile_workload, is_endless, read_workload
from fabrictwin.model.yaml_loader import LARGEST_FILE_BYTES, Document, read_document, read_text
from fabrictwin.units import PS_PER_S

LONGEST_FINITE_RUN_PS = 100 * PS_PER_S
"""Where a scenario whose work ends gives no ``duration``: longer than a queue pair takes to fail."""
MOST_SHARDS = 64


class DeploymentKeys(Spec):
    """Keys of ``deployment``."""

    switch_shards: Annotated[int, Field(ge=1, le=MOST_SHARDS, description="processes for switches")] = 1
    hca_shards: Annotated[int, Field(ge=1, le=MOST_SHARDS, description="processes for HCAs")] = 1


class ScenarioKeys(Spec):
    """The keys of a scenario."""

    version: Annotated[Literal[1], Field(description="version of this format")]
    name: Annotated[Name, Field(description="name of the scenario, and of its twin")]
    seed: Annotated[int, Field(ge=0, lt=2**63, description="seed of every random choice")] = 1
    duration: Annotated[
        TimePs | None,
        Field(
            gt=0, description="stop here, or earlier when all is done; needed where the workload never ends"
        ),
    ] = None
    fabric: Annotated[Any, Wanted("a mapping"), Field(description="nodes, links, hardware")]
    routing: Annotated[Any, Wanted("a mapping"), Field(description="routing engine")] = None
    congestion_control: Annotated[Any, Wanted("a mapping"), Field(description="FECN, BECN and the rates")] = (
        None
    )
    qos: Annotated[Any, Wanted("a mapping"), Field(description="service levels and virtual lanes")] = None
    workload: Annotated[Any, Wanted("a list"), Field(description="what is sent")] = None
    faults: Annotated[Any, Wanted("a list"), Field(description="what goes wrong, and when")] = None
    deployment: Annotated[
        Any, Wanted("a mapping"), Field(description="processes of a live twin; no effect on the result")
    ] = None
    subnet_manager: Annotated[
        Any, Wanted("a mapping"), Field(description="subnet managers and their timing")
    ] = None
    expect: Annotated[Any, Wanted("a list"), Field(description="assertions on the result")] = None


def load_scenario(path: Path) -> Scenario:
    """Reads a scenario file; imported files are looked for beside it.

    Args:
        path: The file.

    Raises:
        InputError: With every problem of the file.
    """
    text = read_text(path, largest_bytes=LARGEST_FILE_BYTES)
    return parse_scenario(text, file=str(path), base=path.parent)


def parse_scenario(text: str, *, file: str = "<scenario>", base: Path = Path()) -> Scenario:
    """Reads a scenario from its text.

    Args:
        text: The YAML text.
        file: Its name, for messages.
        base: Folder that imported files are looked for in.

    Raises:
        InputError: With every problem of the text.
    """
    return expand_document(
        read_document(text, file), sha256=hashlib.sha256(text.encode()).hexdigest(), base=base
    )


def expand_document(document: Document, *, sha256: str, base: Path = Path()) -> Scenario:
    """Makes a scenario of a document that has been read, or made.

    Args:
        document: The document.
        sha256: Its hash.
        base: Folder that imported files are looked for in.

    Raises:
        InputError: With every problem of the document.
    """
    root = Section(document)
    if not isinstance(root.value, dict):
        root.refuse(
            f"expected a scenario: a mapping with version, name, fabric, …; got {show_value(root.value)}"
        )
        root.raise_problems()
    scenario = _read(root, sha256, base)
    root.raise_problems()
    # Without a scenario there is a problem, and it has been raised.
    assert scenario is not None
    return scenario


def _read(root: Section, text_sha256: str, base: Path) -> Scenario | None:
    keys = root.read(ScenarioKeys)
    technology = read_technology(root.at("fabric"))
    routing_keys = read_routing(root.at("routing"), technology)
    cc_spec = read_congestion_control(root.at("congestion_control"), technology)
    qos_spec = read_qos(root.at("qos"), technology)
    deployment = _read_optional(root.at("deployment"), DeploymentKeys)
    timing = _read_optional(root.at("subnet_manager"), SubnetManagerKeys)
    manager_keys = read_managers(root.at("subnet_manager", "managers"))
    if technology is Technology.ROCE and root.at("subnet_manager").value is not None:
        root.refuse(
            "'subnet_manager' belongs to technology 'infiniband'; on RoCE 'routing.bfd_interval' and "
            "'routing.bgp_update' say when switches route around a cable that has failed",
            "subnet_manager",
        )
    workload = read_workload(root.at("workload"))
    faults = read_faults(root.at("faults"))
    expectations = read_expectations(root.at("expect"))
    built = read_fabric(root.at("fabric"), technology, base)
    if built is None:
        return None
    fabric, seed = built.fabric, keys.seed if keys else 0
    routing = compile_routing(routing_keys, root.at("routing"), fabric) if routing_keys else None
    congestion_control = compile_congestion_control(cc_spec, root.at("congestion_control"), fabric)
    qos = compile_qos(qos_spec, root.at("qos"), built.switch_model.data_vls) if qos_spec else None
    jobs = compile_workload(workload, fabric, seed, qos.default_sl if qos else 0)
    hca_models = {built.hca_model.name: built.hca_model}
    managers = () if technology is Technology.ROCE else compile_managers(manager_keys, fabric)
    lossless = qos.lossless if qos else frozenset()
    compiled = compile_faults(faults, fabric, built.mtu_bytes, hca_models, managers, lossless)
    warnings = [*built.warnings, *check_lossless(root.at("fabric"), built, lossless)]
    warnings += check_marking(root.at("fabric"), built, lossless, congestion_control)
    check_acknowledgements(root.at("congestion_control"), built, congestion_control)
    if not root.problems:
        # A job with a problem is not there, and what is expected of it would look like one more.
        check_expectations(expectations, fabric, jobs)
    if qos:
        check_service_levels(workload, qos, technology)
    duration_ps = _duration(root, keys, jobs)
    if not (keys and routing and qos and deployment and timing):
        return None
    return Scenario(
        name=keys.name,
        seed=seed,
        duration_ps=duration_ps,
        says_duration=keys.duration is not None,
        fabric=fabric,
        switch_models={built.switch_model.name: built.switch_model},
        hca_models=hca_models,
        mtu_bytes=built.mtu_bytes,
        routing=routing,
        congestion_control=congestion_control,
        qos=qos,
        jobs=jobs,
        changes=compiled.changes,
        actions=compiled.actions,
        faults=compiled.specs,
        expectations=tuple(expectation for _, expectation in expectations),
        deployment=Deployment(deployment.switch_shards, deployment.hca_shards),
        subnet_manager=_timing(timing),
        managers=managers,
        sha256=_combine(text_sha256, built.imported_sha256),
        warnings=tuple(warnings),
    )


def _read_optional(section: Section, spec: type[SpecT]) -> SpecT | None:
    """A section that may be left out: then every key has its default."""
    return section.read(spec, {} if section.value is None else ...)


def _timing(keys: SubnetManagerKeys) -> SubnetManagerTiming:
    return SubnetManagerTiming(
        keys.trap_latency,
        keys.smp_rtt,
        keys.max_wire_smps,
        keys.sweep_interval,
        keys.sminfo_polling_timeout,
        keys.polling_retry_number,
        keys.transaction_timeout,
        keys.transaction_retries,
    )


def _duration(root: Section, keys: ScenarioKeys | None, jobs: tuple[Job, ...]) -> int:
    if keys and keys.duration is not None:
        return keys.duration
    endless = next((job.name for job in jobs if is_endless(job)), None)
    if keys and endless:
        root.refuse(f"required key 'duration' is missing: workload {endless!r} never ends", "duration")
    return LONGEST_FINITE_RUN_PS


def _combine(text_sha256: str, imported_sha256: str) -> str:
    """The hash of the file alone, or of both files' hashes."""
    if not imported_sha256:
        return text_sha256
    return hashlib.sha256(f"{text_sha256} {imported_sha256}".encode()).hexdigest()
