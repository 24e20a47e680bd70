"""One run's memory, and what both kinds of apps ask of it."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from renderer.api import App, BackendRuntime, Inputs, OpenModel, Traffic
from renderer.plan import Body, Plan, Rollout, Wanted
from renderer.problems import Findings, Origin, Problem, Stop
from renderer.records import NamedTuple, Record, quick
from renderer.resolve import (
    annotated,
    claims,
    compiling,
    engines,
    everypod,
    flavors,
    gateways,
    loading,
    monitoring,
    names,
    openmodels,
    pickers,
    pods,
    sources,
    targets,
)
from renderer.schema import spec_default
from renderer.yamlio import Shared

_TELLS_ALL = 2  # the last version of this format that is the same for the same values, however they are held


def key_of(*values: Any) -> bytes:
    """What only the same values have: 1, 1.0 and True are three, and maps are the same in one order of their keys."""
    return marshal.dumps(values, _TELLS_ALL)


class Memo(Record):
    """One run's memory: what is worked out once for all apps."""

    inputs: Inputs
    every: everypod.EveryPod
    catalog: Mapping[str, flavors.Flavor | None]
    fed: bool  # whether metrics are collected
    rollout: Rollout  # of a Playground
    hardening: str  # of the pods of apps that say nothing of it
    policy: str  # what several flavors mean to such apps
    scheduler: str  # that RenderConfig names, '' for none
    problems: tuple[Problem, ...]  # what is wrong with RenderConfig's `pods`, `flavors` and `loaders`
    apps: Mapping[tuple[str, str], App]  # by namespace and name, those outside PATHS too
    traffic: Mapping[tuple[str, str], tuple[Traffic, ...]]  # by namespace and name of an app, what leads to it
    engines: dict[tuple[str, int, str], tuple[engines.Engine | None, list[Problem]]]  # by name, drain, version
    doors: dict[str, gateways.Door]
    weights: dict[str, tuple[sources.Weights | None, list[Problem]]]
    loaders: dict[str, loading.Loader]
    pickers: dict[str, pickers.Picker]
    told: dict[tuple[str, str, bytes, bool], tuple[Body, Body]]  # a picker's files, by what it is told of an engine
    served: dict[str, dict[str, list[App]]]  # by namespace, the apps by their public names
    plans: dict[tuple[str, str], list[Plan]]  # as `traffic`, the workloads of sound apps
    placements: dict[bytes, flavors.Placement]  # by what a claim and its main model say of flavors
    envs: dict[bytes, Sequence[Body]]  # by how they are written
    scales: dict[bytes, tuple[tuple[Body, ...], Body]]  # by the trigger, what an autoscaler looks at, and its behavior


def memo(inputs: Inputs) -> Memo:
    """An empty memory for these inputs."""
    found = Findings()
    every, catalog = everypod.everypod(inputs.config, found), flavors.catalog(inputs.config, found)
    loading.settings(inputs.config, found)
    gateways.gates(inputs.config, found)
    apps = {(each.namespace, each.name): each for each in (*inputs.beyond, *inputs.apps)}
    return Memo(
        inputs=inputs,
        every=every,
        catalog=catalog,
        fed=monitoring.fed(inputs),
        rollout=targets.rollout(inputs.config),
        hardening=inputs.config.get("hardening") or "default",
        policy=flavors.usual_policy(inputs),
        scheduler=inputs.config.get("schedulerName") or "",
        problems=tuple(found.problems),
        apps=apps,
        traffic=_leading(inputs.traffic),
        engines={},
        doors={},
        weights={},
        loaders={},
        pickers={},
        told={},
        served={},
        plans={},
        placements={},
        envs={},
        scales={},
    )


def _leading(traffic: Iterable[Traffic]) -> dict[tuple[str, str], tuple[Traffic, ...]]:
    """What leads to each app, as far as it names the app itself."""
    made: dict[tuple[str, str], tuple[Traffic, ...]] = {}
    for each in traffic:
        for name in dict.fromkeys(each.apps):
            made[each.namespace, name] = (*made.get((each.namespace, name), ()), each)
    return made


def backend(memo: Memo) -> str:
    """The backend of a Playground that names none: RenderConfig's, else the CRD's default."""
    return str(memo.inputs.config.get("backend") or spec_default("Playground", "backendRuntimeConfig", "backendName"))


def weights(memo: Memo, model: OpenModel) -> tuple[sources.Weights | None, list[Problem]]:
    """Where the model's weights are, None when its source says nothing that works; and what is wrong with it."""
    known = memo.weights.get(model.name)
    if known is None:
        found = Findings()
        try:
            made: sources.Weights | None = sources.weights(memo.inputs, model, found)
        except Stop:
            made = None
        known = memo.weights[model.name] = made if not found.problems else None, found.problems
    return known


def engine(
    memo: Memo, runtime: BackendRuntime, drain: int = 10, version: str = ""
) -> tuple[engines.Engine | None, list[Problem]]:
    """The runtime compiled, None when a template of it is broken; and what is wrong with it. `version`: of the engine,
    where that is not the runtime's own.
    """
    known = memo.engines.get((runtime.name, drain, version))
    if known is None:
        found = Findings()
        try:
            made: engines.Engine | None = compiling.engine(memo.inputs.option_files, runtime, found, drain, version)
        except Stop:
            made = None
        known = memo.engines[runtime.name, drain, version] = made, found.problems
    return known


