# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fractions import Fraction

import pytest

from fabrictwin.errors import InputError
from fabrictwin.model.program import FOREVER, LOOP_DEPTH, Instruction, Job, Op
from fabrictwin.model.scenario import Scenario, parse_scenario
from fabrictwin.model.workload import WORKLOADS
from fabrictwin.model.workload.collective import BUS_FACTORS, bus_factor
from fabrictwin.model.workload.draw import draw_below, draw_derangement
from fabrictwin.model.yaml_loader import read_document
from fabrictwin.units import PS_PER_NS, PS_PER_US
from unit.model.rank_interpreter import run_job

KIB, MIB = 1 << 10, 1 << 20


def _scenario(entries: str, hosts: int = 6, seed: int = 1, topology: str = "") -> Scenario:
    topology = topology or f"{{generator: single_switch, hosts: {hosts}}}"
    return parse_scenario(
        f"version: 1\nname: t\nseed: {seed}\nduration: 1ms\n"
        f"fabric: {{topology: {topology}, switch_model: native_ib}}\n"
        f"workload: [{entries}]\n"
    )


def _job(entry: str, hosts: int = 6, seed: int = 1) -> Job:
    (job,) = _scenario(f"{{{entry}}}", hosts, seed).jobs
    return job


def _refused(entry: str, hosts: int = 6) -> str:
    with pytest.raises(InputError) as caught:
        _job(entry, hosts)
    return str(caught.value)


def _pairs(job: Job) -> list[tuple[int, int]]:
    return [(flow.src.node, flow.dst.node) for flow in job.flows]


def test_stream_in_a_closed_loop_posts_again_when_the_last_is_sent() -> None:
    job = _job("kind: stream, name: s0, src: h0, dst: h5, message: 1MiB, count: 10")
    assert [flow.name for flow in job.flows] == ["s0"]
    assert job.programs[0].instructions == (
        Instruction(Op.POST, 0, MIB),
        Instruction(Op.WAIT_SENT, 0),
        Instruction(Op.LOOP, 0, 10),
        Instruction(Op.END),
    )


@pytest.mark.parametrize(
    ("arrival", "poisson"), [("", 0), (", arrival: fixed", 0), (", arrival: poisson", 1)]
)
def test_stream_at_a_rate_posts_in_an_open_loop(arrival: str, poisson: int) -> None:
    job = _job(f"kind: stream, src: h0, dst: h5, message: 4KiB, count: forever, rate: 100Gb/s{arrival}")
    interval_ps = 327_680  # 4096 B at 100 Gb/s
    assert job.programs[0].instructions == (
        Instruction(Op.PACE, interval_ps, poisson),
        Instruction(Op.POST, 0, 4096),
        Instruction(Op.LOOP, 0, FOREVER),
        Instruction(Op.END),
    )


def test_incast_has_a_flow_for_each_sender_in_their_order() -> None:
    job = _job("kind: incast, senders: [h4, h2], receiver: h0, message: 1MiB")
    assert _pairs(job) == [(4, 0), (2, 0)]
    assert [flow.name for flow in job.flows] == ["incast0:h4>h0", "incast0:h2>h0"]
    assert [program.node for program in job.programs] == [4, 2]
    assert [program.instructions[0].a for program in job.programs] == [0, 1]


def test_incast_of_all_leaves_the_receiver_out() -> None:
    job = _job("kind: incast, senders: all, receiver: h2, message: 1MiB")
    assert _pairs(job) == [(0, 2), (1, 2), (3, 2), (4, 2), (5, 2)]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("senders: [h1, h0], receiver: h0", "workload[0].senders[1]: 'h0' is the receiver too"),
        ("senders: [h1, h2, h1], receiver: h0", "workload[0].senders[2]: 'h1' stands there twice"),
        ("senders: [], receiver: h0", "expected 'all' or a list of HCAs such as [h0, h1], got a list"),
        ("senders: some, receiver: h0", "expected 'all' or a list of HCAs such as [h0, h1], got 'some'"),
    ],
)
def test_incast_with_wrong_senders_is_refused(entry: str, expected: str) -> None:
    assert expected in _refused(f"kind: incast, {entry}, message: 1KiB")


