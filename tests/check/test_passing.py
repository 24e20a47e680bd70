"""Manifests of others that a cluster takes: `llmaz check` has nothing against them, and says what it leaves alone."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from renderer import check, yamlio
from renderer.check.documents import validate_documents
from renderer.check.nulls import without_nulls

if TYPE_CHECKING:
    from tests.conftest import Llmaz

POD = "{containers: [{name: web, image: 'example.com/web:1'%s}]}"
MOUNT = ", volumeMounts: [{name: data, mountPath: /data}]"
CLAIMS = """
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
DEPLOYMENT = f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, labels: ~, annotations: {{note: ~}}, creationTimestamp: ~}}
spec:
  replicas: ~
  strategy: {{type: ~}}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}, annotations: ~}}
    spec: {POD % ", args: [serve, ~], env: [{name: A, value: ~}], resources: {limits: ~, requests: {cpu: ~}}"}
"""
PASSING = {
    "the claims of a StatefulSet are mounted": f"""
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: web}}
spec:
  serviceName: web
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {POD % MOUNT}
  volumeClaimTemplates: {CLAIMS}""",
    "the claims of a LeaderWorkerSet are mounted": f"""
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: web}}
spec:
  leaderWorkerTemplate:
    restartPolicy: RecreateGroupOnPodRestart
    leaderTemplate:
      spec: {POD % MOUNT}
    workerTemplate:
      spec: {POD % MOUNT}
    volumeClaimTemplates: {CLAIMS.replace(chr(10), chr(10) + "  ")}
""",
    "Base64 of several lines": r"""
apiVersion: v1
kind: Secret
metadata: {name: token}
data:
  folded: |
    aGVsbG8g
    d29ybGQ=
  windows: "aGVs\r\nbG8g\r\nd29ybGQ=\r\n"
  torn: "aGVsbG8\n="
  empty: "\n"
---
apiVersion: v1
kind: ConfigMap
metadata: {name: picture}
binaryData:
  a.png: |
    aGVsbG8g
    d29ybGQ=
""",
    "nulls in kinds of Kubernetes": DEPLOYMENT,
    "nulls in custom resources": """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, labels: {app: ~}}
spec:
  hostnames: ~
  parentRefs: [{name: web, group: ~, port: ~}]
  rules: [{matches: ~, backendRefs: [{name: web, port: 80, weight: ~}]}]
""",
    "a list of which items are null": """
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web}
spec: {podSelector: ~, ingress: [~], policyTypes: [Ingress]}
""",
    "a NodeClaim": """
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: l4-a1b2c}
spec:
  requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: l4}
  resources: {requests: {cpu: "4"}}
""",
    "a budget with reasons": """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: l4, resourceVersion: "12"}
spec:
  disruption: {consolidateAfter: 1m, budgets: [{nodes: "1", reasons: [Empty, Drifted]}, {nodes: 10%, reasons: []}]}
  template:
    spec:
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: l4}
""",
}


@pytest.mark.parametrize("name", PASSING)
def test_what_the_api_server_takes(folder: Path, llmaz: Llmaz, name: str) -> None:
    (folder / "a.yaml").write_text(PASSING[name])
    count = PASSING[name].count("\nkind: ")
    objects = f"{count} object{'' if count == 1 else 's'}"
    assert llmaz("check", "--strict", "--per-object", "a.yaml") == (0, "", f"{objects} checked, 0 errors\n")


def test_what_is_dropped_and_what_is_zero() -> None:
    [document] = yamlio.parse("a.yaml", DEPLOYMENT.encode())[0]
    body = without_nulls(document.value)
    runner = {
        "name": "web",
        "image": "example.com/web:1",
        "args": ["serve", ""],
        "env": [{"name": "A"}],
        "resources": {"requests": {"cpu": 0}},
    }
    assert body == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "annotations": {"note": ""}},
        "spec": {
            "strategy": {},
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [runner]}},
        },
    }
    assert without_nulls(body) is body


def test_a_null_in_a_manifest_of_ours_is_a_fault() -> None:
    """We write none, so the rules for what is rendered do not drop them."""
    [document] = yamlio.parse("a.yaml", DEPLOYMENT.encode())[0]
    assert {finding.code for finding in check.validate_object(document.value)} == {"E303", "E304"}


# --- what is not an object

FILES = {
    "web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n",
    "values.yaml": "replicas: 2\nkind: ha\n",
    ".ci.yml": "jobs: []\n",
    "data.json": "[1, 2]\n",
    "mkdocs.yml": "format: !!python/name:some.thing\n",
    "overlays/prod/kustomization.yml": "resources: [../../web.yaml]\npatches: [path: big.yaml, path: ../../all.yaml]\n",
    "overlays/prod/big.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n",
    "overlays/test/Kustomization": """
patchesStrategicMerge:
  - small.yaml
  - |-
    kind: Deployment
