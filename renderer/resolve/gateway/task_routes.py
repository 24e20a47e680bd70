"""By which API of the AI gateway clients reach a model, by its task; there is none for some tasks."""

from __future__ import annotations

from collections.abc import Mapping

from renderer.api import App, Inputs, OpenModel
from renderer.resolve import claims, tasks
from renderer.resolve.chosen_backend import backend_of
from renderer.resolve.gateway import routing, settings
from renderer.resolve.gateway.settings import GatewaySettings
from renderer.resolve.target_versions import targets_at_least
from renderer.yamlio import SharedMap

OPENAI: Mapping[str, str] = SharedMap({"name": tasks.SCHEMAS[tasks.CHAT]})
"""The schema of an AIServiceBackend for models that speak the API of OpenAI."""
_TRANSCRIPTIONS = "0.7"  # the first AI gateway with /v1/audio/transcriptions (cmd/extproc/mainlib/main.go)


def app_mode(inputs: Inputs, app: App, gateway_settings: GatewaySettings) -> str:
    """The gateway mode of an app (backend, pool or off); off also where the AI gateway has no path for its model."""
    mode = routing.mode(app, gateway_settings)
    return mode if mode == "off" or schema_of(inputs, app) else "off"


def has_pool(inputs: Inputs, app: App) -> bool:
    """Whether a picker chooses among the pods of an app."""
    return app_mode(inputs, app, settings.read_gateway_settings(inputs.config, app.namespace)) == "pool"


def schema_of(inputs: Inputs, app: App) -> Mapping[str, str]:
    """The schema of the app's AIServiceBackend; empty where the AI gateway has no path for the task of its model.

    For a reranker with the version that makes the path of its engine: the AI gateway asks /VERSION/rerank
    (internal/translator/cohere_rerank_v2.go of v1.0.0).
    """
    model = claims.main_model(inputs, app)
    return schema_for(inputs, app, model) if model else OPENAI


def schema_for(inputs: Inputs, app: App, model: OpenModel) -> Mapping[str, str]:
    """That schema, for an app with this main model."""
    if (task := tasks.task_of(model)) == tasks.CHAT:
        return OPENAI
    if task == tasks.RERANKER:
        version = _rerank_version(inputs, app)
        return {"name": tasks.SCHEMAS[task], "version": version} if version else {}
    if task == tasks.TRANSCRIPTION and not targets_at_least(inputs.config, "aiGateway", _TRANSCRIPTIONS):
        return {}
    return OPENAI if tasks.SCHEMAS[task] else {}


def pathless_apps(inputs: Inputs) -> dict[tuple[str, str], str]:
    """The task of the model of each app for which the AI gateway has no path, by namespace and name."""
    by_app: dict[tuple[str, str], str] = {}
    for app in inputs.apps:
        if not schema_of(inputs, app) and (model := claims.main_model(inputs, app)):
            by_app[app.namespace, app.name] = tasks.task_of(model)
    return by_app


def _rerank_version(inputs: Inputs, app: App) -> str:
    """The version in the path at which the engine of an app reranks; '' where nobody says one, as of a Service."""
    if app.kind != "Playground":
        return ""
    name = backend_of(inputs, app)
    runtime = inputs.runtimes.get(name)
    return (runtime.spec.get("engine") or {}).get("rerankVersion") or "" if runtime else ""
