# SPDX-License-Identifier: Apache-2.0
"""Runs of drills as JUnit XML: a suite for each run, a case for everything that was judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as Xml


def junit_report(journals: Sequence[Mapping[str, Any]]) -> str:
    """The XML of some runs."""
    root = Xml.Element("testsuites", name="fabrictwin drills")
    for journal in journals:
        _add_suite(root, journal)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add_suite(root: Xml.Element, journal: Mapping[str, Any]) -> None:
    drill, run, findings = journal["drill"], journal["run"], journal["findings"]
    is_error = journal["verdict"] in ("INVALID", "ABORTED")
    failed = sum(not finding["ok"] for finding in findings)
    suite = Xml.SubElement(
        root,
        "testsuite",
        name=_plain(drill["id"]),
        tests=str(len(findings)),
        failures=str(0 if is_error else failed),
        errors=str(failed if is_error else 0),
        time=str(run["wall_s"]),
        timestamp=run["started"],
    )
    for finding in findings:
        case = Xml.SubElement(
            suite,
            "testcase",
            classname=_plain(f"drills.{drill['id']}.{finding['part']}"),
            name=_plain(finding["name"]),
        )
        if not finding["ok"]:
            kind = "error" if is_error else "failure"
            Xml.SubElement(case, kind, type=journal["verdict"], message=_plain(finding["text"]))
    output = Xml.SubElement(suite, "system-out")
    output.text = _plain(
        "\n".join(f"{_clock(row)} {row['source']}: {row['event']}" for row in journal["timeline"])
    )


def _clock(row: Mapping[str, Any]) -> str:
    return str(row["wall"]) if "wall" in row else f"{row['fabric_ns'] / 1e6:.6f} ms"


def _plain(text: str) -> str:
    """Text without the characters that XML does not have."""
    return "".join(character for character in text if character.isprintable() or character in "\n\t")
