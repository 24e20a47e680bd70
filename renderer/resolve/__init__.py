"""2: Inputs → Plans: every default and override decided, once. Who wins is the contract's section 2.

`plan` walks one Playground or Service through the rooms of this package: claims (which models), sources (where weights
are), flavors (what a pod gets), engines (how it runs), options and resources (who wins), loading and pods (what the pod
holds), scaling (how many), names (what Kubernetes takes).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from renderer import quantity
from renderer.api import App, BackendRuntime, Inputs, OpenModel, Spec
from renderer.plan import Body, Container, Plan, Port, Rollout
from renderer.problems import Findings, Origin, Path, Problem, Stop
from renderer.resolve import (
    claims,
    engines,
    flavors,
    images,
    loading,
    names,
    normal,
    options,
    pods,
    resources,
    scaling,
    sources,
)
from renderer.schema import spec_default
from renderer.template import TemplateError
from renderer.yamlio import Shared

PORT = 8080
GRACE = 130
DRAIN_SLEEP = 10
SKIP = "llmaz.io/skip-model-loader"
_PORTS = (Shared({"name": "http", "containerPort": PORT, "protocol": "TCP"}),)


class Memo(NamedTuple):
    """One run's memory: what is worked out once for all apps."""

    inputs: Inputs
    engines: dict[str, tuple[engines.Engine | None, list[Problem]]]
    weights: dict[str, tuple[sources.Weights | None, list[Problem]]]
    backend: str


def memo(inputs: Inputs) -> Memo:
    """An empty memory for these inputs."""
    backend = inputs.config.get("backend") or spec_default("Playground", "backendRuntimeConfig", "backendName")
    return Memo(inputs, {}, {}, backend)


def plan(memo: Memo, app: App) -> tuple[Plan | None, list[Problem]]:
    """Everything decided for one Playground or Service, and what is wrong with it; None when something stands in the way."""
    found = Findings()
    try:
        made = (_playground if app.kind == "Playground" else _service)(memo, app, found)
    except Stop:
        return None, found.problems
    return (None if any(not each.warning for each in found.problems) else made), found.problems


def checked(memo: Memo, item: OpenModel | BackendRuntime) -> list[Problem]:
    """What is wrong with a model or runtime of the user's, used or not."""
    found = Findings()
    names.object_name(item.name, Origin(item.document, ("metadata", "name")), found)
    if isinstance(item, BackendRuntime):
        return found.problems + _engine(memo, item)[1] + _runtime_resources(item)
    at = Origin(item.document, ("spec",))
    seen: dict[str, int] = {}
    for i, flavor in enumerate((item.spec.get("inferenceConfig") or {}).get("flavors") or ()):
        if seen.setdefault(flavor["name"], i) != i:
            found.add("E209", at.at("inferenceConfig", "flavors", i, "name"), name=flavor["name"])
    if not names.is_label_value(item.spec["familyName"]) or not item.spec["familyName"]:
        found.add("E284", at.at("familyName"), value=item.spec["familyName"])
    return found.problems + _weights(memo, item)[1]


def dangling(memo: Memo) -> list[Problem]:
    """Names that lead nowhere in documents which their schema refused: said in the same run, without planning them."""
    inputs, found = memo.inputs, Findings()
    for (kind, _), document in inputs.broken.items():
        spec = document.value.get("spec") if kind in ("Playground", "Service") else None
        if not isinstance(spec, dict):
            continue
        for path, name in _names(spec):
            if path[0] == "backendRuntimeConfig":
                with suppress(Stop):
                    engines.runtime(inputs, name, document.origin("spec", *path), found)
            else:
                claims.model(inputs, name, document.origin("spec", *path), found)
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
            inside = isinstance(value, dict) and part in value or isinstance(value, list) and isinstance(part, int)
            value = value[part] if inside else None
        if isinstance(value, str) and value:
            yield path, value


def _runtime_resources(runtime: BackendRuntime) -> list[Problem]:
    found = Findings()
    for i, config in enumerate(runtime.spec.get("recommendedConfigs") or ()):
        at = Origin(runtime.document, ("spec", "recommendedConfigs", i, "resources"))
        resources.merged(resources.Side(config.get("resources") or {}, at), resources.Side({}, at), {}, found)
    return found.problems


