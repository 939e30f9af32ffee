# SPDX-License-Identifier: Apache-2.0
"""Small scenarios that together touch everything that a shard may have to say to another."""

from __future__ import annotations

from pathlib import Path

from integration.services_at_work import REPOSITORY

IMPORTED = REPOSITORY / "deploy" / "scenarios" / "hdr_fat_tree.ibnetdiscover"

_TWO_LEVELS = "{generator: fat_tree, levels: 2, leaves: 4, hosts_per_leaf: 4, spines: 2}"
_FAST_SM = "trap_latency: 5us, smp_rtt: 1us, max_wire_smps: 64"
_LOOP = ", ".join(
    f"sw{at}: {{{', '.join(f'h{host}: {1 if host == at else 2}' for host in range(4))}}}" for at in range(4)
)
"""Everything goes clockwise: port 2 of a ring's switch leads to the next one."""

SCENARIOS = {
    "two-levels": f"""
duration: 60us
fabric: {{technology: infiniband, topology: {_TWO_LEVELS}}}
routing: {{engine: ftree}}
workload: [{{kind: permutation, pattern: shift, shift: 5, message: 64KiB, count: forever}}]
""",
    "three-levels": """
duration: 1ms
fabric: {technology: infiniband, topology: {generator: fat_tree, levels: 3, k: 4}}
routing: {engine: up_down}
workload: [{kind: all_to_all, ranks: all, bytes: 256KiB}]
""",
    "ring": """
duration: 60us
fabric: {technology: infiniband, topology: {generator: ring, switches: 5, hosts_per_switch: 2}, mtu: 2048}
routing: {engine: dfsssp}
workload: [{kind: uniform_random, load: 0.6, message: 10KB}]
""",
    "imported": """
duration: 15us
fabric:
  technology: infiniband
  topology: {import: ibnetdiscover, file: hdr_fat_tree.ibnetdiscover}
  switch_model: quantum_hdr
  hca_model: connectx6
routing: {engine: ftree}
workload: [{kind: permutation, pattern: random, message: 32KiB, count: forever}]
""",
    "incast-cc": f"""
duration: 100us
fabric: {{technology: infiniband, topology: {_TWO_LEVELS}}}
routing: {{engine: ftree}}
congestion_control: {{algorithm: ib_cca, ccti_timer: 5}}
workload:
  - {{kind: incast, senders: [h1, h2, h5, h6, h9, h13], receiver: h0, message: 64KiB, count: forever}}
  - {{kind: stream, name: victim, src: h4, dst: h12, message: 64KiB, count: forever}}
""",
    "link-flap": f"""
duration: 200us
fabric: {{technology: infiniband, topology: {_TWO_LEVELS}, hca_model: {{base: connectx7, ack_timeout: 30us}}}}
routing: {{engine: ftree}}
subnet_manager: {{{_FAST_SM}}}
workload: [{{kind: permutation, pattern: shift, shift: 4, message: 32KiB, count: forever}}]
faults:
  - {{kind: link_flap, link: [leaf0/5, spine0/1], at: 20us, down: 30us, up: 50us, count: 2}}
  - {{kind: symbol_errors, link: [leaf2/5, spine0/3], at: 60us, duration: 60us, probability: 0.1}}
""",
    "sm-failover": f"""
duration: 12ms
fabric: {{technology: infiniband, topology: {_TWO_LEVELS}}}
routing: {{engine: ftree}}
subnet_manager:
  managers: [{{node: h0, priority: 9}}, {{node: h4, priority: 5}}, {{node: h9, priority: 5}}]
  sweep_interval: 1ms
  sminfo_polling_timeout: 1ms
  polling_retry_number: 1
  transaction_timeout: 50us
  trap_latency: 5us
  smp_rtt: 1us
  max_wire_smps: 64
workload: [{{kind: stream, src: h1, dst: h13, message: 4KiB, rate: 1Gb/s, count: forever}}]
faults:
  - {{kind: sm_down, node: h0, at: 300us, duration: 7ms}}
  - {{kind: link_down, link: [leaf3/5, spine0/4], at: 5ms, duration: 4ms}}
  - {{kind: sma_unresponsive, node: spine1, at: 9900us, duration: 500us}}
""",
    "deadlock": f"""
duration: 10ms
fabric:
  technology: infiniband
  topology: {{generator: ring, switches: 4, hosts_per_switch: 1}}
  switch_model: {{base: quantum2, data_vls: 1, hoq_life: infinite, buffer_per_vl: 16640B}}
  link: {{length: 10m}}
routing: {{engine: explicit, tables: {{{_LOOP}}}}}
workload: [{{kind: permutation, pattern: shift, shift: 3, message: 1MiB, count: forever}}]
""",
    "idle": f"""
fabric: {{technology: infiniband, topology: {_TWO_LEVELS}, hca_model: {{base: connectx7, ack_timeout: 40us}}}}
workload:
  - {{kind: all_reduce, ranks: [h0, h3, h6, h9, h12, h15], bytes: 96KiB, iterations: 2, step_latency: 1us}}
  - {{kind: stream, src: h7, dst: h8, message: 100KB, count: 3, start: 30us}}
faults:
  - {{kind: receiver_not_ready, node: h8, at: 35us, duration: 20us}}
""",
    "quiet": f"""
duration: 30ms
fabric:
  technology: infiniband
  topology: {_TWO_LEVELS}
  switch_model: {{base: quantum2, hoq_life: 300us, leaf_hoq_life: 200us}}
  hca_model: {{base: connectx7, ack_timeout: 2ms}}
workload:
  - {{kind: stream, name: rare, src: h1, dst: h14, message: 9KB, rate: 0.01Gb/s, count: forever}}
  - {{kind: stream, name: stuck, src: h5, dst: h0, message: 256KiB, count: 3, start: 1ms}}
faults:
  - {{kind: slow_receiver, node: h0, rate: 0Gb/s, at: 1ms, duration: 2ms}}
""",
    "lanes": f"""
duration: 60us
fabric: {{technology: infiniband, topology: {_TWO_LEVELS}}}
routing: {{engine: min_hop, lmc: 1}}
qos:
  data_vls: 4
  sl2vl: {{1: 1, 2: 2, 3: 3}}
  vlarb_high: [[3, 64]]
  vlarb_low: [[0, 32], [1, 64], [2, 128]]
workload:
  - {{kind: permutation, name: bulk, pattern: shift, shift: 4, message: 64KiB, count: forever, qps: 2}}
  - {{kind: incast, name: one, senders: [h2, h6, h10], receiver: h15, sl: 1, message: 32KiB, count: forever}}
  - {{kind: stream, name: high, src: h3, dst: h12, sl: 3, message: 8KiB, rate: 50Gb/s, count: forever}}
""",
    "switch-down": f"""
duration: 150us
fabric: {{technology: infiniband, topology: {_TWO_LEVELS}, hca_model: {{base: connectx7, ack_timeout: 30us}}}}
routing: {{engine: ftree}}
subnet_manager: {{{_FAST_SM}}}
workload: [{{kind: permutation, pattern: random, message: 32KiB, count: forever}}]
faults:
  - {{kind: switch_down, switch: spine1, at: 20us, duration: 70us}}
  - {{kind: link_degraded, link: [leaf1/5, spine0/2], at: 30us, duration: 40us, width: 1x}}
""",
    "at-once": """
duration: 12us
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 8, hosts_per_leaf: 8, spines: 16}
  hca_model: {base: connectx7, ack_timeout: 5us}
routing: {engine: ftree}
workload: [{kind: permutation, pattern: shift, shift: 8, message: 64KiB, count: forever}]
faults: [{kind: link_down, link: [leaf0/1, h0/1], at: 2us, duration: 3us}]
""",
    "roce-incast": f"""
duration: 150us
fabric:
  technology: roce
  topology: {_TWO_LEVELS}
  switch_model:
    base: spectrum4
    shared_buffer: 2MB
    alpha: 1/8
    ecn: {{kmin: 50KB, kmax: 200KB, pmax: 0.2}}
  mtu: 4096
congestion_control: {{algorithm: dcqcn, profile: hpcc}}
workload:
  - {{kind: incast, senders: [h1, h2, h5, h6, h9, h13], receiver: h0, message: 64KiB, count: forever}}
  - {{kind: permutation, pattern: shift, shift: 5, message: 64KiB, count: forever, qps: 2}}
""",
    "roce-faults": f"""
duration: 160us
fabric:
  technology: roce
  topology: {_TWO_LEVELS}
  switch_model:
    base: tomahawk5
    shared_buffer: 2MB
    pfc_watchdog: {{poll: 15us, detection: 30us, restoration: 30us}}
  hca_model: {{base: connectx7_roce, loss_recovery: selective_repeat, ack_timeout: 60us}}
routing: {{engine: ecmp, bfd_interval: 5us, bgp_update: 3us}}
congestion_control: {{algorithm: hpcc, profile: paper, base_rtt: 4us}}
qos: {{lossless_priorities: [3], strict: [6], weights: {{0: 1, 3: 3}}}}
workload:
  - {{kind: permutation, pattern: shift, shift: 4, message: 32KiB, count: forever}}
  - {{kind: uniform_random, load: 0.2, message: 10KB, sl: 0, transport: tcp}}
faults:
  - {{kind: link_down, link: [leaf0/5, spine0/1], at: 20us, duration: 60us}}
  - {{kind: pfc_storm, node: h5, at: 10us, duration: 90us}}
  - {{kind: dead_host, node: h7, at: 40us, duration: 40us, flooding: true}}
  - {{kind: slow_receiver, node: h10, rate: 50Gb/s, at: 20us, duration: 80us}}
""",
    "roce-hpcc": f"""
duration: 100us
fabric: {{technology: roce, topology: {_TWO_LEVELS}, switch_model: {{base: spectrum4, shared_buffer: 2MB}}}}
routing: {{engine: ecmp, spraying: true}}
congestion_control: {{algorithm: hpcc}}
qos: {{lossless_priorities: [3], weights: {{0: 1, 3: 3}}}}
workload:
  - {{kind: incast, senders: [h1, h2, h5, h6, h9, h13], receiver: h0, message: 64KiB, count: forever}}
  - {{kind: permutation, pattern: shift, shift: 5, message: 64KiB, count: forever, sl: 0, transport: tcp}}
""",
    "roce-deadlock": f"""
duration: 20ms
fabric:
  technology: roce
  topology: {{generator: ring, switches: 4, hosts_per_switch: 1}}
  switch_model: {{base: spectrum4, shared_buffer: 2MB, pfc_watchdog: none}}
  link: {{length: 10m}}
routing: {{engine: explicit, tables: {{{_LOOP}}}}}
workload: [{{kind: permutation, pattern: shift, shift: 3, message: 1MiB, count: forever}}]
""",
}
"""By name."""

_FRAME = "version: 1\nname: {name}\n{body}deployment: {{switch_shards: {shards}, hca_shards: {shards}}}\n"
_AT_ONCE = "at-once"
"""Has just two shards, and cables enough for them not to take turns."""


LONG = ("sm-failover", "quiet", "roce-faults")
"""Those that take half a minute each."""


def write_scenario(name: str, folder: Path) -> Path:
    """Writes a scenario of :data:`SCENARIOS`, and what it imports, into a folder."""
    path = folder / f"{name}.yaml"
    shards = 1 if name == _AT_ONCE else 2
    text = _FRAME.format(name=name, body=SCENARIOS[name].lstrip(), shards=shards)
    path.write_text(text, encoding="utf-8")
    if IMPORTED.name in path.read_text():
        (folder / IMPORTED.name).write_bytes(IMPORTED.read_bytes())
    return path
