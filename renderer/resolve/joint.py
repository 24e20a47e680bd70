"""What apps share: the objects that they want together → one Joint a file, everything decided.

A Plan only names what its app needs of them (Wanted), since each process plans its own apps; here all have spoken.
"""

from __future__ import annotations

from collections.abc import Iterable

from renderer.plan import Joint, Wanted
from renderer.problems import Findings, Problem
from renderer.resolve import monitoring, openmodels
from renderer.resolve.memo import Memo

_MODEL, _MONITOR = openmodels.KIND, monitoring.KIND


def joints(memo: Memo, wanted: Iterable[Wanted]) -> tuple[list[Joint], list[Problem]]:
    """What is shared of the cluster and of each namespace, in this order; and what is wrong with it, or with the
    settings for it.
    """
    inputs, found = memo.inputs, Findings()
    monitoring.settings(inputs, found)
    asked: dict[str, dict[str, list[Wanted]]] = {}
    for each in sorted(wanted):
        asked.setdefault(each.namespace, {}).setdefault(each.kind, []).append(each)
    made = [
        Joint(
            namespace,
            models=tuple([openmodels.model(inputs, memo.catalog, each.name, found) for each in kinds.get(_MODEL, ())]),
            monitor=monitoring.monitor(inputs) if _MONITOR in kinds else None,
        )
        for namespace, kinds in sorted(asked.items())
    ]
    return made, found.problems
