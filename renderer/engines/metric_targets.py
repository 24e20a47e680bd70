"""What is wrong with what an autoscaler aims at in a metric of an engine: it never reaches that, or always has it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from renderer.diagnostics import ReplacingHint
from renderer.engines.dialect import Dialect
from renderer.engines.given_options import last_number
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import texts_at
from renderer.kubernetes.pod_amounts import format_amount

_SHARE, _RUNNING = "kvUsage", "running"  # of `engine.metrics`: a share of the cache, and a number of requests
_ROLES = (_SHARE, _RUNNING, "waiting")
_TINY = 0.1  # below it a target is passed by the first request; above it some mean one for several replicas
_MANY = 10**6  # requests, which nobody means
_NOT_OF_LOAD = "memory"  # the resource of which an engine takes at its start what it keeps


def wrong_target(
    spec: Mapping[str, object], backend: str, style: Dialect, args: Sequence[str], name: str, target: object, ranks: int
) -> Mapping[str, str]:
    """The words of the warning about a metric that never reaches the average that an autoscaler aims at, or that the
    first request takes above it; {} where neither is sure. `spec`: `engine` of the runtime; `name`: as the engine or an
    adapter of metrics spells it; `ranks`: of data parallelism.
    """
    role = _role(spec, name)
    try:
        aim = quantity.nanos(target) / 10**9 if role else 0
    except ValueError:
        return {}  # which is told as such
    if not aim:
        return {}
    is_share = role == _SHARE
    if aim < _TINY:
        when = "as soon as a few requests run" if is_share else "from the first request on"
        return _words(name, f"is above {target} {when}", f"that is {aim:g}", _meant(aim, is_share))
    if is_share and aim > 1:
        hint = _written(f"{aim / 100:g}") if aim <= 100 else "write a share, such as '0.8'"
        return _words(name, _unreached(target), "it is a share between 0 and 1", hint)
    if role == _RUNNING and ranks == 1:
        for option in texts_at(table_entry(backend), "together"):
            most = last_number(style, args, frozenset([style.name(option)]))
            if most and aim >= most:
                why = f"with {option} {most} no more requests run at once"
                less = f"write less, such as {math.ceil(most * 0.75)}" if most > 1 else "scale on those that wait"
                return _words(name, _unreached(target), why, less)
    if aim >= _MANY:
        number = re.sub(r"\D.*", "", str(target))
        return _words(name, _unreached(target), f"that is {aim:,.0f} requests", _written(number))
    return {}


def resource_apart_from_load(name: str, hint: str) -> Mapping[str, str]:
    """The words of the warning about a resource of an engine that tells nothing of its load; {} for another one."""
    if name != _NOT_OF_LOAD:
        return {}
    why = "an engine keeps what it took at its start, so there are always the most replicas or always the least"
    return _words(name, "does not follow the load", why, hint)


def unreached_utilization(name: str, percent: int, most: int) -> Mapping[str, str]:
    """The words of the warning about a resource that containers limit to less than an autoscaler aims at; {} where it
    may be reached. `most`: the limit, in percent of what they request.
    """
    if percent < most:
        return {}
    why = f"its limit is {most} % of what the containers request"
    return _words(name, _unreached(f"{percent} %"), why, f"write less, such as {math.ceil(most * 0.8)}")


def unreached_amount(name: str, aim: object, most: int) -> Mapping[str, str]:
    """The same about an amount of the resource. `most`: the limit, in billionths. Raises ValueError."""
    if quantity.nanos(aim) < most:
        return {}
    why = f"the containers are limited to {format_amount(name, most)}"
    hint = "aim at a utilization, such as target: {type: Utilization, averageUtilization: 80}"
    return _words(name, _unreached(aim), why, hint)


def _words(name: str, what: str, why: str, hint: str) -> Mapping[str, str]:
    return {"name": name, "what": what, "why": why, "hint": hint}


def _unreached(target: object) -> str:
    return f"never reaches {target}, so nothing scales on it"


def _written(number: str) -> str:
    """The hint to write a number, as text, in place of the target."""
    return ReplacingHint(f"write '{number}'", "", number)


def _meant(aim: float, is_share: bool) -> str:
    """What was meant by a target in thousandths: `80m` of a share is 80 %, and `5m` requests are 5."""
    if not is_share:
        return _written(f"{aim * 1000:g}")
    return _written(f"{aim * 10:g}") if aim >= _TINY / 10 else "write a share, such as '0.8'"


def _role(spec: Mapping[str, Any], name: str) -> str:
    """What a metric of the engine is about, in this version or an older one; '' for another one. Adapters of metrics
    have no colon in names.
    """
    spelling = name.replace(":", "_")
    for part in (spec, *(spec.get("versions") or ())):
        if metrics := part.get("metrics"):
            for role in _ROLES:
                if (own := metrics.get(role)) and own.replace(":", "_") == spelling:
                    return role
    return ""
