"""The committed schemas: sound, read alike by both libraries, strict, and open to what the operator accepts."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
import yaml

import renderer.schema_validation
from renderer.api import RenderOptions
from renderer.pipeline import render, write
from scripts import make_input_types
from scripts.usual import KINDS, WORDS, usual

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = ROOT / "renderer" / "schemas"
CASES = ROOT / "tests" / "conformance" / "cases"
FILES = sorted(path for path in SCHEMAS.rglob("*.json") if SCHEMAS / "cel" not in path.parents)


def schema(name: str) -> dict[str, Any]:
    value = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


@functools.cache
def validators(name: str) -> tuple[Any, Any]:
    return jsonschema.Draft7Validator(schema(name)), jsonschema_rs.Draft7Validator(json.dumps(schema(name)))


def problems(name: str, document: Any) -> list[str]:
    """Places that jsonschema finds; jsonschema-rs must agree on the verdict and the places."""
    slow, fast = validators(name)
    theirs = [list(error.absolute_path) for error in slow.iter_errors(document)]
    ours = [list(error.instance_path) for error in fast.iter_errors(document)]
    assert sorted(map(str, theirs)) == sorted(map(str, ours))
    return sorted(".".join(map(str, place)) or "." for place in theirs)


def documents(text: str) -> list[Any]:
    return [document for document in yaml.safe_load_all(text) if document is not None]


def input_name(document: Any) -> str:
    return f"input/{document['kind'].lower()}"


def output_name(document: Any) -> str:
    group, _, version = document["apiVersion"].rpartition("/")
    return f"output/{group or 'core'}/{document['kind'].lower()}_{version}"


def parts(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every mapping inside a schema, by its path."""
    if isinstance(node, dict):
        yield path, node
        for key, value in node.items():
            yield from parts(value, f"{path}/{key}")
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from parts(value, f"{path}/{index}")


def label(value: Any) -> str:
    """A short id for a parametrized value: the kind of a document, anything else cut."""
    return value["kind"] if isinstance(value, dict) and "kind" in value else str(value)[:40]


def changed(document: Any, path: str, value: Any) -> Any:
    """A copy with the value at a dotted path set; `...` removes it."""
    result = copy.deepcopy(document)
    *way, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    inner = result
    for step in way:
        inner = inner[step]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return result


def own_lists(node: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths of the lists that a part of extensions.yaml describes in its short forms."""
    if not isinstance(node, dict):
        return
    if "list" in node or "array" in node.get("type", ""):
        yield path
        yield from own_lists(node.get("list") or node.get("items"), (*path, "items"))
    yield from own_lists(node.get("map"), (*path, "additionalProperties"))
    for key, inner in (node.get("keys") or {}).items():
        yield from own_lists(inner, (*path, "properties", key))


def schema_path(dotted: str) -> tuple[str, ...]:
    """`spec.list[].field` as a path in a schema."""
    names = [part.partition("[") for part in dotted.split(".")]
    return tuple(step for name, brackets, _ in names for step in ("properties", name, *(["items"] if brackets else [])))


def at(whole: Any, path: tuple[str, ...]) -> Any:
    """The part of a schema at a path, through its `$ref`s; None where it has none."""
    node = whole
    for step in (*path, ""):
        while isinstance(node, dict) and "$ref" in node:
            node = whole["$defs"][node["$ref"].removeprefix("#/$defs/")]
        node = node.get(step) if step and isinstance(node, dict) else node
    return node


EXTENSIONS = yaml.safe_load((ROOT / "scripts" / "extensions.yaml").read_text(encoding="utf-8"))["kinds"]


@pytest.mark.parametrize("kind", EXTENSIONS)
def test_lists_of_ours_have_a_bound(kind: str) -> None:
    """Each list of an extension has one; a field of the operator has none that its own CRD lacks."""
    whole, rules = schema(f"input/{kind.lower()}"), EXTENSIONS[kind]
    read = [
        crd
        for path in (ROOT / "scripts" / "input-crds").glob("*.yaml")
        for crd in yaml.safe_load_all(path.read_text(encoding="utf-8"))
    ]
    theirs = [crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] for crd in read if names(crd, kind)]
    operator = theirs[0] if theirs else {}
    parts_of_ours = {schema_path(field): node for field, node in rules.get("fields", {}).items()}
    parts_of_ours[schema_path("spec")] = rules.get("spec", {})
    lists = [path for field, node in parts_of_ours.items() for path in own_lists(node, field)]
    own = [path for path in lists if at(operator, path) is None]
    assert [".".join(path) for path in own if "maxItems" not in at(whole, path)] == []
    assert [path for path in bounded_paths(operator, whole) if "maxItems" not in at(operator, path)] == []


def names(crd: Any, kind: str) -> bool:
    """Whether a CRD is that of a kind."""
    return bool(crd["spec"]["names"]["kind"] == kind)


def bounded_paths(operator: Any, whole: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of lists of the operator that have a bound in our schema."""
    node = at(operator, path)
    if isinstance(node.get("items"), dict):
        if "maxItems" in (at(whole, path) or {}):
            yield path
        yield from bounded_paths(operator, whole, (*path, "items"))
    for key in node.get("properties") or {}:
        yield from bounded_paths(operator, whole, (*path, "properties", key))


# ---- the files ----


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SCHEMAS)))
def test_sound(path: Path) -> None:
    data = path.read_bytes()
    value = json.loads(data)
    jsonschema.Draft7Validator.check_schema(value)
    for part in value.get("$defs", {}).values():  # draft-07 does not look into $defs
        jsonschema.Draft7Validator.check_schema(part)
    assert jsonschema_rs.meta.is_valid(value)
    jsonschema_rs.Draft7Validator(data.decode())
    assert data == json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    for place, part in parts(value):
        if "$ref" in part and isinstance(part["$ref"], str):
            assert list(part) == ["$ref"], f"{place}: draft-07 ignores what stands beside $ref"
            assert part["$ref"].removeprefix("#/$defs/") in value["$defs"], place
        assert not isinstance(part.get("format"), str), f"{place}: readers disagree about formats"
        for pattern in [part["pattern"]] if isinstance(part.get("pattern"), str) else []:
            only_go = [sign for sign in ("[[:", "\\p", "(?i") if sign in pattern]
            assert only_go == [], f"{place}: {pattern}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SCHEMAS)))
