# SPDX-License-Identifier: Apache-2.0
"""The arrays of RoCE's congestion control: what each queue pair may send, and the rules for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabrictwin.engine import state as st
from fabrictwin.engine.cc.tcp import INITIAL_WINDOW, LARGEST_WINDOW_Q8
from fabrictwin.engine.codes import RateControl
from fabrictwin.engine.plan import Plan, model_of, queue_pairs
from fabrictwin.engine.transport import MAX_OUTSTANDING
from fabrictwin.model.dcqcn import Dcqcn
from fabrictwin.model.hpcc import Hpcc
from fabrictwin.model.timely import Timely

RATE_ARRAYS = ("rate", "rate_rule", "delay", "delay_rule", "window", "window_rule", "use", "tcp")
_BITS_PS = 8 * 10**12


def rate_control_of(plan: Plan) -> RateControl:
    """The algorithm; DCQCN's code where there is none, for nothing looks at it then."""
    algorithm = plan.scenario.congestion_control.algorithm
    return RateControl[algorithm.upper()] if algorithm != "none" else RateControl.DCQCN


def telemetry_bytes(plan: Plan) -> int:
    """Bytes that congestion control adds to every data packet."""
    rules = plan.scenario.congestion_control.rates
    return rules.telemetry_bytes if isinstance(rules, Hpcc) else 0


def is_closed_loop(plan: Plan) -> bool:
    """Whether acknowledgements matter to congestion control, or to TCP."""
    uses_tcp = any(flow.tcp for _, flow in plan.flows)
    return uses_tcp or isinstance(plan.scenario.congestion_control.rates, Timely | Hpcc)


def build_rates(plan: Plan) -> dict[str, st.Records]:
    """The arrays that have a row for each queue pair, by name: at line rate until congestion is heard of."""
    rules = plan.scenario.congestion_control.rates
    rows = max(1, int(plan.first_qp[-1]))
    rate = st.records(rows, st.RATE)
    window = st.records(rows if isinstance(rules, Hpcc) else 1, st.WINDOW)
    for qp, _, _, flow in queue_pairs(plan):
        link = plan.scenario.fabric.link_at.get(flow.src)
        line_bps = link.rate_bps if link else 1
        rate[qp].line_bps = rate[qp].rate_bps = rate[qp].target_bps = line_bps
        if isinstance(rules, Dcqcn):
            rate[qp].alpha_q30 = rules.initial_alpha_q30
        elif isinstance(rules, Hpcc):
            product_bytes = max(1, line_bps * rules.base_rtt_ps // _BITS_PS)
            window[qp].most_bytes = window[qp].reference_bytes = product_bytes
            packets = model_of(plan.scenario, flow.src.node).window_packets
            window[qp].most_packets = packets or MAX_OUTSTANDING
    tcp = st.records(
        rows, st.TCP, window_q8=INITIAL_WINDOW << 8, threshold_q8=LARGEST_WINDOW_Q8, recover_psn=0
    )
    delay = st.records(rows if isinstance(rules, Timely) else 1, st.DELAY, head=-1, tail=-1)
    return {"rate": rate, "delay": delay, "window": window, "tcp": tcp}


def build_rate_rules(plan: Plan) -> dict[str, st.Records]:
    """The rules of the algorithm, empty ones of the others, and what switches keep for it."""
    rules = plan.scenario.congestion_control.rates
    ports = plan.ports.total if isinstance(rules, Hpcc) else 1
    return {
        "rate_rule": _build_rule(st.RATE_RULE, _DCQCN_FIELDS, rules if isinstance(rules, Dcqcn) else None),
        "delay_rule": _build_rule(st.DELAY_RULE, {}, rules if isinstance(rules, Timely) else None),
        "window_rule": _build_rule(st.WINDOW_RULE, {}, rules if isinstance(rules, Hpcc) else None),
        "use": st.records(ports, st.USE),
    }


_DCQCN_FIELDS = {"byte_counter": "byte_counter_bytes"}
"""Fields of RATE_RULE that have another name in the parameters."""


def _build_rule(dtype: np.dtype[Any], names: dict[str, str], rules: Any) -> st.Records:
    rule = st.records(1, dtype)
    if rules is not None:
        for field in dtype.names or ():
            rule[0][field] = getattr(rules, names.get(field, field))
    return rule