def _weights(memo: Memo, model: OpenModel) -> tuple[sources.Weights | None, list[Problem]]:
    known = memo.weights.get(model.name)
    if known is None:
        found = Findings()
        try:
            made: sources.Weights | None = sources.weights(memo.inputs, model, found)
        except Stop:
            made = None
        known = memo.weights[model.name] = made if not found.problems else None, found.problems
    return known


def _engine(memo: Memo, runtime: BackendRuntime) -> tuple[engines.Engine | None, list[Problem]]:
    known = memo.engines.get(runtime.name)
    if known is None:
        found = Findings()
        try:
            made: engines.Engine | None = engines.engine(runtime, found)
        except Stop:
            made = None
        known = memo.engines[runtime.name] = made, found.problems
    return known


class _Claimed(NamedTuple):
    """What both kinds have in common: the models, where their weights are, and what pods need for them."""

    claim: claims.Claim
    weights: tuple[sources.Weights, ...]
    skip: bool
    kit: pods.Kit
    labels: Body
    hardening: str


def _claimed(memo: Memo, app: App, found: Findings) -> _Claimed:
    inputs = memo.inputs
    mode = (app.spec.get("gateway") or {}).get("mode", "off")
    if mode != "off":
        found.add("E216", app.origin("spec", "gateway", "mode"), value=mode)
    claim = claims.claim(inputs, app, found)
    weights = []
    for each in claim.models:
        made, problems = _weights(memo, each.model)
        found.problems += problems
        weights.append(made)
    place = flavors.placement(inputs, app, claim, found)
    ready = tuple(each for each in weights if each)
    if len(ready) < len(weights):
        raise Stop
    skip = app.annotations.get(SKIP) == "true"
    family = claim.main.spec["familyName"]
    if not names.is_label_value(family) or not family:
        found.add("E284", Origin(claim.main.document, ("spec", "familyName")), value=family)
    labels = Shared(
        {
            "app.kubernetes.io/name": app.name,
            "app.kubernetes.io/component": "inference-server",
            "app.kubernetes.io/part-of": "llmaz",
            "app.kubernetes.io/managed-by": "llmaz-renderer",
        }
    )
    marks = {**labels, "llmaz.io/model-name": claim.main.name, "llmaz.io/model-family-name": family}
    annotations = {"llmaz.io/inference-service-flavors": ",".join(claim.flavors)} if claim.flavors else {}
    hardening = app.spec.get("hardening") or inputs.config.get("hardening") or "default"
    kit = pods.kit(inputs, marks, annotations, ready, skip, place, hardening)
    return _Claimed(claim, ready, skip, kit, labels, hardening)


