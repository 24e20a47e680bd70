"""The defaults that the source of Kubernetes states are those of LeaderWorkerSet's CRD, and its webhook's are ours."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from renderer import schema_validation, yamlio
from renderer.admission.server_view import server_view
from renderer.kubernetes.api_types import POD_TEMPLATE, api_types, type_at, types_below
from renderer.kubernetes.server_defaults import LEADER_WORKER_SET, complete_leader_worker_set
from tests.programs import tool


def stated(type_name: str, path: str = "", *, in_list: bool = False) -> Iterator[tuple[str, Any]]:
    """The defaults inside lists of a type, by path."""
    if in_list:
        for field, default in api_types().defaults.get(type_name, {}).items():
            yield f"{path}.{field}", default
    for field, below in types_below(type_name).items():
        is_list = "[]" in api_types().types[type_name][field]
        yield from stated(below, f"{path}.{field}{'[]' if is_list else ''}", in_list=in_list or is_list)


def of_schema(node: Mapping[str, Any], definitions: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """The defaults inside lists of a schema, by path."""
    if "$ref" in node:
        node = {**definitions[node["$ref"].rpartition("/")[2]], **node}
    if "default" in node and "[]" in path:
        yield path, node["default"]
    for field, below in node.get("properties", {}).items():
        yield from of_schema(below, definitions, f"{path}.{field}")
    if isinstance(node.get("items"), dict):
        yield from of_schema(node["items"], definitions, f"{path}[]")


def test_the_defaults_in_lists_are_those_of_the_crd() -> None:
    schema: Any = schema_validation.read_schema("output/leaderworkerset.x-k8s.io/leaderworkerset_v1")
    group = schema["properties"]["spec"]["properties"]["leaderWorkerTemplate"]["properties"]
    definitions = schema.get("$defs", schema.get("definitions", {}))
    defaults = dict(of_schema(group["workerTemplate"], definitions))
    ephemeral = ".spec.ephemeralContainers[]"  # which the API server refuses in a template
    assert {path: value for path, value in stated(POD_TEMPLATE) if not path.startswith(ephemeral)} == defaults
    assert len(defaults) == 38
    assert (defaults[".spec.containers[].ports[].protocol"], defaults[".spec.volumes[].configMap.name"]) == ("TCP", "")


def test_the_type_at_a_path() -> None:
    assert type_at("spec", "containers", "[]", "ports") == "core.ContainerPort"
    assert type_at("spec", "volumes", 0, "projected", "sources", 1, "secret") == "core.SecretProjection"
    assert type_at("spec", "nodeSelector") == type_at("spec", "containers", "[]", "args") == type_at("what") == ""


def test_the_webhook_of_leader_worker_sets_fills_in_the_same(tmp_path: Path) -> None:
    group = {"size": 2, "restartPolicy": "Default", "workerTemplate": {"spec": {"containers": [{"name": "a"}]}}}
    body = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "a", "namespace": "default"},
    }
    bare = {**body, "spec": {"leaderWorkerTemplate": group}}
    completed: dict[str, Any] = copy.deepcopy(dict(server_view(bare)["spec"]))
    complete_leader_worker_set(completed)
    files = [tmp_path / "bare.yaml", tmp_path / "completed.yaml"]
    for file, content in zip(files, (bare, {**body, "spec": completed}), strict=True):
        file.write_text(yamlio.dump(content), "utf-8")
    run = subprocess.run([tool("lwscheck"), *files], capture_output=True, text=True, check=False)
    changed, unchanged = (json.loads(line)["changed"] for line in run.stdout.splitlines())
    network, rollout = LEADER_WORKER_SET["networkConfig"], LEADER_WORKER_SET["rolloutStrategy"]
    configuration = text(rollout["rollingUpdateConfiguration"])
    assert [line.replace('""', "nothing") for line in changed] == [
        'spec.leaderWorkerTemplate.restartPolicy: "Default" becomes "None"',
        f"spec.networkConfig: nothing becomes {text(network)}",
        f"spec.rolloutStrategy.rollingUpdateConfiguration: nothing becomes {configuration}",
        f"spec.rolloutStrategy.type: nothing becomes {text(rollout['type'])}",
    ]
    assert unchanged == []


def text(value: object) -> str:
    """As lwscheck writes it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