def test_closed_at_the_top(path: Path) -> None:
    value = json.loads(path.read_bytes())
    assert value["additionalProperties"] is False
    assert {"apiVersion", "kind", "metadata"} <= set(value["required"])
    assert value["properties"]["kind"]["const"].lower() == path.stem.partition("_")[0]


@pytest.mark.parametrize("name", KINDS)
def test_what_is_usual_is_narrower(name: str) -> None:
    """The file is what is made of the whole schema, and takes nothing that the whole one refuses."""
    whole, small = schema(name), schema(f"usual/{name}")
    assert usual(whole, name) == small
    assert len(json.dumps(small)) < 0.9 * len(json.dumps(whole))
    narrower(small, whole, small.get("$defs", {}), whole.get("$defs", {}))


def narrower(small: Any, whole: Any, small_parts: Any, whole_parts: Any) -> None:
    """Asserts that `small` has all that `whole` asks for, and lacks only properties that it then refuses."""
    small, whole = (
        parts[node["$ref"].removeprefix("#/$defs/")] if "$ref" in node else node
        for node, parts in ((small, small_parts), (whole, whole_parts))
    )
    if "propertyNames" in whole and "propertyNames" not in small:
        quick, *branches = small.get("anyOf", [small])
        usual_keys(quick, spelt(whole, whole_parts), small_parts)
        if not branches:
            assert set(small) == {"additionalProperties", "properties", "type"}
            assert small["type"] == whole["type"]
            return
        small = {**{key: value for key, value in small.items() if key != "anyOf"}, **branches[0]}
    assert set(whole) - set(small) <= WORDS | {"$defs"}
    assert set(small) <= set(whole)
    if small.get("properties", {}).keys() != whole.get("properties", {}).keys():
        assert small["properties"].keys() < whole["properties"].keys()
        assert small["additionalProperties"] is False
    for key, value in small.items():
        if key == "properties":
            for field, inner in value.items():
                narrower(inner, whole[key][field], small_parts, whole_parts)
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            narrower(value, whole[key], small_parts, whole_parts)
        elif key != "$defs":
            assert spelt(value, small_parts) == spelt(whole[key], whole_parts)


def usual_keys(small: Any, whole: Any, small_parts: Any) -> None:
    """Asserts that `small` takes nothing but some keys that `whole` takes, with values that it takes."""
    names, values = (jsonschema.Draft7Validator(whole[key]) for key in ("propertyNames", "additionalProperties"))
    assert small["additionalProperties"] is False
    for key, value in small["properties"].items():
        assert names.is_valid(key)
        if "enum" in value:
            assert all(values.is_valid(choice) for choice in value["enum"])
        else:
            assert spelt(value, small_parts) == whole["additionalProperties"]


def spelt(node: Any, parts: Any) -> Any:
    """The node with what it refers to in its place, without words for readers."""
    if isinstance(node, list):
        return [spelt(item, parts) for item in node]
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str):
        return spelt(parts[node["$ref"].removeprefix("#/$defs/")], parts)
    return {key: spelt(value, parts) for key, value in node.items() if key not in WORDS}