def _playground(memo: Memo, app: App, found: Findings) -> Plan:
    inputs, spec = memo.inputs, app.spec
    user = spec.get("backendRuntimeConfig") or {}
    at = app.origin("spec", "backendRuntimeConfig")
    engine = _chosen_engine(memo, app, user, found)
    base = _claimed(memo, app, found)
    claim, main, place = base.claim, base.weights[0], base.kit.placement
    config = engines.recommended(engine, claim.draft, user, at, found)
    merged = resources.merged(
        resources.Side(config.spec.get("resources") or {}, config.origin.at("resources")),
        resources.Side(user.get("resources") or {}, at.at("resources")),
        place.limits,
        found,
    )
    # The runtime: variant, image, words, command line, environment.
    held, size = flavors.Accelerator(), 1
    variant: Spec = {}
    if engine.templated:
        origin = place.limits_origin if place.limits else at.at("resources", "limits")
        held = flavors.accelerator(inputs, merged.get("limits") or {}, origin or at, found)
        place_of_model = app.origin(*claim.models[0].path)
        variant = engines.variant(inputs, engine, held, place.given, place_of_model, found)
        size = flavors.parallel_size(held, place, claim.main, found)
        for each in base.weights:
            engines.fits(inputs, engine, each, base.skip, found)
    tag = user.get("version") or variant.get("version") or engine.runtime.spec["version"]
    image = images.reference(inputs.config, images.tagged(variant.get("image") or engine.runtime.spec["image"], tag))
    served = served_name(app, claim.main, main)
    words = _words(
        engine, base, variant, size, served, flavors.max_model_len(place, claim.main, found) if engine.templated else 0
    )
    origins: dict[Path, Origin] = {}
    try:
        args, env, shm = _command_line(memo, app, engine, config, base, user, words, origins, found)
        command = tuple(engine.command(words))
        lifecycle = engine.lifecycle(words)
        probes = {key: filler(words) for key, filler in engine.probes.items()}
    except TemplateError as error:
        found.stop(
            "E420",
            Origin(engine.runtime.document, error.path if error.path[:1] == ("spec",) else ("spec", *error.path)),
            what=error,
        )
    facts = claim.main.spec.get("facts") or {}
    if "startupProbe" in probes:
        probes["startupProbe"] = engines.startup(engine, probes["startupProbe"], facts.get("weightsGiB") or 0)
    drain = engine.spec.get("drain")
    runner = Container(
        name=pods.RUNNER,
        image=image,
        command=command,
        args=args,
        env=pods.with_credentials(base.kit, env),
        ports=_PORTS,
        resources=merged,
        startup_probe=probes.get("startupProbe", {}),
        readiness_probe=probes.get("readinessProbe", {}),
        liveness_probe=probes.get("livenessProbe", {}),
        lifecycle=lifecycle,
    )
    tolerations = ({"key": held.resource, "operator": "Exists", "effect": "NoSchedule"},) if held.resource else ()
    security = variant.get("security") or engine.spec.get("security") or {}
    pod = pods.playground(
        inputs,
        base.kit,
        runner,
        shm,
        drain["seconds"] + DRAIN_SLEEP - 10 if drain else GRACE,
        tolerations,
        security,
        found,
        app.origin("spec", "hardening"),
    )
    origins |= _origins(app, engine, config, place, user)
    scaler = scaling.scaler(inputs, app, engine, config, origins, found)
    count = scaling.replicas(app, found)
    names.app_names(app, 1, scaler.max_replicas if scaler else count or 1, found)
    annotations = {"renderer.llmaz.io/backend": engine.runtime.name}
    if engine_version := engines.version(engine, tag) if engine.templated else "":
        annotations["renderer.llmaz.io/engine-version"] = engine_version
    if main.revision:
        annotations["renderer.llmaz.io/model-revision"] = main.revision
    if engine.templated or spec.get("servedModelName"):
        annotations["renderer.llmaz.io/served-model-name"] = served
    return Plan(
        name=app.name,
        namespace=app.namespace,
        file=app.file,
        labels=base.labels,
        annotations=annotations,
        replicas=count,
        size=1,
        startup_policy="LeaderReady",
        restart_policy="RecreateGroupOnPodRestart",
        rollout=Rollout(),
        worker=pod,
        port=Port("http", PORT),
        disruptable=(scaler.min_replicas if scaler else count or 0) >= 2,
        origins=origins,
        scaler=scaler,
    )


def _chosen_engine(memo: Memo, app: App, user: Any, found: Findings) -> engines.Engine:
    if user.get("backendName"):
        name, origin = user["backendName"], app.origin("spec", "backendRuntimeConfig", "backendName")
    elif memo.inputs.config.get("backend"):
        name, origin = memo.backend, memo.inputs.config.origin("backend")
    else:
        name, origin = memo.backend, app.origin("spec")
    engine, problems = _engine(memo, engines.runtime(memo.inputs, name, origin, found))
    found.problems += problems
    if engine is None:
        raise Stop
    return engine


def served_name(app: App, model: OpenModel, weights: sources.Weights) -> str:
    """servedModelName of the Playground or Service → of the OpenModel → what the source itself calls it (contract, 4.8)."""
    return str(app.spec.get("servedModelName") or model.spec.get("servedModelName") or weights.name)


