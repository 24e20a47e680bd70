"""An object as rules of a policy judge it, whether it is rendered, passed through or written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from msgspec import Struct

from renderer.check.finding import existing_origin
from renderer.diagnostics import Origin, Path
from renderer.kubernetes.json_values import as_map, map_at
from renderer.kubernetes.object_lists import own_fields
from renderer.plan import Body, Manifest
from renderer.yamlio import Document

Kind = tuple[str, str]  # API group and name
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
_POD_FIELDS = (*_CONTAINERS, "volumes", "hostNetwork", "hostPID")  # by which a pod is known in other kinds
# By API group and kind, where pods stand in what is rendered most; all other kinds are searched.
_POD_PATHS: Mapping[Kind, tuple[Path, ...]] = {
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        ("spec", "leaderWorkerTemplate", "leaderTemplate", "spec"),
        ("spec", "leaderWorkerTemplate", "workerTemplate", "spec"),
    ),
    ("apps", "Deployment"): (("spec", "template", "spec"),),
}
# Kinds without pods that are rendered most, or in which texts of others stand under any key.
PODLESS = frozenset(
    (
        *(("", kind) for kind in ("ConfigMap", "PersistentVolumeClaim", "Secret", "Service", "ServiceAccount")),
        *(("aigateway.envoyproxy.io", kind) for kind in ("AIGatewayRoute", "AIServiceBackend")),
        *(("gateway.envoyproxy.io", kind) for kind in ("Backend", "BackendTrafficPolicy", "SecurityPolicy")),
        ("autoscaling", "HorizontalPodAutoscaler"),
        ("policy", "PodDisruptionBudget"),
    )
)


class JudgedPod(Struct, frozen=True):
    """The spec of a pod in an object."""

    path: Path  # of the spec in the object
    spec: Mapping[str, object]

    def containers(self) -> Iterator[tuple[Path, Mapping[str, object]]]:
        """Its containers of all sorts, with their paths in the object."""
        for field in _CONTAINERS:
            for i, container in enumerate(_maps(self.spec.get(field))):
                yield (*self.path, field, i), container

    @property
    def is_whole(self) -> bool:
        """Whether this is a whole pod, and no part of one in a kind that adds the rest."""
        return any(field in self.spec for field in _CONTAINERS)


class LocatedImage(Struct, frozen=True):
    """An image in an object."""

    path: Path  # of the image in the object
    reference: str


class LocatedContext(Struct, frozen=True):
    """A security context of a pod or container in an object."""

    path: Path  # of the context in the object
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
        self.kind = kind_of(body)

    @property
    def namespace(self) -> str:
        """Its namespace; '' without one."""
        return namespace_of(self.body)

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
        if self.kind in PODLESS:
            return parts
        paths = _POD_PATHS.get(self.kind)
        for path in paths or ():
            if spec := map_at(self.body, *path):
                _add_pod(parts, JudgedPod(path, spec))
        if paths is None:
            _search(parts, own_fields(self.body), ())
        return parts


def judged_object(source: Manifest | Document, path: str | None) -> JudgedObject:
    """The object of a manifest, or of a document, whose fields are located in what made them, or what is nearest above
    them there.
    """
    if isinstance(source, Manifest):
        return JudgedObject(source.body, lambda field: existing_origin(source.origin(field)), path)
    body = source.value if isinstance(source.value, dict) else {}
    return JudgedObject(body, lambda field: existing_origin(source.origin(*field)), path)


def namespace_of(body: Body) -> str:
    """The namespace of an object; '' without one."""
    metadata = body.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    return namespace if isinstance(namespace, str) else ""


def kind_of(body: Body) -> Kind:
    """The API group and kind of an object; '' for the core group."""
    return _kind(str(body.get("apiVersion")), str(body.get("kind")))


@lru_cache(maxsize=256)
def _kind(version: str, kind: str) -> Kind:
    return version.rpartition("/")[0], kind


def _add_pod(parts: _Parts, pod: JudgedPod) -> None:
    """Adds a pod of a known kind with its images and contexts."""
    parts.pods.append(pod)
    _add_context(parts, pod.spec, pod.path)
    for path, container in pod.containers():
        _add_image(parts, container, path)
        _add_context(parts, container, path)
    for i, volume in enumerate(_maps(pod.spec.get("volumes"))):
        if "image" in volume:
            _add_image(parts, volume, (*pod.path, "volumes", i))


def _maps(value: object) -> Sequence[Mapping[str, object]]:
    """The items of a list, an empty map in the place of each that is none."""
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else ()


def _add_context(parts: _Parts, value: Mapping[str, object], path: Path) -> None:
    """Adds the security context of a pod or container."""
    if isinstance(context := value.get("securityContext"), dict):
        parts.contexts.append(LocatedContext((*path, "securityContext"), context))


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
        _add_context(parts, value, path)
        _add_image(parts, value, path)
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if isinstance(item, (dict, list)):
            _search(parts, item, (*path, key))


def has_parts(kind: Kind) -> bool:
    """Whether objects of the kind may have pods, images or security contexts."""
    return kind not in PODLESS
