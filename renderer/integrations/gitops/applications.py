"""Builds Application and ApplicationSet for the rendered tree, which Argo CD reads as a plain directory.

No sync waves: Argo CD would wait with all later objects until the first are healthy, so one model that finds no node
would hold back the others. No ignoreDifferences for replicas: they are absent where an autoscaler owns them, and an
edit from 2 to 4 of a fixed model has to act.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict

from msgspec import Struct
from msgspec.structs import replace

from renderer.diagnostics import NamedSource, Origin, RenderError, make_diagnostic
from renderer.integrations.gitops.source_flags import EnvironmentSource, check_distinct
from renderer.kubernetes import wellknown
from renderer.text import escapes

Body = dict[str, object]

_API = "argoproj.io/v1alpha1"
_PATHS = "argocd.argoproj.io/manifest-generate-paths"
# Files without a namespace: cluster-scoped objects, and files that passThrough copies.
_SHARED = ("_cluster.yaml", "_extra")
# Files of a namespace that belong to no single app.
_NAMESPACE_SHARED = ("*/_shared.yaml", "*/_routes-*.yaml", "*/*.cache.yaml")


class Metadata(TypedDict):
    """The metadata of an Application."""

    name: str
    namespace: str
    annotations: dict[str, str]


class Application(TypedDict):
    """An Application of Argo CD."""

    apiVersion: str
    kind: str
    metadata: Metadata
    spec: Body


class SyncOptions(Struct, frozen=True):
    """Options of the Applications."""

    project: str
    namespace: str
    create_namespaces: bool = False
    hand_over: tuple[tuple[str, str], ...] = ()  # namespace and name of workloads that an autoscaler is taking over
    # Namespace and name of the apps whose workloads are Deployments.
    deployments: frozenset[tuple[str, str]] = frozenset()

    def workload_kind(self, namespace: str, name: str) -> tuple[str, str]:
        """API group and kind of a workload; that of a variant begins with its app's name."""
        for app_namespace, app in self.deployments:
            if namespace == app_namespace and f"{name}-".startswith(f"{app}-"):
                return "apps", wellknown.DEPLOYMENT
        return "leaderworkerset.x-k8s.io", wellknown.LEADER_WORKER_SET


def applications(places: Sequence[EnvironmentSource], options: SyncOptions) -> list[Application]:
    """Two Applications for each environment: of objects with a namespace, and of those without. Raises RenderError."""
    _check_distinct(places)
    manifests = []
    for place in places:
        exclude = _globs([*_SHARED, "kustomization.yaml"])
        source = _source(place, place.folder, {"recurse": True, "exclude": exclude})
        manifests.append(_application(place.name, ".", place, options, source))
        manifests.append(_shared(place, options, _SHARED))
    return manifests


def application_sets(places: Sequence[EnvironmentSource], options: SyncOptions) -> list[Mapping[str, object]]:
    """An ApplicationSet for each environment, and an Application for its objects without a namespace.

    The set generates one Application for each namespace, or for each app with output.layout `app`. Their names contain
    a dot, which names of namespaces and apps cannot, so that they are unique. Raises RenderError.
    """
    _check_distinct(places)
    if places[0].repository.startswith("oci://"):
        words = {"value": "an ApplicationSet", "what": "lists the folders of a git repository, but this is an artifact"}
        hint = "use llmaz argocd application"
        raise RenderError([make_diagnostic("E723", Origin(NamedSource("--repo-url")), **words, hint=hint)])
    manifests: list[Mapping[str, object]] = []
    for place in places:
        manifests.append(_application_set(place, options))
        manifests.append(_shared(place, options, (*_SHARED, *(_NAMESPACE_SHARED if place.layout == "app" else ()))))
    return manifests


