"""`$(NAME)` in the command line of a container, which the kubelet fills in with its variables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at

_REFERENCE = r"\$\$|\$\(([A-Za-z_][\w.-]*)\)"  # two dollar signs are one for itself


ConfigMaps: TypeAlias = Mapping[str, Mapping[str, str]]
"""The data of ConfigMaps, by their names."""


def config_maps_by_namespace(bodies: Iterable[object]) -> dict[str, dict[str, dict[str, str]]]:
    """The ConfigMaps among some objects, by the namespace that they name, '' for none."""
    config_maps: dict[str, dict[str, dict[str, str]]] = {}
    for body in bodies:
        if text_at(body, "kind") == "ConfigMap":
            data = {key: value for key, value in map_at(body, "data").items() if isinstance(value, str)}
            namespace = config_maps.setdefault(text_at(body, "metadata", "namespace"), {})
            namespace[text_at(body, "metadata", "name")] = data
    return config_maps


def plain_variables(container: Mapping[str, Any], config_maps: ConfigMaps | None = None) -> dict[str, str]:
    """The variables of a container whose values stand there, or in a ConfigMap of its namespace that is known; each
    with those before it filled in.
    """
    variables: dict[str, str] = {}
    for source in maps_at(container, "envFrom"):
        data = (config_maps or {}).get(text_at(source, "configMapRef", "name"), {})
        variables |= {text_at(source, "prefix") + key: value for key, value in data.items()}
    for entry in maps_at(container, "env"):
        reference = map_at(entry, "valueFrom", "configMapKeyRef")
        data = (config_maps or {}).get(text_at(reference, "name"), {})
        if (value := data.get(text_at(reference, "key"))) is not None:
            variables[text_at(entry, "name")] = value
        elif "valueFrom" in entry:
            variables.pop(text_at(entry, "name"), None)
        else:
            variables[text_at(entry, "name")] = fill_in(text_at(entry, "value"), variables)
    return variables


def referenced_names(text: str) -> list[str]:
    """The variables that a text refers to."""
    return [match[1] for match in re.finditer(_REFERENCE, text) if match[1]]


def fill_in(text: str, variables: Mapping[str, str]) -> str:
    """The text with `$(NAME)` filled in where the variable is known; `$$` stays, for a text that is written again."""
    return re.sub(_REFERENCE, lambda match: variables.get(match[1], match[0]), text)


def as_process_sees(text: str, variables: Mapping[str, str]) -> str:
    """The word that a process gets, as the kubelet makes it: variables that it does not know stay, `$$(NAME)` becomes
    `$(NAME)` and is not filled in (k8s.io/kubernetes/third_party/forked/golang/expansion/expand.go).
    """
    return re.sub(_REFERENCE, lambda match: "$" if match[0] == "$$" else variables.get(match[1], match[0]), text)


def references(container: Mapping[str, Any]) -> Iterator[str]:
    """The variables that a container's command line names."""
    for word in itertools.chain(list_at(container, "command"), list_at(container, "args")):
        yield from filter(None, re.findall(_REFERENCE, word)) if isinstance(word, str) else ()
