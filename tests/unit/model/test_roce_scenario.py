# SPDX-License-Identifier: Apache-2.0
"""Scenarios of technology ``roce``: what they default to, what they may say and what is refused."""

from __future__ import annotations

import pytest

from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware import EthernetSwitchModel
from fabrictwin.model.hardware.ecn import EcnProfile
from fabrictwin.model.hardware.ethernet_switch_model import PfcWatchdog
from fabrictwin.units import PS_PER_MS, PS_PER_NS, PS_PER_US
from unit.model.roce_scenarios import parse_roce, refused_roce

STREAM = "workload: [{{kind: stream, src: h0, dst: h3, message: 1KiB{}}}]\n"


def _switch(keys: str, link: str = "") -> EthernetSwitchModel:
    rate = f"  link: {{rate: {link}}}\n" if link else ""
    models = parse_roce(f"  switch_model: {{base: spectrum4, {keys}}}\n{rate}").switch_models
    model = models["spectrum4+"]
    assert isinstance(model, EthernetSwitchModel)
    return model


def test_roce_scenario_without_a_choice_has_the_defaults() -> None:
    scenario = parse_roce(STREAM.format(""))
    assert scenario.fabric.technology is Technology.ROCE
    assert (list(scenario.switch_models), list(scenario.hca_models)) == (["spectrum4"], ["connectx7_roce"])
    assert {link.rate_bps for link in scenario.fabric.links} == {400 * 10**9}
    assert scenario.routing.engine == "ecmp"
    assert scenario.managers == ()
    assert scenario.data_vls == 8
    assert [flow.sl for job in scenario.jobs for flow in job.flows] == [3]
    assert scenario.warnings == ()


def test_switch_model_takes_every_ethernet_parameter() -> None:
    model = _switch(
        "shared_buffer: 16MB, alpha: 1/8, egress_alpha: infinite, reserve: 0B, pfc_headroom: 1MB, "
        "headroom_profile: h1_mlx5, pfc_xon_offset: 5KB, pfc_response: 1us, forwarding_latency: 400ns, "
        "forwarding: store_and_forward, fec_latency: 100ns, llr: true, ecn: {kmin: 5KB, kmax: 200KB, "
        "pmax: 0.01}, "
        "pfc_watchdog: {detection: 100ms, poll: 10ms}"
    )
    assert model.shared_buffer_bytes == 16_000_000
    assert (model.alpha_q16, model.egress_alpha_q16) == (8192, 0)
    assert (model.reserve_bytes, model.headroom_bytes, model.xon_offset_bytes) == (0, 1_000_000, 5_000)
    assert model.headroom_profile == "h1_mlx5"
    assert model.response_ps == PS_PER_US
    assert (model.forwarding, model.forwarding_latency_ps) == ("store_and_forward", 400 * PS_PER_NS)
    assert (model.fec_latency_ps, model.llr) == (100 * PS_PER_NS, True)
    assert model.ecn == EcnProfile(5_000, 200_000, 655)
    assert model.watchdog == PfcWatchdog(100 * PS_PER_MS, 200 * PS_PER_MS, 10 * PS_PER_MS)


def test_watchdog_that_says_nothing_is_that_of_sonic() -> None:
    assert _switch("pfc_watchdog: {}").watchdog == PfcWatchdog(
        200 * PS_PER_MS, 200 * PS_PER_MS, 200 * PS_PER_MS
    )
    assert _switch("pfc_watchdog: {}").breaks_deadlocks
    assert not _switch("pfc_watchdog: none").breaks_deadlocks


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [("8", 8 << 16), ("0.0078125", 512), ("1/1024", 64), ("infinite", 0), ("1.5", 98_304)],
)
def test_alpha_is_read_in_units_of_two_to_the_minus_16(alpha: str, expected: int) -> None:
    assert _switch(f"alpha: {alpha}").alpha_q16 == expected


