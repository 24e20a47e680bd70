"""Replaces namespaces and images in objects by references to Helm's values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from renderer.integrations.helm.actions import Action, ActionText, value_expression
from renderer.integrations.helm.replicas import is_workload
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import maps_at, text_at, value_at
from renderer.kubernetes.workloads import CONTAINERS
from renderer.text import escapes

_NAME = "kubernetes.io/metadata.name"  # a label of every namespace
_FREE_FORM_KEYS = (
    "labels",
    "annotations",
    "matchLabels",
    "nodeSelector",
    "selector",
    "data",
    "stringData",
    "binaryData",
)
_CONTAINERS = (*CONTAINERS, "container")
_HUB = ("docker.io", "index.docker.io")
_LABEL = re.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?")
# What `imageRegistry` may take the place of; a first part of any other form belongs to no image that can be pulled.
_REGISTRY = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?", re.ASCII)


def namespaces(bodies: Iterable[object]) -> Iterator[str]:
    """The namespaces of the objects, and of their parent Gateways, with duplicates."""
    for body in bodies:
        parents = (text_at(parent, "namespace") for parent in maps_at(body, "spec", "parentRefs"))
        yield from filter(_LABEL.fullmatch, (text_at(body, "metadata", "namespace"), *parents))


def services(bodies: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Name and namespace of every Service."""
    for body in bodies:
        if text_at(body, "kind") == "Service":
            yield text_at(body, "metadata", "name"), text_at(body, "metadata", "namespace")


class ValueReferences:
    """Replaces these namespaces and every image in objects by actions."""

    def __init__(self, names: Iterable[str], hosts: Iterable[tuple[str, str]]) -> None:
        self._actions = {name: Action(f"{{{{ {value_expression('.Values.namespaces', name)} }}}}") for name in names}
        # By host name of a Service: `<name>.<namespace>`.
        self._hosts = {
            f"{service}.{name}": ActionText(f"{service}.", self._actions[name])
            for service, name in hosts
            if name in self._actions
        }
        choice = "|".join(map(re.escape, sorted(self._actions))) or "(?!)"
        self._in_text = re.compile(
            rf"""(?<=[a-z0-9]\.) (?P<host>{choice}) (?=\.svc(?![-\w]))
            | \b(?P<query>(?:\w*_)?namespace \s* (?:=~|!=|!~|=) \s* (?P<quote>["'])) (?P<value>{choice}) (?=(?P=quote))
            | (?<![-\w])(?P<user>system:serviceaccounts?:) (?P<of>{choice}) (?![-\w])
            """,
            re.VERBOSE,
        )
        self._flag = re.compile(rf"(--?[\w-]*namespace=)({choice})")

    def refer(self, body: Any) -> object:
        """A copy of the object with actions for its namespaces and images."""
        kind = body.get("kind") if isinstance(body, dict) else None
        runs_engines = kind == wellknown.DEPLOYMENT and is_workload(body)
        copy = self._value(body, "", wellknown.LEADER_WORKER_SET if runs_engines else str(kind))
        if kind == "Namespace" and isinstance(copy.get("metadata"), dict):
            name = copy["metadata"].get("name")
            copy["metadata"] = {**copy["metadata"], "name": self._name(name)}
        elif kind == "EnvoyProxy":
            self._name_proxy_service(body, copy)
        return copy

    def _value(self, value: object, key: str, kind: str) -> Any:
        """A copy of a value with actions. `key`: the key of the value, or of the list that holds it."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return self._mapping(value, key, kind)
        if not isinstance(value, list):
            return value
        if key in ("matchNames", "namespaces"):
            return [self._name(item) if isinstance(item, str) else self._value(item, key, kind) for item in value]
        # An engine's option may mean another kind of namespace.
        if key in ("args", "command") and kind != "LeaderWorkerSet":
            return list(self._arguments(value, key, kind))
        return [self._value(item, key, kind) for item in value]

    def _mapping(self, value: Mapping[str, object], key: str, kind: str) -> dict[str, object]:
        is_metric = key == "matchLabels" and kind == "HorizontalPodAutoscaler"  # labels of a metric
        # Beside a "key", Envoy's `namespace` is one of metadata.
        may_name_one = is_metric or (key not in _FREE_FORM_KEYS and "key" not in value)
        selects = value.get("key") == _NAME
        copy: dict[str, object] = {}
        for name, inner in value.items():
            if isinstance(inner, str):
                if name == _NAME or (may_name_one and name == "namespace"):
                    copy[name] = self._name(inner)
                    continue
                if (name == "image" and key in _CONTAINERS) or (name == "reference" and key == "image"):
                    copy[name] = _image(inner)
                    continue
            elif selects and name == "values" and isinstance(inner, list):
                copy[name] = [self._name(item) for item in inner]
                continue
            elif name == "fqdn" and isinstance(inner, dict) and (host := self._hosts.get(str(inner.get("hostname")))):
                copy[name] = {**inner, "hostname": host}
                continue
            copy[name] = self._value(inner, name, kind)
        return copy

    def _arguments(self, value: list[object], key: str, kind: str) -> Iterator[object]:
        previous = ""
        for argument in value:
            if isinstance(argument, str) and re.fullmatch("--?[\\w-]*namespace", previous):
                yield self._name(argument)
            elif isinstance(argument, str) and (match := self._flag.fullmatch(argument)):
                yield ActionText(match[1], self._actions[match[2]])
            else:
                yield self._value(argument, key, kind)
            previous = argument if isinstance(argument, str) else ""

    def _text(self, text: str) -> str | ActionText:
        """The text with actions for the namespaces that it names as such."""
        parts: list[str | Action] = []
        end = 0
        for match in self._in_text.finditer(text):
            group = next(group for group in ("host", "value", "of") if match[group] is not None)
            parts += [text[end : match.start(group)], self._actions[match[group]]]
            end = match.end(group)
        return ActionText(*parts, text[end:]) if parts else text

    def _name_proxy_service(self, body: Mapping[str, object], copy: dict[str, object]) -> None:
        """Gives the Service of a Gateway's proxies its name, `<namespace>-<name>` of the Gateway, in place."""
        service = value_at(copy, "spec", "provider", "kubernetes", "envoyService")
        metadata = body.get("metadata")
        if isinstance(metadata, dict) and isinstance(service, dict):
            name, namespace = metadata.get("name"), str(metadata.get("namespace"))
            if namespace in self._actions and service.get("name") == f"{namespace}-{name}":
                service["name"] = ActionText(self._actions[namespace], f"-{name}")

    def _name(self, name: object) -> object:
        """The action for a namespace; what names none of them as it is."""
        return ActionText(self._actions[name]) if isinstance(name, str) and name in self._actions else name


def _image(image: str) -> str | ActionText:
    """The image with an action for the registry; with one in the values, images of Docker Hub get their full path."""
    host, slash, path = image.partition("/")
    if not slash or not ("." in host or ":" in host or host == "localhost" or host != host.lower()):
        more = "" if slash else "/library"
        return ActionText(Action(f"{{{{ with .Values.imageRegistry }}}}{{{{ . }}}}{more}/{{{{ end }}}}"), image)
    if not _REGISTRY.fullmatch(host):
        return image
    registry = f"{{{{ .Values.imageRegistry | default {escapes.go_string(host)} }}}}"
    if host in _HUB and "/" not in path:
        registry = f"{{{{ with .Values.imageRegistry }}}}{{{{ . }}}}/library{{{{ else }}}}{host}{{{{ end }}}}"
    return ActionText(Action(registry), f"/{path}")
