# SPDX-License-Identifier: Apache-2.0
"""The event loop: what happens next, at which node, and who handles it.

The list of events below is the behaviour of the fabric. A handler returns the port that has to choose a
packet now.
"""

from __future__ import annotations

import numpy as np

from fabrictwin.engine.cbfc import (
    FCP_INIT,
    FCP_LOST,
    FCP_RESYNC,
    append_fcp,
    hear_fcps,
    init_link,
    on_fcp_due,
    schedule_credit,
    send_fcps,
)
from fabrictwin.engine.cc.ib_cca import apply_later, notify_later, on_cc_notify, on_cc_timer
from fabrictwin.engine.codes import FREQUENT, NEVER, PASSIVE, CcRole, EventKind, Status
from fabrictwin.engine.ethernet.pfc import PFC_FRAME, hear_later
from fabrictwin.engine.faults import on_action, on_resync
from fabrictwin.engine.hca import on_arrive_hca, on_drained
from fabrictwin.engine.link import schedule_arrival
from fabrictwin.engine.look_ahead import look_ahead
from fabrictwin.engine.pools import take_packet
from fabrictwin.engine.port import on_credit, on_port_free, serve_port
from fabrictwin.engine.port_vl import pv_of, split_number
from fabrictwin.engine.queue import advance_bucket, argument_of, kind_of, next_event, node_of, push_event
from fabrictwin.engine.rank import on_received, run_rank
from fabrictwin.engine.state import State
from fabrictwin.engine.switch import (
    NOBODY,
    on_arrive_switch,
    on_hoq_timer,
    on_stored,
)
from fabrictwin.engine.transport import on_ack_timer, on_paced, on_posted, on_rnr_timer
from fabrictwin.jit import kernel, seldom_kernel

RESERVE = 4096
"""Records that every pool and log must have left before an event is handled."""

RECORDS_PER_EVENT = 8
"""More than a frequent event takes of any pool or log."""


@seldom_kernel
def room(s: State) -> int:
    """Records that every pool and log has left."""
    g = s.g[0]
    left = min(min(g.chunks_left, g.packets_left), min(g.cells_left, g.messages_left))
    logs = min(
        min(g.latency_size - g.latencies, g.mark_size - g.marks),
        min(g.log_size - g.log, g.sorted_size - g.sorted_count - g.wheel_count - g.heap_count),
    )
    out = min(g.out_packet_size - g.out_packets, g.out_fcp_size - g.out_fcps)
    out = min(out, g.out_cc_size - g.out_ccs)
    traces = min(g.trace_size - g.traced, g.fcp_trace_size - g.traced_fcps)
    return min(min(left, logs), min(min(out, traces), g.heap_size - g.heap_count))


@seldom_kernel
def handle_seldom(s: State, key: int, data: int, now_ps: int) -> int:
    """Handles an event that is not one of every packet; returns the port to serve."""
    kind = kind_of(key)
    argument = argument_of(key)
    if kind == EventKind.ACTION:
        on_action(s, argument, now_ps)
    elif kind == EventKind.LINK_INIT:
        init_link(s, argument, now_ps)
        return argument
    elif kind == EventKind.RESYNC:
        on_resync(s, argument, data, now_ps)
    elif kind == EventKind.STORED:
        return on_stored(s, data, now_ps)
    elif kind == EventKind.DRAINED:
        return on_drained(s, argument, now_ps)
    elif kind == EventKind.FCP_DUE:
        on_fcp_due(s, argument, now_ps)
    elif kind == EventKind.POSTED:
        return on_posted(s, argument, now_ps)
    elif kind == EventKind.ACK_TIMER:
        return on_ack_timer(s, argument, now_ps)
    elif kind == EventKind.RNR_TIMER:
        return on_rnr_timer(s, argument, now_ps)
    elif kind == EventKind.RECEIVED:
        on_received(s, argument, now_ps)
    elif kind == EventKind.RANK:
        run_rank(s, argument, now_ps)
    elif kind == EventKind.CC_NOTIFY:
        on_cc_notify(s, data, now_ps)
    elif kind == EventKind.CC_TIMER:
        on_cc_timer(s, argument, now_ps)
    elif kind == EventKind.CC_APPLY:
        s.cc[argument].applied = data
    elif kind == EventKind.HOQ_TIMER:
        return on_hoq_timer(s, argument, now_ps)
    return NOBODY


@kernel
def _credit_horizon(s: State, horizon_ps: int) -> int:
    """How far a shard may go for want of news of FCPs: not past them while a port waits for credits."""
    g = s.g[0]
    if g.stuck_ps >= g.credits_known_ps:
        return g.stuck_ps
    g.stuck_ps = -1
    if g.credits_known_ps >= horizon_ps:
        return horizon_ps
    for i in range(g.boundary_ports):
        p = np.int64(s.boundary[i])
        for vl in range(s.par[0].vls - 1):
            pv = s.pv[pv_of(s, p, vl)]
            if pv.blocked and pv.fcp_ps == NEVER:
                return g.credits_known_ps
    return horizon_ps


