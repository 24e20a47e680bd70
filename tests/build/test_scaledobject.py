"""KEDA's autoscaler of the LeaderWorkerSet, and what its interceptor is told."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from renderer.build.backend import backends
from renderer.build.hpa import hpa
from renderer.build.interceptor import interceptor_route
from renderer.build.scaledobject import scaled_object
from renderer.build.service import leaders_service
from renderer.diagnostics import Origin, Path
from renderer.plan import Cooldown, Interceptor, KedaTrigger, Plan, Scaler
from tests.build.conftest import Input

CPU = {"type": "cpu", "metricType": "Utilization", "metadata": {"value": "80"}}
QUERY = {"type": "prometheus", "metadata": {"query": "sum(queue)", "threshold": "5"}}
HELD = Interceptor("interceptor.keda.svc", 9000, ("chat", "mails"), 600, 4)


@pytest.fixture
def elastic(plan: Plan, source: Input) -> Plan:
    """A plan that KEDA scales, as resolve makes it."""
    triggers = (KedaTrigger(QUERY, Origin(source, ("queue",)), Origin(source, ("keda",))), cpu(source))
    return replace(plan, replicas=None, scaler=Scaler(2, 5, (), triggers=triggers))


def cpu(source: Input) -> KedaTrigger:
    return KedaTrigger(CPU, Origin(source, ("metrics", 1)))


def spec(plan: Plan, scaler: Scaler) -> dict[str, Any]:
    (manifest,) = scaled_object(replace(plan, scaler=scaler))
    return dict(manifest.body["spec"])


def test_none_without_triggers(plan: Plan) -> None:
    assert scaled_object(plan) == []
    assert scaled_object(replace(plan, scaler=Scaler(1, 2, ()))) == []


def test_it_takes_the_place_of_the_hpa(elastic: Plan) -> None:
    assert hpa(elastic) == []
    (manifest,) = scaled_object(elastic)
    assert manifest.body["metadata"]["annotations"] == {"scaledobject.keda.sh/transfer-hpa-ownership": "true"}
    assert manifest.body["spec"] == {
        "scaleTargetRef": {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "chat"},
        "pollingInterval": 15,
        "minReplicaCount": 2,
        "maxReplicaCount": 5,
        "fallback": {"failureThreshold": 3, "replicas": 2, "behavior": "currentReplicasIfHigher"},
        "advanced": {"horizontalPodAutoscalerConfig": {"name": "chat"}},
        "triggers": [QUERY, CPU],
    }


def test_neither_for_somebody_elses_autoscaler(plan: Plan) -> None:
    foreign = replace(plan, scaler=Scaler(1, 2, (), owner="ScaledObject 'mine'"))
    assert (hpa(foreign), scaled_object(foreign)) == ([], [])


def test_behavior_is_carried_over(plan: Plan, source: Input) -> None:
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 900}}
    scaled_spec = spec(plan, Scaler(1, 2, (), behavior, triggers=(cpu(source),)))
    assert scaled_spec["advanced"]["horizontalPodAutoscalerConfig"] == {"name": "chat", "behavior": behavior}


def test_from_zero_one_replica_is_what_lost_metrics_leave(elastic: Plan) -> None:
    assert elastic.scaler
    scaled_spec = spec(elastic, replace(elastic.scaler, min_replicas=0, cooldown=Cooldown(300, elastic.origin)))
    counts = scaled_spec["minReplicaCount"], scaled_spec["cooldownPeriod"], scaled_spec["fallback"]["replicas"]
    assert counts == (0, 300, 1)


def test_keda_takes_no_fallback_for_cpu_alone(plan: Plan, source: Input) -> None:
    assert "fallback" not in spec(plan, Scaler(1, 2, (), triggers=(cpu(source),)))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("spec", "minReplicaCount"), ("spec", "elasticConfig", "minReplicas")),
        (("spec", "maxReplicaCount"), ("spec", "elasticConfig", "maxReplicas")),
        (("spec", "triggers"), ("spec", "elasticConfig")),
        (("spec", "triggers", 0, "metadata", "threshold"), ("queue", "target")),
        (("spec", "triggers", 0, "metadata", "serverAddress"), ("keda", "serverAddress")),
        (("spec", "triggers", 1, "metadata", "value"), ("metrics", 1, "metadata", "value")),
        (("metadata", "name"), ("metadata", "name")),
    ],
)
def test_who_made_a_field(elastic: Plan, source: Input, path: Path, expected: Path) -> None:
    (manifest,) = scaled_object(elastic)
    assert manifest.origin(path) == Origin(source, expected)


def test_the_interceptor_stands_before_the_workload(plan: Plan) -> None:
    intercepted = replace(plan, host="chat-leaders.llm.svc.cluster.local", interceptor=HELD)
    backend = backends(intercepted)[0].body
    assert backend["spec"]["endpoints"] == [{"fqdn": {"hostname": "interceptor.keda.svc", "port": 9000}}]
    assert leaders_service(intercepted) == []
    (route,) = interceptor_route(intercepted)
    assert route.body["spec"] == {
        "target": {"service": "chat-lb", "port": plan.port.number},
        "rules": [{"headers": [{"name": "x-ai-eg-model", "value": name}]} for name in ("chat", "mails")],
        "scalingMetric": {"concurrency": {"targetValue": 4}},
        "timeouts": {"readiness": "600s", "request": "0s", "responseHeader": "0s"},
    }
    assert interceptor_route(plan) == []
