"""The PodMonitor of a server with several models, of which each has metrics of its own (`engine.models.metrics` of the
preset).
"""

from __future__ import annotations

from renderer.plan import ModelEndpoint, ModelsMonitor
from renderer.resolve.monitoring import monitor_settings
from renderer.resolve.workload.engine_run import EngineRun


def models_monitor(run: EngineRun) -> ModelsMonitor | None:
    """The PodMonitor of an app whose server has metrics of each of its models; None for any other."""
    scrape, path = (run.engine.spec.get("models") or {}).get("metrics"), run.engine.spec.get("metrics", {}).get("path")
    base = run.base
    if not (run.mains and scrape and path and base.context.metrics_collected):
        return None
    params = {key: [value] for key, value in (scrape.get("params") or {}).items()}
    return ModelsMonitor(
        settings=monitor_settings(base.context.inputs, base.app.name, base.labels),
        path=path,
        model_param=scrape["model"],
        endpoints=tuple(
            ModelEndpoint(
                params={scrape["model"]: [main.claimed.model.name], **params},
                name=main.name,
                origin=base.app.origin(*main.claimed.path),
            )
            for main in run.mains
        ),
    )
