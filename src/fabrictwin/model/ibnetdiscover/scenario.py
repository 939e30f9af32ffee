# SPDX-License-Identifier: Apache-2.0
"""Writes a scenario around an imported fabric, ready to run and to be edited."""

from __future__ import annotations

import json
import re

from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.ibnetdiscover.result import ImportResult
from fabrictwin.units import show_rate

_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_.-]+")

# (fastest link, switch model, HCA model): the parts of the generation of a fabric's fastest link.
_GENERATIONS = (
    (32_000_000_000, "infiniscale4", "native_hca"),
    (100_000_000_000, "native_ib", "native_hca"),
    (200_000_000_000, "quantum_hdr", "connectx6"),
    (400_000_000_000, "quantum2", "connectx7"),
    (800_000_000_000, "quantum_x800", "connectx8"),
)


def scenario_yaml(result: ImportResult, file: str, name: str) -> str:
    """A scenario of version 1 that refers to the imported file.

    Args:
        result: What the file holds.
        file: The file's path from the scenario's folder.
        name: The scenario's name; what a name may not hold is replaced.

    Returns:
        YAML text: every HCA sends to another one, at the models of the fabric's own generation.
    """
    switch_model, hca_model = models_of(result)
    switches, hcas = result.count(NodeKind.SWITCH), result.count(NodeKind.HCA)
    rates = ", ".join(f"{count} at {show_rate(rate_bps)}" for rate_bps, count in count_rates(result))
    return f"""\
# {switches} switches, {hcas} HCAs, {len(result.links)} links ({rates})
version: 1
name: {_NOT_IN_NAME.sub("-", name).strip("-.") or "imported"}
seed: 1
duration: 200us
fabric:
  technology: infiniband
  topology: {{import: ibnetdiscover, file: {json.dumps(file, ensure_ascii=False)}}}
  switch_model: {switch_model}  # by the fastest link; the file does not tell models
  hca_model: {hca_model}
  link: {{length: 10m}}  # the file does not tell lengths; rates are the file's
  mtu: 4096
routing: {{engine: up_down}}
workload:
  - {{kind: permutation, pattern: random, message: 64KiB, count: 4}}
"""


def count_rates(result: ImportResult) -> list[tuple[int, int]]:
    """(rate in bit/s, number of links), fastest first."""
    counts: dict[int, int] = {}
    for link in result.links:
        counts[link.rate_bps] = counts.get(link.rate_bps, 0) + 1
    return sorted(counts.items(), reverse=True)


def models_of(result: ImportResult) -> tuple[str, str]:
    """(switch model, HCA model) of the generation of the fastest link; the file tells no models."""
    fastest_bps = max((link.rate_bps for link in result.links), default=0)
    for rate_bps, switch_model, hca_model in _GENERATIONS:
        if fastest_bps <= rate_bps:
            return switch_model, hca_model
    return "native_ib", "native_hca"
