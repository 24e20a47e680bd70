"""What a policy may read and only the server knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from renderer.admission.matching import CreateRequest
from renderer.admission.server_view import is_own_kind
from renderer.cel.reads import ANY, ReadPath
from renderer.kubernetes.json_values import map_at
from renderer.plan import Body

REQUEST_FIELDS: Final = frozenset(
    {
        "kind", "resource", "subResource", "requestKind", "requestResource", "requestSubResource", "name", "namespace",
        "operation", "userInfo", "dryRun", "options",
    }
)  # fmt: skip
_WHO: Final = "who creates an object"
_SERVER: Final = "the server sets it"
_SET: Final = ("uid", "creationTimestamp", "managedFields", "generation")  # in the metadata of each object
_STORED: Final = ("resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds")  # of one that exists
_OF_NAMESPACES: Final = ("UID", *_SET, *_STORED)
_JOB_LABELS: Final = ("controller-uid", "job-name")

ALWAYS: Final[Mapping[ReadPath, str]] = {
    ("authorizer",): "who may do what",
    ("request", "userInfo"): _WHO,
    ("request", "dryRun"): "whether it is a dry run",
    ("request", "options"): "the options of the request",
    **{("object", "metadata", field): _SERVER for field in _SET},
    **{("namespaceObject", "metadata", field): _SERVER for field in _OF_NAMESPACES},
    ("namespaceObject", "status", "conditions"): _SERVER,
    **{("params", "metadata", field): _SERVER for field in (*_SET, *_STORED)},
    ("params", "status"): _SERVER,
}
"""What has no value, each with the reason."""
_WHERE_MISSING: Final[Mapping[str, tuple[str, ...]]] = {
    "v1/Service": (
        "spec.clusterIP",
        "spec.clusterIPs",
        "spec.ipFamilies",
        "spec.ipFamilyPolicy",
        "spec.healthCheckNodePort",
    ),
    "v1/PersistentVolumeClaim": ("spec.storageClassName", "metadata.finalizers"),
    "v1/PersistentVolume": ("metadata.finalizers",),
    "v1/Pod": (
        "spec.serviceAccountName",
        "spec.serviceAccount",
        "spec.imagePullSecrets",
        "spec.tolerations",
        "spec.priority",
        "spec.priorityClassName",
        "spec.preemptionPolicy",
        "spec.volumes",
        "spec.containers.*.volumeMounts",
        "spec.initContainers.*.volumeMounts",
    ),
    "batch/v1/Job": ("spec.selector", "spec.template.metadata.labels"),
    "networking.k8s.io/v1/Ingress": ("spec.ingressClassName",),
}
"""By kind, the fields that the server or a plugin of it fills in where they are missing."""
_REPLACED: Final[Mapping[str, tuple[str, ...]]] = {
    "v1/Pod": ("status",),
    "v1/PersistentVolume": ("status",),
    "certificates.k8s.io/v1/CertificateSigningRequest": ("spec.username", "spec.uid", "spec.groups", "spec.extra"),
}
"""By kind, the fields that it sets whatever a manifest says."""
_PORTS: Final = ("spec", "ports", ANY, "nodePort")
_LABELS: Final = ("spec", "template", "metadata", "labels")


def unknown_names(request: CreateRequest) -> Mapping[ReadPath, str]:
    """What an expression may read and has no value here, with the reason, for this object."""
    names = {**ALWAYS, **{("object", *path): _SERVER for path in _of_kind(request.body)}}
    if "status" in request.body and not is_own_kind(request.body):
        names["object", "status"] = "whether the server keeps it"
    if not request.name:
        names["object", "metadata", "name"] = names["request", "name"] = "the server makes the name"
    if request.is_namespace_unknown:
        for path in (("object", "metadata", "namespace"), ("request", "namespace"), ("namespaceObject",)):
            names[path] = "the object names no namespace"
    return names


def _of_kind(body: Body) -> Iterator[ReadPath]:
    """What the server sets in an object of this kind."""
    kind = f"{body.get('apiVersion')}/{body.get('kind')}"
    for field in _REPLACED.get(kind, ()):
        yield tuple(field.split("."))
    for field in _WHERE_MISSING.get(kind, ()):
        path = tuple(field.split("."))
        if _is_missing(body, path):
            yield path
    if kind == "v1/Service" and map_at(body, "spec").get("type") in ("NodePort", "LoadBalancer"):
        yield from [_PORTS] if _is_missing(body, _PORTS) else ()
    if kind == "batch/v1/Job" and not map_at(body, "spec").get("manualSelector"):
        for label in _JOB_LABELS:
            yield from ((*_LABELS, label), (*_LABELS, f"batch.kubernetes.io/{label}"))


def _is_missing(value: object, path: ReadPath) -> bool:
    """Whether a field has no value, for lists in one of their items."""
    if not path:
        return value is None
    if path[0] == ANY:
        return isinstance(value, list) and any(_is_missing(item, path[1:]) for item in value)
    return not isinstance(value, dict) or _is_missing(value.get(path[0]), path[1:])


def shown_name(path: ReadPath) -> str:
    """A path as messages have it."""
    return ".".join(path).replace(f".{ANY}", "[]")
