"""charts/llmaz as the pinned Helm renders it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.integrations.test_helm import Objects, objects
from tests.programs import tool

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CHART = ROOT / "charts" / "llmaz"
SETS = sorted(path.parent.name for path in HERE.glob("*/values.yaml"))
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
PARTS: list[dict[str, Any]] = yaml.safe_load((CHART / "files" / "parts.yaml").read_text("utf-8"))
COMPONENTS = list(dict.fromkeys(part["component"] for part in PARTS))
ENGINES = {"argocd": "everything", "flux": "everything-flux"}
LOCATION = '/{{if eq .Group "v1"}}core{{else}}{{.Group}}{{end}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'
WEBHOOKS = {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
Values = Mapping[str, Any]
Body = dict[str, Any]


def helm(*args: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """The pinned Helm, as somebody without settings of his own calls it."""
    return subprocess.run(
        [tool("helm"), *args], capture_output=True, text=True, check=False, cwd=home, env={"HOME": str(home)}
    )


def helm_template(folder: Path, values: Values | Path, *more: str) -> subprocess.CompletedProcess[str]:
    """`helm template` with these values."""
    file = folder / "values-of-a-test.json"
    if isinstance(values, Path):
        file = values
    else:
        file.write_text(json.dumps(values), "utf-8")
    return helm("template", "llmaz", CHART, "--namespace", "llmaz-system", "--values", file, *more, home=folder)


def render(folder: Path, values: Values | Path) -> Objects:
    done = helm_template(folder, values)
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def read_values(name: str) -> Body:
    """The values of a set."""
    values: Body = yaml.safe_load((HERE / name / "values.yaml").read_text("utf-8"))
    return values


def parts(manifests: Objects) -> dict[str, Body]:
    """Applications, or HelmReleases and Kustomizations, by the name of the part."""
    kinds = ("Application", "HelmRelease", "Kustomization")
    return {key[3].removeprefix("llmaz-"): body for key, body in manifests.items() if key[1] in kinds}


def chart_values(body: Body) -> Body:
    """What a part's chart gets."""
    spec = body["spec"]
    values: Body = spec["source"]["helm"].get("valuesObject", {}) if body["kind"] == "Application" else spec["values"]
    return values


def refused(folder: Path, values: Values) -> str:
    done = helm_template(folder, values)
    assert done.returncode == 1, done.stdout[:500]
    assert done.stdout == ""
    return done.stderr


def notes(folder: Path, values: Values | Path) -> str:
    """What Helm says after an installation."""
    file = folder / "values-of-notes.json"
    file.write_text(json.dumps(dict(values)) if not isinstance(values, Path) else values.read_text("utf-8"), "utf-8")
    done = helm("install", "llmaz", CHART, "--dry-run=client", "--values", file, home=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("NOTES:")[2]
