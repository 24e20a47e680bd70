"""Images, wherever an object has them: of which registries they may be."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from renderer.api import RenderPolicy
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.objects import JudgedObject
from renderer.resolve.kube.images import is_image, split_image

REGISTRIES: Final = ("images", "registries")


def judge_images(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each image of no registry that is allowed, and of each text that is no image."""
    for image in judged.images:
        if not _allows_image(policy, image.text):
            words = {"image": image.text, "allowed": quoted_globs(policy.get(*REGISTRIES))}
            yield Denial("E815", judged.origin(image.path), REGISTRIES, words)


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
