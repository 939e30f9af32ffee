# SPDX-License-Identifier: Apache-2.0
"""A sound scenario, and every way to get one wrong with what has to be said about it."""

from __future__ import annotations

LINES = {
    "version": "version: 1",
    "name": "name: example",
    "duration": "duration: 1ms",
    "fabric": "fabric:",
    "topology": "  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}",
}
"""A sound scenario; leaf 0 has h0, h1 on ports 1, 2 and spine0, spine1 on ports 3, 4."""


def scenario_text(appended: str = "", **lines: str) -> str:
    """The sound scenario with some lines replaced and others appended: what is appended begins in line 6."""
    return "\n".join({**LINES, **lines}.values()) + "\n" + appended


WORK = "workload: [{{kind: stream, src: h0, dst: h1, message: 1KiB, {}}}]"
FAULT = "faults: [{{kind: link_down, link: [leaf0/3, spine0/1], at: 1us, {}}}]"

WRONG = {
    # the document and its top level
    "nothing": ("", "s.yaml:1: expected a scenario: a mapping with version, name, fabric, …; got nothing"),
    "a list": ("- 1", "s.yaml:1: expected a scenario"),
    "no version": (scenario_text(version=""), "version: required key 'version' is missing"),
    "other version": (scenario_text(version="version: 2"), "s.yaml:1: version: expected 1, got 2"),
    "version as text": (scenario_text(version="version: '1'"), "s.yaml:1: version: expected 1, got '1'"),
    "no name": (scenario_text(name=""), "name: required key 'name' is missing: a name"),
    "name with a space": (scenario_text(name="name: a b"), "s.yaml:2: name: expected a name of up to 64"),
    "unknown key": (scenario_text("sed: 1"), "s.yaml:6: sed: unknown key 'sed'; did you mean 'seed'?"),
    "unknown key like a type": (scenario_text("int: 1"), "s.yaml:6: int: unknown key 'int'"),
    "unknown key with brackets": (scenario_text("'a[0]': 1"), "s.yaml:6: a[0]: unknown key 'a[0]'"),
    "unknown key of great length": (scenario_text("x" * 900 + ": 1"), "unknown key 'xxxx"),
    "negative seed": (
        scenario_text("seed: -1"),
        "s.yaml:6: seed: expected at least 0",
    ),
    "seed as text": (scenario_text("seed: 0x10"), "s.yaml:6: seed: expected a whole number, got '0x10'"),
    "duration without unit": (
        scenario_text(duration="duration: 5"),
        "s.yaml:3: duration: expected a time with its unit such as '10us', got 5",
    ),
    "duration in other units": (
        scenario_text(duration="duration: 5 minutes"),
        "s.yaml:3: duration: expected a time such as '10ps' (units: ps, ns, us, ms, s), got '5 minutes'",
    ),
    "duration zero": (scenario_text(duration="duration: 0s"), "duration: expected more than 0"),
    "duration of a year": (scenario_text(duration="duration: 31536000s"), "is too large for a time"),
    "no duration": (
        scenario_text("workload: [{kind: permutation, message: 1KiB, count: forever}]", duration=""),
        "duration: required key 'duration' is missing: workload 'permutation0' never ends",
    ),
    "sexagesimal": (scenario_text(duration="duration: 22:22"), "duration: expected a time such as"),
    # the fabric
    "no fabric": (scenario_text(fabric="", topology=""), "fabric: required key 'fabric' is missing"),
    "unknown technology": (
        scenario_text("  technology: infinband"),
        "s.yaml:6: fabric.technology: expected 'infiniband' or 'roce', got 'infinband'; "
        "did you mean 'infiniband'?",
    ),
    "no topology": (scenario_text("  mtu: 256", topology=""), "fabric.topology: required key 'topology'"),
    "empty topology": (
        scenario_text(topology="  topology: {}"),
        "s.yaml:5: fabric.topology: expected {generator: …}, {import: ibnetdiscover, file: …} or {nodes: …",
    ),
    "unknown generator": (
        scenario_text(topology="  topology: {generator: fattree, k: 4}"),
        "s.yaml:5: fabric.topology.generator: unknown generator 'fattree'; did you mean 'fat_tree'?",
    ),
    "unknown parameter": (
        scenario_text(topology="  topology: {generator: ring, switches: 4, hosts_per_swich: 1}"),
        "s.yaml:5: fabric.topology.hosts_per_swich: unknown key 'hosts_per_swich'; did you "
        "mean 'hosts_per_switch'?",
    ),
    "a billion hosts": (
        scenario_text(topology="  topology: {generator: single_switch, hosts: 1000000000}"),
        "s.yaml:5: fabric.topology.hosts: expected at most 49151",
    ),
    "too many nodes": (
        scenario_text(
            "  switch_model: native_ib", topology="  topology: {generator: fat_tree, levels: 3, k: 200}"
        ),
        "s.yaml:5: fabric.topology: the fabric would have",
    ),
    "too many hosts a switch": (
        scenario_text(topology="  topology: {generator: single_switch, hosts: 65}"),
        "s.yaml:5: fabric.topology: single_switch needs switches of 65 ports, but the model quantum2 has 64",
    ),
    "no such import": (
        scenario_text(topology="  topology: {import: ibnetdiscover, file: absent.txt}"),
        "s.yaml:5: fabric.topology.file: no such file: absent.txt",
    ),
    "unknown importer": (
        scenario_text(topology="  topology: {import: ibnetdiscove, file: x}"),
        "s.yaml:5: fabric.topology.import: expected 'ibnetdiscover', got 'ibnetdiscove'",
    ),
    "self-link": (
        scenario_text(
            topology="  topology:\n    nodes: {a: hca, s: switch}\n    links:\n    - [s/1, s/2]\n   "
            " - [a/1, s/3]"
        ),
        "s.yaml:8: fabric.topology.links[0]: link s/1 - s/2 joins a node to itself",
    ),
    "port twice": (
        scenario_text(
            topology="  topology:\n    nodes: {a: hca, b: hca, s: switch}\n    links:\n    - [a/1, "
            "s/1]\n    - [b/1, s/1]"
        ),
        "s.yaml:9: fabric.topology.links[1]: port s/1 is used twice",
    ),
    "zero rate": (
        scenario_text(
            topology="  topology:\n    nodes: {a: hca, s: switch}\n    links:\n    - [a/1, s/1, "
            "{rate: 0Gb/s}]"
        ),
        "s.yaml:8: fabric.topology.links[0]: link a/1 - s/1 has a rate of 0 bit/s",
    ),
    "two pieces": (
        scenario_text(
            topology="  topology:\n    nodes: {a: hca, b: hca, s: switch, t: switch}\n    links: "
            "[[a/1, s/1], [b/1, t/1]]"
        ),
        "s.yaml:5: fabric.topology: the fabric is in 2 pieces",
    ),
    "duplicate guid": (
        scenario_text(
            topology="  topology:\n    nodes:\n      a: hca\n      s: {switch: 4, guid: '0x5'}\n    "
            "  t: {switch: 4, guid: '0x5'}\n"
            "    links: [[a/1, s/1], [s/2, t/1]]"
        ),
        "s.yaml:9: fabric.topology.nodes.t: duplicate GUID 0x0000000000000005: s and t both have it",
    ),
    "unknown switch model": (
        scenario_text("  switch_model: quantum3"),
        "s.yaml:6: fabric.switch_model: unknown switch model 'quantum3'; did you mean 'quantum2'?",
    ),
    "ethernet switch model": (
        scenario_text("  switch_model: spectrum4"),
        "s.yaml:6: fabric.switch_model: 'spectrum4' is a switch model of technology "
        "'roce'; on InfiniBand use one of quantum",
    ),
    "ethernet hca model": (
        scenario_text("  hca_model: {base: connectx7_roce}"),
        "s.yaml:6: fabric.hca_model.base: 'connectx7_roce' is an HCA model of technology "
        "'roce'; on InfiniBand use one",
    ),
    "ethernet parameter": (
        scenario_text("  switch_model: {base: quantum2, ecn: {kmin: 5KB}}"),
        "s.yaml:6: fabric.switch_model.ecn: 'ecn' is a parameter of switch models of technology 'roce'; on "
        "InfiniBand there are base, ",
    ),
    "unknown override": (
        scenario_text("  switch_model: {base: quantum2, forwarding_latncy: 1ns}"),
        "s.yaml:6: fabric.switch_model.forwarding_latncy: unknown key 'forwarding_latncy'; "
        "did you mean 'forwarding_latency'?",
    ),
    "override out of range": (
        scenario_text("  switch_model: {base: quantum2, buffer_per_vl: 1MiB}"),
        "s.yaml:6: fabric.switch_model.buffer_per_vl: buffer_per_vl must be from",
    ),
    "override without base": (
        scenario_text("  hca_model: {ack_every: 4}"),
        "s.yaml:6: fabric.hca_model.base: required key 'base' is missing",
    ),
    "mtu": (
        scenario_text("  mtu: 1500"),
        "s.yaml:6: fabric.mtu: expected 256, 512, 1024, 2048 or 4096, got 1500",
    ),
    "link rate": (
        scenario_text("  link: {rate: 400}"),
        "s.yaml:6: fabric.link.rate: expected a rate with its unit",
    ),
    "link length zero": (
        scenario_text("  link: {lenght: 1m}"),
        "fabric.link.lenght: unknown key 'lenght'; did you mean",
    ),
    # routing
    "unknown engine": (
        scenario_text("routing: {engine: ftre}"),
        "s.yaml:6: routing.engine: unknown routing engine 'ftre'; did you mean 'ftree'?",
    ),
    "ethernet engine": (
        scenario_text("routing: {engine: ecmp}"),
        "s.yaml:6: routing.engine: 'ecmp' belongs to technology 'roce'; on InfiniBand use "
        "one of min_hop, up_down",
    ),
    "option of another engine": (
        scenario_text("routing: {engine: ftree, lmc: 1}"),
        "s.yaml:6: routing.lmc: engine 'ftree' takes roots; not 'lmc'",
    ),
    "root is a host": (
        scenario_text("routing: {engine: up_down, roots: [h0]}"),
        "s.yaml:6: routing.roots[0]: 'h0' is an HCA; expected a switch",
    ),
    "unknown root": (
        scenario_text("routing: {engine: ftree, roots: [spine0, spine7]}"),
        "s.yaml:6: routing.roots[1]: unknown switch 'spine7'; did you mean 'spine1'? "
        "(valid: leaf0, leaf1, spine0, spine1)",
    ),
    "root twice": (
        scenario_text("routing: {engine: up_down, roots: [spine0, spine1, spine0]}"),
        "s.yaml:6: routing.roots[2]: 'spine0' stands there twice",
    ),
    "root that is no name": (
        scenario_text("routing: {engine: up_down, roots: [3]}"),
        "s.yaml:6: routing.roots[0]: expected text, got 3",
    ),
    "roots that are no list": (
        scenario_text("routing: {engine: up_down, roots: spine0}"),
        "s.yaml:6: routing.roots: expected a list, got 'spine0'",
    ),
    "roots for an engine without": (
        scenario_text("routing: {engine: min_hop, roots: [spine0]}"),
        "s.yaml:6: routing.roots: engine 'min_hop' takes lmc; not 'roots'",
    ),
    "explicit without tables": (
        scenario_text("routing: {engine: explicit}"),
        "engine 'explicit' needs 'tables'",
    ),
    "table of an unknown switch": (
        scenario_text("routing:\n  engine: explicit\n  tables:\n    leaf9: {h0: 1}"),
        "s.yaml:9: routing.tables.leaf9: unknown switch 'leaf9'; did you mean 'leaf1'?",
    ),
    "route for an unknown host": (
        scenario_text("routing:\n  engine: explicit\n  tables:\n    leaf0:\n      h9: 1"),
        "s.yaml:10: routing.tables.leaf0.h9: unknown node 'h9'",
    ),
    "route to a port that is not there": (
        scenario_text("routing:\n  engine: explicit\n  tables:\n    leaf0:\n      h0: 65"),
        "s.yaml:10: routing.tables.leaf0.h0: a route to nowhere: leaf0 has the ports 1 to 64, got 65",
    ),
    "route to a port without cable": (
        scenario_text("routing: {engine: explicit, tables: {leaf0: {h0: 9}}}"),
        "s.yaml:6: routing.tables.leaf0.h0: a route to nowhere: no cable at leaf0/9",
    ),
    # congestion control and QoS
    "unknown algorithm": (
        scenario_text("congestion_control: {algorithm: ib_cc}"),
        "s.yaml:6: congestion_control.algorithm: unknown algorithm 'ib_cc'; did you mean 'ib_cca'?",
    ),
    "ethernet algorithm": (
        scenario_text("congestion_control: {algorithm: dcqcn, profile: paper, g: 1/256}"),
        "s.yaml:6: congestion_control.algorithm: 'dcqcn' belongs to technology 'roce'",
    ),
    "unknown profile": (
        scenario_text("congestion_control: {algorithm: ib_cca, profile: simula}"),
        "s.yaml:6: congestion_control.profile: unknown profile 'simula'; did you mean 'simula_optimal'?",
    ),
    "threshold": (
        scenario_text("congestion_control: {algorithm: ib_cca, threshold: 16}"),
        "s.yaml:6: congestion_control.threshold: expected at most 15, got 16",
    ),
    "data vls": (
        scenario_text("qos: {data_vls: 3}"),
        "s.yaml:6: qos.data_vls: expected one of 1, 2, 4, 8, 15, got 3",
    ),
    "sl2vl": (scenario_text("qos: {sl2vl: [0, 1]}"), "s.yaml:6: qos.sl2vl: expected a list of 16 VLs"),
    "vlarb": (
        scenario_text("qos: {data_vls: 2, vlarb_low: [[0, 1], [5, 1]]}"),
        "s.yaml:6: qos.vlarb_low[1]: VL 5 is not one of the data VLs 0 to 1",
    ),
    "sl that is dropped": (
        scenario_text("qos: {sl2vl: {3: 15}}\n" + WORK.format("sl: 3")),
        "s.yaml:7: workload[0].sl: SL 3 goes to VL 15",
    ),
    # workload
    "workload is no list": (
        scenario_text("workload: {kind: stream}"),
        "s.yaml:6: workload: expected a list, got a mapping",
    ),
    "workload entry is text": (
        scenario_text("workload: [stream]"),
        "workload[0]: expected a mapping with the key 'kind'",
    ),
    "no kind": (
        scenario_text("workload:\n  - {src: h0}"),
        "s.yaml:7: workload[0].kind: required key 'kind' is missing",
    ),
    "unknown kind": (
        scenario_text("workload:\n  - {kind: streem}"),
        "s.yaml:7: workload[0].kind: unknown kind of workload 'streem'; did you mean 'stream'?",
    ),
    "no message": (
        scenario_text("workload:\n  - {kind: stream, src: h0, dst: h1}"),
        "s.yaml:7: workload[0].message: required key 'message' is missing: a size up to 2 GiB",
    ),
    "message of nothing": (
        scenario_text("workload: [{kind: stream, src: h0, dst: h1, message: 0B}]"),
        "workload[0].message: expected more than 0",
    ),
    "message too large": (
        scenario_text("workload: [{kind: stream, src: h0, dst: h1, message: 3GiB}]"),
        "workload[0].message: '3GiB' is too large for a size here",
    ),
    "unknown host": (
        scenario_text("workload:\n  - kind: stream\n    src: h0\n    dst: h77\n    message: 1KiB"),
        "s.yaml:9: workload[0].dst: unknown HCA 'h77'",
    ),
    "host is a switch": (
        scenario_text("workload: [{kind: stream, src: leaf0, dst: h1, message: 1KiB}]"),
        "workload[0].src: 'leaf0' is a switch; expected an HCA",
    ),
    "host without that port": (
        scenario_text("workload: [{kind: stream, src: h0/2, dst: h1, message: 1KiB}]"),
        "workload[0].src: 'h0' has the ports 1 to 1, got 'h0/2'",
    ),
    "host as a number": (
        scenario_text("workload: [{kind: stream, src: 5, dst: h1, message: 1KiB}]"),
        "workload[0].src: expected a node name such as 'h0', or 'h0/2' for its second port, got the number 5",
    ),
    "to itself": (
        scenario_text("workload: [{kind: stream, src: h1, dst: h1, message: 1KiB}]"),
        "workload[0].dst: 'src' and 'dst' are the same HCA 'h1'",
    ),
    "sl too large": (
        scenario_text(WORK.format("sl: 16")),
        "workload[0].sl: expected at most 15",
    ),
    "no queue pair": (scenario_text(WORK.format("qps: 0")), "workload[0].qps: expected at least 1"),
    "count of nothing": (
        scenario_text(WORK.format("count: 0")),
        "workload[0].count: expected a number from 1 to",
    ),
    "count for ever": (scenario_text(WORK.format("count: ever")), "or 'forever', got 'ever'"),
    "stop before start": (
        scenario_text(WORK.format("start: 2us, stop: 1us")),
        "workload[0].stop: 'stop' must be after 'start'",
    ),
    "arrival without rate": (
        scenario_text(WORK.format("arrival: poisson")),
        "workload[0]: 'arrival' needs a 'rate'",
    ),
    "name twice": (
        scenario_text(
            "workload:\n  - {kind: permutation, message: 1KiB, name: p}\n  - {kind: "
            "permutation, message: 1KiB, name: p}"
        ),
        "s.yaml:8: workload[1].name: a second workload with the name 'p'",
    ),
    # faults
    "unknown fault": (
        scenario_text("faults:\n  - {kind: link_dwn}"),
        "s.yaml:7: faults[0].kind: unknown kind of fault 'link_dwn'; did you mean 'link_down'?",
    ),
    "link of other ends": (
        scenario_text("faults: [{kind: link_down, link: [leaf0/3, spine1/1], at: 1us}]"),
        "s.yaml:6: faults[0].link: no cable between 'leaf0/3' and 'spine1/1'; leaf0/3 is cabled to spine0/1",
    ),
    "link without cable": (
        scenario_text("faults: [{kind: link_down, link: [leaf0/9, spine1/1], at: 1us}]"),
        "faults[0].link[0]: no cable at 'leaf0/9'",
    ),
    "link of one end": (
        scenario_text("faults: [{kind: link_down, link: [leaf0/3], at: 1us}]"),
        "faults[0].link: expected at least 2 entries, got 1",
    ),
    "link of nodes": (
        scenario_text("faults: [{kind: link_down, link: [leaf0, spine0/1], at: 1us}]"),
        "faults[0].link[0]: expected a port such as 'leaf0/1', got 'leaf0'",
    ),
    "fault without time": (
        scenario_text("faults: [{kind: switch_down, switch: leaf0}]"),
        "faults[0].at: required key 'at' is missing: a time",
    ),
    "fault of no duration": (
        scenario_text(FAULT.format("duration: 0us")),
        "faults[0].duration: expected more than 0",
    ),
    # the rest
    "expectation": (
        scenario_text("expect:\n  - {path: 'flow[s0].goodput_bps', min: 1}"),
        "s.yaml:7: expect[0].path: unknown part of the result 'flow'; did you mean 'flows'?",
    ),
    "deployment": (
        scenario_text("deployment: {switch_shards: 0}"),
        "deployment.switch_shards: expected at least 1",
    ),
    "subnet manager": (
        scenario_text("subnet_manager: {smp_rt: 1us}"),
        "s.yaml:6: subnet_manager.smp_rt: unknown key 'smp_rt'; did you mean 'smp_rtt'?",
    ),
    "subnet managers as a mapping": (
        scenario_text("subnet_manager: {managers: {node: h0}}"),
        "s.yaml:6: subnet_manager.managers: expected a list, got a mapping",
    ),
    "subnet manager on a switch": (
        scenario_text("subnet_manager: {managers: [{node: leaf0}]}"),
        "s.yaml:6: subnet_manager.managers[0].node: 'leaf0' is a switch; expected an HCA",
    ),
    "subnet manager on an unknown node": (
        scenario_text("subnet_manager: {managers: [{node: h0}, {node: h9}]}"),
        "s.yaml:6: subnet_manager.managers[1].node: unknown HCA 'h9'; did you mean",
    ),
    "two subnet managers on a node": (
        scenario_text("subnet_manager: {managers: [{node: h0}, {node: h0/1, priority: 3}]}"),
        "s.yaml:6: subnet_manager.managers[1].node: a second subnet manager on 'h0'",
    ),
    "subnet manager of priority 16": (
        scenario_text("subnet_manager: {managers: [{node: h0, priority: 16}]}"),
        "s.yaml:6: subnet_manager.managers[0].priority: expected at most 15, got 16",
    ),
    "many subnet managers": (
        scenario_text(f"subnet_manager: {{managers: [{', '.join(['{node: h0}'] * 9)}]}}"),
        "subnet_manager.managers: expected at most 8 subnet managers, got 9",
    ),
    "subnet manager that never waits": (
        scenario_text("subnet_manager: {transaction_timeout: 10us}"),
        "subnet_manager: 'transaction_timeout' (10 us) must be longer than 'smp_rtt' (20 us)",
    ),
    "subnet manager that polls all the time": (
        scenario_text("subnet_manager: {sminfo_polling_timeout: 1us}"),
        "s.yaml:6: subnet_manager.sminfo_polling_timeout: expected at least",
    ),
    "fault of a subnet manager that is not there": (
        scenario_text("faults: [{kind: sm_down, node: h1, at: 1us}]"),
        "s.yaml:6: faults[0].node: unknown host of a subnet manager 'h1'; did you mean 'h0'? (valid: h0)",
    ),
    "fault of a subnet management agent of nobody": (
        scenario_text("faults: [{kind: sma_unresponsive, node: leaf7, at: 1us}]"),
        "s.yaml:6: faults[0].node: unknown node 'leaf7'; did you mean 'leaf",
    ),
}

WRONG_IN_SEVERAL_WAYS = {"nothing", "a list", "no fabric", "no topology", "too many nodes"}
