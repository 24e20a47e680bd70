"""Selectors of pods that miss the pods that they are for: topology spread constraints of a workload, and what acts on
pods by their labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from renderer.check.finding import Body, Finding
from renderer.check.graph.backends import lws_pods
from renderer.check.graph.pods import POD_LABELS, WorkloadPods, template_pods
from renderer.check.graph.set_pods import set_pods
from renderer.check.graph.view import ObjectView, selects
from renderer.diagnostics import Path
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.kubernetes.json_values import as_map, as_text, list_at, map_at, maps_at
from renderer.text.suggestions import closest

_TEMPLATED = ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")
_SPREAD = "topologySpreadConstraints"
TEMPLATES: Mapping[str, tuple[Path, ...]] = {
    wellknown.LEADER_WORKER_SET: (
        ("spec", "leaderWorkerTemplate", "leaderTemplate"),
        ("spec", "leaderWorkerTemplate", "workerTemplate"),
    ),
    **dict.fromkeys((*_TEMPLATED, "Job"), (("spec", "template"),)),
}


class SetPods(NamedTuple):
    """The pods of a template of a workload of the set."""

    workload: str  # its kind and name
    pods: WorkloadPods


def validate_spread(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each topology spread constraint of a workload that counts none of its own pods."""
    kind = as_text(body.get("kind"))
    for path in TEMPLATES.get(kind, ()):
        spec = map_at(body, *path, "spec")
        for i, constraint in enumerate(maps_at(spec, _SPREAD) if _SPREAD in spec else ()):
            selector = map_at(constraint, "labelSelector")
            pods = [pods.pods.labels for pods in _workload_pods(view, kind, name, body)]
            if not selector or any(selects(selector, labels) for labels in pods):
                continue
            words = {"kind": kind, "key": constraint.get("topologyKey"), "labels": _described(selector)}
            yield "W503", (*path, "spec", _SPREAD, i, "labelSelector"), words


def validate_selector(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for a selector that no pod of the set has, where all labels but one are those of a workload. Where that
    one names the workload, its name has to be similar.
    """
    kind = as_text(body.get("kind"))
    path: Path = ("spec", "podSelector" if kind == "NetworkPolicy" else "selector")
    selector = map_at(body, *path)
    if kind == "Service":
        selector = {"matchLabels": selector}
    labels = as_map(selector.get("matchLabels"))
    if not labels:
        return
    namespace = _namespace(body, namespace)
    if selected_pods(view, namespace, selector):
        return
    for entry in view.once("pods of workloads", _pods_by_namespace).get(namespace, ()):
        differing = [key for key, value in labels.items() if entry.pods.labels.get(key) != value]
        if len(differing) != 1 or len(labels) < 2:
            continue
        key = differing[0]
        value = entry.pods.labels.get(key)
        if key == wellknown.GROUPS:
            is_meant = _is_renamed(str(labels[key]), str(value))
        else:  # of Services: backends.validate_service_selector
            is_meant = kind != "Service" and not key.startswith(POD_LABELS)
        if is_meant:
            has = f"has {key}: {value}" if value is not None else f"has no label {key}"
            words = {"kind": kind, "wanted": f"{key}: {labels[key]}", "workload": entry.workload, "has": has}
            yield "W504", (*path, key) if kind == "Service" else (*path, "matchLabels", key), words
            return


def selected_pods(view: ObjectView, namespace: str, selector: Body) -> list[SetPods]:
    """The pods of a namespace that a selector with `matchLabels` selects."""
    pods = view.once("pods by label", _pods_by_label)
    candidates = min((pods.get((namespace, *label), ()) for label in map_at(selector, "matchLabels").items()), key=len)
    return [entry for entry in candidates if selects(selector, entry.pods.labels)]


def _is_renamed(before: str, after: str) -> bool:
    """Whether one name of a workload may be the other's of before, such as chat and chat-v2."""
    return after.startswith(f"{before}-") or before.startswith(f"{after}-") or bool(closest(before, (after,), 0.85))


def _namespace(body: Body, namespace: str) -> str:
    """The one namespace whose pods a selector is about; of a monitor the first that it names."""
    names = list_at(body, "spec", "namespaceSelector", "matchNames")
    return str(names[0]) if names else namespace


def _pods_by_namespace(view: ObjectView) -> dict[str, list[SetPods]]:
    """The pods of all workloads of the set, by namespace."""
    pods: dict[str, list[SetPods]] = {}
    for (kind, namespace, name), body in view.objects.items():
        if body:
            pods.setdefault(namespace, []).extend(_workload_pods(view, kind, name, body))
    return pods


def _pods_by_label(view: ObjectView) -> dict[tuple[str, str, object], list[SetPods]]:
    """The pods of all workloads by namespace, and key and value of each label."""
    pods: dict[tuple[str, str, object], list[SetPods]] = {}
    for namespace, entries in view.once("pods of workloads", _pods_by_namespace).items():
        for entry in entries:
            for key, value in entry.pods.labels.items():
                pods.setdefault((namespace, key, value), []).append(entry)
    return pods


def _workload_pods(view: ObjectView, kind: str, name: str, body: Body) -> Iterator[SetPods]:
    """The pods of a workload, with the labels that controllers add; nothing of other objects."""
    workload = f"{as_text(body.get('kind'))} '{name}'"
    if kind == wellknown.LEADER_WORKER_SET:
        yield from (SetPods(workload, pods) for pods in lws_pods(name, body))
    elif kind == disaggregated_sets.KIND:
        yield from (SetPods(workload, pods) for pods in set_pods(view, name, body))
    elif kind in _TEMPLATED:
        yield SetPods(workload, template_pods(map_at(body, "spec", "template")))


def _described(selector: Body) -> str:
    labels = [f"{key}: {value}" for key, value in as_map(selector.get("matchLabels")).items()]
    keys = [as_text(expression.get("key")) for expression in maps_at(selector, "matchExpressions")]
    return ", ".join([*labels, *keys])
