"""A Service → its Plan: hand-written pods, and what the models need of them."""

from __future__ import annotations

from collections.abc import Mapping

from renderer.api import App
from renderer.plan import Plan, Pod, Port
from renderer.problems import Findings, Origin, Path, Stop, failing
from renderer.resolve import monitoring, names, normal, pods, routing, saying, targets
from renderer.resolve.engines import PORT
from renderer.resolve.memo import Claimed, Memo, claimed, door

_POLICY = "RecreateGroupOnPodRestart"


def plan(memo: Memo, app: App, found: Findings) -> Plan:
    """Everything decided. Raises Stop when the claim or a template leaves nothing to build."""
    spec = app.spec
    own, at = spec["workloadTemplate"], app.origin("spec", "workloadTemplate")
    size, count = own.get("size", 1), spec.get("replicas", 1)
    if size < 1:
        found.add("E285", at.at("size"), value=size)
    if count < 0:
        found.add("E270", app.origin("spec", "replicas"), value=count)
    names.app_names(app, size, count, found)
    base = claimed(memo, app, found)
    leader = _pod(memo, app, base, "leaderTemplate", found) if own.get("leaderTemplate") is not None else None
    worker = _pod(memo, app, base, "workerTemplate", found, marked=leader is None)
    if failing(found.problems):
        raise Stop
    rollout = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    policy, groups = own.get("restartPolicy", _POLICY), own.get("subGroupPolicy") or {}
    revision, served = base.weights[0].revision, spec.get("servedModelName")
    here = door(memo, app.namespace)
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
        # A leader that waits for its workers would never get ready before they start (bug 33).
        startup_policy="LeaderReady" if size == 1 else "LeaderCreated",
        restart_policy="None" if policy == "Default" else policy,
        rollout=targets.rollout(memo.inputs.config, rollout.get("maxUnavailable", 1), rollout.get("maxSurge", 0)),
        leader=leader,
        worker=worker,
        port=_port(leader or worker),
        model=base.claim.main.name,
        serves=public,
        called=public,  # what its template serves is its author's business
        disruptable=count >= 2,
        host=routing.host(app, here, routing.mode(app, here)),
        shared=(*base.shared, *(monitoring.wanted(app.namespace, leader or worker) if memo.fed else ())),
        sub_groups=targets.sub_groups(memo.inputs.config, groups),
        origins=lambda: _origins(memo, app, base),
    )


def _pod(memo: Memo, app: App, base: Claimed, key: str, found: Findings, *, marked: bool = True) -> Pod:
    """One template with what the models need. `marked`: it is the one with the model's labels and annotation."""
    at = app.origin("spec", "workloadTemplate", key)
    template = app.spec["workloadTemplate"][key]
    containers = (template.get("spec") or {}).get("containers") or ()
    if not any(container.get("name") == pods.RUNNER for container in containers):
        # Upstream's webhook looks at the worker only; a leader without one runs there.
        code = "E286" if key == "workerTemplate" else "W208"
        found.add(code, at.at("spec", "containers"), key=key)
    normalised = normal.template(template, at, found)
    return pods.handwritten(memo.inputs.config, base.kit, normalised, marked, found, at)


def _port(pod: Pod) -> Port:
    """The port that the runner listens on: the one called http, else its first; 8080 when it names none."""
    runner = next((each for each in pod.containers if each.name == pods.RUNNER), pod.containers[0])
    port = next((each for each in runner.ports if each.get("name") == "http"), runner.ports[0] if runner.ports else {})
    return Port(port.get("name", "http"), port.get("containerPort", PORT))


def _origins(memo: Memo, app: App, base: Claimed) -> Mapping[Path, Origin]:
    """What made each part of the plan."""
    at = app.origin("spec", "workloadTemplate")
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
        **saying.claimed(memo, app, base),
    }
