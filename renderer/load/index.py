"""The documents of all files → Inputs, indexed by name; reports duplicate names."""

from __future__ import annotations

import os

from msgspec.structs import replace

from renderer import yamlio
from renderer.api import (
    App,
    BackendRuntime,
    ForeignDocument,
    ForeignFile,
    Inputs,
    OpenModel,
    RenderConfig,
    TrafficInput,
)
from renderer.diagnostics import Diagnostic, Origin, has_errors, make_diagnostic
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes.json_values import map_at
from renderer.load.environments import Environment
from renderer.load.option_lists import OptionListReader, learnt_folder
from renderer.load.parsing import DISABLED, FOREIGN, UNREFERENCED, ParsedFile
from renderer.load.passed_inputs import refuse_list, refuse_to_pass
from renderer.load.preset_files import PresetMapping, accelerator_types, preset, preset_facts, preset_names
from renderer.load.template_files import TemplateReader
from renderer.load.validation import KINDS, check
from renderer.source.tree import DISK, POLICY, FileSystem, ReadableFile, glob
from renderer.yamlio import Document

_APPS = ("Playground", "Service")
_TRAFFIC = ("ModelRoute", "InferenceModel")
_NAMED_BY = {"OpenModel": "modelName", "BackendRuntime": "backendName"}


