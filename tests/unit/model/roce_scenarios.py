# SPDX-License-Identifier: Apache-2.0
"""A sound RoCE scenario, to be added to."""

from __future__ import annotations

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.scenario import Scenario, parse_scenario

TREE = "{generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}"
_SOUND = """\
version: 1
name: example
duration: 1ms
fabric:
  technology: roce
  topology: TOPOLOGY
"""


def parse_roce(appended: str, topology: str = TREE) -> Scenario:
    """The sound scenario with more lines, which begin in line 7; they are still in ``fabric`` if indented."""
    return parse_scenario(_SOUND.replace("TOPOLOGY", topology) + appended, file="s.yaml")


def refused_roce(appended: str, topology: str = TREE) -> str:
    """Why the scenario with more lines is refused: one problem and no other."""
    with pytest.raises(InputError) as caught:
        parse_roce(appended, topology)
    (problem,) = caught.value.problems
    return str(problem)