patchesJson6902: [{path: list.yaml}]
transformers: [labels.yaml]
configurations: [names.yaml]
configMapGenerator: [{name: a, files: [settings=objects.yaml]}]
helmCharts: [{name: a, valuesFile: own.yaml}]
""",
    "overlays/test/small.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n",
    "overlays/test/list.yaml": "- {op: remove, path: /spec}\n",
    "overlays/test/labels.yaml": "apiVersion: builtin\nkind: LabelTransformer\nmetadata: {name: a}\n",
    "overlays/test/names.yaml": "nameReference: []\n",
    "overlays/test/objects.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n",
    "overlays/test/own.yaml": "a: 1\n",
    "all.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: all}\n",
    "charts/web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.0.0\n",
    "charts/web/templates/web.yaml": "{{- if .Values.on }}\nkind: Pod\n{{- end }}\n",
}


def write(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_files_without_objects_are_told(folder: Path, llmaz: Llmaz) -> None:
    write(folder)
    expected = (
        "not checked, not a Kubernetes object: .ci.yml, data.json, mkdocs.yml and 1 more\n"
        "not checked, part of a kustomization: all.yaml, overlays/prod/big.yaml, overlays/test/labels.yaml and 5 more\n"
        "not checked, chart, which Helm has to render first: charts/web\n"
        "1 object checked, 0 errors\n"
    )
    assert llmaz("check", "--strict", ".") == (0, "", expected)


def test_a_kustomization_above_the_path_counts(folder: Path, llmaz: Llmaz) -> None:
    write(folder)
    (folder / ".git").mkdir()
    (folder / "overlays/prod/kustomization.yml").rename(folder / "kustomization.yaml")
    (folder / "kustomization.yaml").write_text("patches: [{path: overlays/prod/big.yaml}]\n")
    expected = "overlays/prod: nothing to check: no Kubernetes object in 1 file [E125]\n    hint: name another path\n"
    expected += "not checked, part of a kustomization: overlays/prod/big.yaml\n0 objects checked, 1 error\n"
    assert llmaz("check", "overlays/prod") == (2, "", expected)


def test_a_resource_is_an_object_though_it_is_a_patch_elsewhere(folder: Path, llmaz: Llmaz) -> None:
    write(folder)
    (folder / "kustomization.yaml").write_text("resources: [all.yaml]\n")
    assert llmaz("check", ".").err.endswith("\n2 objects checked, 0 errors\n")


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("values.yaml", "E501"),
        ("data.json", "E501"),
        ("overlays/prod/big.yaml", "E302"),
        ("charts/web/templates/web.yaml", "E101"),
    ],
)
def test_a_file_that_is_named_is_judged(folder: Path, llmaz: Llmaz, name: str, code: str) -> None:
    write(folder)
    done = llmaz("check", name)
    assert done.code == 2
    assert f"[{code}]" in done.err
    assert "not checked" not in done.err


# --- pools of the former group

POOL = """
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferencePool
metadata: {name: pool, namespace: llm}
spec: {targetPortNumber: 8000, selector: {app: web}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: class}
spec: {controllerName: %s}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gateway, namespace: llm}
spec: {gatewayClassName: class, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: route, namespace: llm}
spec:
  parentRefs: [{name: gateway}]
  rules:
    - timeouts: {request: 1h}
      backendRefs: [{group: inference.networking.x-k8s.io, kind: InferencePool, name: %s}]
"""


@pytest.mark.parametrize(
    ("controller", "pool", "codes"),
    [
        ("networking.gke.io/gateway", "pool", []),
        ("gateway.envoyproxy.io/gatewayclass-controller", "pool", ["E597"]),
        ("gateway.envoyproxy.io/gatewayclass-controller", "other", ["E580"]),
    ],
)
def test_only_envoy_knows_no_pool_of_the_former_group(controller: str, pool: str, codes: list[str]) -> None:
    documents, _ = yamlio.parse("a.yaml", (POOL % (controller, pool)).encode())
    problems, unknown = validate_documents(documents)
    assert [problem.code for problem in problems] == codes
    assert [document.value["kind"] for document in unknown] == ["InferencePool"]


# --- what no schema has judged

ODD: tuple[object, ...] = (
    None,
    [],
    {},
    "",
    "x",
    0,
    1.5,
    True,
    [None],
    [[]],
    [{}],
    {"a": None},
    ["x"],
    [{"name": ["x"]}],
)
KINDS = (
    "gateway.networking.k8s.io/v1alpha2/Gateway listeners infrastructure.parametersRef gatewayClassName",
    "gateway.networking.k8s.io/v1alpha2/GatewayClass parametersRef",
    "gateway.networking.k8s.io/v1alpha2/HTTPRoute parentRefs rules rules.0.backendRefs hostnames",
    "gateway.networking.k8s.io/v1alpha2/ReferenceGrant from to",
    "gateway.envoyproxy.io/v9/SecurityPolicy targetRefs jwt.providers apiKeyAuth.credentialRefs",
    "gateway.envoyproxy.io/v9/Backend endpoints",
    "aigateway.envoyproxy.io/v9/AIGatewayRoute parentRefs rules",
    "inference.networking.x-k8s.io/v1/InferenceModelRewrite rules rules.0.targets poolRef",
    "inference.networking.x-k8s.io/v1/InferenceObjective poolRef poolRef.name",
    "inference.networking.x-k8s.io/v9/InferencePool selector",
    "apps/v1beta9/ReplicaSet template.spec template.spec.containers",
    "v9/Service ports selector",
)


def odd_object(text: str, chance: random.Random) -> dict[str, object]:
    """An object of a version without a schema, with a value of any type at one of the fields."""
    head, *fields = text.split()
    version, _, kind = head.rpartition("/")
    value: object = chance.choice(ODD)
    for part in reversed(chance.choice(fields).split(".")):
        value = [value] if part == "0" else {part: value}
    metadata = chance.choice(
        [{"name": "a"}, {"name": "a", "namespace": "b"}, {"name": "a", "annotations": value}, value]
    )
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": chance.choice([value, value, None, "x"])}


def test_objects_without_a_schema_break_no_rule() -> None:
    chance = random.Random(23)
    for _ in range(400):
        text = "\n---\n".join(json.dumps(odd_object(kind, chance)) for kind in KINDS)
        documents, _ = yamlio.parse("a.yaml", f"{text}\n---{POOL % ('x', 'a')}".encode())
        _, unknown = validate_documents(documents)
        assert len(unknown) == len(KINDS) + 1
