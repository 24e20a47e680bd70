"""`<name>-lb`."""

from __future__ import annotations

from msgspec.structs import astuple, replace

from renderer.build.service import client_service, lb_service
from renderer.diagnostics import Origin
from renderer.plan import ClientService, Plan, Port
from tests.build.conftest import Input


def test_the_leaders_under_one_address(plan: Plan) -> None:
    (manifest,) = lb_service(plan)
    assert manifest.body == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "chat-lb", "namespace": "llm", "labels": plan.labels},
        "spec": {
            "selector": {
                "leaderworkerset.sigs.k8s.io/name": "chat",
                "leaderworkerset.sigs.k8s.io/worker-index": "0",
            },
            "ports": [{"name": "http", "port": 8080, "targetPort": 8080, "protocol": "TCP"}],
        },
    }
    assert list(manifest.body) == ["apiVersion", "kind", "metadata", "spec"]


def test_the_port_is_the_runners_own_on_both_sides(plan: Plan) -> None:
    (manifest,) = lb_service(replace(plan, port=Port("grpc", 9000)))
    assert manifest.body["spec"]["ports"] == [{"name": "grpc", "port": 9000, "targetPort": 9000, "protocol": "TCP"}]


def test_plans_do_not_share_a_port_by_accident(plan: Plan) -> None:
    ports = [Port("http", 8080), Port("http", 80), Port("web", 8080), Port("http", 8080)]
    service_ports = [lb_service(replace(plan, port=port))[0].body["spec"]["ports"][0] for port in ports]
    assert [(port["name"], port["port"]) for port in service_ports] == [astuple(port) for port in ports]


def test_it_is_there_whatever_else_the_plan_says(plan: Plan) -> None:
    assert len(list(lb_service(replace(plan, replicas=None, disruption_budget={"maxUnavailable": 1}, size=4)))) == 1


def test_what_is_wrong_with_it_stands_where_the_app_is_named(plan: Plan, source: Input) -> None:
    (manifest,) = lb_service(plan)
    assert manifest.origin(("metadata", "name")) == Origin(source, ("metadata", "name"))
    assert manifest.origin(("metadata", "namespace")) == Origin(source, ("metadata", "namespace"))
    assert manifest.origin(("spec", "ports", 0)).source is source


def test_the_service_that_clients_know(plan: Plan) -> None:
    assert client_service(plan) == []
    service = ClientService("known", 80, "LoadBalancer", {"team": "a"}, {"example.com/a": "b"})
    (manifest,) = client_service(replace(plan, app="chat", service=service, answering_port=Port("front", 9000)))
    assert manifest.body == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "known",
            "namespace": "llm",
            "labels": {**plan.labels, "team": "a"},
            "annotations": {"example.com/a": "b"},
        },
        "spec": {
            "type": "LoadBalancer",
            "selector": lb_service(plan)[0].body["spec"]["selector"],
            "ports": [{"name": "front", "port": 80, "targetPort": 9000, "protocol": "TCP"}],
        },
    }


def test_the_service_of_all_variants(plan: Plan) -> None:
    labels = {"app.kubernetes.io/name": "chat", "app.kubernetes.io/component": "inference-server", "a": "b"}
    service = ClientService("chat", 0, "ClusterIP", {}, {})
    (manifest,) = client_service(replace(plan, app="chat", name="chat-gpu", labels=labels, service=service))
    assert manifest.body["spec"] == {
        "selector": {
            "app.kubernetes.io/name": "chat",
            "app.kubernetes.io/component": "inference-server",
            "leaderworkerset.sigs.k8s.io/worker-index": "0",
        },
        "ports": [{"name": "http", "port": 8080, "targetPort": 8080, "protocol": "TCP"}],
    }