def test_ecn_profile_grows_with_the_links() -> None:
    assert _switch("ecn: {profile: hpcc}", "100Gb/s").ecn == EcnProfile(400_000, 1_600_000, 13_107)
    assert _switch("ecn: {profile: hpcc}").ecn == EcnProfile(1_600_000, 6_400_000, 13_107)
    assert _switch("ecn: {profile: hpcc, kmin: 1KB}", "25Gb/s").ecn == EcnProfile(1_000, 400_000, 13_107)


def test_ecn_none_marks_nothing() -> None:
    assert _switch("ecn: none").ecn is None


def test_hca_model_takes_every_parameter() -> None:
    scenario = parse_roce(
        "  hca_model: {base: connectx7_roce, tx_latency: 1us, rx_latency: 2us, drain_rate: 100Gb/s, "
        "ack_every: 4, "
        "ack_timeout: 1ms, retry_count: 3, receive_buffer: 1MiB, pfc_headroom: 200KB, pfc_xon_offset: 8KiB, "
        "pfc_response: 2us, loss_recovery: selective_repeat, reorder_packets: 64}\n"
    )
    model = scenario.hca_models["connectx7_roce+"]
    assert (model.tx_latency_ps, model.rx_latency_ps) == (PS_PER_US, 2 * PS_PER_US)
    assert (model.drain_rate_bps, model.ack_every, model.retry_count) == (10**11, 4, 3)
    assert model.ack_timeout_ps == PS_PER_MS
    assert (model.receive_buffer_bytes, model.headroom_bytes, model.xon_offset_bytes) == (
        1 << 20,
        200_000,
        8192,
    )
    assert model.response_ps == 2 * PS_PER_US
    assert (model.loss_recovery, model.reorder_packets) == ("selective_repeat", 64)


def test_routing_options_of_ecmp_are_read() -> None:
    routing = parse_roce(
        "routing: {engine: ecmp, equal_seeds: true, flowlet: 50us, bfd_interval: 100ms, bgp_update: 1ms}\n"
    ).routing
    assert (routing.equal_seeds, routing.spraying) == (True, False)
    assert (routing.flowlet_ps, routing.detection_ps, routing.bgp_update_ps) == (
        50 * PS_PER_US,
        300 * PS_PER_MS,
        PS_PER_MS,
    )
    routing = parse_roce("routing: {spraying: true}\n").routing
    assert (routing.engine, routing.spraying, routing.flowlet_ps) == ("ecmp", True, 0)


def test_workload_takes_the_lowest_lossless_priority_or_its_own() -> None:
    flows = parse_roce("qos: {lossless_priorities: [4, 2]}\n" + STREAM.format("")).jobs[0].flows
    assert flows[0].sl == 2
    assert parse_roce("qos: {lossless_priorities: []}\n" + STREAM.format("")).jobs[0].flows[0].sl == 0
    assert parse_roce(STREAM.format(", sl: 7")).jobs[0].flows[0].sl == 7


