"""The autoscaler of the LeaderWorkerSet."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from renderer.build.hpa import hpa
from renderer.diagnostics import Origin, Path
from renderer.plan import Plan, Scaler, ScaleTrigger
from tests.build.conftest import Input

METRIC = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
OTHER = {"type": "Pods", "pods": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "5"}}}


@pytest.fixture
def elastic(plan: Plan, source: Input) -> Plan:
    """A plan with an autoscaler, as resolve makes it."""
    trigger = ScaleTrigger({}, Origin(source, ("trigger",)))
    return replace(plan, replicas=None, scaler=Scaler(2, 5, (METRIC, OTHER), layers=(trigger,)))


def test_none_without_an_autoscaler(plan: Plan) -> None:
    assert list(hpa(plan)) == []


def test_it_scales_the_workload_itself(elastic: Plan) -> None:
    (manifest,) = hpa(elastic)
    assert manifest.body == {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {
            "name": "chat",
            "namespace": "llm",
            "labels": {"app.kubernetes.io/name": "chat", "app.kubernetes.io/component": "autoscaler"},
        },
        "spec": {
            "scaleTargetRef": {
                "apiVersion": "leaderworkerset.x-k8s.io/v1",
                "kind": "LeaderWorkerSet",
                "name": "chat",
            },
            "minReplicas": 2,
            "maxReplicas": 5,
            "metrics": [METRIC, OTHER],
        },
    }
    assert list(manifest.body) == ["apiVersion", "kind", "metadata", "spec"]
    assert elastic.labels["app.kubernetes.io/component"] == "inference-server"  # the plan's own labels stay


def test_behavior_is_written_where_there_is_one(elastic: Plan) -> None:
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 0}}
    (manifest,) = hpa(replace(elastic, scaler=Scaler(1, 2, (METRIC,), behavior)))
    assert manifest.body["spec"]["behavior"] == behavior
    assert list(manifest.body["spec"]) == ["scaleTargetRef", "minReplicas", "maxReplicas", "metrics", "behavior"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("spec", "minReplicas"), ("spec", "elasticConfig", "minReplicas")),
        (("spec", "maxReplicas"), ("spec", "elasticConfig", "maxReplicas")),
        (("spec", "metrics", 1, "pods"), ("trigger", "metrics", 1, "pods")),
        (("spec", "behavior", "scaleUp"), ("trigger", "behavior", "scaleUp")),
        (("metadata", "name"), ("metadata", "name")),
        (("spec", "scaleTargetRef"), ("spec", "scaleTargetRef")),  # nobody wrote it: the document stands for it
    ],
)
def test_who_made_a_field(elastic: Plan, source: Input, path: Path, expected: Path) -> None:
    (manifest,) = hpa(elastic)
    assert manifest.origin(path) == Origin(source, expected)


def test_the_queue_of_an_engine_has_its_target_in_the_preset(elastic: Plan, source: Input) -> None:
    trigger = ScaleTrigger({}, Origin(source, ("engine", "scale")), of_engine=True)
    (manifest,) = hpa(replace(elastic, scaler=Scaler(2, 5, (OTHER,), layers=(trigger,))))
    target = manifest.origin(("spec", "metrics", 0, "pods", "target", "averageValue"))
    assert target == Origin(source, ("engine", "scale", "target"))
