"""Pool mode: an InferencePool over an app's leaders, and a picker that sends each request to one of them."""

from __future__ import annotations

from collections.abc import Sequence

from renderer.api import App
from renderer.plan import Body, Plan, Pool, Target, new_target
from renderer.problems import Findings, Origin
from renderer.resolve import pickers
from renderer.resolve.gateways import Door
from renderer.resolve.memo import Memo, key_of, picker
from renderer.yamlio import Shared

SUFFIX = "-epp"
_OFF = "turns its metrics off, by which the picker chooses"
_COMPONENT = "endpoint-picker"


def _asked_by(app: App, door: Door) -> Origin:
    """Who says that the app is in this mode."""
    return app.origin("spec", "gateway", "mode") if "mode" in (app.spec.get("gateway") or {}) else door.at("mode")


def pooled(memo: Memo, app: App, door: Door, plans: Sequence[Plan], found: Findings) -> list[Plan]:
    """The workload with its pool and picker. Raises Stop where no pool can stand before it."""
    chosen = picker(memo, pickers.named(memo.inputs, door, found))
    if len(plans) > 1:
        found.stop("E638", _asked_by(app, door), name=app.name)
    plan = plans[0]
    if why := _unfit(plan):
        found.stop("E637", _asked_by(app, door), name=app.label, why=why)
    pod = plan.leader or plan.worker
    runner = pod.containers[0]
    said = [each["name"] for each in runner.env] + [each.partition("=")[0] for each in runner.args]
    for key, what in (("guardedBy", "puts its metrics behind a key, and the picker has none"), ("turnedOffBy", _OFF)):
        words = plan.metrics.get(key)
        for word in dict.fromkeys([each for each in said if each in words]) if words else ():
            found.add("E639", _asked_by(app, door), app=app.name, name=word, what=what)
    labelled = pod._replace(labels={**pod.labels, chosen.label: plan.backend})
    pool = _pool(memo, chosen, plan)
    return [plan._replace(pool=pool, leader=labelled) if plan.leader else plan._replace(pool=pool, worker=labelled)]


def _unfit(plan: Plan) -> str:
    """Why no picker can choose among these pods, '' when one can."""
    if not plan.backend:
        return "nobody knows which metrics its pods have"
    if not (plan.metrics.get("waiting") and plan.metrics.get("running") and plan.metrics.get("path")):
        return f"no metric of the queue is known of '{plan.backend}'"
    if plan.called != plan.serves:
        return (
            f"'{plan.backend}' calls the model '{plan.called}', and whether a request to a pool gets another name "
            "than its public one depends on the gateway's version"
        )
    return ""


def _pool(memo: Memo, chosen: pickers.Picker, plan: Plan) -> Pool:
    metrics = plan.metrics
    words = {
        "Pool": plan.name,
        "Namespace": plan.namespace,
        "Engine": plan.backend,
        "MetricsPath": metrics["path"],
        "Waiting": metrics["waiting"],
        "Running": metrics["running"],
        "KVUsage": metrics.get("kvUsage", ""),
        # Of an engine without adapters it would look for this in vain, and log it for each pod.
        "Adapters": metrics.get("adapters", "") if plan.adapters else "",
        "CacheInfo": metrics.get("cacheInfo", ""),
        "CacheBlockSize": metrics.get("cacheBlockSize", ""),
        "CacheBlocks": metrics.get("cacheBlocks", ""),
    }
    key = chosen.name, plan.backend, key_of(metrics), bool(plan.adapters)
    if key not in memo.told:
        memo.told[key] = _told(chosen.config(words), memo.every.annotations)
    config, annotations = memo.told[key]
    labels = Shared({**plan.labels, "app.kubernetes.io/component": _COMPONENT})
    return Pool(
        name=plan.name + SUFFIX,
        labels=labels,
        image=chosen.image,
        args=tuple(chosen.args(words)),
        config=config,
        groups=chosen.reads,
        resources=chosen.resources,
        pod_security=chosen.pod_security,
        security=chosen.security,
        more=chosen.more,
        pod_labels={**labels, **memo.every.labels} if memo.every.labels else labels,
        annotations=annotations,
    )


def _told(config: str, more: Body) -> tuple[Body, Body]:
    """The files of a picker's ConfigMap, and its pod's annotations: it reads them once, when it starts."""
    import hashlib  # few runs need it

    mark = {"renderer.llmaz.io/config": hashlib.sha256(config.encode()).hexdigest()[:16]}
    return Shared({"config.yaml": config}), Shared({**mark, **more})


def target(plan: Plan) -> Target:
    """The pool, as a route names it."""
    return new_target(plan.name, 1, plan.serves, pool=True)
