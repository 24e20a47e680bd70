"""kubeconform over our files, against our schemas; the program is called only where asked for."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from renderer import schema
from renderer.check.finding import placed
from renderer.plan import Manifest
from renderer.problems import Origin, Path, Problem, RenderError, problem
from renderer.tree import File

_LAYOUT = '{{if eq .Group "v1"}}core{{else}}{{.Group}}{{end}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'


def kubeconform(program: str, made: Sequence[tuple[Sequence[Manifest], Sequence[tuple[str, str]]]]) -> list[Problem]:
    """What kubeconform says of our files, at the input's places. `made`: an app's manifests, and the (path, text)
    that hold them.
    """
    if not any(texts for _, texts in made):
        return []
    inside: dict[str, Sequence[Manifest]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for manifests, texts in made:
            for i, (path, text) in enumerate(texts):
                inside[path] = manifests if len(texts) == 1 else manifests[i : i + 1]
                os.makedirs(os.path.dirname(f"{scratch}/{path}"), exist_ok=True)
                with open(f"{scratch}/{path}", "w", encoding="utf-8") as file:
                    file.write(text)
        return [found for resource in _run(program, scratch) for found in _findings(scratch, inside, resource)]


def _run(program: str, folder: str) -> list[dict[str, Any]]:
    """Its findings. Raises RenderError when it cannot be run."""
    command = [program, "-strict", "-output", "json", "-schema-location", f"{schema.FOLDER}/output/{_LAYOUT}", folder]
    try:
        run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)  # noqa: S603 - the user names it
        resources = json.loads(run.stdout)["resources"]
    except OSError as error:
        raise RenderError([problem("E561", Origin(File(program, "", "")), what=error.strerror)]) from None
    except (ValueError, KeyError):
        said = (run.stderr or run.stdout).strip()[:300]
        raise RenderError([problem("E561", Origin(File(program, "", "")), what=said)]) from None
    return resources or []


def _findings(folder: str, inside: Mapping[str, Sequence[Manifest]], resource: Any) -> Iterator[Problem]:
    path = os.path.relpath(resource["filename"], folder)
    for manifest in inside.get(path, ()):
        if (manifest.body["kind"], manifest.body["metadata"]["name"]) == (resource["kind"], resource["name"]):
            for error in resource.get("validationErrors") or [{"path": "", "msg": resource["msg"]}]:
                steps = [step for step in error["path"].split("/") if step]
                where: Path = tuple(int(step) if step.isdigit() else step for step in steps)
                yield placed(manifest, "E560", where, {"what": error["msg"]})
            return
    yield problem("E560", Origin(File(path, "", "")), what=resource["msg"])
