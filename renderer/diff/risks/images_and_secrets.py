"""Folders of the node, plaintext secrets and floating tags in pods."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diff.risks.kinds import ObjectPair, Risk, marked
from renderer.kubernetes.json_values import map_at, value_at
from renderer.resolve.kube.images import MOVING_TAG
from renderer.secrets.detection import find_secrets, find_url_secrets
from renderer.secrets.words import is_literal_secret

_NOT_WRITTEN = ("ENC[", "${", "<", "{{")


def pod_risks(pair: ObjectPair) -> Iterator[Risk]:
    """New hostPath volumes, plaintext secrets and floating tags."""
    if now := dict.fromkeys(_pod_findings(pair.after)):
        old = {(kind, word) for kind, word, _ in _pod_findings(pair.before)}
        yield from (Risk(kind, pair.key, what) for kind, word, what in now if (kind, word) not in old)


def _pod_findings(value: object) -> Iterator[tuple[str, str, str]]:
    """Kind, identity and message of every hostPath, plaintext secret and floating tag in a value, at any depth. The
    identity of a secret is its value, which never appears in the message.
    """
    if isinstance(value, dict):
        if value.get("kind") == "Secret":
            yield from _written_keys(value)
        if isinstance(path := value_at(value, "hostPath", "path"), str):
            yield "host-path", path, f"volume {marked(value.get('name', ''))} is {marked(path)} of the node"
        if is_literal_secret(value.get("name"), value.get("value")):
            name = value["name"]
            yield (
                "plaintext-secret",
                f"{name}={value['value']}",
                f"env {marked(name)} is written out",
            )
        elif isinstance(name := value.get("name"), str):
            for userinfo in find_url_secrets(value.get("value")):
                yield "plaintext-secret", f"{name}={userinfo}", f"env {marked(name)} holds a URL with a password"
        for field in ("image", "reference"):
            image = value.get(field)
            if isinstance(image, str) and "name" in value and is_floating(image):
                yield "floating-tag", image, f"{marked(image)} names no fixed image"
            elif field == "image" and isinstance(image, dict) and is_floating(str(image.get("reference", "1:1"))):
                yield "floating-tag", str(image["reference"]), f"{marked(image['reference'])} names no fixed image"
        for item in value.values():
            yield from _pod_findings(item)
    elif isinstance(value, list):
        for secret in find_secrets(value):
            yield "plaintext-secret", f"{secret.name}={secret.value}", f"option {marked(secret.name)} is written out"
        option = ""
        for item in value:
            if isinstance(item, str) and item.startswith("-"):
                option = item.partition("=")[0]
            for userinfo in find_url_secrets(item):
                what = f"option {marked(option)}" if option else "an argument"
                yield "plaintext-secret", f"{option}={userinfo}", f"{what} holds a URL with a password"
            yield from _pod_findings(item)


def _written_keys(secret: dict[str, object]) -> Iterator[tuple[str, str, str]]:
    """The keys of a Secret whose values stand in the manifest: neither encrypted, as by SOPS, nor filled in later."""
    for field in ("data", "stringData"):
        for key, value in map_at(secret, field).items():
            if isinstance(value, str) and value and not value.startswith(_NOT_WRITTEN):
                yield "plaintext-secret", f"{key}={value}", f"key {marked(key)} of the Secret is written out"


def is_floating(image: str) -> bool:
    """Whether the image reference can point to another image later: no digest, and a tag such as `latest` or none."""
    if "@" in image or not image:
        return False
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return not colon or bool(MOVING_TAG.match(tag))
