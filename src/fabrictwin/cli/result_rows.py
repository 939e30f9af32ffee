# SPDX-License-Identifier: Apache-2.0
"""The rows of a result's tables as text, the same on the terminal and in the report page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabrictwin.cli.console import printable
from fabrictwin.model.fabric import Technology
from fabrictwin.units import PS_PER_NS, PS_PER_S, show_rate, show_size, show_time

Result = dict[str, Any]

LATENCY_COLUMNS = ("p50", "p99", "max")
FLOW_TEXTS = ("flow", "from", "to")
FLOW_NUMBERS = ("messages", "bytes", "goodput", "latency p50", "p99", "max", "retransmitted")
JOB_TEXTS = ("job", "kind")
JOB_NUMBERS = ("iterations", "mean iteration", "slowest", "algbw", "busbw")

_SAID_OTHERWISE = {"link_down": "value", "link_up": "value", "first_packet": "dlid"}
"""By kind of event, what its kind or text says already."""


def show_ns(value_ns: float) -> str:
    """A time of the result, which is in nanoseconds, for people."""
    return show_time(value_ns * PS_PER_NS)


def share(part: float, whole: float) -> float:
    """``part`` of ``whole``; 0 where there is no whole."""
    return part / whole if whole else 0.0


def slowest_flows(flows: Sequence[Result], count: int) -> list[Result]:
    """At most ``count`` flows, those with the lowest goodput first."""
    return sorted(flows, key=lambda flow: (flow["goodput_bps"], flow["name"]))[:count]


def flow_name(flow: Result) -> str:
    """``name: from → to``; a name that a job gave has both ends behind a colon, and is cut there."""
    return printable(f"{_given_name(flow)}: {flow['src']} → {flow['dst']}")


def _given_name(flow: Result) -> str:
    return str(flow["name"]).partition(":")[0]


def flow_row(flow: Result) -> list[str]:
    """``FLOW_TEXTS`` and ``FLOW_NUMBERS`` of a flow."""
    latency = flow["latency_ns"]
    return [
        printable(_given_name(flow)),
        printable(flow["src"]),
        printable(flow["dst"]),
        f"{flow['messages']:,}",
        show_size(flow["bytes"]),
        show_rate(flow["goodput_bps"]),
        *(show_ns(latency[name]) if flow["messages"] else "-" for name in LATENCY_COLUMNS),
        f"{flow['retransmitted_packets']:,}",
    ]


def iterating_jobs(jobs: Sequence[Result]) -> list[Result]:
    """The jobs that have iterations, collectives; what the others did is told by their flows."""
    return [job for job in jobs if job["algbw_bps"] is not None]


def job_row(job: Result) -> list[str]:
    """``JOB_TEXTS`` and ``JOB_NUMBERS`` of a job."""
    times = job["iteration_ns"]
    return [
        printable(job["name"]),
        job["kind"],
        f"{job['iterations']:,}",
        show_ns(sum(times) / len(times)) if times else "-",
        show_ns(max(times)) if times else "-",
        bandwidth(job["algbw_bps"]),
        bandwidth(job["busbw_bps"]),
    ]


def bandwidth(bps: float | None) -> str:
    """A bandwidth of a collective, which is quoted in gigabytes a second; ``-`` without one."""
    return f"{bps / 8e9:.2f} GB/s" if bps else "-"


def held_back_words(technology: str) -> str:
    """What keeps a port of a technology from sending although its link is free."""
    return "paused by PFC" if technology == Technology.ROCE else "waited for credits"


def held_back_ns(port: Result) -> float:
    """How long a port was kept from sending, summed over its VLs: without credits, or paused."""
    return float(port["port_xmit_wait"] + port["pfc_paused_ns"])


def event_row(event: Result) -> list[str]:
    """Fabric time of an event, and one line for the rest: its kind, where, and whatever else it says."""
    rest = dict(event)
    at_ns, source, kind = (rest.pop(name) for name in ("fabric_ns", "source", "kind"))
    place = [str(rest.pop(name)) for name in ("node", "port") if name in rest]
    text = rest.pop("text", "")
    rest.pop(_SAID_OTHERWISE.get(kind, ""), None)
    parts = [kind, "/".join(place) or source, *(f"{name}={value}" for name, value in rest.items())]
    return [show_ns(at_ns), printable(" ".join(parts) + (f": {text}" if text else ""))]


def port_name(port: Result) -> str:
    """``node/port``."""
    return printable(f"{port['node']}/{port['port']}")


def port_load(port: Result, time_ns: int) -> float:
    """Share of its rate at which a port sent over the whole run."""
    return share(port["port_xmit_data"] * 8 * (PS_PER_S // PS_PER_NS), port["rate_bps"] * time_ns)
