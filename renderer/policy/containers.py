"""Images and security contexts, wherever an object has them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from renderer.api import RenderPolicy
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_map
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.loose_values import is_true, is_zero
from renderer.policy.objects import JudgedObject
from renderer.resolve.kube.images import is_image, split_image

REGISTRIES: Final = ("images", "registries")
PRIVILEGED: Final = ("pods", "privileged")
ROOT: Final = ("pods", "runAsRoot")
_USERS: Final = ("runAsUser", "userID")  # as Kubernetes calls it, and the operator of NIM


def judge_images(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each image of no registry that is allowed, and of each text that is no image."""
    for image in judged.images:
        if not _allows_image(policy, image.text):
            words = {"image": image.text, "allowed": quoted_globs(policy.get(*REGISTRIES))}
            yield Denial("E815", judged.origin(image.path), REGISTRIES, words)


def judge_privileged(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each privileged container; on Windows, of a process of the node."""
    for located in judged.contexts:
        field: Path = ("privileged",)
        if not is_true(located.context.get("privileged")):
            windows = located.context.get("windowsOptions")
            if not windows or not is_true(as_map(windows).get("hostProcess")):
                continue
            field = ("windowsOptions", "hostProcess")
        yield Denial("E823", judged.origin((*located.path, *field)), PRIVILEGED, {})


def judge_root(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each `runAsUser: 0`, of a pod or a container."""
    for located in judged.contexts:
        for field in _USERS:
            if field in located.context and is_zero(located.context[field]):
                yield Denial("E824", judged.origin((*located.path, field)), ROOT, {})


@cache
def _allows_image(policy: RenderPolicy, image: str) -> bool:
    """Whether this is an image of a registry, or of a path in one, that the policy lists; `x`, `library/x` and
    `docker.io/library/x` are one image.
    """
    if not is_image(image):
        return False
    registry, path = split_image(image)
    repository = path.partition("@")[0].partition(":")[0]
    place = f"{registry.lower()}/{repository}/"
    return any(place.startswith(prefix) for prefix in _prefixes(policy))


@cache
def _prefixes(policy: RenderPolicy) -> tuple[str, ...]:
    """The registries of the policy, each with a slash at its end."""
    prefixes = []
    for text in policy.get(*REGISTRIES):
        registry, _, path = text.rstrip("/").partition("/")
        registry = "docker.io" if registry.lower() == "index.docker.io" else registry.lower()
        prefixes.append(f"{registry}/{path}/" if path else f"{registry}/")
    return tuple(prefixes)
