# SPDX-License-Identifier: Apache-2.0
"""Benchmark cases of routing: CPU time of whole tables, of the credit-loop check, and of rerouting."""

from __future__ import annotations

import time
from functools import cache, partial

from fabrictwin.cli.bench_case import REPEATS, Case, Measurement, Peer
from fabrictwin.model.fabric import Fabric, Link, NodeKind
from fabrictwin.model.routing_names import RoutingSpec
from fabrictwin.model.topology import TOPOLOGIES, Equipment, build_topology
from fabrictwin.subnet.credit_loops import check_credit_loops
from fabrictwin.subnet.reroute import reroute
from fabrictwin.subnet.routes import Routes, changed_blocks
from fabrictwin.subnet.routing import route_fabric

CPU_SECONDS = "CPU s"
SHARE = "share of a full routing"
_WARM_UP_K = 4
_OPENSM = "OpenSM 3.3.23 on ibsim, measured by this project, December 2026, on the same kind of machine"


@cache
def _tree(k: int) -> Fabric:
    """A k-ary fat tree of generic switches."""
    row = TOPOLOGIES["fat_tree"]
    parameters = row.parameters.model_validate({"levels": 3, "k": k})
    return build_topology("fat_tree", parameters, Equipment.of("native_ib", "native_hca"))


def _route(k: int, engine: str) -> tuple[Routes, float]:
    """Routes of a tree, and the CPU seconds from the fabric to the tables."""
    fabric = _tree(k)
    started_s = time.process_time()
    routes = route_fabric(fabric, RoutingSpec(engine))
    return routes, time.process_time() - started_s


def _measure_engine(engine: str, k: int) -> Measurement:
    _route(_WARM_UP_K, engine)
    runs = [_route(k, engine) for _ in range(REPEATS)]
    return Measurement([cpu_s for _, cpu_s in runs], _size(runs[0][0]))


def _measure_check(k: int) -> Measurement:
    check_credit_loops(_route(_WARM_UP_K, "min_hop")[0])
    routes, _ = _route(k, "min_hop")
    seconds = []
    for _ in range(REPEATS):
        started_s = time.process_time()
        loops = check_credit_loops(routes)
        seconds.append(time.process_time() - started_s)
    return Measurement(seconds, {**_size(routes), "dependencies": loops.dependencies})


def _measure_reroute(engine: str, k: int) -> Measurement:
    """One cable between a leaf and a spine goes down; the first use of each compiled step is not counted."""
    small, _ = _route(_WARM_UP_K, engine)
    reroute(small, [_first_uplink(small)])
    shares: list[float] = []
    blocks = 0
    for _ in range(REPEATS):
        plan, full_s = _route(k, engine)
        started_s = time.process_time()
        routes = reroute(plan, [_first_uplink(plan)])
        blocks = len(changed_blocks(plan.lft, routes.lft))
        shares.append((time.process_time() - started_s) / full_s)
    return Measurement(shares, {**_size(plan), "lft_blocks_changed": blocks, "engine": routes.engine})


def _first_uplink(routes: Routes) -> Link:
    fabric = routes.graph.fabric
    return next(
        link
        for link in fabric.links
        if NodeKind.HCA not in (fabric.nodes[link.a.node].kind, fabric.nodes[link.b.node].kind)
    )


def _size(routes: Routes) -> dict[str, int]:
    return {"hosts": len(routes.graph.end_node), "switches": routes.graph.switch_count, "vls": routes.vls}


def _full(engine: str, k: int, goal_s: float, opensm: str, opensm_s: float) -> Case:
    name = f"route-{engine}-{k**3 // 4}"
    peer = Peer(f"OpenSM {opensm}", opensm_s, _OPENSM)
    return Case(name, CPU_SECONDS, goal_s, False, partial(_measure_engine, engine, k), (peer,))


def _incremental(engine: str) -> Case:
    name = f"reroute-{engine}-5488"
    # OpenSM computes everything again, whatever has changed.
    peer = Peer("OpenSM, any engine", 1.0, _OPENSM)
    return Case(name, SHARE, 0.1, False, partial(_measure_reroute, engine, 28), (peer,))


def routing_cases() -> tuple[Case, ...]:
    """The cases, by size."""
    return (
        _full("ftree", 28, 0.5, "ftree", 3.0),
        _full("min_hop", 28, 1.0, "minhop", 4.5),
        _full("up_down", 28, 1.5, "updn", 5.4),
        _full("dfsssp", 28, 10.0, "dfsssp", 79.8),
        Case("credit-loops-5488", CPU_SECONDS, 3.0, False, partial(_measure_check, 28)),
        _full("min_hop", 36, 4.0, "minhop", 27.4),
        *(_incremental(engine) for engine in ("ftree", "min_hop", "up_down", "dfsssp")),
    )
