"""A Service → its Plan: hand-written pods, and what the models need of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path, Stop, has_errors
from renderer.json_values import maps_at
from renderer.plan import Plan, Pod, Port
from renderer.resolve import monitoring, names, target_versions
from renderer.resolve.apps import provenance
from renderer.resolve.apps.app_base import AppBase, app_base
from renderer.resolve.context import RunContext
from renderer.resolve.engine.backend_runtime import PORT
from renderer.resolve.gateway import routing
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.kube import api_defaults
from renderer.resolve.pod import pods

_POLICY = "RecreateGroupOnPodRestart"


def plan(context: RunContext, app: App, diagnostics: Collector) -> Plan:
    """Everything decided. Raises Stop when the claim or a template leaves nothing to build."""
    spec = app.spec
    own, at = spec["workloadTemplate"], app.origin("spec", "workloadTemplate")
    size, count = own.get("size", 1), spec.get("replicas", 1)
    if size < 1:
        diagnostics.add("E285", at.at("size"), value=size)
    if count < 0:
        diagnostics.add("E270", app.origin("spec", "replicas"), value=count)
    names.validate_app_names(app, size, count, diagnostics)
    base = app_base(context, app, diagnostics)
    leader = _pod(context, app, base, "leaderTemplate", diagnostics) if own.get("leaderTemplate") is not None else None
    worker = _pod(context, app, base, "workerTemplate", diagnostics, marked=leader is None)
    if has_errors(diagnostics.problems):
        raise Stop
    rollout = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    policy, groups = own.get("restartPolicy", _POLICY), own.get("subGroupPolicy") or {}
    revision, served = base.weights[0].revision, spec.get("servedModelName")
    settings = gateway_settings(context, app.namespace)
    public = served or base.claim.main.spec.get("servedModelName") or base.claim.main.name
    return Plan(
        name=app.name,
        app=app.label,
        namespace=app.namespace,
        file=app.file,
        labels=base.labels,
        annotations={
            **({"renderer.llmaz.io/model-revision": revision} if revision else {}),
            **({"renderer.llmaz.io/served-model-name": served} if served else {}),
        },
        replicas=count,
        size=size,
        # A leader that waits for its workers would never get ready before they start
        # (docs/deviations.md#bugs-of-the-operator, 33).
        startup_policy="LeaderReady" if size == 1 else "LeaderCreated",
        restart_policy="None" if policy == "Default" else policy,
        rollout=target_versions.rollout(
            context.inputs.config, rollout.get("maxUnavailable", 1), rollout.get("maxSurge", 0)
        ),
        leader=leader,
        worker=worker,
        port=_port(leader or worker),
        model=base.claim.main.name,
        serves=public,
        called=public,  # what its template serves is its author's business
        disruptable=count >= 2,
        host=routing.host(app, settings, routing.mode(app, settings)),
        shared=(
            *base.shared,
            *(monitoring.monitor_needs(app.namespace, leader or worker) if context.metrics_collected else ()),
        ),
        sub_groups=target_versions.sub_group_policy(context.inputs.config, groups),
        origins=lambda: _origins(context, app, base),
    )


def _pod(
    context: RunContext,
    app: App,
    base: AppBase,
    key: Literal["leaderTemplate", "workerTemplate"],
    diagnostics: Collector,
    *,
    marked: bool = True,
) -> Pod:
    """One template with what the models need. `marked`: it is the one with the model's labels and annotation."""
    at = app.origin("spec", "workloadTemplate", key)
    template = app.spec["workloadTemplate"][key]
    if not any(container.get("name") == pods.RUNNER for container in maps_at(template, "spec", "containers")):
        # Upstream's webhook looks at the worker only; a leader without one runs there.
        code = "E286" if key == "workerTemplate" else "W208"
        diagnostics.add(code, at.at("spec", "containers"), key=key)
    normalised = api_defaults.default_pod_template(template, at, diagnostics)
    return pods.handwritten_pod(context.inputs.config, base.kit, normalised, marked, diagnostics, at)


def _port(pod: Pod) -> Port:
    """The port that the runner listens on: the one called http, else its first; 8080 when it names none."""
    runner = next((container for container in pod.containers if container.name == pods.RUNNER), pod.containers[0])
    port = next(
        (port_body for port_body in runner.ports if port_body.get("name") == "http"),
        runner.ports[0] if runner.ports else {},
    )
    return Port(port.get("name", "http"), port.get("containerPort", PORT))


def _origins(context: RunContext, app: App, base: AppBase) -> Mapping[Path, Origin]:
    """What made each part of the plan."""
    at = app.origin("spec", "workloadTemplate")
    flavor, in_pods = base.kit.placement.origins(base.claim.main), dict[Path, Origin]()
    for key in ("leaderTemplate", "workerTemplate"):
        if app.spec["workloadTemplate"].get(key) is None:
            continue
        template = api_defaults.default_pod_template(app.spec["workloadTemplate"][key], at.at(key), Collector())
        tolerations = (template.get("spec") or {}).get("tolerations") or ()
        env, known = pods.runner_origins(base.kit, template, flavor, at.at(key))
        known |= {**dict(provenance.loaders(base, env)), **dict(pods.origins(base.kit, template, tolerations))}
        in_pods |= {("said", key, *path): origin for path, origin in known.items()}
    return {
        (): app.origin(),
        ("name",): app.origin("metadata", "name"),
        ("namespace",): app.origin("metadata", "namespace"),
        ("replicas",): app.origin("spec", "replicas"),
        ("size",): at.at("size"),
        ("rollout",): app.origin("spec", "rolloutStrategy", "rollingUpdateConfiguration"),
        ("sub_groups",): at.at("subGroupPolicy"),
        ("leader",): at.at("leaderTemplate"),
        ("worker",): at.at("workerTemplate"),
        ("said", "restartPolicy"): at.at("restartPolicy"),
        **provenance.claimed(context, app, base),
        **in_pods,
    }
