"""Makes the JSON Schemas that tests hold our Argo CD and Flux objects against, from the CRDs in their Go modules.

    python scripts/make_gitops_schemas.py          # writes tests/data/argocd-crds.json and flux-crds.json

Strict: a field that a CRD does not know is refused. Of ApplicationSet only the git generator is kept, and its template
is left open: it is an Application's.
"""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import yaml

Node = dict[str, Any]

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
SOURCES = {
    "argocd-crds.json": (
        (
            "github.com/argoproj/argo-cd/v3@v3.6.1",
            ("manifests/crds/application-crd.yaml", "manifests/crds/applicationset-crd.yaml"),
        ),
    ),
    "flux-crds.json": (
        (
            "github.com/fluxcd/kustomize-controller@v1.9.5",
            ("config/crd/bases/kustomize.toolkit.fluxcd.io_kustomizations.yaml",),
        ),
        (
            "github.com/fluxcd/source-controller@v1.9.5",
            (
                "config/crd/bases/source.toolkit.fluxcd.io_gitrepositories.yaml",
                "config/crd/bases/source.toolkit.fluxcd.io_ocirepositories.yaml",
            ),
        ),
    ),
}
KEPT = ("type", "properties", "required", "items", "additionalProperties", "enum", "pattern", "minimum", "maxLength")


def strict(node: Node) -> Node:
    """The schema with what we read of it, closed."""
    if node.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    made = {key: node[key] for key in KEPT if key in node}
    if "properties" in made:
        made["properties"] = {key: strict(each) for key, each in made["properties"].items()}
        made.setdefault("additionalProperties", False)
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), dict):
            made[key] = strict(made[key])
    return made


def of(crd: Node) -> Node:
    """The schema of the CRD's kind, in the version that is stored."""
    [version] = [each for each in crd["spec"]["versions"] if each["storage"]]
    top: Node = version["schema"]["openAPIV3Schema"]
    top["properties"]["apiVersion"]["enum"] = [f"{crd['spec']['group']}/{version['name']}"]
    top["properties"].pop("status", None)
    if crd["spec"]["names"]["kind"] == "ApplicationSet":
        spec = top["properties"]["spec"]["properties"]
        generator = spec["generators"]["items"]
        git = generator["properties"]["git"]
        git["properties"].pop("template")
        generator["properties"] = {"git": git}
        spec["template"] = {"type": "object", "required": ["metadata", "spec"]}
    made = strict(top)
    made["properties"]["metadata"] = {"type": "object"}
    return made


def main() -> None:
    """Writes both files."""
    for name, sources in SOURCES.items():
        kinds = {}
        for module, files in sources:
            # it fails where the module wants a newer Go, and has fetched the zip all the same
            done = subprocess.run(["go", "mod", "download", "-json", module], capture_output=True, check=False)
            with zipfile.ZipFile(json.loads(done.stdout)["Zip"]) as held:
                for file in files:
                    crd = yaml.safe_load(held.read(f"{module}/{file}"))
                    kinds[crd["spec"]["names"]["kind"]] = of(crd)
        (DATA / name).write_text(json.dumps(kinds, sort_keys=True, separators=(",", ":")) + "\n", "utf-8")
        print(f"{DATA / name}: {', '.join(kinds)}")


if __name__ == "__main__":
    main()
