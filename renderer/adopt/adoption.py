"""The whole of `llmaz adopt`: manifests that serve models today → the files of a tree that serves them as well."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence, Set
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from renderer import pipeline, yamlio
from renderer.adopt.adopted_workload import AdoptedWorkload, is_object_name, read_workload
from renderer.adopt.commented_text import commented_text
from renderer.adopt.hub_token import HubToken, default_token
from renderer.adopt.kubernetes_workloads import told_fields
from renderer.adopt.llmaz_kinds import ConvertedObject
from renderer.adopt.neighbours import (
    NamedObjects,
    elastic_config,
    is_ours,
    lost_of_service,
    namespace_of,
    own_service,
    service_spec,
    tell_service,
)
from renderer.adopt.open_models import SharedModel, share_models
from renderer.adopt.playground import (
    CommentedBody,
    complete_playground,
    draft_playground,
    engine_port_of,
    token_variable,
)
from renderer.adopt.server_defaults import is_live, without_server_fields
from renderer.adopt.serving_group import complete_group, draft_group
from renderer.adopt.serving_workload import ServingWorkload
from renderer.adopt.source_objects import SourceObjects, read_sources
from renderer.api import RenderOptions
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, Stop, has_errors, make_diagnostic
from renderer.diagnostics.rule import NamedSource
from renderer.diagnostics.wordings.adoption import ADOPTION
from renderer.engines.catalog import EngineCatalog
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.load.index import engine_catalog
from renderer.load.render_config import render_config
from renderer.result import RenderResult
from renderer.secrets.detection import hide_secrets
from renderer.source.memory import memory_tree
from renderer.yamlio import Document

Body = Mapping[str, Any]
Key = tuple[str, str]  # namespace and name
ADOPTED, IN_PART, REFUSED = "adopted", "in part", "refused"
_CONFIG = "llmaz.yaml"
_EXTRA = "extra"
_TEMPLATES: Sequence[Path] = (("spec", "template"), ("spec", "leaderWorkerTemplate", "workerTemplate"))


class AdoptedObject(Struct, frozen=True):
    """An object that was read, and what becomes of it."""

    name: str  # such as "Deployment llm/chat"
    state: str  # ADOPTED, IN_PART or REFUSED; '' for objects beside the workloads
    becomes: str  # such as "Playground chat and OpenModel small"
    key: Key | None = None  # namespace and name of a workload that is rendered


class Adoption(Struct):
    """The files of the tree, what became of each object, and what is said of them."""

    files: dict[str, str] = {}  # by path in the tree
    objects: list[AdoptedObject] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # objects that have nothing to do with serving
    problems: list[Diagnostic] = field(default_factory=list)
    rendered: list[Body] = field(default_factory=list)  # the objects that the tree renders to
    workloads: list[ServingWorkload] = field(default_factory=list)  # those that were adopted
    beside: list[Document] = field(default_factory=list)  # the objects beside them that were adopted too

    @property
    def loses(self) -> bool:
        """Whether something is lost or refused, as far as is known without a comparison."""
        return any(item.state in (IN_PART, REFUSED) for item in self.objects) or any(
            problem.severity == "error" or (problem.warning and problem.code in ADOPTION) for problem in self.problems
        )


def mark_lossy(adoption: Adoption, keys: Set[Key]) -> None:
    """Says of workloads, by their keys, that they are adopted in part."""
    adoption.objects = [
        replace(item, state=IN_PART) if item.state == ADOPTED and item.key in keys else item
        for item in adoption.objects
    ]


def adopt(paths: Sequence[str], folder: str, release: str = "") -> Adoption:
    """The tree that serves what the manifests below the paths serve, as if it lay in a folder. `release`: of the
    operator that ran objects of llmaz's own API, where it is known. Raises RenderError.
    """
    catalog = engine_catalog(render_config(None, "")[0])
    run = _Run(catalog, folder)
    run.read(read_sources(paths, release))
    run.write()
    if not run.adoption.objects and not has_errors(run.adoption.problems):
        run.adoption.problems.append(make_diagnostic("E956", Origin(NamedSource(paths[0]))))
    return run.adoption


class _Draft(Struct):
    """A workload on its way to a Playground."""

    adopted: AdoptedWorkload
    shared: SharedModel
    flavor: str
    playground: CommentedBody
    beside: list[Document]  # Services and autoscalers that stay as they are
    diagnostics: Collector


class _Run:
    """One adoption."""

    def __init__(self, catalog: EngineCatalog, folder: str) -> None:
        self.catalog = catalog
        self.folder = folder
        self.adoption = Adoption()
        self.drafts: list[_Draft] = []
        self.extra: list[Document] = []
        self.token: HubToken | None = None
        self.converted: list[ConvertedObject] = []
        self.namespaces: set[str] = set()  # of the workloads that are adopted
        self.names: set[Key] = set()  # of the workloads that are adopted
        self.replaced: dict[Key, list[tuple[Document, str]]] = {}  # what a workload's Playground says of other objects
        self.lossy: set[Key] = set()  # those of which something is lost before they are drafted

    # Reading

    def read(self, sources: SourceObjects) -> None:
        """Drafts the Playgrounds of the workloads, and finds what stands beside them."""
        self.adoption.problems += sources.problems
        self.adoption.left += sources.files
        self.adoption.beside += sources.of_operator
        lossy_files = {problem.file for problem in sources.problems_of_kinds if problem.warning}
        self.lossy = {workload.key for workload in sources.workloads if workload.document.name in lossy_files}
        self._read_converted(sources.converted)
        for document in sources.unread:
            name = _shown(document.value)
            about = (problem.message for problem in sources.problems if _is_about(problem, document))
            why = next(about, "it cannot be read")
            self.adoption.objects.append(AdoptedObject(name, REFUSED, why))
        broken = {
            (problem.file, problem.document): problem
            for problem in sources.problems_of_kinds
            if problem.severity == "error"
        }
        workloads = []
        for workload in sources.workloads:
            if problem := broken.get((workload.document.name, workload.document.index)):
                self.adoption.objects.append(AdoptedObject(workload.title, REFUSED, problem.message))
            elif adopted := self._adopted(workload, sources.findings.get(id(workload.document), ())):
                workloads.append(adopted)
        named = NamedObjects(sources.others)
        used: set[int] = set()
        for adopted, (shared, flavor) in zip(workloads, self._claims(workloads), strict=True):
            used |= self._draft(adopted, shared, flavor, named)
        self._sort_others([document for document in sources.others if id(document) not in used])

    def _read_converted(self, converted: Sequence[ConvertedObject]) -> None:
        """Keeps the objects of llmaz's own API that are valid, one of each name."""
        files: set[str] = set()
        for item in converted:
            file, diagnostics = _converted_file(item), Collector()
            if file in files:
                origin = item.document.origin("metadata", "name")
                diagnostics.add("E959", origin, what=item.kind, name=item.name)
            if item.valid and not is_object_name(item.name):
                origin = item.document.origin("metadata", "name")
                diagnostics.add("E957", origin, what=f"the name of this {item.kind}", value=item.name)
            if not item.valid:
                problem = next(problem for problem in item.problems if problem.severity == "error")
                self.adoption.objects.append(AdoptedObject(_shown(item.body), REFUSED, problem.message))
            elif diagnostics.problems:
                self._refuse(_shown(item.body), diagnostics)
            else:
                self.converted.append(item)
                files.add(file)

    def _adopted(self, workload: ServingWorkload, findings: Sequence[Diagnostic]) -> AdoptedWorkload | None:
        """The workload as far as it is known, with the `findings` about its pods; None where it is refused or runs no
        engine.
        """
        diagnostics, name = Collector(), workload.title
        if workload.key in self.names:
            diagnostics.add("E959", workload.document.origin("metadata", "name"), what="workload", name=workload.name)
            self._refuse(name, diagnostics)
            return None
        try:
            adopted = read_workload(workload, self.catalog, diagnostics)
        except Stop:
            self._refuse(name, diagnostics)
            return None
        if adopted is None:
            self.adoption.left.append(f"{name} (no known engine)")
            return None
        diagnostics.problems[:0] = findings
        self.names.add(adopted.key)
        self.namespaces.add(adopted.key[0])
        for path, why in told_fields(workload.document.value, workload.kind):
            diagnostics.add("W951", workload.document.origin(*path, key=True), what=f"'{path[-1]}'", why=why)
        self.adoption.problems += diagnostics.problems
        self.lossy |= {adopted.key} if diagnostics.problems else set()
        return adopted

    def _refuse(self, name: str, diagnostics: Collector) -> None:
        self.adoption.problems += diagnostics.problems
        self.adoption.objects.append(AdoptedObject(name, REFUSED, diagnostics.problems[-1].message))

    def _claims(self, workloads: Sequence[AdoptedWorkload]) -> list[tuple[SharedModel, str]]:
        claims = share_models(workloads)
        return [claims[adopted.key] for adopted in workloads]

    def _draft(
        self,
        adopted: AdoptedWorkload,
        shared: SharedModel,
        flavor: str,
        named: NamedObjects,
    ) -> set[int]:
        """Drafts the Playground of a workload. The ids of the documents that it takes the place of."""
        diagnostics = Collector()
        self._choose_token(adopted, diagnostics)
        selecting = named.services_of(adopted)
        if adopted.workload.hosts > 1:
            group, autoscaler = draft_group(adopted, shared.name, flavor), named.autoscaler_of(adopted)
            beside = [*selecting, *([autoscaler] if autoscaler else [])]
            self.drafts.append(_Draft(adopted, shared, flavor, group, beside, diagnostics))
            return set()
        playground = draft_playground(adopted, shared.name, claims_flavor=len(shared.flavors) > 1)
        if mode := named.gateway_mode_of(adopted):
            playground.body["spec"]["gateway"] = {"mode": mode}
        port, used = engine_port_of(adopted), set[int]()
        if own := own_service(adopted, selecting, port):
            spec = playground.body["spec"]
            spec["service"] = {**service_spec(own), **spec.get("service", {})}
            used |= {id(service) for service in selecting if service.value == own.value}  # listed twice, too
            self.replaced.setdefault(adopted.key, []).append((own, f"spec.service of {adopted.workload.name}"))
            for what, why in lost_of_service(own):
                diagnostics.add("W951", own.origin("spec", "ports", 0, "name"), what=what, why=why)
        if autoscaler := named.autoscaler_of(adopted):
            playground.body["spec"].pop("replicas", None)
            playground.body["spec"]["elasticConfig"] = elastic_config(autoscaler)
            used.add(id(autoscaler))
            becomes = f"spec.elasticConfig of {adopted.workload.name}"
            self.replaced.setdefault(adopted.key, []).append((autoscaler, becomes))
        for service in selecting:
            if service is not own and not is_ours(service):
                tell_service(service, adopted, port, diagnostics)
        others = [service for service in selecting if id(service) not in used]
        self.drafts.append(_Draft(adopted, shared, flavor, playground, others, diagnostics))
        return used

    def _choose_token(self, adopted: AdoptedWorkload, diagnostics: Collector) -> None:
        if choice := token_variable(adopted):
            token, origin = choice
            if self.token is None:
                self.token = token
            elif token != self.token:
                words = {"name": f"{token.name}/{token.key}", "other": f"{self.token.name}/{self.token.key}"}
                diagnostics.add("W952", origin, **words)

    def _sort_others(self, documents: Sequence[Document]) -> None:
        """What is left beside the workloads: Services and autoscalers of theirs, and ConfigMaps that they read, go
        along.
        """
        selecting = {id(document) for draft in self.drafts for document in draft.beside}
        named = {name for draft in self.drafts for name in _config_maps(draft.adopted.workload)}
        names: set[str] = set()
        for document in documents:
            value = document.value
            place = namespace_of(document), text_at(value, "metadata", "name")
            if is_ours(document):
                continue
            is_read = value.get("kind") == "ConfigMap" and place in named
            if (id(document) not in selecting and not is_read) or not all(map(is_object_name, place)):
                self.adoption.left.append(_shown(value))
            elif is_read and hide_secrets(value) != value:
                problem = make_diagnostic("W957", document.origin("metadata", "name"), name=place[1])
                self.adoption.problems.append(problem)
                self.adoption.left.append(_shown(value))
            elif (file := _extra_name(document)) not in names:
                names.add(file)
                self.extra.append(document)

    def _say(self, document: Document, becomes: str) -> None:
        self.adoption.beside.append(document)
        self.adoption.objects.append(AdoptedObject(_shown(document.value), "", becomes))

    # Writing

    def write(self) -> None:
        """Completes the Playgrounds by what their drafts render to, and renders the result. What does not render is
        refused, and left out.
        """
        result = self._render_valid()
        workloads = {
            (text_at(body, "metadata", "namespace"), text_at(body, "metadata", "name")): body
            for body in _objects(result)
            if body.get("kind") in (wellknown.DEPLOYMENT, wellknown.LEADER_WORKER_SET)
        }
        for draft in self.drafts:
            self._complete(draft, workloads.get(draft.adopted.key, {}))
        result = self._render_valid()
        if not self.drafts and not self.converted:
            return
        self.adoption.files = self._files()
        self.adoption.problems += result.problems
        self.adoption.rendered = _objects(result)
        for document in self.extra:
            self._say(document, f"{_EXTRA}/{_extra_name(document)}, as it is")
        for draft in self.drafts:
            self._finish(draft)
        failing = {problem.file for problem in result.problems if problem.severity == "error"}
        for item in self.converted:
            state = IN_PART if self._shown_path(_converted_file(item)) in failing else ADOPTED
            self.adoption.objects.append(AdoptedObject(_shown(item.body), state, _converted_file(item)))

    def _complete(self, draft: _Draft, rendered: Body) -> None:
        """Adds to a draft what the workload that it renders to lacks."""
        adopted, live = draft.adopted, is_live(draft.adopted.workload.document.value)
        if adopted.workload.hosts > 1:
            complete_group(adopted, draft.playground, rendered, live=live)
            return
        rendered_pod = next((map_at(rendered, *path) for path in _TEMPLATES if map_at(rendered, *path)), {})
        complete_playground(adopted, draft.playground, rendered_pod, self.token, live, draft.diagnostics)

    def _render_valid(self) -> RenderResult:
        """Renders the files, without those that have errors: their workloads are refused, and objects beside them left.
        Errors in objects of llmaz's own API stay.
        """
        while True:
            result = self._render(self._files())
            errors: dict[str, Diagnostic] = {}
            for problem in result.problems:
                if problem.severity == "error":
                    errors.setdefault(problem.file, problem)
            for item in self.converted:
                errors.pop(self._shown_path(_converted_file(item)), None)
            if not errors or not (self.drafts or self.extra):
                return result
            broken = [draft for draft in self.drafts if self._shown_path(self._file(draft)) in errors]
            lost = [
                document for document in self.extra if self._shown_path(f"{_EXTRA}/{_extra_name(document)}") in errors
            ]
            for document in lost:
                error = errors[self._shown_path(f"{_EXTRA}/{_extra_name(document)}")]
                self._refuse_document(document, _shown(document.value), error)
            if not broken and not lost:  # an error that no file of theirs has
                broken = self.drafts
            for draft in broken:
                error = errors.get(self._shown_path(self._file(draft))) or next(iter(errors.values()))
                self._refuse_document(draft.adopted.workload.document, draft.adopted.workload.title, error)
            self.drafts = [draft for draft in self.drafts if draft not in broken]
            self.extra = [document for document in self.extra if document not in lost]

    def _refuse_document(self, document: Document, name: str, error: Diagnostic) -> None:
        problem = make_diagnostic("E958", document.origin(), what=error.text)
        self.adoption.problems.append(problem)
        self.adoption.objects.append(AdoptedObject(name, REFUSED, problem.message))

    def _shown_path(self, path: str) -> str:
        """A file of the tree as problems name it."""
        return os.path.relpath(os.path.join(self.folder, path))

    def _finish(self, draft: _Draft) -> None:
        workload = draft.adopted.workload
        for document, becomes in self.replaced.get(draft.adopted.key, ()):
            self._say(document, becomes)
        is_partial = draft.adopted.key in self.lossy or any(problem.warning for problem in draft.diagnostics.problems)
        self.adoption.problems += draft.diagnostics.problems
        kind = draft.playground.body["kind"]
        becomes = f"{kind} {workload.name} and OpenModel {draft.shared.name}"
        state = IN_PART if is_partial else ADOPTED
        self.adoption.objects.append(AdoptedObject(workload.title, state, becomes, draft.adopted.key))
        self.adoption.workloads.append(workload)

    def _render(self, files: Mapping[str, str]) -> RenderResult:
        tree = memory_tree(self.folder, {path: text.encode() for path, text in files.items()})
        return pipeline.render(RenderOptions(paths=(self.folder,), file_system=tree, texts=True))

    def _files(self) -> dict[str, str]:
        files = {_CONFIG: _text_of([self._config()])}
        written: set[str] = set()
        for draft in sorted(self.drafts, key=lambda draft: draft.adopted.key):
            bodies = [draft.playground]
            if draft.shared.name not in written:
                written.add(draft.shared.name)
                bodies.insert(0, draft.shared.model)
            files[self._file(draft)] = _text_of(bodies)
        for item in self.converted:
            files[_converted_file(item)] = commented_text(item.body, item.comments)
        for document in self.extra:
            files[f"{_EXTRA}/{_extra_name(document)}"] = yamlio.dump(without_server_fields(document.value))
        return files

    def _file(self, draft: _Draft) -> str:
        """The file of a workload: called after it, in a folder of its namespace where there are several."""
        namespace, name = draft.adopted.key
        folder = f"namespace-{namespace}" if namespace == _EXTRA else namespace
        path = f"{folder}/{name}.yaml" if len(self.namespaces) > 1 else f"{name}.yaml"
        return path if path != _CONFIG else f"{name}-playground.yaml"

    def _config(self) -> CommentedBody:
        spec: dict[str, Any] = {"gateway": {"mode": "off"}}
        if self.extra:
            spec["passThrough"] = [f"{_EXTRA}/**"]
        if self.token and self.token != default_token():
            secret = {"name": self.token.name, "key": self.token.key, "optional": self.token.optional}
            spec["secrets"] = {"hub": secret}
        comments: dict[Path, str] = {
            ("spec", "gateway"): "No routes are rendered, since none were read: delete these lines to use a gateway."
        }
        metadata = {"name": "config"}
        body = {"apiVersion": "renderer.llmaz.io/v1alpha1", "kind": "RenderConfig", "metadata": metadata, "spec": spec}
        return CommentedBody(body, comments)


