"""What clients of an app would have to know, and do not: a key of its engine, and names without a route."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule
from renderer.engines.given_options import written_options
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes.json_values import texts_at
from renderer.resolve.engine.lora import loaded_adapters
from renderer.resolve.gateway.settings import GatewaySettings, gateway_settings
from renderer.resolve.gateway.task_routes import app_mode
from renderer.resolve.rules.files import variables_of_users
from renderer.resolve.workload.planned_pod import PlannedPod

_OF_OPERATORS = "admin"  # in the name of an option for the key of other paths than those of clients


def _settings(planned: PlannedPod) -> GatewaySettings:
    return gateway_settings(planned.run.base.context, planned.app.namespace)


def _mode(planned: PlannedPod) -> str:
    return app_mode(planned.run.base.context.inputs, planned.app, _settings(planned))


@rule(of=PlannedPod, when=lambda planned: _settings(planned).auth)
def second_key(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for a key of the engine behind a Gateway that asks for keys or tokens of its own."""
    engine, entry = planned.run.engine, table_entry(planned.run.engine.runtime.name)
    options = [option for option in texts_at(entry, "apiKey") if _OF_OPERATORS not in option]
    written = written_options(engine.style, planned.command.user_layers, options)
    keys = [(option.name, option.origin) for option in written]
    variables = variables_of_users(planned, texts_at(entry, "apiKeyVariables"))
    keys += [(name, Origin(origin.source, (*origin.path[:-1], "name"))) for name, _, origin in variables]
    if keys and _mode(planned) != "off":
        name, origin = keys[0]
        yield make_diagnostic("W921", origin, key=name, gateway="/".join(_settings(planned).gateway))


def _may_load_adapters(planned: PlannedPod) -> object:
    """Whether users may load adapters by options; beside claimed ones that is an error."""
    run, app = planned.run, planned.app
    return planned.command.user_layers and run.engine.spec.get("adapters") and not run.adapters and not app.role


@rule(of=PlannedPod, when=_may_load_adapters)
def unrouted_adapters(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for adapters that options of users load, and to whose names no route leads. In a pool, names are what
    InferenceModels say.
    """
    engine, command, app = planned.run.engine, planned.command, planned.app
    options = (engine.spec.get("adapters") or {}).get("options") or ()
    if command.user_options.isdisjoint(options) or _mode(planned) != "backend":
        return
    traffic = planned.run.base.context.traffic.get((app.namespace, app.name), ())
    texts = [str(item.spec) for item in traffic]
    for layer in command.user_layers:
        names = [adapter.name for adapter in loaded_adapters(engine.spec, engine.style, "", layer.args)]
        unknown = [name for name in names if not any(name in text for text in texts)]
        places = [i for i, token in enumerate(layer.args) if engine.style.name(token) in options]
        if unknown and places:
            words = {"name": unknown[0], "app": app.name, "kind": app.kind.lower()}
            yield make_diagnostic("W922", layer.origin_of(places[-1]), **words)
