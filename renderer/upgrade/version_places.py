"""The places of a tree that name the version of an engine, and what each of them says in another version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, BackendRuntime, Inputs
from renderer.diagnostics import Diagnostic, Edit, EditableSource, Origin, Path, make_diagnostic
from renderer.engines.image_version import tag_in_version, version_of_tag
from renderer.engines.version_order import version_key
from renderer.kubernetes.json_values import maps_at, text_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.load.environments import PatchedDocument
from renderer.preset_catalog.vendoring import is_copy
from renderer.resolve.chosen_backend import default_backend
from renderer.resolve.engine.engine_variants import is_own_image
from renderer.resolve.kube.images import split_tag
from renderer.upgrade.target import UpgradeTarget
from renderer.yamlio import Document

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec

_BACKEND = ("spec", "backendRuntimeConfig")


class VersionPlace(Struct, frozen=True):
    """A place that names the version of an engine, or an app that names none."""

    file: str
    line: int
    column: int
    owners: tuple[str, ...]  # what runs in that version, such as `Playground llm/chat`
    text: str  # what stands there, '' for an app that names no version
    version: str = ""  # the version that it names
    new_text: str = ""  # what stands there in the new version
    edits: tuple[Edit, ...] = ()
    reason: str = ""  # why it stays as it is, '' where it changes

    @property
    def place(self) -> str:
        """`file:line:column`."""
        return f"{self.file}:{self.line}:{self.column}"


def find_places(trees: Iterable[Inputs], target: UpgradeTarget, broken: Iterable[str]) -> list[VersionPlace]:
    """The places of these environments, in their order in the tree, each once. `broken`: files that have errors."""
    places: dict[tuple[str, int, int], VersionPlace] = {}
    for inputs in trees:
        for place in _Finder(inputs, target, frozenset(broken)).places():
            key = place.file, place.line, place.column
            known = places.setdefault(key, place)
            owners = dict.fromkeys([*known.owners, *place.owners])
            places[key] = replace(known, owners=tuple(owners))
    return [places[key] for key in sorted(places)]


class _Finder:
    """Finds the places of one environment."""

    def __init__(self, inputs: Inputs, target: UpgradeTarget, broken: frozenset[str]) -> None:
        self.inputs, self.target, self.broken = inputs, target, broken

    def places(self) -> Iterator[VersionPlace]:
        for runtime in self.inputs.definitions:
            if isinstance(runtime, BackendRuntime) and runtime.name in self.target.backends:
                yield from self._of_runtime(runtime)
        for app in self.inputs.apps:
            yield from self._of_app(app)

    def _of_runtime(self, runtime: BackendRuntime) -> Iterator[VersionPlace]:
        owner, spec = f"BackendRuntime {runtime.name}", runtime.spec.get("engine") or {}
        reason = f"a copy of the preset: llmaz presets vendor {runtime.name} --force writes it anew"
        reason = reason if is_copy(runtime.document) else ""
        paths: list[Path] = [("spec", "version")]
        paths += [("spec", "engine", "variants", i, "version") for i in range(len(spec.get("variants") or ()))]
        for path in paths:
            if tag := text_at(runtime.document.value, *path[:-1], path[-1]):
                yield self._place(runtime.document.origin(*path), owner, tag, tag, runtime, reason)

    def _of_app(self, app: App) -> Iterator[VersionPlace]:
        """The places of an app, also what an environment patches; else the app itself, where it runs the engine."""
        owner, places, runs = f"{app.kind} {app.namespace}/{app.label}", list[VersionPlace](), False
        documents = [app.document, *([app.document.base] if isinstance(app.document, PatchedDocument) else ())]
        for document in documents:
            for path, runtime in self._fields(app, document):
                runs = True
                if path and (text := _text(app, document, path)):
                    tag = split_tag(text)[1] if path[-1] == "image" else text
                    places.append(self._place(document.origin(*path), owner, text, tag, runtime))
        yield from places
        if runs and not places:
            runtime = self.inputs.runtimes[self._backend_of(app, app.document)]
            follows = "the preset" if runtime.ours else f"BackendRuntime {runtime.name}"
            file, line, column = app.origin("metadata", "name").place
            reason = f"follows {follows}, {runtime.spec['version']}"
            yield VersionPlace(file, line, column, (owner,), "", reason=reason)

    def _fields(self, app: App, document: Document) -> Iterator[tuple[Path, BackendRuntime]]:
        """The fields of an app that may name the version of the engine, as a document of it has them, each with its
        runtime; of a Playground that has none, () with its own.
        """
        backends: Iterable[str] = sorted(self.target.backends)
        templates: tuple[Path, ...] = ("workloadTemplate", "leaderTemplate"), ("workloadTemplate", "workerTemplate")
        if app.kind == "Playground":
            backends = self.target.backends & {self._backend_of(app, document)}
            templates = (("podTemplate",),)
        runtimes = [self.inputs.runtimes[name] for name in backends if name in self.inputs.runtimes]
        for runtime in runtimes if app.kind == "Playground" else ():
            yield (*_BACKEND, "version") if _text(app, document, (*_BACKEND, "version")) else (), runtime
        for template in templates:
            for place in _images(app.document.value, ("spec", *template)):
                image = _text(app, document, place)
                own = [it for it in runtimes if is_own_image(it.spec, self.inputs.config, image)]
                for runtime in own[:1]:
                    yield place, runtime

    def _backend_of(self, app: App, document: Document) -> str:
        """The backend that a document of a Playground names, else the tree's."""
        return _text(app, document, (*_BACKEND, "backendName")) or default_backend(self.inputs)

    def _place(
        self, origin: Origin, owner: str, text: str, tag: str, runtime: BackendRuntime, reason: str = ""
    ) -> VersionPlace:
        file, line, column = origin.place
        spec: EngineSpec = runtime.spec.get("engine") or {}
        version = version_of_tag(spec, tag, trusted=runtime.ours)
        place = VersionPlace(file, line, column, (owner,), text, version)
        new_tag = tag_in_version(spec, tag, self.target.version, trusted=runtime.ours)
        if reason:
            pass
        elif "@" in text or text.startswith("sha256:"):
            reason = "it is pinned by a digest"
        elif not new_tag:
            reason = "its tag does not say which version it is"
        elif version == self.target.version:
            reason = "it is that version"
        elif file in self.broken:
            reason = "the file has errors: llmaz validate"
        elif not self.target.is_named and version_key(version) > version_key(self.target.version):
            reason = f"it is newer than {self.target.version}, the newest that is known"
        if reason:
            return replace(place, reason=reason)
        new_text = text[: len(text) - len(tag)] + new_tag
        source, path = origin.behind
        edits = source.edits(path, text, new_text) if isinstance(source, EditableSource) else ()
        if not edits:
            return replace(place, reason="it is an alias, or not said there alone: change it by hand")
        return replace(place, new_text=new_text, edits=edits)


def downgrades(places: Iterable[VersionPlace], target: UpgradeTarget) -> Iterator[Diagnostic]:
    """An error for each place that would name an older version than it does."""
    for place in places:
        if place.edits and version_key(place.version) > version_key(target.version):
            words = {"backend": target.name, "version": place.version, "target": target.version}
            problem = make_diagnostic("E713", Origin(_Somewhere(place.file, place.line, place.column)), **words)
            yield problem


class _Somewhere(Struct, frozen=True):
    """A place in a file, as a Source."""

    name: str
    line: int
    column: int

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return self.line, self.column


def _text(app: App, document: Document, path: Path) -> str:
    """The text at a path of a document of an app: the app's own, or what is below the patches of an environment, of
    which the value is not at hand.
    """
    return text_at(document.value, *path) if document is app.document else document.raw(path) or ""


def _images(value: object, template: Path) -> Iterator[Path]:
    """The paths of the images of the engine's container in a pod template."""
    path = (*template, "spec", "containers")
    for i, container in enumerate(maps_at(value, *path)):
        if container.get("name") == RUNNER:
            yield (*path, i, "image")
