"""Every image that we write: whether it is a reference at all, and as RenderConfig wants it fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from renderer.api import RenderConfig
from renderer.diagnostics import Collector, Origin

_HUB = "docker.io"
_HUBS = (_HUB, "index.docker.io")  # one registry
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_HOST = r"(?:[A-Za-z0-9]|[A-Za-z0-9][-A-Za-z0-9]*[A-Za-z0-9])"
# As kubelet and the runtimes read it: the first part is a registry where it looks like a host.
_REPOSITORY = rf"(?:{_HOST}(?:\.{_HOST})*(?::[0-9]+)?/)?{_PART}(?:/{_PART})*"
_DIGEST = r"sha256:[0-9a-f]{64}"
_TAG = r"\w[\w.-]{0,127}"
_FORMS = {
    "image": (
        rf"(?:{_REPOSITORY})(?::{_TAG})?(?:@{_DIGEST})?",
        "no image reference",
        "write it as registry/repository:tag, the repository in small letters",
    ),
    "repository": (
        _REPOSITORY,
        "no repository of images",
        "write it as registry/repository, in small letters; the tag stands under version",
    ),
    "tag": (
        rf"{_TAG}(?:@{_DIGEST})?|{_DIGEST}",
        "no tag of an image",
        "write the tag alone, as v1.2.3: letters, digits, '-', '_' and '.'; or a digest, as sha256:…",
    ),
}


def validate_image(value: str, form: str, origin: Origin, diagnostics: Collector) -> None:
    """An error when the value is no `image`, no `repository` (an image without its tag), or no `tag`."""
    if not _fits(value, form):
        _, what, hint = _FORMS[form]
        diagnostics.add("E298", origin, value=value, what=what, hint=hint)


@lru_cache(maxsize=4096)
def _fits(value: str, form: str) -> bool:
    return bool(re.fullmatch(_FORMS[form][0], value, re.ASCII))


def reference(config: RenderConfig, image: str) -> str:
    """The image by RenderConfig's mirror and digest, where it has one for it; else as it is.

    A digest is looked up by the reference before the mirror (`repository:tag`, with its registry or without where that
    is Docker Hub's); the tag stays, for people.
    """
    if not config.get("images"):
        return image
    digests, mirrors = config.get("images", "digests"), config.get("images", "mirrors")
    registry, path = _parts(image)
    digest = _pinned(digests, registry, path) if digests and "@" not in image else ""
    mirror = next((mirrors[name] for name in _names(registry) if name in mirrors), "") if mirrors else ""
    if mirror:
        image = f"{mirror.rstrip('/')}/{path}"
    return f"{image}@{digest}" if digest else image


def _parts(image: str) -> tuple[str, str]:
    """Registry and path; those of Docker Hub in full, as its own registry has them."""
    head, slash, rest = image.partition("/")
    if slash and head not in _HUBS and ("." in head or ":" in head or head == "localhost" or head != head.lower()):
        return head, rest
    path = rest if slash and head in _HUBS else image
    return _HUB, path if "/" in path else f"library/{path}"


def _names(registry: str) -> tuple[str, ...]:
    return _HUBS if registry == _HUB else (registry,)


def _pinned(digests: Mapping[str, str], registry: str, path: str) -> str:
    """The digest of an image, however its key spells it; '' without one."""
    return next((digests[key] for key in _spellings(registry, path) if key in digests), "")


def _spellings(registry: str, path: str) -> Iterator[str]:
    if registry != _HUB:
        yield f"{registry}/{path}"
        return
    for spelling in (path, path.removeprefix("library/")):
        yield spelling
        yield from (f"{hub}/{spelling}" for hub in _HUBS)


def tagged(image: str, tag: str) -> str:
    """Image and tag as one reference; a tag that is a digest goes behind `@`."""
    return f"{image}@{tag}" if tag.startswith("sha256:") else f"{image}:{tag}" if tag else image
