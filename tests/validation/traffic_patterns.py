# SPDX-License-Identifier: Apache-2.0
"""How many flows of a traffic pattern meet on a channel, from the forwarding tables alone."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabrictwin.subnet.routes import Routes
from fabrictwin.subnet.trees import PathTrees, path_trees


class Pattern:
    """Flows between endpoints, numbered as ``h0, h1 …`` of a generated fabric with one port each."""

    def __init__(self, routes: Routes) -> None:
        self._trees: PathTrees = path_trees(routes)
        self._row = np.argsort(self._trees.end)
        self._home = routes.graph.end_switch
        self.endpoints = len(self._row)

    def _steps(
        self, sources: np.ndarray, destinations: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(flows, channels) hop by hop, for the flows that still are under way."""
        rows = self._row[destinations]
        at = self._home[sources].copy()
        flows = np.arange(len(sources))
        while len(flows):
            channels = self._trees.onward[rows[flows], at[flows]]
            flows, channels = flows[channels >= 0], channels[channels >= 0]
            yield flows, channels
            at[flows] = self._trees.peer[channels]

    def most_on_path(self, sources: np.ndarray, destinations: np.ndarray) -> np.ndarray:
        """For each flow, the most flows on any channel of its path; 1 where it shares none.

        Args:
            sources: [flows] sending endpoints.
            destinations: [flows] receiving endpoints.
        """
        load = np.zeros(len(self._trees.peer), np.int64)
        steps = list(self._steps(sources, destinations))
        for _, channels in steps:
            np.add.at(load, channels, 1)
        most = np.ones(len(sources), np.int64)
        for flows, channels in steps:
            most[flows] = np.maximum(most[flows], load[channels])
        return most


def effective_bisection_bandwidth(routes: Routes, samples: int, seed: int) -> tuple[float, float]:
    """Mean share of a link's rate that the pairs of a random bisection get, and its standard error.

    The endpoints are split at random into two halves and paired across; each pair sends both ways. A flow
    gets one over the most flows on any channel of its path.

    Args:
        routes: Forwarding tables of a fabric of one-port HCAs.
        samples: Bisections to draw.
        seed: Seed of the draw.
    """
    pattern = Pattern(routes)
    generator = np.random.default_rng(seed)
    shares = []
    for _ in range(samples):
        one, other = np.split(generator.permutation(pattern.endpoints), 2)
        most = pattern.most_on_path(np.concatenate([one, other]), np.concatenate([other, one]))
        shares.append(float((1 / most).mean()))
    return float(np.mean(shares)), float(np.std(shares) / np.sqrt(samples))
