# SPDX-License-Identifier: Apache-2.0
"""A drill as an experiment of Chaos Toolkit, which calls the same probes and actions.

What Chaos Toolkit does not know is left to :mod:`fabrictwin.drills.chaostoolkit` (pauses in fabric time) or
is only carried along (signs, budgets, blast radius: under ``extensions``). Its verdict is therefore not ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fabrictwin.drills.drill import Activity, Drill, Sign
from fabrictwin.drills.tolerance import Tolerance

MODULE = "fabrictwin.drills.chaostoolkit"
DEFAULT_DIRECTOR = "127.0.0.1:7000"
NO_BOUND = 1e300
"""A range of Chaos Toolkit has two numbers."""


def chaostoolkit_experiment(drill: Drill) -> dict[str, Any]:
    """The experiment: ``chaos validate`` accepts it, ``chaos run`` runs it on a twin of its scenario."""
    return {
        "version": "1.0.0",
        "title": drill.title,
        "description": drill.description,
        "tags": list(drill.tags),
        "configuration": {
            "fabrictwin_director": {"type": "env", "key": "FABRICTWIN_DIRECTOR", "default": DEFAULT_DIRECTOR}
        },
        "extensions": [{"name": "fabrictwin", "drill": drill.name, "expect": _expect(drill)}],
        "steady-state-hypothesis": {
            "title": drill.hypothesis_title,
            "probes": [_probe(each, since="look") for each in drill.hypothesis],
        },
        "method": [
            _pause("warm-up", drill.warm_up_ps),
            *_activities(drill.method, drill),
            # Chaos Toolkit asks whether the hypothesis holds again before it rolls back.
            *_activities(drill.rollbacks, drill),
            _pause("recovery", max(drill.expect.recovery_ps, drill.every_ps)),
        ],
        "rollbacks": [*_activities(drill.rollbacks, drill)],
    }


FORMATS: dict[str, Callable[[Drill], dict[str, Any]]] = {"chaostoolkit": chaostoolkit_experiment}
"""What a drill can be written as."""


def _activities(activities: Sequence[Activity], drill: Drill) -> Iterator[dict[str, Any]]:
    for activity in activities:
        if activity.before_ps:
            yield _pause(f"before-{activity.name}", activity.before_ps)
        yield _action(activity, drill) if activity.is_action else _probe(activity, since="start")
        if activity.after_ps:
            yield _pause(f"after-{activity.name}", activity.after_ps)


def _probe(activity: Activity, since: str) -> dict[str, Any]:
    arguments = {"probe": activity.func, "arguments": activity.arguments.model_dump(), "since": since}
    probe = {"type": "probe", "name": activity.name, "provider": _provider("measure", arguments)}
    if activity.tolerance is not None:
        probe["tolerance"] = _tolerance(activity.tolerance)
    return probe


def _action(activity: Activity, drill: Drill) -> dict[str, Any]:
    arguments = activity.arguments
    plain = arguments if isinstance(arguments, dict) else arguments.model_dump()
    values = {
        "action": activity.func,
        "name": activity.name,
        "arguments": plain,
        "lease": f"{drill.lease_ps}ps",
    }
    return {"type": "action", "name": activity.name, "provider": _provider("act", values)}


def _pause(name: str, span_ps: int) -> dict[str, Any]:
    """Fabric time goes on: Chaos Toolkit's own pauses are wall time."""
    provider = _provider("advance", {"fabric_time": f"{span_ps}ps"})
    return {"type": "action", "name": name, "provider": provider}


def _provider(func: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "python", "module": MODULE, "func": func, "arguments": arguments}


def _tolerance(tolerance: Tolerance) -> Any:
    if tolerance.pattern is not None:
        return {"type": "regex", "pattern": tolerance.pattern}
    if tolerance.equals is not None:
        return tolerance.equals if isinstance(tolerance.equals, str) else [tolerance.equals, tolerance.equals]
    least = -NO_BOUND if tolerance.least is None else tolerance.least
    most = NO_BOUND if tolerance.most is None else tolerance.most
    return {"type": "range", "range": [least, most]}


def _expect(drill: Drill) -> dict[str, Any]:
    expect = drill.expect
    return {
        "detection": [_sign(sign) for sign in expect.detection],
        "mitigation": [_sign(sign) for sign in expect.mitigation],
        "alerts": [{"alert": each.alert, "within_s": each.within_s} for each in expect.alerts],
        "stopped": expect.stopped,
    }


def _sign(sign: Sign) -> dict[str, Any]:
    return {"sign": sign.name, "within": f"{sign.within_ps}ps"}
