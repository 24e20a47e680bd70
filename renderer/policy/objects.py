"""An object as rules of a policy judge it, whether it is rendered, passed through or written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache

from msgspec import Struct

from renderer.diagnostics import Origin, Path
from renderer.json_values import as_map, map_at, maps_at, text_at
from renderer.plan import Body
from renderer.yamlio import Document

_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_POD_FIELDS = (*_CONTAINERS, "volumes", "hostNetwork", "hostPID")  # by which a pod is known in other kinds
# By API group and kind, where pods stand in what is rendered most; all other kinds are searched.
_POD_PATHS: Mapping[tuple[str, str], tuple[Path, ...]] = {
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        ("spec", "leaderWorkerTemplate", "leaderTemplate", "spec"),
        ("spec", "leaderWorkerTemplate", "workerTemplate", "spec"),
    ),
    ("apps", "Deployment"): (("spec", "template", "spec"),),
}
# Kinds without pods that are rendered most, or in which texts of others stand under any key.
_PODLESS = frozenset(
    (
        *(("", kind) for kind in ("ConfigMap", "PersistentVolumeClaim", "Secret", "Service", "ServiceAccount")),
        *(("aigateway.envoyproxy.io", kind) for kind in ("AIGatewayRoute", "AIServiceBackend")),
        *(("gateway.envoyproxy.io", kind) for kind in ("Backend", "BackendTrafficPolicy", "SecurityPolicy")),
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("policy", "PodDisruptionBudget"),
    )
)


class JudgedPod(Struct, frozen=True):
    """The spec of a pod in an object, at `path`."""

    path: Path
    spec: Mapping[str, object]

    def containers(self) -> Iterator[tuple[Path, Mapping[str, object]]]:
        """Its containers of all sorts, with their paths in the object."""
        for field in _CONTAINERS:
            for i, container in enumerate(maps_at(self.spec, field)):
                yield (*self.path, field, i), container

    @property
    def is_whole(self) -> bool:
        """Whether this is a whole pod, and no part of one in a kind that adds the rest."""
        return any(field in self.spec for field in _CONTAINERS)


class LocatedImage(Struct, frozen=True):
    """An image in an object, at `path`."""

    path: Path
    reference: str


class LocatedContext(Struct, frozen=True):
    """A security context of a pod or container in an object, at `path`."""

    path: Path
    context: Mapping[str, object]


class _Parts(Struct):
    """What an object consists of, as far as rules ask."""

    pods: list[JudgedPod]
    images: list[LocatedImage]
    contexts: list[LocatedContext]


class JudgedObject:
    """An object, the place of its fields, and the input file that makes it, as the policy's globs are about it (None:
    of no single file).
    """

    def __init__(self, body: Body, origin: Callable[[Path], Origin], path: str | None) -> None:
        self.body, self.origin, self.path = body, origin, path
        self.namespace = text_at(body, "metadata", "namespace")
        self.kind = (group_of(str(body.get("apiVersion"))), str(body.get("kind")))

    @property
    def pods(self) -> list[JudgedPod]:
        """The pods in it."""
        return self._parts.pods

    @property
    def images(self) -> list[LocatedImage]:
        """The images in it: of containers, of volumes, and whatever else a kind calls its image."""
        return self._parts.images

    @property
    def contexts(self) -> list[LocatedContext]:
        """The security contexts in it."""
        return self._parts.contexts

    @cached_property
    def _parts(self) -> _Parts:
        parts = _Parts([], [], [])
        if self.kind in _PODLESS:
            return parts
        paths = _POD_PATHS.get(self.kind)
        for path in paths or ():
            if spec := map_at(self.body, *path):
                _add_pod(parts, JudgedPod(path, spec))
        if paths is None:
            _search(parts, self.body, ())
        return parts


@lru_cache(maxsize=256)
def group_of(version: str) -> str:
    """The API group of an apiVersion; '' for the core group."""
    return version.rpartition("/")[0]


def _add_pod(parts: _Parts, pod: JudgedPod) -> None:
    """Adds a pod of a known kind with its images and contexts."""
    parts.pods.append(pod)
    if "securityContext" in pod.spec:
        parts.contexts.append(LocatedContext((*pod.path, "securityContext"), map_at(pod.spec, "securityContext")))
    for path, container in pod.containers():
        _add_image(parts, container, path)
        if "securityContext" in container:
            parts.contexts.append(LocatedContext((*path, "securityContext"), map_at(container, "securityContext")))
    for i, volume in enumerate(maps_at(pod.spec, "volumes")):
        _add_image(parts, volume, (*pod.path, "volumes", i))


def _add_image(parts: _Parts, value: Mapping[str, object], path: Path) -> None:
    """Adds the image of a container, or that of a volume."""
    image = value.get("image")
    if isinstance(image, str):
        parts.images.append(LocatedImage((*path, "image"), image))
    elif isinstance(reference := as_map(image).get("reference"), str):
        parts.images.append(LocatedImage((*path, "image", "reference"), reference))


def _search(parts: _Parts, value: object, path: Path) -> None:
    """Adds what looks like a pod, an image or a security context anywhere in a value."""
    if isinstance(value, dict):
        if any(field in value for field in _POD_FIELDS):
            parts.pods.append(JudgedPod(path, value))
        if isinstance(context := value.get("securityContext"), dict):
            parts.contexts.append(LocatedContext((*path, "securityContext"), context))
        _add_image(parts, value, path)
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, (dict, list)):
            _search(parts, item, (*path, key))


def list_items(document: Document) -> Iterator[Document]:
    """The objects of a document: one, or the items of a list of any kind, which clients take apart."""
    items = document.value.get("items") if isinstance(document.value, dict) else None
    if isinstance(items, list) and text_at(document.value, "kind").endswith("List"):
        for item in document.parts("items"):
            yield from list_items(item)
    else:
        yield document
