# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import time
from pathlib import Path

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.fabric import NodeKind
from fabrictwin.model.scenario import Scenario, load_scenario, parse_scenario
from fabrictwin.model.scenario.load import LONGEST_FINITE_RUN_PS
from fabrictwin.model.section import MOST_PROBLEMS
from fabrictwin.model.subnet_manager import Manager, SubnetManagerTiming
from fabrictwin.model.workload import WORKLOADS
from fabrictwin.units import PS_PER_MS, PS_PER_NS, PS_PER_S, PS_PER_US, parse_rate_bps
from unit.model.wrong_scenarios import WRONG, WRONG_IN_SEVERAL_WAYS, scenario_text

REPOSITORY = Path(__file__).resolve().parents[3]
SHIPPED = sorted((REPOSITORY / "deploy" / "scenarios").glob("*.yaml"))


def _parse(appended: str = "", **lines: str) -> Scenario:
    return parse_scenario(scenario_text(appended, **lines), file="s.yaml")


def _problems(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_scenario(text, file="s.yaml")
    return [str(problem) for problem in caught.value.problems]


def test_scenario_without_a_choice_has_the_defaults() -> None:
    scenario = _parse()
    assert scenario.seed == 1
    assert scenario.mtu_bytes == 4096
    assert scenario.routing.engine == "min_hop"
    assert scenario.congestion_control.algorithm == "none"
    assert list(scenario.switch_models) == ["quantum2"]
    assert list(scenario.hca_models) == ["connectx7"]
    assert {link.rate_bps for link in scenario.fabric.links} == {400_000_000_000}
    assert {link.length_mm for link in scenario.fabric.links} == {10_000}
    assert scenario.jobs == scenario.actions == scenario.expectations == ()


def test_scenario_with_every_key_is_read() -> None:
    scenario = _parse(
        """\
  technology: infiniband
  switch_model: infiniscale4
  hca_model: {base: native_hca, ack_every: 4, drain_rate: 10Gb/s, ack_timeout: 1ms, receive_buffer: 64KiB}
  link: {rate: 32Gb/s, length: 0.5m}
  mtu: 2048
routing: {engine: up_down, lmc: 1, roots: [spine0, spine1]}
congestion_control: {algorithm: ib_cca, threshold: 7, ccti_timer: 30, control: sl, reaction_latency: 2us}
qos: {data_vls: 2, sl2vl: {1: 1}, vlarb_high: [[1, 20]], vlarb_low: [[0, 10], [1, 5]], vl_high_limit: 3}
workload:
  - {kind: stream, src: h0, dst: h3, message: 1MiB, sl: 1, qps: 4, start: 1us, stop: 2us}
faults:
  - {kind: switch_down, switch: spine1, at: 10us}
deployment: {switch_shards: 2, hca_shards: 3}
subnet_manager:
  managers: [{node: h3, priority: 5}, {node: h0}]
  trap_latency: 1ms
  smp_rtt: 5us
  max_wire_smps: 8
  sweep_interval: 5s
  sminfo_polling_timeout: 5s
  polling_retry_number: 2
  transaction_timeout: 100ms
  transaction_retries: 1
expect:
  - {path: totals.dropped_packets, equals: 0}
"""
    )
    assert scenario.hca_models["native_hca+"].ack_every == 4
    assert scenario.hca_models["native_hca+"].drain_rate_bps == 10**10
    assert scenario.hca_models["native_hca+"].ack_timeout_ps == PS_PER_MS
    assert scenario.hca_models["native_hca+"].receive_buffer_bytes == 65536
    assert {node.model for node in scenario.fabric.nodes} == {"infiniscale4", "native_hca+"}
    assert {(link.rate_bps, link.length_mm) for link in scenario.fabric.links} == {(32_000_000_000, 500)}
    assert scenario.mtu_bytes == 2048
    roots = [scenario.fabric.nodes[root].name for root in scenario.routing.roots]
    assert (scenario.routing.engine, scenario.routing.lmc, roots) == ("up_down", 1, ["spine0", "spine1"])
    assert scenario.congestion_control.threshold == 7
    assert scenario.congestion_control.reaction_latency_ps == 2 * PS_PER_US
    assert scenario.data_vls == 2
    assert scenario.qos.sl2vl[:3] == (0, 1, 0)
    job = scenario.jobs[0]
    assert (job.name, job.flows[0].sl, job.flows[0].qps) == ("stream0", 1, 4)
    assert (job.programs[0].start_ps, job.programs[0].stop_ps) == (PS_PER_US, 2 * PS_PER_US)
    assert len(scenario.actions) == 2
    assert scenario.deployment.hca_shards == 3
    assert scenario.subnet_manager == SubnetManagerTiming(
        PS_PER_MS, 5 * PS_PER_US, 8, 5 * PS_PER_S, 5 * PS_PER_S, 2, 100 * PS_PER_MS, 1
    )
    h0, h3 = (scenario.fabric.index_of[name] for name in ("h0", "h3"))
    guids = [scenario.fabric.nodes[node].port_guid(1) for node in (h0, h3)]
    assert scenario.managers == (Manager(h3, 1, 5, guids[1]), Manager(h0, 1, 0, guids[0]))
    assert scenario.expectations[0].path == "totals.dropped_packets"


def test_scenario_with_every_kind_of_work_is_read() -> None:
    scenario = _parse(
        """\
routing: {engine: ftree}
congestion_control: {algorithm: none}
workload:
  - {kind: stream, name: s0, src: h0, dst: h3, message: 1MiB, count: 10, start: 0us}
  - {kind: incast, senders: [h1, h2], receiver: h0, message: 1MiB, count: 1}
  - {kind: permutation, pattern: random, message: 1MiB, count: forever}
  - {kind: uniform_random, load: 0.6, message: 4KiB, arrival: poisson}
  - {kind: all_reduce, algorithm: ring, ranks: all, bytes: 64MiB, iterations: 2}
  - {kind: all_to_all, ranks: all, bytes: 16MiB}
faults:
  - {kind: link_down, link: [leaf0/4, spine1/1], at: 500us, duration: 1ms}
deployment: {switch_shards: 2, hca_shards: 2}
expect: []
"""
    )
    assert [job.name for job in scenario.jobs] == [
        *("s0", "incast1", "permutation2", "uniform_random3", "all_reduce4", "all_to_all5"),
    ]
    assert [job.kind for job in scenario.jobs] == list(WORKLOADS)
    names = [flow.name for job in scenario.jobs for flow in job.flows]
    assert len(names) == len(set(names))


def test_scenario_switch_override_changes_only_what_it_names() -> None:
    model = _parse("  switch_model: {base: quantum2, forwarding_latency: 200ns, data_vls: 4}").switch_models[
        "quantum2+"
    ]
    assert model.forwarding_latency_ps == 200 * PS_PER_NS
    assert model.data_vls == 4
    assert model.buffer_per_vl_bytes == 131_072


@pytest.mark.parametrize(
    ("override", "lives"),
    [
        ("hoq_life: infinite", (None, None)),
        ("hoq_life: 1ms", (PS_PER_MS, PS_PER_MS)),
        ("hoq_life: 2ms, leaf_hoq_life: 1ms", (2 * PS_PER_MS, PS_PER_MS)),
        ("hoq_life: infinite, leaf_hoq_life: 1ms", (None, PS_PER_MS)),
    ],
)
def test_scenario_hoq_life_holds_on_every_port_unless_leaves_differ(
    override: str, lives: tuple[int | None, int | None]
) -> None:
    (model,) = _parse(f"  switch_model: {{base: quantum2, {override}}}").switch_models.values()
    assert (model.hoq_life_ps, model.leaf_hoq_life_ps) == lives


def test_scenario_link_rate_defaults_to_the_slower_model() -> None:
    fabric = _parse("  hca_model: connectx6").fabric
    assert {link.rate_bps for link in fabric.links} == {200_000_000_000}


_TOO_FAST = "fabric.link.rate: 400.1 Gb/s is more than a port of quantum2 can do; the most is 400 Gb/s"


@pytest.mark.parametrize(
    ("fabric", "expected"),
    [
        ("  link: {rate: 400.1Gb/s}", _TOO_FAST),
        (
            "  hca_model: connectx8\n  link: {rate: 800Gb/s}",
            "fabric.link.rate: 800 Gb/s is more than a port of quantum2 can do; the most is 400 Gb/s",
        ),
        (
            "  switch_model: quantum_hdr\n  hca_model: connectx6\n  link: {rate: 400Gb/s}",
            "fabric.link.rate: 400 Gb/s is more than a port of quantum_hdr can do; the most is 200 Gb/s",
        ),
    ],
)
def test_scenario_link_faster_than_a_port_is_refused(fabric: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        _parse(fabric)
    assert [str(problem).split(": ", 1)[1] for problem in caught.value.problems] == [expected]


@pytest.mark.parametrize("rate", ["400Gb/s", "100Gb/s", "1Gb/s"])
def test_scenario_link_as_fast_as_its_ports_or_slower_is_taken(rate: str) -> None:
    fabric = _parse(f"  link: {{rate: {rate}}}").fabric
    assert {link.rate_bps for link in fabric.links} == {parse_rate_bps(rate)}


def test_scenario_cable_between_fast_switches_may_be_faster_than_the_hcas() -> None:
    topology = (
        "  hca_model: connectx6\n  topology: {nodes: {a: hca, b: hca, s: switch, t: switch}, links: "
        "[[a/1, s/1], [b/1, t/1], [s/2, t/2, {rate: 400Gb/s}]]}"
    )
    fabric = _parse(topology=topology).fabric
    assert [link.rate_bps // 10**9 for link in fabric.links] == [200, 200, 400]


def test_scenario_written_out_cable_faster_than_its_ports_is_refused_at_its_line() -> None:
    topology = (
        "  switch_model: quantum_hdr\n  link: {rate: 250Gb/s}\n"
        "  topology:\n    nodes: {a: hca, b: hca, s: switch, t: switch}\n    links:\n"
        "      - [a/1, s/1]\n      - [b/1, t/1]\n      - [s/2, t/2, {rate: 400Gb/s}]"
    )
    with pytest.raises(InputError) as caught:
        _parse(topology=topology)
    most = "is more than a port of quantum_hdr can do; the most is 200 Gb/s"
    assert [(problem.field, problem.message) for problem in caught.value.problems] == [
        ("fabric.link.rate", f"250 Gb/s {most}"),
        ("fabric.topology.links[2]", f"400 Gb/s {most}"),
    ]
    text = scenario_text(topology=topology).splitlines()
    assert [text[problem.line - 1].strip() for problem in caught.value.problems] == [
        "link: {rate: 250Gb/s}",
        "- [s/2, t/2, {rate: 400Gb/s}]",
    ]


def test_scenario_with_written_out_topology_has_its_nodes_and_cables() -> None:
    text = (
        "  topology: {nodes: {a: hca, b: {hca: 2}, s: {switch: 4}}, "
        "links: [[a/1, s/1], [b/2, s/2, {length: 30m, rate: 200Gb/s}]]}"
    )
    fabric = _parse(topology=text).fabric
    assert [(node.name, node.kind, node.ports) for node in fabric.nodes] == [
        ("a", NodeKind.HCA, 1),
        ("b", NodeKind.HCA, 2),
        ("s", NodeKind.SWITCH, 4),
    ]
    assert [(link.rate_bps, link.length_mm) for link in fabric.links] == [
        (400_000_000_000, 10_000),
        (200_000_000_000, 30_000),
    ]


def test_scenario_imports_a_file_beside_it(tmp_path: Path) -> None:
    source = REPOSITORY / "deploy" / "scenarios" / "hdr_fat_tree.ibnetdiscover"
    (tmp_path / "fabric.txt").write_bytes(source.read_bytes())
    topology = "  topology: {import: ibnetdiscover, file: fabric.txt}\n  link: {length: 3m}"
    file = tmp_path / "s.yaml"
    file.write_text(scenario_text(topology=topology))
    scenario = load_scenario(file)
    assert {link.length_mm for link in scenario.fabric.links} == {3_000}
    # The rates are those of the file, not of the models.
    assert {link.rate_bps for link in scenario.fabric.links} == {200_000_000_000}
    assert scenario.warnings == ()
    (tmp_path / "fabric.txt").write_bytes(source.read_bytes() + b"# changed\n")
    assert load_scenario(file).sha256 != scenario.sha256


def _import_scenario(more: str) -> str:
    file = REPOSITORY / "deploy" / "scenarios" / "hdr_fat_tree.ibnetdiscover"
    return scenario_text(topology=f"  topology: {{import: ibnetdiscover, file: '{file}'}}\n{more}")


def test_scenario_import_refuses_a_rate_beside_those_of_the_file() -> None:
    with pytest.raises(
        InputError, match=r"fabric\.link\.rate: an imported file tells the rate of every cable"
    ):
        parse_scenario(_import_scenario("  link: {rate: 100Gb/s}"))


def test_scenario_import_with_slower_models_keeps_the_speeds_of_the_file_and_says_so() -> None:
    models = "  switch_model: infiniscale4\n  hca_model: connectx6"
    scenario = parse_scenario(_import_scenario(models))
    assert {link.rate_bps for link in scenario.fabric.links} == {200_000_000_000}
    (warning,) = scenario.warnings
    cables = len(scenario.fabric.links)
    assert f"{cables} of {cables} cables are faster than a port of infiniscale4" in warning.message
    assert warning.line


def test_scenario_hash_is_that_of_its_text() -> None:
    text = scenario_text()
    assert parse_scenario(text).sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_scenario_whose_work_ends_needs_no_duration() -> None:
    work = "workload: [{kind: stream, src: h0, dst: h1, message: 1KiB}]"
    assert _parse(work, duration="").duration_ps == LONGEST_FINITE_RUN_PS


def test_scenario_whose_endless_work_is_stopped_needs_no_duration() -> None:
    work = "workload: [{kind: permutation, message: 1KiB, count: forever, stop: 5us}]"
    assert _parse(work, duration="").duration_ps == LONGEST_FINITE_RUN_PS


def test_scenario_is_the_same_when_read_twice() -> None:
    work = "workload: [{kind: permutation, message: 1KiB}]"
    first, second = _parse(work), _parse(work)
    assert first.jobs == second.jobs
    assert first.fabric == second.fabric


@pytest.mark.parametrize("name", WRONG)
def test_wrong_scenario_names_line_field_and_what_was_expected(name: str) -> None:
    text, expected = WRONG[name]
    problems = _problems(text)
    assert any(expected in problem for problem in problems), "\n".join(problems)


@pytest.mark.parametrize("name", [name for name in WRONG if name not in WRONG_IN_SEVERAL_WAYS])
def test_wrong_scenario_has_no_problem_but_the_one(name: str) -> None:
    problems = _problems(WRONG[name][0])
    # A misspelled key is two problems: it is unknown, and the right one is missing.
    assert len(problems) <= 2, "\n".join(problems)


def test_wrong_scenario_shows_the_problems_of_every_section_in_file_order() -> None:
    text = scenario_text(
        """\
  mtu: 1500
routing: {engine: ftre}
congestion_control: {algorithm: ib_cc}
qos: {data_vls: 3}
workload:
  - {kind: stream, src: h0, dst: h1}
  - {kind: permutatoin}
faults:
  - {kind: link_down, link: [leaf0/3, spine0/1]}
deployment: {shards: 2}
expect:
  - {path: nothing, min: 1}
""",
        name="name: 5",
    )
    problems = _problems(text)
    lines = [int(problem.split(":")[1]) for problem in problems]
    assert lines == sorted(lines)
    fields = [problem.split(": ")[1] for problem in problems]
    assert fields == [
        *("name", "fabric.mtu", "routing.engine", "congestion_control.algorithm", "qos.data_vls"),
        *("workload[0].message", "workload[1].kind", "faults[0].at", "deployment.shards", "expect[0].path"),
    ]


def test_wrong_names_in_a_sound_fabric_are_all_shown() -> None:
    text = scenario_text(
        """\
routing: {engine: up_down, roots: [nowhere]}
congestion_control: {algorithm: ib_cca, victim_mask: [leaf0/99]}
workload:
  - {kind: stream, src: nobody, dst: h1, message: 1KiB}
  - {kind: incast, senders: [h1, nobody], receiver: nobody, message: 1KiB}
faults:
  - {kind: link_down, link: [nowhere/1, spine0/1], at: 1us}
  - {kind: slow_receiver, node: nobody, rate: 1Gb/s, at: 1us}
"""
    )
    fields = [problem.split(": ")[1] for problem in _problems(text)]
    assert fields == [
        *("routing.roots[0]", "congestion_control.victim_mask[0]", "workload[0].src", "workload[1].receiver"),
        *("workload[1].senders[1]", "faults[0].link[0]", "faults[1].node"),
    ]


def test_wrong_workload_raises_no_problem_with_what_is_expected_of_it() -> None:
    work = "workload: [{kind: stream, name: s0, src: h0, dst: h77, message: 1KiB}]"
    problems = _problems(scenario_text(work + "\nexpect: [{path: 'flows[s0].goodput_bps', min: 1}]"))
    assert len(problems) == 1


def _long(line: str, count: int, head: str) -> str:
    return scenario_text(head + "\n" + line * count)


HOSTILE = {
    "wrong entries": _long("- {kind: stream, src: zz, dst: yy, message: 1MiB}\n", 2200, "workload:"),
    "wrong kinds": _long("- {kind: streem}\n", 7000, "workload:"),
    "unknown keys": scenario_text("".join(f"k{index}: 1\n" for index in range(12_000))),
    "unknown senders": scenario_text(
        "workload:\n- kind: incast\n  receiver: h0\n  message: 1KiB\n  senders: ["
        + ",\n".join(f"x{index}" for index in range(24_000))
        + "]"
    ),
    "routes of unknown switches": scenario_text(
        "routing:\n  engine: explicit\n  tables:\n" + "".join(f"    z{i}: {{h0: 1}}\n" for i in range(6000))
    ),
    "flaps": _long(
        "- {kind: link_flap, link: [leaf0/3, spine0/1], at: 0us, down: 1us, up: 1us, count: 1000}\n",
        1200,
        "faults:",
    ),
    "collectives": scenario_text(
        "workload:\n" + "- {kind: all_to_all, ranks: all, bytes: 1MiB}\n" * 3000,
        topology="  topology: {generator: fat_tree, levels: 3, k: 12}",
    ),
    "a million ports": scenario_text(topology="  topology: {generator: fat_tree, levels: 3, k: 1000}"),
    "cables of unknown nodes": scenario_text(
        topology="  topology:\n    nodes:\n"
        + "".join(f"      n{index}: hca\n" for index in range(3000))
        + "    links:\n"
        + "".join(f"    - [y{index}/1, z{index}/1]\n" for index in range(4000))
    ),
    "unknown kinds of nodes": scenario_text(
        topology="  topology:\n    links: []\n    nodes:\n"
        + "".join(f"      n{index}: hcaa\n" for index in range(12_000))
    ),
    "expectations": _long("- {path: 'flows[zz].goodput_bps', min: 1}\n", 4000, "expect:"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_scenario_is_refused_fast_with_few_problems(name: str) -> None:
    began = time.process_time()
    problems = _problems(HOSTILE[name])
    assert time.process_time() - began < 1.0
    assert len(problems) <= MOST_PROBLEMS + 1


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_shipped_scenario_is_valid(file: Path) -> None:
    assert load_scenario(file).jobs


def test_real_fabrics_import(shared_data: Path, tmp_path: Path) -> None:
    for name, hcas in (("topograph_ndr_2025.ibnetdiscover", 582),):
        file = tmp_path / "s.yaml"
        path = shared_data / "ibnet" / name
        file.write_text(scenario_text(topology=f'  topology: {{import: ibnetdiscover, file: "{path}"}}'))
        assert len(load_scenario(file).fabric.hcas) == hcas
