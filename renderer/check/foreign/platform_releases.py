"""The Applications and HelmReleases of the tree that install what models need beside them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from renderer import yamlio
from renderer.api import Scope
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at, value_at

GATEWAY_CHART = "gateway-helm"
OUR_CHART = "llmaz"
_SIGNS = (b"argoproj.io/", b"helm.toolkit.fluxcd.io/")
_CHART = "Chart.yaml"


class Release(Struct, frozen=True):
    """An Application or a HelmRelease of our chart, or of Envoy Gateway's."""

    place: str  # what to change
    chart: str
    values: tuple[Mapping[str, object], ...]  # all of them, in any order
    is_known: bool = True  # nothing else says values

    def may_have(self, *path: str) -> bool:
        """Whether a value may be there, and be true."""
        return not self.is_known or any(value_at(values, *path) for values in self.values)


FindReleases: TypeAlias = Callable[[], Sequence[Release]]
"""The releases of a tree, which are looked for when they are first asked."""


def platform_releases(scope: Scope) -> Iterator[Release]:
    """The releases of the tree, in ignored folders too: `llmaz init` ignores those of the platform."""
    tree = scope.tree
    files = scope.options.file_system.folder(tree.base, [tree.base], (), scope.folder).files
    for document in yamlio.find_objects(yamlio.read_files(files), *_SIGNS):
        kind = text_at(document.value, "kind")
        if kind == "Application":
            yield from _of_application(scope, document.name, document.value)
        elif kind == "HelmRelease":
            yield from _of_helm_release(scope, document.name, document.value)


def _of_application(scope: Scope, name: str, value: object) -> Iterator[Release]:
    spec = map_at(value, "spec")
    for source in [map_at(spec, "source"), *maps_at(spec, "sources")]:
        helm = map_at(source, "helm")
        inline = [map_at(helm, "valuesObject"), *_parsed(text_at(helm, "values"))]
        files = texts_at(helm, "valueFiles")
        if text_at(source, "chart").rpartition("/")[2] == GATEWAY_CHART or text_at(source, "repoURL").endswith(
            f"/{GATEWAY_CHART}"
        ):
            yield Release(name, GATEWAY_CHART, tuple(inline), not files and not helm.get("parameters"))
        elif folder := _our_chart(scope, text_at(source, "path")):
            yield _of_our_chart(scope, name, inline, [os.path.join(folder, file) for file in files])


def _of_helm_release(scope: Scope, name: str, value: object) -> Iterator[Release]:
    spec = map_at(value, "spec")
    chart, inline = map_at(spec, "chart", "spec"), [map_at(spec, "values")]
    is_known = "valuesFrom" not in spec
    if text_at(chart, "chart").rpartition("/")[2] == GATEWAY_CHART:
        yield Release(name, GATEWAY_CHART, tuple(inline), is_known)
    elif _our_chart(scope, text_at(chart, "chart")) and is_known:
        files = [path for file in texts_at(chart, "valuesFiles") if (path := _found(scope, file))]
        yield _of_our_chart(scope, name, inline, files)


def _of_our_chart(scope: Scope, name: str, inline: list[Mapping[str, object]], files: list[str]) -> Release:
    """A release of our chart; the last of its files is what its users write."""
    values, is_known = [*inline], True
    for file in files:
        try:
            data = scope.options.file_system.read(file, os.path.abspath(scope.tree.base))
        except OSError:
            is_known = False
            continue
        values += _parsed(data.decode("utf-8", "replace"))
    place = os.path.relpath(files[-1], scope.tree.base) if files else name
    return Release(place, OUR_CHART, tuple(values), is_known)


def _our_chart(scope: Scope, path: str) -> str:
    """The folder of our chart that a path of the repository leads to; '' for anything else."""
    folder = _found(scope, path) if path else ""
    if not folder:
        return ""
    try:
        data = scope.options.file_system.read(os.path.join(folder, _CHART), os.path.abspath(scope.tree.base))
    except OSError:
        return ""
    charts = _parsed(data.decode("utf-8", "replace"))
    return folder if any(text_at(chart, "name") == OUR_CHART for chart in charts) else ""


def _found(scope: Scope, path: str) -> str:
    """Where a path of the repository is in the tree, which may be a folder of the repository; '' where it is not."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        return ""
    for start in range(len(parts)):
        candidate = os.path.join(os.path.abspath(scope.tree.base), *parts[start:])
        if scope.options.file_system.exists(candidate):
            return candidate
    return ""


def _parsed(text: str) -> list[Mapping[str, object]]:
    """The map that a text is; none for another text."""
    return [map_at(document.value) for document in yamlio.parse("values", text.encode())[0]]
