# SPDX-License-Identifier: Apache-2.0
"""The probes: one row each, with its arguments, its unit and how its value is worked out from two looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from fabrictwin.drills.events import find_events
from fabrictwin.drills.look import Look, Span, chosen
from fabrictwin.drills.subnet import masters_of
from fabrictwin.drills.tolerance import Unit, Value
from fabrictwin.model.quantities import Spec, Wanted
from fabrictwin.model.scenario import Scenario
from fabrictwin.units import PS_PER_NS

SelectorText = Annotated[str, Wanted("a name, `*` for every one, or its beginning and `*`")]


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a probe is worked out from.

    Attributes:
        recent: Since the look before.
        whole: Since the method began; before that, since the look before.
        scenario: What the twin runs.
        query: Asks Prometheus for a number; None: there is none.
    """

    recent: Span
    whole: Span
    scenario: Scenario
    query: Callable[[str], float | None] | None = None

    @property
    def now(self) -> Look:
        """The last look."""
        return self.recent.last


class NoArguments(Spec):
    """A probe or action without arguments."""


class FlowArguments(Spec):
    """Arguments of probes of flows."""

    flow: Annotated[SelectorText, Field(description="which flows")]


class JobArguments(Spec):
    """Arguments of probes of jobs."""

    job: Annotated[SelectorText, Field(description="which job")]


class PortArguments(Spec):
    """Arguments of probes of ports."""

    port: Annotated[SelectorText, Field(description="which ports: `leaf0/5`, `leaf0/*`, `*`")]


class RateArguments(PortArguments):
    """Arguments of ``port_rate``."""

    direction: Annotated[Literal["xmit", "rcv"], Field(description="sent or received")] = "xmit"


class CounterArguments(PortArguments):
    """Arguments of ``port_counter``."""

    counter: Annotated[str, Field(description="name of a counter of the result")]


class TotalArguments(Spec):
    """Arguments of ``total``."""

    total: Annotated[str, Field(description="name of a total of the result")]


class EventArguments(Spec):
    """Arguments of ``events``."""

    event: Annotated[str, Field(description="kind of event")]
    node: Annotated[str, Field(description="node that it is about; default: any")] = ""
    text: Annotated[str, Field(description="what its text holds; default: anything")] = ""


class BalanceArguments(Spec):
    """Arguments of ``imbalance``."""

    ports: Annotated[
        list[str],
        Wanted("a list of ports"),
        Field(min_length=2, description="ports that should share a load"),
    ]


class QueryArguments(Spec):
    """Arguments of ``promql``."""

    query: Annotated[str, Field(max_length=2000, description="PromQL that gives one number")]


def flow_goodput(arguments: FlowArguments, of: Measurement) -> Value:
    """Least goodput of the flows."""
    rates = [of.recent.goodput_bps(name) for name in chosen(of.now.flows, arguments.flow)]
    return min(rates, default=None)


def total_goodput(arguments: FlowArguments, of: Measurement) -> Value:
    """Goodput of the flows together."""
    rates = [of.recent.goodput_bps(name) for name in chosen(of.now.flows, arguments.flow)]
    return sum(rates) if rates else None


def flow_latency(arguments: FlowArguments, of: Measurement) -> Value:
    """Mean latency of the messages that arrived, of the slowest flow; in ps."""
    latencies = [_mean_latency_ps(name, of.recent) for name in chosen(of.now.flows, arguments.flow)]
    return max((latency for latency in latencies if latency is not None), default=None)


def _mean_latency_ps(name: str, span: Span) -> float | None:
    count = span.flow_growth(name, "messages")
    if count <= 0:
        return None
    before, after = span.first.flows.get(name, {}), span.last.flows[name]
    sums = [_latency_sum_ns(row) for row in (before, after)]
    return (sums[1] - sums[0]) / count * PS_PER_NS


def _latency_sum_ns(row: Mapping[str, Any]) -> float:
    latency = row.get("latency_ns")
    return float(latency["mean"] * row["messages"]) if latency else 0.0


def flow_retransmitted(arguments: FlowArguments, of: Measurement) -> Value:
    """Packets that the flows have sent again."""
    names = chosen(of.now.flows, arguments.flow)
    return sum(of.whole.flow_growth(name, "retransmitted_packets") for name in names) if names else None


def flow_failed(arguments: FlowArguments, of: Measurement) -> Value:
    """Messages of the flows that were given up."""
    names = chosen(of.now.flows, arguments.flow)
    return sum(of.whole.flow_growth(name, "failed_messages") for name in names) if names else None


def job_iteration(arguments: JobArguments, of: Measurement) -> Value:
    """Longest time of an iteration that has ended; in ps."""
    times_ns: list[float] = []
    for name in chosen(of.now.jobs, arguments.job):
        before = of.recent.first.jobs.get(name, {}).get("iterations", 0)
        times_ns += of.now.jobs[name]["iteration_ns"][before:]
    return max(times_ns) * PS_PER_NS if times_ns else None


