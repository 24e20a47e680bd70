"""2: Inputs → Plans: every default and override decided, once. Who wins is the contract's section 2.

`plan` walks one app through the rooms of this package: `playground` and `service` say in which order; claims (which
models), sources (where weights are), flavors (what a pod gets), engines and fitting (how it runs), options,
environment and resources (who wins), loading, pods and security (what the pod holds), scaling (how many), names (what
Kubernetes takes).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from renderer.api import App, BackendRuntime, Inputs, OpenModel
from renderer.plan import Plan
from renderer.problems import Findings, Origin, Path, Problem, Stop, failing
from renderer.resolve import claims, engines, names, playground, resources, scaling, service
from renderer.resolve.joint import joints
from renderer.resolve.memo import Memo, engine, memo, weights
from renderer.resolve.scaling import adapted, queue_metric


def plan(memo: Memo, app: App) -> tuple[Plan | None, list[Problem]]:
    """Everything decided for one Playground or Service, and what is wrong with it; None when something stands in the
    way.
    """
    found = Findings()
    try:
        made = (playground if app.kind == "Playground" else service).plan(memo, app, found)
    except Stop:
        return None, found.problems
    return None if failing(found.problems) else made, found.problems


def checked(memo: Memo, item: OpenModel | BackendRuntime) -> list[Problem]:
    """What is wrong with a model or runtime of the user's, used or not."""
    found = Findings()
    named, at = Origin(item.document, ("metadata", "name")), Origin(item.document, ("spec",))
    if isinstance(item, BackendRuntime):
        names.dotted_name(item.name, named, found)
        for i, config in enumerate(item.spec.get("recommendedConfigs") or ()):
            where = at.at("recommendedConfigs", i, "resources")
            resources.merged(resources.Side(config.get("resources") or {}, where), resources.Side({}, where), {}, found)
        scaling.metric_known(item.spec.get("engine") or {}, at.at("engine"), found)
        made, problems = engine(memo, item)
        if made:
            engines.judge_own(memo.inputs.option_files, made, found)
        return found.problems + problems
    names.object_name(item.name, named, found)
    seen: dict[str, int] = {}
    for i, flavor in enumerate((item.spec.get("inferenceConfig") or {}).get("flavors") or ()):
        if seen.setdefault(flavor["name"], i) != i:
            found.add("W207", at.at("inferenceConfig", "flavors", i, "name"), name=flavor["name"])
    names.family(item, found)
    for name in item.spec.get("engines") or ():
        with suppress(Stop):
            engines.runtime(memo.inputs, name, at.at("engines", name, key=True), found)
    return found.problems + weights(memo, item)[1]


def clashes(inputs: Inputs) -> list[Problem]:
    """Playgrounds and Services whose names LWS needs for a Service of its own while another's Service has them."""
    apps, found = {(app.namespace, app.name): app for app in inputs.apps}, Findings()
    for app in inputs.apps:
        for suffix in ("-lb", "-leaders"):
            if other := apps.get((app.namespace, app.name + suffix)):
                file, line, _ = app.origin("metadata", "name").place
                place = other.origin("metadata", "name")
                found.add("E288", place, name=other.name, other=app.name, file=file, line=line)
    return found.problems


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


__all__ = ["Memo", "adapted", "checked", "clashes", "dangling", "joints", "memo", "plan", "queue_metric"]
