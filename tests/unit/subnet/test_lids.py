# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import PortRef
from fabrictwin.subnet.graph import build_graph
from fabrictwin.subnet.lids import LAST_UNICAST_LID, Lids, assign_lids
from unit.subnet.fabrics import k_ary_tree, wired


def _every_lid(lids: Lids) -> list[int]:
    per_end = 1 << lids.lmc
    return [*lids.switch_lid.tolist(), *(base + i for base in lids.end_lid.tolist() for i in range(per_end))]


def test_hosts_come_first_in_node_order_then_switches() -> None:
    lids = assign_lids(build_graph(wired([2, 1], [(0, 1)])))
    assert lids.end_lid.tolist() == [1, 2, 3]
    assert lids.switch_lid.tolist() == [4, 5]


@pytest.mark.parametrize("lmc", range(8))
def test_lids_are_unique_aligned_and_in_range(lmc: int) -> None:
    lids = assign_lids(build_graph(k_ary_tree(4)), lmc)
    every = _every_lid(lids)
    assert len(set(every)) == len(every)
    assert min(every) >= 1
    assert max(every) <= LAST_UNICAST_LID
    assert (lids.end_lid % (1 << lmc) == 0).all()


def test_targets_hold_every_lid_once_grouped_by_switch() -> None:
    lids = assign_lids(build_graph(k_ary_tree(4)), 2)
    targets = lids.targets
    assert sorted(targets.lid.tolist()) == sorted(_every_lid(lids))
    for switch in range(lids.graph.switch_count):
        own = slice(targets.first[switch], targets.first[switch + 1])
        assert targets.lid[targets.first[switch]] == lids.switch_lid[switch]
        assert (lids.graph.end_switch[targets.end[own][1:]] == switch).all()


@pytest.mark.parametrize("lmc", [-1, 8])
def test_lmc_out_of_range_is_refused_with_the_range(lmc: int) -> None:
    with pytest.raises(InputError, match="LMC from 0 to 7"):
        assign_lids(build_graph(wired([1], [])), lmc)


def test_lids_running_out_is_refused_with_the_limit() -> None:
    with pytest.raises(InputError, match="0xBFFF"):
        assign_lids(build_graph(wired([130] * 3, [(0, 1), (1, 2)])), 7)


def test_as_many_hosts_as_fit_get_lids() -> None:
    # 0xC000 / 128 = 384 blocks of 128 LIDs; the first holds LID 0, and there the switches find room.
    lids = assign_lids(build_graph(wired([128, 128, 127], [(0, 1), (1, 2)])), 7)
    assert lids.end_lid.max() == 0xBF80
    assert lids.switch_lid.tolist() == [1, 2, 3]


def test_given_lids_are_kept_and_the_others_find_room() -> None:
    graph = build_graph(wired([2, 1], [(0, 1)]))
    lids = assign_lids(graph, given={PortRef(2, 1): 7, PortRef(0, 0): 1})
    assert lids.end_lid.tolist() == [7, 2, 3]
    assert lids.switch_lid.tolist() == [1, 4]


def test_wrong_given_lids_are_all_named() -> None:
    graph = build_graph(wired([3, 1], [(0, 1)]))
    given = {PortRef(2, 1): 4, PortRef(3, 1): 4, PortRef(4, 1): 0xC000, PortRef(5, 1): 3}
    with pytest.raises(InputError) as refused:
        assign_lids(graph, 1, given)
    messages = [problem.message for problem in refused.value.problems]
    assert len(messages) == 3
    assert "h1/1: LID 4 is already" in messages[0]
    assert "h2/1: expected a unicast LID from 0x0001 to 0xBFFF, got 49152" in messages[1]
    assert "h3/1: LID 3 is not a multiple of 2" in messages[2]


def test_tables_are_whole_blocks() -> None:
    lids = assign_lids(build_graph(k_ary_tree(8)))
    assert lids.top == 208
    assert lids.width == 256
    assert np.issubdtype(lids.targets.lid.dtype, np.integer)
