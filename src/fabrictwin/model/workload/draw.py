# SPDX-License-Identifier: Apache-2.0
"""Random choices that are a function of (seed, name, counter): the same everywhere, in any order."""

from __future__ import annotations

import hashlib


def draw_below(bound: int, seed: int, name: str, counter: int) -> int:
    """A number from 0 to ``bound - 1``; uniform up to one part in 2**64 / bound."""
    word = f"{seed}/{name}/{counter}".encode()
    return int.from_bytes(hashlib.blake2b(word, digest_size=16).digest(), "little") % bound


def draw_derangement(size: int, seed: int, name: str) -> list[int]:
    """A permutation of ``range(size)`` without a fixed point, each equally likely.

    Args:
        size: At least 2.
        seed: Seed of the scenario.
        name: What it is for; another name gives another permutation.
    """
    counter = 0
    while True:
        order = list(range(size))
        for last in range(size - 1, 0, -1):
            other = draw_below(last + 1, seed, name, counter)
            counter += 1
            order[last], order[other] = order[other], order[last]
        if all(place != value for place, value in enumerate(order)):
            return order
