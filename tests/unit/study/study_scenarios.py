# SPDX-License-Identifier: Apache-2.0
"""Scenarios to derive others from."""

from __future__ import annotations

from pathlib import Path

from fabrictwin.model.yaml_loader import read_document
from fabrictwin.study.source import Source

INFINIBAND = """\
version: 1
name: two-leaves
fabric:
  technology: infiniband
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}
  switch_model: {base: quantum2, hoq_life: infinite, forwarding_latency: 150ns}
  hca_model: {base: connectx7, ack_timeout: 500us, tx_latency: 300ns}
routing: {engine: ftree, roots: [spine0, spine1]}
qos: {data_vls: 4}
subnet_manager: {trap_latency: 50us}
workload:
  - {kind: stream, name: a, src: h0, dst: h2, message: 64KiB, count: 2}
  - {kind: stream, name: b, src: h1, dst: h3, message: 64KiB, count: 2, sl: 5}
  - {kind: stream, name: c, src: h3, dst: h0, message: 64KiB, count: 2, sl: 9}
faults:
  - {kind: sm_down, node: h0, at: 1us}
  - {kind: link_down, link: [leaf0/3, spine0/1], at: 20us, duration: 10us}
expect:
  - {path: stopped, equals: idle}
"""
ROCE = """\
version: 1
name: on-roce
fabric:
  technology: roce
  topology: {generator: chain, switches: 2, hosts_per_switch: 2}
  switch_model: {base: trident2, shared_buffer: 8MB}
  hca_model: connectx6_roce
routing: {engine: ecmp, equal_seeds: true}
congestion_control: {algorithm: dcqcn, profile: paper}
qos: {lossless_priorities: [2], strict: [6]}
workload:
  - {kind: incast, name: burst, senders: [h1, h2], receiver: h0, message: 64KiB}
faults:
  - {kind: pfc_storm, node: h0, at: 1us, duration: 1us}
"""


def source_of(text: str, base: Path = Path()) -> Source:
    """A scenario to derive others from."""
    return Source(read_document(text, "scenario.yaml"), base)
