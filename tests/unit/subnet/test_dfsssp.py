# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import PortRef
from unit.subnet.fabrics import generated, k_ary_tree, random_fabric, routed


def test_tree_needs_one_vl() -> None:
    routes = routed(k_ary_tree(8), "dfsssp", data_vls=1)
    assert routes.vls == 1
    assert routes.path_sl is not None
    assert not routes.path_sl.any()


def test_too_few_vls_are_refused_with_the_number_needed() -> None:
    ring = generated("ring", switches=6, hosts_per_switch=2)
    with pytest.raises(InputError, match="needs 2 data VLs here, but 1 are available"):
        routed(ring, "dfsssp", data_vls=1)


def test_service_levels_of_all_paths_are_below_the_number_of_vls() -> None:
    routes = routed(random_fabric(10, switches=14), "dfsssp")
    assert routes.path_sl is not None
    assert int(routes.path_sl.max()) == routes.vls - 1 == 1


def test_service_level_is_asked_by_port_and_lid() -> None:
    ring = generated("ring", switches=6, hosts_per_switch=2)
    routes = routed(ring, "dfsssp")
    ports = [PortRef(host, 1) for host in ring.hcas]
    levels = {routes.service_level(a, routes.lid_of[b]) for a in ports for b in ports if a != b}
    assert levels == {0, 1}


def test_engines_without_layers_use_service_level_0() -> None:
    ring = generated("ring", switches=6, hosts_per_switch=2)
    routes = routed(ring, "up_down")
    a, b = (PortRef(host, 1) for host in ring.hcas[:2])
    assert routes.service_level(a, routes.lid_of[b]) == 0
