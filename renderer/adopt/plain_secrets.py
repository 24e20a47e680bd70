"""Secrets that stand as plain text in the pods of a source: they are told, and not taken over."""

from __future__ import annotations

from typing import Any

from renderer.adopt.template_origins import TemplateOrigins
from renderer.diagnostics import Collector, Origin, Path, Stop
from renderer.secrets.detection import find_secrets, find_url_secrets, hide_in_text
from renderer.secrets.names import is_literal_secret


def remove_secrets(pod: dict[str, Any], path: Path, origins: TemplateOrigins, diagnostics: Collector) -> None:
    """Takes secrets out of the environments and command lines of a pod, whose spec is at `path` of a template."""
    for group in ("initContainers", "containers"):
        for i, container in enumerate(pod.get(group) or ()):
            place = (*path, group, i)
            _remove_variables(container, place, origins, diagnostics)
            for field in ("command", "args"):
                if words := container.get(field):
                    container[field] = _without_secrets(words, (*place, field), origins, diagnostics)


def _remove_variables(container: dict[str, Any], place: Path, origins: TemplateOrigins, diagnostics: Collector) -> None:
    env = container.get("env") or []
    secrets = [i for i, item in enumerate(env) if _holds_secret(item.get("name"), item.get("value"))]
    for i in reversed(secrets):
        tell_secret(origins((*place, "env", i)).at("value"), env[i]["name"], diagnostics)
        origins.remove_item((*place, "env"), i, len(env))
        del env[i]


def _holds_secret(name: object, value: object) -> bool:
    """Whether a variable is a secret by its name, or by what its value looks like."""
    return is_literal_secret(name, value) or (isinstance(value, str) and hide_in_text(value) != value)


def _without_secrets(words: list[Any], place: Path, origins: TemplateOrigins, diagnostics: Collector) -> list[Any]:
    """The words without those that are secrets, and without the options that such words are the values of."""
    remaining = [*words]
    removed: set[int] = set()
    for secret in find_secrets(words):
        tell_secret(origins((*place, secret.index)), secret.name, diagnostics)
        removed.add(secret.index)
        if words[secret.index] == secret.value and secret.index and words[secret.index - 1] == secret.name:
            removed.add(secret.index - 1)
    for i, word in enumerate(words):
        if i not in removed and isinstance(word, str) and (hidden := hide_in_text(word)) != word:
            tell_secret(origins((*place, i)), "", diagnostics)
            remaining[i] = hidden
    for i in sorted(removed, reverse=True):
        origins.remove_item(place, i, len(remaining))
        del remaining[i]
    return remaining


def tell_secret(origin: Origin, name: str, diagnostics: Collector) -> None:
    """Tells that a field holds a secret. `name`: of its variable or option, '' where it has none."""
    diagnostics.add("W967", origin, what=f"the secret {name}".strip())


def tell_secret_address(address: str, origin: Origin, diagnostics: Collector) -> None:
    """Tells that the address of a model holds a secret, if it does. Raises Stop then: there is no model without it."""
    if find_url_secrets(address):
        tell_secret(origin, "in this address", diagnostics)
        raise Stop
