"""Kustomization and its source for Flux, with checks of health in CEL that say the same as those of Argo CD.

Flux tries inProgress, failed and current, in this order; an expression that cannot be evaluated, as with an object that
has no status yet, means "not yet".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from renderer.gitops.places import Place
from renderer.load.rule import Rule
from renderer.problems import Origin, RenderError, problem

Body = dict[str, Any]

# The name of a tag; a branch that is called so has to be written in full.
_VERSION = re.compile(r"v?\d+\.\d+\.\d+[-+.\w]*", re.ASCII)

# No generation, or the one that the object has.
_FRESH = "(!has({0}.observedGeneration) || !has(metadata.generation) || {0}.observedGeneration == metadata.generation)"


def _any(condition: str) -> str:
    return f"status.conditions.exists(c, ({condition}) && {_FRESH.format('c')})"


def _parent(condition: str) -> str:
    return f"has(p.conditions) && p.conditions.exists(c, ({condition}) && {_FRESH.format('c')})"


_REAL = "!(has(p.parentRef) && has(p.parentRef.kind) && p.parentRef.kind == 'Status')"
_BAD = "(c.type == 'Accepted' || c.type == 'ResolvedRefs') && c.status == 'False'"
_TAKEN = "c.type == 'Accepted' && c.status == 'True'"
_REFUSED = "has(status.conditions) && " + _any("c.type == 'NotAccepted' || c.type == 'Accepted' && c.status == 'False'")
_ACCEPTED = "has(status.conditions) && " + _any("c.type == 'Accepted' && c.status == 'True'")


def _checks() -> list[Body]:
    aigateway = [
        {"apiVersion": "aigateway.envoyproxy.io/v1beta1", "kind": kind, "failed": _REFUSED, "current": _ACCEPTED}
        for kind in ("AIGatewayRoute", "AIServiceBackend", "BackendSecurityPolicy")
    ]
    pool = {
        "apiVersion": "inference.networking.k8s.io/v1",
        "kind": "InferencePool",
        "failed": f"has(status.parents) && status.parents.exists(p, {_REAL} && {_parent(_BAD)})",
        "current": f"has(status.parents) && status.parents.exists(p, {_REAL}) && "
        f"status.parents.all(p, !({_REAL}) || {_parent(_TAKEN)})",
    }
    sets = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "current": "has(status.conditions) && " + _any("c.type == 'Available' && c.status == 'True'"),
    }
    return [*aigateway, pool, sets]


CHECKS = _checks()


def kustomizations(name: str, places: Sequence[Place], namespace: str, secret: str | None) -> list[Body]:
    """For each environment its Kustomization; before them the source, one for all that read one revision.

    Raises RenderError.
    """
    alike = len({(place.repository, place.given["--revision"]) for place in places}) == 1
    sources: dict[str, Body] = {}
    made = []
    for place in places:
        own = name if alike else place.name
        source = sources.setdefault(own, _source(own, place, namespace, secret))
        made.append(
            {
                "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
                "kind": "Kustomization",
                "metadata": {"name": place.name, "namespace": namespace},
                "spec": {
                    "interval": "10m",
                    "retryInterval": "2m",
                    # a model that finds no node is waited for so long, and the next commit with it
                    "timeout": "10m",
                    "sourceRef": {"kind": source["kind"], "name": source["metadata"]["name"]},
                    "path": f"./{place.folder}".removesuffix("."),
                    "prune": True,
                    "wait": True,
                    "healthCheckExprs": CHECKS,
                },
            }
        )
    return [*sources.values(), *made]


def _source(name: str, place: Place, namespace: str, secret: str | None) -> Body:
    """A repository, or an OCI artifact. Raises RenderError."""
    url, revision = place.repository, place.given["--revision"]
    oci = url.startswith("oci://")
    if found := re.fullmatch(r"(?P<host>[\w.-]+@[\w.-]+):(?P<path>.+)", url):  # Flux takes URLs only
        url = f"ssh://{found['host']}/{found['path']}"
    if url.startswith("ssh://") and not secret:
        words = {"value": f"'{url}'", "what": "is read with a key, which stands in a Secret"}
        raise RenderError([problem("E723", Origin(Rule("--repo-url")), **words, hint="name it: --secret NAME")])
    if revision == "HEAD":
        words = {"value": "'HEAD'", "what": "says nothing to Flux"}
        raise RenderError(
            [problem("E723", Origin(Rule("--revision")), **words, hint="name a branch, a tag or a commit")]
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
