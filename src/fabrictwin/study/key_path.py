# SPDX-License-Identifier: Apache-2.0
"""A key of a scenario, as a sweep writes it: ``fabric.switch_model.alpha``, ``workload[burst].message``."""

from __future__ import annotations

import re
from typing import Any

from fabrictwin.errors import nearest
from fabrictwin.model.place import split_path
from fabrictwin.model.yaml_loader import FieldPath

_STEP = re.compile(r"([A-Za-z0-9_-]+)((?:\[[^\[\]]+\])?)")


def find_key(text: str, value: Any) -> FieldPath:
    """Where a key stands, or would stand, in a scenario.

    Args:
        text: The key; an entry of a list is chosen by its name or by its index from 0.
        value: The scenario's values.

    Raises:
        LookupError: It is no such text, or an entry of a list is not there.
    """
    path: FieldPath = ()
    for part in split_path(text):
        match = _STEP.fullmatch(part)
        if match is None:
            raise LookupError(
                "expected a key of the scenario such as fabric.switch_model.alpha or workload[0].message"
            )
        path = (*path, match[1])
        value = value.get(match[1]) if isinstance(value, dict) else None
        if match[2]:
            index = _find_entry(match[2][1:-1], value, match[1])
            path = (*path, index)
            value = value[index]
    return path


def _find_entry(selector: str, value: Any, name: str) -> int:
    if not isinstance(value, list):
        raise LookupError(f"the scenario has no list {name!r}")
    if selector.isdecimal():
        if int(selector) < len(value):
            return int(selector)
        raise LookupError(f"{name!r} has {len(value)} entries, counted from 0; got {selector}")
    names = [_name(entry, index) for index, entry in enumerate(value)]
    if selector not in names:
        raise LookupError(f"{name!r} has no entry {selector!r}{nearest(selector, names)}")
    return names.index(selector)


def _name(entry: Any, index: int) -> str:
    """The name of an entry; without one it is the kind and the index."""
    if not isinstance(entry, dict):
        return str(index)
    return str(entry.get("name") or f"{entry.get('kind')}{index}")
