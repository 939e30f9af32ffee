# SPDX-License-Identifier: Apache-2.0
"""The counters of a port under their IBTA names: where they stand in the arrays.

The result and the metrics both read this table. PortXmitWait is not in it, for a wait that is still going on
counts too: see :func:`waited_for_credits`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fabrictwin.engine.state import Records


class CounterField(NamedTuple):
    """Where a counter stands.

    Attributes:
        array: Name of the array; one of :data:`ARRAYS_OF_VLS` has a row for each VL, to be summed.
        field: Its field.
    """

    array: str
    field: str


ARRAYS_OF_VLS = ("pv", "pv_input", "pv_more")
"""Arrays that have a row for each VL of each port."""

PORT_COUNTERS = {
    # IBTA name in snake_case; data in bytes, not in words
    "port_xmit_data": CounterField("port", "xmit_bytes"),
    "port_xmit_pkts": CounterField("port", "xmit_pkts"),
    "port_xmit_discards": CounterField("port_more", "xmit_discards"),
    "symbol_error_counter": CounterField("port_more", "symbol_errors"),
    "local_link_integrity_errors": CounterField("port_more", "integrity_errors"),
    "link_downed_counter": CounterField("port_more", "downed"),
    "port_rcv_errors": CounterField("port_more", "rcv_errors"),
    "port_rcv_switch_relay_errors": CounterField("port_more", "relay_errors"),
    "vl15_dropped": CounterField("port_more", "vl15_dropped"),
    "port_pkt_rcv_fecn": CounterField("port_more", "fecn_received"),
    "port_pkt_rcv_becn": CounterField("port_more", "becn_received"),
    "port_mark_fecn": CounterField("port_more", "fecn_marked"),
    "port_rcv_data": CounterField("pv_input", "rcv_bytes"),
    "port_rcv_pkts": CounterField("pv_input", "rcv_pkts"),
    "flow_control_packets": CounterField("pv_input", "fcps"),
}


def waited_for_credits(port_more: Records, pv: Records, now_ps: int) -> np.ndarray:
    """[ports] PortXmitWait in ps: how long each port has had something to send and no credits for it.

    Args:
        port_more: [ports] PORT_MORE.
        pv: [ports * vls] PV of the same ports.
        now_ps: Fabric time reached, up to which a wait that is still going on counts.
    """
    since_ps = np.where(pv.blocked == 1, np.maximum(now_ps - pv.blocked_at_ps, 0), 0)
    return np.asarray(port_more.xmit_wait_ps + since_ps.reshape(len(port_more), -1).sum(axis=1))