def _words(engine: engines.Engine, base: _Claimed, variant: Any, size: int, served: str, length: int) -> dict[str, Any]:
    main = base.weights[0]
    draft = base.weights[1] if base.claim.draft and len(base.weights) > 1 else None
    second = base.weights[1] if len(base.weights) > 1 else None
    return {
        "ModelPath": _path(engine, main, base.skip),
        "ModelName": served if engine.templated else main.name,
        "DraftModelPath": _path(engine, second, base.skip) if second else "",
        "Revision": main.revision,
        "DraftRevision": draft.revision if draft else "",
        "Hub": main.hub,
        "Filename": main.filename,
        "Endpoint": main.endpoint if main.kind == "objectStore" else "",
        "Source": main.kind,
        "Format": main.format,
        "Skip": base.skip,
        "Stream": base.skip and main.kind == "objectStore",
        "Accelerator": variant.get("accelerator", "none"),
        "Port": PORT,
        "TP": size,
        "MaxModelLen": length,
        "DrainSleep": DRAIN_SLEEP,
    }


def _path(engine: engines.Engine, weights: sources.Weights, skip: bool) -> str:
    if not skip or weights.kind == "oci":
        return weights.path
    if engine.templated and weights.kind == "objectStore":
        return weights.scheme + weights.address[weights.address.index("://") :]
    return weights.address


def _command_line(
    memo: Memo,
    app: App,
    engine: engines.Engine,
    config: engines.Recommended,
    base: _Claimed,
    user: Any,
    words: Any,
    origins: dict[Path, Origin],
    found: Findings,
) -> tuple[tuple[str, ...], tuple[Body, ...], str]:
    """Arguments, environment and shared memory, each by the contract's order. Raises TemplateError."""
    per_model = (base.claim.main.spec.get("engines") or {}).get(engine.runtime.name) or {}
    own_args, own_env = user.get("args") or (), user.get("envs") or ()
    layers = [options.Layer(config.args(words))]
    derived_env: list[Body] = []
    shm = ""
    for entry in engine.derived:
        if not entry.when(words):
            continue
        if entry.args:
            layers.append(options.Layer([str(arg) for arg in entry.args(words)], entry.group))
        if entry.envs:
            derived_env += [{**each, "value": str(each["value"])} for each in entry.envs(words)]
        shm = entry.shared_memory or shm
    at = app.origin("spec", "backendRuntimeConfig", "args")
    model_at = Origin(base.claim.main.document, ("spec", "engines", engine.runtime.name, "args"))
    if engine.owned:
        options.owned(engine.style, engine.owned, own_args, at, found)
        options.owned(engine.style, engine.owned, per_model.get("args") or (), model_at, found)
    layers += [options.Layer(per_model.get("args") or ()), options.Layer(own_args)]
    args = options.merged(engine.style, layers)
    own = app.origin("spec", "backendRuntimeConfig", "envs")
    env: tuple[Body, ...] = tuple(engine.envs(words))
    if derived_env or per_model.get("envs") or own_env:
        mine = [normal.entry(each, own.at(i), found) for i, each in enumerate(own_env)]
        env = loading.merge_env(env, derived_env, per_model.get("envs") or (), mine)
    for i in range(len(own_args)):
        origins["args", len(args) - len(own_args) + i] = at.at(i)
    for i, each in enumerate(own_env):
        origins["env", each["name"]] = own.at(i)
    size = user.get("sharedMemorySize", config.spec.get("sharedMemorySize"))
    if size is not None:
        try:
            shm = quantity.canonical(size)
        except ValueError:
            found.add("E305", app.origin("spec", "backendRuntimeConfig", "sharedMemorySize"), value=size)
    return args, env, shm


def _origins(
    app: App, engine: engines.Engine, config: engines.Recommended, place: flavors.Placement, user: Any
) -> dict[Path, Origin]:
    """What made each part of the plan, for errors about the object."""
    at = Origin(engine.runtime.document, ("spec",))
    mine = app.origin("spec", "backendRuntimeConfig")
    origins: dict[Path, Origin] = {
        (): app.origin(),
        ("name",): app.origin("metadata", "name"),
        ("namespace",): app.origin("metadata", "namespace"),
        ("replicas",): app.origin("spec", "replicas"),
        ("elastic",): app.origin("spec", "elasticConfig"),
        ("image",): mine.at("version") if "version" in user else at.at("image"),
        ("command",): at.at("command"),
        ("args",): config.origin.at("args"),
        ("env",): at.at("envs"),
        ("lifecycle",): at.at("lifecycle"),
        ("startupProbe",): at.at("startupProbe"),
        ("readinessProbe",): at.at("readinessProbe"),
        ("livenessProbe",): at.at("livenessProbe"),
        ("resources",): mine.at("resources") if "resources" in user else config.origin.at("resources"),
    }
    if place.limits_origin:
        flavor = place.limits_origin.at()
        origins["placement",] = Origin(flavor.source, flavor.path[:-1])
    return origins


