# SPDX-License-Identifier: Apache-2.0
"""Small random scenarios, as hypothesis strategies; each is a text that the command line would take too."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

RATES = ("100Gb/s", "200Gb/s", "400Gb/s")
LENGTHS = ("1m", "2m", "3m", "10m", "25m")
DATA_VLS = (1, 1, 2, 4)
HEADERS_BYTES = 42

Draw = st.DrawFn
Mapping = dict[str, Any]


def _sometimes(draw: Draw, value: st.SearchStrategy[Any]) -> Any:
    """Every third time a value, else None."""
    return draw(st.one_of(st.none(), st.none(), value))


def _given(keys: Mapping) -> Mapping:
    return {key: value for key, value in keys.items() if value is not None}


@st.composite
def _times(draw: Draw, least_ns: int, most_ns: int) -> str:
    """Often a round number, for the sake of events at one time."""
    if draw(st.booleans()):
        middle_ns = (least_ns + most_ns) // 200 * 100 or least_ns
        return f"{draw(st.sampled_from([least_ns, middle_ns, most_ns]))}ns"
    return f"{draw(st.integers(least_ns * 1000, most_ns * 1000))}ps"


def _cable(draw: Draw, a: str, b: str) -> list[Any]:
    link = {"rate": draw(st.sampled_from(RATES)), "length": draw(st.sampled_from(LENGTHS))}
    return [a, b, link]


@st.composite
def _topologies(draw: Draw) -> Mapping:
    """A chain or a ring of one to three switches, with parallel cables, and two to six HCAs."""
    switches = draw(st.integers(1, 3))
    nodes: Mapping = {}
    links = []
    used = dict.fromkeys(range(switches), 0)

    def port(switch: int) -> str:
        used[switch] += 1
        return f"sw{switch}/{used[switch]}"

    for host in range(draw(st.integers(2, 6))):
        nodes[f"h{host}"] = "hca"
        links.append(_cable(draw, f"h{host}/1", port(host % switches)))
    pairs = [(switch, switch + 1) for switch in range(switches - 1)]
    if switches == 3 and draw(st.booleans()):
        pairs.append((0, 2))
    for first, second in pairs:
        for _ in range(draw(st.integers(1, 2))):
            links.append(_cable(draw, port(first), port(second)))
    nodes |= {f"sw{switch}": {"switch": used[switch]} for switch in range(switches)}
    return {"nodes": nodes, "links": links}


def _buffer(draw: Draw, mtu: int, block: int) -> str:
    packet = -(-(mtu + HEADERS_BYTES) // block) * block
    return f"{packet * draw(st.integers(1, 6)) + block * draw(st.integers(0, 3))}B"


def _switch_model(draw: Draw, mtu: int) -> Mapping:
    block = draw(st.sampled_from([64, 64, 128]))
    return {"base": "native_ib"} | _given(
        {
            "forwarding_latency": draw(_times(10, 300)),
            "forwarding": _sometimes(draw, st.just("store_and_forward")),
            "buffer_per_vl": _buffer(draw, mtu, block),
            "credit_block": f"{block}B",
            "fcp_min_gap": _sometimes(draw, _times(10, 1000)),
            "hoq_life": _sometimes(draw, _times(500, 5000)) or "infinite",
            "leaf_hoq_life": _sometimes(draw, _times(500, 5000)) or "infinite",
            "vl_stall_count": draw(st.integers(1, 7)),
            "fec_latency": _sometimes(draw, _times(10, 100)),
            "arbitration": _sometimes(draw, st.just("random")),
            "vl15_buffer": _sometimes(draw, st.sampled_from(["640B", "2KiB"])),
            "llr": draw(st.booleans()),
        }
    )


def _hca_model(draw: Draw, mtu: int) -> Mapping:
    block = draw(st.sampled_from([64, 64, 128]))
    return {"base": "native_hca"} | _given(
        {
            "tx_latency": draw(_times(0, 400)),
            "rx_latency": draw(_times(0, 400)),
            "drain_rate": _sometimes(draw, st.sampled_from(["20Gb/s", "100Gb/s"])),
            "ack_every": draw(st.integers(1, 8)),
            "ack_timeout": draw(_times(2000, 20_000)),
            "retry_count": draw(st.integers(0, 7)),
            "rnr_retry": draw(st.sampled_from([0, 1, 7])),
            "rnr_timer": draw(_times(500, 5000)),
            "receive_buffer": _buffer(draw, mtu, block),
            "credit_block": f"{block}B",
            "fec_latency": _sometimes(draw, _times(10, 100)),
            "llr": draw(st.booleans()),
        }
    )


def _qos(draw: Draw, data_vls: int) -> Mapping:
    entries = st.lists(
        st.tuples(st.integers(0, data_vls - 1), st.integers(1, 40)).map(list), min_size=1, max_size=6
    )
    vls = st.integers(0, data_vls - 1)
    return {"data_vls": data_vls} | _given(
        {
            "sl2vl": _sometimes(draw, st.lists(vls, min_size=16, max_size=16)),
            "vlarb_high": _sometimes(draw, entries),
            "vlarb_low": [[vl, draw(st.integers(1, 60))] for vl in range(data_vls)],
            "vl_high_limit": draw(st.sampled_from([0, 1, 2, 255])),
        }
    )


def _congestion_control(draw: Draw) -> Mapping:
    limit = draw(st.integers(1, 12))
    entry = st.fixed_dictionaries({"shift": st.integers(0, 3), "multiplier": st.integers(0, 30)})
    return {
        "algorithm": "ib_cca",
        "threshold": draw(st.integers(8, 15)),
        "packet_size": draw(st.sampled_from([0, 1, 5, 8])),
        "marking_rate": draw(st.integers(0, 3)),
        "victim_mask": draw(st.sampled_from(["none", "hca_facing", "all"])),
        "ccti_increase": draw(st.integers(1, 3)),
        "ccti_limit": limit,
        "ccti_min": draw(st.integers(0, min(2, limit))),
        "ccti_timer": draw(st.integers(1, 6)),
        "control": draw(st.sampled_from(["qp", "sl"])),
        "cct": draw(st.lists(entry, min_size=limit + 1, max_size=limit + 1)),
        "reaction_latency": draw(_times(100, 2000)),
    }


def _size(draw: Draw) -> str:
    """Of a message; small ones only where the next one waits for the last."""
    return f"{draw(st.one_of(st.sampled_from([1024, 4096, 8192, 16384]), st.integers(1, 8000)))}B"


def _job(draw: Draw, hosts: int) -> Mapping:
    first = draw(st.integers(0, hosts - 1))
    second = (first + draw(st.integers(1, hosts - 1))) % hosts
    paced = _given({"rate": _sometimes(draw, st.sampled_from(["50Gb/s", "300Gb/s"]))})
    messages = {
        "message": f"{draw(st.integers(500, 8000))}B" if paced else _size(draw),
        "count": draw(st.sampled_from([1, 3, 10, "forever"])),
    }
    if paced:
        paced |= _given({"arrival": _sometimes(draw, st.just("poisson"))})
    kinds: list[Mapping] = [
        {"kind": "stream", "src": f"h{first}", "dst": f"h{second}"} | messages | paced,
        {"kind": "incast", "senders": "all", "receiver": f"h{first}"} | messages | paced,
        {"kind": "permutation", "pattern": "random"} | messages | paced,
        {"kind": "permutation", "pattern": "shift", "shift": (second - first) % hosts} | messages | paced,
        {
            "kind": "uniform_random",
            "load": draw(st.sampled_from([0.3, 0.9])),
            "message": f"{draw(st.integers(500, 8000))}B",
            "arrival": draw(st.sampled_from(["fixed", "poisson"])),
        },
        {
            "kind": "all_reduce",
            "algorithm": draw(st.sampled_from(["ring", "tree"])),
            "ranks": "all",
            "bytes": _size(draw),
            "iterations": draw(st.integers(1, 3)),
        },
        {"kind": "all_to_all", "ranks": "all", "bytes": _size(draw)},
    ]
    return draw(st.sampled_from(kinds)) | _given(
        {
            "sl": draw(st.integers(0, 3)),
            "qps": draw(st.sampled_from([1, 1, 2, 3])),
            "start": _sometimes(draw, _times(0, 3000)),
            "stop": _sometimes(draw, _times(4000, 15_000)),
        }
    )


def _fault(draw: Draw, links: list[Any], hosts: int, index: int) -> Mapping:
    link = draw(st.sampled_from(links))[:2]
    host = f"h{draw(st.integers(0, hosts - 1))}"
    kind = draw(
        st.sampled_from(
            ["link_down", "link_degraded", "symbol_errors", "slow_receiver", "receiver_not_ready"]
        )
    )
    more: Mapping = {
        "link_down": {"link": link},
        "link_degraded": {"link": link, "rate": draw(st.sampled_from(["30Gb/s", "70Gb/s"]))},
        "symbol_errors": {"link": link, "probability": draw(st.sampled_from([0.02, 0.2, 0.7]))},
        "slow_receiver": {"node": host, "rate": draw(st.sampled_from(["0Gb/s", "10Gb/s"]))},
        "receiver_not_ready": {"node": host},
    }[kind]
    return {
        "kind": kind,
        "name": f"fault{index}",
        "at": draw(_times(0, 6000)),
        "duration": draw(_times(200, 9000)),
    } | more


@st.composite
def _faults(draw: Draw, links: list[Any], hosts: int) -> list[Mapping]:
    """Up to four, and not twice the same thing."""
    faults = [_fault(draw, links, hosts, index) for index in range(draw(st.integers(0, 4)))]
    targets = {(fault["kind"], str(fault.get("link", fault.get("node")))): fault for fault in faults}
    return list(targets.values())


def _subnet_manager(draw: Draw) -> Mapping:
    """One that is so fast that it routes around a cable while the scenario lasts."""
    return {
        "trap_latency": draw(_times(50, 1000)),
        "smp_rtt": draw(_times(5, 100)),
        "max_wire_smps": draw(st.sampled_from([4, 64])),
    }


@st.composite
def scenario_texts(draw: Draw) -> str:
    """A scenario of a few microseconds on a few nodes."""
    mtu = draw(st.sampled_from([256, 512, 1024]))
    topology = draw(_topologies())
    hosts = sum(kind == "hca" for kind in topology["nodes"].values())
    scenario: Mapping = {
        "version": 1,
        "name": "random",
        "seed": draw(st.integers(0, 2**62)),
        "duration": f"{draw(st.integers(8, 24))}us",
        "fabric": {
            "technology": "infiniband",
            "topology": topology,
            "switch_model": _switch_model(draw, mtu),
            "hca_model": _hca_model(draw, mtu),
            "mtu": mtu,
        },
        "routing": {
            "engine": draw(st.sampled_from(["min_hop", "up_down", "dfsssp"])),
            "lmc": draw(st.sampled_from([0, 0, 1, 2])),
        },
        "qos": _qos(draw, draw(st.sampled_from(DATA_VLS))),
        "workload": [_job(draw, hosts) for _ in range(draw(st.integers(1, 3)))],
        "faults": draw(_faults(topology["links"], hosts)),
    }
    if draw(st.booleans()):
        scenario["congestion_control"] = _congestion_control(draw)
    if draw(st.booleans()):
        scenario["subnet_manager"] = _subnet_manager(draw)
    return json.dumps(scenario)
