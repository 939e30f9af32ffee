# SPDX-License-Identifier: Apache-2.0
"""What a service tells of itself."""

from __future__ import annotations

import pytest

from fabrictwin.telemetry import Exporter, Health, Service
from fabrictwin.units import PS_PER_S, PS_PER_US


def _page(health: Health) -> list[str]:
    return b"".join(Exporter(health).render()).decode().splitlines()


def _health(service: Service = Service.DIRECTOR) -> Health:
    return Health("ring", service, "lp0", "ring-scenario")


def test_health_says_what_runs() -> None:
    (line,) = [line for line in _page(_health()) if line.startswith("fabrictwin_build_info")]
    for label in (
        'twin="ring"',
        'service="director"',
        'shard="lp0"',
        'scenario="ring-scenario"',
        'version="',
    ):
        assert label in line


def test_health_gives_fabric_time_in_seconds() -> None:
    health = _health()
    health.reached_ps = 3 * PS_PER_S // 2
    assert "fabrictwin_fabric_seconds_total 1.5" in _page(health)


def test_health_puts_steps_into_the_bucket_that_holds_them() -> None:
    health = _health()
    for took_ns in (10_000, 10_001, 3_000_000_000):
        health.steps.add(took_ns)
    page = _page(health)
    assert 'fabrictwin_step_seconds_bucket{le="1e-05"} 1.0' in page
    assert 'fabrictwin_step_seconds_bucket{le="2e-05"} 2.0' in page
    assert 'fabrictwin_step_seconds_bucket{le="1.0"} 2.0' in page
    assert 'fabrictwin_step_seconds_bucket{le="+Inf"} 3.0' in page
    assert "fabrictwin_step_seconds_sum 3.000020001" in page


def test_health_measures_lag_behind_the_furthest_peer_but_the_director() -> None:
    health = _health(Service.SWITCH_NODE)
    for peer, promise_ps in (("hca0", 5 * PS_PER_US), ("hca1", 3 * PS_PER_US), ("director", 900 * PS_PER_US)):
        health.incoming[peer].promise_ps = promise_ps
    lags = {line for line in _page(health) if line.startswith("fabrictwin_promise_lag_seconds")}
    assert lags == {
        'fabrictwin_promise_lag_seconds{peer="hca0"} 0.0',
        'fabrictwin_promise_lag_seconds{peer="hca1"} 2e-06',
        'fabrictwin_promise_lag_seconds{peer="director"} 0.0',
    }


def test_health_counts_what_a_channel_carries() -> None:
    health = _health()
    health.outgoing["sm0"].entries += 2
    health.outgoing["sm0"].size_bytes += 300
    health.incoming["sm0"].waited_ns += 250_000_000
    page = _page(health)
    assert 'fabrictwin_bus_sent_entries_total{peer="sm0"} 2.0' in page
    assert 'fabrictwin_bus_sent_bytes_total{peer="sm0"} 300.0' in page
    assert 'fabrictwin_promise_wait_seconds_total{peer="sm0"} 0.25' in page


def test_health_tells_of_no_checkpoint_before_there_is_one() -> None:
    health = _health()
    assert not [line for line in _page(health) if line.startswith("fabrictwin_checkpoint")]
    health.checkpoint(1_800_000_000.5, PS_PER_S)
    page = _page(health)
    assert "fabrictwin_checkpoint_timestamp_seconds 1.8000000005e+09" in page
    assert "fabrictwin_checkpoint_fabric_seconds 1.0" in page


def test_health_counts_sets_and_removes_values_of_its_service() -> None:
    health = _health()
    health.count("fabrictwin_commands_total", "fault.inject")
    health.count("fabrictwin_commands_total", "fault.inject")
    health.set("fabrictwin_fault_active", 1, "f1", "link_down", "leaf0/1")
    page = _page(health)
    assert 'fabrictwin_commands_total{do="fault.inject"} 2.0' in page
    assert 'fabrictwin_fault_active{fault="f1",kind="link_down",target="leaf0/1"} 1.0' in page
    health.remove("fabrictwin_fault_active", "f1", "link_down", "leaf0/1")
    assert not [line for line in _page(health) if line.startswith("fabrictwin_fault_active")]


def test_health_refuses_metrics_of_other_services_and_wrong_labels() -> None:
    with pytest.raises(ValueError, match="not a metric that hca_endpoint sets"):
        _health(Service.HCA_ENDPOINT).count("fabrictwin_commands_total", "fault.inject")
    with pytest.raises(ValueError, match="has the labels"):
        _health().count("fabrictwin_commands_total")
