# SPDX-License-Identifier: Apache-2.0
"""The tables of a comparison as text, the same on the terminal and on the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fabrictwin.cli.console import printable
from fabrictwin.cli.result_rows import Result, bandwidth, show_ns
from fabrictwin.study import cluster
from fabrictwin.study.idle_latency import SWITCH_COUNTS
from fabrictwin.units import show_rate


@dataclass(frozen=True)
class TextTable:
    """A table of texts.

    Attributes:
        title: What it answers.
        note: How to read it.
        texts: Columns that are aligned to the left.
        numbers: Columns behind them that are aligned to the right.
        rows: The cells.
    """

    title: str
    note: str
    texts: tuple[str, ...]
    numbers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(result: Result) -> dict[str, TextTable]:
    """The tables of a result of schema ``fabrictwin.compare/1`` by what they are about, those with rows."""
    variants = result["variants"]
    found = {
        "settings": _settings(variants),
        "delivery": _delivery(variants),
        "congestion": _congestion(variants),
        "jobs": _jobs(variants),
        "idle": _idle(result["idle_latency"]),
        "clusters": _clusters(result),
    }
    return {name: table for name, table in found.items() if table.rows}


def _settings(variants: Sequence[Result]) -> TextTable:
    keys = ("switch_model", "hca_model", "routing", "flow_control", "congestion_control")
    rows = ((one["title"], *(printable(one[key]) for key in keys)) for one in variants)
    names = ("variant", "switches", "HCAs", "routing", "flow control", "congestion control")
    return TextTable(
        "What was run?", "A + marks a model of which something is changed.", names, (), tuple(rows)
    )


def _delivery(variants: Sequence[Result]) -> TextTable:
    numbers = ("goodput, sum", "slowest flow", "all done after", "latency p50", "p99", "max")
    return TextTable(
        "What did the workload get?",
        "Goodput of a flow: payload from its first message's start to its last byte. Latency of a message: "
        "from its post to its last byte in memory.",
        ("variant",),
        numbers,
        tuple(
            (
                one["title"],
                show_rate(one["goodput_bps"]["sum"]),
                show_rate(one["goodput_bps"]["min"]),
                _ending(one),
                *_latencies(one["latency_ns"]),
            )
            for one in variants
        ),
    )


def _ending(variant: Result) -> str:
    """When a variant was done, or why it was not."""
    words = {"duration": "not done", "deadlock": "DEADLOCK"}
    return words.get(variant["stopped"]) or show_ns(variant["fabric_time_ns"])


def _latencies(latency: dict[str, float] | None) -> tuple[str, ...]:
    return ("-", "-", "-") if latency is None else tuple(show_ns(value) for value in latency.values())


def _congestion(variants: Sequence[Result]) -> TextTable:
    numbers = (
        "links held back",
        "the worst",
        "dropped",
        "lossless drops",
        "retransmitted",
        "marked",
        "pauses",
    )
    return TextTable(
        "What did congestion cost?",
        "Held back: time that a link had to wait for credits (InfiniBand) or was paused (PFC), as a share of "
        "the run, mean of all links and the worst port. Marked: packets with FECN or ECN.",
        ("variant",),
        numbers,
        tuple(
            (
                one["title"],
                f"{one['held_back']['mean']:.2%}",
                f"{one['held_back']['max']:.1%}",
                f"{one['dropped_packets']:,}",
                f"{one['lossless_drops']:,}",
                f"{one['retransmitted_packets']:,}",
                f"{one['marked_packets']:,}",
                f"{one['pfc_pause_sent']:,}" if one["technology"] == "roce" else "-",
            )
            for one in variants
        ),
    )


def _jobs(variants: Sequence[Result]) -> TextTable:
    return TextTable(
        "How did each job fare?",
        "Completion: from its first message to its last byte. Algorithm and bus bandwidth as nccl-tests "
        "defines them, for collectives.",
        ("job", "variant"),
        ("goodput, sum", "completion", "iterations", "algbw", "busbw"),
        tuple(
            (
                printable(job["name"]) if index == 0 else "",
                variant["title"],
                show_rate(job["goodput_bps"]),
                "not done" if job["completion_ns"] is None else show_ns(job["completion_ns"]),
                f"{job['iterations']:,}" if job["algbw_bps"] is not None else "-",
                bandwidth(job["algbw_bps"]),
                bandwidth(job["busbw_bps"]),
            )
            for jobs in zip(*([(one, job) for job in one["jobs"]] for one in variants), strict=True)
            for index, (variant, job) in enumerate(jobs)
        ),
    )


def _idle(latencies: Sequence[Result]) -> TextTable:
    size = latencies[0]["message"]
    return TextTable(
        "How long does a small message take when nothing else moves?",
        f"{size} from post to memory, simulated: through a leaf; leaf, spine, leaf; three tiers.",
        ("technology",),
        (*(f"{count} switch{'es' * (count > 1)}" for count in SWITCH_COUNTS), "each hop"),
        tuple(
            (
                {"infiniband": "InfiniBand", "roce": "RoCE"}[one["technology"]],
                *(show_ns(value) for value in one["latency_ns"].values()),
                show_ns(one["hop_ns"]),
            )
            for one in latencies
        ),
    )


def idle_parts(latencies: Sequence[Result]) -> TextTable:
    """The constants of the idle path, each with its origin."""
    return TextTable(
        "Where do these latencies come from?",
        "Every constant with its source: P primary source read, A secondary source, C computed, M from "
        "memory or assumed. None is bent to a wish.",
        ("part", "time", "source"),
        (),
        tuple(
            (f"{one['technology']}: {part['name']}", show_ns(part["ns"]), printable(part["source"]))
            for one in latencies
            for part in one["parts"]
        ),
    )


def _clusters(result: Result) -> TextTable:
    titles = {one["name"]: one["title"] for one in result["variants"]}
    names = list(dict.fromkeys(one["variant"] for one in result["clusters"]))
    cells: dict[tuple[str, int], dict[str, Any]] = {}
    for one in result["clusters"]:
        cells.setdefault((one["reach"], one["hosts"]), {})[one["variant"]] = one

    def cell(one: Result) -> str:
        return f"{one['mean_share']:.0%} ({one['min_share']:.1%})"

    return TextTable(
        "How much of its link does a host get as the cluster grows?",
        f"Every host sends one message of {cluster.MESSAGE} to another, a random permutation, in a "
        "three-tier fat tree without oversubscription: mean of the hosts (the slowest).",
        ("partner", "hosts"),
        tuple(titles[name] for name in names),
        tuple(
            (reach, f"{hosts:,}", *(cell(of[name]) for name in names))
            for (reach, hosts), of in sorted(
                cells.items(), key=lambda item: cluster.REACHES.index(item[0][0])
            )
        ),
    )
