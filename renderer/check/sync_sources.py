"""Objects of Argo CD and Flux that sync a folder above those of the environments, and so all of them to one cluster."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence

from renderer.diagnostics import Diagnostic, Path, make_diagnostic, quoted
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.kubernetes.sync_sources import sync_command
from renderer.source.kustomizations import KUSTOMIZATIONS
from renderer.yamlio import Document

WORDS = (b"argoproj.io/", b"kustomize.toolkit.fluxcd.io/")
"""What a file with such an object holds."""
_TEMPLATE: Path = ("spec", "template")


def validate_sync_source(
    document: Document, output: str, environments: Sequence[str], exists: Callable[[str], bool]
) -> Iterator[Diagnostic]:
    """A warning for each source of the object that takes the folders of all environments. `output`: the folder above
    them, `exists`: whether there is a file; both from the top of the repository.
    """
    for body in document.objects:
        value = map_at(body.value)
        if not (command := sync_command(value)):
            continue
        kind = text_at(value, "kind")
        for path, source in _sources(value, kind):
            folder = posixpath.normpath(text_at(source, "path").lstrip("/") or ".")
            if "{{" in folder or not _is_above(folder, output) or not _takes_all(source, folder, output, environments):
                continue
            if any(exists(posixpath.join(folder, name)) for name in KUSTOMIZATIONS):
                continue  # which says what is taken
            words = {"kind": kind, "name": text_at(value, "metadata", "name"), "names": quoted(environments)}
            words |= {"output": output, "first": f"{output}/{environments[0]}", "command": command}
            yield make_diagnostic("W727", body.origin(*path, "path"), **words)


def _sources(value: Mapping[str, object], kind: str) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """The path of each source in an object, and what it says."""
    if kind == "Kustomization":
        if text_at(value, "spec", "sourceRef", "kind") in ("GitRepository", ""):
            yield ("spec",), map_at(value, "spec")
        return
    spec: Path = (*_TEMPLATE, "spec") if kind == "ApplicationSet" else ("spec",)
    if "path" in map_at(value, *spec, "source"):
        yield (*spec, "source"), map_at(value, *spec, "source")
    for i, source in enumerate(maps_at(value, *spec, "sources")):
        if "path" in source:
            yield (*spec, "sources", i), source


def _is_above(folder: str, output: str) -> bool:
    return folder in (".", output) or output.startswith(f"{folder}/")


def _takes_all(source: Mapping[str, object], folder: str, output: str, environments: Sequence[str]) -> bool:
    """Whether the source takes files of folders below its own, of each environment."""
    if "interval" in source:  # a Kustomization of Flux, which takes them always
        return True
    directory = map_at(source, "directory")
    globs = f"{value_at(directory, 'include') or ''} {value_at(directory, 'exclude') or ''}"
    if "chart" in source or "helm" in source or any(f"{name}/" in globs for name in environments):
        return False
    return directory.get("recurse") is True or folder == output
