"""The files of a chart, from those that render would write."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from renderer import emit, yamlio
from renderer.api import Config
from renderer.chart.actions import Actions, escaped
from renderer.chart.places import Places, namespaces, services
from renderer.chart.scaling import Piece, app_of, packed, scaled, values, variable
from renderer.emit import Text
from renderer.problems import Problem
from renderer.tree import CONFIG, MARK

SCHEMA = "values.schema.json"
SCHEMA_MARK = f'{{"$comment": "{MARK}'
_NAME, _VERSION = "llmaz-models", "0.1.0"
_NAMESPACE = {"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
_REGISTRY = "^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*)?$"


def files(texts: Iterable[Text], config: Config) -> tuple[list[Text], list[Problem]]:
    """The chart of the rendered files. Problems are of files that were passed through and are no YAML."""
    read, problems = _read(texts)
    heads = {text.path: text.text.partition("\n")[0] for text, _ in read}
    pieces = [Piece(text.path, body) for text, bodies in read for body in bodies]
    bodies = [piece.body for piece in pieces]
    actions = Actions(text.text for text, _ in read)
    names = sorted(set(namespaces(bodies)))
    places = Places(names, services(bodies), actions)
    apps: dict[str, list[Piece]] = {}
    for piece in pieces:
        apps.setdefault(app_of(piece.path), []).append(piece)
    counts = {app: said for app, own in apps.items() if app and (said := values([piece.body for piece in own]))}
    fixed = _fixed(apps, counts)
    made: dict[str, list[Piece]] = {path: [] for path in heads}
    for app, own in apps.items():
        for piece in scaled(own, counts[app], actions) if app in counts else own:
            namespace, _, name = piece.path.partition("/")
            body = packed(piece.body, fixed.get(namespace, {}), actions) if name.startswith("_routes-") else piece.body
            made.setdefault(piece.path, []).append(piece._replace(body=places.marked(body)))
    taken: set[str] = set()
    out = [_about(config), *_values(names, dict(sorted(counts.items())))]
    for path in sorted(made):
        app = app_of(path)
        head = heads.get(path) or next(heads[piece.path] for piece in apps[app] if piece.path in heads)
        lead = variable(app, counts[app]) if app in counts else ""
        out.append(Text(_template(path, taken), f"{escaped(head)}\n{lead}{_joined(made[path], actions)}"))
    return out, problems


def _fixed(
    apps: Mapping[str, Sequence[Piece]], made: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, tuple[str, int]]]:
    """By namespace and workload, the app and its replicas, where no autoscaler owns them."""
    fixed: dict[str, dict[str, tuple[str, int]]] = {}
    for app, said in made.items():
        for piece in apps[app] if "replicas" in said else ():
            if piece.body["kind"] == "LeaderWorkerSet":
                name = piece.body["metadata"]["name"]
                fixed.setdefault(app.partition("/")[0], {})[name] = (app, said["replicas"])
    return fixed


def _read(texts: Iterable[Text]) -> tuple[list[tuple[Text, list[Any]]], list[Problem]]:
    read, problems = [], []
    for text in sorted(texts):
        if text.path == "kustomization.yaml":
            continue
        documents, wrong = yamlio.parse(text.path, text.text.encode())
        problems += wrong
        read.append((text, [document.value for document in documents]))
    return read, problems


def _template(path: str, taken: set[str]) -> str:
    """Where a file goes. Helm skips names that begin with `_`; where the rest is an app's name, a `_` ends it."""
    folder, slash, name = path.rpartition("/")
    name = name.lstrip("_.")
    while (made := f"templates/{folder}{slash}{name}") in taken:
        name = re.sub(r"(\.[a-z]+)$", r"_\1", name)
    taken.add(made)
    return made


def _joined(pieces: Sequence[Piece], actions: Actions) -> str:
    parts = []
    for i, piece in enumerate(pieces):
        text = ("---\n" if i else "") + actions.dump(piece.body)
        parts.append(f"{{{{- if {piece.when} }}}}\n{text}{{{{- end }}}}\n" if piece.when else text)
    return "".join(parts)


def _about(config: Config) -> Text:
    said = config.get("output", "chart", default={})
    body = {
        "apiVersion": "v2",
        "name": said.get("name", _NAME),
        "description": "Models, rendered by llmaz.",
        "type": "application",
        "version": said.get("version", _VERSION),
    }
    return Text("Chart.yaml", emit.header(CONFIG) + yamlio.dump(body))


def _values(names: Sequence[str], apps: Mapping[str, Mapping[str, int]]) -> list[Text]:
    """values.yaml, and the schema by which Helm refuses what is none of it."""
    body = {"namespaces": {name: name for name in names}, "imageRegistry": "", "apps": dict(apps)}
    forms = {
        "namespace": _NAMESPACE,
        "fixed": _closed({"replicas": _COUNT}),
        "scaled": _closed({"minReplicas": {**_COUNT, "minimum": 1}, "maxReplicas": {**_COUNT, "minimum": 1}}),
    }
    schema = {
        "$comment": emit.header(CONFIG).rstrip("\n"),
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": forms,
        **_closed(
            {
                "namespaces": _closed({name: {"$ref": "#/definitions/namespace"} for name in names}),
                "imageRegistry": {"type": "string", "pattern": _REGISTRY},
                "apps": _closed(
                    {
                        app: {"$ref": f"#/definitions/{'fixed' if 'replicas' in said else 'scaled'}"}
                        for app, said in apps.items()
                    }
                ),
            }
        ),
    }
    schema["properties"] = {**schema["properties"], "global": {"type": "object"}}  # Helm's own, in a subchart
    text = json.dumps(schema, indent=2, ensure_ascii=False).replace("{\n  ", "{", 1)
    return [Text("values.yaml", emit.header(CONFIG) + yamlio.dump(body)), Text(SCHEMA, text + "\n")]


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    """A map that has all of these keys and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        **({"required": list(properties)} if properties else {}),
        "properties": properties,
    }
