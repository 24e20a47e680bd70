"""Who says a part of a Playground's pod, and who else does.

Keys are fields of a Plan, as in its `origins()`. What stands below `said` is for `llmaz explain` alone: an error is
better placed where somebody can mend it than where a preset says its part: below a field a number for each who speaks
of it, the one that wins last (contract, section 2); below `said.template` one origin a field.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from renderer.api import App, Spec
from renderer.plan import Body, Container, Pod
from renderer.problems import Origin, Path
from renderer.resolve import annotated, engines, flavors, options, patching, routing
from renderer.resolve.memo import Claimed, Memo, door, hardened_at
from renderer.template import Words

_BACKEND: Path = ("spec", "backendRuntimeConfig")


class Run(Protocol):
    """How the engine runs an app."""

    @property
    def engine(self) -> engines.Engine: ...
    @property
    def config(self) -> engines.Recommended: ...
    @property
    def user(self) -> Spec: ...
    @property
    def resources(self) -> Body: ...
    @property
    def variant(self) -> Spec: ...
    @property
    def served(self) -> str: ...
    @property
    def words(self) -> Words: ...


def said(memo: Memo, app: App, base: Claimed, run: Run, args: Sequence[str], pod: Pod) -> dict[Path, Origin]:
    """Everything that is known. `args`: the command line as it came out."""
    made = claimed(memo, app, base)
    made.update(_arguments(app, base, run, args))
    made.update(_environment(memo, app, base, run))
    made.update(_resources(app, base, run))
    made.update(_image(app, run))
    made.update(_annotations(memo, app, base, run))
    made.update(_around(memo, app, base, run, pod))
    made.update(_words(memo, app, base, run))
    return made


def _said(key: Path, everybody: Sequence[Origin]) -> Iterator[tuple[Path, Origin]]:
    """Everybody who speaks of a field."""
    for i, each in enumerate(everybody):
        yield ("said", *key, i), each


def _of_model(base: Claimed, run: Run) -> tuple[Spec, Origin]:
    """What the main model says of this engine, and where."""
    name, main = run.engine.runtime.name, base.claim.main
    return engines.model_settings(main, run.engine), Origin(main.document, ("spec", "engines", name))


# The command line


class _Token(str):
    """An argument that knows where it stands."""

    origin: Origin


def _arguments(app: App, base: Claimed, run: Run, args: Sequence[str]) -> Iterator[tuple[Path, Origin]]:
    style, layers = run.engine.style, _layers(app, base, run)
    line = options.merged(style, layers)
    if len(line) != len(args):
        return
    givers: dict[str, list[Origin]] = {}
    for given in (each for layer in layers for each in layer.args):
        if isinstance(given, _Token) and (name := style.name(given)):
            givers.setdefault(name, []).append(given.origin)
    taken: set[Origin] = set()
    name = ""
    for i, (text, token) in enumerate(zip(args, line, strict=True)):
        at = token.origin if isinstance(token, _Token) else _respelt(text, layers, taken)
        name = style.name(text) or name
        if at is not None:
            taken.add(at)
            yield ("args", i), at
        yield from _said(("args", i), givers.get(name, ()))


def _layers(app: App, base: Claimed, run: Run) -> list[options.Layer]:
    engine, (model, at) = run.engine, _of_model(base, run)
    made = [options.Layer(_traced(run.config.layer(run.words).args, run.config.origin.at("args")))]
    for i, entry in enumerate(engine.derived):
        if entry.args and entry.when(run.words):
            where = engine.origin.at("engine", "derived", i, "args")
            made.append(options.Layer(_traced([str(arg) for arg in entry.args(run.words)], where), entry.group))
    own = run.user.get("args") or ()
    made.append(options.Layer(_traced(model.get("args") or (), at.at("args"))))
    return [*made, options.Layer(_traced(own, app.origin(*_BACKEND, "args")))]


def _traced(args: Sequence[str], origin: Origin) -> list[str]:
    made: list[str] = []
    for i, each in enumerate(args):
        token = _Token(each)
        token.origin = origin.at(i)
        made.append(token)
    return made


def _respelt(text: str, layers: Sequence[options.Layer], taken: set[Origin]) -> Origin | None:
    """Who gave an option of keys whose head a later layer spells otherwise."""
    tail = text.partition(".")[2]
    for layer in layers:
        for each in layer.args:
            if isinstance(each, _Token) and each.partition(".")[2] == tail and each.origin not in taken:
                return each.origin
    return None


# Environment, resources, image


def _environment(memo: Memo, app: App, base: Claimed, run: Run) -> Iterator[tuple[Path, Origin]]:
    engine, config, (model, at) = run.engine, memo.inputs.config, _of_model(base, run)
    lists: list[tuple[Sequence[Any], Origin]] = [(engine.runtime.spec.get("envs") or (), engine.origin.at("envs"))]
    for i, entry in enumerate(engine.derived):
        if entry.envs and entry.when(run.words):
            where: Path = ("engine", "derived", i, "envs")
            lists.append((engine.spec["derived"][i]["envs"], engine.origin.at(*where)))
    lists.append((config.get("pods", "env") or (), config.origin("pods", "env")))
    lists.append((model.get("envs") or (), at.at("envs")))
    lists.append((run.user.get("envs") or (), app.origin(*_BACKEND, "envs")))
    index, patch = patching.runner(app.spec)
    lists.append((patch.get("env") or (), app.origin("spec", "podTemplate", "spec", "containers", index, "env")))
    givers: dict[str, list[Origin]] = {}
    for entries, origin in lists:
        for i, each in enumerate(entries):
            givers.setdefault(each["name"], []).append(origin.at(i))
    for name, everybody in givers.items():
        yield ("env", name), everybody[-1]
        yield from _said(("env", name), everybody)


def _resources(app: App, base: Claimed, run: Run) -> Iterator[tuple[Path, Origin]]:
    place, at = base.kit.placement, app.origin(*_BACKEND, "resources")
    limits = place.places(base.claim.main, "limits")
    own, config = run.user.get("resources") or {}, run.config.spec.get("resources") or {}
    model, model_at = _of_model(base, run)
    index, patch = patching.runner(app.spec)
    over = app.origin("spec", "podTemplate", "spec", "containers", index, "resources")
    for side, names in run.resources.items():
        for name in names:
            everybody = [
                origin.at(side, name)
                for spec, origin in (
                    (config, run.config.origin.at("resources")),
                    (model.get("resources") or {}, model_at.at("resources")),
                    (own, at),
                )
                if name in (spec.get(side) or {})
            ]
            if name in place.limits and limits:
                everybody.append(limits.at(name))
            if name in ((patch.get("resources") or {}).get(side) or {}):
                everybody.append(over.at(side, name))
            yield from _said(("resources", side, name), everybody)


def _image(app: App, run: Run) -> Iterator[tuple[Path, Origin]]:
    """The repository and the tag may stand apart."""
    at, everybody = run.engine.origin, []
    places = [(run.engine.runtime.spec, at)]
    places += [
        (each, at.at("engine", "variants", i))
        for i, each in enumerate(run.engine.spec.get("variants") or ())
        if each is run.variant
    ]
    for key in ("image", "version"):
        everybody += [where.at(key) for spec, where in places if key in spec]
    if "version" in run.user:
        everybody.append(app.origin(*_BACKEND, "version"))
    index, patch = patching.runner(app.spec)
    if "image" in patch:
        everybody.append(app.origin("spec", "podTemplate", "spec", "containers", index, "image"))
    yield from _said(("image",), everybody)


# What people read off an object


def _annotations(memo: Memo, app: App, base: Claimed, run: Run) -> Iterator[tuple[Path, Origin]]:
    own = "renderer.llmaz.io/"
    if run.user.get("backendName"):
        yield ("said", "annotations", own + "backend"), app.origin(*_BACKEND, "backendName")
    elif memo.inputs.config.get("backend"):
        yield ("said", "annotations", own + "backend"), memo.inputs.config.origin("backend")
    version = app.origin(*_BACKEND, "version") if "version" in run.user else run.engine.origin.at("version")
    yield ("said", "annotations", own + "engine-version"), version
    minds = run.engine.spec.get("servedName") in ("directory", "model")
    own_name = minds and engines.called(run.engine, run.served, run.words) != run.served
    routed = routing.mode(app, door(memo, app.namespace)) != "off"
    served = base.weights[0].origin if own_name and not routed else routing.named(app, base.claim.main)
    yield ("said", "annotations", own + "served-model-name"), served


def claimed(memo: Memo, app: App, base: Claimed) -> dict[Path, Origin]:
    """What follows from the claim, whoever wrote the pod."""
    return dict(_claim(memo, app, base))


def _claim(memo: Memo, app: App, base: Claimed) -> Iterator[tuple[Path, Origin]]:
    main = base.claim.main
    yield ("said", "template", "metadata", "labels", "llmaz.io/model-name"), app.origin(*base.claim.models[0].path)
    family: Path = ("said", "template", "metadata", "labels", "llmaz.io/model-family-name")
    yield family, Origin(main.document, ("spec", "familyName"))
    if base.claim.flavors:
        flavored: Path = ("said", "template", "metadata", "annotations", "llmaz.io/inference-service-flavors")
        yield flavored, app.origin(*base.claim.flavors_path)
    for i, each in enumerate(base.weights):
        yield ("said", "source", i), each.origin
    mine: Path = ("said", "annotations")
    yield (*mine, "renderer.llmaz.io/model-revision"), base.weights[0].origin.at("revision")
    yield (*mine, "renderer.llmaz.io/served-model-name"), app.origin("spec", "servedModelName")
    yield from _placed(memo, base)


# The rest of the pod


def _around(memo: Memo, app: App, base: Claimed, run: Run, pod: Pod) -> Iterator[tuple[Path, Origin]]:
    spec, config = ("said", "template", "spec"), memo.inputs.config
    if config.get("schedulerName"):
        yield (*spec, "schedulerName"), config.origin("schedulerName")
    if "drain" in run.engine.spec:
        yield (*spec, "terminationGracePeriodSeconds"), run.engine.origin.at("engine", "drain", "seconds")
    if "hardening" in app.spec or config.get("hardening"):
        for field in ("securityContext", "automountServiceAccountToken", "enableServiceLinks"):
            yield (*spec, field), hardened_at(memo, app)
        yield (*spec, "containers", 0, "securityContext"), hardened_at(memo, app)
    uris = {each.host_path: each.origin for each in base.weights if each.kind == "host"}
    uris |= {each.image: each.origin for each in base.weights if each.kind == "oci"}
    for i, volume in enumerate(pod.volumes):
        path = (volume.get("hostPath") or {}).get("path")
        image = (volume.get("image") or {}).get("reference", "")
        for known, origin in uris.items():
            if known and path == known:
                yield (*spec, "volumes", i, "hostPath", "path"), origin
            if known and image.endswith(known):
                yield (*spec, "volumes", i, "image", "reference"), origin
        if volume["name"] == "dshm" and (shared := _shared_memory(app, run)):
            yield (*spec, "volumes", i, "emptyDir", "sizeLimit"), shared
    yield from _prepared(run, pod)
    for key in ("startupProbe", "readinessProbe", "livenessProbe", "lifecycle"):
        yield (*spec, "containers", 0, key), run.engine.origin.at(key)


def _prepared(run: Run, pod: Pod) -> Iterator[tuple[Path, Origin]]:
    """Steps before the engine starts, and writable folders, as the preset lists them."""
    for field, ours, items in (
        ("initContainers", "initContainers", pod.init_containers),
        ("volumes", "volumes", pod.volumes),
    ):
        names = [each.name if isinstance(each, Container) else each["name"] for each in items]
        for i, entry in enumerate(run.engine.spec.get(ours) or ()):
            if entry["name"] in names:
                key: Path = ("said", "template", "spec", field, names.index(entry["name"]))
                yield key, run.engine.origin.at("engine", ours, i)
    mounts = [(each["name"], each["mountPath"]) for each in pod.containers[0].mounts]
    for i, entry in enumerate(run.engine.spec.get("volumes") or ()):
        if (each := (entry["name"], entry["mountPath"])) in mounts:
            at: Path = ("said", "template", "spec", "containers", 0, "volumeMounts", mounts.index(each))
            yield at, run.engine.origin.at("engine", "volumes", i)


_OF_THE_SOURCE = ("ModelPath", "Hub", "Filename", "Endpoint", "Source", "Format", "Revision")


def _words(memo: Memo, app: App, base: Claimed, run: Run) -> Iterator[tuple[Path, Origin]]:
    """What a preset's words are made of."""
    for word in _OF_THE_SOURCE:
        yield ("said", "word", word), base.weights[0].origin
    if base.claim.draft and len(base.weights) > 1:
        for word in ("DraftModelPath", "DraftRevision"):
            yield ("said", "word", word), base.weights[1].origin
    yield ("said", "word", "ModelName"), routing.named(app, base.claim.main)
    place = base.kit.placement
    limits, params = (place.places(base.claim.main, field) for field in ("limits", "params"))
    for word, param in (("TP", "TP"), ("MaxModelLen", "MAX-MODEL-LEN")):
        if param in place.params and params:
            yield ("said", "word", word), params.at(param)
    model, model_at = _of_model(base, run)
    if "maxModelLen" in model and "MAX-MODEL-LEN" not in place.params:
        yield ("said", "word", "MaxModelLen"), model_at.at("maxModelLen")
    held = next((name for name in place.limits if "/" in name), "")
    if held and limits:
        for word in ("Accelerator", *(() if "TP" in place.params else ("TP",))):
            yield ("said", "word", word), limits.at(held)
    if base.skip:
        for word in ("Skip", "Stream"):
            yield ("said", "word", word), app.origin("metadata", "annotations", annotated.SKIP)