def _text_of(bodies: Sequence[CommentedBody]) -> str:
    return "---\n".join(commented_text(commented.body, commented.comments) for commented in bodies)


def _objects(result: RenderResult) -> list[Body]:
    """The objects in the rendered files; none where there are errors."""
    if has_errors(result.problems):
        return []
    return [
        document.value
        for text in result.texts
        for document in yamlio.parse(text.path, text.text.encode())[0]
        if isinstance(document.value, dict)
    ]


def _shown(value: Body) -> str:
    """An object as it is named in the report."""
    namespace, name = (text_at(value, "metadata", key) for key in ("namespace", "name"))
    return f"{value.get('kind')} {'/'.join(filter(None, (namespace, name)))}"


def _converted_file(item: ConvertedObject) -> str:
    """The file of an object of llmaz's own API."""
    namespace = text_at(item.body, "metadata", "namespace")
    return f"{'-'.join(filter(None, (item.kind.lower(), namespace, item.name)))}.yaml"


def _is_about(problem: Diagnostic, document: Document) -> bool:
    return (problem.file, problem.document, problem.severity) == (document.name, document.index, "error")


def _config_maps(workload: ServingWorkload) -> set[Key]:
    """The ConfigMaps that the pods of a workload read, by namespace and name."""
    names: set[str] = set()
    for template in filter(None, (workload.template, workload.leader_template)):
        spec = map_at(template, "spec")
        names |= {text_at(volume, "configMap", "name") for volume in maps_at(spec, "volumes")}
        for container in (*maps_at(spec, "containers"), *maps_at(spec, "initContainers")):
            names |= {text_at(source, "configMapRef", "name") for source in maps_at(container, "envFrom")}
            variables = maps_at(container, "env")
            names |= {text_at(variable, "valueFrom", "configMapKeyRef", "name") for variable in variables}
    return {(workload.key[0], name) for name in names if name}


def _extra_name(document: Document) -> str:
    value = document.value
    namespace = text_at(value, "metadata", "namespace")
    parts = [text_at(value, "kind").lower(), *([namespace] if namespace else []), text_at(value, "metadata", "name")]
    return f"{'-'.join(parts)}.yaml"
