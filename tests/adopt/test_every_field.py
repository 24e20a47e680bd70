"""Every field that a source can have is in what `llmaz adopt` writes, or told, or in a table with its reason."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import pytest
import yaml

from renderer.adopt.adoption import adopt
from renderer.adopt.comparison import compare_adoption
from renderer.diagnostics import Diagnostic
from renderer.diff.live.records import ADDS, LiveObject
from renderer.kubernetes.api_types import api_types
from renderer.kubernetes.json_values import text_at, value_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import WORKLOADS, kind_of
from tests.paths import ROOT

Body: TypeAlias = dict[str, Any]
Place: TypeAlias = tuple[str | int, ...]
ENGINE: Final = """\
name: server
image: vllm/vllm-openai:v0.33.0
args: [--model, Qwen/Qwen3-8B, --port, "8000"]
resources: {limits: {nvidia.com/gpu: 1}}
"""
# Values that Kubernetes takes, of fields for which no text, number or empty map is one.
VALUES: Final[Mapping[str, str]] = {
    "affinity": "{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
    "[{matchExpressions: [{key: planted, operator: Exists}]}]}}}",
    "args": "[--model, Qwen/Qwen3-8B, --port, '8000', --chat-template, /planted]",
    "automountServiceAccountToken": "true",
    "command": "[vllm, serve]",
    "containers": f"[{{{', '.join(line for line in ENGINE.splitlines())}}}, {{name: planted, image: planted}}]",
    "dnsConfig": "{nameservers: [10.1.1.1]}",
    "dnsPolicy": "Default",
    "emptyDir": "{}",
    "enableServiceLinks": "true",
    "env": "[{name: PLANTED, value: planted}]",
    "envFrom": "[{secretRef: {name: planted}}]",
    "ephemeralContainers": "[{name: planted, image: planted}]",
    "evictionResponders": "[{name: planted.example.com, priority: 7}]",
    "hostAliases": "[{ip: 10.1.1.1, hostnames: [planted]}]",
    "image": "vllm/vllm-openai:v0.32.0",
    "imagePullPolicy": "Always",
    "imagePullSecrets": "[{name: planted}]",
    "initContainers": "[{name: planted, image: planted}]",
    "lifecycle": "{postStart: {exec: {command: [planted]}}}",
    "name": "planted",
    "nodeSelector": "{planted: planted}",
    "ordinals": "{start: 7}",
    "os": "{name: linux}",
    "overhead": "{cpu: 77m}",
    "persistentVolumeClaimRetentionPolicy": "{whenDeleted: Delete}",
    "podManagementPolicy": "Parallel",
    "ports": "[{containerPort: 8000}, {containerPort: 7777, name: planted}]",
    "preemptionPolicy": "Never",
    "readinessGates": "[{conditionType: example.com/planted}]",
    "resizePolicy": "[{resourceName: cpu, restartPolicy: RestartContainer}]",
    "resourceClaims": "[{name: planted, resourceClaimTemplateName: planted}]",
    "resources": "{limits: {nvidia.com/gpu: 1, cpu: 77}}",
    "restartPolicy": "Always",
    "restartPolicyRules": "[{action: Restart, exitCodes: {operator: In, values: [7]}}]",
    "schedulingGates": "[{name: example.com/planted}]",
    "schedulingGroup": "{podGroupName: planted}",
    "securityContext": "{runAsUser: 777}",
    "selector": "{matchExpressions: [{key: planted, operator: DoesNotExist}]}",
    "strategy": "{type: Recreate}",
    "terminationGracePeriodSeconds": "777",
    "terminationMessagePath": "/planted",
    "terminationMessagePolicy": "FallbackToLogsOnError",
    "tolerations": "[{key: planted, operator: Exists}]",
    "topologySpreadConstraints": "[{maxSkew: 7, topologyKey: planted, whenUnsatisfiable: DoNotSchedule}]",
    "updateStrategy": "{type: OnDelete}",
    "volumeClaimTemplates": "[{metadata: {name: planted}, spec: {accessModes: [ReadWriteOnce], resources: "
    "{requests: {storage: 7Gi}}}}]",
    "volumeDevices": "[{name: planted, devicePath: /dev/planted}]",
    "volumeMounts": "[{name: planted, mountPath: /planted}]",
    "volumes": "[{name: planted, configMap: {name: planted}}]",
    "workingDir": "/planted",
}
BY_SHAPE: Final[Mapping[str, object]] = {
    "string": "planted",
    "int": 77,
    "bool": True,
    "core.Probe": {"exec": {"command": ["planted"]}},
}
POD: Final = ("spec", "template", "spec")
TYPES: Final[Sequence[tuple[str, Place, str]]] = (
    ("Deployment", POD, "core.PodSpec"),
    ("Deployment", (*POD, "containers", 0), "core.Container"),
    ("Deployment", ("spec",), "apps.DeploymentSpec"),
    ("StatefulSet", ("spec",), "apps.StatefulSetSpec"),
)
"""Kinds, and types in them at a path."""
# Fields that are neither used nor told, each with its reason.
SILENT: Final[Mapping[str, str]] = {
    "Deployment spec.progressDeadlineSeconds": "it follows from the startup probe, and ends no rollout",
    "Deployment spec.template.spec.restartPolicy": "pods of workloads have no other than Always",
}


def workload(kind: str, name: str) -> Body:
    pod = {"containers": [yaml.safe_load(ENGINE)]}
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "llm"}, "spec": spec}


class Planted(NamedTuple):
    """A workload with a value in a field that the plain one does not have, or has with another value."""

    kind: str
    path: Place  # of the map that has the field
    field: str
    body: Body


def planted() -> list[Planted]:
    """One for each field of the types that adopt reads."""
    items: list[Planted] = []
    for kind, path, name in TYPES:
        for field, shape in api_types().types[name].items():
            if field == "template":
                continue
            body = workload(kind, f"chat-{len(items)}")
            value = yaml.safe_load(VALUES[field]) if field in VALUES else BY_SHAPE[shape.lstrip("?!*")]
            owner: Any = value_at(body, *path)
            owner[field] = value
            items.append(Planted(kind, path, field, body))
    return items


def notices_of(problems: Sequence[Diagnostic], item: LiveObject | None) -> set[tuple[str, ...]]:
    """What is said of a workload, but for what ours adds."""
    differences = item.differences if item else ()
    notices = {
        (difference.path, str(difference.theirs), difference.rule)
        for difference in differences
        if difference.kind != ADDS or difference.rule == "recreate"  # which says what is given for their strategy
    }
    return {*notices, *((problem.code, problem.text) for problem in problems)}


def is_used(body: Body, path: Place, field: str, rendered: object) -> bool:
    """Whether all that was planted in a field stands in the rendered workload: there, or as another field."""
    return "planted" in json.dumps(rendered) or _holds(rendered, value_at(body, *path, field), field, path[-1] == 0)


def _holds(rendered: object, expected: object, field: str, of_container: bool) -> bool:
    if isinstance(rendered, dict):
        is_engine = not of_container or rendered.get("name") == RUNNER
        if is_engine and field in rendered and _within(expected, rendered[field]):
            return True
        return any(_holds(value, expected, field, of_container) for value in rendered.values())
    return isinstance(rendered, list) and any(_holds(item, expected, field, of_container) for item in rendered)


def _within(expected: object, value: object) -> bool:
    if isinstance(expected, dict) and isinstance(value, dict):
        return all(key in value and _within(item, value[key]) for key, item in expected.items())
    if isinstance(expected, list) and isinstance(value, list):
        return all(any(_within(item, other) for other in value) for item in expected)
    return json.dumps(expected) == json.dumps(value) or str(expected) == str(value)


def test_each_field_of_a_workload_is_used_or_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    items = planted()
    plain = {kind: workload(kind, f"plain-{kind.lower()}") for kind, _, _ in TYPES}
    for body in [*plain.values(), *(item.body for item in items)]:
        Path(f"{body['metadata']['name']}.yaml").write_text(yaml.safe_dump(body), "utf-8")
    adoption = adopt(["."], "out")
    problems: dict[str, list[Diagnostic]] = {}
    for problem in adoption.problems:
        problems.setdefault(problem.file.removesuffix(".yaml"), []).append(problem)
    compared = {item.theirs.name: item for item in compare_adoption(adoption).objects if item.theirs}
    rendered = {text_at(body, "metadata", "name"): body for body in adoption.rendered if kind_of(body) in WORKLOADS}
    silent = set()
    for kind, path, field, body in items:
        name, plain_name = body["metadata"]["name"], plain[kind]["metadata"]["name"]
        notices, usual = (
            {
                tuple(word.replace(own, "") for word in entry)
                for entry in notices_of(problems.get(own, []), compared.get(own))
            }
            for own in (name, plain_name)
        )
        if not is_used(body, path, field, rendered.get(f"{name}-llmaz")) and notices <= usual:
            silent.add(f"{kind} {'.'.join(map(str, (*path, field)))}")
    assert silent == SILENT.keys()


SERVICE: Final = """\
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
metadata: {name: NAME, namespace: llm}
spec:
  model: {uri: "hf://Qwen/Qwen3-8B", name: qwen}
  template:
    containers:
      - name: main
        image: vllm/vllm-openai:v0.33.0
        resources: {limits: {nvidia.com/gpu: "8"}}