def _shared_memory(app: App, run: Run) -> Origin | None:
    if "sharedMemorySize" in run.user:
        return app.origin(*_BACKEND, "sharedMemorySize")
    if "sharedMemorySize" in run.config.spec:
        return run.config.origin.at("sharedMemorySize")
    held = [i for i, each in enumerate(run.engine.derived) if each.shared_memory and each.when(run.words)]
    return run.engine.origin.at("engine", "derived", held[-1], "sharedMemory") if held else None


def _placed(memo: Memo, base: Claimed) -> Iterator[tuple[Path, Origin]]:
    """Where the labels of nodes come from: the model's flavor, or RenderConfig's of the same name."""
    main = base.claim.main
    limits = base.kit.placement.places(main, "limits")
    if limits is None:
        return
    at = limits.model
    index = at.path[-1]
    flavor = main.spec["inferenceConfig"]["flavors"][index]
    config, name = memo.inputs.config, str(flavor["name"])
    yield ("said", "template", "spec", "affinity"), Origin(at.source, at.path[:-1])
    for key in base.kit.placement.node_selector:
        path: Path = ("said", "template", "spec", "nodeSelector", key)
        inside = ("params", "INSTANCE-TYPE") if key == flavors.INSTANCE_TYPE else ("nodeSelector", key)
        places: tuple[tuple[str, str], ...] = (("nodeSelector", key), inside)
        for steps in places:
            if steps[1] in (flavor.get(steps[0]) or {}):
                yield path, at.at(*steps)
                break
            if (config.get("flavors", name, steps[0]) or {}).get(steps[1]) is not None:
                yield path, config.origin("flavors", name, *steps)
                break


__all__ = ["Run", "claimed", "said"]
