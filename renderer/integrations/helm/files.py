"""The files of a chart, made from the rendered files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from renderer import yamlio
from renderer.api import RenderConfig
from renderer.diagnostics import Diagnostic
from renderer.integrations.helm import hooks
from renderer.integrations.helm.actions import dump
from renderer.integrations.helm.namespaces_and_images import ValueReferences, namespaces, services
from renderer.integrations.helm.replicas import (
    AppValues,
    ChartObject,
    app_header,
    app_name,
    default_values,
    is_workload,
    refer_from_shared_route,
    refer_to_replicas,
)
from renderer.output import file_header
from renderer.output.file_header import MARK
from renderer.output.manifest_files import OutputFile
from renderer.resolve.disruptions import disruption_budget
from renderer.source.tree import CONFIG
from renderer.text import escapes

SCHEMA = "values.schema.json"
SCHEMA_MARK = f'{{"$comment": "{MARK}'
_NAME, _VERSION = "llmaz-models", "0.1.0"
_NAMESPACE = {"type": "string", "maxLength": 63, "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}
_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
_REGISTRY = "^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*)?$"


def files(texts: Iterable[OutputFile], config: RenderConfig) -> tuple[list[OutputFile], list[Diagnostic]]:
    """The files of the chart, and diagnostics of passed-through files that are not valid YAML."""
    parsed, problems = _read(texts)
    headers = {text.path: text.text.partition("\n")[0] for text, _ in parsed}
    pieces = [ChartObject(text.path, body) for text, bodies in parsed for body in bodies]
    bodies = [piece.body for piece in pieces]
    names = sorted(set(namespaces(bodies)))
    references = ValueReferences(names, services(bodies))
    apps: dict[str, list[ChartObject]] = {}
    for piece in pieces:
        apps.setdefault(app_name(piece.path), []).append(piece)
    counts = {
        app: app_values
        for app, app_pieces in apps.items()
        if app and (app_values := default_values([piece.body for piece in app_pieces]))
    }
    fixed, budget = _fixed_replicas(apps, counts), disruption_budget(config)
    pieces_by_file: dict[str, list[ChartObject]] = {path: [] for path in headers}
    for app, app_pieces in apps.items():
        for piece in refer_to_replicas(app_pieces, counts[app], budget) if app in counts else app_pieces:
            namespace, _, name = piece.path.partition("/")
            body = piece.body
            if name.startswith("_routes-"):
                body = refer_from_shared_route(body, fixed.get(namespace, {}))
            pieces_by_file.setdefault(piece.path, []).append(replace(piece, body=references.refer(body)))
    used_paths: set[str] = set()
    chart_files = [_chart_file(config), *_values(names, dict(sorted(counts.items())))]
    for path in sorted(pieces_by_file):
        app = app_name(path)
        head = headers.get(path) or next(headers[piece.path] for piece in apps[app] if piece.path in headers)
        lead = app_header(app, counts[app]) if app in counts else ""
        text = f"{escapes.go_template_text(head)}\n{lead}{_join(pieces_by_file[path])}"
        chart_files.append(OutputFile(_template(path, used_paths), text))
    return chart_files, problems


def _fixed_replicas(
    apps: Mapping[str, Sequence[ChartObject]], counts: Mapping[str, AppValues]
) -> dict[str, dict[str, tuple[str, int]]]:
    """By namespace and workload, app and replicas of workloads without an autoscaler. `counts`: values by app."""
    fixed: dict[str, dict[str, tuple[str, int]]] = {}
    for app, app_values in counts.items():
        shared = app_values.get("", {})
        for piece in apps[app] if "replicas" in shared else ():
            if is_workload(piece.body):
                name = piece.body["metadata"]["name"]
                fixed.setdefault(app.partition("/")[0], {})[name] = (app, shared["replicas"])
    return fixed


def _read(texts: Iterable[OutputFile]) -> tuple[list[tuple[OutputFile, list[object]]], list[Diagnostic]]:
    parsed, problems = [], []
    for text in sorted(texts):
        if text.path == "kustomization.yaml":
            continue
        documents, file_problems = yamlio.parse(text.path, text.text.encode())
        problems += file_problems
        if any(hooks.is_hook(document.value) for document in documents):
            problems += hooks.unknown_hooks(text)
        parsed.append((text, [document.value for document in documents]))
    return parsed, problems


def template_paths(paths: Iterable[str]) -> dict[str, str]:
    """The template of each rendered file, by the path of that file."""
    used_paths: set[str] = set()
    return {path: _template(path, used_paths) for path in sorted(paths) if path != "kustomization.yaml"}


def _template(path: str, used_paths: set[str]) -> str:
    """The path of a template, not in `used_paths`. Helm ignores names that begin with `_`, so it is dropped there."""
    folder, slash, name = path.rpartition("/")
    name = name.lstrip("_.")
    while (target := f"templates/{folder}{slash}{name}") in used_paths:
        name = re.sub(r"(\.[a-z]+)$", r"_\1", name)
    used_paths.add(target)
    return target


def _join(pieces: Sequence[ChartObject]) -> str:
    parts = []
    for i, piece in enumerate(pieces):
        text = ("---\n" if i else "") + dump(piece.body)
        parts.append(f"{{{{- if {piece.when} }}}}\n{text}{{{{- end }}}}\n" if piece.when else text)
    return "".join(parts)


def _chart_file(config: RenderConfig) -> OutputFile:
    chart = config.get("output", "chart", default={})
    body = {
        "apiVersion": "v2",
        "name": chart.get("name", _NAME),
        "description": "Models, rendered by llmaz.",
        "type": "application",
        "version": chart.get("version", _VERSION),
    }
    return OutputFile("Chart.yaml", file_header.header(CONFIG) + yamlio.dump(body))


def _values(names: Sequence[str], apps: Mapping[str, AppValues]) -> list[OutputFile]:
    """values.yaml, and the schema by which Helm refuses unknown and invalid values."""
    app_values = {app: roles.get("", roles) for app, roles in apps.items()}
    body = {"namespaces": {name: name for name in names}, "imageRegistry": "", "apps": app_values}
    forms = {
        "namespace": _NAMESPACE,
        "fixed": _closed_schema({"replicas": _COUNT}),
        "scaled": _scaled_schema(1),
    }
    if any(counts.get("minReplicas") == 0 for roles in apps.values() for counts in roles.values()):
        forms["scaledFromZero"] = _scaled_schema(0)
    schema = {
        "$comment": file_header.header(CONFIG).rstrip("\n"),
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": forms,
        **_closed_schema(
            {
                "namespaces": _closed_schema({name: {"$ref": "#/definitions/namespace"} for name in names}),
                "imageRegistry": {"type": "string", "pattern": _REGISTRY},
                "apps": _closed_schema({app: _app_schema(roles) for app, roles in apps.items()}),
            }
        ),
    }
    schema["properties"] = {**schema["properties"], "global": {"type": "object"}}  # Helm's own, in a subchart
    text = json.dumps(schema, indent=2, ensure_ascii=False).replace("{\n  ", "{", 1)
    return [
        OutputFile("values.yaml", file_header.header(CONFIG) + yamlio.dump(body)),
        OutputFile(SCHEMA, text + "\n"),
    ]


def _scaled_schema(least: int) -> dict[str, Any]:
    """The schema of an autoscaler's bounds. `least`: replicas that may be left."""
    return _closed_schema({"minReplicas": {**_COUNT, "minimum": least}, "maxReplicas": {**_COUNT, "minimum": 1}})


def _app_schema(roles: AppValues) -> dict[str, object]:
    """The schema of an app's values."""
    forms = {role: {"$ref": f"#/definitions/{_form(counts)}"} for role, counts in roles.items()}
    return dict(forms[""]) if "" in forms else _closed_schema(dict(forms))


def _form(counts: Mapping[str, int]) -> str:
    """The name of the schema of these values."""
    if "replicas" in counts:
        return "fixed"
    return "scaledFromZero" if counts["minReplicas"] == 0 else "scaled"


def _closed_schema(properties: dict[str, object]) -> dict[str, Any]:
    """The schema of a map with exactly these keys."""
    return {
        "type": "object",
        "additionalProperties": False,
        **({"required": list(properties)} if properties else {}),
        "properties": properties,
    }
