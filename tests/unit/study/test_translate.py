# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import Technology
from fabrictwin.model.hardware import ETHERNET_SWITCH_MODELS, HCA_MODELS, ROCE_HCA_MODELS, SWITCH_MODELS
from fabrictwin.study.hardware_pairs import PAIRS
from fabrictwin.study.source import Source
from fabrictwin.study.translate import Translation, keep, translate, usual_link, write_topology
from fabrictwin.study.variants import VARIANTS, expand_variants, pair_up
from unit.study.study_scenarios import INFINIBAND, ROCE, source_of


def _translated(text: str) -> Translation:
    source = source_of(text)
    return translate(source, source.expand())


def _cables(source: Source) -> list[tuple[str, str, int, int]]:
    fabric = source.expand().fabric
    return [
        (fabric.port_name(link.a), fabric.port_name(link.b), link.rate_bps, link.length_mm)
        for link in fabric.links
    ]


@pytest.mark.parametrize("text", [INFINIBAND, ROCE])
def test_translation_keeps_hosts_cables_and_flows(text: str) -> None:
    own, other = source_of(text), _translated(text).source
    assert _cables(other) == _cables(own)
    names = [[flow.name for job in one.expand().jobs for flow in job.flows] for one in (own, other)]
    assert names[0] == names[1]


def test_translation_to_roce_says_what_it_mapped_and_dropped() -> None:
    form = _translated(INFINIBAND)
    assert "quantum2 → spectrum4" in form.mapped
    assert "connectx7 → connectx7_roce" in form.mapped
    assert "routing ftree → ecmp" in form.mapped
    dropped = "; ".join(form.dropped)
    for word in ("hoq_life", "forwarding_latency", "tx_latency", "roots", "qos", "subnet_manager", "expect"):
        assert word in dropped
    assert "fault sm_down" in dropped
    assert "sl 9" in dropped
    assert "ack_timeout" not in dropped


def test_translation_to_roce_makes_every_priority_in_use_lossless() -> None:
    scenario = _translated(INFINIBAND).source.expand()
    assert scenario.qos.lossless == {3, 5}
    assert {flow.sl for job in scenario.jobs for flow in job.flows} <= {3, 5}


def test_translation_to_roce_keeps_what_both_have() -> None:
    scenario = _translated(INFINIBAND).source.expand()
    assert next(iter(scenario.hca_models.values())).ack_timeout_ps == 500_000_000
    assert [fault.kind for fault in scenario.faults] == ["link_down"]


def test_translation_to_infiniband_routes_what_is_no_tree_with_min_hop() -> None:
    form = _translated(ROCE)
    scenario = form.source.expand()
    assert scenario.fabric.technology is Technology.INFINIBAND
    assert scenario.routing.engine == "min_hop"
    assert scenario.congestion_control.algorithm == "ib_cca"
    assert scenario.faults == ()
    assert "trident2 → quantum_hdr" in form.mapped
    assert any("shared_buffer" in text for text in form.dropped)


def test_keep_switches_congestion_control_and_pfc_on() -> None:
    text = ROCE.replace("{algorithm: dcqcn, profile: paper}", "{algorithm: none}").replace("[2]", "[]")
    text = text.partition("faults")[0]
    source = source_of(text)
    scenario = keep(source, source.expand()).source.expand()
    assert scenario.congestion_control.algorithm == "dcqcn"
    assert scenario.qos.lossless == {3}


TCP = "  - {kind: stream, name: bulk, src: h3, dst: h0, message: 64KiB, transport: tcp, sl: 0}\n"


def test_tcp_becomes_rdma_on_infiniband_and_stays_tcp_on_roce() -> None:
    source = source_of(ROCE.replace("faults:", TCP + "faults:"))
    pair = pair_up(source, source.expand())
    assert any("TCP" in note for note in pair.forms[Technology.INFINIBAND].mapped)
    scenarios = expand_variants(pair)
    tcp = {
        name: [flow.tcp for job in scenario.jobs for flow in job.flows]
        for name, scenario in scenarios.items()
    }
    assert tcp["infiniband"] == [False, False, False]
    assert tcp["roce"] == tcp["roce_lossy"] == [False, False, True]
    assert [flow.sl for job in scenarios["roce_lossy"].jobs for flow in job.flows] == [2, 2, 0]


def test_priority_of_tcp_does_not_become_lossless() -> None:
    text = ROCE.replace("faults:", TCP + "faults:").partition("faults")[0].replace("[2]", "[]")
    source = source_of(text)
    assert keep(source, source.expand()).source.expand().qos.lossless == {3}


