"""Builds Kustomizations and their source for Flux, with health checks in CEL equivalent to those for Argo CD.

Flux evaluates inProgress, failed and current, in this order; an expression with an error, for instance because the
object has no status yet, counts as false.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from renderer.diagnostics import NamedSource, Origin, RenderError, make_diagnostic
from renderer.integrations.gitops.source_flags import EnvironmentSource

Body = dict[str, object]

# The name of a tag; a branch with such a name has to be written as refs/heads/NAME.
_VERSION = re.compile(r"v?\d+\.\d+\.\d+[-+.\w]*", re.ASCII)

# observedGeneration is missing, or equal to the object's generation.
_FRESH = "(!has({0}.observedGeneration) || !has(metadata.generation) || {0}.observedGeneration == metadata.generation)"


def _condition(condition: str) -> str:
    return f"status.conditions.exists(c, ({condition}) && {_FRESH.format('c')})"


def _parent_condition(condition: str) -> str:
    return f"has(p.conditions) && p.conditions.exists(c, ({condition}) && {_FRESH.format('c')})"


_REAL = "!(has(p.parentRef) && has(p.parentRef.kind) && p.parentRef.kind == 'Status')"
_BAD = "(c.type == 'Accepted' || c.type == 'ResolvedRefs') && c.status == 'False'"
_TAKEN = "c.type == 'Accepted' && c.status == 'True'"
_REFUSED = "has(status.conditions) && " + _condition(
    "c.type == 'NotAccepted' || c.type == 'Accepted' && c.status == 'False'"
)
_ACCEPTED = "has(status.conditions) && " + _condition("c.type == 'Accepted' && c.status == 'True'")


def _checks() -> list[dict[str, str]]:
    aigateway = [
        {"apiVersion": "aigateway.envoyproxy.io/v1beta1", "kind": kind, "failed": _REFUSED, "current": _ACCEPTED}
        for kind in ("AIGatewayRoute", "AIServiceBackend", "BackendSecurityPolicy")
    ]
    pool = {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "failed": f"has(status.parents) && status.parents.exists(p, {_REAL} && {_parent_condition(_BAD)})",
        "current": f"has(status.parents) && status.parents.exists(p, {_REAL}) && "
        f"status.parents.all(p, !({_REAL}) || {_parent_condition(_TAKEN)})",
    }
    sets = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "current": "has(status.conditions) && " + _condition("c.type == 'Available' && c.status == 'True'"),
    }
    return [*aigateway, pool, sets]


CHECKS = _checks()


def kustomizations(name: str, places: Sequence[EnvironmentSource], namespace: str, secret: str | None) -> list[Body]:
    """The sources, then a Kustomization for each environment. One source serves all if they read the same revision.

    Raises RenderError.
    """
    one_source = len({(place.repository, place.flags["--revision"]) for place in places}) == 1
    sources: dict[str, Body] = {}
    manifests: list[Body] = []
    for place in places:
        source_name = name if one_source else place.name
        source = sources.setdefault(source_name, _source(source_name, place, namespace, secret))
        manifests.append(
            {
                "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
                "kind": "Kustomization",
                "metadata": {"name": place.name, "namespace": namespace},
                "spec": {
                    "interval": "10m",
                    "retryInterval": "2m",
                    # Flux waits so long for a model that finds no node, and delays the next commit as long
                    "timeout": "10m",
                    "sourceRef": {"kind": source["kind"], "name": source_name},
                    "path": f"./{place.folder}".removesuffix("."),
                    "prune": True,
                    "wait": True,
                    "healthCheckExprs": CHECKS,
                },
            }
        )
    return [*sources.values(), *manifests]


def _source(name: str, place: EnvironmentSource, namespace: str, secret: str | None) -> Body:
    """A GitRepository or OCIRepository. Raises RenderError."""
    url, revision = place.repository, place.flags["--revision"]
    oci = url.startswith("oci://")
    if match := re.fullmatch(r"(?P<host>[\w.-]+@[\w.-]+):(?P<path>.+)", url):  # Flux takes URLs only
        url = f"ssh://{match['host']}/{match['path']}"
    if url.startswith("ssh://") and not secret:
        words = {"value": f"'{url}'", "what": "is read with a key, which is in a Secret"}
        raise RenderError(
            [make_diagnostic("E723", Origin(NamedSource("--repo-url")), **words, hint="name it: --secret NAME")]
        )
    if revision == "HEAD":
        words = {"value": "'HEAD'", "what": "cannot be used with Flux"}
        raise RenderError(
            [
                make_diagnostic(
                    "E723", Origin(NamedSource("--revision")), **words, hint="name a branch, a tag or a commit"
                )
            ]
        )
    if oci:
        ref = {"digest": revision} if revision.startswith("sha256:") else {"tag": revision}
    elif re.fullmatch(r"[0-9a-f]{40}", revision):
        ref = {"commit": revision}
    elif _VERSION.fullmatch(revision):
        ref = {"tag": revision}
    else:
        ref = {"name": revision} if revision.startswith("refs/") else {"branch": revision}
    spec: Body = {"interval": "1m", "url": url, "ref": ref}
    if secret:
        spec["secretRef"] = {"name": secret}
    return {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "OCIRepository" if oci else "GitRepository",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }
