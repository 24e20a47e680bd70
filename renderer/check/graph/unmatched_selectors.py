"""Selectors of pods that miss the pods that they are for: topology spread constraints of a workload, and what acts on
pods by their labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.pods import KINDS, may_select, pods_by_namespace, selected_pods, view_templates, workload_pods
from renderer.check.graph.rules import check_rules, workload_rules
from renderer.check.graph.view import ObjectView
from renderer.diagnostics import Finding, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import as_map, as_text, list_at, map_at, maps_at, text_at
from renderer.kubernetes.workloads import CONTROLLER_LABELS
from renderer.text.suggestions import closest

_SPREAD = "topologySpreadConstraints"
_REQUIRED, _PREFERRED = (
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
)
_FROM_ELSEWHERE = frozenset(("namespaces", "namespaceSelector"))  # of a term about pods of other namespaces


@workload_rules.about(*KINDS)
def validate_spread(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for each topology spread constraint of a workload that counts none of its own pods, and for each term
    of their anti-affinity that names the workload in a label which no pod of the namespace has.
    """
    for template in view_templates(view, body):
        for i, constraint in enumerate(maps_at(template.spec, _SPREAD) if _SPREAD in template.spec else ()):
            selector = map_at(constraint, "labelSelector")
            if selector and not any(may_select(selector, pods) for pods in workload_pods(view, body)):
                words = {"kind": body["kind"], "key": constraint.get("topologyKey"), "labels": _described(selector)}
                yield Finding("W503", (*template.path, "spec", _SPREAD, i, "labelSelector"), words)
        for path, term in _anti_affinity(template.spec) if "affinity" in template.spec else ():
            selector = map_at(term, "labelSelector")
            named = name in as_map(selector.get("matchLabels")).values() and not _FROM_ELSEWHERE.intersection(term)
            if named and not any(may_select(selector, pods) for pods in pods_by_namespace(view).get(namespace, ())):
                words = {"kind": body["kind"], "key": term.get("topologyKey"), "labels": _described(selector)}
                yield Finding("W503", (*template.path, "spec", *path, "labelSelector"), words)


def _anti_affinity(spec: Body) -> Iterator[tuple[Path, Body]]:
    """The terms of a pod's anti-affinity, and where they are."""
    base: Path = ("affinity", "podAntiAffinity")
    for i, term in enumerate(maps_at(spec, *base, _REQUIRED)):
        yield (*base, _REQUIRED, i), term
    for i, weighted in enumerate(maps_at(spec, *base, _PREFERRED)):
        yield (*base, _PREFERRED, i, "podAffinityTerm"), map_at(weighted, "podAffinityTerm")


@check_rules.about(
    "Service", "PodDisruptionBudget.policy", "NetworkPolicy.networking.k8s.io", "PodMonitor.monitoring.coreos.com"
)
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
    for pods in pods_by_namespace(view).get(namespace, ()):
        differing = [key for key, value in labels.items() if pods.labels.get(key) != value]
        if len(differing) != 1 or len(labels) < 2:
            continue
        key = differing[0]
        value = pods.labels.get(key)
        if key == wellknown.GROUPS:
            is_meant = _is_renamed(str(labels[key]), str(value))
        else:  # of Services: backends.validate_service_selector
            is_meant = kind != "Service" and not key.startswith(CONTROLLER_LABELS)
        if is_meant:
            has = f"has {key}: {value}" if value is not None else f"has no label {key}"
            words = {"kind": kind, "wanted": f"{key}: {labels[key]}", "workload": pods.workload, "has": has}
            yield Finding("W504", (*path, key) if kind == "Service" else (*path, "matchLabels", key), words)
            return
    yield from _renamed_label(view, kind, namespace, labels, path if kind == "Service" else (*path, "matchLabels"))


def _renamed_label(view: ObjectView, kind: str, namespace: str, labels: Body, path: Path) -> Iterator[Finding]:
    """A finding for a selector that has the name of a workload in a label which its pods do not have, where they have
    that name in another one. An object without a namespace may be meant for any.
    """
    by_namespace = pods_by_namespace(view)
    spaces = [namespace] if namespace else [*by_namespace]
    if not namespace and any(selected_pods(view, space, {"matchLabels": labels}) for space in spaces):
        return
    for pods in (pods for space in spaces for pods in by_namespace.get(space, ())):
        name = text_at(pods.body, "metadata", "name")
        key = next((key for key, value in labels.items() if value == name and key not in pods.labels), None)
        own = [label for label, value in pods.labels.items() if value == name]
        if key and own:
            words = {"kind": kind, "label": f"{key}: {name}", "workload": pods.workload}
            yield Finding("W559", (*path, key), {**words, "own": f"{own[0]}: {name}"})
            return


def _is_renamed(before: str, after: str) -> bool:
    """Whether one name of a workload may be the other's of before, such as chat and chat-v2."""
    return after.startswith(f"{before}-") or before.startswith(f"{after}-") or bool(closest(before, (after,), 0.85))


def _namespace(body: Body, namespace: str) -> str:
    """The one namespace whose pods a selector is about; of a monitor the first that it names."""
    names = list_at(body, "spec", "namespaceSelector", "matchNames")
    return str(names[0]) if names else namespace


def _described(selector: Body) -> str:
    labels = [f"{key}: {value}" for key, value in as_map(selector.get("matchLabels")).items()]
    keys = [as_text(expression.get("key")) for expression in maps_at(selector, "matchExpressions")]
    return ", ".join([*labels, *keys])