@kernel
def run(s: State, until_ps: int) -> int:
    """Handles every event before a fabric time, or before that for which news is lacking.

    Returns a :class:`Status`; ``now_ps`` is then the fabric time reached.
    """
    g = s.g[0]
    g.horizon_ps = _credit_horizon(s, until_ps)
    is_large = s.par[0].look_ahead
    budget = 0
    while True:
        if g.sorted_at == g.sorted_count:
            if not advance_bucket(s, g.horizon_ps):
                g.now_ps = g.horizon_ps
                return np.int64(Status.REACHED)
            continue
        event = s.sorted[g.sorted_at]
        now_ps = event.time_ps
        if now_ps >= g.horizon_ps:
            g.now_ps = g.horizon_ps
            return np.int64(Status.REACHED)
        kind = kind_of(event.key)
        budget -= 1
        if budget < 0 or (FREQUENT >> kind) & 1 == 0:
            left = room(s)
            if left < RESERVE:
                return np.int64(Status.GROW)
            budget = (left - RESERVE) // RECORDS_PER_EVENT
        argument = argument_of(event.key)
        data = event.detail
        if is_large:
            look_ahead(s, g.sorted_at)
        g.sorted_at += 1
        g.now_ps = now_ps
        g.events += 1
        if (PASSIVE >> kind) & 1 == 0:
            g.live -= 1
            g.last_live_ps = now_ps
        if kind == EventKind.ARRIVE:
            node = node_of(event.key)
            if s.node[node].switch < 0:
                p = on_arrive_hca(s, data, now_ps)
            else:
                p = on_arrive_switch(s, data, node, now_ps)
        elif kind == EventKind.PORT_FREE:
            p = on_port_free(s, argument)
        elif kind == EventKind.CREDIT:
            p = on_credit(s, argument, data, now_ps)
        elif kind == EventKind.PACED:
            p = on_paced(s, argument, now_ps)
        else:
            p = handle_seldom(s, event.key, data, now_ps)
        if p >= 0:
            serve_port(s, p, now_ps)


@kernel
def settle(s: State, owned, now_ps: int) -> None:  # type: ignore[no-untyped-def]
    """Works out every FCP that starts up to now on some ports, and what has arrived; changes no future."""
    for p in owned:
        send_fcps(s, p, now_ps)
    for p in owned:
        for vl in range(s.par[0].vls - 1):
            hear_fcps(s, p, pv_of(s, p, vl), now_ps)


@kernel
def collect(s: State, counts: np.ndarray) -> None:
    """Sends the FCPs that start before the fabric time reached on the ports that face other shards.

    Args:
        s: The shard.
        counts: [4] int64, filled: the fabric time reached, then packets, FCPs and CC records in the outbox,
            which is empty afterwards: what stands in it is only valid until the next event.
    """
    g = s.g[0]
    for index in range(g.boundary_ports):
        send_fcps(s, np.int64(s.boundary[index]), g.now_ps - 1)
    counts[0] = g.now_ps
    counts[1] = g.out_packets
    counts[2] = g.out_fcps
    counts[3] = g.out_ccs
    g.out_packets = 0
    g.out_fcps = 0
    g.out_ccs = 0


@kernel
def has_room(s: State, records: int) -> bool:
    """Whether so many records find room in every pool and log."""
    return room(s) >= records


@kernel
def take_packets(s: State, packets) -> None:  # type: ignore[no-untyped-def]
    """Takes packets that other shards have put on links to here."""
    for i in range(len(packets)):
        index = take_packet(s)
        s.packet[index] = packets[i]
        schedule_arrival(s, index, s.port[packets[i].port].node)


@kernel
def take_fcps(s: State, fcps) -> None:  # type: ignore[no-untyped-def]
    """Takes FCPs that other shards have sent."""
    for i in range(len(fcps)):
        record = fcps[i]
        p, vl = split_number(s, np.int64(record.pv))
        if record.kind == FCP_LOST:
            s.port_more[p].symbol_errors += 1
        elif record.kind == PFC_FRAME:
            hear_later(s, pv_of(s, p, vl), record.arrival_ps, np.int64(record.value))
        elif record.kind == FCP_RESYNC:
            node = s.port[p].node
            push_event(s, record.arrival_ps, node, EventKind.RESYNC, record.pv, record.value)
        else:
            index = pv_of(s, p, vl)
            append_fcp(s, p, index, record.arrival_ps, record.value)
            if s.pv[index].blocked or record.kind == FCP_INIT:
                schedule_credit(s, p, vl, record.arrival_ps)


@kernel
def take_reactions(s: State, reactions) -> None:  # type: ignore[no-untyped-def]
    """Takes what congestion control and the HCAs say to each other."""
    for i in range(len(reactions)):
        time_ps, entity = reactions[i].time_ps, np.int64(reactions[i].entity)
        if s.par[0].cc_role == CcRole.REACTION_POINTS:
            notify_later(s, time_ps, entity, np.int64(reactions[i].value))
        else:
            apply_later(s, time_ps, entity, np.int64(reactions[i].value))


@kernel
def take_in(s: State, packets, fcps, reactions) -> bool:  # type: ignore[no-untyped-def]
    """Takes what other shards say; none of it has an effect before the fabric time reached.

    Returns:
        Whether there was room; without it nothing is taken.
    """
    if not has_room(s, len(packets) + len(fcps) + len(reactions)):
        return False
    take_packets(s, packets)
    take_fcps(s, fcps)
    take_reactions(s, reactions)
    return True


@kernel
def next_step(s: State) -> int:
    """Fabric time of the next event, or of an FCP for another shard, whichever may come first."""
    step_ps = next_event(s)
    for i in range(s.g[0].boundary_ports):
        p = np.int64(s.boundary[i])
        for vl in range(s.par[0].vls - 1):
            step_ps = min(step_ps, s.pv_input[pv_of(s, p, vl)].due_ps)
    return step_ps


@kernel
def may_resynchronise(s: State, ports) -> bool:  # type: ignore[no-untyped-def]
    """Whether blocks are lost, or can be, on what some ports send."""
    for p in ports:
        if s.port_more[p].error_below != 0:
            return True
        for vl in range(s.par[0].vls - 1):
            if s.pv_input[pv_of(s, p, vl)].eager:
                return True
    return False
