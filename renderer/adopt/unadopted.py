"""Why nothing of some manifests was adopted, and what leads on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from renderer.adopt.serving_workload import Body, ServingWorkload
from renderer.check.engines import accelerated_containers, engine_containers, is_release
from renderer.diagnostics import Diagnostic, NamedSource, Origin, make_diagnostic
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.workloads import WORKLOADS, kind_of
from renderer.yamlio import Document

_PAGE: Final = "docs/migrating/by-hand.md"
_RENDER: Final = f"write what {{}} prints into a file and adopt that: {_PAGE}#charts"
# What prints the objects of a chart, by the kind that gives it values.
_RENDERED_BY: Final[Mapping[str, str]] = {
    "Application": "argocd app manifests",
    "ApplicationSet": "argocd app manifests",
}
# How kinds begin that serve models in a way of their own, with the part of the page about them.
_SERVING_KINDS: Final[Mapping[str, str]] = {"InferenceService": "kserve", "Ray": "ray", "NIM": "nim"}
_KSERVE: Final = ("kserve", "serving.kserve.io")  # whose kind others have too
_OTHERS: Final = "other-workloads"
_OWN_PODS: Final = "kserve-with-containers-of-your-own"  # of an InferenceService
_CONTAINERS: Final = ("spec", "containers")


def unadopted(
    paths: Sequence[str], others: Sequence[Document], unknown: Sequence[ServingWorkload], catalog: EngineCatalog
) -> Iterator[Diagnostic]:
    """An error for the first object of each kind that may serve a model and was not adopted; one for the paths where
    there is none. `unknown`: workloads without a known engine.
    """
    told_kinds: set[str] = set()
    for document in others:
        kind = text_at(document.value, "kind")
        if kind not in told_kinds and (words := _words(document, catalog)):
            told_kinds.add(kind)
            yield make_diagnostic("E956", document.origin("kind"), **words)
    for workload in unknown:
        containers = maps_at(workload.template, *_CONTAINERS)
        if workload.kind in told_kinds or not any(_has_accelerator(body, catalog) for body in containers):
            continue
        told_kinds.add(workload.kind)
        yield make_diagnostic("E956", workload.engine_origin_of(_CONTAINERS), **_unknown_words(workload))
    if not told_kinds:
        hint = "name manifests of one, or what kubectl get -o yaml prints of it; docs/presets.md lists known engines"
        words = {"what": "no workload here runs a known engine", "hint": hint}
        yield make_diagnostic("E956", Origin(NamedSource(paths[0])), **words)


def left_engines(
    others: Sequence[Document], unknown: Sequence[ServingWorkload], catalog: EngineCatalog
) -> Iterator[Diagnostic]:
    """A note for each object that may serve a model and stays as it is beside what was adopted, but for those of a
    controller, which makes them of something else.
    """
    for document in others:
        is_controlled = bool(maps_at(document.value, "metadata", "ownerReferences"))
        if not is_controlled and (words := _words(document, catalog)):
            yield make_diagnostic("N964", document.origin("kind"), **words)
    for workload in unknown:
        containers = maps_at(workload.template, *_CONTAINERS)
        if any(_has_accelerator(body, catalog) for body in containers):
            yield make_diagnostic("N964", workload.engine_origin_of(_CONTAINERS), **_unknown_words(workload))


def _unknown_words(workload: ServingWorkload) -> dict[str, str]:
    """The message about a workload whose engine is not known, and its hint."""
    images = " and ".join(text_at(body, "image") for body in maps_at(workload.template, *_CONTAINERS))
    what = f"{workload.title} runs {images}, and neither image nor command is of a known engine"
    hint = f"if one of them is an engine that llmaz knows, write its whole command: {_PAGE}#another-image"
    return {"what": what, "hint": hint}


def _has_accelerator(container: Body, catalog: EngineCatalog) -> bool:
    return bool(catalog.accelerator(map_at(container, "resources", "limits")).resource)


def _words(document: Document, catalog: EngineCatalog) -> dict[str, str]:
    """The message about an object, and its hint; {} for one that serves no model."""
    value = document.value
    group, kind = kind_of(value)
    place = (text_at(value, "metadata", key) for key in ("namespace", "name"))
    name = f"{kind} {'/'.join(filter(None, place))}"
    if is_release(value):
        what = f"{name} gives values to a chart, which adopt does not render"
        return {"what": what, "hint": _RENDER.format(_RENDERED_BY.get(kind, "helm template"))}
    part = next((part for start, part in _SERVING_KINDS.items() if kind.startswith(start)), "")
    if part == _KSERVE[0] and group != _KSERVE[1]:
        part = _OTHERS
    if part == _KSERVE[0] and maps_at(value, "spec", "predictor", "containers"):
        hint = f"write its predictor into a Deployment and adopt that: {_PAGE}#{_OWN_PODS}"
        return {"what": f"{name} is of a kind that adopt does not read", "hint": hint}
    runs_engine = any(True for _ in engine_containers(document, catalog))
    if not part and (group, kind) not in WORKLOADS and runs_engine:
        part = _OTHERS
    if part:
        return {"what": f"{name} is of a kind that adopt does not read", "hint": f"write it by hand: {_PAGE}#{part}"}
    if runs_engine or accelerated_containers(document, catalog):
        what = f"{name} is no Deployment, StatefulSet or LeaderWorkerSet, which a Playground would replace"
        return {"what": what, "hint": f"write it as one of these first: {_PAGE}#{_OTHERS}"}
    return {}
