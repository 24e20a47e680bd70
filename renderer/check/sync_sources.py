"""Objects of Argo CD and Flux, and kustomizations, that bring another folder to the cluster than the rendered one, not
all of it, or its objects under names or in namespaces that others do not expect.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.diagnostics import Diagnostic, Path, listed, make_diagnostic, quoted
from renderer.kubernetes.json_values import as_text, map_at, maps_at, text_at, value_at
from renderer.kubernetes.sync_sources import sync_command
from renderer.kubernetes.workloads import is_rendered
from renderer.source.kustomizations import KUSTOMIZATIONS, member_paths
from renderer.text.suggestions import closest
from renderer.yamlio import Document

WORDS = (b"argoproj.io/", b"kustomize.toolkit.fluxcd.io/")
"""What a file with such an object holds."""
_TEMPLATE: Path = ("spec", "template")
_RENAMING = ("namePrefix", "nameSuffix")
_BUILDERS = ("chart", "helm", "plugin")  # fields of a source with which Argo CD does not apply files as they are
_OWN_BUILDS = (*KUSTOMIZATIONS, "Chart.yaml")
_APPS = ("Playground", "Service", "ModelRoute", "RenderConfig")  # kinds of ours that no cluster gets
_NAMING = "Backend"  # a kind with host names of Services
_SHOWN = 3


class SyncedRepository(Struct, frozen=True):
    """What the objects of a repository may bring to a cluster, with paths from its top."""

    output: str  # the folder above those of the environments
    environments: Sequence[str]
    rendered: Sequence[tuple[str, Mapping[str, object]]]  # each object of the output, with its file
    inputs: Sequence[str]  # files with what is rendered
    exists: Callable[[str], bool]  # whether there is a file
    folders: Callable[[str], Sequence[str] | None]  # the names of those in a folder, None where that does not exist

    def below(self, folder: str) -> list[tuple[str, Mapping[str, object]]]:
        """The rendered objects in a folder and below it."""
        return [(path, body) for path, body in self.rendered if _is_below(path, folder)]


def synced_repository(
    objects: Sequence[tuple[str, Mapping[str, object]]],
    output: str,
    environments: Sequence[str],
    exists: Callable[[str], bool],
    folders: Callable[[str], Sequence[str] | None],
) -> SyncedRepository:
    """What is known of a repository. `objects`: of its files, with the paths of these."""
    rendered = [(path, body) for path, body in objects if _is_below(path, output) and is_rendered(body)]
    inputs = [
        path
        for path, body in objects
        if text_at(body, "kind") in _APPS and text_at(body, "apiVersion").partition("/")[0].endswith("llmaz.io")
    ]
    return SyncedRepository(output, environments, rendered, inputs, exists, folders)


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


def _is_below(path: str, folder: str) -> bool:
    return folder == "." or path.startswith(f"{folder}/")


def validate_sync_folder(document: Document, repository: SyncedRepository) -> Iterator[Diagnostic]:
    """Warnings for each source of the object that does not bring the rendered files to the cluster as they are."""
    for body in document.objects:
        value = map_at(body.value)
        if not sync_command(value):
            continue
        kind = text_at(value, "kind")
        words = {"kind": kind, "name": text_at(value, "metadata", "name")}
        for path, source in _sources(value, kind):
            folder = posixpath.normpath(text_at(source, "path").lstrip("/") or ".")
            if "{{" in folder or any(key in source for key in _BUILDERS):
                continue
            place = body.origin(*path, "path")
            if missing := _missing_folder(folder, repository):
                yield make_diagnostic("W732", place, **words, path=folder, **missing)
                continue
            if any(repository.exists(posixpath.join(folder, name)) for name in _OWN_BUILDS):
                continue  # which says what is taken
            is_flux, directory = kind == "Kustomization", map_at(source, "directory")
            if not (is_flux or directory.get("recurse") is True or "kustomize" in source):
                deeper = [file for file, _ in repository.below(folder) if posixpath.dirname(file) != folder]
                if deeper and (folder == repository.output or _is_below(folder, repository.output)):
                    yield make_diagnostic("W730", place, path=folder, file=deeper[0])
            elif not directory.get("include") and not directory.get("exclude"):
                inputs = [file for file in repository.inputs if _is_below(file, folder)]
                if inputs:
                    first = "/".join((repository.output, *repository.environments[:1]))
                    yield make_diagnostic("W731", place, **words, file=inputs[0], output=first)
            built = source if is_flux else map_at(source, "kustomize")
            where: Path = path if is_flux else (*path, "kustomize")
            for field, code, more in _transformed(built, repository.below(folder)):
                yield make_diagnostic(code, body.origin(*where, field), **more)


def validate_overlay(document: Document, folder: str, repository: SyncedRepository) -> Iterator[Diagnostic]:
    """Warnings for what a kustomization changes of rendered objects, and what others still expect. `folder`: that it is
    in, from the top of the repository.
    """
    members = member_paths(document.value, folder)
    bodies = [
        (path, body)
        for path, body in repository.rendered
        if any(path == member or _is_below(path, member) for member in members)
    ]
    for field, code, words in _transformed(map_at(document.value), bodies):
        yield make_diagnostic(code, document.origin(field), **words)


def _transformed(
    built: Mapping[str, object], bodies: Sequence[tuple[str, Mapping[str, object]]]
) -> Iterator[tuple[str, str, dict[str, object]]]:
    """The fields with which kustomize changes names and namespaces, each with its code and words."""
    for field in _RENAMING if bodies else ():
        if text := as_text(built.get(field)):
            first = text_at(bodies[0][1], "metadata", "name")
            renamed = f"{text}{first}" if field == "namePrefix" else f"{first}{text}"
            yield field, "W734", {"field": field, "first": first, "renamed": renamed}
    for field in ("targetNamespace", "namespace"):
        space = as_text(built.get(field))
        placed = [body for _, body in bodies if space and text_at(body, "metadata", "namespace")]
        moved = [body for body in placed if text_at(body, "metadata", "namespace") != space]
        # Where all of them move, host names alone stay behind.
        if moved and (len(moved) < len(placed) or any(text_at(body, "kind") == _NAMING for body in placed)):
            moved.sort(key=lambda body: text_at(body, "kind") != "Gateway")
            spaces = sorted({text_at(body, "metadata", "namespace") for body in moved})
            what = f"{text_at(moved[0], 'kind')} '{text_at(moved[0], 'metadata', 'name')}'"
            yield field, "W733", {"field": field, "space": space, "moved": quoted(spaces[:_SHOWN]), "what": what}


def _missing_folder(folder: str, repository: SyncedRepository) -> dict[str, object]:
    """The words for a folder below the output that is not there, though others are; {} for any other."""
    parent, name = posixpath.split(folder)
    if not (parent == repository.output or _is_below(parent, repository.output)):
        return {}
    if repository.folders(folder) is not None or not (beside := repository.folders(parent)):
        return {}
    near = closest(name, beside, 0.5) or ""
    paths = [f"{parent}/{near}"] if near else [f"{parent}/{other}" for other in beside[:_SHOWN]]
    return {"known": listed([*beside[:_SHOWN]]), "parent": parent, "hint": " or ".join(paths)}
