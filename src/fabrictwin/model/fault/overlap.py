# SPDX-License-Identifier: Apache-2.0
"""Faults that meet on one port or cable: a cable is up again when nothing holds it down any more."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fabrictwin.model.action import Action, ActionKind
from fabrictwin.model.fabric import PortRef
from fabrictwin.model.fault.kind import Change


def merge_link_states(actions: Sequence[Action]) -> list[Action]:
    """Leaves out every LINK_STATE that changes nothing because another fault holds the cable down.

    Args:
        actions: Sorted by time.

    Returns:
        The others, in their order.
    """
    holders: dict[PortRef, int] = {}
    kept = []
    for action in actions:
        if action.kind is ActionKind.LINK_STATE:
            before = holders.get(action.target, 0)
            after = before - 1 if action.value else before + 1
            holders[action.target] = after
            if min(before, after) > 0:
                continue
        kept.append(action)
    return kept


def find_overlaps(changes: Sequence[tuple[int, Change]]) -> list[tuple[int, int]]:
    """Pairs of faults (later one, earlier one) that change the same thing of the same port at the same time.

    Two faults may hold one cable down; any other change would be undone by the end of the first.

    Args:
        changes: Each with the index of its fault.
    """
    by_target: dict[tuple[ActionKind, PortRef], list[tuple[int, Change]]] = {}
    for fault, change in changes:
        if change.kind is not ActionKind.LINK_STATE:
            by_target.setdefault((change.kind, change.target), []).append((fault, change))
    pairs = []
    for same in by_target.values():
        same.sort(key=lambda item: (item[1].start_ps, item[0]))
        for (earlier, first), (later, second) in pairwise(same):
            if first.end_ps is None or second.start_ps < first.end_ps:
                pairs.append((max(earlier, later), min(earlier, later)))
    return pairs
