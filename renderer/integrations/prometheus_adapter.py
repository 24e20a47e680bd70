"""Values for the prometheus-adapter chart, whose rules give autoscalers the metrics of engines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from renderer import load, resolve, yamlio
from renderer.api import BackendRuntime, RenderOptions
from renderer.diagnostics import Diagnostic
from renderer.text import escapes

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeSpec

_HEAD = "# Values for the chart prometheus-adapter, printed by llmaz presets adapter-rules.\n"


def rules(paths: tuple[str, ...] = ()) -> tuple[str, list[Diagnostic]]:
    """A values file with one rule for each metric that a BackendRuntime scales on, sorted by metric, and diagnostics.

    Without `paths` only presets count, with them also the BackendRuntimes below them. Raises RenderError.
    """
    if not paths:
        presets = [load.preset(f"backends/{name}").value["spec"] for name in load.preset_names("backends")]
        return _values(presets), []
    scope = load.scope(RenderOptions(paths, allow_empty=True))
    inputs, problems = load.inputs(scope)
    context, runtimes = (
        resolve.run_context(inputs),
        [item for item in inputs.definitions if isinstance(item, BackendRuntime)],
    )
    problems += [diagnostic for item in runtimes for diagnostic in resolve.validate_item(context, item)]
    return _values([runtime.spec for runtime in inputs.runtimes.values()]), problems


def _values(specs: Iterable[BackendRuntimeSpec]) -> str:
    names = {resolve.queue_metric(spec.get("engine") or {}) for spec in specs} - {""}
    custom = [_rule(name) for name in sorted(names)]
    return _HEAD + yamlio.dump({"rules": {"default": False, "custom": custom}})


def _rule(name: str) -> dict[str, object]:
    """A rule for one metric by pod. The PodMonitor sets both labels; the query keeps one value for each pod."""
    return {
        "seriesQuery": escapes.promql_selector(name, 'namespace!=""', 'pod!=""'),
        "resources": {"overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}},
        "name": {"as": resolve.adapter_metric_name(name)},
        "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
    }
