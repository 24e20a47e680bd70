"""What lies beside workloads and stays there, and has to change or to stay with the new pods: each is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from renderer.adopt.adopted_workload import AdoptedWorkload
from renderer.adopt.neighbours import key_of
from renderer.adopt.playground_fields import engine_port_of
from renderer.check.graph.pod_references import named_objects
from renderer.diagnostics import Diagnostic, Path, make_diagnostic
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at
from renderer.kubernetes.wellknown import CLUSTER_SCOPED, WORKLOAD
from renderer.kubernetes.workloads import maps_in, pod_templates, selects
from renderer.yamlio import Document

Body = Mapping[str, Any]
_CLAIM: Final = "PersistentVolumeClaim"
_KEEP: Final = "keep it where it is applied today, or move it where no sync prunes it"
_KEEP_CLAIM: Final = (
    "keep it where it is applied today, or move it with argocd.argoproj.io/sync-options: Prune=false or "
    "kustomize.toolkit.fluxcd.io/prune: disabled: with it go the weights; another environment needs one that is filled"
)


def tell_selections(
    documents: Sequence[Document], workloads: Sequence[AdoptedWorkload], rendered: Sequence[Body]
) -> Iterator[Diagnostic]:
    """A note for each object that selects the pods of a workload by a label which has another value on the new pods,
    and for each that names their port by a name which is another there. `rendered`: the objects with the new pods.
    """
    new_labels = {
        key_of(body): map_at(template.body, "metadata", "labels")
        for body in rendered
        for template in list(pod_templates(body))[:1]
    }
    index: dict[tuple[str, str], list[AdoptedWorkload]] = {}
    for adopted in workloads:
        for key, value in map_at(_old_template(adopted), "metadata", "labels").items():
            index.setdefault((key, str(value)), []).append(adopted)
    for document in documents:
        told_ids: set[int] = set()
        namespace = key_of(document.value)[0]
        for path, selector, anywhere in _selectors(document.value):
            for adopted in index.get(_first_label(selector), ()):
                old, new = map_at(_old_template(adopted), "metadata", "labels"), new_labels.get(adopted.new_key, {})
                is_here = namespace in ("", adopted.key[0]) or anywhere
                if id(adopted) in told_ids or not is_here or not selects(selector, old):
                    continue
                told_ids.add(id(adopted))
                if not selects(selector, new):
                    yield _labels_problem(document, path, selector, adopted, new)
                yield from _port_problem(document, adopted)


def tell_used(documents: Sequence[Document], rendered: Sequence[Body]) -> Iterator[Diagnostic]:
    """A note for each object that the rendered pods name, and that stays where it is."""
    used = {
        (reference.kind, "" if reference.kind in CLUSTER_SCOPED else key_of(body)[0], reference.name)
        for body in rendered
        for template in pod_templates(body)
        for reference in named_objects(template.spec, ())
    }
    for document in documents:
        kind, (namespace, name) = text_at(document.value, "kind"), key_of(document.value)
        if (kind, namespace, name) in used:
            words = {"kind": kind, "name": name, "hint": _KEEP_CLAIM if kind == _CLAIM else _KEEP}
            yield make_diagnostic("N954", document.origin("metadata", "name"), **words)


def _old_template(adopted: AdoptedWorkload) -> Body:
    """The template of the pods that run, with their labels."""
    return adopted.workload.leader_template or adopted.workload.template


def _selectors(value: Body) -> Iterator[tuple[Path, dict[str, Any], bool]]:
    """The selectors of pods in an object, in their usual form, with their paths; and whether each may lead to pods of
    other namespaces.
    """
    for path, body in maps_in(map_at(value, "spec"), ("spec",)):
        for key, item in body.items():
            if not isinstance(item, dict):
                continue
            anywhere = "namespaceSelector" in body
            if item.get("matchLabels") or item.get("matchExpressions"):
                yield (*path, key), item, anywhere
            elif key == "selector" and item and all(isinstance(text, str) for text in item.values()):
                yield (*path, key), {"matchLabels": item}, anywhere  # as a pool of v1alpha2 says it


def _terms(selector: Body) -> Iterator[tuple[str, str]]:
    """The labels that a selector asks for, as far as it asks for one value of each."""
    yield from ((key, str(value)) for key, value in map_at(selector, "matchLabels").items())
    for expression in maps_at(selector, "matchExpressions"):
        values = list_at(expression, "values")
        if expression.get("operator") == "In" and len(values) == 1:
            yield text_at(expression, "key"), str(values[0])


def _first_label(selector: Body) -> tuple[str, str]:
    return next(_terms(selector), ("", ""))


def _labels_problem(document: Document, path: Path, selector: Body, adopted: AdoptedWorkload, new: Body) -> Diagnostic:
    """`new`: the labels of the new pods."""
    changed = [(key, value) for key, value in _terms(selector) if new.get(key) != value]
    words = {"kind": text_at(document.value, "kind"), "name": text_at(document.value, "metadata", "name")}
    words |= {"labels": ", ".join(f"{key}: {value}" for key, value in changed), "app": adopted.takeover.name}
    own = dict.fromkeys(key if key in new else WORKLOAD for key, _ in changed)
    words["new"] = ", ".join(f"{key}: {new.get(key)}" for key in own)
    return make_diagnostic("N952", document.origin(*path), **words)


def _port_problem(document: Document, adopted: AdoptedWorkload) -> Iterator[Diagnostic]:
    port = engine_port_of(adopted)
    for path, body in maps_in(map_at(document.value, "spec"), ("spec",)):
        name = body.get("port")
        if isinstance(name, str) and name in port.names and name != port.ours:
            words = {"kind": text_at(document.value, "kind"), "name": text_at(document.value, "metadata", "name")}
            words |= {"port": name, "ours": port.ours, "app": adopted.takeover.name}
            yield make_diagnostic("N953", document.origin(*path, "port"), **words)
            return
