"""What rendered objects need, beside the Application or HelmRelease of the tree that installs our chart."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from renderer.api import Inputs, RenderConfig
from renderer.check.foreign.platform_releases import OUR_CHART, FindReleases
from renderer.check.graph import declared_objects
from renderer.diagnostics import Diagnostic, make_diagnostic
from renderer.kubernetes.json_values import text_at

_METRICS = ("autoscaling", "metricSource", "type")
_SCALER = ("autoscaling", "autoscaler")
_ISSUER = ("gateway", "tls", "issuer")


class _Need(Struct, frozen=True):
    """A component of our chart that a setting asks for."""

    key: tuple[str, ...]  # of RenderConfig
    component: str
    kind: str  # of an object that is there with the component, cluster-scoped
    name: str
    effect: str  # in a cluster without it


def missing_components(find_releases: FindReleases, inputs: Inputs) -> Iterator[Diagnostic]:
    """A note for each setting that needs a component of our chart which the tree's own values leave out, and which is
    not declared to exist. Trees without our chart are not judged: nobody knows what their cluster has.
    """
    needs = list(_component_needs(inputs.config))
    releases = [release for release in find_releases() if release.chart == OUR_CHART] if needs else []
    if not releases:
        return
    external, file = declared_objects(inputs.config), releases[0].place
    for need in needs:
        is_there = any(release.may_have(need.component, "enabled") for release in releases)
        if is_there or external.declared(need.kind, "", need.name):
            continue
        words = {"file": file, "component": need.component, "effect": need.effect}
        yield make_diagnostic("N535", inputs.config.origin(*need.key), **words, declare=f"{need.kind}/{need.name}")


def _component_needs(config: RenderConfig) -> Iterator[_Need]:
    """What the settings for all models need."""
    source = config.get(*_METRICS)
    if source in ("prometheusAdapter", "prometheus"):
        effect = "Argo CD or Flux cannot apply the PodMonitor"
        name = "podmonitors.monitoring.coreos.com"
        yield _Need(_METRICS, "prometheus", "CustomResourceDefinition", name, effect)
    if source == "prometheusAdapter":
        effect = "autoscalers find no metric and never scale"
        yield _Need(_METRICS, "prometheusAdapter", "APIService", "v1beta1.custom.metrics.k8s.io", effect)
    if config.get(*_SCALER) == "keda":
        effect = "Argo CD or Flux cannot apply the ScaledObjects"
        yield _Need(_SCALER, "keda", "CustomResourceDefinition", "scaledobjects.keda.sh", effect)
    if config.get("gateway", "create") and (issuer := text_at(config.spec, *_ISSUER)):
        effect = "the Gateway gets no certificate and answers nothing"
        yield _Need(_ISSUER, "certManager", "ClusterIssuer", issuer, effect)