def port_rate(arguments: RateArguments, of: Measurement) -> Value:
    """Rate of the ports, of the slowest one."""
    column = f"port_{arguments.direction}_data"
    names = chosen(of.now.ports, arguments.port)
    return min((of.recent.rate_bps(of.recent.port_growth(name, column)) for name in names), default=None)


def port_counter(arguments: CounterArguments, of: Measurement) -> Value:
    """By how much a counter of the ports has grown, all together."""
    names = chosen(of.now.ports, arguments.port)
    return sum(of.whole.port_growth(name, arguments.counter) for name in names) if names else None


def port_wait(arguments: PortArguments, of: Measurement) -> Value:
    """Share of the time for which a port had something to send and no credits, of the worst one."""
    names, length_ps = chosen(of.now.ports, arguments.port), of.recent.length_ps
    waits_ns = [of.recent.port_growth(name, "port_xmit_wait") for name in names]
    return max(waits_ns) * PS_PER_NS / length_ps if waits_ns and length_ps else None


def port_speed(arguments: PortArguments, of: Measurement) -> Value:
    """Signalling rate of the ports now, of the slowest one."""
    return min(
        (of.now.ports[name]["rate_bps"] for name in chosen(of.now.ports, arguments.port)), default=None
    )


def imbalance(arguments: BalanceArguments, of: Measurement) -> Value:
    """What the busiest of some ports sends, over what they send on average."""
    if not set(arguments.ports) <= of.now.ports.keys():
        return None
    sent = [of.recent.port_growth(name, "port_xmit_data") for name in arguments.ports]
    return max(sent) * len(sent) / sum(sent) if sum(sent) else None


def ports_down(arguments: NoArguments, of: Measurement) -> Value:
    """Ports whose cable is down now."""
    return len(of.now.ports_down)


def total(arguments: TotalArguments, of: Measurement) -> Value:
    """By how much a total of the result has grown."""
    return float(
        of.whole.last.result["totals"][arguments.total] - of.whole.first.result["totals"][arguments.total]
    )


def events(arguments: EventArguments, of: Measurement) -> Value:
    """How many events of a kind there were."""
    return len(find_events(of.whole.events(), arguments.event, arguments.node, arguments.text))


def active_faults(arguments: NoArguments, of: Measurement) -> Value:
    """Faults that are active now."""
    return len(of.now.active_faults)


def twin_stopped(arguments: NoArguments, of: Measurement) -> Value:
    """Why the twin has stopped: ``deadlock``, ``idle`` or ``duration``; ``no`` if it has not."""
    return of.now.stopped or "no"


def deadlock_length(arguments: NoArguments, of: Measurement) -> Value:
    """Outputs that wait for each other in a deadlock; 0 if there is none."""
    deadlock = of.now.result["deadlock"]
    return len(deadlock["cycle"]) if deadlock else 0


def sm_masters(arguments: NoArguments, of: Measurement) -> Value:
    """Subnet managers that take themselves for master now."""
    return len(masters_of(of.scenario, of.now.events))


def promql(arguments: QueryArguments, of: Measurement) -> Value:
    """What Prometheus answers now."""
    return None if of.query is None else of.query(arguments.query)


@dataclass(frozen=True, slots=True)
class Probe:
    """A row of the table of probes.

    Attributes:
        name: Value of ``func``.
        unit: What it gives.
        arguments: The keys that it takes.
        measure: Works it out.
    """

    name: str
    unit: Unit
    arguments: type[Spec]
    measure: Callable[[Any, Measurement], Value]

    @property
    def summary(self) -> str:
        """What it gives, in a sentence."""
        return (self.measure.__doc__ or "").split("\n")[0]


PROBES: dict[str, Probe] = {
    probe.name: probe
    for probe in (
        Probe("flow_goodput", Unit.RATE, FlowArguments, flow_goodput),
        Probe("total_goodput", Unit.RATE, FlowArguments, total_goodput),
        Probe("flow_latency", Unit.TIME, FlowArguments, flow_latency),
        Probe("flow_retransmitted", Unit.COUNT, FlowArguments, flow_retransmitted),
        Probe("flow_failed", Unit.COUNT, FlowArguments, flow_failed),
        Probe("job_iteration", Unit.TIME, JobArguments, job_iteration),
        Probe("port_rate", Unit.RATE, RateArguments, port_rate),
        Probe("port_counter", Unit.COUNT, CounterArguments, port_counter),
        Probe("port_wait", Unit.SHARE, PortArguments, port_wait),
        Probe("port_speed", Unit.RATE, PortArguments, port_speed),
        Probe("imbalance", Unit.COUNT, BalanceArguments, imbalance),
        Probe("ports_down", Unit.COUNT, NoArguments, ports_down),
        Probe("total", Unit.COUNT, TotalArguments, total),
        Probe("events", Unit.COUNT, EventArguments, events),
        Probe("active_faults", Unit.COUNT, NoArguments, active_faults),
        Probe("twin_stopped", Unit.TEXT, NoArguments, twin_stopped),
        Probe("deadlock_length", Unit.COUNT, NoArguments, deadlock_length),
        Probe("sm_masters", Unit.COUNT, NoArguments, sm_masters),
        Probe("promql", Unit.COUNT, QueryArguments, promql),
    )
}