@pytest.mark.parametrize("seed", range(20))
def test_permutation_sends_from_and_to_every_hca_but_to_none_from_itself(seed: int) -> None:
    pairs = _pairs(_job("kind: permutation, message: 1KiB", hosts=7, seed=seed))
    assert [src for src, _ in pairs] == list(range(7))
    assert sorted(dst for _, dst in pairs) == list(range(7))
    assert all(src != dst for src, dst in pairs)


def test_permutation_depends_on_the_seed_and_the_name_only() -> None:
    first = _pairs(_job("kind: permutation, message: 1KiB", hosts=16))
    assert first == _pairs(_job("kind: permutation, message: 2MiB, count: 7", hosts=16))
    assert first != _pairs(_job("kind: permutation, message: 1KiB", hosts=16, seed=2))
    assert first != _pairs(_job("kind: permutation, message: 1KiB, name: other", hosts=16))


def test_permutation_draws_every_derangement_about_equally_often() -> None:
    # Of 4 things there are 9 derangements.
    counts: dict[tuple[int, ...], int] = {}
    for seed in range(1800):
        order = tuple(draw_derangement(4, seed, "p"))
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 9
    # 200 each; a standard deviation is 13.
    assert all(150 < count < 250 for count in counts.values())


def test_draw_is_the_same_on_every_machine() -> None:
    assert [draw_below(1000, 1, "permutation0", counter) for counter in range(3)] == [879, 827, 285]


def test_permutation_by_a_shift_sends_to_the_shifted() -> None:
    assert _pairs(_job("kind: permutation, pattern: shift, shift: 8, message: 1KiB")) == [
        *((0, 2), (1, 3), (2, 4), (3, 5), (4, 0), (5, 1)),
    ]


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("pattern: shift", "'pattern: shift' needs a 'shift'"),
        ("shift: 2", "'shift' needs 'pattern: shift'"),
        ("pattern: shift, shift: 12", "a shift of 12 over 6 HCAs sends to itself"),
        (
            "pattern: shfit",
            "workload[0].pattern: expected 'random' or 'shift', got 'shfit'; did you mean 'shift'?",
        ),
    ],
)
def test_permutation_with_a_wrong_pattern_is_refused(entry: str, expected: str) -> None:
    assert expected in _refused(f"kind: permutation, message: 1KiB, {entry}")


def test_permutation_of_one_hca_is_refused() -> None:
    assert "needs at least 2 HCAs, the fabric has 1" in _refused("kind: permutation, message: 1KiB", hosts=1)


def test_uniform_random_offers_the_load_in_payload() -> None:
    job = _job("kind: uniform_random, load: 0.6, message: 4KiB")
    assert len(job.flows) == 30
    for rank, program in enumerate(job.programs):
        pace, post, loop, _ = program.instructions
        # 4096 B at 60 % of 400 Gb/s
        assert pace == Instruction(Op.PACE, round(4096 * 8 * 10**12 / 240e9), 1)
        assert post == Instruction(Op.POST_RANDOM, rank * 5, 4096, 5)
        assert loop.b == FOREVER
        assert {job.flows[flow].src.node for flow in range(post.a, post.a + post.c)} == {rank}
        assert {job.flows[flow].dst.node for flow in range(post.a, post.a + post.c)} == set(range(6)) - {rank}


def test_uniform_random_with_equal_gaps_spreads_the_phases() -> None:
    job = _job("kind: uniform_random, load: 0.5, message: 4KiB, arrival: fixed, start: 3us")
    interval_ps = job.programs[0].instructions[0].a
    starts = [program.start_ps - 3 * PS_PER_US for program in job.programs]
    assert len(set(starts)) == 6
    assert all(0 <= start < interval_ps for start in starts)


@pytest.mark.parametrize("load", ["0", "1.1", "-0.5", "'0.5'"])
def test_uniform_random_with_a_wrong_load_is_refused(load: str) -> None:
    assert "workload[0].load: expected" in _refused(f"kind: uniform_random, load: {load}, message: 1KiB")


def test_uniform_random_among_too_many_hcas_is_refused_with_the_reason() -> None:
    entry = "{kind: uniform_random, load: 0.5, message: 1KiB}"
    with pytest.raises(
        InputError, match="takes 2 to 1024 HCAs, the fabric has 1152: each pair of them is a flow"
    ):
        _scenario(
            entry, topology="{generator: fat_tree, levels: 2, leaves: 48, hosts_per_leaf: 24, spines: 4}"
        )


