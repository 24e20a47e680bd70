"""All files' documents → Inputs: who is who, and who is there twice."""

from __future__ import annotations

from typing import Any

from renderer import yamlio
from renderer.api import App, BackendRuntime, Inputs, OpenModel, RenderConfig, TrafficInput
from renderer.diagnostics import Diagnostic, has_errors, make_diagnostic
from renderer.load.environments import Environment
from renderer.load.option_lists import OptionListReader
from renderer.load.parsing import FOREIGN, GONE
from renderer.load.preset_files import PresetShelf, preset
from renderer.load.validation import KINDS, check
from renderer.source.tree import DISK, FileSystem, ReadableFile
from renderer.yamlio import Document

_APPS = ("Playground", "Service")
_TRAFFIC = ("ModelRoute", "InferenceModel")


class InputIndex:
    """Puts the files' documents together."""

    def __init__(
        self,
        config: RenderConfig,
        config_path: str | None,
        ground: FileSystem = DISK,
        environment: Environment | None = None,
    ) -> None:
        self.config, self.config_path, self.ground, self.environment = config, config_path, ground, environment
        self.there: dict[str, set[str]] = {}  # by kind, what an environment can patch
        self.problems: list[Diagnostic] = []
        self.apps: dict[tuple[str, str], App] = {}
        self.own: list[OpenModel | BackendRuntime] = []
        self.models: dict[str, OpenModel] = {}
        self.runtimes: dict[str, BackendRuntime] = {}
        self.broken: dict[tuple[str, str], Document] = {}
        self.model_origin: dict[tuple[str, str], tuple[str, Document]] = {}
        self.unreadable = False
        self.foreign = 0
        self.traffic: list[TrafficInput] = []
        self.beyond: list[App] = []
        self.around: list[Any] = []
        self.off = 0
        self.namespace = config.get("namespace") or "default"

    def add(
        self,
        file: ReadableFile,
        data: bytes,
        foreign: int,
        values: list[Any],
        problems: list[Diagnostic],
        unreadable: bool,
        *,
        outside: bool = False,
    ) -> None:
        """One file's share. `outside`: it lies outside PATHS, so what it defines can be used, and is not looked at
        for its own sake.
        """
        self.problems += problems
        self.foreign += foreign
        self.unreadable |= unreadable
        for document, (_, value, kind, good, where) in zip(
            yamlio.documents(file.name, data, (parsed[:2] for parsed in values)), values, strict=True
        ):
            if self.environment and kind != FOREIGN and isinstance(value, dict):
                self.there.setdefault(str(value.get("kind")), set()).add(self.environment.keys(value)[-1])
                document = self.environment.standing(document, where)
            if kind == FOREIGN:
                self.around.append(value)
            elif kind == GONE:
                self.off += not outside
            elif good:
                self._document(file, document, kind, outside)
            elif isinstance(value, dict):
                self._broken(file, document, str(value.get("kind")))

    def _document(self, file: ReadableFile, document: Document, kind: str, outside: bool) -> None:
        value = document.value
        metadata = value["metadata"]
        name = metadata["name"]
        if kind in _APPS:
            namespace = metadata.get("namespace") or self.namespace
            app = App(kind, name, namespace, value["spec"], metadata.get("annotations") or {}, document, file.key)
            if outside:
                self.beyond.append(app)
            elif self._first(document, kind, name, namespace):
                self.apps[namespace, name] = app
        elif kind in _TRAFFIC:
            namespace = metadata.get("namespace") or self.namespace
            if outside or self._first(document, kind, name, namespace):
                version = value["apiVersion"].rpartition("/")[2]
                self.traffic.append(
                    TrafficInput(
                        kind=kind,
                        version=version,
                        name=name,
                        namespace=namespace,
                        spec=value["spec"],
                        document=document,
                        file=file.key,
                        outside=outside,
                    )
                )
        elif kind == "OpenModel":
            if self._first(document, kind, name):
                self.models[name] = model = OpenModel(name, value["spec"], document)
                self.own += [] if outside else [model]
        elif kind == "BackendRuntime":
            if self._first(document, kind, name):
                self.runtimes[name] = runtime = BackendRuntime(name, value["spec"], document)
                self.own += [] if outside else [runtime]
        elif self.config_path is None:
            self.problems.append(make_diagnostic("E217", document.origin("kind")))
        elif file.path != self.config_path:
            self.problems.append(make_diagnostic("E204", document.origin("kind"), name=self.config.document.name))

    def _broken(self, file: ReadableFile, document: Document, kind: str) -> None:
        """A document with problems of its own still has a name, and names others."""
        metadata = document.value.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        name = str(metadata.get("name") or "")
        if kind in _APPS:
            self.broken[kind, f"{file.name} {document.index}"] = document
            namespace = str(metadata.get("namespace") or self.namespace)
        elif kind in _TRAFFIC:
            namespace = str(metadata.get("namespace") or self.namespace)
            self.broken[kind, f"{file.name} {document.index}"] = document
        elif kind in KINDS and kind != "RenderConfig":
            self.broken.setdefault((kind, name), document)
            namespace = ""
        else:
            return
        if name:
            self._first(document, kind, name, namespace)

    def _first(self, document: Document, kind: str, name: str, namespace: str = "") -> bool:
        """Whether nothing before it has this name; else a problem says so. All apps share one space of names, all that
        leads to several of them another.
        """
        space = "app" if kind in _APPS else "route" if kind in _TRAFFIC else ""
        key = (space, f"{namespace}/{name}") if space else (kind, name)
        other, first = self.model_origin.setdefault(key, (kind, document))
        if first is document:
            return True
        file, line, _ = first.origin("metadata", "name").place
        words = {"kind": kind, "name": name, "file": file, "line": line}
        code = "E201" if other == kind else "E202"
        if other != kind:
            words["other"] = f"an {other}" if other == "InferenceModel" else f"a {other}"
            words["what"] = "a LeaderWorkerSet" if space == "app" else "an AIGatewayRoute"
        self.problems.append(make_diagnostic(code, document.origin("metadata", "name"), **words))
        return False

    def _presets(self, environment: Environment) -> None:
        """The presets of models that the environment patches; and what its patches do not meet."""
        for name, document, problems in environment.presets(self.there.get("OpenModel", ())):
            problems += check(document, "OpenModel")
            self.problems += problems
            self.there.setdefault("OpenModel", set()).add(name)
            if has_errors(problems):
                self.broken["OpenModel", name] = document
            else:
                self.models[name] = OpenModel(name, document.value["spec"], document, ours=True)
        self.problems += environment.unmet(self.there, all_read=not self.unreadable)

    def inputs(self) -> Inputs:
        if self.environment:
            self._presets(self.environment)
        return Inputs(
            config=self.config,
            apps=tuple(self.apps.values()),
            models=PresetShelf(self.models, "models", lambda d: OpenModel(_name(d), d.value["spec"], d, ours=True)),
            runtimes=PresetShelf(
                self.runtimes,
                "backends",
                lambda d: BackendRuntime(_name(d), d.value["spec"], d, ours=True),
            ),
            loaders=PresetShelf({}, "loaders", lambda d: d),
            pickers=PresetShelf({}, "pickers", lambda d: d),
            accelerators=tuple(preset("accelerators").value["spec"]["resources"]),
            option_files=OptionListReader(self.ground),
            own=tuple(sorted(self.own, key=lambda item: isinstance(item, BackendRuntime))),
            broken=self.broken,
            unreadable=self.unreadable,
            foreign=self.foreign,
            around=tuple(self.around),
            traffic=tuple(self.traffic),
            beyond=tuple(self.beyond),
            off=self.off,
        )


def _name(document: Document) -> str:
    return str(document.value["metadata"]["name"])