@pytest.mark.parametrize("name", ["quickstart", "gateway-basic", "hpa", "skip-loader", "host-path"])
def test_what_is_usual_is_enough(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No whole schema is prepared for a plain model that has a usual one."""
    schema_names = []
    compiled = renderer.schema_validation._compiled

    def noted(name: str, more: str) -> Any:
        schema_names.append(name)
        return compiled(name, more)

    monkeypatch.setattr(renderer.schema_validation, "_compiled", noted)
    monkeypatch.setattr(
        renderer.schema_validation, "_staged_validator", functools.cache(renderer.schema_validation._StagedValidator)
    )
    write(render(RenderOptions(paths=(str(ROOT / "examples" / name),), output=str(tmp_path / "rendered"), write=True)))
    assert "usual/input/playground" in schema_names
    assert set(schema_names) & set(KINDS) == set()


def test_types_of_the_inputs_are_current() -> None:
    assert make_input_types.TARGET.read_text("utf-8") == make_input_types.text()


def test_types_of_an_object() -> None:
    root = {"$defs": {"Size": {"type": ["string", "number"]}}}
    item = {"properties": {"as": {"type": "string"}, "podTemplate": {"type": "object", "properties": {}}}}
    node = {"properties": {"sizes": {"additionalProperties": {"$ref": "#/$defs/Size"}, "type": "object"}}}
    node["properties"]["parts"] = {"type": "array", "items": item}
    node["properties"]["kind"] = {"enum": ["b", "a"], "type": "string"}
    types = make_input_types.Types()
    assert types.class_of([(node, root)], "ThingSpec") == "ThingSpec"
    assert types.classes == {
        "PartSpec": {"as": "str", "podTemplate": "Mapping[str, object]"},
        "ThingSpec": {"kind": 'Literal["a", "b"]', "parts": "Sequence[PartSpec]", "sizes": "Mapping[str, str | float]"},
    }


def test_small() -> None:
    assert sum(path.stat().st_size for path in SCHEMAS.rglob("*.json")) < 1_600_000


@pytest.mark.parametrize("kind", ["openmodel", "playground", "service", "backendruntime", "renderconfig", "loader"])
def test_every_field_of_ours_is_described(kind: str) -> None:
    value = schema(f"input/{kind}")
    assert value["description"]

    def undescribed(node: dict[str, Any], path: str) -> Iterator[str]:
        for field, inner in node.get("properties", {}).items():
            if "$ref" not in inner:
                if not inner.get("description"):
                    yield f"{path}.{field}"
                yield from undescribed(inner, f"{path}.{field}")
        items = node.get("items", {})
        if "$ref" not in items:
            yield from undescribed(items, f"{path}[]") if items else ()

    # livenessProbe and its like are described, their insides are Kubernetes'
    kubernetes: tuple[str, ...]
    kubernetes = ("Probe.", "lifecycle.", "behavior.", "metrics[]", "envs[]", "env[]", "Template.", "sourceMetric")
    kubernetes += ("pods.imagePullSecrets[]", "pods.tolerations[]", "pods.topologySpreadConstraints[]")
    kubernetes += ("pods.networkPolicy.from[]",)
    kubernetes += ("volumeClaimTemplates[]",)
    missing = [place for place in undescribed(value, kind) if not any(word in place for word in kubernetes)]
    assert missing == []


# ---- what is accepted ----


def test_conformance_inputs() -> None:
    """No case is refused by a schema: what the operator refuses too has better words in Python."""
    files = sorted(CASES.glob("*/input.yaml"))
    assert len(files) >= 37
    for path in files:
        for document in documents(path.read_text(encoding="utf-8")):
            assert problems(input_name(document), document) == [], path


def test_conformance_outputs() -> None:
    files = sorted(CASES.glob("*/expected.yaml"))
    assert len(files) >= 31
    for path in files:
        for document in documents(path.read_text(encoding="utf-8")):
            assert problems(output_name(document), document) == [], path


OPENMODEL = yaml.safe_load(
    """
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata:
  name: qwen3-8b
  labels: {llmaz.io/model-family-name: qwen3}
  creationTimestamp: null
  generation: 3
  managedFields: [{manager: kubectl}]
  ownerReferences: []
  resourceVersion: "1"
  uid: f3b5
spec:
  familyName: qwen3
  createdAt: 2026-01-31T12:00:00Z
  source:
    modelHub: {name: ModelScope, modelID: Qwen/Qwen3-8B, allowPatterns: ["*.safetensors"]}
  servedModelName: qwen3-8b-instruct
  inferenceConfig:
    flavors:
      - {name: l40s, limits: {nvidia.com/gpu: 1, cpu: 0.5, memory: 32Gi}, nodeSelector: {gpu: l40s}, params: {TP: "1"}}
  facts:
    parameters: 8.2B
    weightsGiB: 15.3
    contextLength: 40960
    attention: {layers: 36, kvHeads: 8, headDim: 128}
    kvBytesPerToken: 147456
    licence: apache-2.0
    gated: false
  engines:
    vllm: {args: [--reasoning-parser, qwen3], envs: [{name: A, value: b}]}
status: {conditions: [{type: Pending, anything: [1]}]}
""".replace("2026-01-31T12:00:00Z", '"2026-01-31T12:00:00Z"')
)

PLAYGROUND = yaml.safe_load("""
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat, namespace: llm, annotations: {llmaz.io/skip-model-loader: "true"}}
spec:
  replicas: 2
  modelClaim: {modelName: qwen3-8b, inferenceFlavors: [l40s]}
  backendRuntimeConfig:
    backendName: vllm
    version: v1
    configName: default
    args: [--max-model-len, "16384"]
    envs:
      - {name: A, value: "1"}
      - {name: B, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}
      - {name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: 1}}}
    resources: {limits: {cpu: 8, memory: 1.5Gi}, requests: {cpu: 1e3, nvidia.com/gpu: 1}}
    sharedMemorySize: 2Gi
  elasticConfig:
    minReplicas: 0
    maxReplicas: 4
    scaleTrigger:
      hpa:
        metrics:
          - {type: Pods, pods: {metric: {name: m}, target: {type: AverageValue, averageValue: 5}}}
        behavior: {scaleDown: {stabilizationWindowSeconds: 300, policies: [{type: Pods, value: 1, periodSeconds: 60}]}}
  servedModelName: chat-1.0
  flavorPolicy: affinity
  hardening: "off"
  gateway: {mode: "off"}
