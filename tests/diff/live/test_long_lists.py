"""What a comparison with a dump says of objects with many of a kind, which it looks up instead of searching."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from renderer.diff.live.counterparts import match_pods, read_pod
from renderer.diff.live.leaves import flatten
from renderer.diff.live.server_fields import comparable, is_default
from renderer.kubernetes.json_values import value_at
from tests.diff.live.dumps import ADOPTED, Body, catalog, report_of
from tests.diff.live.test_mutations import bodies_of, nodes

VOLUMES = [
    {"name": "models", "persistentVolumeClaim": {"claimName": "weights"}},
    {"name": "below", "hostPath": {"path": "/data/x"}},
    {"name": "odd", "hostPath": {"path": "/odd"}},
]
MOUNTS = [
    {"name": "models", "mountPath": "/models"},
    {"name": "below", "mountPath": "/models/below/"},
    {"name": "odd", "mountPath": "/a folder"},
]


def pod(volumes: list[Body], mounts: list[Body], name: str = "server") -> Body:
    container = {"name": name, "image": "vllm/vllm-openai:v0.24.0", "args": ["--model", "a/b"], "volumeMounts": mounts}
    return {"spec": {"containers": [container], "volumes": volumes}}


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("/models/a.gguf", "pvc://weights/a.gguf"),
        ("/models", "pvc://weights"),
        ("/models/", "pvc://weights/"),
        ("/models/below/a", "host:///data/x/a"),
        ("/models/belower", "pvc://weights/belower"),
        ("/models.old/a", "/models.old/a"),
        ("/other/models/a", "/other/models/a"),
        ("a=/models/a,/models/below", "a=pvc://weights/a,host:///data/x"),
        ("/a folder/b", "host:///odd/b"),
        ("models", "models"),
    ],
)
def test_paths_of_weights_are_replaced_by_what_is_there(text: str, replaced: str) -> None:
    assert read_pod(pod(VOLUMES, MOUNTS), ("spec", "template"), catalog()).weights(text) == replaced


def test_each_volume_has_one_counterpart() -> None:
    """Also where a volume is mounted twice, or one of ours at the paths of two of theirs."""
    theirs = pod(
        [{"name": "a", "emptyDir": {}}, {"name": "b", "emptyDir": {}}],
        [{"name": "a", "mountPath": "/1"}, {"name": "a", "mountPath": "/2"}, {"name": "b", "mountPath": "/3"}],
    )
    ours = pod(
        [{"name": "x", "emptyDir": {}}, {"name": "y", "emptyDir": {}}],
        [{"name": "x", "mountPath": "/1"}, {"name": "y", "mountPath": "/2"}, {"name": "x", "mountPath": "/3"}],
        "model-runner",
    )
    sides = [read_pod(template, ("spec", "template"), catalog()) for template in (theirs, ours)]
    assert match_pods(*sides).volumes == {"a": "y", "b": "x"}


def test_items_of_one_name_are_told_apart() -> None:
    items = [{"name": "a", "value": str(i)} for i in range(4)]
    keys = [key for key, _ in flatten({"env": items}, (), (), lambda key, item: "")]
    assert len({*keys}) == len(keys) == 4
    assert keys[:2] == [("env", "[a]", "value"), ("env", "[a again]", "value")]


FILLED_BY_OTHERS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: a, namespace: default, labels: {app: a}}
spec:
  selector: {matchLabels: {app: a}}
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  template:
    metadata: {labels: {app: a}}
    spec:
      serviceAccountName: own
      initContainers: [{name: before, image: "busybox:1.37"}]
      containers:
        - name: a
          image: own/engine
          ports: [{containerPort: 80, protocol: TCP}]
          livenessProbe: {httpGet: {port: 80, path: /, scheme: HTTPS}, timeoutSeconds: 1}
          env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.nodeName, apiVersion: v1}}}]
      volumes:
        - {name: image, image: {reference: "own/weights:1", pullPolicy: IfNotPresent}}
        - {name: config, configMap: {name: a, defaultMode: 420, optional: false}}
        - {name: scratch, emptyDir: {}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: a}
spec:
  selector: {matchLabels: {app: a}}
  updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 0}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem}}]
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: "own/engine:latest"}]}}
---
apiVersion: v1
kind: Service
metadata: {name: a}
spec:
  type: NodePort
  selector: {app: a}
  sessionAffinity: ClientIP
  sessionAffinityConfig: {clientIP: {timeoutSeconds: 10800}}
  externalTrafficPolicy: Cluster
  ports: [{port: 80, targetPort: 80}, {port: 81, targetPort: 80}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}
  minReplicas: 1
  maxReplicas: 3
  behavior: {scaleUp: {stabilizationWindowSeconds: 0}, scaleDown: {selectPolicy: Min}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: a, labels: {app: a}}
spec:
  completions: 1
  template: {metadata: {labels: {app: a}}, spec: {restartPolicy: Never, containers: [{name: a, image: own/job}]}}
---
apiVersion: v1
kind: Namespace
metadata: {name: a, labels: {kubernetes.io/metadata.name: a}}
"""
"""Objects of the server's own kinds, with defaults that follow from other fields."""


@pytest.mark.parametrize("name", [*ADOPTED, ""])
def test_what_the_server_fills_in_does_not_depend_on_the_rest_of_long_lists(name: str) -> None:
    """It is found out by the surroundings of a field alone, which say the same as the whole object."""
    count = 0
    for body in bodies_of(name) if name else yaml.safe_load_all(FILLED_BY_OTHERS):
        view = comparable(body)
        for place in nodes(view, ()):
            parent = value_at(view, *place[:-1])
            if not isinstance(parent, dict):
                continue
            shorter = copy.deepcopy(view)
            owner: Any = shorter
            for part in place[:-1]:
                owner = owner[part]
            del owner[place[-1]]
            whole = value_at(comparable(shorter), *place) == value_at(view, *place)
            assert is_default(view, place) == whole, (body["kind"], place)
            count += whole
    assert count > 20


def test_a_changed_item_of_many_is_told() -> None:
    template = {"metadata": {"labels": {"app": "a"}}, **pod(VOLUMES, MOUNTS)}
    template["spec"]["hostAliases"] = [{"ip": f"10.0.{i}.1", "hostnames": [f"a{i}.example.com"]} for i in range(200)]
    spec = {"selector": {"matchLabels": {"app": "a"}}, "template": template}
    theirs = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}
    ours = copy.deepcopy(theirs)
    aliases: Any = value_at(ours, "spec", "template", "spec", "hostAliases")
    aliases[77]["hostnames"] = ["b.example.com"]
    [difference] = report_of([theirs], [ours]).differences()
    assert "hostAliases[10.0.77.1]" in difference.path
