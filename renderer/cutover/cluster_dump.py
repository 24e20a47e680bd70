"""A dump of a cluster in which llmaz's operator runs: what it made, what made it do so, and how it is installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain

from msgspec import Struct

from renderer.diagnostics import Diagnostic, NamedSource, Origin, make_diagnostic
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at
from renderer.kubernetes.wellknown import CLUSTER_SCOPED, DEPLOYMENT, HPA, LEADER_WORKER_SET
from renderer.kubernetes.workloads import WORKLOADS, containers, kind_of, pod_templates
from renderer.load.hand_written import Manifests
from renderer.yamlio import Document

MANAGER = "llmaz"  # under which the operator applies
GROUPS = ("inference.llmaz.io", "llmaz.io")  # of its custom resources
PLAYGROUND, SERVICE = "Playground", "Service"  # its kinds that own what it makes
APPLICATION = "Application"  # of Argo CD
_WEBHOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_DEFINITION = "CustomResourceDefinition"
_IMAGE = re.compile(r"(^|/)inftyai/llmaz([:@]|$)")
_MANAGER_LABELS = {"control-plane": "controller-manager", "app.kubernetes.io/created-by": "llmaz"}

_JSON_TYPES = {dict: "a map without a kind", str: "a string", list: "a list", bool: "true or false"}
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?")  # of an object; none is an option of a command

Name = tuple[str, str]  # namespace and name


class LiveModel(Struct, frozen=True):
    """A model as the operator runs it."""

    workload: Document  # its LeaderWorkerSet
    autoscaler: Document | None = None  # its HorizontalPodAutoscaler
    service: Document | None = None  # its Service for clients


class ClusterDump(Struct, frozen=True):
    """What a dump holds of the operator."""

    models: Mapping[Name, LiveModel]
    workloads: Set[Name]  # all LeaderWorkerSets, whoever made them
    services: Sequence[Document]  # of the core group, that a custom resource owns
    autoscalers: Sequence[Document]  # that a custom resource owns, or the operator applies
    resources: Sequence[Document]  # the custom resources
    deployments: Sequence[Document]  # of the operator itself
    webhooks: Sequence[Document]
    definitions: Sequence[Document]
    applications: Sequence[Document]  # of Argo CD

    @property
    def is_empty(self) -> bool:
        """Whether nothing in it is the operator's."""
        parts = (self.services, self.autoscalers, self.resources, self.deployments, self.webhooks, self.definitions)
        return not self.models and not any(parts)

    @property
    def installation(self) -> Iterator[Document]:
        """All that somebody installs by hand or by a tool: the operator, and its custom resources."""
        return chain(self.deployments, self.webhooks, self.definitions, self.resources)


def name_of(document: Document) -> Name:
    """Namespace, empty for kinds that lie in none, and name of an object."""
    body = document.value
    namespace = text_at(body, "metadata", "namespace")
    if not namespace and text_at(body, "kind") not in CLUSTER_SCOPED and group_of(body) != GROUPS[0]:
        namespace = "default"
    return namespace, text_at(body, "metadata", "name")


def group_of(body: object) -> str:
    """The API group of an object, empty for the core group."""
    return text_at(body, "apiVersion").rpartition("/")[0]


def is_owned(body: object) -> bool:
    """Whether a custom resource of the operator owns the object."""
    return any(group_of(reference) in GROUPS for reference in maps_at(body, "metadata", "ownerReferences"))


def applied_entries(body: object, manager: str) -> list[int]:
    """Where in `managedFields` the entries are of what a field manager has applied."""
    return [
        index
        for index, entry in enumerate(maps_at(body, "metadata", "managedFields"))
        if (entry.get("manager"), entry.get("operation")) == (manager, "Apply") and not entry.get("subresource")
    ]