""")

SERVICE = yaml.safe_load("""
apiVersion: inference.llmaz.io/v1alpha1
kind: Service
metadata: {name: chat}
spec:
  modelClaims: {models: [{name: a, role: main}, {name: b, role: draft}], inferenceFlavors: [x]}
  workloadTemplate:
    size: 2
    restartPolicy: RecreateGroupOnPodRestart
    subGroupPolicy: {subGroupPolicyType: LeaderExcluded, subGroupSize: 1}
    workerTemplate:
      metadata: {labels: {a: b}}
      spec:
        containers:
          - name: model-runner
            image: registry.example.com/engine:1
            ports: [{containerPort: 9000}]
            livenessProbe: {httpGet: {path: /health, port: 9000}}
            resources: {limits: {nvidia.com/gpu: 1, cpu: 0.5}}
            volumeMounts: [{name: v, mountPath: /v}]
        volumes: [{name: v, emptyDir: {}}]
        tolerations: [{operator: Exists}]
  rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {maxUnavailable: 25%, maxSurge: 1}}
""")

BACKEND = yaml.safe_load("""
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {name: engine}
spec:
  image: registry.example.com/engine
  version: v1.2.3
  command: [serve]
  envs: [{name: A, value: "{{ TP }}"}]
  lifecycle: {preStop: {sleep: {seconds: 10}}}
  livenessProbe: {httpGet: {path: /health, port: http}, periodSeconds: 10}
  readinessProbe: {tcpSocket: {port: 8080}}
  startupProbe: {exec: {command: [ok]}, failureThreshold: 10}
  recommendedConfigs:
    - name: default
      args: ["{{ ModelPath }}"]
      resources: {requests: {cpu: 2, memory: 8Gi}}
      sharedMemorySize: 1Gi
      scaleTrigger:
        hpa:
          metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
  engine:
    variants:
      - {accelerator: nvidia, security: {user: 2000, group: 0, fsGroup: 0, writable: [/tmp]}}
      - {accelerator: none, image: registry.example.com/engine-cpu, version: v1.2.3-cpu, unflavored: true}
    formats: [safetensors, gguf]
    sources: [hub, objectStore, host, oci, ollama, pvc]
    stream: {schemes: [s3, gs], formats: [safetensors]}
    servedName: fixed:model
    oneFile: [gguf]
    options:
      style: argparse
      underscores: true
      dotted: true
      duplicates: last
      list: flags/engine-1.2.3.txt
      removed: flags/engine-1.2.3.removed.txt
      uncertain: false
      version: '^v?(\\d+)'
      releases: {v1.0: 1.2.3}
      renamed: {--old: --new}
      groups: {parallelism: [--tp, --pp]}
      aliases: {-tp: --tp}
    derived:
      - {when: TP > 1, group: parallelism, args: [--tp, "{{ TP }}"], envs: [{name: A, value: b}]}
      - {when: TP > 1, sharedMemory: 8Gi}
    unsupported: {gguf: It cannot.}
    metrics: {path: /metrics, running: "a:running", waiting: "a:waiting", kvUsage: "a:kv", modelLabel: model_name}
    scale: {metric: waiting, target: "5", behavior: {scaleDown: {stabilizationWindowSeconds: 900}}}
    startup: {seconds: 1800, perGiB: 10}
    drain: {seconds: 150}
    security: {writable: [/tmp], readOnlyRoot: false}
    files: [{path: /etc/x.yaml, when: TP > 1, content: "a: b"}]
    volumes: [{name: cache, mountPath: /cache}]
    initContainers: [{name: prepare, when: TP > 1, command: [sh], args: [-c, "true"]}]
