"""The whole of `llmaz adopt`: manifests that serve models today → the files of a tree that serves them as well.

What of an object no other object of the tree says is lost: a warning tells it, and the object is adopted in part.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from renderer import pipeline, yamlio
from renderer.adopt.adopted_workload import AdoptedWorkload, invalid_names, read_workload
from renderer.adopt.api_keys import plain_app
from renderer.adopt.beside import tell_selections, tell_used
from renderer.adopt.commented_text import commented_text
from renderer.adopt.devices import needed_versions
from renderer.adopt.engine_container import EngineOption
from renderer.adopt.file_names import EXTRA, FileNames
from renderer.adopt.found_labels import FoundLabels
from renderer.adopt.free_names import FreeNames
from renderer.adopt.hub_token import HubToken, default_token
from renderer.adopt.kept_command import (
    kept_runtime,
    named_as_a_whole,
    options_of_preset,
    picked_engine,
)
from renderer.adopt.kubernetes_workloads import tell_lost_fields
from renderer.adopt.kustomize_changes import tell_kustomize_changes
from renderer.adopt.learnt_lists import LISTS, TargetTree, engine_of
from renderer.adopt.llmaz_kinds import ConvertedObject
from renderer.adopt.neighbours import (
    NamedObjects,
    elastic_config,
    is_config_map,
    is_ours,
    key_of,
    own_service,
    replicas_without,
    service_spec,
    tell_controlled_services,
    tell_lost_autoscalers,
    tell_lost_name,
    tell_service,
)
from renderer.adopt.open_models import ClaimedModels, claimed_flavors, share_models, tell_lost_adapters
from renderer.adopt.plain_secrets import plain_body, without_secrets
from renderer.adopt.playground_fields import (
    CommentedBody,
    complete_playground,
    draft_playground,
    engine_port_of,
    token_variable,
)
from renderer.adopt.server_defaults import is_live, without_server_fields
from renderer.adopt.serving_group import complete_group, draft_group
from renderer.adopt.serving_workload import ServingWorkload
from renderer.adopt.several_models import rendered_options
from renderer.adopt.source_objects import SourceObjects, read_sources
from renderer.adopt.takeover_choice import TakeoverChoice, moved_service, with_labels
from renderer.adopt.unadopted import left_engines, unadopted
from renderer.api import RenderOptions
from renderer.diagnostics import Collector, Diagnostic, Path, Stop, has_errors, listed, make_diagnostic
from renderer.diagnostics.wordings.adoption import ADOPTION
from renderer.diff.live.takeovers import LATER
from renderer.engines.catalog import EngineCatalog
from renderer.engines.option_lists import learnt_from
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.template_origins import TemplateOrigins
from renderer.kubernetes.workloads import SCALE_TARGETS, containers, pod_template
from renderer.result import RenderResult
from renderer.source.memory import memory_tree
from renderer.source.paths import CONFIG
from renderer.text import escapes
from renderer.yamlio import Document

Body = Mapping[str, Any]
Key = tuple[str, str]  # namespace and name
Identity = tuple[str, Key]  # kind, namespace and name
ADOPTED, IN_PART, REFUSED = "adopted", "in part", "refused"
_POOL = "pool"
_KEPT = "The command line stays as it is"
_APPS = ("Playground", "Service")


class AdoptedObject(Struct, frozen=True):
    """An object that was read, and what becomes of it."""

    name: str  # such as "Deployment llm/chat"
    state: str  # ADOPTED, IN_PART or REFUSED; '' for objects beside the workloads
    becomes: str  # such as "Playground chat and OpenModel small in chat.yaml"
    key: Key | None = None  # namespace and name of a workload that is rendered
    group: str = ""  # of objects beside the workloads with which the same is done, such as "in later/"


class Adoption(Struct):
    """The files of the tree, what became of each object, and what is said of them."""

    catalog: EngineCatalog  # what the tree into which is written knows of engines
    files: dict[str, str] = {}  # by path in the tree
    objects: list[AdoptedObject] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # objects that have nothing to do with serving
    problems: list[Diagnostic] = field(default_factory=list)
    rendered: list[Body] = field(default_factory=list)  # the objects that the tree renders to
    workloads: list[AdoptedWorkload] = field(default_factory=list)
    beside: list[Document] = field(default_factory=list)  # the objects beside them that were adopted too

    @property
    def loses(self) -> bool:
        """Whether something is lost or refused, as far as is known without a comparison."""
        return any(item.state in (IN_PART, REFUSED) for item in self.objects) or any(
            problem.severity == "error" or (problem.warning and problem.code in ADOPTION) for problem in self.problems
        )


def mark_losing(adoption: Adoption, keys: Set[Key]) -> None:
    """Says of workloads, by their keys, that they are adopted in part."""
    adoption.objects = [
        replace(item, state=IN_PART) if item.state == ADOPTED and item.key in keys else item
        for item in adoption.objects
    ]


def adopt(paths: Sequence[str], folder: str, release: str = "", name: str = "") -> Adoption:
    """The tree that serves what the manifests below the paths serve, as if it lay in a folder. `release`: of the
    operator that ran objects of llmaz's own API, where it is known; `name`: of the new workload, or SAME, '' for what
    the workload allows. Raises RenderError.
    """
    run = _Run(TargetTree(folder), folder, name)
    run.read(read_sources(paths, release))
    run.write()
    if run.adoption.files:
        run.adoption.problems += left_engines(run.others, run.unknown, run.catalog)
    elif not run.adoption.objects and not has_errors(run.adoption.problems):
        run.adoption.problems += unadopted(paths, run.others, run.unknown, run.catalog)
    return run.adoption


class _Draft(Struct):
    """A workload on its way to a Playground."""

    adopted: AdoptedWorkload
    claim: ClaimedModels
    playground: CommentedBody
    beside: list[Document]  # Services and autoscalers that stay as they are
    moving: list[_Copy]  # Services that lead to its pods when these are ready
    diagnostics: Collector
    runtime: CommentedBody | None = None  # of a command line that stays as it is

    @property
    def written(self) -> list[CommentedBody]:
        """The objects that it becomes."""
        return [*(shared.model for shared in self.claim.models), *self.own]

    @property
    def own(self) -> list[CommentedBody]:
        """Those that it shares with no other workload."""
        return [*([self.runtime] if self.runtime else []), self.playground]


class _Copy(Struct):
    """An object beside the workloads that is written as it is, but for its secrets, which are told."""

    document: Document
    body: Body
    problems: list[Diagnostic]


def _copy(document: Document) -> _Copy:
    diagnostics = Collector()
    body = without_server_fields(plain_body(document, diagnostics))
    return _Copy(document, body, diagnostics.problems)


class _Run:
    """One adoption."""

    def __init__(self, target: TargetTree, folder: str, name: str) -> None:
        self.target = target
        self.catalog = catalog = target.catalog
        self.name = name  # that a new workload should have
        self.folder = folder
        self.adoption = Adoption(catalog)
        self.drafts: list[_Draft] = []
        self.extra: list[_Copy] = []
        self.token: HubToken | None = None
        self.converted: list[ConvertedObject] = []
        self.namespaces: set[str] = set()  # of the workloads that are adopted
        self.names: set[Key] = set()  # of the apps that are adopted
        self.left: list[Document] = []  # objects that stay where they are
        self.others: Sequence[Document] = ()  # objects that are no workloads that can be read
        self.unknown: list[ServingWorkload] = []  # workloads without a known engine
        self.replaced: dict[Key, list[tuple[Document, str]]] = {}  # what a workload's Playground says of other objects
        self.runtime_names = FreeNames(catalog.runtimes)
        self.losing: set[str] = set()  # the names of objects of which something is lost, before they are drafted
        self.paths: dict[int, str] = {}  # the file of each draft, object and document that is written, by its id
        self.model_paths: dict[str, str] = {}  # the file of each OpenModel of a draft, by its name

    # Reading

    def read(self, sources: SourceObjects) -> None:
        """Drafts the Playgrounds of the workloads, and finds what stands beside them."""
        self.adoption.problems += sources.problems
        self.adoption.left += sources.files
        self.others = sources.others
        self.adoption.beside += sources.of_operator
        files = {problem.file for problem in sources.problems_of_kinds if problem.warning}
        self.losing = {workload.title for workload in sources.workloads if workload.document.name in files}
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
        unknown = {id(workload) for workload in self.unknown}
        read = [workload for workload in sources.workloads if id(workload) not in unknown]
        self.adoption.problems += tell_kustomize_changes(read, sources.kustomizations)
        named = NamedObjects(sources.others)
        workloads = self._with_takeovers(workloads, named, sources.workloads)
        used: set[int] = set()
        claims = share_models(workloads, {item.name for item in self.converted if item.kind == "OpenModel"})
        for adopted in workloads:
            used |= self._draft(adopted, claims[adopted.key], named)
        self._sort_others([document for document in sources.others if id(document) not in used])
        self._name_files()

    def _read_converted(self, converted: Sequence[ConvertedObject]) -> None:
        """Keeps the objects of llmaz's own API that are valid, one of each name."""
        known: set[Identity] = set()
        for item in converted:
            identity, diagnostics = _identity(item.body), Collector()
            if identity in known:
                origin = item.document.origin("metadata", "name")
                diagnostics.add("E959", origin, what=item.kind, name=item.name)
            for key, value in invalid_names(text_at(item.body, "metadata", "namespace"), item.name):
                origin = item.document.origin("metadata", key)
                diagnostics.add("E957", origin, what=f"the {key} of this {item.kind}", value=value)
            if not item.valid:
                problem = next(problem for problem in item.problems if problem.severity == "error")
                self.adoption.objects.append(AdoptedObject(_shown(item.body), REFUSED, problem.message))
            elif diagnostics.problems:
                self._refuse(_shown(item.body), diagnostics)
            else:
                known.add(identity)
                self.converted.append(replace(item, body=plain_app(item.document, diagnostics)))
                self.adoption.problems += diagnostics.problems
                self.losing |= (
                    {_shown(item.body)} if any(problem.warning for problem in diagnostics.problems) else set()
                )
        self.names |= {key for kind, key in known if kind in _APPS}

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
            self.unknown.append(workload)
            return None
        diagnostics.problems[:0] = findings
        self.names.add(adopted.key)
        self.namespaces.add(adopted.key[0])
        tell_lost_fields(workload.document, workload.kind, diagnostics)
        self.adoption.problems += diagnostics.problems
        if any(problem.warning for problem in diagnostics.problems):
            self.losing.add(workload.title)
        return adopted

    def _with_takeovers(
        self, workloads: Sequence[AdoptedWorkload], named: NamedObjects, all_workloads: Sequence[ServingWorkload]
    ) -> list[AdoptedWorkload]:
        """The workloads, and how each is taken over; without those for which --as asks for what is not possible."""
        found_labels = FoundLabels([*all_workloads, *self.unknown], self.others)
        choice, chosen = TakeoverChoice(all_workloads, named, found_labels, self.name), []
        for adopted in workloads:
            diagnostics = Collector()
            try:
                takeover = choice.of(adopted.workload, diagnostics)
                chosen.append(
                    replace(adopted, takeover=takeover, template=with_labels(adopted.template, takeover.labels))
                )
            except Stop:
                self._refuse(adopted.workload.title, diagnostics)
        return chosen

    def _refuse(self, name: str, diagnostics: Collector) -> None:
        self.adoption.problems += diagnostics.problems
        self.adoption.objects.append(AdoptedObject(name, REFUSED, diagnostics.problems[-1].message))

    def _draft(self, adopted: AdoptedWorkload, claim: ClaimedModels, named: NamedObjects) -> set[int]:
        """Drafts the Playground of a workload. The ids of the documents that it takes the place of."""
        diagnostics = Collector()
        self._choose_token(adopted, diagnostics)
        takeover = adopted.takeover
        moving = [_copy(service) for service in takeover.moving]
        selecting = [*takeover.services, *takeover.shared]
        other_autoscalers = named.other_autoscalers_of(adopted)
        has_own = named.autoscaler_of(adopted) is not None
        tell_lost_autoscalers(adopted, other_autoscalers, diagnostics, has_own=has_own)
        tell_controlled_services(adopted, diagnostics)
        replicas = replicas_without(other_autoscalers, adopted.workload.replicas)
        adopted = replace(adopted, workload=replace(adopted.workload, replicas=replicas))
        if adopted.workload.hosts > 1:
            tell_lost_adapters(adopted.workload, diagnostics)
            group, autoscaler = draft_group(adopted, claim.model.name, claim.flavor), named.autoscaler_of(adopted)
            beside = [*selecting, *([autoscaler] if autoscaler else [])]
            self.drafts.append(_Draft(adopted, claim, group, beside, moving, diagnostics))
            return {id(service) for service in takeover.moving}
        runtime = self._kept_runtime(adopted, diagnostics) if adopted.keep_reason else None
        backend = runtime.body["metadata"]["name"] if runtime else adopted.container.backend
        flavor = claim.flavor if len(claim.model.flavors) > 1 else ""
        adapters = [shared.name for shared in claim.adapters]
        others = [shared.name for shared in claim.others]
        playground = draft_playground(
            adopted, claim.model.name, backend, flavor=flavor, others=others, adapters=adapters
        )
        if mode := named.gateway_mode_of(adopted):
            playground.body["spec"]["gateway"] = {"mode": mode}
        if runtime and text_at(playground.body, "spec", "gateway", "mode") == _POOL:
            runtime.body["spec"]["engine"] = picked_engine(adopted.container)
        port, used = engine_port_of(adopted), {id(service) for service in takeover.moving}
        if own := own_service(adopted, takeover.services, port):
            spec = playground.body["spec"]
            spec["service"] = {**service_spec(plain_body(own, diagnostics)), **spec.get("service", {})}
            used |= {id(service) for service in selecting if service.value == own.value}  # listed twice, too
            self.replaced.setdefault(adopted.key, []).append((own, f"spec.service of {takeover.name}"))
            tell_lost_name(own, diagnostics)
        if autoscaler := named.autoscaler_of(adopted):
            playground.body["spec"].pop("replicas", None)
            playground.body["spec"]["elasticConfig"] = elastic_config(
                {**autoscaler.value, "spec": plain_body(autoscaler, diagnostics, ("spec",))}
            )
            used.add(id(autoscaler))
            becomes = f"spec.elasticConfig of {takeover.name}"
            self.replaced.setdefault(adopted.key, []).append((autoscaler, becomes))
        for service in selecting:
            if service is not own and not is_ours(service):
                tell_service(service, adopted, port, diagnostics)
        if file := self._models_file(adopted):
            used.add(id(file))
            self.replaced.setdefault(adopted.key, []).append((file, f"the models of {takeover.name}"))
        beside = [service for service in selecting if id(service) not in used]
        self.drafts.append(_Draft(adopted, claim, playground, beside, moving, diagnostics, runtime))
        return used

    def _models_file(self, adopted: AdoptedWorkload) -> Document | None:
        """The ConfigMap of a workload of which nothing but the file of several models is read."""
        if not (file := adopted.models_file):
            return None
        bodies = [body for _, body in containers(map_at(adopted.template, "spec"))]
        mounts = [mount for body in bodies for mount in maps_at(body, "volumeMounts")]
        if [text_at(mount, "name") for mount in mounts].count(file.volume) > 1:
            return None
        key = (adopted.key[0], file.config_map)
        if key in _config_maps(adopted.workload, of_volumes=False):
            return None
        documents = (document for document in self.others if is_config_map(document) and not is_ours(document))
        return next((document for document in documents if key_of(document.value) == key), None)

    def _kept_runtime(self, adopted: AdoptedWorkload, diagnostics: Collector) -> CommentedBody:
        """The BackendRuntime of a command line that stays as it is, which a note tells."""
        container, engine = adopted.container, adopted.container.engine
        rules = engine.option_rules
        options = ", ".join(options_of_preset(container))
        names = named_as_a_whole(container)
        more = f"; with a version that is known, the preset would set {options} too" if options and not names else ""
        hint = f"where you know the version, use the preset: backendName: {container.backend}, with that version"
        if rules and rules.is_beyond and (command := learnt_from(engine.runtime.spec.get("engine") or {})):
            words = f"{command} | llmaz presets learn {container.backend} {escapes.shell_word(engine.version)} -"
            hint = f"let llmaz learn that version in the tree, then adopt this again: {words}"
        if names:
            hint = f"for the preset, write the OpenModel's source, and take {' and '.join(names)} out of the ConfigMap"
        origin = adopted.workload.engine_origin_of((*container.path, "image"))
        diagnostics.add("N955", origin, why=adopted.keep_reason, more=more, hint=hint)
        comments: dict[Path, str] = {("spec", "image"): f"{_KEPT}: {adopted.keep_reason}."}
        name = self.runtime_names.take(adopted.takeover.name)
        return CommentedBody(kept_runtime(container, name, adopted.loaded_path), comments)

    def _choose_token(self, adopted: AdoptedWorkload, diagnostics: Collector) -> None:
        if not adopted.loads_itself and (choice := token_variable(adopted)):
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
        known: dict[Identity, Body] = {}
        is_beside = self._neighbours()
        for document in documents:
            if is_ours(document):
                continue
            value = document.value
            kind, (namespace, name) = identity = _identity(value)
            if not is_beside(document) or [*invalid_names(namespace, name)]:
                self.left.append(document)
                self.adoption.left.append(_shown(value))
            elif (copy := _copy(document)).problems and is_config_map(document):
                problem = make_diagnostic("W957", document.origin("metadata", "name"), name=name)
                self.adoption.problems.append(problem)
                self.adoption.left.append(_shown(value))
            elif known.setdefault(identity, value) is value:
                self.extra.append(copy)
            elif known[identity] != value:
                diagnostics = Collector()
                diagnostics.add("E959", document.origin("metadata", "name"), what=kind, name=name)
                self._refuse(_shown(value), diagnostics)

    def _neighbours(self) -> Callable[[Document], bool]:
        """Whether an object is one that stands beside a workload: a Service or autoscaler of it, or a ConfigMap that it
        reads.
        """
        selecting = {id(document) for draft in self.drafts for document in draft.beside}
        read = {name for draft in self.drafts for name in _config_maps(draft.adopted.workload)}
        return lambda document: (
            id(document) in selecting or (is_config_map(document) and key_of(document.value) in read)
        )

    def _name_files(self) -> None:
        """Gives each object that is written a file. Workloads of several namespaces get a folder for each."""
        names, is_one = FileNames(), len(self.namespaces) < 2
        for draft in self._sorted_drafts():
            namespace, name = draft.adopted.new_key
            self.paths[id(draft)] = names.of_workload("" if is_one else namespace, name)
            for copy in draft.moving:
                self.paths[id(copy)] = names.of_object(copy.body, LATER)
        for item in sorted(self.converted, key=lambda item: _identity(item.body)):
            self.paths[id(item)] = names.of_object(item.body)
        for copy in sorted(self.extra, key=lambda copy: _identity(copy.body)):
            self.paths[id(copy)] = names.of_object(copy.body, EXTRA)

    def _say(self, document: Document, becomes: str, group: str = "") -> None:
        self.adoption.beside.append(document)
        self.adoption.objects.append(AdoptedObject(_shown(document.value), "", becomes, group=group))

    # Writing

    def write(self) -> None:
        """Completes the Playgrounds by what their drafts render to, and renders the result. What does not render is
        refused, and left out.
        """
        result = self._render_valid()
        objects = {_identity(body): body for body in _objects(result)}
        workloads = {key: body for (kind, key), body in objects.items() if kind in SCALE_TARGETS}
        for draft in self.drafts:
            namespace, name = draft.adopted.new_key
            data = map_at(objects.get(("ConfigMap", (namespace, f"{name}{wellknown.CONFIG_MAP}")), {}), "data")
            self._complete(draft, workloads.get(draft.adopted.new_key, {}), data)
        self._remove_secrets()
        result = self._render_valid()
        if not self.drafts and not self.converted:
            return
        self.adoption.files = self._files()
        self.adoption.problems += result.problems
        self.adoption.rendered = _objects(result)
        for copy in self.extra:
            self._say(
                copy.document, f"{self.paths[id(copy)]}, {'without its secrets' if copy.problems else 'as it is'}"
            )
            self.adoption.problems += copy.problems
        services = {key_of(body): body for body in self.adoption.rendered if body.get("kind") == "Service"}
        for draft in self.drafts:
            self._move_services(draft, services)
            self._finish(draft)
        adopted = [draft.adopted for draft in self.drafts]
        controlled = {id(service) for one in adopted for service in one.takeover.controlled}
        others = [document for document in self.left if id(document) not in controlled]
        self.adoption.problems += tell_selections(others, adopted, self.adoption.rendered)
        self.adoption.problems += tell_used(self.left, self.adoption.rendered)
        failing = {problem.file for problem in result.problems if problem.severity == "error"}
        for item in self.converted:
            loses = self._shown_path(item) in failing or _shown(item.body) in self.losing
            state = IN_PART if loses else ADOPTED
            self.adoption.objects.append(AdoptedObject(_shown(item.body), state, self.paths[id(item)]))

    def _complete(self, draft: _Draft, rendered: Body, data: Body) -> None:
        """Adds to a draft what the workload that it renders to lacks. `data`: of the ConfigMap beside that."""
        adopted, live = draft.adopted, is_live(draft.adopted.workload.document.value)
        if adopted.workload.hosts > 1:
            complete_group(adopted, draft.playground, rendered, live=live)
            return
        pod = pod_template(rendered)
        models: Sequence[Sequence[EngineOption]] = [() for _ in adopted.mains]
        if adopted.models_file and adopted.mains and data:
            file = text_at(adopted.container.engine.runtime.spec, "engine", "models", "file", "path")
            options = self.catalog.all_options(adopted.container.backend)
            models = rendered_options(adopted.container, text_at(data, os.path.basename(file)), options)
        complete_playground(adopted, draft.playground, pod, self.token, live, draft.diagnostics, models)

    def _remove_secrets(self) -> None:
        """Takes what secrets are left out of what is written, wherever they came from."""
        bodies = {id(commented): (draft, commented) for draft in self.drafts for commented in draft.written}
        for draft, commented in bodies.values():
            origins = TemplateOrigins(draft.adopted.workload.document.origin())
            commented.body = without_secrets(commented.body, origins, draft.diagnostics)

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
                errors.pop(self._shown_path(item), None)
            if not errors or not self.drafts:
                return result
            self._remove_broken(errors)

    def _remove_broken(self, errors: Mapping[str, Diagnostic]) -> None:
        """Refuses what has errors, by the files: all workloads, where no file of theirs has the error. What stood only
        beside them is left.
        """
        refused = [copy for copy in self.extra if self._shown_path(copy) in errors]
        for copy in refused:
            self._refuse_document(copy.document, _shown(copy.body), errors[self._shown_path(copy)])
        broken = [draft for draft in self.drafts if self._shown_path(draft) in errors]
        if not broken and not refused:
            broken = self.drafts
        for draft in broken:
            error = errors.get(self._shown_path(draft)) or next(iter(errors.values()))
            self._refuse_document(draft.adopted.workload.document, draft.adopted.workload.title, error)
            self.adoption.left += [_shown(copy.body) for copy in draft.moving]
            own = self.replaced.pop(draft.adopted.key, ())
            self.adoption.left += [_shown(document.value) for document, _ in own if not is_ours(document)]
        removed = {id(item) for item in (*refused, *broken)}
        self.drafts = [draft for draft in self.drafts if id(draft) not in removed]
        is_beside = self._neighbours()
        remaining = [copy for copy in self.extra if id(copy) not in removed]
        self.extra = [copy for copy in remaining if is_beside(copy.document)]
        self.adoption.left += [_shown(copy.body) for copy in remaining if not is_beside(copy.document)]

    def _refuse_document(self, document: Document, name: str, error: Diagnostic) -> None:
        problem = make_diagnostic("E958", document.origin(), what=error.text)
        self.adoption.problems.append(problem)
        self.adoption.objects.append(AdoptedObject(name, REFUSED, problem.message))

    def _shown_path(self, item: _Draft | ConvertedObject | _Copy) -> str:
        """The file of what is written, as problems name it."""
        return os.path.relpath(os.path.join(self.folder, self.paths[id(item)]))

    def _move_services(self, draft: _Draft, rendered: Mapping[Key, Body]) -> None:
        """Writes the Services that lead to the pods of a draft when these are ready, beside what is rendered.
        `rendered`: the Services that are, by their namespaces and names.
        """
        if not draft.moving:
            return
        namespace, name = draft.adopted.new_key
        own = rendered[namespace, name + wellknown.LB_SERVICE]
        for copy in draft.moving:
            body = moved_service(copy.body, map_at(own, "spec", "selector"), engine_port_of(draft.adopted))
            path = self.paths[id(copy)]
            self.adoption.files[path] = yamlio.dump(body)
            self.adoption.rendered.append(body)
            self.adoption.problems += copy.problems
            self._say(copy.document, f"{path}, for when the pods of {name} are ready", f"in {LATER}/")

    def _finish(self, draft: _Draft) -> None:
        workload = draft.adopted.workload
        for document, becomes in self.replaced.get(draft.adopted.key, ()):
            self._say(document, becomes, "in Playgrounds")
        loses = workload.title in self.losing or any(problem.warning for problem in draft.diagnostics.problems)
        self.adoption.problems += draft.diagnostics.problems
        app, model = (
            f"{draft.playground.body['kind']} {draft.adopted.takeover.name}",
            f"OpenModel {draft.claim.model.name}",
        )
        path, model_path = self.paths[id(draft)], self.model_paths[draft.claim.model.name]
        if draft.runtime:
            app = f"{app} with BackendRuntime {draft.runtime.body['metadata']['name']}"
        becomes = f"{app} and {model} in {path}" if path == model_path else f"{app} in {path}, {model} in {model_path}"
        if draft.claim.others:
            becomes += f", which serves {listed([shared.name for shared in draft.claim.others])} too"
        if draft.claim.adapters:
            becomes += f", with adapters {listed([shared.name for shared in draft.claim.adapters])}"
        state = IN_PART if loses else ADOPTED
        self.adoption.objects.append(AdoptedObject(workload.title, state, becomes, draft.adopted.key))
        self.adoption.workloads.append(draft.adopted)

    def _render(self, files: Mapping[str, str]) -> RenderResult:
        tree = memory_tree(self.folder, {path: text.encode() for path, text in files.items()})
        return pipeline.render(RenderOptions(paths=(self.folder,), file_system=tree, texts=True))

    def _files(self) -> dict[str, str]:
        lists = self.target.lists(self._engines())
        files = {CONFIG: _text_of([self._config(lists)]), **lists}
        self.model_paths = {}
        for draft in self._sorted_drafts():
            path = self.paths[id(draft)]
            models = [shared for shared in draft.claim.models if self.model_paths.setdefault(shared.name, path) == path]
            files[path] = _text_of([*(shared.model for shared in models), *draft.own])
        for item in self.converted:
            files[self.paths[id(item)]] = commented_text(item.body, item.comments)
        for copy in self.extra:
            files[self.paths[id(copy)]] = yamlio.dump(copy.body)
        return files

    def _sorted_drafts(self) -> list[_Draft]:
        return sorted(self.drafts, key=lambda draft: draft.adopted.key)

    def _engines(self) -> Iterator[tuple[str, str]]:
        """Backend and version of each engine that a preset of ours starts, or that runs in groups."""
        for draft in self.drafts:
            if not draft.runtime:
                yield draft.adopted.container.backend, draft.adopted.container.engine.version
        for item in self.converted:
            if item.kind == "Playground":
                yield engine_of(item.body, self.catalog)

    def _config(self, lists: Mapping[str, str]) -> CommentedBody:
        spec: dict[str, Any] = {"gateway": {"mode": "off"}}
        if lists:
            spec["optionLists"] = LISTS
        if targets := needed_versions(draft.adopted.workload for draft in self.drafts):
            spec["targets"] = targets
        if flavors := claimed_flavors(draft.claim for draft in self.drafts):
            spec["flavors"] = flavors
        if self.extra:
            spec["passThrough"] = [f"{EXTRA}/**"]
        if self.token and self.token != default_token():
            secret = {"name": self.token.name, "key": self.token.key, "optional": self.token.optional}
            spec["secrets"] = {"hub": secret}
        comments: dict[Path, str] = {
            ("spec", "gateway"): "No routes are rendered, since none were read: delete these lines to use a gateway.",
            **({("spec", "optionLists"): "Copies of the lists that the tree around this folder has."} if lists else {}),
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


def _identity(value: Body) -> Identity:
    return text_at(value, "kind"), key_of(value)


def _is_about(problem: Diagnostic, document: Document) -> bool:
    return (problem.file, problem.document, problem.severity) == (document.name, document.index, "error")


def _config_maps(workload: ServingWorkload, *, of_volumes: bool = True) -> set[Key]:
    """The ConfigMaps that the pods of a workload read, by namespace and name."""
    names: set[str] = set()
    for template in filter(None, (workload.template, workload.leader_template)):
        spec = map_at(template, "spec")
        if of_volumes:
            names |= {text_at(volume, "configMap", "name") for volume in maps_at(spec, "volumes")}
        for _, container in containers(spec):
            names |= {text_at(source, "configMapRef", "name") for source in maps_at(container, "envFrom")}
            variables = maps_at(container, "env")
            names |= {text_at(variable, "valueFrom", "configMapKeyRef", "name") for variable in variables}
    return {(workload.key[0], name) for name in names if name}
