# SPDX-License-Identifier: Apache-2.0
"""The real OpenSM on a fabric of ours: runs it against ibsim and reads the tables that it dumps."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fabrictwin.model.fabric import Fabric, Node, NodeKind, PortRef
from fabrictwin.subnet.dump import FDBS_FILE
from fabrictwin.subnet.graph import NO_PORT, build_graph
from fabrictwin.subnet.lids import Lids, assign_lids
from fabrictwin.subnet.request import RoutingRequest
from fabrictwin.subnet.routes import Routes
from unit.subnet.real_tables import port_by_guid

TOOLS = ("ibsim", "opensm")
TOOL_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
UMAD2SIM = [
    Path(folder, "umad2sim/libumad2sim.so")
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
]
READY = "Network simulator ready."
OPENSM_TIMEOUT_S = 120

_FIRST_GUID, _GUIDS_PER_NODE = 0x10000, 256

_SWITCH = re.compile(r"dump_ucast_routes: Switch 0x([0-9a-f]+)")
_ROUTE = re.compile(r"0x([0-9A-F]{4}) : (\d{3}) ")
_LID = re.compile(r"0x([0-9a-f]{4}) \d{3} # (?:Switch|Channel Adapter) portguid 0x([0-9a-f]+):")
_ENGINE_USED = re.compile(r"osm_ucast_mgr_process: (\w+) tables configured")


def skip_without_tools() -> None:
    """Skips the test where OpenSM, ibsim or the library between them is not installed."""
    missing = [tool for tool in TOOLS if shutil.which(tool, path=TOOL_PATH) is None]
    if not any(library.is_file() for library in UMAD2SIM):
        missing.append("libumad2sim0")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def as_in_ibsim(fabric: Fabric) -> Fabric:
    """The fabric with the GUIDs that ibsim gives to HCA ports, counting on from the node's."""
    nodes = []
    for index, node in enumerate(fabric.nodes):
        guid = _FIRST_GUID + _GUIDS_PER_NODE * index
        nodes.append(
            replace(
                node, guid=guid, port_guids=tuple(guid + port + 1 for port in range(len(node.port_guids)))
            )
        )
    return replace(fabric, nodes=tuple(nodes))


def run_opensm(fabric: Fabric, engine: str, folder: Path) -> str:
    """Lets OpenSM route a fabric once.

    Args:
        fabric: The fabric, from :func:`as_in_ibsim`.
        engine: OpenSM's name of a routing engine.
        folder: Where its log and dumps go.

    Returns:
        The engine that it used in the end, which is another one where it gave up.
    """
    net = folder / "net"
    net.write_text(_net_file(fabric), encoding="ascii")
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "IBSIM_SOCKNAME": f"fabrictwin-{os.getpid()}",
        "SIM_HOST": _node_id(fabric.nodes[fabric.hcas[0]]),
        "OSM_CACHE_DIR": str(folder),
        "OSM_TMP_DIR": str(folder),
    }
    library = next(library for library in UMAD2SIM if library.is_file())
    log = folder / "opensm.log"
    with _ibsim(net, environment):
        # 0x43: errors, information, and the dumps of the routing.
        command = ["opensm", "--once", "-R", engine, "-D", "0x43", "-f", str(log)]
        subprocess.run(
            command,
            env={**environment, "LD_PRELOAD": str(library)},
            check=True,
            capture_output=True,
            timeout=OPENSM_TIMEOUT_S,
        )
    return _ENGINE_USED.findall(log.read_text(encoding="utf-8", errors="replace"))[-1]


def read_tables(fabric: Fabric, folder: Path) -> Routes:
    """The LIDs and tables that OpenSM dumped, on our view of the fabric."""
    graph = build_graph(fabric)
    ports = port_by_guid(fabric)
    given: dict[PortRef, int] = {}
    for line in (folder / "opensm-lfts.dump").read_text(encoding="ascii").splitlines():
        if entry := _LID.match(line):
            given.setdefault(ports[int(entry[2], 16)], int(entry[1], 16))
    lids = assign_lids(graph, given=given)
    return Routes("opensm", RoutingRequest(graph, lids), read_fdbs(lids, folder / FDBS_FILE), False)


def read_fdbs(lids: Lids, file: Path) -> np.ndarray:
    """Forwarding tables from a file in the format of ``opensm.fdbs``."""
    fabric = lids.graph.fabric
    number = {fabric.nodes[node].guid: switch for switch, node in enumerate(fabric.switches)}
    lft = np.full((len(number), lids.width), NO_PORT, np.uint8)
    switch = -1
    for line in file.read_text(encoding="ascii").splitlines():
        if header := _SWITCH.match(line):
            switch = number[int(header[1], 16)]
        elif route := _ROUTE.match(line):
            lft[switch, int(route[1], 16)] = int(route[2])
    return lft


@contextmanager
def _ibsim(net: Path, environment: dict[str, str]) -> Iterator[None]:
    with subprocess.Popen(
        ["ibsim", "-s", "-N", "4096", "-S", "2048", "-P", "65536", str(net)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as simulator:
        assert simulator.stdout is not None
        for line in simulator.stdout:
            if READY in line:
                break
        try:
            yield
        finally:
            simulator.communicate("quit\n")


def _node_id(node: Node) -> str:
    return f"{'S' if node.kind is NodeKind.SWITCH else 'H'}-{node.guid:016x}"


def _net_file(fabric: Fabric) -> str:
    """The fabric as ibsim reads it, which is the form that ibnetdiscover writes."""
    lines = []
    for index, node in enumerate(fabric.nodes):
        word, key = ("Switch", "switchguid") if node.kind is NodeKind.SWITCH else ("Ca", "caguid")
        lines.append(f"{key}={node.guid:#x}")
        lines.append(f'{word} {node.ports} "{_node_id(node)}" # "{node.name}"')
        for port in range(1, node.ports + 1):
            link = fabric.link_at.get(PortRef(index, port))
            if link is not None:
                peer = link.other(PortRef(index, port))
                lines.append(f'[{port}] "{_node_id(fabric.nodes[peer.node])}"[{peer.port}] #')
        lines.append("")
    return "\n".join(lines)
