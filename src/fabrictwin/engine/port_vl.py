# SPDX-License-Identifier: Apache-2.0
"""The VLs of the ports: where their rows stand, and the number that orders and names them.

Rows stand VL by VL, so those in use lie densely: most fabrics use one data VL, and VL15 hardly ever. The
number counts port by port, as events and records on the bus do.
"""

from __future__ import annotations

from fabrictwin.engine.state import State
from fabrictwin.jit import inline_kernel


@inline_kernel
def pv_of(s: State, p: int, vl: int) -> int:
    """Row of a VL of a port."""
    return vl * s.par[0].ports + p


@inline_kernel
def port_of(s: State, row: int) -> int:
    """The port that a row belongs to."""
    return row % s.par[0].ports


@inline_kernel
def vl_of(s: State, row: int) -> int:
    """The VL that a row belongs to."""
    return row // s.par[0].ports


@inline_kernel
def number_of(s: State, p: int, vl: int) -> int:
    """Number of a VL of a port."""
    return p * s.par[0].vls + vl


@inline_kernel
def split_number(s: State, number: int) -> tuple[int, int]:
    """(port, VL) of a number."""
    p = number // s.par[0].vls
    return p, number - p * s.par[0].vls
