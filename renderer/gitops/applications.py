"""Application and ApplicationSet over the rendered tree, which Argo CD reads as a plain directory.

No sync waves: Argo CD would wait with all later objects until the first are healthy, so one model that finds no node
would hold back the others. No ignoreDifferences for replicas: they are absent where an autoscaler owns them, and an
edit from 2 to 4 of a fixed model has to act.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from renderer.gitops.places import Place, distinct
from renderer.load.rule import Rule
from renderer.problems import Origin, RenderError, problem
from renderer.records import NamedTuple

Body = dict[str, Any]

_API = "argoproj.io/v1alpha1"
_PATHS = "argocd.argoproj.io/manifest-generate-paths"
# Of no namespace: cluster-scoped objects, and what passThrough copies.
_SHARED = ("_cluster.yaml", "_extra")
# Of a namespace, and of no app in it.
_BETWEEN = ("*/_shared.yaml", "*/_routes-*.yaml")


class Ways(NamedTuple):
    """How to sync. `handed`: LeaderWorkerSets (namespace, name) whose replicas an autoscaler is taking over."""

    project: str
    namespace: str
    create_namespaces: bool = False
    handed: tuple[tuple[str, str], ...] = ()


def applications(places: Sequence[Place], ways: Ways) -> list[Body]:
    """For each environment one Application, and one for what belongs to no namespace."""
    _unlike(places)
    made = []
    for place in places:
        exclude = _globs([*_SHARED, "kustomization.yaml"])
        source = _source(place, place.folder, {"recurse": True, "exclude": exclude})
        made.append(_application(place.name, ".", place, ways, source))
        made.append(_shared(place, ways, _SHARED))
    return made


def application_sets(places: Sequence[Place], ways: Ways) -> list[Body]:
    """For each environment an ApplicationSet, and an Application for what belongs to no namespace.

    The set makes one Application for each namespace, or with output.layout app for each app. Their names have a dot,
    which no name of a namespace or an app has, so that none is made twice. Raises RenderError.
    """
    _unlike(places)
    if places[0].repository.startswith("oci://"):
        words = {"value": "an ApplicationSet", "what": "lists the folders of a git repository, and this is an artifact"}
        hint = "use llmaz argocd application"
        raise RenderError([problem("E723", Origin(Rule("--repo-url")), **words, hint=hint)])
    made = []
    for place in places:
        apart = place.layout == "app"
        below = "" if place.folder == "." else f"{place.folder}/"
        stars = "*/*" if apart else "*"
        directories = [{"path": f"{below}{stars}"}, {"path": f"{below}_extra{'/*' if apart else ''}", "exclude": True}]
        namespace = f"{{{{index .path.segments {below.count('/')}}}}}"
        name = f"{place.name}.{namespace}" + (".{{.path.basename}}" if apart else "")
        source = _source(place, "{{.path.path}}", {"recurse": True})
        template = _application(name, ".", place, ways, source, namespace)
        git = {"repoURL": place.repository, "revision": place.given["--revision"], "directories": directories}
        made.append(
            {
                "apiVersion": _API,
                "kind": "ApplicationSet",
                "metadata": {"name": place.name, "namespace": ways.namespace},
                "spec": {
                    "goTemplate": True,
                    "goTemplateOptions": ["missingkey=error"],
                    "generators": [{"git": git}],
                    "template": {
                        "metadata": {key: template["metadata"][key] for key in ("name", "annotations")},
                        "spec": template["spec"],
                    },
                },
            }
        )
        made.append(_shared(place, ways, (*_SHARED, *(_BETWEEN if apart else ()))))
    return made


def _unlike(places: Iterable[Place]) -> None:
    """Raises RenderError when two environments would make one Application."""
    owners: dict[str, list[str]] = {}
    for place in places:
        owner = f"environment '{place.environment}'"
        owners.setdefault(place.name, []).append(owner)
        owners.setdefault(f"{place.name}-shared", []).append(owner)
    distinct(owners)


def _globs(paths: Iterable[str]) -> str:
    """What Argo CD's directory takes: one pattern, in which * stands for any text, `/` too."""
    return "{" + ",".join(f"{path}/*" if path == "_extra" else path for path in paths) + "}"


def _shared(place: Place, ways: Ways, paths: tuple[str, ...]) -> Body:
    source = _source(place, place.folder, {"recurse": True, "include": _globs(paths)})
    return _application(f"{place.name}-shared", ";".join(paths), place, ways._replace(handed=()), source)


def _source(place: Place, path: str, directory: Body) -> Body:
    return {
        "repoURL": place.repository,
        "targetRevision": place.given["--revision"],
        "path": path,
        "directory": directory,
    }


def _application(name: str, watched: str, place: Place, ways: Ways, source: Body, namespace: str = "") -> Body:
    """`watched`: what a commit must touch for Argo CD to look at it, below the source's path."""
    if cluster := place.given.get("--destination-name"):
        destination = {"name": cluster}
    else:
        destination = {"server": place.given["--destination-server"]}
    if namespace:
        destination["namespace"] = namespace
    options = [
        "ServerSideApply=true",  # LeaderWorkerSets outgrow the annotation of client-side apply
        "SkipDryRunOnMissingResource=true",  # CRDs may come later, by another Application
        "RespectIgnoreDifferences=true",  # for a hand-over: what is ignored is also not written
    ]
    if ways.create_namespaces and namespace:
        options.append("CreateNamespace=true")
    spec: Body = {
        "project": ways.project,
        "source": source,
        "destination": destination,
        "syncPolicy": {
            "automated": {"prune": True, "selfHeal": True},
            "syncOptions": options,
            # refresh: a retry takes the newest commit, so that a fix need not wait for the last one
            "retry": {
                "limit": 10,
                "refresh": True,
                "backoff": {"duration": "30s", "factor": 2, "maxDuration": "10m"},
            },
        },
    }
    if ways.handed:
        spec["ignoreDifferences"] = [
            {
                "group": "leaderworkerset.x-k8s.io",
                "kind": "LeaderWorkerSet",
                "namespace": namespace,
                "name": name,
                "jsonPointers": ["/spec/replicas"],
            }
            for namespace, name in ways.handed
        ]
    return {
        "apiVersion": _API,
        "kind": "Application",
        "metadata": {"name": name, "namespace": ways.namespace, "annotations": {_PATHS: watched}},
        "spec": spec,
    }
