# SPDX-License-Identifier: Apache-2.0
"""Random small fabrics, with faults and congestion control, give the same digest however they are split."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings

from fabrictwin.engine.partition import Partition, split_by_kind, split_evenly
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.runtime.offline import open_simulation
from reference.random_scenarios import scenario_texts

LOST_CREDITS = """
version: 1
name: lost_credits
seed: 417393
duration: 18us
fabric:
  technology: infiniband
  topology:
    nodes: {h0: hca, h1: hca, h2: hca, h3: hca, sw0: {switch: 5}, sw1: {switch: 5}, sw2: {switch: 4}}
    links:
      - [h0/1, sw0/1, {rate: 100Gb/s, length: 1m}]
      - [h1/1, sw1/1, {rate: 100Gb/s, length: 1m}]
      - [h2/1, sw2/1, {rate: 100Gb/s, length: 1m}]
      - [h3/1, sw0/2, {rate: 100Gb/s, length: 1m}]
      - [sw0/3, sw1/2, {rate: 100Gb/s, length: 1m}]
      - [sw0/4, sw1/3, {rate: 100Gb/s, length: 1m}]
      - [sw1/4, sw2/2, {rate: 100Gb/s, length: 1m}]
      - [sw1/5, sw2/3, {rate: 100Gb/s, length: 1m}]
      - [sw0/5, sw2/4, {rate: 100Gb/s, length: 1m}]
  switch_model:
    {base: native_ib, forwarding_latency: 54491ps, buffer_per_vl: 576B, credit_block: 64B, hoq_life: infinite,
     leaf_hoq_life: infinite, vl_stall_count: 2, llr: true}
  hca_model:
    {base: native_hca, tx_latency: 0ns, rx_latency: 0ns, ack_every: 3, ack_timeout: 2us, retry_count: 0,
     rnr_retry: 0, rnr_timer: 500ns, receive_buffer: 1728B, credit_block: 64B, llr: true}
  mtu: 512
routing: {engine: min_hop}
qos: {data_vls: 2, vlarb_low: [[0, 55], [1, 34]], vl_high_limit: 0}
workload:
  - {kind: all_reduce, algorithm: ring, ranks: all, bytes: 16384B, iterations: 1, sl: 0, qps: 1}
  - {kind: stream, src: h0, dst: h2, message: 1024B, count: 1, sl: 0, qps: 1}
faults:
  - {kind: symbol_errors, name: fault1, at: 3us, duration: 200ns, link: [h0/1, sw0/1], probability: 0.02}
"""
"""All messages have failed, but packets still wait for credits that come with the refresh of a lost FCP."""


def _digest(scenario: Scenario, partition: Partition) -> tuple[str, str, float]:
    simulation = open_simulation(scenario, partition=partition)
    simulation.run()
    result = simulation.result()
    return result["digest"], result["stopped"], result["fabric_time_ns"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario_texts())
@example(LOST_CREDITS)
def test_digest_of_random_fabrics_is_the_same_however_they_are_split(text: str) -> None:
    scenario = parse_scenario(text)
    whole = _digest(scenario, split_evenly(scenario.fabric, 1))
    assert _digest(scenario, split_evenly(scenario.fabric, 2)) == whole
    assert _digest(scenario, split_evenly(scenario.fabric, 5)) == whole
    assert _digest(scenario, split_by_kind(scenario.fabric, 1, 1)) == whole
    assert _digest(scenario, split_by_kind(scenario.fabric, 2, 2)) == whole
