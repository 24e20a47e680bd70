"""API keys of engines that stand as plain text in a pod: its containers get them from a Secret in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final, TypeAlias

from msgspec import Struct

from renderer.adopt.free_names import FreeNames
from renderer.adopt.operator_releases import default_backend
from renderer.adopt.plain_secrets import without_secrets
from renderer.diagnostics import Collector, NamedSource, Origin, Path
from renderer.engines.handwritten_command import Word, read_engine_command, table_entry
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at
from renderer.kubernetes.template_origins import TemplateOrigins
from renderer.kubernetes.workloads import containers
from renderer.secrets.detection import find_secrets
from renderer.secrets.words import is_literal_secret
from renderer.yamlio import Document

Body: TypeAlias = dict[str, Any]
_SUFFIX: Final = "-api-key"
_KEY: Final = "api-key"
_VARIABLE: Final = "API_KEY"  # of an engine that reads none by itself
_LINES: Final = ("command", "args")
_CONFIG: Final[Path] = ("spec", "backendRuntimeConfig")
_NOWHERE: Final = Origin(NamedSource(""))  # of words that no message names


class KeyedContainer(Struct):
    """A container that may have a key."""

    body: Body  # a copy, which is changed
    path: Path
    entry: Mapping[str, Any]  # what presets/engine_commands.yaml says of its engine; {} for another program
    variables: str = "env"  # the field with its variables


class _Occurrence(Struct, frozen=True):
    """A key in plain text."""

    value: str
    name: str  # of the option or variable
    path: Path


def refer_to_secret(
    pod: Body, app: tuple[str, str], origins: TemplateOrigins, diagnostics: Collector, path: Path
) -> None:
    """Lets the containers of the spec of a pod, which is at `path` of a template and is changed, take the keys of their
    engines from a Secret, which is told. `app`: its namespace and name.
    """
    keyed_containers = [
        KeyedContainer(body, (*path, *place), table_entry(backend) if (backend := _backend(body)) else {})
        for place, body in containers(pod)
    ]
    _refer_containers(keyed_containers, app, origins, diagnostics)


def plain_app(document: Document, diagnostics: Collector) -> Body:
    """An object of llmaz's own API without its secrets, with references in the place of its engine's keys."""
    body, origins, config = deepcopy(dict(document.value)), TemplateOrigins(document.origin()), _CONFIG
    origins.copy((), document.origin())
    if settings := map_at(body, *config):
        backend = text_at(settings, "backendName") or default_backend()
        app = text_at(body, "metadata", "namespace"), text_at(body, "metadata", "name")
        container = KeyedContainer(dict(settings), config, table_entry(backend), "envs")
        _refer_containers([container], app, origins, diagnostics)
        body["spec"]["backendRuntimeConfig"] = container.body
    return without_secrets(body, origins, diagnostics)


def _refer_containers(
    keyed_containers: Sequence[KeyedContainer], app: tuple[str, str], origins: TemplateOrigins, diagnostics: Collector
) -> None:
    """Likewise for containers of an app."""
    occurrences = [occurrence for container in keyed_containers for occurrence in _occurrences(container)]
    if not occurrences:
        return
    namespace, name = app
    keys: dict[str, str] = {}  # of the Secret, by their values
    for occurrence in occurrences:
        keys.setdefault(occurrence.value, f"{_KEY}-{len(keys) + 1}" if keys else _KEY)
    secret = name + _SUFFIX
    literals = " ".join(f"--from-literal={key}=KEY" for key in keys.values())
    command = f"kubectl create secret generic {secret}{f' -n {namespace}' if namespace else ''} {literals}"
    first = occurrences[0]
    diagnostics.add("N951", origins(first.path), what=first.name, name=secret, command=command)
    for container in keyed_containers:
        _refer(container, secret, keys, origins)


def _backend(container: Mapping[str, Any]) -> str:
    """The preset of the engine that a container starts; '' for another program."""
    command, args = ([Word(str(word), _NOWHERE) for word in list_at(container, field)] for field in _LINES)
    return read_engine_command(command, args, text_at(container, "image")).backend


def _occurrences(container: KeyedContainer) -> Iterator[_Occurrence]:
    options, variables = (container.entry.get(field) or () for field in ("apiKey", "apiKeyVariables"))
    for i, variable in enumerate(maps_at(container.body, container.variables)):
        name, value = text_at(variable, "name"), text_at(variable, "value")
        if name in variables and is_literal_secret(name, value):
            yield _Occurrence(value, name, (*container.path, container.variables, i, "value"))
    for field in _LINES if options else ():
        words = list_at(container.body, field)
        for secret in find_secrets(words):
            if secret.name.replace("_", "-") in options:
                yield _Occurrence(secret.value, secret.name, (*container.path, field, secret.index))
        script = re.compile(rf"({'|'.join(map(re.escape, options))})(?:=|\s+)[\"']?([^\s\"'$;&|]+)")
        for i, word in enumerate(words):
            for match in script.finditer(str(word)) if " " in str(word) else ():
                yield _Occurrence(match[2], match[1], (*container.path, field, i))


def _refer(container: KeyedContainer, secret: str, keys: Mapping[str, str], origins: TemplateOrigins) -> None:
    """Writes references in the place of all values of keys in a container."""
    body, field = container.body, container.variables
    variables = maps_at(body, field)
    names: dict[str, str] = {}  # of variables, by the values that they hold
    for i, variable in enumerate(variables):
        if (value := text_at(variable, "value")) in keys:
            names.setdefault(value, text_at(variable, "name"))
            variables[i] = {"name": variable["name"], "valueFrom": _reference(secret, keys[value])}
    usual = next(iter(container.entry.get("apiKeyVariables") or ()), _VARIABLE) if len(keys) == 1 else _VARIABLE
    free = FreeNames(text_at(variable, "name") for variable in variables)
    for line in _LINES:
        for i, word in enumerate(list_at(body, line)):
            for value, key in keys.items():
                pattern = re.compile(rf"(?<![\w.-]){re.escape(value)}(?![\w.-])")
                if not isinstance(word, str) or not pattern.search(word):
                    continue
                if value not in names:
                    names[value] = free.take(usual).replace("-", "_")
                    origins.make((*container.path, field, len(variables)), origins((*container.path, line, i)))
                    variables.append({"name": names[value], "valueFrom": _reference(secret, key)})
                is_script = container.entry and any(map(str.isspace, word))  # which its shell fills in
                word = pattern.sub(f"${names[value]}" if is_script else f"$({names[value]})", word)
            body[line][i] = word
    if variables:
        body[field] = variables


def _reference(secret: str, key: str) -> Body:
    return {"secretKeyRef": {"name": secret, "key": key}}
