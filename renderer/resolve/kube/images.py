"""Validates image references, and applies RenderConfig's mirrors and digests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from renderer.api import RenderConfig
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.kubernetes.json_values import map_at, text_at
from renderer.plan import Body

MOVING_TAG = re.compile(r"(?:latest|nightly|main|master|dev|edge|stable)\b|[^0-9]+$")
"""Matches tags that name another image from time to time."""
_HUB = "docker.io"
_HUBS = (_HUB, "index.docker.io")  # one registry
_LONGEST_PATH = 255  # characters, without the registry
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST = r"(?:[A-Za-z0-9]|[A-Za-z0-9][-A-Za-z0-9]*[A-Za-z0-9])"
# As kubelet and container runtimes parse it: the first part is a registry where it looks like a host.
_REPOSITORY = rf"(?:(?:{_HOST}(?:\.{_HOST})*|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?/)?{_PART}(?:/{_PART})*"
_DIGEST = r"(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128})"
_IDENTIFIER = re.compile(r"[0-9a-f]{64}")  # of an image that is in the runtime already
_TAG = r"\w[\w.-]{0,127}"
_FORMS = {
    "image": (
        rf"(?:{_REPOSITORY})(?::{_TAG})?(?:@{_DIGEST})?",
        "not an image reference",
        "write it as registry/repository:tag, the repository in small letters",
    ),
    "repository": (
        _REPOSITORY,
        "not an image repository",
        "write it as registry/repository, in small letters; the tag belongs under version",
    ),
    "tag": (
        rf"{_TAG}(?:@{_DIGEST})?|{_DIGEST}",
        "not an image tag",
        "write the tag alone, as v1.2.3: letters, digits, '-', '_' and '.'; or a digest, as sha256:…",
    ),
}


def invalid_image(value: str, form: str, origin: Origin) -> Iterator[Diagnostic]:
    """An error for an invalid value. `form`: `image`, `repository` (an image without its tag) or `tag`."""
    if not _is_valid(value, form):
        _, problem, hint = _FORMS[form]
        yield make_diagnostic("E298", origin, value=value, what=problem, hint=hint)


def invalid_volumes(volumes: Sequence[Body], origin: Origin) -> Iterator[Diagnostic]:
    """An error for each volume that is an image and names an invalid one."""
    for i, volume in enumerate(volumes):
        if reference := text_at(volume, "image", "reference"):
            yield from invalid_image(reference, "image", origin.at(i, "image", "reference"))


def volume_references(config: RenderConfig, volumes: Sequence[Body]) -> list[Body]:
    """The volumes; of images with RenderConfig's mirror and digest applied."""
    return [
        {**volume, "image": {**map_at(volume, "image"), "reference": image_reference(config, reference)}}
        if (reference := text_at(volume, "image", "reference"))
        else volume
        for volume in volumes
    ]


def is_image(reference: str) -> bool:
    """Whether container runtimes take the text for an image."""
    if not _is_valid(reference, "image") or _IDENTIFIER.fullmatch(reference):
        return False
    return len(split_tag(split_image(reference)[1])[0]) <= _LONGEST_PATH


@lru_cache(maxsize=4096)
def _is_valid(value: str, form: str) -> bool:
    return bool(re.fullmatch(_FORMS[form][0], value, re.ASCII))


def image_reference(config: RenderConfig, image: str) -> str:
    """The image with RenderConfig's mirror and digest applied.

    Digests are keyed by the original reference: `repository:tag`, with its registry unless that is Docker Hub. The tag
    stays, for readers.
    """
    if not config.get("images"):
        return image
    digests, mirrors = config.get("images", "digests"), config.get("images", "mirrors")
    registry, path = split_image(image)
    digest = _find_digest(digests, registry, path) if digests and "@" not in image else ""
    mirror = next((mirrors[name] for name in _registry_names(registry) if name in mirrors), "") if mirrors else ""
    if mirror:
        image = f"{mirror.rstrip('/')}/{path}"
    return f"{image}@{digest}" if digest else image


def original_image(config: RenderConfig, image: str) -> str:
    """The image that a reference to one of RenderConfig's mirrors stands for; other references as they are."""
    for registry, mirror in (config.get("images", "mirrors") or {}).items():
        prefix = f"{mirror.rstrip('/')}/"
        if image.startswith(prefix):
            return f"{registry}/{image.removeprefix(prefix)}"
    return image


def split_tag(image: str) -> tuple[str, str]:
    """Repository and tag of an image, the tag '' without one; a digest is left out."""
    name = image.partition("@")[0]
    repository, colon, tag = name.rpartition(":")
    return (repository, tag) if colon and "/" not in tag else (name, "")


def split_image(image: str) -> tuple[str, str]:
    """Registry and path; on Docker Hub with the implicit `library/`."""
    first, slash, rest = image.partition("/")
    if (
        slash
        and first not in _HUBS
        and ("." in first or ":" in first or first == "localhost" or first != first.lower())
    ):
        return first, rest
    path = rest if slash and first in _HUBS else image
    return _HUB, path if "/" in path else f"library/{path}"


def _registry_names(registry: str) -> tuple[str, ...]:
    return _HUBS if registry == _HUB else (registry,)


def _find_digest(digests: Mapping[str, str], registry: str, path: str) -> str:
    """The digest of an image under any spelling of its key; '' without one."""
    return next((digests[key] for key in _digest_keys(registry, path) if key in digests), "")


def _digest_keys(registry: str, path: str) -> Iterator[str]:
    if registry != _HUB:
        yield f"{registry}/{path}"
        return
    for spelling in (path, path.removeprefix("library/")):
        yield spelling
        yield from (f"{hub}/{spelling}" for hub in _HUBS)


def with_tag(image: str, tag: str) -> str:
    """The reference of image and tag, which may be a digest or ''."""
    return f"{image}@{tag}" if tag.startswith("sha256:") else f"{image}:{tag}" if tag else image
