"""What does not go with RenderConfig's settings of autoscalers and of the collection of metrics."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import RenderConfig
from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.resolve import monitoring, network_policy
from renderer.resolve.autoscaling import keda_triggers

_SOURCE, _KEDA = ("autoscaling", "metricSource", "type"), ("autoscaling", "keda")


def _has_settings(config: RenderConfig) -> object:
    """Whether RenderConfig has settings of autoscalers."""
    return config.get("autoscaling")


@rule(of=RenderConfig, when=_has_settings)
def settings_of_keda(config: RenderConfig) -> Iterator[Diagnostic]:
    """What only KEDA reads, where another autoscaler is chosen."""
    if keda_triggers.is_chosen(config):
        return
    if config.get(*_SOURCE) == "prometheus":
        yield make_diagnostic("E350", config.origin(*_SOURCE))
    if config.get(*_KEDA) is not None:
        yield make_diagnostic("W350", config.origin(*_KEDA, key=True))


@rule(of=RenderConfig, when=_has_settings)
def half_of_authentication(config: RenderConfig) -> Iterator[Diagnostic]:
    """An error for one of two fields that Prometheus' authentication needs together."""
    prometheus = config.get(*keda_triggers.PROMETHEUS, default={})
    if ("authModes" in prometheus) != ("authenticationRef" in prometheus):
        lacking, present = sorted(("authModes", "authenticationRef"), key=lambda key: key in prometheus)
        origin = config.origin(*keda_triggers.PROMETHEUS, present, key=True)
        yield make_diagnostic("E352", origin, present=present, lacking=lacking)


@rule(of=RenderConfig, when=_has_settings)
def unused_monitor(config: RenderConfig) -> Iterator[Diagnostic]:
    """A warning for settings of a PodMonitor that is not rendered."""
    if config.get(*monitoring.SETTINGS) is not None and not monitoring.metrics_collected(config):
        yield make_diagnostic("W220", config.origin(*monitoring.SETTINGS, key=True))


@rule(of=RenderConfig, when=_has_settings)
def policy_before_prometheus(config: RenderConfig) -> Iterator[Diagnostic]:
    """A warning where the NetworkPolicies let Prometheus read no engine."""
    is_policy = config.get(*network_policy.SETTING) and not network_policy.further_peers(config)
    if is_policy and monitoring.metrics_collected(config):
        yield make_diagnostic("W323", config.origin(*network_policy.SETTING))


@rule(of=RenderConfig, when=_has_settings)
def replaced_monitor_labels(config: RenderConfig) -> Iterator[Diagnostic]:
    """Errors for labels of the PodMonitor that it has already."""
    for key in config.get(*monitoring.SETTINGS, "labels", default={}):
        if key in monitoring.LABELS:
            yield make_diagnostic("E277", config.origin(*monitoring.SETTINGS, "labels", key, key=True), key=key)
