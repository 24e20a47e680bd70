"""An object as rules of a policy judge it, whether it is rendered, passed through or written by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias

from msgspec import Struct

from renderer.check.finding import existing_origin
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import pod_parts
from renderer.kubernetes.json_values import find, text_at
from renderer.kubernetes.object_lists import own_fields
from renderer.kubernetes.pod_parts import ACCOUNTS, DefinedKind
from renderer.kubernetes.workloads import CONTAINERS, WORKLOADS, Kind, containers, kind_of, maps_in, pod_templates
from renderer.plan import Body, Manifest
from renderer.yamlio import Document, read_nested_texts

_POD_FIELDS = (*CONTAINERS, "volumes", "hostNetwork", "hostPID")  # by which a pod is known in other kinds
_IMAGE_FIELDS = ("Image", "modelPuller")  # ends of the names of fields with an image; the second is NIMCache's
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
Definitions: TypeAlias = Mapping[Kind, DefinedKind]  # of CRDs that lie in the tree, by the kind that each defines
NO_DEFINITIONS: Final[Definitions] = {}


class JudgedPod(Struct, frozen=True):
    """The spec of a pod in an object, or a part of one."""

    path: Path  # of the spec in the object
    spec: Mapping[str, object]
    is_whole: bool  # a whole pod, which has what Kubernetes gives where a field is missing
    is_known: bool = True  # of a kind whose pods are Kubernetes' own PodSpecs

    def containers(self) -> Iterator[tuple[Path, Mapping[str, object]]]:
        """Its containers of all sorts, with their paths in the object."""
        return (((*self.path, *path), container) for path, container in containers(self.spec))

    def accounts(self) -> list[tuple[Path, str]]:
        """The service accounts that it may run as, with their paths: as Kubernetes converts PodSpecs the new name where
        it is not empty, else the old one, and in other kinds each, since their controllers may read any.
        """
        fields = [field for field in ACCOUNTS if field in self.spec]
        named: list[tuple[Path, str]]
        named = [((*self.path, field), text) for field in fields if (text := text_at(self.spec, field))]
        if named:
            return named[:1] if self.is_known else named
        return [((*self.path, *fields[:1]), "default")] if self.is_whole else []


class LocatedText(Struct, frozen=True):
    """A text in an object, such as an image or a folder of nodes."""

    path: Path  # of the text in the object
    text: str


class LocatedContext(Struct, frozen=True):
    """A security context of a pod or container in an object."""

    path: Path  # of the context in the object
    context: Mapping[str, object]


class _Parts(Struct):
    """What an object consists of, as far as rules ask."""

    pods: list[JudgedPod]
    images: list[LocatedText]
    folders: list[LocatedText]
    contexts: list[LocatedContext]


class JudgedObject:
    """An object, the place of its fields, and the input file that makes it, as the policy's globs are about it (None:
    of no single file).
    """

    def __init__(
        self,
        body: Body,
        origin: Callable[[Path], Origin],
        path: str | None,
        definitions: Definitions = NO_DEFINITIONS,
        *,
        has_unread_text: bool = False,
    ) -> None:
        self.body, self.origin, self.path = body, origin, path
        self.kind = kind_of(body)
        self.has_unread_text = has_unread_text  # which should be the YAML of an object
        self._definitions = definitions

    @property
    def namespace(self) -> str:
        """Its namespace; '' without one."""
        return namespace_of(self.body)

    @property
    def pods(self) -> list[JudgedPod]:
        """The pods in it."""
        return self._parts.pods

    @property
    def images(self) -> list[LocatedText]:
        """The images in it: of containers, of volumes, and whatever else a kind calls its image."""
        return self._parts.images

    @property
    def folders(self) -> list[LocatedText]:
        """The folders of nodes that its pods mount."""
        return self._parts.folders

    @property
    def contexts(self) -> list[LocatedContext]:
        """The security contexts in it."""
        return self._parts.contexts

    @property
    def is_seen(self) -> bool:
        """Whether there is a pod or a part of one in it."""
        parts = self._parts
        return bool(parts.pods or parts.images or parts.folders or parts.contexts)

    @cached_property
    def _parts(self) -> _Parts:
        parts = _Parts([], [], [], [])
        if not has_parts(self.kind):
            return parts
        workload = WORKLOADS.get(self.kind)
        if workload is None or workload.has_other_parts:
            self._search(parts)
            return parts
        for template in pod_templates(self.body):
            if isinstance(template.body.get("spec"), dict):
                _add_pod(parts, JudgedPod((*template.path, "spec"), template.spec, is_whole=True))
        return parts

    def _search(self, parts: _Parts) -> None:
        """Adds what lies where the kind is known to have parts of pods, and what looks like one anywhere else."""
        known, defined = pod_parts.pod_parts(self.kind), self._definitions.get(self.kind)
        content = {key: value for key, value in self.body.items() if key != "metadata"}  # which has no pod in any kind
        if isinstance(items := content.get("items"), list):  # lists among them are judged by themselves as well
            content["items"] = [own_fields(item) for item in items]
        _search(parts, content, is_known=known is not None)
        pods = {pod.path: pod for pod in parts.pods}
        for place in known or (defined.parts if defined else ()):
            for path, spec in find(content, place.pattern):
                if isinstance(spec, dict):
                    is_whole = place.is_whole or (path in pods and pods[path].is_whole)
                    pods[path] = JudgedPod(path, spec, is_whole, is_known=False)
                    parts.contexts += [LocatedContext(path, spec)] if "userID" in spec else ()
        parts.pods = [*pods.values()]


def judged_object(
    source: Manifest | Document, path: str | None, definitions: Definitions = NO_DEFINITIONS
) -> JudgedObject:
    """The object of a manifest, or of a document, whose fields are located in what made them, or what is nearest above
    them there.
    """
    if isinstance(source, Manifest):
        return JudgedObject(source.body, lambda field: existing_origin(source.origin(field)), path)
    body = source.value if isinstance(source.value, dict) else {}
    document, problems = _with_texts(source, body)
    return JudgedObject(
        document.value if body else body,
        lambda field: existing_origin(document.origin(*field)),
        path,
        definitions,
        has_unread_text=bool(problems),
    )


def _with_texts(document: Document, body: Body) -> tuple[Document, Sequence[object]]:
    """The document with the YAML of objects in the place of texts that hold it, and the problems of that YAML."""
    patterns = pod_parts.yaml_texts(kind_of(body))
    paths = [path for pattern in patterns for path, text in find(body, pattern) if isinstance(text, str)]
    return read_nested_texts(document, paths) if paths else (document, ())


def namespace_of(body: Body) -> str:
    """The namespace of an object; '' without one."""
    metadata = body.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    return namespace if isinstance(namespace, str) else ""


def _add_pod(parts: _Parts, pod: JudgedPod) -> None:
    """Adds a pod of a known kind with its images, folders and contexts."""
    parts.pods.append(pod)
    _add_contexts(parts, pod.spec, pod.path)
    for path, container in pod.containers():
        _add_image(parts, container, path, is_known=False)
        _add_contexts(parts, container, path)
    for i, volume in enumerate(_maps(pod.spec.get("volumes"))):
        if "image" in volume or "hostPath" in volume:
            _add_image(parts, volume, (*pod.path, "volumes", i), is_known=False)
            _add_folder(parts, volume, (*pod.path, "volumes", i))


def _maps(value: object) -> Sequence[Mapping[str, object]]:
    """The items of a list, an empty map in the place of each that is none."""
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else ()


def _add_contexts(parts: _Parts, value: Mapping[str, object], path: Path) -> None:
    """Adds the security context of a pod or container."""
    if isinstance(context := value.get("securityContext"), dict):
        parts.contexts.append(LocatedContext((*path, "securityContext"), context))


def _add_folder(parts: _Parts, value: Mapping[str, object], path: Path) -> None:
    """Adds the folder of the node that a volume is; a volume whose `hostPath` is null is none."""
    source = value.get("hostPath")
    if isinstance(source, dict) and "path" in source:
        parts.folders.append(LocatedText((*path, "hostPath", "path"), text_at(source, "path")))
    elif isinstance(source, str) and source:
        parts.folders.append(LocatedText((*path, "hostPath"), source))


def _add_image(parts: _Parts, value: Mapping[str, object], path: Path, *, is_known: bool) -> None:
    """Adds the image of a container, or that of a volume; `is_known`: of a kind that has images as repository and tag,
    on Docker Hub unless the repository says another registry.
    """
    image = value.get("image")
    if isinstance(image, str):
        if image:  # an empty one is filled in by whoever makes the pod
            parts.images.append(LocatedText((*path, "image"), image))
    elif isinstance(image, dict):
        if reference := text_at(image, "reference"):
            parts.images.append(LocatedText((*path, "image", "reference"), reference))
        field, reference = _composed_image(image)
        if reference and (is_known or _names_registry(reference)):
            parts.images.append(LocatedText((*path, "image", field), reference))


def _names_registry(reference: str) -> bool:
    """Whether an image says its registry, so that no other one is put before it."""
    first, slash, _ = reference.partition("/")
    return bool(slash) and ("." in first or ":" in first or first == "localhost")


def _composed_image(image: Mapping[str, object]) -> tuple[str, str]:
    """The field with the name of an image that is written in parts, and its whole reference; '' where it has none."""
    field = next((field for field in ("repository", "name") if text_at(image, field)), "")
    registry, tag, digest = text_at(image, "registry"), image.get("tag"), text_at(image, "digest")
    if not field or not (field == "repository" or registry):
        return "", ""
    name = f"{registry.rstrip('/')}/{text_at(image, field)}" if registry else text_at(image, field)
    tagged = f"{name}:{tag}" if tag not in (None, "") else name
    return field, f"{tagged}@{digest}" if digest else tagged


def _search(parts: _Parts, content: Mapping[str, object], *, is_known: bool) -> None:
    """Adds what looks like a pod, an image, a folder of a node or a security context anywhere in an object."""
    for path, value in maps_in(content):
        if any(field in value for field in _POD_FIELDS):
            is_whole = any(value.get(field) is not None for field in CONTAINERS)
            parts.pods.append(JudgedPod(path, value, is_whole, is_known=False))
        _add_image(parts, value, path, is_known=is_known)
        _add_folder(parts, value, path)
        for key, item in value.items():
            if isinstance(item, dict) and str(key).endswith("ecurityContext"):
                parts.contexts.append(LocatedContext((*path, key), item))
            elif is_known and isinstance(item, str) and item and str(key).endswith(_IMAGE_FIELDS):
                parts.images.append(LocatedText((*path, key), item))


def has_parts(kind: Kind) -> bool:
    """Whether objects of the kind may have pods, images or security contexts."""
    return kind not in PODLESS and kind[0] not in pod_parts.PODLESS_GROUPS
