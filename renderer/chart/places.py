"""Where an object says a namespace or an image, and Helm's values say it instead."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from renderer.chart.actions import Actions, below

_NAME = "kubernetes.io/metadata.name"  # a label of every namespace
_FREE = ("labels", "annotations", "matchLabels", "nodeSelector", "selector", "data", "stringData", "binaryData")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers", "container")
_HUB = ("docker.io", "index.docker.io")
_LABEL = re.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def namespaces(bodies: Iterable[Any]) -> Iterator[str]:
    """The namespaces of the objects, and of the Gateways that they name."""
    for body in bodies:
        if isinstance(body, dict) and isinstance(body.get("metadata"), dict):
            found = [body["metadata"].get("namespace")]
            spec = body.get("spec")
            parents = spec.get("parentRefs") if isinstance(spec, dict) else None
            known = parents if isinstance(parents, list) else []
            found += [each.get("namespace") for each in known if isinstance(each, dict)]
            yield from (each for each in found if isinstance(each, str) and _LABEL.fullmatch(each))


def services(bodies: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Name and namespace of every Service."""
    for body in bodies:
        if isinstance(body, dict) and body.get("kind") == "Service" and isinstance(body.get("metadata"), dict):
            yield str(body["metadata"].get("name")), str(body["metadata"].get("namespace"))


class Places:
    """Puts marks into objects, for these namespaces and for every image."""

    def __init__(self, names: Iterable[str], hosts: Iterable[tuple[str, str]], actions: Actions) -> None:
        self._actions = actions
        self._marks = {name: actions.text("{{ " + below(".Values.namespaces", name) + " }}") for name in names}
        self._hosts = {
            f"{service}.{name}": f"{service}.{self._marks[name]}" for service, name in hosts if name in self._marks
        }
        every = "|".join(map(re.escape, sorted(self._marks))) or "(?!)"
        self._in_text = re.compile(
            rf"""(?<=[a-z0-9]\.) (?P<host>{every}) (?=\.svc(?![-\w]))
            | \b(?P<query>(?:\w*_)?namespace \s* (?:=~|!=|!~|=) \s* (?P<quote>["'])) (?P<asked>{every}) (?=(?P=quote))
            | (?<![-\w])(?P<user>system:serviceaccounts?:) (?P<of>{every}) (?![-\w])
            """,
            re.VERBOSE,
        )
        self._flag = re.compile(rf"(--?[\w-]*namespace=)({every})")

    def marked(self, body: Any) -> Any:
        """A copy with marks where the object says a namespace or an image."""
        kind = body.get("kind") if isinstance(body, dict) else None
        made = self._value(body, "", str(kind))
        if kind == "Namespace" and isinstance(made.get("metadata"), dict):
            name = made["metadata"].get("name")
            made["metadata"] = {**made["metadata"], "name": self._named(name)}
        elif kind == "EnvoyProxy":
            self._proxy(body, made)
        return made

    def _value(self, value: Any, key: str, kind: str) -> Any:
        """`key`: under which the value, or the list that holds it, stands."""
        if isinstance(value, str):
            return self._in_text.sub(self._in_string, value)
        if isinstance(value, dict):
            return self._mapping(value, key, kind)
        if not isinstance(value, list):
            return value
        if key in ("matchNames", "namespaces"):
            return [self._named(each) if isinstance(each, str) else self._value(each, key, kind) for each in value]
        if key in ("args", "command") and kind != "LeaderWorkerSet":  # an engine's namespace may be something else
            return list(self._arguments(value, key, kind))
        return [self._value(each, key, kind) for each in value]

    def _mapping(self, value: Mapping[str, Any], key: str, kind: str) -> dict[str, Any]:
        asks = key == "matchLabels" and kind == "HorizontalPodAutoscaler"  # labels of a metric
        space = asks or (key not in _FREE and "key" not in value)  # Envoy has other namespaces, of keys
        selects = value.get("key") == _NAME
        made: dict[str, Any] = {}
        for name, inner in value.items():
            if isinstance(inner, str):
                if name == _NAME or (space and name == "namespace"):
                    made[name] = self._named(inner)
                    continue
                if (name == "image" and key in _CONTAINERS) or (name == "reference" and key == "image"):
                    made[name] = self._image(inner)
                    continue
            elif selects and name == "values" and isinstance(inner, list):
                made[name] = [self._named(each) for each in inner]
                continue
            elif name == "fqdn" and isinstance(inner, dict) and (host := self._hosts.get(str(inner.get("hostname")))):
                made[name] = {**inner, "hostname": host}
                continue
            made[name] = self._value(inner, name, kind)
        return made

    def _arguments(self, value: list[Any], key: str, kind: str) -> Iterator[Any]:
        before = ""
        for each in value:
            if isinstance(each, str) and re.fullmatch("--?[\\w-]*namespace", before):
                yield self._named(each)
            elif isinstance(each, str) and (found := self._flag.fullmatch(each)):
                yield found[1] + self._marks[found[2]]
            else:
                yield self._value(each, key, kind)
            before = each if isinstance(each, str) else ""

    def _proxy(self, body: Mapping[str, Any], made: dict[str, Any]) -> None:
        """The Service of a Gateway's proxies is called after the Gateway, namespace first."""
        service: Any = made
        for part in ("spec", "provider", "kubernetes", "envoyService"):
            service = service.get(part) if isinstance(service, dict) else None
        metadata = body.get("metadata")
        if isinstance(metadata, dict) and isinstance(service, dict):
            name, space = metadata.get("name"), str(metadata.get("namespace"))
            if space in self._marks and service.get("name") == f"{space}-{name}":
                service["name"] = f"{self._marks[space]}-{name}"

    def _named(self, name: Any) -> Any:
        return self._marks.get(name, name) if isinstance(name, str) else name

    def _in_string(self, found: re.Match[str]) -> str:
        if name := found["host"]:
            return self._marks[name]
        if name := found["asked"]:
            return found["query"] + self._marks[name]
        return found["user"] + self._marks[found["of"]]

    def _image(self, image: str) -> str:
        """The image in the registry of the values, where they name one; Docker Hub's own then in full."""
        host, slash, path = image.partition("/")
        if not slash or not ("." in host or ":" in host or host == "localhost" or host != host.lower()):
            more = "" if slash else "/library"
            return self._actions.text("{{ with .Values.imageRegistry }}{{ . }}" + more + "/{{ end }}") + image
        own = '{{ .Values.imageRegistry | default "' + host + '" }}'
        if host in _HUB and "/" not in path:
            own = "{{ with .Values.imageRegistry }}{{ . }}/library{{ else }}" + host + "{{ end }}"
        return f"{self._actions.text(own)}/{path}"
