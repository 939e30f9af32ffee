# SPDX-License-Identifier: Apache-2.0
"""What a service answers to a scrape."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np
from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from fabrictwin.engine.codes import LogKind
from fabrictwin.engine.plan import Plan
from fabrictwin.telemetry.catalogue import CATALOGUE
from fabrictwin.telemetry.columns import CONSTANTS, column
from fabrictwin.telemetry.exposition import LabelTexts, head, series
from fabrictwin.telemetry.health import NS_PER_S, STEP_BOUNDS_NS, Health, Speedometer, StepTimes, Values
from fabrictwin.telemetry.layout import Layout
from fabrictwin.telemetry.metric import Kind, Metric, Rows, Service
from fabrictwin.telemetry.snapshot import FabricSource, Snapshot, count_kinds, take_snapshot
from fabrictwin.units import PS_PER_S


class Exporter:
    """Renders the metrics of one service; may be called from any thread, one scrape at a time runs.

    Args:
        health: How the service is doing.
        fabric: The shard that it simulates, if it does.
    """

    def __init__(self, health: Health, fabric: FabricSource | None = None) -> None:
        self._health = health
        self._fabric = None if fabric is None else _FabricPage(fabric, health.service)
        self._lock = threading.Lock()
        self._registry = CollectorRegistry()
        self._collector = _HealthCollector(health)
        self._registry.register(self._collector)
        ProcessCollector(registry=self._registry)
        GCCollector(registry=self._registry)

    def render(self) -> list[bytes]:
        """The answer, in Prometheus' text format (:data:`fabrictwin.telemetry.CONTENT_TYPE`).

        Returns:
            Its parts, to be written one behind another: to join tens of megabytes would hold the GIL
            for longer than many steps take.
        """
        with self._lock:
            parts: list[bytes] = []
            self._collector.reached_ps = self._health.reached_ps
            if self._fabric is not None:
                parts, self._collector.reached_ps = self._fabric.render()
            return [generate_latest(self._registry), *parts]


class _HealthCollector(Collector):
    """What health says, at the fabric time of the page that it goes with."""

    def __init__(self, health: Health) -> None:
        self.reached_ps = 0
        self._speed = Speedometer()
        self._health = health
        self._metrics = _metrics_of(health.service, health=True)

    def collect(self) -> Iterable[Family]:
        for metric in self._metrics:
            if metric.kind is Kind.HISTOGRAM:
                yield _histogram(metric, self._health.steps)
                continue
            values = self._read(metric)
            if values:
                make = CounterMetricFamily if metric.kind is Kind.COUNTER else GaugeMetricFamily
                family = make(metric.name, metric.help, labels=metric.labels)
                for labels, value in values.items():
                    family.add_metric(labels, value)
                yield family

    def _read(self, metric: Metric) -> Values:
        if metric.source == "fabric_seconds":
            return {(): self.reached_ps / PS_PER_S}
        if metric.source == "speed":
            return {(): self._speed.look(self.reached_ps)}
        return self._health.read(metric)


def _histogram(metric: Metric, steps: StepTimes) -> HistogramMetricFamily:
    bounds = [str(bound / NS_PER_S) for bound in STEP_BOUNDS_NS] + ["+Inf"]
    below = np.cumsum(steps.counts).tolist()
    family = HistogramMetricFamily(metric.name, metric.help)
    family.add_metric([], list(zip(bounds, below, strict=True)), steps.total_ns / NS_PER_S)
    return family


def _metrics_of(service: Service, *, health: bool) -> tuple[Metric, ...]:
    return tuple(
        metric
        for metric in CATALOGUE
        if service in metric.services and (metric.rows is Rows.HEALTH) == health
    )


class _FabricPage:
    """The metrics that are read from a shard's arrays."""

    def __init__(self, source: FabricSource, service: Service) -> None:
        self._source = source
        self._metrics = _metrics_of(service, health=False)
        self._plan = source.plan
        self._texts: _Texts | None = None
        self._log_seen = 0
        self._events = np.zeros(len(LogKind), np.int64)

    def render(self) -> tuple[list[bytes], int]:
        """(parts of the page, fabric time of it in ps)."""
        texts = self._texts_now()
        with self._source.hold() as now_ps:
            snapshot = take_snapshot(texts.layout, self._source.state, now_ps, self._log_seen)
        self._log_seen = snapshot.log_entries
        self._events += count_kinds(snapshot.log_kinds)
        return list(self._parts(texts, snapshot)), now_ps

    def _texts_now(self) -> _Texts:
        """Those of the plan as it is; a fault changes the plan, but not the rows, whose labels cost time."""
        plan = self._source.plan
        if self._texts is None or not _has_same_rows(plan, self._plan):
            self._texts = _Texts(Layout(plan, self._source.owned))
        self._plan = plan
        return self._texts

    def _parts(self, texts: _Texts, snapshot: Snapshot) -> Iterator[bytes]:
        for metric in self._metrics:
            labels = texts.labels(metric.rows)
            if len(labels.ends) == 0:
                continue
            if metric.source in CONSTANTS:
                yield texts.constant(metric)
                continue
            values = self._events if metric.rows is Rows.EVENT else column(snapshot, metric)
            yield head(metric)
            yield series(metric, labels, values)


def _has_same_rows(plan: Plan, other: Plan) -> bool:
    if plan is other:
        return True
    same_ports = plan.scenario.fabric is other.scenario.fabric
    return same_ports and plan.scenario.jobs == other.scenario.jobs


class _Texts:
    """Labels, and lines that never change, of a layout."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.labels = cache(lambda rows: LabelTexts.of(layout.labels(rows)))
        self.constant = cache(self._constant)

    def _constant(self, metric: Metric) -> bytes:
        labels = self.labels(metric.rows)
        values = np.full(len(labels.ends), CONSTANTS[metric.source], np.int64)
        return head(metric) + series(metric, labels, values)
