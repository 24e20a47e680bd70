"""A route to a Gateway of a namespace that the manifests do not have is no fault: another repository has it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.check.engines.test_no_cry_of_wolf import checked

if TYPE_CHECKING:
    from tests.conftest import Llmaz

KINDS = {
    "HTTPRoute": "gateway.networking.k8s.io/v1",
    "GRPCRoute": "gateway.networking.k8s.io/v1",
    "AIGatewayRoute": "aigateway.envoyproxy.io/v1alpha1",
}


def route(kind: str) -> dict[str, Any]:
    """A route of this kind."""
    parent = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "internal", "namespace": "gateways"}
    metadata = {"name": "chat", "namespace": "llm"}
    rule = {"filters": [{"type": "RequestRedirect", "requestRedirect": {"hostname": "a.example.com"}}]}
    spec = {"parentRefs": [parent], "rules": [rule] if kind == "HTTPRoute" else []}
    return {"apiVersion": KINDS[kind], "kind": kind, "metadata": metadata, "spec": spec}


@pytest.mark.parametrize("kind", KINDS)
def test_a_gateway_elsewhere_is_no_fault(kind: str, tmp_path: Path, llmaz: Llmaz) -> None:
    outcome = checked(llmaz, tmp_path, route(kind))
    assert outcome.code == 0, outcome.err
    is_told = "the Gateway 'internal' in namespace 'gateways' is not in the manifests" in outcome.err
    assert is_told == (kind != "GRPCRoute")  # of which no parent is looked for


@pytest.mark.parametrize("kind", ["HTTPRoute", "AIGatewayRoute"])
def test_a_gateway_that_is_missing_here_is_a_fault(kind: str, tmp_path: Path, llmaz: Llmaz) -> None:
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "gateways"}}
    outcome = checked(llmaz, tmp_path, route(kind), other)
    assert outcome.code == 2
    assert "there is no Gateway 'internal' in namespace 'gateways'" in outcome.err
