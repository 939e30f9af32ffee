#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes hdr_fat_tree.ibnetdiscover with the real tools: opensm and ibnetdiscover on a fabric of ibsim.

Needs Debian's ibsim-utils, libumad2sim0, opensm and infiniband-diags, and FabricTwin itself for the topology.
Run it from anywhere: ``python deploy/scenarios/make_ibnetdiscover.py``. But for the date in its head, the
output is the same every time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from fabrictwin.model.fabric import Fabric, Node, NodeKind, PortRef
from fabrictwin.model.topology import TOPOLOGIES, Equipment, build_topology

OUTPUT = Path(__file__).with_name("hdr_fat_tree.ibnetdiscover")
LEAVES, HOSTS_PER_LEAF, SPINES, LINKS_PER_SPINE = 8, 20, 10, 2

UMAD2SIM = "umad2sim/libumad2sim.so"
LIBRARY_FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
# ibsim's codes of 4x and HDR, and PCI device IDs of the parts.
HDR_4X = "s=7 w=2 e=4"
DEVICES = {NodeKind.SWITCH: "0xd2f0", NodeKind.HCA: "0x101b"}
READY = "Network simulator ready."


def build_fabric() -> Fabric:
    """160 HCAs on 8 leaves, fully provisioned: 20 ports down and 20 up, two cables to each of 10 spines."""
    row = TOPOLOGIES["fat_tree"]
    parameters = row.parameters.model_validate(
        {
            "levels": 2,
            "leaves": LEAVES,
            "hosts_per_leaf": HOSTS_PER_LEAF,
            "spines": SPINES,
            "links_per_spine": LINKS_PER_SPINE,
        }
    )
    return build_topology("fat_tree", parameters, Equipment.of("quantum_hdr", "connectx6"))


def net_file(fabric: Fabric) -> str:
    """The fabric as ibsim reads it."""
    links: dict[int, list[tuple[int, PortRef]]] = {}
    for link in fabric.links:
        for end in (link.a, link.b):
            links.setdefault(end.node, []).append((end.port, link.other(end)))
    blocks = (_block(fabric, index, sorted(links[index])) for index in range(len(fabric.nodes)))
    return "\n".join(line for block in blocks for line in (*block, ""))


def _block(fabric: Fabric, index: int, ports: list[tuple[int, PortRef]]) -> Iterator[str]:
    node = fabric.nodes[index]
    word, key = ("Switch", "switchguid") if node.kind is NodeKind.SWITCH else ("Ca", "caguid")
    yield "vendid=0x2c9"
    yield f"devid={DEVICES[node.kind]}"
    yield f"sysimgguid={node.guid:#x}"
    yield f"{key}={node.guid:#x}"
    yield f'{word}\t{node.ports} {_node_id(node)}\t\t# "{_description(node)}"'
    for port, peer in ports:
        yield f"[{port}]\t{_node_id(fabric.nodes[peer.node])}[{peer.port}] {HDR_4X}"


def _node_id(node: Node) -> str:
    return f'"{"S" if node.kind is NodeKind.SWITCH else "H"}-{node.guid:016x}"'


def _description(node: Node) -> str:
    """As such nodes are called in a machine room: ``MF0;leaf-01:MQM8700/U1`` and ``node001 mlx5_0``."""
    number = int(node.name.lstrip("abcdefghijklmnopqrstuvwxyz")) + 1
    if node.kind is NodeKind.HCA:
        return f"node{number:03d} mlx5_0"
    tier = node.name.rstrip("0123456789")
    return f"MF0;{tier}-{number:02d}:MQM8700/U1"


def discover(fabric: Fabric) -> str:
    """What ibnetdiscover says of the fabric, once opensm has given it LIDs."""
    with tempfile.TemporaryDirectory() as folder:
        net = Path(folder, "net")
        net.write_text(net_file(fabric), encoding="ascii")
        first_hca = fabric.nodes[fabric.hcas[0]]
        environment = {
            **os.environ,
            "LC_ALL": "C",
            "IBSIM_SOCKNAME": f"fabrictwin-{os.getpid()}",
            "SIM_HOST": _node_id(first_hca).strip('"'),
            "OSM_CACHE_DIR": folder,
            "OSM_TMP_DIR": folder,
        }
        with subprocess.Popen(
            ["ibsim", "-s", str(net)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as simulator:
            assert simulator.stdin is not None
            assert simulator.stdout is not None
            for line in simulator.stdout:
                if READY in line:
                    break
            try:
                in_fabric = {**environment, "LD_PRELOAD": _umad2sim()}
                _run(["opensm", "--once", "-f", str(Path(folder, "opensm.log"))], in_fabric)
                return _run(["ibnetdiscover"], in_fabric)
            finally:
                simulator.communicate("quit\n")


def _umad2sim() -> str:
    for folder in LIBRARY_FOLDERS:
        library = Path(folder, UMAD2SIM)
        if library.is_file():
            return str(library)
    sys.exit(f"{UMAD2SIM} is not in {', '.join(LIBRARY_FOLDERS)}: install libumad2sim0")


def _run(command: list[str], environment: Mapping[str, str]) -> str:
    finished = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True, timeout=120
    )
    return finished.stdout


if __name__ == "__main__":
    OUTPUT.write_text(discover(build_fabric()), encoding="utf-8")
    print(f"wrote {OUTPUT}")
