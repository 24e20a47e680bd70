"""What the manifests of others hold: workloads that may serve a model, objects of llmaz's own API, and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from renderer import yamlio
from renderer.adopt.devices import rendered_claims
from renderer.adopt.kserve import read_kserve
from renderer.adopt.kubernetes_workloads import kubernetes_workload
from renderer.adopt.llmaz_kinds import ConvertedObject
from renderer.adopt.llmaz_objects import adopt_llmaz_objects
from renderer.adopt.production_stack import read_production_stack
from renderer.adopt.serving_workload import ServingWorkload
from renderer.diagnostics import Collector, Diagnostic
from renderer.kubernetes.json_values import maps_at, text_at
from renderer.kubernetes.variable_references import config_maps_by_namespace
from renderer.load.kustomize_patches import KustomizePatches
from renderer.load.manifest_tree import manifests
from renderer.source.paths import read_file
from renderer.yamlio import Document

_NOTHING_TO_CHECK = "E125"  # which is said where the files hold no object
_KSERVE = "serving.kserve.io"
_SERVICES = ("LLMInferenceService",)
_OPERATOR = ("llmaz.io", "inference.llmaz.io")


class SourceObjects(Struct):
    """The objects in the files of a run."""

    workloads: list[ServingWorkload] = field(default_factory=list)
    findings: dict[int, list[Diagnostic]] = field(default_factory=dict)  # of a workload, by the id of its document
    unread: list[Document] = field(default_factory=list)  # objects that describe a workload and cannot be read
    converted: list[ConvertedObject] = field(default_factory=list)  # of llmaz's own API
    of_operator: list[Document] = field(default_factory=list)  # objects that the operator makes of these
    others: list[Document] = field(default_factory=list)
    files: list[str] = field(default_factory=list)  # names of those without an object
    kustomizations: KustomizePatches | None = None  # of the tree
    problems: list[Diagnostic] = field(default_factory=list)
    problems_of_kinds: list[Diagnostic] = field(default_factory=list)  # those about what other kinds say of workloads


def read_sources(paths: Sequence[str], release: str = "") -> SourceObjects:
    """The objects below the paths. `release`: of the operator that ran those of llmaz's own API, where it is known.
    Raises RenderError for a missing path.
    """
    files = manifests(paths)
    sources = SourceObjects(kustomizations=files.patches_of_tree)
    sources.problems += [problem for problem in files.problems if problem.code != _NOTHING_TO_CHECK]
    documents = [document for document in files.documents if isinstance(document.value, dict)]
    _add_charts(sources, documents, files.others)
    chart_ids = {id(workload.document) for workload in sources.workloads}
    owners = {_name_of(document) for document in documents if _group(document) in _OPERATOR}
    sources.of_operator += [document for document in documents if _is_made_of(document, owners)]
    skipped = chart_ids | {id(document) for document in sources.of_operator}
    converted = adopt_llmaz_objects([document for document in documents if id(document) not in skipped], release)
    sources.converted += converted.objects
    sources.problems += converted.problems
    services, problems = read_kserve(converted.others)
    sources.workloads += services
    sources.problems += problems
    sources.problems_of_kinds += problems
    read = {id(workload.document) for workload in sources.workloads}
    config_maps = config_maps_by_namespace(document.value for document in documents)
    config_maps[""] = config_maps["default"] = {**config_maps.get("", {}), **config_maps.get("default", {})}
    claims = rendered_claims(document.value for document in documents)
    for document in converted.others:
        if id(document) in read or not isinstance(document.value, dict):
            continue
        diagnostics = Collector()
        namespace = text_at(document.value, "metadata", "namespace")
        if workload := kubernetes_workload(document, diagnostics, config_maps.get(namespace), claims):
            sources.findings[id(workload.document)] = diagnostics.problems
            sources.workloads.append(workload)
        elif _is_unread(document):
            sources.unread.append(document)
        elif not _is_config(document):
            sources.others.append(document)
    return sources


def _add_charts(sources: SourceObjects, documents: Sequence[Document], names: Sequence[str]) -> None:
    """Adds the models in values of a chart: those in objects, and those in files without an object."""
    values = [document for name in names for document in _documents_of(name)]
    workloads, problems = read_production_stack([*documents, *values])
    sources.workloads += workloads
    sources.problems += problems
    sources.problems_of_kinds += problems
    used = {workload.document.name for workload in workloads}
    sources.files += [name for name in names if name not in used]


def _documents_of(name: str) -> Iterator[Document]:
    """The documents of a file without an object; none of one that is not YAML."""
    documents, problems = yamlio.parse(name, read_file(name))
    if not problems:
        yield from documents


def _group(document: Document) -> str:
    return text_at(document.value, "apiVersion").partition("/")[0]


def _name_of(document: Document) -> tuple[str, str]:
    return text_at(document.value, "kind"), text_at(document.value, "metadata", "name")


def _is_made_of(document: Document, owners: set[tuple[str, str]]) -> bool:
    """Whether the operator has made an object of one of these, and makes it no more once they are converted."""
    return any(
        text_at(owner, "apiVersion").partition("/")[0] in _OPERATOR
        and (text_at(owner, "kind"), text_at(owner, "name")) in owners
        for owner in maps_at(document.value, "metadata", "ownerReferences")
    )


def _is_unread(document: Document) -> bool:
    return _group(document) == _KSERVE and document.value.get("kind") in _SERVICES


def _is_config(document: Document) -> bool:
    """Whether an object is read as a part of others."""
    return _group(document) == _KSERVE and str(document.value.get("kind")).startswith(_SERVICES)
