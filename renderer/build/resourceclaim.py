"""ResourceClaimTemplate: the devices of each pod, by dynamic resource allocation."""

from __future__ import annotations

from renderer.build.metadata import name_origins
from renderer.diagnostics import Origin, Path
from renderer.plan import DeviceTemplate, Manifest, Plan

_REQUEST: Path = ("spec", "spec", "devices", "requests", 0)


def resource_claim_template(plan: Plan) -> list[Manifest]:
    """One where the flavor of the workload claims devices; its pods name it."""
    devices = plan.devices
    if not devices:
        return []
    body = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": devices.name, "namespace": plan.namespace, "labels": plan.labels},
        "spec": {"spec": {"devices": {"requests": [devices.request]}}},
    }
    return [Manifest(body, lambda: _origins(plan, devices))]


def _origins(plan: Plan, devices: DeviceTemplate) -> dict[Path, Origin]:
    keys = ("deviceClassName", "count", "selectors")
    return {
        **name_origins(plan.origin),
        **{(*_REQUEST, "exactly", key): devices.origin.at(key) for key in keys},
    }
