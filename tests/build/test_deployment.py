"""The workload of apps whose replicas are one pod each."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from renderer.build.deployment import deployment
from renderer.build.hpa import hpa
from renderer.build.lws import lws, pod_template
from renderer.build.service import lb_service
from renderer.plan import Plan, Rollout, Scaler

SELECTOR = {
    "app.kubernetes.io/name": "chat",
    "app.kubernetes.io/component": "inference-server",
    "renderer.llmaz.io/workload": "chat",
}


def deployed(plan: Plan, **fields: Any) -> Plan:
    return replace(plan, kind="Deployment", **fields)


def test_the_least(plan: Plan) -> None:
    assert deployment(plan) == []
    assert lws(deployed(plan)) == []
    (made,) = deployment(deployed(plan))
    assert made.body == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat", "namespace": "llm", "labels": plan.labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": SELECTOR},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}},
            "template": pod_template(plan.worker),
        },
    }


def test_all_that_an_app_may_say(plan: Plan) -> None:
    rollout = Rollout("25%", 2)
    full = deployed(
        plan, replicas=None, annotations={"a": "b"}, workload_labels={"c": "d"}, progress_deadline=900, rollout=rollout
    )
    body = deployment(full)[0].body
    assert body["metadata"]["labels"] == {**plan.labels, "c": "d"}
    assert body["metadata"]["annotations"] == {"a": "b"}
    assert "replicas" not in body["spec"]
    assert body["spec"]["progressDeadlineSeconds"] == 900
    assert body["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": 2}


def test_what_leads_to_it(plan: Plan) -> None:
    assert lb_service(deployed(plan))[0].body["spec"]["selector"] == SELECTOR
    target = hpa(deployed(plan, scaler=Scaler(1, 2, ())))[0].body["spec"]["scaleTargetRef"]
    assert target == {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat"}
