"""`$(NAME)` in the command line of a container, which the kubelet fills in with its variables."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from renderer.kubernetes.json_values import list_at, maps_at, text_at

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][\w.-]*)\)")  # two dollar signs are one for itself


def plain_variables(container: Mapping[str, Any]) -> dict[str, str]:
    """The variables of a container whose values stand there, each with those before it filled in."""
    variables: dict[str, str] = {}
    for entry in maps_at(container, "env"):
        if "valueFrom" in entry:
            variables.pop(text_at(entry, "name"), None)
        else:
            variables[text_at(entry, "name")] = fill_in(text_at(entry, "value"), variables)
    return variables


def fill_in(text: str, variables: Mapping[str, str]) -> str:
    """The text with `$(NAME)` filled in where the variable is known; `$$` stays, for a text that is written again."""
    return _REFERENCE.sub(lambda match: variables.get(match[1], match[0]), text)


def as_process_sees(text: str, variables: Mapping[str, str]) -> str:
    """The word that a process gets, as the kubelet makes it: variables that it does not know stay, `$$(NAME)` becomes
    `$(NAME)` and is not filled in (k8s.io/kubernetes/third_party/forked/golang/expansion/expand.go).
    """
    return _REFERENCE.sub(lambda match: "$" if match[0] == "$$" else variables.get(match[1], match[0]), text)


def references(container: Mapping[str, Any]) -> Iterator[str]:
    """The variables that a container's command line names."""
    for word in itertools.chain(list_at(container, "command"), list_at(container, "args")):
        yield from filter(None, _REFERENCE.findall(word)) if isinstance(word, str) else ()
