# SPDX-License-Identifier: Apache-2.0
"""Max-min fair rates of queue pairs on the paths of a leaf-spine fabric."""

from __future__ import annotations

import numpy as np


def random_permutation(hosts: int, number: int) -> np.ndarray:
    """[hosts] destination of each host, none its own."""
    generator = np.random.default_rng(number)
    while True:
        targets = generator.permutation(hosts)
        if (targets != np.arange(hosts)).all():
            return targets


def max_min_rates(links: np.ndarray, link_count: int) -> np.ndarray:
    """[queue pairs] max-min fair rates, as shares of a link (progressive filling).

    Args:
        links: [queue pairs, hops] links that each takes, -1: none.
        link_count: Number of links, each of capacity 1.
    """
    rates = np.zeros(len(links))
    growing = np.ones(len(links), bool)
    left = np.ones(link_count)
    while growing.any():
        used = links[growing]
        count = np.bincount(used[used >= 0], minlength=link_count)
        share = np.where(count > 0, left / np.maximum(count, 1), np.inf)
        step = float(share.min())
        rates[growing] += step
        left -= step * count
        full = (left < 1e-9) & (count > 0)
        growing &= ~full[links].any(axis=1, where=links >= 0)
    return rates
