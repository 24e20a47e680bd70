"""The devices that pods claim."""

from __future__ import annotations

from msgspec.structs import replace

from renderer import check
from renderer.build.resourceclaim import resource_claim_template
from renderer.diagnostics import Origin
from renderer.plan import DeviceTemplate, Plan
from tests.build.conftest import Input

REQUEST = {
    "name": "accelerators",
    "exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": 2},
}


def test_one_where_devices_are_claimed(plan: Plan, source: Input) -> None:
    assert resource_claim_template(plan) == []
    origin = Origin(source, ("spec", "flavors", "pair", "claims"))
    claiming = replace(plan, devices=DeviceTemplate("chat-0123abcd", REQUEST, origin))
    (manifest,) = resource_claim_template(claiming)
    assert manifest.body == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": "chat-0123abcd", "namespace": "llm", "labels": plan.labels},
        "spec": {"spec": {"devices": {"requests": [REQUEST]}}},
    }
    assert check.validate_manifests([manifest]) == []
    count = manifest.origin(("spec", "spec", "devices", "requests", 0, "exactly", "count"))
    assert count.path == ("spec", "flavors", "pair", "claims", "count")
