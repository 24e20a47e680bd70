"""Makes the JSON Schemas that tests hold our Argo CD and Flux objects against, from the CRDs in their Go modules.

    python scripts/make_gitops_schemas.py          # writes tests/data/argocd-crds.json, flux-crds.json and schemas/

Strict: a field that a CRD does not know is refused. Of ApplicationSet only the git generator is kept, and its template
is left open: it is an Application's.

tests/data/schemas/<group>/<kind>_<version>.json is the form of renderer/schemas/output, for what charts/llmaz makes
and the renderer does not, so that kubeconform takes both folders. CustomResourceDefinition is there too; the schemas
inside of one are left open, since they nest without end.
"""

from __future__ import annotations

import json
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from scripts import make_schemas
else:  # it runs as a script, with its folder on the path
    import make_schemas

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
# Whole schemas, for kubeconform.
CRDS = (
    make_schemas.Source("github.com/argoproj/argo-cd/v3@v3.6.1", "manifests/crds", ("Application", "AppProject")),
    make_schemas.Source("github.com/fluxcd/kustomize-controller@v1.9.5", "config/crd/bases", ("Kustomization",)),
    make_schemas.Source(
        "github.com/fluxcd/source-controller@v1.9.5",
        "config/crd/bases",
        ("GitRepository", "HelmRepository", "OCIRepository"),
    ),
    make_schemas.Source("github.com/fluxcd/helm-controller@v1.6.4", "config/crd/bases", ("HelmRelease",)),
)
DEFINITION = "apiextensions.v1.CustomResourceDefinition"
KEPT = ("type", "properties", "required", "items", "additionalProperties", "enum", "pattern", "minimum", "maxLength")


def strict(node: Node) -> Node:
    """The schema with what we read of it, closed."""
    if node.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    closed = {key: node[key] for key in KEPT if key in node}
    if "properties" in closed:
        closed["properties"] = {key: strict(child) for key, child in closed["properties"].items()}
        closed.setdefault("additionalProperties", False)
    for key in ("items", "additionalProperties"):
        if isinstance(closed.get(key), dict):
            closed[key] = strict(closed[key])
    return closed


def of(crd: Node) -> Node:
    """The schema of the CRD's kind, in the version that is stored."""
    [version] = [candidate for candidate in crd["spec"]["versions"] if candidate["storage"]]
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
    closed = strict(top)
    closed["properties"]["metadata"] = {"type": "object"}
    return closed


def whole() -> Iterator[tuple[str, Node]]:
    """Path and schema of each kind, in each version that is served."""
    for source in CRDS:
        for crd in make_schemas.crds(source):
            group, kind = crd["spec"]["group"], crd["spec"]["names"]["kind"]
            for version in crd["spec"]["versions"]:
                if version["served"]:
                    top: Node = version["schema"]["openAPIV3Schema"]
                    top["properties"].pop("operation", None)  # of an Application: Argo CD's own
                    body = make_schemas.structural(top)
                    schema = make_schemas.output(group, version["name"], kind, body)
                    yield f"{group}/{kind.lower()}_{version['name']}.json", make_schemas.packed(schema)
    make_schemas.definitions()["apiextensions.v1.JSONSchemaProps"] = {}
    group, body = "apiextensions.k8s.io", make_schemas.built_in(DEFINITION)
    schema = make_schemas.output(group, "v1", "CustomResourceDefinition", body)
    yield f"{group}/customresourcedefinition_v1.json", make_schemas.packed(schema)


def main() -> None:
    """Writes all files."""
    for path, schema in whole():
        target = DATA / "schemas" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(make_schemas.written(schema) + b"\n")
        print(target)
    for name, sources in SOURCES.items():
        kinds = {}
        for module, files in sources:
            # it fails where the module wants a newer Go, and has fetched the zip all the same
            done = subprocess.run(["go", "mod", "download", "-json", module], capture_output=True, check=False)
            with zipfile.ZipFile(json.loads(done.stdout)["Zip"]) as archive:
                for file in files:
                    crd = yaml.safe_load(archive.read(f"{module}/{file}"))
                    kinds[crd["spec"]["names"]["kind"]] = of(crd)
        (DATA / name).write_text(json.dumps(kinds, sort_keys=True, separators=(",", ":")) + "\n", "utf-8")
        print(f"{DATA / name}: {', '.join(kinds)}")


if __name__ == "__main__":
    main()
