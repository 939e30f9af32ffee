# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from fabrictwin.subnet.dump import fdbs_lines, lid_matrix_lines
from unit.subnet.fabrics import generated, routed, wired

FDBS = """\
dump_ucast_routes: Switch 0x0000000000000001
LID    : Port : Hops : Optimal
0x0001 : 001  : 01   : yes
0x0002 : 002  : 01   : yes
0x0003 : 003  : 02   : yes
0x0004 : 000  : 00   : yes
0x0005 : 003  : 01   : yes
dump_ucast_routes: Switch 0x0000000000000002
LID    : Port : Hops : Optimal
0x0001 : 002  : 02   : yes
0x0002 : 002  : 02   : yes
0x0003 : 001  : 01   : yes
0x0004 : 002  : 01   : yes
0x0005 : 000  : 00   : yes
"""


def test_lid_matrix_has_the_fewest_hops_and_those_by_port() -> None:
    lines = list(lid_matrix_lines(routed(wired([2, 1], [(0, 1)]), "min_hop")))
    # The switches have 200 ports, most of them without a cable.
    unused = " ".join(["ff"] * 197)
    assert lines[0] == "Switch: guid 0x0000000000000001"
    assert lines[1] == f"0x0004: 00 ff ff 02 {unused} # portguid 0x0000000000000001"
    assert lines[2] == f"0x0005: 01 ff ff 01 {unused} # portguid 0x0000000000000002"
    assert lines[5] == f"0x0005: 00 ff 02 ff {unused} # portguid 0x0000000000000002"


def test_lid_matrix_leaves_out_ports_that_the_directions_forbid() -> None:
    # Seen from sw0, the root, sw1 and sw2 must not reach each other over their own cable and sw3.
    square = wired([1, 1, 1, 1], [(0, 1), (0, 2), (1, 3), (2, 3)])
    lines = list(lid_matrix_lines(routed(square, "up_down", roots=(0,))))
    sw1 = lines.index("Switch: guid 0x0000000000000002")
    to_sw2 = lines[sw1 + 3].split()
    assert to_sw2[:5] == ["0x0007:", "02", "ff", "02", "ff"]


def test_fdbs_have_port_and_hops_by_lid() -> None:
    assert "\n".join(fdbs_lines(routed(wired([2, 1], [(0, 1)]), "min_hop"))) + "\n" == FDBS


def test_detour_in_the_tables_names_the_better_port() -> None:
    ring = generated("ring", switches=4, hosts_per_switch=1)
    tables = {f"sw{s}": {f"h{h}": 1 if h == s else 2 for h in range(4)} for s in range(4)}
    lines = list(fdbs_lines(routed(ring, "explicit", tables=tables)))
    assert lines[2:6] == [
        "0x0001 : 001  : 01   : yes",
        "0x0002 : 002  : 02   : yes",
        "0x0003 : 002  : 03   : yes",
        "0x0004 : 002  : 04   : No 2 hop path possible via port 3!",
    ]
    assert lines[6] == "0x0005 : 000  : 00   : yes"
    assert lines[7] == "0x0006 : UNREACHABLE"
