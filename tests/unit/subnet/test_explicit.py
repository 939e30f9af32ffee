# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import PortRef
from fabrictwin.subnet.graph import NO_PORT
from fabrictwin.subnet.reachability import check_reachability
from unit.subnet.fabrics import routed, wired

LINE = wired([1, 1], [(0, 1)])
TABLES = {"sw0": {"h0": 1, "h1": 2}, "sw1": {"h0": 2, "h1": 1}}


def test_tables_are_taken_as_they_are() -> None:
    routes = routed(LINE, "explicit", tables=TABLES)
    lids = [routes.lid_of[PortRef(LINE.index_of[name], 1)] for name in ("h0", "h1")]
    assert routes.lft[:, lids].tolist() == [[1, 2], [2, 1]]
    assert check_reachability(routes).unreachable == 0


def test_what_is_missing_is_unreachable_and_not_guessed() -> None:
    routes = routed(LINE, "explicit", tables={"sw0": {"h1": 2}, "sw1": {"h1": 1}})
    lid = routes.lid_of[PortRef(LINE.index_of["h0"], 1)]
    assert (routes.lft[:, lid] == NO_PORT).all()
    reached = check_reachability(routes)
    assert reached.unreachable == 1
    assert [(pair.source, pair.destination) for pair in reached.examples if pair.source != "sw0"] == [
        ("h1/1", "h0/1")
    ]


def test_name_of_an_hca_means_all_its_lids() -> None:
    routes = routed(LINE, "explicit", lmc=1, tables=TABLES)
    base = routes.lid_of[PortRef(LINE.index_of["h1"], 1)]
    assert routes.lft[0, base : base + 2].tolist() == [2, 2]


def test_every_wrong_entry_is_named() -> None:
    with pytest.raises(InputError) as refused:
        routed(LINE, "explicit", tables={"sw7": {}, "sw0": {"h9": 1, "h1": 77, "h0/1": 1, "sw1": 2}})
    fields = [problem.field for problem in refused.value.problems]
    assert fields == ["routing.tables.sw7", "routing.tables.sw0.h9", "routing.tables.sw0.h1"]
    assert "expected a cabled port of sw0 (1, 2), got 77" in refused.value.problems[2].message


def test_no_tables_at_all_are_refused() -> None:
    with pytest.raises(InputError, match="needs 'tables'"):
        routed(LINE, "explicit")