class InputIndex:
    """Collects the documents of the files."""

    def __init__(
        self,
        config: RenderConfig,
        config_path: str | None,
        file_system: FileSystem = DISK,
        environment: Environment | None = None,
        policy: str = "",
    ) -> None:
        self.config, self.config_path = config, config_path
        self.file_system, self.environment = file_system, environment
        self.policy_path = os.path.abspath(policy) if policy else ""  # that the command line names
        self.patchable: dict[str, set[str]] = {}  # by kind, the names that an environment can patch
        self.problems: list[Diagnostic] = []
        self.apps: dict[tuple[str, str], App] = {}
        self.definitions: list[OpenModel | BackendRuntime] = []
        self.models: dict[str, OpenModel] = {}
        self.runtimes: dict[str, BackendRuntime] = {}
        self.broken: dict[tuple[str, str], Document] = {}
        self.documents_by_name: dict[tuple[str, str], tuple[str, Document]] = {}
        self.unreadable = False
        self.foreign = 0
        self.traffic: list[TrafficInput] = []
        self.outside_apps: list[App] = []
        self.foreign_objects: list[object] = []
        self.foreign_documents: list[ForeignDocument] = []
        self.foreign_files: list[ForeignFile] = []
        self.passed_through = [(pattern, glob(pattern)) for pattern in config.get("passThrough") or ()]
        self.disabled = 0
        self.disabled_names: set[str] = set()
        self.namespace = config.get("namespace") or "default"

    def add(self, file: ReadableFile, parsed_file: ParsedFile, *, outside: bool = False) -> None:
        """Adds a file. `outside`: it lies outside PATHS, so its definitions can be used, but are not rendered or
        checked themselves.
        """
        self.problems += parsed_file.problems
        self.foreign += parsed_file.foreign
        self.unreadable |= parsed_file.unreadable
        if parsed_file.names:
            self.foreign_files.append(ForeignFile(file, parsed_file.names, parsed_file.kinds))
        patterns = () if outside else self.passed_through
        pattern = next((text for text, expression in patterns if expression.fullmatch(file.key)), "")
        if pattern and file.path == self.config_path:
            self.problems.append(refuse_to_pass(Origin(self.config.document, ("kind",)), "RenderConfig", pattern))
        if pattern and file.key == POLICY:
            self.problems.append(refuse_to_pass(Origin(file), "RenderPolicy", pattern))
        values = ((parsed.position, parsed.value) for parsed in parsed_file.documents)
        documents = yamlio.documents(file.name, parsed_file.data, values)
        for document, parsed in zip(documents, parsed_file.documents, strict=True):
            value, kind = parsed.value, parsed.kind
            if kind in (FOREIGN, UNREFERENCED):
                self.foreign_objects += [value] if kind == FOREIGN else []
                self.foreign_documents += [] if outside else [ForeignDocument(document, file)]
                self.problems += [] if outside or pattern else refuse_list(document)
                continue
            if pattern and kind and kind not in ("RenderConfig", "RenderPolicy"):
                self.problems.append(refuse_to_pass(document.origin("kind"), str(document.value.get("kind")), pattern))
            if self.environment and isinstance(value, dict):
                self.patchable.setdefault(str(value.get("kind")), set()).add(self.environment.keys(value)[-1])
                document = self.environment.with_origins(document, parsed.patched)
            if kind == DISABLED:
                self.disabled += not outside
                self.disabled_names.add(str(document.value["metadata"].get("name") or ""))
            elif parsed.valid:
                self._add_document(file, document, kind, outside)
            elif isinstance(value, dict):
                self._add_invalid(file, document, kind)

    def _add_document(self, file: ReadableFile, document: Document, kind: str, outside: bool) -> None:
        value = document.value
        metadata = value["metadata"]
        name = metadata["name"]
        namespace = metadata.get("namespace") or self.namespace
        if kind in _APPS:
            app = App(kind, name, namespace, value["spec"], metadata.get("annotations") or {}, document, file.key)
            if outside:
                self.outside_apps.append(app)
            elif self._is_new_name(document, kind, name, namespace):
                self.apps[namespace, name] = app
        elif kind in _TRAFFIC:
            if outside or self._is_new_name(document, kind, name, namespace):
                self.traffic.append(_traffic_input(document, kind, namespace, file.key, outside))
        elif kind == "OpenModel":
            if self._is_new_name(document, kind, name):
                self.models[name] = model = OpenModel(name, value["spec"], document, file=file.key)
                self.definitions += [] if outside else [model]
        elif kind == "BackendRuntime":
            if self._is_new_name(document, kind, name):
                self.runtimes[name] = runtime = BackendRuntime(name, value["spec"], document, file=file.key)
                self.definitions += [] if outside else [runtime]
        elif kind == "RenderPolicy":
            if file.path != self.policy_path:
                self.problems.append(make_diagnostic("E800", document.origin("kind"), name=POLICY))
        elif self.config_path is None:
            self.problems.append(make_diagnostic("E217", document.origin("kind")))
        elif file.path != self.config_path:
            self.problems.append(make_diagnostic("E204", document.origin("kind"), name=self.config.document.name))

    def _add_invalid(self, file: ReadableFile, document: Document, kind: str) -> None:
        """Registers the name of an invalid document, so that references to it are not reported as well."""
        metadata = map_at(document.value, "metadata")
        name = str(metadata.get("name") or "")
        if kind in _APPS + _TRAFFIC:
            self.broken[kind, f"{file.name} {document.index}"] = document
            namespace = str(metadata.get("namespace") or self.namespace)
        elif kind in KINDS and kind not in ("RenderConfig", "RenderPolicy"):
            self.broken.setdefault((kind, name), document)
            namespace = ""
        else:
            return
        if name:
            self._is_new_name(document, kind, name, namespace)

    def _is_new_name(self, document: Document, kind: str, name: str, namespace: str = "") -> bool:
        """Whether the name is new; else a problem is added. Playgrounds and Services share one name space, ModelRoutes
        and InferenceModels another.
        """
        space = "app" if kind in _APPS else "route" if kind in _TRAFFIC else ""
        key = (space, f"{namespace}/{name}") if space else (kind, name)
        first_kind, first = self.documents_by_name.setdefault(key, (kind, document))
        if first is document:
            return True
        file, line, _ = first.origin("metadata", "name").place
        words = {"kind": kind, "name": name, "file": file, "line": line}
        code = "E201" if first_kind == kind else "E202"
        if first_kind != kind:
            words["other"] = f"an {first_kind}" if first_kind == "InferenceModel" else f"a {first_kind}"
            words["what"] = "a LeaderWorkerSet" if space == "app" else "an AIGatewayRoute"
        problem = make_diagnostic(code, document.origin("metadata", "name"), **words)
        if field := _NAMED_BY.get(kind):
            problem = replace(
                problem, hint=f"{problem.hint}, and write that name in {field} of the Playgrounds that use it"
            )
        self.problems.append(problem)
        return False

    def _add_patched_presets(self, environment: Environment) -> None:
        """Adds the model presets that the environment patches, and problems of patches that match nothing."""
        for name, document, problems in environment.presets(self.patchable.get("OpenModel", ())):
            problems += check(document, "OpenModel")
            self.problems += problems
            self.patchable.setdefault("OpenModel", set()).add(name)
            if has_errors(problems):
                self.broken["OpenModel", name] = document
            else:
                self.models[name] = OpenModel(name, document.value["spec"], document, ours=True)
        self.problems += environment.unmatched_patches(self.patchable, all_read=not self.unreadable)

    def inputs(self) -> Inputs:
        if self.environment:
            self._add_patched_presets(self.environment)
        return Inputs(
            config=self.config,
            apps=tuple(self.apps.values()),
            models=PresetMapping(self.models, "models", lambda d: OpenModel(_name(d), d.value["spec"], d, ours=True)),
            runtimes=PresetMapping(self.runtimes, "backends", _preset_runtime),
            preset_runtimes=PresetMapping({}, "backends", _preset_runtime),
            loaders=PresetMapping({}, "loaders", lambda d: d),
            pickers=PresetMapping({}, "pickers", lambda d: d),
            accelerators=tuple(preset("accelerators").value["spec"]["resources"]),
            own_accelerators=self.config.get("accelerators") or {},
            device_classes=preset("accelerators").value["spec"]["deviceClasses"],
            option_files=OptionListReader(self.file_system, learnt_folder(self.config)),
            template_files=TemplateReader(self.file_system),
            accelerator_types=accelerator_types,
            preset_facts=preset_facts,
            definitions=tuple(sorted(self.definitions, key=lambda item: isinstance(item, BackendRuntime))),
            broken=self.broken,
            unreadable=self.unreadable,
            foreign=self.foreign,
            foreign_objects=tuple(self.foreign_objects),
            foreign_documents=tuple(self.foreign_documents),
            foreign_files=tuple(self.foreign_files),
            traffic=tuple(self.traffic),
            outside_apps=tuple(self.outside_apps),
            disabled=self.disabled,
            disabled_names=self.disabled_names - {""},
        )


def _traffic_input(document: Document, kind: str, namespace: str, file: str, outside: bool) -> TrafficInput:
    value = document.value
    return TrafficInput(
        kind=kind,
        version=value["apiVersion"].rpartition("/")[2],
        name=value["metadata"]["name"],
        namespace=namespace,
        spec=value["spec"],
        document=document,
        file=file,
        outside=outside,
    )


def engine_catalog(config: RenderConfig) -> EngineCatalog:
    """What is known of engines and accelerators, for manifests that others wrote."""
    names = preset_names("backends")
    return EngineCatalog(
        runtimes={name: _preset_runtime(preset(f"backends/{name}")) for name in names},
        option_files=OptionListReader(learnt_folder=learnt_folder(config)),
        accelerators=tuple(preset("accelerators").value["spec"]["resources"]),
        device_classes=preset("accelerators").value["spec"]["deviceClasses"],
        own_accelerators=config.get("accelerators") or {},
        model_facts=preset_facts,
        accelerator_types=accelerator_types,
    )


def _preset_runtime(document: Document) -> BackendRuntime:
    return BackendRuntime(_name(document), document.value["spec"], document, ours=True)


def _name(document: Document) -> str:
    return str(document.value["metadata"]["name"])
