# SPDX-License-Identifier: Apache-2.0
"""Makes unique node names out of node descriptions, whatever order the file has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from fabrictwin.model.ibnetdiscover.survey import FoundNode

_LONGEST = 64
# A managed Mellanox or NVIDIA switch: `MF0;host:MQM9700/U1`; a director's chips end in `/L01/U1`, `/S02/U1`.
_MANAGED = re.compile(r"MF0;([^:;]+):[^/]+/(.+)\Z")
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_.]+")


def name_nodes(nodes: Sequence[FoundNode]) -> list[str]:
    """A unique name for each node, in order.

    A name is the description with all but letters, digits, ``_`` and ``.`` turned into ``-``. Nodes whose
    names would be equal, and those without a description, get their GUID behind it.
    """
    wanted = [_readable(node) for node in nodes]
    counts = Counter(wanted)
    taken = {name for name, count in counts.items() if count == 1}
    names: list[str] = []
    for node, name in zip(nodes, wanted, strict=True):
        if counts[name] > 1:
            while True:
                name = f"{name}-{node.guid:016x}"
                if name not in taken:
                    break
            taken.add(name)
        names.append(name)
    return names


def _readable(node: FoundNode) -> str:
    managed = _MANAGED.match(node.description)
    text = node.description
    if managed:
        host, chip = managed.groups()
        text = host if chip == "U1" else f"{host}-{chip}"
    name = _NOT_ALLOWED.sub("-", text)[:_LONGEST].strip("-.")
    return name or f"{node.kind}-{node.guid:016x}"
