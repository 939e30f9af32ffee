# SPDX-License-Identifier: Apache-2.0
"""Watching for alerts while a fault lasts: which came, which did not, which nobody expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import time

from fabrictwin.drills.course import AlertRecord, Course
from fabrictwin.drills.drill import ExpectedAlert
from fabrictwin.drills.monitor import Monitor

EVERY_S = 0.5


def watch_alerts(
    monitor: Monitor,
    expected: Sequence[ExpectedAlert],
    course: Course,
    sleep: Callable[[float], None],
    show: Callable[[str, str], None],
) -> None:
    """Waits until every expected alert has fired, or its time is over; notes all of them.

    Args:
        monitor: The monitoring chain.
        expected: What has to fire.
        course: Takes the records.
        sleep: Lets wall time go by.
        show: Takes what happens.
    """
    records = {each.alert: AlertRecord(each.alert, True, each.within_s) for each in expected}
    course.alerts = list(records.values())
    deadline_s = course.fault_wall_s + max(each.within_s for each in expected)
    while time() < deadline_s:
        _take_in(monitor, records, course)
        waiting = [each.alert for each in expected if records[each.alert].firing_s is None]
        if not waiting:
            return
        show("watch", f"waiting for {', '.join(waiting)}")
        sleep(EVERY_S)


def _take_in(monitor: Monitor, records: dict[str, AlertRecord], course: Course) -> None:
    since_s = time() - course.fault_wall_s
    for seen in monitor.alerts():
        if seen.alert not in records:
            records[seen.alert] = AlertRecord(seen.alert, False)
            course.alerts.append(records[seen.alert])
        record = records[seen.alert]
        record.text = record.text or seen.text
        if seen.state == "pending" and record.pending_s is None:
            record.pending_s = since_s
        elif seen.state == "firing" and record.firing_s is None:
            record.firing_s = since_s
        elif seen.state == "notified" and record.notified_s is None:
            record.notified_s = since_s
