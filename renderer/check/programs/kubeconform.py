"""kubeconform over rendered files, against our schemas; the program is run only on request."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from renderer import schema_validation
from renderer.check.finding import locate_finding
from renderer.diagnostics import Diagnostic, Finding, Origin, Path, RenderError, make_diagnostic
from renderer.kubernetes.json_values import maps_at, text_at
from renderer.plan import Manifest
from renderer.source.tree import InputFile

_LAYOUT = '{{if eq .Group "v1"}}core{{else}}{{.Group}}{{end}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'


def kubeconform(
    program: str, outputs: Sequence[tuple[Sequence[Manifest], Sequence[tuple[str, str]]]]
) -> list[Diagnostic]:
    """kubeconform's findings about rendered files, as diagnostics at the input's places. `outputs`: for each app its
    manifests, and path and text of the files that hold them.
    """
    if not any(texts for _, texts in outputs):
        return []
    manifests_by_path: dict[str, Sequence[Manifest]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for manifests, texts in outputs:
            for i, (path, text) in enumerate(texts):
                manifests_by_path[path] = manifests if len(texts) == 1 else manifests[i : i + 1]
                os.makedirs(os.path.dirname(f"{scratch}/{path}"), exist_ok=True)
                with open(f"{scratch}/{path}", "w", encoding="utf-8") as file:
                    file.write(text)
        return [
            diagnostic
            for resource in _run(program, scratch)
            for diagnostic in _findings(scratch, manifests_by_path, resource)
        ]


def _run(program: str, folder: str) -> list[dict[str, object]]:
    """The resources that kubeconform reports. Raises RenderError when it cannot be run."""
    command = [
        program,
        "-strict",
        "-output",
        "json",
        "-schema-location",
        f"{schema_validation.FOLDER}/output/{_LAYOUT}",
        folder,
    ]
    try:
        run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)
        resources = json.loads(run.stdout)["resources"]
    except OSError as error:
        raise RenderError([make_diagnostic("E561", Origin(InputFile(program, "", "")), what=error.strerror)]) from None
    except (ValueError, KeyError):
        output = (run.stderr or run.stdout).strip()[:300]
        raise RenderError([make_diagnostic("E561", Origin(InputFile(program, "", "")), what=output)]) from None
    return resources or []


def _findings(
    folder: str, manifests_by_path: Mapping[str, Sequence[Manifest]], resource: Mapping[str, object]
) -> Iterator[Diagnostic]:
    path = os.path.relpath(text_at(resource, "filename"), folder)
    for manifest in manifests_by_path.get(path, ()):
        if (manifest.body["kind"], manifest.body["metadata"]["name"]) == (resource["kind"], resource["name"]):
            for error in maps_at(resource, "validationErrors") or [{"path": "", "msg": resource["msg"]}]:
                steps = [step for step in text_at(error, "path").split("/") if step]
                field_path: Path = tuple(int(step) if step.isdigit() else step for step in steps)
                yield locate_finding(manifest, Finding("E560", field_path, {"what": error["msg"]}))
            return
    yield make_diagnostic("E560", Origin(InputFile(path, "", "")), what=resource["msg"])
