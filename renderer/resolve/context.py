"""What is worked out once for all apps of a run."""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from renderer.api import App, Inputs, TrafficInput
from renderer.diagnostics import Diagnostic
from renderer.plan import Body, Plan, Rollout

if TYPE_CHECKING:  # the rooms above, whose results are kept here
    from renderer.resolve import flavors, pod_defaults, weight_sources
    from renderer.resolve.engine import backend_runtime
    from renderer.resolve.gateway import pickers, settings
    from renderer.resolve.pod import loader_presets

_TELLS_ALL = 2  # the last version of this format that is the same for the same values, however they are held


def cache_key(*values: Any) -> bytes:
    """What only the same values have: 1, 1.0 and True are three, and maps are the same in one order of their keys."""
    return marshal.dumps(values, _TELLS_ALL)


class RunContext(Struct, frozen=True, eq=False):
    """One run's memory: what is worked out once for all apps."""

    inputs: Inputs
    pod_defaults: pod_defaults.PodDefaults
    catalog: Mapping[str, flavors.Flavor | None]
    metrics_collected: bool  # whether metrics are collected
    rollout: Rollout  # of a Playground
    hardening: str  # of the pods of apps that say nothing of it
    policy: str  # what several flavors mean to such apps
    scheduler: str  # that RenderConfig names, '' for none
    problems: tuple[Diagnostic, ...]  # what is wrong with RenderConfig's `pods`, `flavors` and `loaders`
    apps: Mapping[tuple[str, str], App]  # by namespace and name, those outside PATHS too
    traffic: Mapping[tuple[str, str], tuple[TrafficInput, ...]]  # by namespace and name of an app, what leads to it
    engines: dict[
        tuple[str, int, str], tuple[backend_runtime.Engine | None, list[Diagnostic]]
    ]  # by name, drain, version
    gateways: dict[str, settings.GatewaySettings]
    weights: dict[str, tuple[weight_sources.Weights | None, list[Diagnostic]]]
    loaders: dict[str, loader_presets.Loader]
    pickers: dict[str, pickers.Picker]
    picker_configs: dict[
        tuple[str, str, bytes, bool], tuple[Body, Body]
    ]  # a picker's files, by what it is told of an engine
    served: dict[str, dict[str, list[App]]]  # by namespace, the apps by their public names
    plans: dict[tuple[str, str], list[Plan]]  # as `traffic`, the workloads of sound apps
    placements: dict[bytes, flavors.Placement]  # by what a claim and its main model say of flavors
    envs: dict[bytes, Sequence[Body]]  # by how they are written
    scales: dict[bytes, tuple[tuple[Body, ...], Body]]  # by the trigger, what an autoscaler looks at, and its behavior