def _service(memo: Memo, app: App, found: Findings) -> Plan:
    inputs, spec = memo.inputs, app.spec
    base = _claimed(memo, app, found)
    own = spec["workloadTemplate"]
    at = app.origin("spec", "workloadTemplate")
    size = own.get("size", 1)
    if size < 1:
        found.add("E285", at.at("size"), value=size)
    leader, worker = own.get("leaderTemplate"), own["workerTemplate"]
    for key, each in (("leaderTemplate", leader), ("workerTemplate", worker)):
        containers = ((each or {}).get("spec") or {}).get("containers") or ()
        if each is not None and not any(container.get("name") == pods.RUNNER for container in containers):
            found.add("E286", at.at(key, "spec", "containers"), key=key)
    if found.problems and any(not each.warning for each in found.problems):
        raise Stop

    def pod(key: str, marked: bool) -> Any:
        return pods.handwritten(
            inputs, base.kit, normal.template(own[key], at.at(key), found), marked, found, at.at(key)
        )

    made_leader = pod("leaderTemplate", True) if leader else None
    made_worker = pod("workerTemplate", leader is None)
    count = spec.get("replicas", 1)
    if count < 0:
        found.add("E270", app.origin("spec", "replicas"), value=count)
    names.app_names(app, size, count, found)
    rollout = (spec.get("rolloutStrategy") or {}).get("rollingUpdateConfiguration") or {}
    policy = own.get("restartPolicy", "RecreateGroupOnPodRestart")
    groups = own.get("subGroupPolicy") or {}
    if groups:
        groups = {"subGroupPolicyType": groups.get("subGroupPolicyType", "LeaderWorker"), **groups}
    origins: dict[Path, Origin] = {
        (): app.origin(),
        ("name",): app.origin("metadata", "name"),
        ("namespace",): app.origin("metadata", "namespace"),
        ("replicas",): app.origin("spec", "replicas"),
        ("size",): at.at("size"),
        ("rollout",): app.origin("spec", "rolloutStrategy", "rollingUpdateConfiguration"),
        ("sub_groups",): at.at("subGroupPolicy"),
        ("leader",): at.at("leaderTemplate"),
        ("worker",): at.at("workerTemplate"),
    }
    annotations = {}
    if base.weights[0].revision:
        annotations["renderer.llmaz.io/model-revision"] = base.weights[0].revision
    if spec.get("servedModelName"):
        annotations["renderer.llmaz.io/served-model-name"] = spec["servedModelName"]
    return Plan(
        name=app.name,
        namespace=app.namespace,
        file=app.file,
        labels=base.labels,
        annotations=annotations,
        replicas=count,
        size=size,
        startup_policy="LeaderReady" if size == 1 else "LeaderCreated",
        restart_policy="None" if policy == "Default" else policy,
        rollout=Rollout(rollout.get("maxUnavailable", 1), rollout.get("maxSurge", 0)),
        leader=made_leader,
        worker=made_worker,
        port=_port(made_leader or made_worker),
        disruptable=count >= 2,
        origins=origins,
        sub_groups=groups,
    )


def _port(pod: Any) -> Port:
    """The port that the runner listens on: the one called http, else its first; 8080 when it names none."""
    runner = next(each for each in pod.containers if each.name == pods.RUNNER)
    port = next((each for each in runner.ports if each.get("name") == "http"), runner.ports[0] if runner.ports else {})
    return Port(port.get("name", "http"), port.get("containerPort", PORT))


__all__ = ["Memo", "checked", "dangling", "memo", "plan", "served_name"]
