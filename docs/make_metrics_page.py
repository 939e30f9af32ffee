# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of ``metrics.md`` from the catalogue of metrics.

Run it after a change of a metric: ``python docs/make_metrics_page.py``. What stands between
``<!-- table: X -->`` and ``<!-- end -->`` is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from fabrictwin.engine.port_counters import PORT_COUNTERS
from fabrictwin.telemetry.catalogue import CATALOGUE
from fabrictwin.telemetry.metric import Metric, Rows

PAGE = Path(__file__).with_name("metrics.md")
_BLOCK = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def _source(metric: Metric) -> str:
    if metric.source in PORT_COUNTERS:
        array, field = PORT_COUNTERS[metric.source]
        return f"`{array}.{field}`"
    scale = f" / 10^{metric.digits}" if metric.digits else ""
    return f"{metric.source}{scale}"


def _row(metric: Metric) -> str:
    labels = " ".join(f"`{label}`" for label in metric.labels)
    cells = (f"`{metric.name}`", metric.kind, metric.unit, labels, _source(metric), metric.help)
    return f"| {' | '.join(cells)} |\n"


def _table(metrics: Iterable[Metric]) -> str:
    head = "| metric | type | unit | labels | source | meaning |\n|---|---|---|---|---|---|\n"
    return head + "".join(_row(metric) for metric in metrics)


def _with_prefix(prefix: str) -> Callable[[], str]:
    return lambda: _table(metric for metric in CATALOGUE if metric.name.startswith(prefix))


def _own(*, health: bool) -> Callable[[], str]:
    def table() -> str:
        return _table(
            metric
            for metric in CATALOGUE
            if metric.name.startswith("fabrictwin_")
            and (metric.rows is Rows.HEALTH and metric.source != "values") == health
            and metric.source != "values"
        )

    return table


def _of_services() -> str:
    head = "| metric | service | type | unit | labels | meaning |\n|---|---|---|---|---|---|\n"
    return head + "".join(_row_of_service(metric) for metric in CATALOGUE if metric.source == "values")


def _row_of_service(metric: Metric) -> str:
    labels = " ".join(f"`{label}`" for label in metric.labels)
    cells = (f"`{metric.name}`", metric.services[0], metric.kind, metric.unit, labels, metric.help)
    return f"| {' | '.join(cells)} |\n"


TABLES: dict[str, Callable[[], str]] = {
    "switch": _with_prefix("infiniband_switch_"),
    "hca": _with_prefix("infiniband_hca_"),
    "node": _with_prefix("node_infiniband_"),
    "fabric": _own(health=False),
    "health": _own(health=True),
    "services": _of_services,
}
"""What writes the table of each name."""


def fill(page: str) -> str:
    """The page with its tables written anew."""
    return _BLOCK.sub(lambda match: f"{match[1]}{TABLES[match[2]]()}{match[3]}", page)


def main() -> None:
    """Writes the page in place."""
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
