# SPDX-License-Identifier: Apache-2.0
"""Faults that meet on one port or cable: a cable is up again when nothing holds it down any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from fabrictwin.model.action import Action, ActionKind
from fabrictwin.model.fabric import PortRef
from fabrictwin.model.fault.kind import Change


def schedule(changes: Sequence[tuple[int, Change]]) -> tuple[Action, ...]:
    """The changes and their ends as actions in order of time, without those that would undo another change.

    Args:
        changes: Each with the index of its fault.
    """
    starts = {(change.start_ps, _what(change)) for _, change in changes}
    actions = []
    for fault, change in changes:
        actions.append(Action(change.start_ps, change.kind, change.target, change.value, fault))
        if change.end_ps is None:
            continue
        is_followed = (change.end_ps, _what(change)) in starts
        if change.kind is ActionKind.LINK_STATE or not is_followed:
            actions.append(Action(change.end_ps, change.kind, change.target, change.restored, fault))
    return tuple(_merge_link_states(sorted(actions)))


def _what(change: Change) -> tuple[ActionKind, PortRef, int]:
    """What is changed; several priorities of a port differ in what is restored."""
    return change.kind, change.target, change.restored


def _merge_link_states(actions: Iterable[Action]) -> Iterable[Action]:
    """Leaves out every LINK_STATE that changes nothing because another fault holds the cable down."""
    holders: dict[PortRef, int] = {}
    for action in actions:
        if action.kind is ActionKind.LINK_STATE:
            before = holders.get(action.target, 0)
            after = before - 1 if action.value else before + 1
            holders[action.target] = after
            if min(before, after) > 0:
                continue
        yield action


def find_overlaps(changes: Sequence[tuple[int, Change]]) -> list[tuple[int, int]]:
    """Pairs of faults (later entry, earlier entry) that change the same thing of a port at the same time.

    Two faults may hold one cable down; any other change would be undone by the end of the first.

    Args:
        changes: Each with the index of its fault.
    """
    by_target: dict[tuple[ActionKind, PortRef, int], list[tuple[int, Change]]] = {}
    for fault, change in changes:
        if change.kind is not ActionKind.LINK_STATE:
            by_target.setdefault(_what(change), []).append((fault, change))
    pairs = []
    for same in by_target.values():
        same.sort(key=lambda item: (item[1].start_ps, item[0]))
        for (earlier, first), (later, second) in pairwise(same):
            if first.end_ps is None or second.start_ps < first.end_ps:
                pairs.append((max(earlier, later), min(earlier, later)))
    return pairs