""")

CONFIG = yaml.safe_load(
    """
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec:
  namespace: llm
  backend: engine
  schedulerName: default-scheduler
  flavorPolicy: auto
  hardening: restricted
  ignore: ["docs/**"]
  passThrough: ["extra/*.yaml"]
  images: {mirrors: {docker.io: mirror.example/dockerhub}, digests: {"a/b:c": "sha256:DIGEST"}}
  loaders:
    hub: {image: a/b, version: v1, resources: {limits: {memory: 1Gi}, requests: {cpu: 1}}, env: [{name: A, value: b}]}
    store: {image: a/b, version: v1, endpoint: "https://s3.example", region: eu, anonymous: true}
    oci: {path: models}
  secrets: {hub: a, oss: b, aws: c, gcs: {name: d, as: hmac}}
  autoscaling: {metricSource: {type: prometheusAdapter, podMonitor: {labels: {release: a}, interval: 15s}}}
  gateway: {mode: "off"}
  output: {dir: rendered, layout: app, kustomization: true}
  targets: {kubernetes: "1.30"}
""".replace("DIGEST", "0" * 64)
)

LOADER = yaml.safe_load("""
apiVersion: renderer.llmaz.io/v1alpha1
kind: Loader
metadata: {name: hub}
spec: {image: a/b, version: v1, anything: {goes: [for, now]}}
""")

INPUTS = [OPENMODEL, PLAYGROUND, SERVICE, BACKEND, CONFIG, LOADER]


@pytest.mark.parametrize("document", INPUTS, ids=label)
def test_full_inputs(document: Any) -> None:
    assert problems(input_name(document), document) == []


@pytest.mark.parametrize(
    ("document", "path", "value"),
    [
        (OPENMODEL, "spec.source", {}),
        (OPENMODEL, "spec.source.modelHub", {}),
        (OPENMODEL, "spec.familyName", ""),
        (OPENMODEL, "metadata.finalizers", ["a"]),
        (PLAYGROUND, "spec", {}),
        (SERVICE, "spec.rolloutStrategy", {"rollingUpdateConfiguration": {"maxSurge": 1}}),
        (SERVICE, "spec.modelClaims", ...),
        (PLAYGROUND, "spec.modelClaims", {}),
        (PLAYGROUND, "spec.replicas", -1),
        (PLAYGROUND, "spec.elasticConfig.scaleTrigger", {}),
        (PLAYGROUND, "spec.elasticConfig.scaleTrigger.hpa", {}),
        (PLAYGROUND, "spec.backendRuntimeConfig", {}),
        (PLAYGROUND, "spec.backendRuntimeConfig.sharedMemorySize", 1073741824),
        (PLAYGROUND, "spec.backendRuntimeConfig.resources.limits.cpu", 1.5),
        (BACKEND, "spec.image", ""),
        (BACKEND, "spec.engine", ...),
        (CONFIG, "spec", {}),
    ],
    ids=label,
)
def test_what_python_judges_passes_here(document: Any, path: str, value: Any) -> None:
    assert problems(input_name(document), changed(document, path, value)) == []


# ---- what is refused ----


@pytest.mark.parametrize(
    ("document", "path", "value", "place"),
    [
        (OPENMODEL, "extra", 1, "."),
        (OPENMODEL, "metadata.nmae", "x", "metadata"),
        (OPENMODEL, "spec.familyname", "x", "spec"),
        (OPENMODEL, "spec.source.modelHub.modelId", "x", "spec.source.modelHub"),
        (OPENMODEL, "spec.inferenceConfig.flavors.0.requests", {}, "spec.inferenceConfig.flavors.0"),
        (OPENMODEL, "spec.facts.attention.kvheads", 1, "spec.facts.attention"),
        (OPENMODEL, "spec.engines.vllm.env", [], "spec.engines.vllm"),
        (OPENMODEL, "spec.engines.vllm.envs.0.vlaue", "x", "spec.engines.vllm.envs.0"),
        (PLAYGROUND, "spec.modelClaim.name", "x", "spec.modelClaim"),
        (PLAYGROUND, "spec.backendRuntimeConfig.name", "x", "spec.backendRuntimeConfig"),
        (
            PLAYGROUND,
            "spec.elasticConfig.scaleTrigger.hpa.metrics.0.pods.selector",
            1,
            "spec.elasticConfig.scaleTrigger.hpa.metrics.0.pods",
        ),
        (SERVICE, "spec.elasticConfig", {}, "spec"),
        (SERVICE, "spec.workloadTemplate.replicas", 1, "spec.workloadTemplate"),
        (
            SERVICE,
            "spec.workloadTemplate.workerTemplate.spec.container",
            [],
            "spec.workloadTemplate.workerTemplate.spec",
        ),
        (
            SERVICE,
            "spec.workloadTemplate.workerTemplate.spec.containers.0.livenessProbe.httpGet.prot",
            1,
            "spec.workloadTemplate.workerTemplate.spec.containers.0.livenessProbe.httpGet",
        ),
        (BACKEND, "spec.commands", ["x"], "spec"),
        (BACKEND, "spec.engine.manyHosts", {}, "spec.engine"),
        (BACKEND, "spec.engine.options.styles", "x", "spec.engine.options"),
        (CONFIG, "spec.environment", {}, "spec"),
        (CONFIG, "spec.environments", {"dev": {"configs": {}}}, "spec.environments.dev"),
        (CONFIG, "spec.loaders.hub.endpoint", "x", "spec.loaders.hub"),
    ],
    ids=label,
)
def test_unknown_fields(document: Any, path: str, value: Any, place: str) -> None:
    assert problems(input_name(document), changed(document, path, value)) == [place]


@pytest.mark.parametrize(
    ("document", "path", "value"),
    [
        (OPENMODEL, "spec.source.modelHub.name", "huggingface"),
        (OPENMODEL, "spec.inferenceConfig.flavors", [{"name": str(number)} for number in range(9)]),
        (OPENMODEL, "spec.inferenceConfig.flavors.0.limits.cpu", "8 cores"),
        (OPENMODEL, "spec.inferenceConfig.flavors.0.params.TP", 1),
        (OPENMODEL, "spec.createdAt", "yesterday"),
        (OPENMODEL, "spec.facts.gated", "yes"),
        (OPENMODEL, "apiVersion", "llmaz.io/v1"),
        (OPENMODEL, "metadata.name", ""),
        (PLAYGROUND, "spec.replicas", "2"),
        (PLAYGROUND, "spec.replicas", 2**31),
        (PLAYGROUND, "spec.elasticConfig.maxReplicas", 0),
        (PLAYGROUND, "spec.backendRuntimeConfig.args", "--x"),
        (PLAYGROUND, "spec.backendRuntimeConfig.args.1", 16384),
        (PLAYGROUND, "spec.backendRuntimeConfig.envs.0.value", 1),
        (PLAYGROUND, "spec.backendRuntimeConfig.envs.0.name", ""),
        (PLAYGROUND, "spec.modelClaims", {"models": []}),
        (PLAYGROUND, "spec.modelClaims", {"models": [{"name": "a", "role": "adapter"}]}),
        (PLAYGROUND, "spec.hardening", False),
        (SERVICE, "spec.workloadTemplate.restartPolicy", "Never"),
        (SERVICE, "spec.workloadTemplate.workerTemplate.spec.containers", []),
        (SERVICE, "spec.workloadTemplate.workerTemplate.spec.containers.0.ports.0.containerPort", 0),
        (BACKEND, "spec.engine.servedName", "fixed:"),
        (BACKEND, "spec.engine.oneFile", "true"),
        (BACKEND, "spec.livenessProbe", {}),
        (CONFIG, "spec.targets.kubernetes", 1.3),
        (CONFIG, "spec.images.digests", {"a": "sha256:0"}),
        (CONFIG, "spec.gateway.mode", "backends"),
    ],
    ids=label,
)
def test_wrong_values(document: Any, path: str, value: Any) -> None:
    wrong = changed(document, path, value)
    place = path if not path.endswith("models") else "spec.modelClaims"
    places = problems(input_name(document), wrong)
    assert places
    assert all(where.startswith(place) for where in places)


@pytest.mark.parametrize(
    ("document", "path"),
    [
        (OPENMODEL, "metadata"),
        (OPENMODEL, "metadata.name"),
        (OPENMODEL, "spec"),
        (OPENMODEL, "spec.familyName"),
        (OPENMODEL, "spec.source"),
        (OPENMODEL, "spec.inferenceConfig.flavors.0.name"),
        (PLAYGROUND, "spec"),
        (PLAYGROUND, "spec.elasticConfig.maxReplicas"),
        (SERVICE, "spec"),
        (SERVICE, "spec.workloadTemplate"),
        (SERVICE, "spec.workloadTemplate.workerTemplate"),
        (BACKEND, "spec"),
        (BACKEND, "spec.image"),
        (BACKEND, "spec.version"),
        (BACKEND, "spec.recommendedConfigs.0.name"),
        (LOADER, "spec.image"),
    ],
    ids=label,
)
def test_required_fields(document: Any, path: str) -> None:
    assert problems(input_name(document), changed(document, path, ...)) == [path.rpartition(".")[0] or "."]


# ---- what we emit ----

OUTPUTS = documents("""
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: chat, namespace: llm, labels: {app.kubernetes.io/name: chat}}
spec:
  startupPolicy: LeaderReady
  rolloutStrategy: {type: RollingUpdate, rollingUpdateConfiguration: {partition: 0, maxUnavailable: 1, maxSurge: 25%}}
  networkConfig: {subdomainPolicy: Shared}
  leaderWorkerTemplate:
    size: 1
    restartPolicy: RecreateGroupOnPodRestart
    workerTemplate:
      metadata: {labels: {llmaz.io/model-name: m}}
      spec:
        schedulerName: default-scheduler
        automountServiceAccountToken: false
        tolerations: [{key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}]
        securityContext: {seccompProfile: {type: RuntimeDefault}}
        affinity:
          nodeAffinity:
            requiredDuringSchedulingIgnoredDuringExecution:
              nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In, values: [b]}]}]
            preferredDuringSchedulingIgnoredDuringExecution:
              - {weight: 100, preference: {matchExpressions: [{key: a, operator: In, values: [b]}]}}
        containers:
          - name: model-runner
            image: registry.example.com/engine:1
            args: [--port, "8080"]
            env:
              - {name: A, value: "1"}
              - {name: B, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}
            ports: [{name: http, containerPort: 8080, protocol: TCP}]
            resources: {limits: {cpu: "8", nvidia.com/gpu: "1"}}
            startupProbe: {httpGet: {path: /health, port: http}, failureThreshold: 180}
            lifecycle: {preStop: {sleep: {seconds: 10}}}
            securityContext: {allowPrivilegeEscalation: false}
            volumeMounts: [{name: dshm, mountPath: /dev/shm}]
        volumes: [{name: dshm, emptyDir: {medium: Memory, sizeLimit: 2Gi}}]
