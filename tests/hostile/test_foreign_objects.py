"""Objects of others in the tree, which no schema has judged, with values of the wrong type at every field."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.inputs import CONFIG, gpu_model, playground

if TYPE_CHECKING:
    from tests.conftest import Llmaz

WRONG: list[object] = [None, True, 1, "", "x", {}, {"a": {}}, [], [1, {}], [[]]]
CREATED = f"{CONFIG}{{gateway: {{mode: backend, create: true}}, external: [InferencePool/llm/of-old]}}\n"
POOLS = f"{CONFIG}{{gateway: {{mode: pool}}, external: [InferencePool/llm/of-old]}}\n"
INFERENCE_MODEL = """\
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferenceModel
metadata: {name: of-old, namespace: llm}
spec: {modelName: of-old, poolRef: {name: of-old}}
"""
FOREIGN = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: g, namespace: other, labels: {a: b}}
spec:
  gatewayClassName: eg
  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: Selector, selector: {}}}}]
---
apiVersion: inference.networking.x-k8s.io/v1alpha2
kind: InferencePool
metadata: {name: of-old, namespace: elsewhere}
spec: {targetPortNumber: 8080, selector: {app: vllm}, extensionRef: {name: picker}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: llm}
spec:
  minReplicas: 1
  maxReplicas: 4
  scaleTargetRef: {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: chat}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: s, namespace: llm}
spec:
  minReplicaCount: 1
  scaleTargetRef: {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: chat}
  triggers: [{type: prometheus, metadata: {query: up, threshold: "1"}}]
---
apiVersion: v1
kind: Secret
metadata: {name: keys, namespace: llm}
data: {a: Yg==}
stringData: {c: d}
---
apiVersion: v1
kind: Service
metadata: {name: chat, namespace: llm, labels: {a: b}}
spec: {selector: {app: chat}, ports: [{name: http, port: 80, targetPort: http}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: llm, labels: {a: b}}
---
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: chat, namespace: llm}
spec:
  replicas: 1
  leaderWorkerTemplate: {size: 1, workerTemplate: {spec: {containers: [{name: a, image: b}]}}}
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: r, namespace: llm}
spec: {from: [{group: g, kind: HTTPRoute, namespace: n}], to: [{group: "", kind: Service}]}
"""


def paths(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all fields and items."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from paths(item, (*path, key))


def spoilt(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The object with each field in turn of each wrong type."""
    for *above, last in paths(body):
        for wrong in WRONG:
            other: Any = copy.deepcopy(body)
            parent = other
            for key in above:
                parent = parent[key]
            parent[last] = wrong
            yield other


@pytest.mark.parametrize("config", [CREATED, POOLS], ids=["created", "pools"])
@pytest.mark.parametrize("body", [*yaml.safe_load_all(FOREIGN)], ids=lambda body: str(body["kind"]))
def test_a_field_of_the_wrong_type(
    body: dict[str, Any], config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "llmaz.yaml").write_text(config)
    (tmp_path / "app.yaml").write_text("---\n".join([gpu_model("m"), playground("chat", "llm", "m"), INFERENCE_MODEL]))
    every = list(spoilt(body))
    whole = yaml.safe_dump_all([body, *every], sort_keys=False)
    (tmp_path / "theirs.yaml").write_text(whole)
    for command in (("render", "--check", "-o", "rendered"), ("check", "theirs.yaml")):
        done = llmaz(*command)
        is_input = body["kind"] == "InferencePool"  # of llmaz's rules, which read its kind and name
        assert done.code == (2 if command[0] == "check" or is_input else 1), done.err[-500:]
        assert done.code == 1 or re.search(r"^theirs\.yaml:\d+:\d+: .* \[E(303|501)\]$", done.err, re.MULTILINE)
        assert "E901" not in done.err
    for other in every:
        if other.get("metadata") != body["metadata"]:
            (tmp_path / "theirs.yaml").write_text(yaml.safe_dump_all([other, body], sort_keys=False))
            done = llmaz("render", "--check", "-o", "rendered")
            assert (done.code, "rendered/llm/chat.yaml: missing" in done.err) == (1, True), (other, done.err[-500:])
