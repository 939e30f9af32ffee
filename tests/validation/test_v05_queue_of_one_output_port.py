# SPDX-License-Identifier: Apache-2.0
"""A switch's output port under Poisson arrivals is an M/D/1 queue.

Setup: hosts send messages of one packet, at Poisson times, through a switch to one host at 100 Gb/s. One
sender at 10 Tb/s makes one queue in order of arrival; 16 at 1.6 Tb/s make one that takes turns among its
inputs. Their cables are so fast that they do not queue themselves. The rate is set for the wire's load rho,
headers included.
Expected: mean wait in service times rho / (2 (1 - rho)) (Pollaczek and Khinchine): 0.500, 1.167, 2.000,
4.500 at rho = .5, .7, .8, .9, whatever the order; in order of arrival a 99th percentile of 3.4, 6.5, 10.5,
21.7.
Tolerance: of the mean 3 % up to rho = .8 and 8 % at .9, of the percentiles 8 %. The standard error of the
mean of 800,000 packets (over seeds) is 0.2 %, 0.5 %, 0.8 % and 1.5 %. Acknowledgements cause flow-control
packets of 8 bytes at the port, which add 0.2 % to the load: 1 % of the wait at rho = .8, 2 % at .9.
"""

from __future__ import annotations

import numpy as np
import pytest

from validation.conftest import Note
from validation.setups import Keys, build, run, wire_bytes, wire_ps

PACKETS = 800_000
PAYLOAD = 4096
PORT_BPS = 100_000_000_000
SERVICE_PS = wire_ps(wire_bytes(PAYLOAD), PORT_BPS)


def funnel(senders: int) -> Keys:
    """Senders with fast cables on a switch, and ``h0`` with a slow one."""
    fast = {"rate": f"{10_000 if senders == 1 else 1600}Gb/s"}
    nodes: Keys = {f"h{host}": "hca" for host in range(senders + 1)} | {"sw0": {"switch": senders + 1}}
    cables = [
        [f"h{host}/1", f"sw0/{host + 1}", fast if host else {"rate": "100Gb/s"}]
        for host in range(senders + 1)
    ]
    return {"nodes": nodes, "links": cables}


def waits(senders: int, load_percent: int) -> np.ndarray:
    """Time that each packet waited for the port, in service times."""
    payload_bps = PORT_BPS * load_percent * PAYLOAD // (wire_bytes(PAYLOAD) * 100 * senders)
    poisson = {
        "kind": "incast",
        "senders": [f"h{host + 1}" for host in range(senders)],
        "receiver": "h0",
        "message": f"{PAYLOAD}B",
        "count": PACKETS // senders,
        "rate": f"{payload_bps // 1_000_000}Mb/s",
        "arrival": "poisson",
    }
    latencies = run(build(funnel(senders), [poisson], hca={"tx_latency": "0ns"})).message_latencies_ps
    assert len(latencies) == PACKETS
    return (latencies - latencies.min()) / SERVICE_PS


@pytest.mark.parametrize(
    ("load_percent", "mean", "tolerance", "p99"),
    [(50, 0.5, 0.03, 3.4), (70, 1.167, 0.03, 6.5), (80, 2.0, 0.03, 10.5), (90, 4.5, 0.08, 21.7)],
)
def test_wait_in_order_of_arrival_has_the_mean_and_the_tail_of_the_law(
    load_percent: int, mean: float, tolerance: float, p99: float, measured: Note
) -> None:
    wait = waits(1, load_percent)
    tail = np.quantile(wait, 0.99)
    measured(
        f"load {load_percent} %, in order of arrival",
        f"mean {mean:.3f} ± {tolerance:.0%}, p99 {p99} ± 8%",
        f"mean {wait.mean():.3f}, p99 {tail:.1f}",
    )
    assert wait.mean() == pytest.approx(mean, rel=tolerance)
    assert tail == pytest.approx(p99, rel=0.08)


@pytest.mark.parametrize(("load_percent", "mean", "tolerance"), [(50, 0.5, 0.03), (80, 2.0, 0.03)])
def test_mean_wait_is_the_same_with_inputs_that_take_turns(
    load_percent: int, mean: float, tolerance: float, measured: Note
) -> None:
    wait = waits(16, load_percent)
    measured(
        f"load {load_percent} %, 16 inputs in turns",
        f"mean {mean:.3f} ± {tolerance:.0%}",
        f"mean {wait.mean():.3f}",
    )
    assert wait.mean() == pytest.approx(mean, rel=tolerance)
