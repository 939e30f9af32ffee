# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from fabrictwin.cli.report.page import report_page
from unit.cli.example_run import ExampleSamples, example_flow_jobs, example_latencies_ps

QUESTIONS = (
    "How much data arrived",
    "Which flows got the least",
    "How long did messages take",
    "Which links carried the most",
    "Where did packets queue",
    "Where did ports wait for credits",
    "On which links did the load change",
    "Which flows were hit",
)


class _Fetches(HTMLParser):
    """Collects whatever a browser would fetch for the page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if name in ("src", "href") and value]


def _page(result: dict[str, Any], samples: ExampleSamples) -> str:
    return report_page(result, samples, example_latencies_ps(), example_flow_jobs())


def test_page_answers_every_question(result: dict[str, Any], samples: ExampleSamples) -> None:
    page = _page(result, samples)
    assert [question for question in QUESTIONS if question not in page] == []
    assert page.count('class="plotly-graph-div"') == len(QUESTIONS)
    assert "No flow lost half" not in page


def test_page_fetches_nothing(result: dict[str, Any], samples: ExampleSamples) -> None:
    page = _page(result, samples)
    parser = _Fetches()
    parser.feed(page)
    assert parser.found == []
    assert re.findall(r"@import|url\(\s*['\"]?http", page.split("<script>")[0]) == []


def test_page_names_events_deadlock_and_digest(result: dict[str, Any], samples: ExampleSamples) -> None:
    result["deadlock"] = {"cycle": ["sw0/2 vl0"]}
    page = _page(result, samples)
    assert "link_down leaf0/6 peer=spine1/1" in page
    assert "<code>sw0/2 vl0</code>" in page
    assert result["digest"] in page


def test_page_escapes_what_came_from_the_scenario(result: dict[str, Any], samples: ExampleSamples) -> None:
    result["scenario"]["name"] = "<script>alert(1)</script>"
    result["flows"][0]["name"] = "</script><script>alert(2)</script>"
    page = _page(result, samples)
    assert "<script>alert" not in page


def test_page_of_an_uncongested_run_says_so(result: dict[str, Any], samples: ExampleSamples) -> None:
    nothing = np.zeros_like(samples.queued_bytes)
    quiet = replace(samples, queued_bytes=nothing, xmit_wait_ps=nothing)
    page = _page(result, quiet)
    assert "No port ever waited for credits." in page
    assert "Nothing waited for an output port" in page


@pytest.mark.parametrize("empty", ["jobs", "events"])
def test_page_without_jobs_or_events_is_still_complete(
    result: dict[str, Any], samples: ExampleSamples, empty: str
) -> None:
    result[empty] = []
    assert _page(result, samples).endswith("</html>\n")


def test_page_of_a_run_without_workload_is_still_complete(
    result: dict[str, Any], samples: ExampleSamples
) -> None:
    silent = replace(samples, delivered_bytes=samples.delivered_bytes[:, :0])
    page = report_page(result | {"flows": [], "jobs": []}, silent, np.zeros(0, np.int64), [])
    assert page.endswith("</html>\n")
    assert "How long did messages take" not in page


def test_page_of_roce_speaks_of_pauses(result: dict[str, Any], samples: ExampleSamples) -> None:
    result["fabric"]["technology"] = "roce"
    result["totals"]["ecn_marked"] = 5
    page = _page(result, samples)
    assert "Which ports were paused" in page
    assert "wait for credits" not in page