def test_write_topology_gives_the_same_fabric_again() -> None:
    source = source_of(INFINIBAND)
    again = source.change({("fabric", "topology"): write_topology(source.expand().fabric)})
    assert _cables(again) == _cables(source)


def test_usual_link_is_that_of_most_hosts() -> None:
    links = "[[h0/1, sw0/1], [h1/1, sw0/2], [h2/1, sw0/3, {rate: 100Gb/s}], [sw0/4, sw1/1], [sw0/5, sw1/2]]"
    nodes = "{h0: hca, h1: hca, h2: hca, sw0: switch, sw1: switch}"
    text = f"version: 1\nname: mixed\nfabric:\n  topology: {{nodes: {nodes}, links: {links}}}\n"
    text += "  link: {rate: 200Gb/s, length: 30m}\n"
    assert usual_link(source_of(text).expand()) == {"rate": "200000.000000Mb/s", "length": "30.000m"}


def test_pairs_are_there_for_every_model_of_both_technologies() -> None:
    rows: dict[Technology, Any] = {
        Technology.ROCE: {**ETHERNET_SWITCH_MODELS, **ROCE_HCA_MODELS},
        Technology.INFINIBAND: {**SWITCH_MODELS, **HCA_MODELS},
    }
    assert set(PAIRS[Technology.ROCE]) == set(rows[Technology.INFINIBAND])
    assert set(PAIRS[Technology.INFINIBAND]) == set(rows[Technology.ROCE])
    for technology, pairs in PAIRS.items():
        assert {name for names in pairs.values() for name in names} <= set(rows[technology])


def test_pair_of_a_fast_fabric_is_a_model_with_fast_ports() -> None:
    text = ROCE.replace("trident2", "spectrum4").replace("connectx6_roce", "connectx8_roce")
    assert "spectrum4 → quantum_x800" in _translated(text).mapped


def _large(hosts: int, rest: str) -> str:
    topology = f"{{generator: single_switch, hosts: {hosts}}}"
    return f"version: 1\nname: large\nfabric:\n  topology: {topology}\n{rest}"


def test_pair_of_a_switch_with_many_ports_is_generic() -> None:
    form = _translated(_large(100, "  switch_model: quantum_x800\n"))
    assert "quantum_x800 → native_roce" in form.mapped
    assert len(form.source.expand().fabric.hcas) == 100


def test_pair_that_is_too_slow_is_refused_with_the_rate() -> None:
    parts = "  switch_model: native_ib\n  hca_model: native_hca\n  link: {rate: 1Tb/s}\n"
    with pytest.raises(InputError, match="cannot have 1 ports with cables of 1 Tb/s"):
        _translated(_large(2, parts))


@pytest.mark.parametrize("text", [INFINIBAND, ROCE])
def test_variants_differ_from_the_plain_form_in_what_they_say(text: str) -> None:
    source = source_of(text)
    scenarios = expand_variants(pair_up(source, source.expand()))
    assert list(scenarios) == list(VARIANTS)
    assert scenarios["roce_spraying"].routing.spraying
    assert not scenarios["roce"].routing.spraying
    assert scenarios["roce_spraying"].routing.equal_seeds == scenarios["roce"].routing.equal_seeds
    assert scenarios["roce"].qos.lossless
    assert not scenarios["roce_lossy"].qos.lossless
    for name in ("infiniband_no_cc", "roce_no_cc"):
        assert scenarios[name].congestion_control.algorithm == "none"


def test_variant_that_sprays_takes_the_place_of_tables_and_flowlets() -> None:
    for routing in ("{engine: explicit, tables: {sw0: {h0: 1}}}", "{engine: ecmp, flowlet: 1us}"):
        source = source_of(ROCE.replace("{engine: ecmp, equal_seeds: true}", routing))
        scenario = expand_variants(pair_up(source, source.expand()))["roce_spraying"]
        assert scenario.routing.engine == "ecmp"
        assert scenario.routing.spraying
        assert scenario.routing.flowlet_ps == 0


def test_variants_with_problems_say_which_one_it_is() -> None:
    # h2_sonic's headroom for 400 Gb/s is more than this buffer, but only on RoCE is there one.
    text = ROCE.replace("shared_buffer: 8MB", "shared_buffer: 8MB, pfc_headroom: 400KB")
    source = source_of(text)
    pair = pair_up(source, source.expand())
    changed = pair.forms[Technology.ROCE].source.change({("fabric", "switch_model", "pfc_headroom"): "4MB"})
    broken = type(pair)({**pair.forms, Technology.ROCE: Translation(changed)}, pair.own)
    with pytest.raises(InputError) as error:
        expand_variants(broken)
    assert all("as 'RoCE" in problem.message for problem in error.value.problems)
