"""Which resource an object is, as rules of policies name it."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from renderer.admission.records import Resource
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at
from renderer.plan import Body

_IRREGULAR: Final = {"Endpoints": "endpoints", "PodMetrics": "pods", "NodeMetrics": "nodes"}
EXEMPT: Final = frozenset(
    {
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    }
)
"""Kinds of admissionregistration.k8s.io, which no policy judges."""
ADMISSION_GROUP: Final = "admissionregistration.k8s.io"

_SEVERAL_VERSIONS: Final = {
    "autoscaling": ("v1", "v2"),
    "gateway.networking.k8s.io": ("v1", "v1beta1", "v1alpha2", "v1alpha3"),
    "inference.networking.k8s.io": ("v1",),
}
_ONE_VERSION: Final = frozenset(
    {
        "", "apps", "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "scheduling.k8s.io",
        "leaderworkerset.x-k8s.io", "keda.sh",
    }
)  # fmt: skip


def resource_of(body: Body) -> Resource:
    """The resource of an object."""
    names_namespace = bool(map_at(body, "metadata").get("namespace"))
    return _resource(str(body.get("apiVersion", "")), str(body.get("kind", "")), names_namespace)


@lru_cache(maxsize=1024)
def _resource(api_version: str, kind: str, names_namespace: bool) -> Resource:
    group, _, version = api_version.rpartition("/")
    scope = False if kind in wellknown.CLUSTER_SCOPED else None
    if scope is None and (is_built_in(group) or names_namespace):
        scope = True
    return Resource(group, version, kind, plural(kind), scope)


def is_built_in(group: str) -> bool:
    """Whether the group is one of Kubernetes itself."""
    return "." not in group or (group.endswith(".k8s.io") and group.count(".") == 2)


def plural(kind: str) -> str:
    """The plural of a kind, as Kubernetes' tools make it."""
    name = kind.lower()
    if kind in _IRREGULAR:
        return _IRREGULAR[kind]
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"


def other_versions(resource: Resource) -> tuple[str, ...] | None:
    """The other versions in which the server may have the resource; None where that is not known."""
    if resource.group in _ONE_VERSION:
        return ()
    known = _SEVERAL_VERSIONS.get(resource.group)
    return tuple(version for version in known if version != resource.version) if known else None
