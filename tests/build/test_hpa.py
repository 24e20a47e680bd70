"""The autoscaler of the LeaderWorkerSet."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from renderer.build.hpa import hpa
from renderer.diagnostics import Origin, Path
from renderer.plan import Plan, Scaler
from tests.build.conftest import Input

METRIC = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
OTHER = {"type": "Pods", "pods": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "5"}}}


@pytest.fixture
def elastic(plan: Plan, source: Input) -> Plan:
    """A plan with an autoscaler, as resolve makes it: `elastic` leads to what asked for one."""
    origins = {**plan.origins(), ("elastic",): Origin(source, ("spec", "elasticConfig"))}
    return replace(plan, replicas=None, scaler=Scaler(2, 5, (METRIC, OTHER)), origins=lambda: origins)


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
    ("more", "path", "expected"),
    [
        ({}, ("spec", "minReplicas"), ("spec", "elasticConfig", "minReplicas")),
        ({}, ("spec", "maxReplicas"), ("spec", "elasticConfig", "maxReplicas")),
        ({}, ("spec", "metrics", 1, "pods"), ("spec", "elasticConfig", 1, "pods")),
        ({("metrics",): ("trigger", "metrics")}, ("spec", "metrics", 1, "pods"), ("trigger", "metrics", 1, "pods")),
        ({("behavior",): ("trigger", "behavior")}, ("spec", "behavior", "scaleUp"), ("trigger", "behavior", "scaleUp")),
        ({}, ("metadata", "name"), ("metadata", "name")),
        ({}, ("spec", "scaleTargetRef"), ("spec", "scaleTargetRef")),  # nobody wrote it: the document stands for it
    ],
)
def test_who_made_a_field(elastic: Plan, source: Input, more: dict[Path, Path], path: Path, expected: Path) -> None:
    origins: dict[Path, Any] = {**elastic.origins(), **{key: Origin(source, where) for key, where in more.items()}}
    (manifest,) = hpa(replace(elastic, origins=lambda: origins))
    assert manifest.origin(path) == Origin(source, expected)
