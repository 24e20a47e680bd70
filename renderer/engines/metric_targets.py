"""Whether a metric of an engine can ever reach what an autoscaler aims at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from renderer.engines.dialect import Dialect
from renderer.engines.given_options import last_number
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import texts_at

_SHARE, _RUNNING = "kvUsage", "running"  # of `engine.metrics`: a share of the cache, and a number of requests


def unreached_target(
    spec: Mapping[str, object], backend: str, style: Dialect, args: Sequence[str], name: str, target: object, ranks: int
) -> Mapping[str, str]:
    """The words of the warning about a metric that stays below the average that an autoscaler aims at; {} where it may
    reach that. `spec`: `engine` of the runtime; `name`: as the engine or an adapter of metrics spells it; `ranks`: of
    data parallelism.
    """
    role = _role(spec, name)
    try:
        aim = quantity.nanos(target) / 10**9 if role else 0
    except ValueError:
        return {}  # which is told as such
    if role == _SHARE and aim > 1:
        hint = f"write '{aim / 100:g}'" if aim <= 100 else "write a share, such as '0.8'"
        return {"name": name, "target": str(target), "why": "it is a share between 0 and 1", "hint": hint}
    if role == _RUNNING and ranks == 1:
        for option in texts_at(table_entry(backend), "together"):
            most = last_number(style, args, frozenset([style.name(option)]))
            if most and aim >= most:
                why = f"with {option} {most} no more requests run at once"
                less = f"write less, such as {math.ceil(most * 0.75)}" if most > 1 else "scale on those that wait"
                return {"name": name, "target": str(target), "why": why, "hint": less}
    return {}


def _role(spec: Mapping[str, Any], name: str) -> str:
    """What a metric of the engine is about, in this version or an older one; '' for another one. Adapters of metrics
    have no colon in names.
    """
    spelling = name.replace(":", "_")
    for part in (spec, *(spec.get("versions") or ())):
        if metrics := part.get("metrics"):
            for role in (_SHARE, _RUNNING):
                if (own := metrics.get(role)) and own.replace(":", "_") == spelling:
                    return role
    return ""
