"""ConfigMap: the configuration files of an engine."""

from __future__ import annotations

from renderer.build.metadata import name_origins
from renderer.diagnostics import Origin, Path
from renderer.kubernetes import wellknown
from renderer.plan import Manifest, Plan


def config_map(plan: Plan) -> list[Manifest]:
    """One when the engine's preset has configuration files for this workload, none otherwise."""
    if not plan.config:
        return []
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": plan.name + wellknown.CONFIG_MAP, "namespace": plan.namespace, "labels": plan.labels},
        "data": dict(plan.config),
    }
    return [Manifest(body, lambda: _origins(plan))]


def _origins(plan: Plan) -> dict[Path, Origin]:
    origins = plan.origins()
    return {
        **name_origins(plan.origin),
        **{("data", *path[1:]): origin for path, origin in origins.items() if path[0] == "config"},
    }
