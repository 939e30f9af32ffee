# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from fabrictwin.cli import fault, workload
from fabrictwin.cli.entry_command import EntryCommands, read_value
from fabrictwin.errors import InputError, Problem
from fabrictwin.model.fault import FAULTS
from fabrictwin.model.workload import WORKLOADS


class _Sent:
    """What the commands have sent."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []
        self.owners: list[str] = []
        self.refusal: InputError | None = None

    def send(self, entry: str, owner: Annotated[str, typer.Option(help="Who.")] = "me") -> None:
        if self.refusal is not None:
            raise self.refusal
        self.entries.append(json.loads(entry))
        self.owners.append(owner)


@pytest.fixture
def sent() -> _Sent:
    return _Sent()


def _app(sent: _Sent) -> typer.Typer:
    app = typer.Typer()
    commands = EntryCommands(
        "inject", {"link_down": "--link a/1,b/2"}, {"at": "when; default: at once"}, sent.send
    )
    commands.add_to(app, FAULTS.values())
    return app


def _run(sent: _Sent, *arguments: str) -> Any:
    return CliRunner().invoke(_app(sent), arguments)


def test_entry_command_writes_the_entry_as_the_scenario_has_it(sent: _Sent) -> None:
    run = _run(
        sent, "link_flap", "--link", "leaf0/5,spine0/1", "--down", "50us", "--up", "1ms", "--count", "3"
    )
    assert run.exit_code == 0, run.output
    assert sent.entries == [
        {"kind": "link_flap", "link": ["leaf0/5", "spine0/1"], "down": "50us", "up": "1ms", "count": 3}
    ]


def test_entry_command_hands_on_the_options_of_the_sender(sent: _Sent) -> None:
    _run(sent, "switch_down", "--switch", "spine0", "--owner", "anna")
    assert sent.owners == ["anna"]


def test_entry_command_leaves_what_is_missing_to_the_director(sent: _Sent) -> None:
    assert _run(sent, "link_down").exit_code == 0
    assert sent.entries == [{"kind": "link_down"}]


def test_entry_command_names_the_option_that_a_problem_is_about(sent: _Sent) -> None:
    sent.refusal = InputError(
        [
            Problem("no cable", "<fault>", 1, "[0].link[1]"),
            Problem("required key", "<fault>", 1, "[0].duration"),
            Problem("no more room", "<fault>", 1, ""),
        ]
    )
    raised = _run(sent, "link_down", "--link", "a,b").exception
    assert isinstance(raised, InputError)
    assert [str(problem) for problem in raised.problems] == [
        "--link: no cable",
        "--duration: required key",
        "no more room",
    ]


def test_entry_command_unknown_kind_names_the_nearest(sent: _Sent) -> None:
    run = _run(sent, "lnk_down")
    assert run.exit_code == 2
    assert "link_down" in run.output


@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_has_an_option_for_each_key(sent: _Sent, kind: str) -> None:
    run = CliRunner().invoke(_app(sent), [kind, "--help"], env={"COLUMNS": "200"})
    assert run.exit_code == 0, run.output
    for key in FAULTS[kind].spec.model_fields.keys() - {"kind"}:
        assert f"--{key.replace('_', '-')} " in run.output


def test_help_says_what_is_required_and_how_a_list_is_written(sent: _Sent) -> None:
    run = CliRunner().invoke(_app(sent), ["link_down", "--help"], env={"COLUMNS": "200"})
    assert "(required; the two ends of a cable, e.g. leaf0/5,spine0/1)" in run.output
    assert "when; default: at once" in run.output


@pytest.mark.parametrize(
    ("kind", "key", "text", "value"),
    [
        ("link_down", "link", "leaf0/5,spine0/1", ["leaf0/5", "spine0/1"]),
        ("link_down", "link", "leaf0/5", ["leaf0/5"]),
        ("link_down", "duration", "1ms", "1ms"),
        ("link_flap", "count", "3", 3),
        ("link_flap", "count", "0", 0),
        ("link_flap", "count", "often", "often"),
        ("symbol_errors", "probability", "1e-3", 0.001),
        ("slow_receiver", "node", "5", "5"),
        ("link_degraded", "width", "1x", "1x"),
    ],
)
def test_read_value_gives_the_type_that_the_key_takes(kind: str, key: str, text: str, value: Any) -> None:
    read = read_value(FAULTS[kind].spec.model_fields[key], text)
    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize(("text", "value"), [("all", "all"), ("h0", ["h0"]), ("h0, h1/2", ["h0", "h1/2"])])
def test_read_value_of_a_list_of_hcas(text: str, value: Any) -> None:
    assert read_value(WORKLOADS["incast"].spec.model_fields["senders"], text) == value


@pytest.mark.parametrize(("text", "value"), [("forever", "forever"), ("3", 3)])
def test_read_value_of_a_count(text: str, value: Any) -> None:
    assert read_value(WORKLOADS["incast"].spec.model_fields["count"], text) == value


def test_fault_and_workload_commands_have_an_example_for_each_kind() -> None:
    for app, table, verb in (
        (fault.inject_app, FAULTS, "fabrictwin fault inject"),
        (workload.start_app, WORKLOADS, "fabrictwin workload start"),
    ):
        for kind in table:
            run = CliRunner().invoke(app, [kind, "--help"], env={"COLUMNS": "200"})
            assert f"Example: {verb} {kind} --" in run.output
