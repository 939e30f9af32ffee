# SPDX-License-Identifier: Apache-2.0
"""A live twin on RoCE: what its services say of rates, pauses and the underlay."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import grpc
import pytest

from fabrictwin.api.v1 import congestion_control_pb2 as cc_pb
from fabrictwin.api.v1 import hca_endpoint_pb2 as hca_pb
from fabrictwin.api.v1 import subnet_manager_pb2 as sm_pb
from fabrictwin.api.v1.congestion_control_pb2_grpc import CongestionControlStub
from fabrictwin.api.v1.hca_endpoint_pb2_grpc import HcaEndpointStub
from fabrictwin.api.v1.subnet_manager_pb2_grpc import SubnetManagerStub
from integration.live_twin import live_twin
from integration.patience import PATIENCE_S

PROGRAM = Path(sys.executable).with_name("fabrictwin")
LINE_BPS = 400 * 10**9
SCENARIO = """
version: 1
name: lossless
duration: 20us
fabric:
  technology: roce
  topology: {generator: fat_tree, levels: 2, leaves: 2, hosts_per_leaf: 2, spines: 2}
  switch_model: {base: spectrum4, shared_buffer: 2MB, alpha: 1/64, ecn: {kmin: 5KB, kmax: 50KB, pmax: 0.2}}
congestion_control: {algorithm: dcqcn, profile: hpcc}
workload: [{kind: incast, name: pull, senders: [h1, h2, h3], receiver: h0, message: 64KiB, count: forever}]
"""


def test_services_of_a_roce_twin_show_rates_pauses_and_routes(tmp_path: Path) -> None:
    path = tmp_path / "lossless.yaml"
    path.write_text(SCENARIO)
    with live_twin(path, "lossless") as twin:
        assert twin.wait().stopped == "duration"
        address = {name: service["address"] for name, service in twin.state["services"].items()}
        with grpc.insecure_channel(address["hca0"]) as channel:
            pairs = HcaEndpointStub(channel).ListQueuePairs(
                hca_pb.ListQueuePairsRequest(), timeout=PATIENCE_S
            )
        rates = [pair.rate_bps for pair in pairs.queue_pairs]
        assert len(rates) == 3
        assert all(0 < rate <= LINE_BPS for rate in rates)
        assert min(rates) < LINE_BPS
        with grpc.insecure_channel(address["cc"]) as channel:
            control = CongestionControlStub(channel)
            parameters = control.GetParameters(cc_pb.GetParametersRequest(), timeout=PATIENCE_S)
            assert parameters.algorithm == "dcqcn"
            assert int(parameters.parameters["rate_ai_bps"]) > 0
            with pytest.raises(grpc.RpcError, match="ask hca_endpoint"):
                control.GetFlowState(cc_pb.GetFlowStateRequest(), timeout=PATIENCE_S)
        with grpc.insecure_channel(address["sm0"]) as channel:
            routes = SubnetManagerStub(channel).GetRoutes(sm_pb.GetRoutesRequest(), timeout=PATIENCE_S)
        assert (routes.engine, len(routes.switches)) == ("ecmp", 4)
        command = [
            PROGRAM,
            "bus",
            "tail",
            "switch0:hca0",
            "--redis",
            twin.state["redis"],
            "--twin",
            "lossless",
        ]
        said = subprocess.run([*command, "--json", "-"], capture_output=True, text=True, timeout=PATIENCE_S)
        assert said.returncode == 0, said.stderr
        windows = json.loads(said.stdout)["windows"]
        records = [record for window in windows for record in window["records"]]
        frames = [record for record in records if record["record"] == "fcp"]
        assert {frame["kind"] for frame in frames} == {"pfc"}
        assert {frame["vl"] for frame in frames} == {3}
        assert twin.shut_down() == 0