WRONG = {
    "infiniband switch": (
        "  switch_model: quantum2\n",
        "s.yaml:7: fabric.switch_model: 'quantum2' is a switch model of technology 'infiniband'; on RoCE "
        "use one "
        "of spectrum4, tomahawk5, tomahawk_ultra, trident2, native_roce",
    ),
    "infiniband hca": (
        "  hca_model: {base: connectx7}\n",
        "fabric.hca_model.base: 'connectx7' is an HCA model of technology 'infiniband'; on RoCE use one of "
        "connectx6_roce, connectx7_roce, connectx8_roce",
    ),
    "unknown switch": (
        "  switch_model: spectrum5\n",
        "unknown switch model 'spectrum5'; did you mean 'spectrum4'?",
    ),
    "infiniband parameter": (
        "  switch_model: {base: spectrum4, hoq_life: 1ms}\n",
        "fabric.switch_model.hoq_life: 'hoq_life' is a parameter of switch models of technology "
        "'infiniband'; on "
        "RoCE there are base, ",
    ),
    "infiniband parameter of an hca": (
        "  hca_model: {base: connectx7_roce, credit_block: 128B}\n",
        "fabric.hca_model.credit_block: 'credit_block' is a parameter of HCA models of technology "
        "'infiniband'",
    ),
    "unknown parameter": (
        "  switch_model: {base: spectrum4, alfa: 1}\n",
        "fabric.switch_model.alfa: unknown key 'alfa'; did you mean 'alpha'?",
    ),
    "alpha zero": (
        "  switch_model: {base: spectrum4, alpha: 0}\n",
        "fabric.switch_model.alpha: expected alpha from 1/1024 to 64, or infinite, got 0: a priority "
        "group may hold "
        "alpha * (shared_buffer - used)",
    ),
    "alpha of 65": ("  switch_model: {base: spectrum4, alpha: 65}\n", "expected alpha from 1/1024 to 64"),
    "alpha of words": (
        "  switch_model: {base: spectrum4, alpha: much}\n",
        "fabric.switch_model.alpha: expected a number such as 0.125 or 1/8, got 'much'",
    ),
    "ecn upside down": (
        "  switch_model: {base: spectrum4, ecn: {kmin: 200KB, kmax: 5KB, pmax: 0.1}}\n",
        "fabric.switch_model.ecn: ecn must have kmin <= kmax, got 200000 and 5000: the probability grows "
        "from kmin, "
        "pmax * (queue - kmin) / (kmax - kmin)",
    ),
    "ecn in parts": (
        "  switch_model: {base: spectrum4, ecn: {kmin: 5KB}}\n",
        "fabric.switch_model.ecn: expected {profile: …}, or all of kmin, kmax and pmax",
    ),
    "ecn profile": (
        "  switch_model: {base: spectrum4, ecn: {profile: dcqcn}}\n",
        "fabric.switch_model.ecn.profile: unknown ECN profile 'dcqcn'; did you mean 'dcqcn_paper'?",
    ),
    "ecn probability": (
        "  switch_model: {base: spectrum4, ecn: {profile: hpcc, pmax: 1.5}}\n",
        "fabric.switch_model.ecn.pmax: expected a probability above 0, at most 1, got 1.5",
    ),
    "ecn key": (
        "  switch_model: {base: spectrum4, ecn: {profile: hpcc, kmn: 1KB}}\n",
        "fabric.switch_model.ecn.kmn: unknown key 'kmn'; did you mean 'kmin'?",
    ),
    "watchdog": (
        "  switch_model: {base: spectrum4, pfc_watchdog: {poll: 0ms}}\n",
        "fabric.switch_model.pfc_watchdog.poll: expected more than 0",
    ),
    "no headroom": (
        "  switch_model: {base: spectrum4, pfc_headroom: 0B}\n",
        "fabric.switch_model.pfc_headroom: pfc_headroom must be from 1 to the buffer's 113700000, got 0: "
        "a lossless "
        "priority must take 2 * rate * delay + response + 2 frames after it has asked for a pause",
    ),
    "headroom of all ports larger than the buffer": (
        "  switch_model: {base: spectrum4, shared_buffer: 1MB, pfc_headroom: 300KB}\n",
        "fabric.switch_model: headroom is larger than the buffer: 4 ports of leaf0 with 1 lossless "
        "priorities each "
        "take 1,200,000 B by pfc_headroom; shared_buffer is 1,000,000 B",
    ),
    "headroom by formula larger than the buffer": (
        "  switch_model: {base: spectrum4, shared_buffer: 500KB}\n",
        "4 ports of leaf0 with 1 lossless priorities each take 892,928 B by formula h2_sonic; "
        "shared_buffer is",
    ),
    "buffer smaller than a frame": (
        "  switch_model: {base: spectrum4, shared_buffer: 4KiB, reserve: 0B, pfc_xon_offset: 0B}\n",
        "fabric.switch_model.shared_buffer: shared_buffer must be from 4160 to 4294967296, got 4096 (one "
        "frame of "
        "4096 B of payload is 4160 B)",
    ),
    "receive buffer smaller than a frame": (
        "  hca_model: {base: connectx7_roce, receive_buffer: 1KiB, pfc_xon_offset: 0B}\n",
        "fabric.hca_model.receive_buffer: receive_buffer must be from 4160 to 4294967296, got 1024",
    ),
    "receive buffer that headroom fills": (
        "  hca_model: {base: connectx7_roce, receive_buffer: 140KB}\n",
        "fabric.hca_model: headroom and XON offset are larger than the receive buffer of h0: XOFF stands at "
        "receive_buffer - headroom = 140,000 - 140,181 B (by formula h1_mlx5), XON 4,096 B lower",
    ),
    "reordering": (
        "  hca_model: {base: connectx7_roce, reorder_packets: -1}\n",
        "fabric.hca_model.reorder_packets: reorder_packets must be from 0 to",
    ),
    "recovery": (
        "  hca_model: {base: connectx7_roce, loss_recovery: go_back}\n",
        "expected 'go_back_n', 'selective_repeat' or 'go_back_0', got 'go_back'; did you mean 'go_back_n'?",
    ),
    "infiniband engine": (
        "routing: {engine: ftree}\n",
        "routing.engine: 'ftree' belongs to technology 'infiniband'; on RoCE use one of ecmp, explicit",
    ),
    "unknown engine": ("routing: {engine: ecpm}\n", "unknown routing engine 'ecpm'; did you mean 'ecmp'?"),
    "infiniband option": (
        "routing: {lmc: 1}\n",
        "routing.lmc: engine 'ecmp' takes equal_seeds, spraying, flowlet, bfd_interval, bfd_multiplier, "
        "bgp_update; not 'lmc'",
    ),
    "lmc of explicit": (
        "routing: {engine: explicit, lmc: 1, tables: {leaf0: {h0: 1}}}\n",
        "routing.lmc: engine 'explicit' takes tables; not 'lmc'",
    ),
    "spraying and flowlets": (
        "routing: {spraying: true, flowlet: 50us}\n",
        "routing.flowlet: give either 'spraying' or 'flowlet'",
    ),
    "flowlet of nothing": ("routing: {flowlet: 0us}\n", "routing.flowlet: expected more than 0"),
    "infiniband qos": (
        "qos: {sl2vl: {0: 0}}\n",
        "qos.sl2vl: 'sl2vl' belongs to technology 'infiniband'; on RoCE there are lossless_priorities, "
        "strict, weights",
    ),
    "priority 8": (
        "qos: {lossless_priorities: [8]}\n",
        "expected a list of priorities from 0 to 7, each once",
    ),
    "priority twice": (
        "qos: {strict: [6, 6]}\n",
        "qos.strict: expected a list of priorities from 0 to 7, each once",
    ),
    "weight of a strict priority": (
        "qos: {strict: [6], weights: {6: 10}}\n",
        "qos.weights[6]: priority 6 is strict: it has no weight",
    ),
    "weight of nothing": (
        "qos: {weights: {3: 0}}\n",
        "qos.weights: expected a mapping of priority to weight such as {3: 64, 0: 64}; a weight is a "
        "number from 1 "
        "to 255, in 64 bytes",
    ),
    "weight of no priority": (
        "qos: {weights: {x: 1}}\n",
        "qos.weights: expected a mapping of priority to weight",
    ),
    "weights as a list": (
        "qos: {weights: [1]}\n",
        "a mapping of priority to weight such as {3: 64, 0: 64}, got a list",
    ),
    "service level 8": (STREAM.format(", sl: 8"), "workload[0].sl: expected a priority from 0 to 7, got 8"),
    "subnet manager": (
        "subnet_manager: {smp_rtt: 1us}\n",
        "subnet_manager: 'subnet_manager' belongs to technology 'infiniband'; on RoCE "
        "'routing.bfd_interval' and 'routing.bgp_update' say when",
    ),
    "subnet manager that dies": (
        "faults: [{kind: sm_down, node: h0, at: 1us}]\n",
        "faults[0].kind: 'sm_down' belongs to technology 'infiniband'; on RoCE use one of link_down, ",
    ),
    "management agent that hangs": (
        "faults: [{kind: sma_unresponsive, node: h0, at: 1us}]\n",
        "faults[0].kind: 'sma_unresponsive' belongs to technology 'infiniband'",
    ),
    "storm of a lossy priority": (
        "faults: [{kind: pfc_storm, node: h0, priority: 5, at: 1us}]\n",
        "faults[0].priority: priority 5 is not lossless: PFC does not pause it; expected one of 3",
    ),
    "storm where nothing is lossless": (
        "qos: {lossless_priorities: []}\nfaults: [{kind: pfc_storm, node: h0, at: 1us}]\n",
        "faults[0].kind: no priority is lossless: PFC pauses none",
    ),
    "death of a switch": (
        "faults: [{kind: dead_host, node: leaf0, at: 1us}]\n",
        "faults[0].node: 'leaf0' is a switch; expected an HCA",
    ),
    "go back to 0 in a window": (
        "  hca_model: {base: connectx7_roce, loss_recovery: go_back_0, window_packets: 8}\n",
        "fabric.hca_model.window_packets",
    ),
    "pause of no quanta": (
        "  switch_model: {base: spectrum4, pfc_quanta: 0}\n",
        "fabric.switch_model.pfc_quanta: pfc_quanta must be from 1 to 65535, got 0",
    ),
    "storm of a switch": (
        "faults: [{kind: pfc_storm, node: leaf0, at: 1us}]\n",
        "faults[0].node: 'leaf0' is a switch; expected an HCA",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_roce_scenario_is_refused_with_the_reason(name: str) -> None:
    appended, expected = WRONG[name]
    assert expected in refused_roce(appended)


@pytest.mark.parametrize(
    ("appended", "expected"),
    [
        (
            "  switch_model: {base: spectrum4, pfc_headroom: 10KB}\n",
            "headroom of leaf0 is 10,000 B by pfc_headroom, less than 2 * rate * delay + response + 2 "
            "frames = "
            "71,240 B: lossless packets can be lost",
        ),
        (
            "  hca_model: {base: connectx7_roce, pfc_headroom: 10KB}\n",
            "headroom of h0 is 10,000 B by pfc_headroom, less than",
        ),
        (
            "  switch_model: {base: spectrum4, shared_buffer: 1MB, ecn: {profile: sonic_azure}}\n"
            "congestion_control: {algorithm: dcqcn, profile: paper}\n",
            "ECN marks from 1,048,576 B on, but with all 4 lossless priority groups of a switch congested "
            "PFC pauses "
            "at alpha * shared_buffer / (1 + alpha * 4) = 200,000 B: pauses come before marks",
        ),
        (
            "  switch_model: {base: spectrum4, ecn: none}\ncongestion_control: {algorithm: dcqcn, "
            "profile: paper}\n",
            "the switches mark nothing: dcqcn will hear of no congestion",
        ),
    ],
)
def test_unwise_roce_scenario_is_read_with_a_warning(appended: str, expected: str) -> None:
    (warning,) = parse_roce(appended).warnings
    assert expected in str(warning)
    assert warning.line == 7


def test_headroom_that_nothing_lossless_needs_is_not_looked_at() -> None:
    scenario = parse_roce(
        "  switch_model: {base: spectrum4, pfc_headroom: 10KB}\nqos: {lossless_priorities: []}\n"
    )
    assert scenario.warnings == ()


@pytest.mark.parametrize("model", ["spectrum4", "tomahawk5", "tomahawk_ultra", "trident2"])
@pytest.mark.parametrize("profile", ["paper", "connectx", "hpcc"])
def test_rows_of_the_table_are_wise_with_every_port_in_use(model: str, profile: str) -> None:
    hosts, rate = (32, "40Gb/s") if model == "trident2" else (64, "800Gb/s")
    scenario = parse_roce(
        f"  switch_model: {model}\n  hca_model: connectx8_roce\n  link: {{rate: {rate}, length: 100m}}\n"
        f"congestion_control: {{algorithm: dcqcn, profile: {profile}}}\n",
        f"{{generator: single_switch, hosts: {hosts}}}",
    )
    assert scenario.warnings == ()


def test_import_of_an_infiniband_fabric_is_refused() -> None:
    refused = refused_roce("", "{import: ibnetdiscover, file: x}")
    assert "ibnetdiscover tells of InfiniBand fabrics; expected technology 'infiniband'" in refused
