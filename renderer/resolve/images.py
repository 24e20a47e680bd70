"""Every image that we write, as RenderConfig wants it fetched."""

from __future__ import annotations

from renderer.api import Config


def reference(config: Config, image: str) -> str:
    """The image by RenderConfig's mirror and digest, where it has one for it; else as it is.

    A digest is looked up by the reference as written (`repository:tag`), before the mirror; the tag stays, for people.
    """
    digests, mirrors = config.get("images", "digests"), config.get("images", "mirrors")
    if not digests and not mirrors:
        return image
    digest = (digests or {}).get(image)
    if mirrors:
        head, slash, rest = image.partition("/")
        registry = head if slash and ("." in head or ":" in head or head == "localhost") else "docker.io"
        path = rest if registry == head else image if slash else f"library/{image}"
        if registry in mirrors:
            image = f"{mirrors[registry].rstrip('/')}/{path}"
    return f"{image}@{digest}" if digest and "@" not in image else image


def tagged(image: str, tag: str) -> str:
    """Image and tag as one reference; a tag that is a digest goes behind `@`."""
    return f"{image}@{tag}" if tag.startswith("sha256:") else f"{image}:{tag}" if tag else image
