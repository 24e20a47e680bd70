"""What a policy may read and only the server knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from renderer.admission.matching import CreateRequest
from renderer.kubernetes.json_values import map_at, value_at
from renderer.plan import Body

REQUEST_FIELDS: Final = frozenset(
    {
        "kind", "resource", "subResource", "requestKind", "requestResource", "requestSubResource", "name", "namespace",
        "operation", "userInfo", "dryRun", "options",
    }
)  # fmt: skip
_WHO: Final = "who creates an object"
_SERVER: Final = "the server sets it"

# By name, why it is not known.
ALWAYS: Final[Mapping[str, str]] = {
    "authorizer": "who may do what",
    "request.userInfo": _WHO,
    "request.dryRun": "whether it is a dry run",
    "request.options": "the options of the request",
    "object.metadata.uid": _SERVER,
    "object.metadata.creationTimestamp": _SERVER,
    "object.metadata.managedFields": _SERVER,
    "object.metadata.generation": _SERVER,
    "namespaceObject.metadata.uid": _SERVER,
    "namespaceObject.metadata.UID": _SERVER,
    "namespaceObject.metadata.creationTimestamp": _SERVER,
    "namespaceObject.metadata.generation": _SERVER,
    "namespaceObject.metadata.resourceVersion": _SERVER,
    "namespaceObject.metadata.deletionTimestamp": _SERVER,
    "namespaceObject.metadata.deletionGracePeriodSeconds": _SERVER,
    "namespaceObject.status.conditions": _SERVER,
}
_OF_KIND: Final[Mapping[str, tuple[str, ...]]] = {
    "v1/Service": (
        "spec.clusterIP",
        "spec.clusterIPs",
        "spec.ipFamilies",
        "spec.ipFamilyPolicy",
        "spec.healthCheckNodePort",
    ),
    "v1/PersistentVolumeClaim": ("spec.storageClassName", "metadata.finalizers"),
    "v1/Pod": (
        "spec.serviceAccountName",
        "spec.serviceAccount",
        "spec.tolerations",
        "spec.priority",
        "spec.priorityClassName",
        "spec.preemptionPolicy",
        "spec.volumes",
    ),
    "batch/v1/Job": ("spec.selector", "spec.template.metadata.labels"),
    "scheduling.k8s.io/v1/PriorityClass": (),
}
_DYNAMIC: Final = ("request", "namespaceObject")


def unknown_names(request: CreateRequest) -> Mapping[str, str]:
    """The names that an expression may use and that have no value here, with the reason, for this object."""
    body = request.body
    names = dict(ALWAYS)
    kind = f"{body.get('apiVersion')}/{body.get('kind')}"
    for field in _OF_KIND.get(kind, ()):
        if value_at(body, *field.split(".")) is None:
            names[f"object.{field}"] = _SERVER
    if not request.name:
        names["object.metadata.name"] = names["request.name"] = "the server makes the name"
    if request.is_namespace_unknown:
        for name in ("object.metadata.namespace", "request.namespace", "namespaceObject"):
            names[name] = "the object names no namespace"
    return names


def optional_reads(code: str, names: Iterable[str]) -> Iterator[str]:
    """Of unknown names, those that an expression without literals and spaces reads in a way that does not fail: as
    `request.?userInfo`, or as a part of what is above it.
    """
    for name in names if "?" in code else ():
        optional = re.escape(name).replace(r"\.", r"\.\??")
        if any("?" in match[0] for match in re.finditer(rf"(?<![\w.]){optional}(?!\w)", code)):
            yield name
    for name in _DYNAMIC:
        if re.search(rf"(?<![\w.]){name}(?![\w.])", code):
            yield name


def reads_node_port(code: str, body: Body) -> bool:
    """Whether an expression reads ports that the server chooses."""
    is_open = map_at(body, "spec").get("type") in ("NodePort", "LoadBalancer")
    return is_open and body.get("kind") == "Service" and "nodePort" in code
