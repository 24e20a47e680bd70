"""2: Inputs → Plans: every default and override decided, once. Who wins is the contract's section 2.

`plan` walks one app through the rooms of this package: `playground` and `service` say in which order; claims (which
models), sources (where weights are), flavors (what a pod gets), engines, fitting and running (how it runs), options,
lines, environment and resources (who wins), loading, pods and security (what the pod holds), scaling (how many), names
(what Kubernetes takes).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from renderer.api import App, BackendRuntime, OpenModel, Traffic
from renderer.plan import Plan, Wanted, Way
from renderer.problems import Findings, Origin, Path, Problem, Stop, failing
from renderer.resolve import (
    annotated,
    claims,
    engines,
    flavors,
    inferencemodels,
    modelroutes,
    names,
    pools,
    resources,
    routing,
    scaling,
    versions,
)
from renderer.resolve.clashing import clashes
from renderer.resolve.flavors import accelerates
from renderer.resolve.joint import joints
from renderer.resolve.memo import Memo, door, engine, memo, weights
from renderer.resolve.monitoring import adapted
from renderer.resolve.placing import Placed, placed, told
from renderer.resolve.routing import crossed
from renderer.resolve.scaling import queue_metric
from renderer.resolve.workloads import workloads


def plan(memo: Memo, item: App | Traffic) -> tuple[tuple[Plan | Way, ...], list[Problem]]:
    """Everything decided for one Playground or Service, one Plan a workload, or for one ModelRoute or InferenceModel;
    and what is wrong with it; none when something stands in the way.
    """
    found = Findings()
    made: Sequence[Plan | Way]
    try:
        if isinstance(item, Traffic):
            lead = modelroutes.way if item.kind == "ModelRoute" else inferencemodels.way
            made = [lead(memo, item, found)]
        else:
            made = _routed(memo, item, workloads(memo, item, found), found)
    except Stop:
        return (), found.problems
    return () if found.problems and failing(found.problems) else tuple(made), found.problems


def _routed(memo: Memo, app: App, plans: list[Plan], found: Findings) -> list[Plan]:
    """The workloads with what leads to them."""
    here, last = door(memo, app.namespace), plans[-1]
    mode = routing.mode(app, here)
    if mode == "off":
        return plans
    if mode == "pool":
        made = pools.pooled(memo, app, here, plans, found)
        targets = [pools.target(last)]
    else:
        made, targets = plans, routing.targets(plans)
    if memo.traffic and _led(memo, app, last.serves):
        return made
    model = memo.inputs.models[last.model]
    asked = routing.asking(last.serves, routing.named(app, model), tuple(targets), model)
    own = app.spec.get("gateway")
    if own and ("allow" in own or "timeouts" in own):
        asked = asked.by(app)
    route = routing.route(app, here, asked, found)
    shared = (
        *routing.wanted(here, route),
        routing.claimed(app, here, route.model, (), "" if route.packed else route.name),
    )
    return [*made[:-1], made[-1]._replace(route=route, shared=(*last.shared, *shared))]


def _led(memo: Memo, app: App, served: str) -> bool:
    """Whether somebody else's route leads here instead of an own one: a ModelRoute's, or that of an InferenceModel with
    the same public name.
    """
    return any(
        each.kind == "ModelRoute" or each.spec["modelName"] == served
        for each in memo.traffic.get((app.namespace, app.name), ())
    )


def needs(plans: Sequence[Plan | Way]) -> tuple[Wanted, ...]:
    """What the workloads of an app need together with others, and what all must know of it."""
    return plans[0].shared if len(plans) == 1 else tuple(each for plan in plans for each in plan.shared)


def leans(plans: Sequence[Plan | Way]) -> frozenset[tuple[str, str, str]]:
    """The objects of others that these name, by kind, namespace and name."""
    return frozenset(each for plan in plans if isinstance(plan, Way) for each in plan.leans)


def checked(memo: Memo, item: OpenModel | BackendRuntime) -> list[Problem]:
    """What is wrong with a model or runtime of the user's, used or not."""
    found = Findings()
    if isinstance(item, BackendRuntime):
        at = Origin(item.document, ("spec",))
        names.dotted_name(item.name, Origin(item.document, ("metadata", "name")), found)
        for i, config in enumerate(item.spec.get("recommendedConfigs") or ()):
            where = at.at("recommendedConfigs", i)
            resources.merged(resources.Side(config.get("resources") or {}, where), resources.Side({}, where), {}, found)
        scaling.metric_known(item.spec.get("engine") or {}, at.at("engine"), found)
        made, problems = engine(memo, item)
        if made:
            engines.judge_own(memo.inputs.option_files, made, found)
        for version in versions.every(item):
            problems = [*problems, *engine(memo, item, version=version)[1]]
        return found.problems + problems
    names.object_name(item, found)
    seen: dict[str, int] = {}
    for i, flavor in enumerate((item.spec.get("inferenceConfig") or {}).get("flavors") or ()):
        if not (i or memo.catalog or "params" in flavor):  # as with most
            seen[flavor["name"]] = i
            continue
        here = Origin(item.document, ("spec", "inferenceConfig", "flavors", i))
        if seen.setdefault(flavor["name"], i) != i:
            found.add("W207", here.at("name"), name=flavor["name"])
        flavors.unknown(memo.catalog, flavor, here, found)
        if params := flavor.get("params"):
            flavors.misspelt(params, here.at("params"), found)
    annotated.judge_model(item, found)
    names.family(item, found)
    for name in item.spec.get("engines") or ():
        with suppress(Stop):
            origin = Origin(item.document, ("spec", "engines", name), key=True)
            engines.runtime(memo.inputs, name, origin, found)
    return found.problems + weights(memo, item)[1]


def dangling(memo: Memo) -> list[Problem]:
    """Names that lead nowhere in documents which their schema refused: said in the same run, without planning them."""
    inputs, found = memo.inputs, Findings()
    for (kind, _), document in inputs.broken.items():
        spec = document.value.get("spec") if kind in ("Playground", "Service") else None
        if not isinstance(spec, dict):
            continue
        for path, name in _names(spec):
            origin = document.origin("spec", *path)
            with suppress(Stop):
                (engines.runtime if path[0] == "backendRuntimeConfig" else claims.model)(inputs, name, origin, found)
    return found.problems


def _names(spec: Any) -> Iterator[tuple[Path, str]]:
    """Where a Playground or Service of any shape names models and a backend."""
    places: list[Path] = [("modelClaim", "modelName"), ("backendRuntimeConfig", "backendName")]
    several = spec.get("modelClaims")
    listed = several.get("models") if isinstance(several, dict) else None
    places += [("modelClaims", "models", i, "name") for i in range(len(listed) if isinstance(listed, list) else 0)]
    for path in places:
        value: Any = spec
        for part in path:
            inside = (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int))
            value = value[part] if inside else None
        if isinstance(value, str) and value:
            yield path, value


__all__ = [
    "Memo",
    "Placed",
    "accelerates",
    "adapted",
    "checked",
    "clashes",
    "crossed",
    "dangling",
    "joints",
    "leans",
    "memo",
    "needs",
    "placed",
    "plan",
    "queue_metric",
    "told",
]
