# SPDX-License-Identifier: Apache-2.0
"""Turns what the ports say of their neighbours into cables, and says where the two sides disagree."""

from __future__ import annotations

from typing import NamedTuple

from fabrictwin.model.ibnetdiscover.survey import Claim, End, Survey


class Cable(NamedTuple):
    """A cable between two ports.

    Attributes:
        a: The end that the file names first.
        b: The other end.
        rate_bps: Effective rate of each direction.
        line: Where it stands.
    """

    a: End
    b: End
    rate_bps: int
    line: int


def pair_claims(survey: Survey) -> list[Cable]:
    """The cables, in the order in which the file first names them.

    Args:
        survey: Nodes and claims; takes a warning for every cable that is left out or taken from one side.
    """
    known = {end: claim for end, claim in survey.claims.items() if _has_peer(claim, survey)}
    cables: list[Cable] = []
    used: set[End] = set()
    one_sided: list[tuple[End, Claim]] = []
    for end, claim in known.items():
        if end in used:
            continue
        answer = known.get(claim.peer)
        if claim.peer[0] == end[0]:
            survey.warn(f"a loop-back cable is left out: {_show_cable(end, claim, survey)}", claim.line)
            used |= {end, claim.peer}
        elif answer is None or answer.peer != end:
            one_sided.append((end, claim))
        else:
            used |= {end, claim.peer}
            _add_cable(end, claim, answer, cables, survey)
    for end, claim in one_sided:
        names = _show_cable(end, claim, survey)
        if end in used or claim.peer in used or claim.peer in known:
            survey.warn(f"the cable {names} is left out: the other side names another neighbour", claim.line)
            continue
        survey.warn(f"the cable {names} is named by one side only; taken as it stands", claim.line)
        used |= {end, claim.peer}
        _add_cable(end, claim, claim, cables, survey)
    return sorted(cables, key=lambda cable: cable.line)


def _has_peer(claim: Claim, survey: Survey) -> bool:
    guid, port = claim.peer
    node = survey.nodes.get(guid)
    if node is None:
        survey.complain(f"neighbour {guid:#018x} is not described in the file: is it truncated?", claim.line)
        return False
    if port > node.ports:
        survey.complain(f"neighbour {node.description!r} has ports 1 to {node.ports}, not {port}", claim.line)
        return False
    return True


def _add_cable(end: End, claim: Claim, answer: Claim, cables: list[Cable], survey: Survey) -> None:
    rates = [rate for rate in (claim.rate_bps, answer.rate_bps) if rate is not None]
    if not rates:
        names = _show_cable(end, claim, survey)
        survey.warn(f"the cable {names} is left out: it is down, or its speed is unknown", claim.line)
        return
    if min(rates) < max(rates):
        names = _show_cable(end, claim, survey)
        survey.warn(f"the two sides of {names} give different speeds; the lower is taken", claim.line)
    cables.append(Cable(end, claim.peer, min(rates), claim.line))


def _show_cable(end: End, claim: Claim, survey: Survey) -> str:
    return f"{_show(end, survey)} - {_show(claim.peer, survey)}"


def _show(end: End, survey: Survey) -> str:
    node = survey.nodes[end[0]]
    return f"{node.description or hex(node.guid)}[{end[1]}]"
