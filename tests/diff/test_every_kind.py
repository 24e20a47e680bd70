"""The risks of pods are told of every kind that runs pods, at each template and container."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import NamedTuple

import pytest

from renderer.diff.comparison import compare
from renderer.diff.risks import KINDS
from tests.diff.objects import texts
from tests.workload_kinds import ALL_SORTS, SHAPES, Body, Spot, spots


class Fault(NamedTuple):
    """What a change gives a pod or a container."""

    risk: str
    what: str
    fields: Body
    sorts: tuple[str, ...] = ()  # of containers; () for a field of the pod

    def plant(self, spot: Spot) -> None:
        (spot.container if self.sorts else spot.spec).update(copy.deepcopy(self.fields))


SECRET: Body = {"name": "a", "secret": {"secretName": "settings"}}
FAULTS = (
    *(Fault("privileges", field, {field: True}) for field in ("hostPID", "hostNetwork", "hostIPC")),
    Fault("privileges", "port", {"ports": [{"containerPort": 9000, "hostPort": 9000}]}, ALL_SORTS),
    Fault("privileges", "of the pod", {"securityContext": {"seccompProfile": {"type": "Unconfined"}}}),
    Fault("privileges", "privileged", {"securityContext": {"privileged": True}}, ALL_SORTS),
    Fault("privileges", "root", {"securityContext": {"runAsUser": 0}}, ALL_SORTS),
    Fault("service-account", "account", {"serviceAccountName": "admin"}),
    Fault("service-account", "token", {"automountServiceAccountToken": True}),
    Fault("priority", "priority", {"priorityClassName": "system-node-critical"}),
    Fault("whole-secret", "variables", {"envFrom": [{"secretRef": {"name": "settings"}}]}, ALL_SORTS),
    Fault("whole-secret", "files", {"volumeMounts": [{"name": "secret", "mountPath": "/a"}]}, ALL_SORTS),
    Fault("plaintext-secret", "variable", {"env": [{"name": "API_TOKEN", "value": "abcdefgh12345678"}]}, ALL_SORTS),
    Fault("plaintext-secret", "option", {"args": ["--api-key=abcdefgh12345678"]}, ALL_SORTS),
    Fault("host-path", "folder", {"volumes": [{"name": "a", "hostPath": {"path": "/etc"}}]}),
    Fault("floating-tag", "image", {"image": "registry.example/main:latest"}, ALL_SORTS),
)
OTHERS: Mapping[str, str] = {
    "what runs an app's model alone, which a diff compares as a model; others are shown as changed objects": (
        "restart lost-requests roles replaced renamed immutable queue model-deleted hand-over scale-to-zero"
        " scale-to-one autoscaler download group-network held-back"
    ),
    "routes, Gateways, access and claims, which have no pods": (
        "guard listener-gone listener closed no-backend path share rights provider-host new-claim"
    ),
}


PLACED = ("privileges", "service-account", "priority", "whole-secret")
"""The risks whose messages tell the pod template where an object has several."""


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{fault.risk} {fault.what}" for fault in FAULTS])
def test_each_risk_is_told(fault: Fault) -> None:
    for shape in SHAPES:
        messages = set()
        for spot in spots(shape, fault.sorts or ALL_SORTS[:1]):
            spot.spec["volumes"] = [{"name": "secret", "secret": {"secretName": "settings"}}]
            before = texts(copy.deepcopy(spot.body))
            fault.plant(spot)
            risks = [risk for risk in compare(before, texts(spot.body)).risks if risk.kind != "restart"]
            assert {(risk.kind, risk.key.kind) for risk in risks} == {(fault.risk, spot.kind)}, spot.address
            messages.add(risks[0].message)
        if fault.risk in PLACED:
            assert len(messages) == len([*spots(shape, fault.sorts or ALL_SORTS[:1])]), shape


def test_each_risk_is_planted_or_has_no_pods() -> None:
    others = [risk for risks in OTHERS.values() for risk in risks.split()]
    assert sorted([*others, *{fault.risk for fault in FAULTS}]) == sorted(KINDS)
