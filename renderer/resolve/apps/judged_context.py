"""The run context, with what is wrong with RenderConfig's Gateways."""

from __future__ import annotations

from msgspec.structs import replace

from renderer.api import Inputs
from renderer.diagnostics import Collector
from renderer.resolve.apps import app_base
from renderer.resolve.apps.rules import judged
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import settings


def run_context(inputs: Inputs) -> RunContext:
    """The context of a run over these inputs, with empty caches."""
    context, diagnostics = app_base.run_context(inputs), Collector()
    gateways = judged(settings.collect_gateways(inputs.config), diagnostics)
    for gateway in gateways.by_name.values():
        judged(gateway, diagnostics)
    return replace(context, problems=(*context.problems, *diagnostics.problems))