def _application_set(place: EnvironmentSource, options: SyncOptions) -> Mapping[str, object]:
    by_app = place.layout == "app"
    below = "" if place.folder == "." else f"{place.folder}/"
    stars, top = "*/*" if by_app else "*", escapes.glob_literal(below)
    directories = [{"path": f"{top}{stars}"}, {"path": f"{top}_extra{'/*' if by_app else ''}", "exclude": True}]
    namespace = f"{{{{index .path.segments {below.count('/')}}}}}"
    name = f"{place.name}.{namespace}" + (".{{.path.basename}}" if by_app else "")
    literal = _template_source(place)
    source = _source(literal, "{{.path.path}}", {"recurse": True})
    template = _application(name, ".", literal, options, source, namespace)
    git = {"repoURL": place.repository, "revision": place.flags["--revision"], "directories": directories}
    return {
        "apiVersion": _API,
        "kind": "ApplicationSet",
        "metadata": {"name": place.name, "namespace": options.namespace},
        "spec": {
            "goTemplate": True,
            "goTemplateOptions": ["missingkey=error"],
            "generators": [{"git": git}],
            "template": {
                "metadata": {"name": name, "annotations": template["metadata"]["annotations"]},
                "spec": template["spec"],
            },
        },
    }


def _template_source(place: EnvironmentSource) -> EnvironmentSource:
    """The environment with its texts as an ApplicationSet's template has them, which is one of Go."""
    flags = {flag: escapes.go_template_text(value) for flag, value in place.flags.items()}
    return replace(place, repository=escapes.go_template_text(place.repository), flags=flags)


def _check_distinct(places: Iterable[EnvironmentSource]) -> None:
    """Raises RenderError if two environments would have an Application of the same name."""
    owners: dict[str, list[str]] = {}
    for place in places:
        owner = f"environment '{place.environment}'"
        owners.setdefault(place.name, []).append(owner)
        owners.setdefault(f"{place.name}-shared", []).append(owner)
    check_distinct(owners)


def _globs(paths: Iterable[str]) -> str:
    """One glob pattern for these paths, as Argo CD's directory source takes it; `*` matches `/` too."""
    return "{" + ",".join(f"{path}/*" if path == "_extra" else path for path in paths) + "}"


def _shared(place: EnvironmentSource, options: SyncOptions, paths: tuple[str, ...]) -> Application:
    source = _source(place, place.folder, {"recurse": True, "include": _globs(paths)})
    return _application(f"{place.name}-shared", ";".join(paths), place, replace(options, hand_over=()), source)


def _source(place: EnvironmentSource, path: str, directory: Body) -> Body:
    return {
        "repoURL": place.repository,
        "targetRevision": place.flags["--revision"],
        "path": path,
        "directory": directory,
    }


def _application(
    name: str, watched: str, place: EnvironmentSource, options: SyncOptions, source: Body, namespace: str = ""
) -> Application:
    """An Application. `watched`: paths below the source's path; Argo CD ignores commits that change none of them."""
    sync_options = [
        "ServerSideApply=true",  # LeaderWorkerSets outgrow the annotation of client-side apply
        "SkipDryRunOnMissingResource=true",  # CRDs may come later, by another Application
        "RespectIgnoreDifferences=true",  # for a hand-over: ignored fields are not written either
    ]
    if options.create_namespaces and namespace:
        sync_options.append("CreateNamespace=true")
    spec: Body = {
        "project": options.project,
        "source": source,
        "destination": _destination(place, namespace),
        "syncPolicy": {
            "automated": {"prune": True, "selfHeal": True},
            "syncOptions": sync_options,
            # refresh: a retry takes the newest commit, so that a fix need not wait for the last one
            "retry": {
                "limit": 10,
                "refresh": True,
                "backoff": {"duration": "30s", "factor": 2, "maxDuration": "10m"},
            },
        },
    }
    if options.hand_over:  # and never in general: docs/design/delivery.md#replicas-and-autoscalers
        spec["ignoreDifferences"] = [_ignored_replicas(options, *workload) for workload in options.hand_over]
    return {
        "apiVersion": _API,
        "kind": "Application",
        "metadata": {"name": name, "namespace": options.namespace, "annotations": {_PATHS: watched}},
        "spec": spec,
    }


def _destination(place: EnvironmentSource, namespace: str) -> Body:
    if cluster := place.flags.get("--destination-name"):
        destination: Body = {"name": cluster}
    else:
        destination = {"server": place.flags["--destination-server"]}
    if namespace:
        destination["namespace"] = namespace
    return destination


def _ignored_replicas(options: SyncOptions, namespace: str, name: str) -> Body:
    """The field of a workload that Argo CD leaves alone while an autoscaler takes over."""
    group, kind = options.workload_kind(namespace, name)
    return {"group": group, "kind": kind, "namespace": namespace, "name": name, "jsonPointers": ["/spec/replicas"]}
