# SPDX-License-Identifier: Apache-2.0
"""Every service: healthy, reflected, scraped, drained, and not to be harmed by what it is sent."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from fabrictwin.api.v1 import common_pb2
from fabrictwin.api.v1 import director_pb2 as pb
from fabrictwin.api.v1.director_pb2_grpc import DirectorStub
from fabrictwin.runtime.bus.server import connect
from fabrictwin.runtime.bus.twin import Keys, create_twin
from fabrictwin.runtime.embedded_redis import EmbeddedRedis
from fabrictwin.runtime.health_check import check
from fabrictwin.runtime.interceptors import PROBLEMS_KEY
from fabrictwin.runtime.version import VERSION
from integration.patience import PATIENCE_S, wait_until
from integration.services_at_work import REPOSITORY, Running, environment, run_module

SERVICES = {
    "director": "Director",
    "subnet_manager": "SubnetManager",
    "switch_node": "SwitchNode",
    "hca_endpoint": "HcaEndpoint",
    "congestion_control": "CongestionControl",
}
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with EmbeddedRedis(tmp_path_factory.mktemp("redis")) as server:
        yield server.url


@pytest.fixture(scope="module")
def director(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    log = tmp_path_factory.mktemp("director") / "log"
    with run_module("services.director", ["--redis", redis_url, "--twin", "shared"], log) as running:
        yield running


def _health(channel: grpc.Channel, name: str = "") -> int:
    request = health_pb2.HealthCheckRequest(service=name)
    return int(health_pb2_grpc.HealthStub(channel).Check(request, timeout=PATIENCE_S).status)


@pytest.mark.parametrize("service", SERVICES)
def test_service_starts_tells_how_it_is_and_drains(service: str, redis_url: str, tmp_path: Path) -> None:
    full_name = f"fabrictwin.api.v1.{SERVICES[service]}"
    arguments = ["--redis", redis_url, "--twin", f"alone-{service}"]
    with run_module(f"services.{service}", arguments, tmp_path / "log") as running:
        said = running.wait_for("listening")
        with grpc.insecure_channel(said["address"]) as channel:
            # Without a scenario only the director has something to serve.
            assert _health(channel, full_name) == (SERVING if service == "director" else NOT_SERVING)
            asked = reflection_pb2.ServerReflectionRequest(list_services="")
            stub = reflection_pb2_grpc.ServerReflectionStub(channel)
            (answer,) = stub.ServerReflectionInfo(iter([asked]), timeout=PATIENCE_S)
            assert full_name in [item.name for item in answer.list_services_response.service]
        page = urlopen(f"http://{said['metrics_address']}/metrics", timeout=PATIENCE_S).read().decode()
        assert f'service="{service}"' in page
        assert running.end() == 0
        assert running.lines()[-1]["event"] == "ended"


def test_health_check_says_what_the_service_says(redis_url: str, tmp_path: Path) -> None:
    arguments = ["--redis", redis_url, "--twin", "checked"]
    with run_module("services.switch_node", arguments, tmp_path / "log") as running:
        address = running.address
        assert check(address) == "NOT_SERVING"
        command = [sys.executable, "-m", "fabrictwin.runtime.health_check", address]
        asked = subprocess.run(command, env=environment(), capture_output=True, text=True)
        assert (asked.returncode, asked.stdout) == (1, "NOT_SERVING\n")
    assert check(address) == "UNAVAILABLE"


def test_director_begins_with_its_scenario_and_reads_its_secrets(redis_url: str, tmp_path: Path) -> None:
    secret = tmp_path / "redis_url"
    secret.write_text(f"{redis_url}\n")
    scenario = tmp_path / "given.yaml"
    scenario.write_text("{version: 1, name: given, fabric: {topology: {generator: single_switch, hosts: 2}}}")
    arguments = ["--redis", f"file://{secret}", "--twin", "mine", "--scenario", str(scenario)]
    with run_module("services.director", arguments, tmp_path / "log") as running:
        with grpc.insecure_channel(running.address) as channel:
            wait_until(lambda: _health(channel) == SERVING)
            status = DirectorStub(channel).Status(pb.StatusRequest(), timeout=PATIENCE_S)
        assert (status.scenario, status.state) == ("given", pb.TWIN_STATE_STARTING)
        assert running.end() == 0


def test_status_of_an_empty_twin(director: Running) -> None:
    status = DirectorStub(director.channel()).Status(pb.StatusRequest(), timeout=PATIENCE_S)
    assert (status.twin, status.version, status.state) == ("shared", VERSION, pb.TWIN_STATE_EMPTY)


def test_malformed_request_is_refused_and_does_no_harm(director: Running) -> None:
    channel = director.channel()
    method = channel.unary_unary("/fabrictwin.api.v1.Director/Load")
    with pytest.raises(grpc.RpcError) as caught:
        method(b"\xff" * 64, timeout=PATIENCE_S)
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert _health(channel) == SERVING


def test_oversized_request_is_refused_and_does_no_harm(director: Running) -> None:
    channel = director.channel()
    with pytest.raises(grpc.RpcError) as caught:
        DirectorStub(channel).Load(pb.LoadRequest(imported={"x": bytes(81 << 20)}), timeout=PATIENCE_S)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert _health(channel) == SERVING


def test_caller_of_another_version_is_refused(director: Running) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        DirectorStub(director.channel()).Status(
            pb.StatusRequest(), timeout=PATIENCE_S, metadata=(("fabrictwin-version", "99.0"),)
        )
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert "99.0" in caught.value.details()
    assert VERSION in caught.value.details()


def test_wrong_scenario_is_refused_with_every_problem(director: Running) -> None:
    text = (
        "version: 1\nname: x\nfabric: {technology: infiniband, topology: {generator: fat_tre}}\nnonsense: 1\n"
    )
    with pytest.raises(grpc.RpcError) as caught:
        DirectorStub(director.channel()).Load(
            pb.LoadRequest(scenario=text, file="x.yaml"), timeout=PATIENCE_S
        )
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "did you mean 'fat_tree'" in caught.value.details()
    trailing = dict(caught.value.trailing_metadata())
    problems = common_pb2.Problems.FromString(trailing[PROBLEMS_KEY]).problems
    assert {problem.line for problem in problems} == {3, 4}
    assert all(problem.file == "x.yaml" for problem in problems)


@pytest.mark.parametrize("call", ["Pause", "Resume", "Result", "ListFaults", "GetScenario"])
def test_call_without_a_scenario_says_what_to_do(call: str, director: Running) -> None:
    request = getattr(pb, f"{call}Request")()
    with pytest.raises(grpc.RpcError) as caught:
        list(getattr(DirectorStub(director.channel()), call)(request, timeout=PATIENCE_S))
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION


def test_page_that_is_too_large_is_refused(director: Running) -> None:
    request = pb.ListFaultsRequest(page=common_pb2.Page(size=1001))
    with pytest.raises(grpc.RpcError):
        DirectorStub(director.channel()).ListFaults(request, timeout=PATIENCE_S)


def test_port_in_use_has_its_own_error(redis_url: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        arguments = ["--redis", redis_url, "--twin", "port", "--port", str(port)]
        with run_module("services.director", arguments, tmp_path / "log") as running:
            assert running.process.wait(PATIENCE_S) == 3
            assert running.lines()[-1]["reason"] == "PortInUseError"
            assert f"127.0.0.1:{port}" in running.lines()[-1]["message"]


def test_redis_that_is_not_there_has_its_own_error(tmp_path: Path) -> None:
    arguments = ["--redis", f"unix://{tmp_path}/none.sock"]
    with run_module("services.switch_node", arguments, tmp_path / "log") as running:
        assert running.process.wait(PATIENCE_S) == 3
        assert running.lines()[-1]["reason"] == "BusUnreachableError"


def test_wrong_setting_ends_with_the_code_for_input(tmp_path: Path) -> None:
    with run_module("services.switch_node", ["--shard", "3/2"], tmp_path / "log") as running:
        assert running.process.wait(PATIENCE_S) == 2
        assert "--shard" in running.log.read_text()


def test_second_twin_of_one_name_is_refused(redis_url: str, tmp_path: Path) -> None:
    create_twin(connect(redis_url), "taken", "0" * 64, [])
    text = (REPOSITORY / "deploy" / "scenarios" / "two-leaf-incast.yaml").read_text()
    with run_module(
        "services.director", ["--redis", redis_url, "--twin", "taken"], tmp_path / "log"
    ) as running:
        with pytest.raises(grpc.RpcError) as caught:
            DirectorStub(running.channel()).Load(pb.LoadRequest(scenario=text), timeout=PATIENCE_S)
        assert caught.value.code() is grpc.StatusCode.ALREADY_EXISTS
        assert "taken" in caught.value.details()


def test_service_of_another_version_has_its_own_error(redis_url: str, tmp_path: Path) -> None:
    client = connect(redis_url)
    create_twin(client, "old", "0" * 64, [], {"scenario": "version: 1", "file": "x"})
    client.hset(Keys("old").identity, "version", "0.0.1")
    with run_module(
        "services.switch_node", ["--redis", redis_url, "--twin", "old"], tmp_path / "log"
    ) as running:
        assert running.process.wait(PATIENCE_S) == 3
        assert running.lines()[-1]["reason"] == "NotOursError"
        assert "0.0.1" in running.lines()[-1]["message"]


def test_second_signal_does_not_wait_for_calls(redis_url: str, tmp_path: Path) -> None:
    arguments = ["--redis", redis_url, "--twin", "hurry", "--grace", "3600"]
    with run_module("services.director", arguments, tmp_path / "log") as running:
        waiting = DirectorStub(running.channel()).Wait.future(pb.WaitRequest(), timeout=3600)
        running.process.send_signal(signal.SIGTERM)
        running.wait_for("draining")
        assert running.end() == 0
        assert waiting.exception() is not None
