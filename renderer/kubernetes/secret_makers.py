"""Objects of which a controller makes a Secret."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from renderer.kubernetes.json_values import as_map, map_at, maps_at, text_at

# Each kind with where it names the Secret; by default that has the object's own name.
_NAMES: Final = {
    "ExternalSecret": ("spec", "target", "name"),
    "SealedSecret": ("spec", "template", "metadata", "name"),
    "Certificate": ("spec", "secretName"),
    "VaultStaticSecret": ("spec", "destination", "name"),
    "VaultDynamicSecret": ("spec", "destination", "name"),
    "OnePasswordItem": ("metadata", "name"),
}
SECRET_MAKERS: Final = tuple(_NAMES)
"""Their kinds."""


def made_secret(value: object) -> str:
    """The name of the Secret that is made of an object; '' for an object of another kind."""
    names = _NAMES.get(text_at(value, "kind"))
    return (text_at(value, *names) or text_at(value, "metadata", "name")) if names else ""


class SecretContents(Struct, frozen=True):
    """What is known of a Secret."""

    type: str
    keys: frozenset[str] | None  # None where they are not known


_OPAQUE: Final = "Opaque"
_PATCHES: Final = "sealedsecrets.bitnami.com/patch"  # an annotation: the keys are added to a Secret that is there


def secret_contents(value: object) -> SecretContents | None:
    """The type and keys of a Secret, or of the one that is made of an object; None where that does not tell them.

    Sources: external-secrets 0.20 (apis/externalsecrets/v1: target.template, by default with mergePolicy Replace);
    sealed-secrets 0.32 (pkg/apis/sealedsecrets/v1alpha1: Unseal).
    """
    kind = text_at(value, "kind")
    if kind == "Secret":
        keys = frozenset((*map_at(value, "data"), *map_at(value, "stringData")))
        return SecretContents(text_at(value, "type") or _OPAQUE, keys or None)
    if kind == "SealedSecret":
        patches = text_at(value, "metadata", "annotations", _PATCHES) == "true"
        keys = frozenset((*map_at(value, "spec", "encryptedData"), *map_at(value, "spec", "template", "data")))
        known = SecretContents(text_at(value, "spec", "template", "type") or _OPAQUE, keys or None)
        return None if patches or "data" in map_at(value, "spec") else known
    return _external_contents(map_at(value, "spec")) if kind == "ExternalSecret" else None


def _external_contents(spec: object) -> SecretContents | None:
    """Those of the Secret of an ExternalSecret with this spec."""
    target, template = map_at(spec, "target"), map_at(spec, "target", "template")
    if text_at(target, "creationPolicy") in ("Merge", "None"):
        return None
    fetched = None if "dataFrom" in as_map(spec) else {text_at(entry, "secretKey") for entry in maps_at(spec, "data")}
    keys: set[str] | None = {*map_at(template, "data")}
    if "templateFrom" in template:
        keys = None
    elif not keys or text_at(template, "mergePolicy") == "Merge":
        keys = None if fetched is None else fetched | {*map_at(template, "data")}
    return SecretContents(text_at(template, "type") or _OPAQUE, frozenset(keys) if keys else None)
