# SPDX-License-Identifier: Apache-2.0
"""The keys of a drill file, version 1, and of its parts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from fabrictwin.drills.drill import Clock
from fabrictwin.model.quantities import Name, Spec, TimePs, Wanted
from fabrictwin.units import PS_PER_MS, PS_PER_US

LONGEST_TEXT = 4_000
MOST_TAGS = 20

Text = Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT)]


class DrillKeys(Spec):
    """The keys of a drill."""

    version: Annotated[Literal[1], Field(description="version of this format")]
    title: Annotated[Text, Field(description="one line")]
    description: Annotated[Text, Field(description="what it shows")]
    tags: Annotated[list[Name], Field(max_length=MOST_TAGS, description="to choose by")] = []  # noqa: RUF012  frozen
    scenario: Annotated[
        Text, Wanted("a file name"), Field(description="scenario file, from this file's folder")
    ]
    clock: Annotated[
        Literal["fabric", "wall"], Field(description="what pauses and `every` are counted in")
    ] = Clock.FABRIC.value
    seed: Annotated[
        int | None, Field(ge=0, lt=2**63, description="seed of the scenario; default: its own")
    ] = None
    lease: Annotated[TimePs, Field(gt=0, description="fabric time after which a fault ends by itself")] = (
        200 * PS_PER_MS
    )
    warm_up: Annotated[TimePs, Field(gt=0, description="fabric time before the baseline")] = 500 * PS_PER_US
    every: Annotated[TimePs, Field(ge=PS_PER_US, description="time between two looks at the twin")] = (
        100 * PS_PER_US
    )
    hypothesis: Annotated[
        Any,
        Wanted("a mapping"),
        Field(alias="steady-state-hypothesis", description="what holds before and after"),
    ]
    method: Annotated[Any, Wanted("a list"), Field(description="probes and actions, in order")]
    rollbacks: Annotated[Any, Wanted("a list"), Field(description="actions that undo the method's")] = None
    expect: Annotated[Any, Wanted("a mapping"), Field(description="what has to follow")]
    negatives: Annotated[Any, Wanted("a list"), Field(description="changes that make it fail")] = None


class HypothesisKeys(Spec):
    """Keys of the steady-state hypothesis."""

    title: Annotated[Text, Field(description="the steady state in words")]
    probes: Annotated[Any, Wanted("a list"), Field(description="probes with their tolerances")]


class ActivityKeys(Spec):
    """Keys of a probe or an action."""

    type: Annotated[Literal["probe", "action"], Field(description="which of the two")]
    name: Annotated[Name, Field(description="its name, unique in the drill")]
    provider: Annotated[Any, Wanted("a mapping"), Field(description="what is asked or done")]
    tolerance: Annotated[Any, Wanted("a value, a range or a regex"), Field(description="of a probe")] = None
    pauses: Annotated[Any, Wanted("a mapping"), Field(description="before and after")] = None


class ProviderKeys(Spec):
    """Keys of a provider."""

    func: Annotated[str, Field(description="row of the table of probes or actions")]
    arguments: Annotated[Any, Wanted("a mapping"), Field(description="what it takes")] = None


class PausesKeys(Spec):
    """Keys of ``pauses``."""

    before: Annotated[TimePs, Field(description="before it")] = 0
    after: Annotated[TimePs, Field(description="behind it")] = 0


class ExpectKeys(Spec):
    """Keys of ``expect``."""

    detection: Annotated[Any, Wanted("a list"), Field(description="signs that tell of the fault")] = None
    alerts: Annotated[Any, Wanted("a list"), Field(description="alerts that fire, with a Prometheus")] = None
    mitigation: Annotated[Any, Wanted("a list"), Field(description="signs that something is done")] = None
    recovery: Annotated[
        TimePs, Field(description="after the rollback, the hypothesis holds again within")
    ] = 0
    budget: Annotated[
        TimePs | None, Field(description="for so long may a probe of the hypothesis be out; default: any")
    ] = None
    blast_radius: Annotated[Any, Wanted("a mapping"), Field(description="how far it may reach")] = None
    stopped: Annotated[
        Literal["deadlock", "idle"] | None, Field(description="why the twin stops; default: it goes on")
    ] = None


class EventSignKeys(Spec):
    """Keys of a sign that is an event."""

    event: Annotated[str, Field(description="kind of event")]
    node: Annotated[str, Field(description="node that it is about; default: any")] = ""
    text: Annotated[str, Field(description="what its text holds; default: anything")] = ""
    within: Annotated[TimePs, Field(description="fabric time in which it is seen")]
    since: Annotated[Literal["fault", "rollback"], Field(description="from when on")] = "fault"


class ProbeSignKeys(Spec):
    """Keys of a sign that is a probe within its tolerance."""

    probe: Annotated[Name, Field(description="its name")]
    provider: Annotated[Any, Wanted("a mapping"), Field(description="what is asked")]
    tolerance: Annotated[Any, Wanted("a value, a range or a regex"), Field(description="what it has to be")]
    within: Annotated[TimePs, Field(description="fabric time in which it is seen")]
    since: Annotated[Literal["fault", "rollback"], Field(description="from when on")] = "fault"


class AlertKeys(Spec):
    """Keys of an expected alert."""

    alert: Annotated[str, Field(description="its name")]
    within: Annotated[TimePs, Field(gt=0, description="wall time in which it fires")]


class BlastRadiusKeys(Spec):
    """Keys of ``blast_radius``."""

    flows: Annotated[int | None, Field(ge=0, description="most flows that are hit")] = None
    ports: Annotated[int | None, Field(ge=0, description="most ports that are down at a time")] = None
    loss: Annotated[float, Field(gt=0, lt=1, description="share of its goodput that a hit flow loses")] = 0.5
    spared: Annotated[list[str], Field(description="flows that must not be hit")] = []  # noqa: RUF012  frozen


class NegativeKeys(Spec):
    """Keys of a negative."""

    name: Annotated[Name, Field(description="its name")]
    why: Annotated[Text, Field(description="what is wrong then")]
    verdict: Annotated[
        Literal["FAIL_SLO", "FAIL_DETECT", "FAIL_MITIGATE", "FAIL_INVARIANT", "INVALID"],
        Field(description="what comes out"),
    ]
    without: Annotated[list[str], Field(description="activities that are left out")] = []  # noqa: RUF012  frozen
    scenario: Annotated[
        dict[str, Any] | None, Field(description="values of the scenario that differ, by dotted path")
    ] = None
