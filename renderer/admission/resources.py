"""Which resource an object is, as rules of policies name it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from renderer import schema_validation
from renderer.admission.records import Resource
from renderer.admission.server_view import Completion, completion, server_view
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at
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
DEFINITION: Final = "CustomResourceDefinition"

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


class ResourceKinds:
    """The resources of kinds: CustomResourceDefinitions of the tree say them, of other kinds they are worked out."""

    def __init__(self, bodies: Iterable[Body] = ()) -> None:
        self._defined: dict[tuple[str, str], set[tuple[str, bool]]] = {}  # by group and kind: plural, is it namespaced
        self._schemas: dict[tuple[str, str], Mapping[str, object]] = {}  # by apiVersion and kind
        self._completions: dict[tuple[str, str], Completion | None] = {}
        self._known: dict[tuple[str, str, bool], Resource] = {}
        for body in bodies:
            spec = map_at(body, "spec")
            group, kind, name = text_at(spec, "group"), text_at(spec, "names", "kind"), text_at(spec, "names", "plural")
            if text_at(body, "kind") == DEFINITION and name:
                resource = name, text_at(spec, "scope") != "Cluster"
                self._defined.setdefault((group, kind), set()).add(resource)
                for version in maps_at(spec, "versions"):
                    schema = map_at(version, "schema", "openAPIV3Schema")
                    self._schemas.setdefault((f"{group}/{version.get('name')}", kind), schema)

    def resource_of(self, body: Body) -> Resource:
        """The resource of an object."""
        names_namespace = bool(map_at(body, "metadata").get("namespace"))
        key = str(body.get("apiVersion", "")), str(body.get("kind", "")), names_namespace
        if key not in self._known:
            self._known[key] = self._resource(*key)
        return self._known[key]

    def _resource(self, api_version: str, kind: str, names_namespace: bool) -> Resource:
        group, _, version = api_version.rpartition("/")
        defined = sorted(self._defined.get((group, kind), ()))
        if defined:
            name, is_namespaced = defined[0]
            scope = is_namespaced if len(defined) == 1 else None
            return Resource(group, version, kind, name, scope, is_guessed=len(defined) > 1)
        is_known = is_built_in(group) or schema_validation.has_schema(schema_validation.name_of(api_version, kind))
        scope = False if kind in wellknown.CLUSTER_SCOPED else None
        if scope is None and (is_built_in(group) or names_namespace):
            scope = True
        return Resource(group, version, kind, plural(kind), scope, is_guessed=not is_known)

    def view_of(self, body: Body) -> Mapping[str, object]:
        """The object as a policy sees it."""
        key = str(body.get("apiVersion", "")), str(body.get("kind", ""))
        if key in self._schemas and key not in self._completions:
            self._completions[key] = completion(self._schemas[key], {})
        return server_view(body, self._completions.get(key))

    def may_have_name(self, resource: Resource, group: str, name: str) -> bool:
        """Whether a resource may have a name that a rule for a group, or for all (`*`), has."""
        name, _, subresource = name.partition("/")
        if not resource.is_guessed or subresource not in ("", "*") or name == "*":
            return False
        if group == "*":  # the plural of a kind begins as the kind does
            return name.startswith(resource.kind.lower()[:-1])
        others = {
            other
            for (defined_group, kind), names in self._defined.items()
            for other, _ in names
            if defined_group == group and kind != resource.kind
        }
        return group == resource.group and name not in others and name not in _known_names(group)


@cache
def _known_names(group: str) -> frozenset[str]:
    """The resources of a group whose schemas we have."""
    try:
        files = os.listdir(os.path.dirname(schema_validation.path_of(f"output/{group}/any")))
    except (FileNotFoundError, NotADirectoryError):
        files = []
    return frozenset(plural(file.rpartition("_")[0]) for file in files)


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
