"""Values for the prometheus-adapter chart: under which names autoscalers find the metrics that engines scale on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from renderer import load, resolve, yamlio
from renderer.api import BackendRuntime, Options, Spec
from renderer.problems import Problem

_HEAD = "# Values for the chart prometheus-adapter, printed by llmaz presets adapter-rules.\n"


def rules(paths: tuple[str, ...] = ()) -> tuple[str, list[Problem]]:
    """A values file with one rule for each metric that a preset scales on, and each BackendRuntime below the paths, in
    the order of the metrics' names; and what is wrong with the files there. Raises RenderError.
    """
    if not paths:
        presets = [load.preset(f"backends/{name}").value["spec"] for name in load.preset_names("backends")]
        return _values(presets), []
    scope = load.scope(Options(paths, allow_empty=True))
    inputs, problems = load.inputs(scope)
    memo, own = resolve.memo(inputs), [item for item in inputs.own if isinstance(item, BackendRuntime)]
    problems += [each for item in own for each in resolve.checked(memo, item)]
    return _values([runtime.spec for runtime in inputs.runtimes.values()]), problems


def _values(specs: Iterable[Spec]) -> str:
    names = {resolve.queue_metric(spec.get("engine") or {}) for spec in specs} - {""}
    custom = [_rule(name) for name in sorted(names)]
    return _HEAD + yamlio.dump({"rules": {"default": False, "custom": custom}})


def _rule(name: str) -> dict[str, Any]:
    """One metric by pod: the PodMonitor gives its series both labels, and the query keeps one value a pod."""
    return {
        "seriesQuery": f'{name}{{namespace!="",pod!=""}}',
        "resources": {"overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}},
        "name": {"as": resolve.adapted(name)},
        "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
    }
