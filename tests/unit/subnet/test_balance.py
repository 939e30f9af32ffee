# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabrictwin.subnet.balance import measure_balance
from unit.subnet.fabrics import COMPUTING_ENGINES, k_ary_tree, random_fabric, routed, two_level_tree, wired
from unit.subnet.real_tables import real_routes
from unit.subnet.walks import count_paths


@pytest.mark.parametrize("seed", range(15))
def test_paths_equal_those_counted_one_by_one(seed: int) -> None:
    fabric = random_fabric(seed, switches=7)
    routes = routed(fabric, "up_down")
    balance = measure_balance(routes)
    expected = count_paths(routes, fabric)
    names = {fabric.port_name(port): paths for port, paths in expected.items()}
    found = {routes.graph.channel_name(c): int(n) for c, n in enumerate(balance.paths) if n}
    assert found == names


def test_numbers_are_those_of_the_live_channels() -> None:
    balance = measure_balance(routed(wired([1, 1], [(0, 1), (0, 1)]), "min_hop"))
    assert sorted(balance.paths.tolist()) == [0, 0, 1, 1]
    assert (balance.most, balance.mean, balance.spread, balance.unused) == (1, 0.5, 0.5, 2)


def test_fabric_without_cables_between_switches_has_no_load() -> None:
    balance = measure_balance(routed(wired([3], []), "min_hop"))
    assert (balance.most, balance.unused) == (0, 0)


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_two_level_tree_is_loaded_evenly(engine: str) -> None:
    balance = measure_balance(routed(two_level_tree(6, 4, 4), engine))
    assert balance.spread == 0
    assert balance.most == 4 * 20 / 4


@pytest.mark.parametrize("engine", COMPUTING_ENGINES)
def test_k_ary_tree_is_loaded_evenly_at_each_level(engine: str) -> None:
    routes = routed(k_ary_tree(8), engine)
    # 128 hosts: a leaf's 4 send to 124 others over 4 uplinks; a pod's 16 send to 112 over 16 uplinks.
    assert set(np.unique(measure_balance(routes).paths).tolist()) == {124, 112}


def test_real_tables_lie_evenly_on_the_cables(shared_data: Path) -> None:
    balance = measure_balance(real_routes(shared_data))
    assert balance.unused == 0
    assert balance.most < 1.3 * balance.mean