@pytest.mark.parametrize("ranks", [2, 3, 5, 8])
@pytest.mark.parametrize("iterations", [1, 3])
def test_ring_all_reduce_sends_its_share_of_the_data_round(ranks: int, iterations: int) -> None:
    job = _job(f"kind: all_reduce, ranks: all, bytes: 1MiB, iterations: {iterations}", hosts=ranks)
    trace = run_job(job)
    assert trace.finished == set(range(ranks))
    assert not +trace.unread
    assert set(trace.marks.values()) == {iterations}
    assert _pairs(job) == [(rank, (rank + 1) % ranks) for rank in range(ranks)]
    chunk_bytes = -(-MIB // ranks)
    assert set(trace.posted_bytes.values()) == {iterations * 2 * (ranks - 1) * chunk_bytes}
    assert job.iteration_bytes == MIB
    assert Fraction(*job.bus_factor) == Fraction(2 * (ranks - 1), ranks)


def test_ring_all_reduce_computes_once_a_step() -> None:
    job = _job("kind: all_reduce, ranks: [h3, h1, h0], bytes: 1MiB, iterations: 2, step_latency: 5ns")
    trace = run_job(job)
    assert _pairs(job) == [(3, 1), (1, 0), (0, 3)]
    assert set(trace.computed_ps.values()) == {2 * 4 * 5 * PS_PER_NS}


@pytest.mark.parametrize("ranks", [2, 3, 4, 7, 16, 31])
@pytest.mark.parametrize("size", ["1B", "64KiB", "65537B", "16MiB"])
def test_tree_all_reduce_moves_the_data_up_and_down_once(ranks: int, size: str) -> None:
    job = _job(f"kind: all_reduce, algorithm: tree, ranks: all, bytes: {size}, iterations: 2", hosts=ranks)
    trace = run_job(job)
    assert trace.finished == set(range(ranks))
    assert not +trace.unread
    assert set(trace.marks.values()) == {2}
    up = {(rank, (rank - 1) // 2) for rank in range(1, ranks)}
    assert set(_pairs(job)) == up | {(parent, child) for child, parent in up}
    per_flow = trace.posted_bytes[0]
    assert set(trace.posted_bytes.values()) == {per_flow}
    assert per_flow >= 2 * job.iteration_bytes
    # Chunks are rounded up to whole bytes, at most 64 of them an iteration.
    assert per_flow < 2 * (job.iteration_bytes + 64)
    assert Fraction(*job.bus_factor) == Fraction(2 * (ranks - 1), ranks)


def test_tree_all_reduce_runs_ahead_by_the_way_to_the_root_and_back() -> None:
    job = _job("kind: all_reduce, algorithm: tree, ranks: all, bytes: 16MiB", hosts=7)
    leaf = job.programs[6].instructions
    posts = [index for index, step in enumerate(leaf) if step.op is Op.POST]
    first_wait = next(index for index, step in enumerate(leaf) if step.op is Op.WAIT_RECEIVED)
    assert posts[0] < leaf.index(Instruction(Op.LOOP, 0, 4)) < first_wait


@pytest.mark.parametrize("ranks", [2, 3, 6])
def test_all_to_all_sends_a_part_to_every_other(ranks: int) -> None:
    job = _job("kind: all_to_all, ranks: all, bytes: 1MiB, iterations: 3", hosts=ranks)
    trace = run_job(job)
    assert trace.finished == set(range(ranks))
    assert not +trace.unread
    assert set(trace.marks.values()) == {3}
    assert sorted(_pairs(job)) == [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    assert set(trace.posted_bytes.values()) == {3 * -(-MIB // ranks)}
    assert Fraction(*job.bus_factor) == Fraction(ranks - 1, ranks)


def test_all_to_all_starts_with_the_next_rank() -> None:
    job = _job("kind: all_to_all, ranks: all, bytes: 1MiB", hosts=4)
    firsts = [job.flows[program.instructions[0].a].dst.node for program in job.programs]
    assert firsts == [1, 2, 3, 0]


@pytest.mark.parametrize("kind", ["all_reduce", "all_to_all"])
def test_collective_of_one_rank_is_refused(kind: str) -> None:
    assert "workload[0].ranks: needs at least 2 ranks, got 1" in _refused(
        f"kind: {kind}, ranks: [h0], bytes: 1KiB"
    )


def test_collective_with_messages_beyond_2_gib_is_refused() -> None:
    assert "the most is 2 GiB" in _refused("kind: all_reduce, ranks: [h0, h1], bytes: 5GiB")
    assert "2 GiB a pair of ranks" in _refused("kind: all_to_all, ranks: [h0, h1], bytes: 5GiB")


@pytest.mark.parametrize(
    ("collective", "factor"),
    [
        ("all_reduce", (7, 4)),
        ("reduce_scatter", (7, 8)),
        ("all_gather", (7, 8)),
        ("all_to_all", (7, 8)),
        ("broadcast", (1, 1)),
        ("reduce", (1, 1)),
    ],
)
def test_bus_factor_of_eight_ranks_is_that_of_nccl_tests(collective: str, factor: tuple[int, int]) -> None:
    assert bus_factor(collective, 8) == factor
    assert collective in BUS_FACTORS


def test_workload_uses_the_port_that_is_cabled_or_the_one_that_is_named() -> None:
    topology = (
        "{nodes: {a: {hca: 2}, b: {hca: 2}, s: {switch: 8}}, links: [[a/2, s/1], [b/1, s/2], [b/2, s/3]]}"
    )
    entries = (
        "{kind: stream, src: a, dst: b, message: 1KiB}, {kind: stream, src: a, dst: b/2, message: 1KiB}, "
        "{kind: permutation, message: 1KiB}"
    )
    jobs = _scenario(entries, topology=topology).jobs
    assert [(job.flows[0].src.port, job.flows[0].dst.port) for job in jobs] == [(2, 1), (2, 2), (2, 1)]
    assert [flow.name for flow in jobs[2].flows] == ["permutation2:a/2>b", "permutation2:b>a/2"]


def test_workload_with_too_many_flows_is_refused_before_any_is_made() -> None:
    entry = "{kind: all_to_all, ranks: all, bytes: 1MiB}"
    with pytest.raises(InputError, match=r"workload\[4\]: the workload would have 1,308,160 flows or more"):
        _scenario(
            ", ".join([entry] * 8),
            topology="{generator: fat_tree, levels: 2, leaves: 32, hosts_per_leaf: 16, spines: 2}",
        )


@pytest.mark.parametrize("kind", WORKLOADS)
def test_workload_kind_describes_itself_and_its_keys(kind: str) -> None:
    row = WORKLOADS[kind]
    assert row.name == kind
    assert row.summary.endswith(".")
    assert all(info.description for key, info in row.spec.model_fields.items() if key != "kind")


EXAMPLES = {
    "stream": "kind: stream, src: h0, dst: h1, message: 1KiB",
    "incast": "kind: incast, senders: all, receiver: h1, message: 1KiB",
    "permutation": "kind: permutation, message: 1KiB",
    "uniform_random": "kind: uniform_random, load: 0.5, message: 1KiB",
    "all_reduce": "kind: all_reduce, ranks: all, bytes: 1KiB",
    "all_to_all": "kind: all_to_all, ranks: all, bytes: 1KiB",
}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_workload_job_is_well_formed(kind: str) -> None:
    job = _job(EXAMPLES[kind] + ", start: 1us, stop: 9us, sl: 3, qps: 2")
    names = [flow.name for flow in job.flows]
    assert len(set(names)) == len(names)
    assert {(flow.sl, flow.qps) for flow in job.flows} == {(3, 2)}
    assert all(flow.src.node != flow.dst.node for flow in job.flows)
    for program in job.programs:
        assert program.start_ps >= PS_PER_US
        assert program.stop_ps == 9 * PS_PER_US
        assert program.instructions[-1].op is Op.END
        loops = [(index, step) for index, step in enumerate(program.instructions) if step.op is Op.LOOP]
        assert all(0 <= step.a < index and 0 <= step.c < LOOP_DEPTH for index, step in loops)


@pytest.mark.parametrize("kind", WORKLOADS)
def test_workload_flows_are_counted_before_they_are_made(kind: str) -> None:
    row = WORKLOADS[kind]
    spec = row.spec.model_validate(read_document(f"{{{EXAMPLES[kind]}}}", "").value)
    made = len(_job(EXAMPLES[kind], hosts=9).flows)
    assert made <= row.flows(spec, 9) <= 2 * made