def read_dump(files: Manifests, paths: Sequence[str]) -> tuple[ClusterDump, list[Diagnostic]]:
    """What the files below the paths hold of the operator, and what is wrong with them."""
    problems = [
        *files.problems,
        *(
            make_diagnostic("E982", document.origin(), what=_JSON_TYPES.get(type(document.value), "a number"))
            for document in files.documents
            if not text_at(document.value, "kind")
        ),
    ]
    objects = [document for document in files.documents if text_at(document.value, "metadata", "name")]
    problems += _repetitions(objects)

    def select(kinds: Iterable[str], group: str, is_selected: Callable[[object], bool]) -> list[Document]:
        selected = (
            document
            for document in objects
            if document.value.get("kind") in kinds and group_of(document.value) == group and is_selected(document.value)
        )
        return sorted(selected, key=name_of)

    all_workloads = select([LEADER_WORKER_SET], "leaderworkerset.x-k8s.io", lambda body: True)
    workloads = [document for document in all_workloads if _is_operated(document.value)]
    autoscalers = select([HPA], "autoscaling", _is_operated)
    services = select(["Service"], "", is_owned)
    problems += [
        make_diagnostic("E980", document.origin("metadata"), kind=document.value["kind"], name=_label(document))
        for document in (*workloads, *autoscalers)
        if not maps_at(document.value, "metadata", "managedFields")
    ]
    scalers, clients = ({name_of(document): document for document in part} for part in (autoscalers, services))
    models = {}
    for document in workloads:
        namespace, name = name_of(document)
        models[namespace, name] = LiveModel(
            document, scalers.get((namespace, name)), clients.get((namespace, f"{name}-lb"))
        )
    resources = [document for document in objects if group_of(document.value) in GROUPS]
    dump = ClusterDump(
        models=models,
        workloads={name_of(document) for document in all_workloads},
        services=services,
        autoscalers=autoscalers,
        resources=sorted(resources, key=lambda document: (_rank(document), name_of(document))),
        deployments=select([DEPLOYMENT], "apps", _is_operator),
        webhooks=select(_WEBHOOKS, "admissionregistration.k8s.io", lambda body: bool(own_webhooks(body))),
        definitions=select([_DEFINITION], "apiextensions.k8s.io", _defines),
        applications=select([APPLICATION], "argoproj.io", lambda body: True),
    )
    problems += [
        make_diagnostic("E984", document.origin("metadata", "name"), name=_label(document))
        for document in (*workloads, *autoscalers, *services, *dump.installation)
        if not all(NAME.fullmatch(part) for part in name_of(document) if part)
    ]
    is_foreign = any(kind_of(document.value) in WORKLOADS for document in objects)  # which `adopt` may have taken over
    if dump.is_empty and not is_foreign and not problems:
        problems += [make_diagnostic("E981", Origin(NamedSource(path))) for path in paths]
    return dump, problems


def own_webhooks(body: object) -> list[int]:
    """The positions of the webhooks of a configuration that are asked about the operator's kinds alone."""
    return [
        index
        for index, webhook in enumerate(maps_at(body, "webhooks"))
        if (groups := {group for rule in maps_at(webhook, "rules") for group in texts_at(rule, "apiGroups")})
        and groups <= {*GROUPS}
    ]


def _is_operated(body: object) -> bool:
    return is_owned(body) or bool(applied_entries(body, MANAGER))


def _is_operator(body: object) -> bool:
    """Whether a Deployment runs the operator: by its image, or by the labels that its chart and its manifests give."""
    pods = pod_templates(body) if isinstance(body, dict) else ()
    if any(_IMAGE.search(text_at(container, "image")) for pod in pods for _, container in containers(pod.spec)):
        return True
    labels = map_at(body, "metadata", "labels")
    return all(labels.get(key) == value for key, value in _MANAGER_LABELS.items())


def _defines(body: object) -> bool:
    return text_at(body, "spec", "group") in GROUPS


def _rank(document: Document) -> int:
    """Owners come before what they own."""
    kind = document.value.get("kind")
    return {PLAYGROUND: 0, SERVICE: 1}.get(str(kind), 2)


def _repetitions(objects: Sequence[Document]) -> Iterator[Diagnostic]:
    first: dict[tuple[str, str, Name], Document] = {}
    for document in objects:
        kind = text_at(document.value, "kind")
        known = first.setdefault((group_of(document.value), kind, name_of(document)), document)
        if known is not document:
            file, line, _ = known.origin().place
            yield make_diagnostic(
                "E983", document.origin("metadata", "name"), kind=kind, name=_label(document), first=f"{file}:{line}"
            )


def _label(document: Document) -> str:
    return "/".join(part for part in name_of(document) if part)
