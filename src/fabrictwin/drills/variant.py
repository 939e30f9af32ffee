# SPDX-License-Identifier: Apache-2.0
"""A scenario with some values changed, and a drill as a negative of it makes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fabrictwin.drills.drill import Drill, Negative
from fabrictwin.errors import InputError, nearest
from fabrictwin.model.scenario import parse_scenario
from fabrictwin.model.yaml_loader import LARGEST_FILE_BYTES, read_document, read_text


def scenario_text(drill: Drill) -> str:
    """The text of a drill's scenario: its file, or JSON (which is YAML) where something is changed."""
    text = read_text(drill.scenario_file, largest_bytes=LARGEST_FILE_BYTES)
    return change_text(text, str(drill.scenario_file), drill.changes) if drill.changes else text


def change_text(text: str, file: str, changes: Mapping[str, Any]) -> str:
    """A scenario with some values changed.

    Args:
        text: The YAML text.
        file: Its name, for messages.
        changes: New values by dotted path; a path may end in a key that is not there yet.

    Raises:
        InputError: A path leads nowhere.
    """
    root = read_document(text, file).value
    for path, value in changes.items():
        _set(root, path, value, file)
    return json.dumps(root, indent=1)


def _set(root: Any, path: str, value: Any, file: str) -> None:
    *above, last = path.split(".")
    place = root
    for key in above:
        if isinstance(place, list) and key.isdecimal() and int(key) < len(place):
            place = place[int(key)]
        elif isinstance(place, dict):
            place = place.setdefault(key, {})
        else:
            raise InputError.of(f"the scenario has nothing at {path!r}", file=file)
    if isinstance(place, list) and last.isdecimal() and int(last) < len(place):
        place[int(last)] = value
    elif isinstance(place, dict):
        place[last] = value
    else:
        raise InputError.of(f"the scenario has nothing at {path!r}", file=file)


def make_negative(drill: Drill, name: str) -> Drill:
    """A drill as one of its negatives makes it.

    Raises:
        InputError: It has no such negative.
    """
    found = {each.name: each for each in drill.negatives}
    if name not in found:
        raise InputError.of(f"drill {drill.name!r} has no negative {name!r}{nearest(name, found)}")
    return apply_negative(drill, found[name])


def apply_negative(drill: Drill, negative: Negative) -> Drill:
    """A drill with the changes of a negative.

    Raises:
        InputError: The scenario is none with them.
    """
    changed = replace(
        drill,
        changes={**drill.changes, **negative.changes},
        method=tuple(each for each in drill.method if each.name not in negative.without),
        rollbacks=tuple(each for each in drill.rollbacks if each.name not in negative.without),
    )
    if not negative.changes:
        return changed
    file = f"{drill.scenario_file} as {negative.name!r} changes it"
    scenario = parse_scenario(scenario_text(changed), file=file, base=drill.scenario_file.parent)
    return replace(changed, scenario=scenario)
