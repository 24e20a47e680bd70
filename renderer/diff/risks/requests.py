"""Requests that fail while a change rolls out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from renderer.diagnostics import Path
from renderer.diff.disaggregation import rolling_pairs
from renderer.diff.models import ModelChange
from renderer.diff.objects import Body, Items
from renderer.diff.risks.kinds import ObjectPair, Risk, marked
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at
from renderer.kubernetes.workloads import WORKER, made_pods, selects

_SELECTORS: Mapping[str, Path] = {  # of pods that answer requests
    "Service": ("spec", "selector"),
    "InferencePool": ("spec", "selector", "matchLabels"),
}


def lost_requests(pairs: Iterable[ObjectPair], before: Items) -> Iterator[Risk]:
    """Services and pools that lead to leaders alone, and will lead to all pods: until the workers of today are gone,
    which do not answer, to these too.
    """
    for pair in pairs:
        if pair.key.kind not in _SELECTORS:
            continue
        old, new = (map_at(body, *_SELECTORS[pair.key.kind]) for body in (pair.before, pair.after))
        if wellknown.WORKER_INDEX not in old or wellknown.WORKER_INDEX in new or not new:
            continue
        for key, item in before.items():
            if key.namespace == pair.key.namespace and _selects_workers(new, item.body):
                what = (
                    f"leads to workers of {marked(key.name)} too, and those that are not rolled out yet do not answer"
                )
                yield Risk("lost-requests", pair.key, what)


def _selects_workers(selector: Mapping[str, object], body: Body) -> bool:
    """Whether labels lead to workers beside leaders that alone answer requests."""
    workers = (pods for pods in made_pods(body) if pods.template.role == WORKER)
    return any(selects({"matchLabels": selector}, pods.labels) for pods in workers)


def unlike_roles(models: Iterable[ModelChange]) -> Iterator[Risk]:
    """What both LeaderWorkerSets of an app have to have alike, and have not while they are updated."""
    for prefill, decode, names in rolling_pairs(models):
        text = f"{', '.join(map(marked, names))}: requests may fail until both are done"
        yield from (Risk("roles", change.key, text) for change in (prefill, decode))