def _placement(memo: Memo, app: App, claim: claims.Claim, policy: str, found: Findings) -> flavors.Placement:
    """The flavors that count, worked out once for claims and models that say the same of them."""
    offered = (claim.main.spec.get("inferenceConfig") or {}).get("flavors")
    said = key_of(offered, claim.flavors, policy)
    known = memo.placements.get(said)
    if known is None:
        before = len(found.problems)
        known = flavors.placement(memo.inputs, memo.catalog, app, claim, found)
        if len(found.problems) == before:  # what is wrong stands somewhere else for everybody
            memo.placements[said] = known
    return known


def door(memo: Memo, namespace: str) -> gateways.Door:
    """What the models of a namespace are reached through."""
    known = memo.doors.get(namespace)
    if known is None:
        known = memo.doors[namespace] = gateways.door(memo.inputs.config, namespace)
    return known


def loader(memo: Memo, name: str) -> loading.Loader:
    """The loader preset, made ready."""
    known = memo.loaders.get(name)
    if known is None:
        known = memo.loaders[name] = loading.ready(memo.inputs, name)
    return known


def picker(memo: Memo, name: str) -> pickers.Picker:
    """The picker preset, made ready."""
    known = memo.pickers.get(name)
    if known is None:
        known = memo.pickers[name] = pickers.ready(memo.inputs, memo.every, name)
    return known


def hardened_at(memo: Memo, app: App) -> Origin:
    """Who says how hard the pods are."""
    return app.origin("spec", "hardening") if "hardening" in app.spec else memo.inputs.config.origin("hardening")


class Claimed(NamedTuple):
    """What both kinds have in common: the models, where their weights are, and what pods need for them."""

    claim: claims.Claim
    weights: tuple[sources.Weights, ...]
    skip: bool
    kit: pods.Kit
    labels: Body
    hardening: str
    shared: tuple[Wanted, ...] = ()


_claimed = quick(Claimed)


def _unheeded(claim: claims.Claim, ready: list[sources.Weights], found: Findings) -> None:
    """Patterns are the loader's; without it the engine gets the whole repository."""
    for each, at in zip(claim.models, ready, strict=True):
        for field, word in (("allowPatterns", "AllowPatterns"), ("ignorePatterns", "IgnorePatterns")):
            if at.words.get(word):
                found.add("W210", at.origin.at(field), field=field, model=each.model.name)


def claimed(memo: Memo, app: App, found: Findings) -> Claimed:
    """The claim worked out. Raises Stop when there is no model to go on with."""
    inputs = memo.inputs
    claim = claims.claim(inputs, app, found)
    if app.flavor:
        claim = claim._replace(flavors=(app.flavor,))
    ready = []
    for each in claim.models:
        made, problems = weights(memo, each.model)
        found.problems += problems
        ready += [made] if made else []
    policy = app.spec.get("flavorPolicy") or memo.policy
    place = _placement(memo, app, claim, policy, found)
    if len(ready) < len(claim.models):
        raise Stop
    if app.annotations:
        annotated.judge_app(app, found)
    skip = app.annotations.get(annotated.SKIP) == "true"
    names.family(claim.main, found)
    labels = Shared(
        {
            "app.kubernetes.io/name": app.label,
            "app.kubernetes.io/component": "inference-server",
            "app.kubernetes.io/part-of": "llmaz",
            "app.kubernetes.io/managed-by": "llmaz-renderer",
        }
    )
    marks = {
        **labels,
        "llmaz.io/model-name": claim.main.name,
        "llmaz.io/model-family-name": claim.main.spec["familyName"],
    }
    handed = policy == flavors.INFTYAI
    chosen = claim.flavors or (flavors.names(claim.main) if handed else ())
    annotations = {"llmaz.io/inference-service-flavors": ",".join(chosen)} if chosen else {}
    hardening = app.spec.get("hardening") or memo.hardening
    if hardening == "restricted" and not skip:
        for name in dict.fromkeys(each.loader for each in ready if each.loader):
            if not loader(memo, name).knows_user:
                found.add("W206", hardened_at(memo, app), name=name)
    if skip:
        _unheeded(claim, ready, found)
    paths = [each.path for each in ready if each.loader and not skip]
    for later in ready[1:]:
        if paths.count(later.path) > 1:
            found.add("E289", later.origin, path=later.path, model=claim.main.name)
    loaders = tuple([loader(memo, each.loader) if each.loader else None for each in ready])
    scheduler = memo.scheduler or ("inftyai-scheduler" if handed else "default-scheduler")
    kit = pods.kit(
        inputs.config, app.name, memo.every, marks, annotations, ready, loaders, skip, place, scheduler, hardening
    )
    return _claimed(claim, tuple(ready), skip, kit, labels, hardening, openmodels.wanted(claim) if handed else ())
