"""Objects of which a controller makes a Secret."""

from __future__ import annotations

from typing import Final

from renderer.kubernetes.json_values import text_at

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
