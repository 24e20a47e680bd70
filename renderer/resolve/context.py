"""The run context: settings and caches that all apps of a run share."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from renderer.api import App, Inputs, TrafficInput
from renderer.diagnostics import Collector, Diagnostic
from renderer.engines.catalog import EngineCatalog
from renderer.plan import Body, Plan, Rollout, Scaler

if TYPE_CHECKING:  # the rooms above, whose results are kept here
    from renderer.resolve import flavors, pod_defaults, weight_sources
    from renderer.resolve.engine import backend_runtime, template_words
    from renderer.resolve.gateway import pickers, settings
    from renderer.resolve.pod import loaders

Key = TypeVar("Key")
Value = TypeVar("Value")
_FORMAT = 2  # of marshal: the last one whose output does not depend on the identities of values


def cache_key(*values: Any) -> bytes:
    """A key that only equal values of equal types have; maps also need the same order of keys."""
    return marshal.dumps(values, _FORMAT)


def cached(
    cache: MutableMapping[Key, Value], key: Key, work: Callable[[Collector], Value], diagnostics: Collector
) -> Value:
    """What `work` returns, kept for equal keys unless it finds problems, since these point at one app."""
    value = cache.get(key)
    if value is None:
        problem_count = len(diagnostics.problems)
        value = work(diagnostics)
        if len(diagnostics.problems) == problem_count:
            cache[key] = value
    return value


class RunContext(Struct, frozen=True, eq=False):
    """The settings of one run, and its caches."""

    inputs: Inputs
    pod_defaults: pod_defaults.PodDefaults
    catalog: Mapping[str, flavors.Flavor | None]
    known_engines: EngineCatalog  # for pods that somebody wrote
    metrics_collected: bool  # RenderConfig names a source of metrics
    rollout: Rollout  # of a Playground
    disruption_budget: Body  # the spec of PodDisruptionBudgets, less their selectors
    hardening: str  # the default of apps
    flavor_policy: str  # the default of apps
    scheduler: str  # '' without one
    listen_address: str  # of all engines
    problems: tuple[Diagnostic, ...]  # of RenderConfig's `pods`, `flavors` and `loaders`
    apps: Mapping[tuple[str, str], App]  # by namespace and name, those outside PATHS too
    claimed_models: frozenset[str]  # the names of single models that apps in PATHS claim for sure on their own flavors
    traffic: Mapping[tuple[str, str], tuple[TrafficInput, ...]]  # by namespace and name of an app
    strict: bool  # warnings are errors, and what is too close to tell is told
    tells_all: bool  # what nobody knows is told
    foreign_scalers: Mapping[tuple[str, str, str], Scaler]  # of others, by kind, namespace and name of the workload
    engines: dict[
        tuple[str, str, template_words.ConstantWords], tuple[backend_runtime.Engine | None, list[Diagnostic]]
    ]  # by name, version
    gateways: dict[str, settings.GatewaySettings]
    weights: dict[str, tuple[weight_sources.Weights | None, list[Diagnostic]]]
    loaders: dict[str, loaders.Loader]
    pickers: dict[str, pickers.Picker]
    picker_configs: dict[tuple[str, str, bytes, bool], tuple[Body, Body]]  # a picker's files, by its words
    apps_by_public_name: dict[str, dict[str, list[App]]]  # by namespace
    plans: dict[tuple[str, str], list[Plan]]  # by namespace and name, of apps without errors
    placements: dict[bytes, flavors.Placement]  # by the flavors in a claim and its main model
    envs: dict[bytes, Sequence[Body]]  # normalized, by their text
    scaling: dict[bytes, tuple[tuple[Body, ...], Body]]  # metrics and behavior of an autoscaler, by its trigger