"""
BY_TYPE: Final[Mapping[str, object]] = {
    "text": "planted",
    "integer": 2,
    "boolean": True,
    "textMap": {"kueue.x-k8s.io/queue-name": "planted"},
    "quantity": "70Gi",
    "amount": 2,
    "map": {"containers": [{"name": "main", "env": [{"name": "PLANTED", "value": "planted"}]}]},
}
SPECIAL: Final[Mapping[str, object]] = {
    "model.uri": "hf://org/planted",
    "model.lora.adapters[].uri": "hf://org/planted",
    "parallelism.expert": True,
    "storageInitializer.enabled": False,
}
# What a field needs beside it to say anything, by how its path begins.
BESIDE: Final[Mapping[str, str]] = {
    "model.lora": "model: {lora: {adapters: [{name: first, uri: hf://org/first}]}}",
    "scaling": "scaling: {minReplicas: 1, maxReplicas: 4, keda: {}}",
    "kvCacheOffloading": "kvCacheOffloading: {cpu: 50Gi}",
    "parallelism.data": "{parallelism: {data: 4, dataLocal: 1}, "
    "worker: {containers: [{name: main, image: vllm/vllm-openai:v0.33.0}]}}",
}
# Fields of KServe that are neither used nor told, each with its reason.
_REFUSED: Final = "E958 refuses a service that scales without a metric, whatever its bounds are"
SILENT_OF_KSERVE: Final[Mapping[str, str]] = {"scaling.minReplicas": _REFUSED, "scaling.maxReplicas": _REFUSED}


def leaves(table: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, object]]:
    """The fields of a table of presets/, with the type of each; None for one that is lost."""
    for key, kind in table.items():
        place = f"{path}.{key}" if path else key
        while isinstance(kind, dict) and "items" in kind:
            place, kind = f"{place}[]", kind["items"]
        if isinstance(kind, dict) and "fields" in kind:
            yield from leaves(kind["fields"], place)
        else:
            yield place, None if isinstance(kind, dict) else kind


def merged(value: Any, other: Any) -> Any:
    """Two values in one: maps by their keys, lists by their indexes."""
    if isinstance(value, dict) and isinstance(other, dict):
        return {key: merged(value.get(key), other.get(key)) for key in {**value, **other}}
    if isinstance(value, list) and isinstance(other, list):
        return [merged(*pair) for pair in zip_longest(value, other)]
    return value if other is None else other


def nested(path: str, value: object) -> Any:
    """The value at a path in maps and lists of one."""
    for part in reversed(path.split(".")):
        value = {part.removesuffix("[]"): [value] if part.endswith("[]") else value}
    return value


def service(name: str, spec: Body) -> str:
    """A service of KServe with more fields of `spec`."""
    body = yaml.safe_load(SERVICE.replace("NAME", name))
    return yaml.safe_dump({**body, "spec": merged(body["spec"], spec)})


def test_each_field_of_a_service_of_kserve_is_used_or_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It changes what is written or said of the service."""
    monkeypatch.chdir(tmp_path)
    table = yaml.safe_load((ROOT / "presets" / "kserve.yaml").read_text("utf-8"))["spec"]["spec"]
    paths = []
    for i, (path, kind) in enumerate(leaves(table)):
        beside: Body = next((yaml.safe_load(text) for start, text in BESIDE.items() if path.startswith(start)), {})
        value = SPECIAL.get(path, BY_TYPE.get(str(kind), "planted"))
        Path(f"plain-{i}.yaml").write_text(service(f"plain-{i}", beside), "utf-8")
        Path(f"other-{i}.yaml").write_text(service(f"other-{i}", merged(beside, nested(path, value))), "utf-8")
        paths.append(path)
    adoption = adopt(["."], "out")

    def outcome(name: str) -> tuple[str, list[tuple[str, str]]]:
        problems = [problem for problem in adoption.problems if problem.file == f"{name}.yaml"]
        text = adoption.files.get(f"{name}.yaml", "").replace(name, "")
        return text, [(problem.code, problem.text.replace(name, "")) for problem in problems]

    silent = {path for i, path in enumerate(paths) if outcome(f"plain-{i}") == outcome(f"other-{i}")}
    assert silent == SILENT_OF_KSERVE.keys()
    assert len(adoption.files) > len(paths)