---
apiVersion: v1
kind: Service
metadata: {name: chat-lb, namespace: llm}
spec:
  selector: {leaderworkerset.sigs.k8s.io/worker-index: "0"}
  ports: [{name: http, port: 8080, targetPort: 8080, protocol: TCP}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: chat, namespace: llm}
spec: {maxUnavailable: 1, selector: {matchLabels: {a: b}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat, namespace: llm}
spec:
  scaleTargetRef: {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: chat}
  minReplicas: 2
  maxReplicas: 6
  metrics: [{type: Pods, pods: {metric: {name: m}, target: {type: AverageValue, averageValue: "5"}}}]
  behavior: {scaleDown: {selectPolicy: Max, policies: [{type: Percent, value: 10, periodSeconds: 60}]}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: chat-config, namespace: llm}
data: {engine.yaml: "a: b"}
""")
LWS, SVC, PDB, HPA, CONFIGMAP = OUTPUTS
POD = "spec.leaderWorkerTemplate.workerTemplate.spec"


@pytest.mark.parametrize("document", OUTPUTS, ids=label)
def test_full_outputs(document: Any) -> None:
    assert problems(output_name(document), document) == []


@pytest.mark.parametrize(
    ("document", "path", "value"),
    [
        (LWS, "metadata.name", "1chat"),
        (LWS, "metadata.name", "chat.v1"),
        (LWS, "metadata.labels", {"a b": "c"}),
        (LWS, "metadata.labels", {"a": "-c"}),
        (LWS, "spec.replica", 1),
        (LWS, "spec.replicas", -1),
        (LWS, "spec.networkConfig", {}),
        (LWS, "spec.startupPolicy", None),
        (LWS, "spec.leaderWorkerTemplate.size", 0),
        (LWS, "spec.leaderWorkerTemplate.workerTemplate", ...),
        (LWS, "spec.leaderWorkerTemplate.leaderTemplate", {"spec": {"containers": []}}),
        (LWS, "spec.rolloutStrategy.rollingUpdateConfiguration.maxSurge", "25"),
        (LWS, f"{POD}.restartPolicy", "Never"),
        (LWS, f"{POD}.containers.0.name", "Model_Runner"),
        (LWS, f"{POD}.containers.0.image", ...),
        (LWS, f"{POD}.containers.0.args.1", 8080),
        (LWS, f"{POD}.containers.0.env.0.value", True),
        (LWS, f"{POD}.containers.0.env.0.name", ""),
        (LWS, f"{POD}.containers.0.env.1.valueFrom", {}),
        (LWS, f"{POD}.containers.0.env.1.valueFrom.fieldRef", {"fieldPath": "a"}),
        (LWS, f"{POD}.containers.0.ports.0.containerPort", 65536),
        (LWS, f"{POD}.containers.0.ports.0.protocol", "tcp"),
        (LWS, f"{POD}.containers.0.ports.0.name", "a-name-that-is-too-long"),
        (LWS, f"{POD}.containers.0.imagePullPolicy", "always"),
        (LWS, f"{POD}.containers.0.resources.limits.cpu", "eight"),
        (LWS, f"{POD}.containers.0.startupProbe.tcpSocket", {"port": 1}),
        (LWS, f"{POD}.containers.0.lifecycle.preStop", {}),
        (LWS, f"{POD}.tolerations.0.effect", "Never"),
        (LWS, f"{POD}.tolerations.0.operator", "In"),
        (LWS, f"{POD}.volumes.0.secret", {"secretName": "x"}),
        (LWS, f"{POD}.volumes.0.emptyDir.medium", "memory"),
        (LWS, f"{POD}.securityContext.seccompProfile.type", "Default"),
        (LWS, f"{POD}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.0.weight", 0),
        (SVC, "metadata.name", "1-lb"),
        (SVC, "spec.ports.0.port", 0),
        (SVC, "spec.ports.0.targetPort", 70000),
        (SVC, "spec.ports.0.protocol", "HTTP"),
        (SVC, "spec.type", "ClusterIp"),
        (SVC, "spec.selector", {"a": 0}),
        (PDB, "spec.minAvailable", 1),
        (PDB, "spec.maxUnavailable", -1),
        (HPA, "spec.minReplicas", -1),
        (HPA, "spec.maxReplicas", ...),
        (HPA, "spec.metrics.0.type", "Pod"),
        (HPA, "spec.metrics.0.type", "Resource"),
        (HPA, "spec.metrics.0.pods.target.type", "Average"),
        (HPA, "spec.metrics.0.pods.target.averageValue", ...),
        (HPA, "spec.behavior.scaleDown.selectPolicy", "Least"),
        (HPA, "spec.behavior.scaleDown.stabilizationWindowSeconds", 3601),
        (HPA, "spec.behavior.scaleDown.policies.0.periodSeconds", 0),
        (CONFIGMAP, "data", {"a/b": "c"}),
        (CONFIGMAP, "data", {"a": 1}),
        (CONFIGMAP, "metadata.name", ...),
    ],
    ids=label,
)
def test_what_the_api_server_refuses(document: Any, path: str, value: Any) -> None:
    assert problems(output_name(document), changed(document, path, value)) != []


def test_status_is_let_through_where_kubernetes_has_one() -> None:
    assert problems(output_name(HPA), {**HPA, "status": {"currentReplicas": 1}}) == []
    assert problems(output_name(CONFIGMAP), {**CONFIGMAP, "status": {}}) == ["."]


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"containers": []},
        {"containers": [{"name": "a"}]},
        {"containers": [{"name": "a", "startupProbe": {"failureThreshold": 3}}]},
        {"containers": [{"name": "a", "resources": {"limits": {"$patch": "replace", "cpu": 1}}}]},
        {"containers": [{"name": "a", "env": [{"name": "A", "$patch": "delete"}]}]},
        {"volumes": [{"name": "a", "emptyDir": {"$patch": "delete"}, "persistentVolumeClaim": {"claimName": "b"}}]},
        {"nodeSelector": {"$patch": "delete"}, "securityContext": {"$patch": "replace", "runAsUser": 1}},
        {"topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 2}]},
    ],
)
def test_a_patch_may_be_in_part(spec: Any) -> None:
    assert problems("input/playground", changed(PLAYGROUND, "spec.podTemplate", {"spec": spec})) == []


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({"container": []}, "spec"),
        ({"containers": [{"image": "a"}]}, "spec.containers.0"),
        ({"containers": [{"name": "a", "env": [{"value": "b"}]}]}, "spec.containers.0.env.0"),
        ({"containers": [{"name": "a", "resources": {"limits": {"cpu": "1GB"}}}]}, "spec.containers.0.resources"),
        ({"containers": [{"name": "a", "resources": {"limits": {"$patch": "1"}}}]}, "spec.containers.0.resources"),
        ({"containers": [{"name": "a", "$patch": "replace"}]}, "spec.containers.0.$patch"),
        ({"tolerations": [{"key": "a"}, {"effect": "NoSchedule"}]}, "spec.tolerations.1"),
        ({"ephemeralContainers": [{"name": "a"}]}, "spec.ephemeralContainers"),
        ({"$setElementOrder/containers": []}, "spec"),
        ({"volumes": [{"name": "a", "emptyDir": {}, "$retainKeys": ["name", "emptyDir"]}]}, "spec.volumes.0"),
        ({"containers": [{"name": "a", "$deleteFromPrimitiveList/args": ["b"]}]}, "spec.containers.0"),
    ],
)
def test_a_patch_is_strict(spec: Any, place: str) -> None:
    places = problems("input/playground", changed(PLAYGROUND, "spec.podTemplate", {"spec": spec}))
    assert places
    assert all(where.startswith(f"spec.podTemplate.{place}") for where in places), places


def test_kept_for_later() -> None:
    """Merge keys (duplicates) and defaults (for checks on what we emit)."""
    lws = json.dumps(schema("output/leaderworkerset.x-k8s.io/leaderworkerset_v1"))
    assert '"x-kubernetes-list-map-keys": ["containerPort", "protocol"]' in lws
    route = json.dumps(schema("output/aigateway.envoyproxy.io/aigatewayroute_v1beta1"))
    assert '"default"' in route
