"""The Playground that serves what a workload serves today."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.adopt.adopted_workload import AdoptedWorkload, engine_port_in
from renderer.adopt.engine_container import AdoptedContainer, EngineOption, split_options
from renderer.adopt.hub_token import HubToken, token_of
from renderer.adopt.model_source import HUB_ID, ModelSource, hub_id, pulling_containers
from renderer.adopt.pod_changes import (
    COMMAND_FIELDS,
    PROBES,
    EnginePort,
    is_reserved,
    lost_labels,
    original_pod,
    own_containers,
    shared_memory_mount,
)
from renderer.adopt.pod_patch import canonical_amount, patch_between
from renderer.diagnostics import Collector, NamedSource, Origin, Path
from renderer.engines.handwritten_command import Word
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.server_defaults import DEPLOYMENT_ROLLOUT
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import containers
from renderer.load.validation import KINDS
from renderer.resolve.app_annotations import SKIP
from renderer.resolve.kube.images import split_image

Body = Mapping[str, Any]
_DERIVED = ("port", "host", "servedName", "weights", "revision", "hubRepository", "hubFile", "downloadTo")
_WORD = re.compile(r"[\w./-]+")
_RECREATE = {"maxUnavailable": "100%", "maxSurge": 0}
LOADS_ITSELF = "The engine goes on finding its weights by itself, so no loader is added."
_KEPT_PORT = "The engine keeps its port, which Services, policies, monitors, annotations and sidecars may name."
_HTTPS = "HTTPS"
_NO_GATEWAY = {"mode": "off"}  # which RenderConfig says for all
_TEMPLATE: Path = ("spec", "podTemplate")
_NOWHERE = Origin(NamedSource(""))  # of words that no message names


class CommentedBody(Struct):
    """An object that is written, and sentences that stand above its fields."""

    body: dict[str, Any]
    comments: dict[Path, str]


def draft_playground(
    adopted: AdoptedWorkload,
    model_name: str,
    backend_name: str,
    *,
    flavor: str = "",
    others: Sequence[str] = (),
    adapters: Sequence[str] = (),
) -> CommentedBody:
    """The Playground without arguments, variables and podTemplate: what they come on top of. `backend_name`: the
    BackendRuntime; `flavor`: its own of those that the OpenModel has, '' for the only one; `others`, `adapters`: the
    names of the OpenModels of further main models, and of adapters.
    """
    workload = adopted.workload
    claim: dict[str, object] = {"modelName": model_name}
    if adapters:
        claim = {"models": [{"name": model_name}, *({"name": name, "role": "lora"} for name in adapters)]}
    if others:
        names = [model_name, *others]
        preloads = [{"preload": True} if main.preload else {} for main in adopted.mains]
        claim = {"models": [{"name": name, **preload} for name, preload in zip(names, preloads, strict=True)]}
        if adopted.loaded < len(names):
            claim["loaded"] = adopted.loaded
    if flavor:
        claim["inferenceFlavors"] = [flavor]
    spec: dict[str, Any] = {}
    if workload.replicas is not None and "elasticConfig" not in workload.spec:
        spec["replicas"] = workload.replicas
    spec["modelClaims" if adapters or others else "modelClaim"] = claim
    settings = _workload_settings(adopted)
    comments: dict[Path, str] = {}
    backend: dict[str, Any] = {"backendName": backend_name}
    spec["backendRuntimeConfig"] = backend
    if (version := _version(adopted)) and not adopted.keep_reason:
        backend["version"] = version
    if variables := _port_variables(adopted):
        backend["envs"] = variables
    if template := adopted.chat_template:
        spec["chatTemplate"] = {"configMap": {"name": template.config_map, "key": template.key}}
    own = {key: value for key, value in workload.spec.items() if key != "workload" and value != _NO_GATEWAY}
    spec |= {key: value for key, value in own.items() if key != "gateway"}
    if settings:
        spec["workload"] = settings
    if {key: value for key, value in workload.rollout.items() if key != "partition"} == _RECREATE:
        comments["spec", "workload", "rollout"] = "All replicas at once, as with the strategy Recreate."
    port = engine_port_of(adopted)
    if port.ours_number != wellknown.PORT:
        spec["service"] = {"enginePort": port.number}
        comments["spec", "service"] = _KEPT_PORT
    if "gateway" in own:
        spec["gateway"] = own["gateway"]
    metadata: dict[str, object] = {"name": adopted.takeover.name}
    if workload.namespace not in ("", "default"):
        metadata["namespace"] = workload.namespace
    if adopted.loads_itself or adopted.weights.keeps_cache:
        metadata["annotations"] = {SKIP: "true"}
        comments["metadata", "annotations"] = LOADS_ITSELF
    body = {"apiVersion": KINDS["Playground"], "kind": "Playground", "metadata": metadata, "spec": spec}
    return CommentedBody(body, comments)


def complete_playground(
    adopted: AdoptedWorkload,
    playground: CommentedBody,
    rendered_pod: Body,
    token: HubToken | None,
    live: bool,
    diagnostics: Collector,
    rendered_models: Sequence[Sequence[EngineOption]] = (),
) -> None:
    """Adds to a draft what its rendered pod lacks: arguments, variables and the podTemplate. `token`: what RenderConfig
    says of the hub's; `rendered_models`: the options of each of several models.
    """
    spec = playground.body["spec"]
    runner = next((body for body in maps_at(rendered_pod, "spec", "containers") if body.get("name") == RUNNER), {})
    backend = spec["backendRuntimeConfig"]
    if resources := _resources(adopted, map_at(runner, "resources")):
        backend["resources"] = resources
    _, size = shared_memory_mount(adopted.template, adopted.container.body)
    if size and size != shared_memory_mount(rendered_pod, runner)[1]:
        backend["sharedMemorySize"] = size
    args = [word for option in _options_beside(adopted, spec, runner, rendered_models) for word in option.words]
    strays = [word.text for word in adopted.container.strays]
    if (args or strays) and not adopted.keep_reason:
        backend["args"] = [*strays, *args]
    if envs := [*backend.get("envs", ()), *_own_variables(adopted, runner, token, diagnostics)]:
        places = [text_at(variable, "name") for variable in maps_at(runner, "env")]
        backend["envs"] = sorted(envs, key=lambda variable: _place(places, text_at(variable, "name")))
    original = original_pod(
        adopted.template, adopted.container.body, engine_port_of(adopted), _consumed_mounts(adopted), live=live
    )
    original["spec"]["containers"][0] |= _probes(adopted, original["spec"]["containers"][0], runner, diagnostics)
    _share_claims(original["spec"], rendered_pod)
    if adopted.weights.is_pulled and not adopted.keep_reason:
        original["spec"]["containers"][0].pop("lifecycle", None)
        _drop_pulling(adopted, original["spec"])
    node_selector = map_at(adopted.template, "spec", "nodeSelector")
    if node_selector and node_selector != map_at(rendered_pod, "spec", "nodeSelector"):
        original["spec"]["nodeSelector"] = dict(node_selector)
    if split_image(text_at(adopted.container.body, "image")) == split_image(text_at(runner, "image")):
        del original["spec"]["containers"][0]["image"]
    original = own_containers(original, adopted.template, rendered_pod)
    if adopted.takeover.selector:  # of labels that the podTemplate has
        kind, *rest = spec["workload"].items()
        spec["workload"] = dict([kind, ("selector", dict(adopted.takeover.selector)), *rest])
    if patch := patch_between(original, rendered_pod):
        spec["podTemplate"] = patch
        _comment_image(adopted, playground, patch)
    labels, ours = (map_at(pod, "metadata", "labels") for pod in (adopted.template, rendered_pod))
    for label in (label for label in lost_labels(adopted.template) if labels[label] != ours.get(label)):
        origin = adopted.workload.engine_origin_of(("metadata", "labels", label))
        diagnostics.add("W951", origin, what=f"the label '{label}'", why="llmaz sets labels of that name itself")


def _drop_pulling(adopted: AdoptedWorkload, spec: dict[str, Any]) -> None:
    """Leaves out the init containers that pulled the models, and volumes that they alone mounted."""
    pulling = [text_at(body, "name") for body in pulling_containers(adopted.container, adopted.template)]
    bodies = [body for body in maps_at(spec, "initContainers") if text_at(body, "name") not in pulling]
    if not pulling or len(bodies) == len(maps_at(spec, "initContainers")):
        return
    spec["initContainers"] = bodies
    if not bodies:
        del spec["initContainers"]
    used = {mount.get("name") for _, body in containers(spec) for mount in maps_at(body, "volumeMounts")}
    if volumes := [volume for volume in maps_at(spec, "volumes") if volume.get("name") in used]:
        spec["volumes"] = volumes
    else:
        spec.pop("volumes", None)


def _probes(adopted: AdoptedWorkload, original: Body, runner: Body, diagnostics: Collector) -> dict[str, Any]:
    """The probes of the engine with the scheme that it serves in the new pods, as far as that differs. `original`: its
    container of today, whose ports have our names; `runner`: the rendered one.
    """
    container = adopted.container
    changed: dict[str, Any] = {}
    asking = {kind: map_at(original, kind, "httpGet") for kind in PROBES if adopted.workload.may_add_certificate}
    asking = {kind: action for kind, action in asking.items() if action.get("port") == wellknown.RANK_PORTS[0]}
    if _has_certificate(container):
        own = {kind: runner.get(kind) for kind in PROBES if kind not in original}
        changed |= {kind: {"httpGet": {"scheme": _HTTPS}} for kind, probe in own.items() if map_at(probe, "httpGet")}
        for kind, action in asking.items():
            changed[kind] = {**map_at(original, kind), "httpGet": {"scheme": _HTTPS, **action}}
        return changed
    if container.value_of("settingsFile"):
        return changed
    for kind, action in asking.items():
        if action.get("scheme") == _HTTPS:
            plain = {key: value for key, value in action.items() if key != "scheme"}
            changed[kind] = {**map_at(original, kind), "httpGet": plain}
            origin = adopted.workload.engine_origin_of((*container.path, kind, "httpGet", "scheme"))
            options = " and ".join(container.entry.get("certificate") or ())
            words = {"what": kind, "source": adopted.workload.kind, "options": options}
            diagnostics.add("N950", origin, **words)
    return changed


def _has_certificate(container: AdoptedContainer) -> bool:
    """Whether an engine serves HTTPS."""
    variables = container.entry.get("certificateVariables") or ()
    return bool(container.value_of("certificate")) or any(container.values.get(name) for name in variables)


def _share_claims(spec: dict[str, Any], rendered_pod: Body) -> None:
    """Gives mounts of a claim that the rendered pod has too its volume there, since a pod mounts no claim twice."""
    ours = {
        claim: text_at(volume, "name")
        for volume in maps_at(rendered_pod, "spec", "volumes")
        if (claim := text_at(volume, "persistentVolumeClaim", "claimName"))
    }
    names = {
        text_at(volume, "name"): ours[claim]
        for volume in maps_at(spec, "volumes")
        if (claim := text_at(volume, "persistentVolumeClaim", "claimName")) in ours
    }
    if not names:
        return
    spec["volumes"] = [volume for volume in maps_at(spec, "volumes") if text_at(volume, "name") not in names]
    for _, container in containers(spec):
        if mounts := maps_at(container, "volumeMounts"):
            container["volumeMounts"] = [
                {**mount, "name": names.get(text_at(mount, "name"), mount.get("name"))} for mount in mounts
            ]


def _comment_image(adopted: AdoptedWorkload, playground: CommentedBody, patch: Body) -> None:
    containers = maps_at(patch, "spec", "containers")
    if containers and "image" in containers[0] and not _version(adopted) and not adopted.keep_reason:
        comment = "The engine's version in this image is unknown: write it into backendRuntimeConfig.version."
        playground.comments[(*_TEMPLATE, "spec", "containers", 0, "image")] = comment


# The command line


def _options_beside(
    adopted: AdoptedWorkload, spec: Body, runner: Body, rendered_models: Sequence[Sequence[EngineOption]]
) -> list[EngineOption]:
    """The options of the Playground. Of several models those that all have; others are written into their entries."""
    if not adopted.mains:
        engine = adopted.container.engine.engine
        rendered, _ = split_options(engine.style, [Word(str(arg), _NOWHERE) for arg in runner.get("args") or ()])
        return [*_own_options(adopted, adopted.container.options, adopted.weights, rendered)]
    own = [
        [*_own_options(adopted, main.options, main.weights, rendered)]
        for main, rendered in zip(adopted.mains, rendered_models, strict=False)
    ]
    shared = [option for option in own[0] if all(option in others for others in own)] if own else []
    for entry, options in zip(maps_at(spec, "modelClaims", "models"), own, strict=False):
        if args := [word for option in options if option not in shared for word in option.words]:
            entry["args"] = args
    model_options = [option for main in adopted.mains for option in main.options]
    of_server = [option for option in adopted.container.options if option not in model_options]
    return [*_own_options(adopted, of_server, adopted.weights, ()), *shared]


def _own_options(
    adopted: AdoptedWorkload, options: Iterable[EngineOption], weights: ModelSource, rendered: Iterable[EngineOption]
) -> Iterator[EngineOption]:
    """The options that a rendered command line does not have, or has with another value."""
    container = adopted.container
    dropped = frozenset[str]().union(*map(container.option_names, _derived_fields(adopted, weights)))
    engine = container.engine.engine
    rendered_values = {option.name: option.values for option in rendered}
    number = str(adopted.accelerator.number) if adopted.accelerator.resource else "1"
    for option in options:
        if option.name in dropped or _is_in_variable(container, option):
            continue
        if option.name in engine.size_options and option.values == (number,):
            continue
        if option.name in rendered_values and _same_values(option.values, rendered_values[option.name]):
            continue
        yield option


def _derived_fields(adopted: AdoptedWorkload, weights: ModelSource) -> list[str]:
    """The fields of presets/engine_commands.yaml whose options the Playground does not have: others say them."""
    derived = [field for field in _DERIVED if field != "downloadTo" or not adopted.weights.keeps_cache]
    return [*derived, *_moved_fields(adopted, weights)]


def _is_in_variable(container: AdoptedContainer, option: EngineOption) -> bool:
    """Whether the option of a key only repeats the variable that the engine reads by itself."""
    variables = container.entry.get("apiKeyVariables") or ()
    is_key = option.name in container.option_names("apiKey")
    return is_key and option.values in {(f"$({name})",) for name in variables}


def _same_values(values: Sequence[str], others: Sequence[str]) -> bool:
    return list(values) == list(others) or [_value(text) for text in values] == [_value(text) for text in others]


def _value(text: str) -> object:
    """A value as JSON, where it is some."""
    try:
        return json.loads(text) if text[:1] in ("{", "[") else text
    except ValueError:
        return text


# Variables


def _asks_hub(adopted: AdoptedWorkload) -> bool:
    """Whether the engine goes on asking the hub: another option names a repository, or adapters come while it runs."""
    values = [value for option in _kept_options(adopted) for value in option.values]
    named = any(HUB_ID.fullmatch(word) for value in values for word in _WORD.findall(value))
    variable = adopted.container.entry.get("adaptersVariable", "")
    return named or adopted.container.values.get(variable, "").lower() in ("1", "true")


def _is_named(name: str, body: Body) -> bool:
    """Whether something beside the command line uses a variable: other variables, probes and hooks."""
    text = repr([value for key, value in body.items() if key in ("env", *COMMAND_FIELDS)])
    return any(reference in text for reference in (f"$({name})", f"${name}", f"${{{name}}}"))


def _file_variables(adopted: AdoptedWorkload) -> set[str]:
    """The variables about several models, or about the file with the options of models."""
    if not adopted.mains and not adopted.models_file:
        return set()
    entry = adopted.container.entry.get("modelsFile") or adopted.container.entry
    return {*(entry.get("variables") or ()), entry["mostVariable"]}


def _place(names: Sequence[str], name: str) -> int:
    """The place of a variable in the rendered container; behind all others for one that it does not have."""
    return names.index(name) if name in names else len(names)


def _own_variables(
    adopted: AdoptedWorkload, runner: Body, token: HubToken | None, diagnostics: Collector
) -> Iterator[Body]:
    """The variables that the rendered container does not have, without the hub's token and what options say now."""
    container, entry = adopted.container, adopted.container.entry
    moved = [field for field in _derived_fields(adopted, adopted.weights) if field not in ("port", "host")]
    unread: set[str] = {
        name for field in moved for name in container.variables_of(field)
    }  # which have keys of their own
    unread |= {
        *(entry.get("weightsVariables") or ()),
        *(entry.get("portVariables") or ()),
        entry.get("hostVariable") or "",
    }
    unread |= _file_variables(adopted)
    rendered = {text_at(variable, "name"): variable for variable in maps_at(runner, "env")}
    for variable in maps_at(container.body, "env"):
        name = text_at(variable, "name")
        if adopted.keep_reason:
            if variable != rendered.get(name):
                yield variable
            continue
        if token and adopted.weights.is_loaded and token.holds(variable) and not _asks_hub(adopted):
            continue
        if name in unread or (name in container.used_variables and not _is_named(name, container.body)):
            continue
        if name in container.hub_variables and hub_id(adopted.weights) and not adopted.weights.keeps_cache:
            continue  # the loader has no such folder, and has to ask the hub
        if variable != rendered.get(name):
            yield variable


def _port_variables(adopted: AdoptedWorkload) -> list[Body]:
    """The variables by which an engine with its own command line knows its port, also where a ConfigMap has them."""
    values, names = adopted.container.values, adopted.container.entry.get("portVariables") or ()
    known = [name for name in names if name in values] if adopted.keep_reason else []
    return [{"name": name, "value": values[name]} for name in known]


# The pod


def _consumed_mounts(adopted: AdoptedWorkload) -> frozenset[str]:
    """The mount paths that the Playground says elsewhere: shared memory, a cache of the hub, and the weights, unless
    something else in the container names a file below them.
    """
    body, paths = adopted.container.body, [main.weights.mount_path for main in adopted.mains]
    shared_memory, size = shared_memory_mount(adopted.template, body)
    if adopted.loads_itself:  # without a size nothing else says that it has shared memory
        return frozenset([shared_memory] if size else [])
    consumed = {shared_memory, adopted.weights.lost_cache}
    texts = [value for option in _kept_options(adopted) for value in option.values]
    variables = [entry for entry in maps_at(body, "env") if text_at(entry, "name") not in _file_variables(adopted)]
    texts += [repr(variables), *(repr(value) for key, value in body.items() if key in COMMAND_FIELDS)]
    of_template = adopted.chat_template.mount_path if adopted.chat_template else ""
    of_models = adopted.models_file.mount_path if adopted.models_file else ""
    for place in (adopted.weights.mount_path, *paths, of_template, of_models):
        if place and not any(place in text for text in texts):
            consumed.add(place)
    return frozenset(consumed - {""})


def _moved_fields(adopted: AdoptedWorkload, weights: ModelSource) -> list[str]:
    """The fields of presets/engine_commands.yaml whose options the model's source, or the Playground, says by a key."""
    of_source = ["projector"] if "projector" in weights.source else []
    return [*of_source, *(["chatTemplate"] if adopted.chat_template else [])]


def _kept_options(adopted: AdoptedWorkload) -> Iterator[EngineOption]:
    for weights, options in [(adopted.weights, adopted.container.options), *_models_of(adopted)]:
        fields = ("weights", *_moved_fields(adopted, weights))
        dropped = frozenset[str]().union(*map(adopted.container.option_names, fields))
        yield from (option for option in options if option.name not in dropped)


def _models_of(adopted: AdoptedWorkload) -> list[tuple[ModelSource, Sequence[EngineOption]]]:
    """The weights and options of each of several models."""
    return [(main.weights, main.options) for main in adopted.mains]


def engine_port_of(adopted: AdoptedWorkload) -> EnginePort:
    """The port of the engine of a workload, which it keeps where it is known."""
    port = engine_port_in(adopted.container)
    return replace(port, ours_number=port.number) if port.number else port


def _version(adopted: AdoptedWorkload) -> str:
    """The tag of the image, where it is one of the engine's project and says a version; the preset's version where the
    source names no image.
    """
    image = text_at(adopted.container.body, "image").partition("@")[0]
    if not image:
        return text_at(adopted.container.engine.runtime.spec, "version")
    return image.rpartition("/")[2].partition(":")[2] if adopted.container.engine.version else ""


def _resources(adopted: AdoptedWorkload, rendered: Body) -> Body:
    """The resources that the rendered container does not have; the accelerator is the flavor's."""
    resources = map_at(adopted.container.body, "resources")
    sides = {
        side: {
            name: canonical_amount(amount)
            for name, amount in sorted(map_at(resources, side).items())
            if name != adopted.accelerator.resource and map_at(rendered, side).get(name) != amount
        }
        for side in ("requests", "limits")
    }
    return {side: amounts for side, amounts in sides.items() if amounts}


def _workload_settings(adopted: AdoptedWorkload) -> Body:
    workload = adopted.workload
    settings: dict[str, object] = {"kind": wellknown.DEPLOYMENT} if workload.as_deployment else {}
    rollout = {key: value for key, value in workload.rollout.items() if key != "partition" or value}
    is_update = workload.as_deployment and adopted.takeover.is_update
    if is_update:  # the first rollout of ours goes as those before
        rollout = {**DEPLOYMENT_ROLLOUT, **rollout}
    if rollout:
        is_usual = rollout == DEPLOYMENT_ROLLOUT and not is_update
        usual = DEPLOYMENT_ROLLOUT if is_usual else {"maxUnavailable": 1, "maxSurge": 0}
        if rollout := {key: value for key, value in rollout.items() if usual.get(key) != value}:
            settings["rollout"] = rollout
    for key, texts in (("labels", workload.labels), ("annotations", workload.annotations)):
        if own_texts := {name: text for name, text in texts.items() if not is_reserved(name)}:
            settings[key] = own_texts
    return {**settings, **map_at(workload.spec, "workload")}


def token_variable(adopted: AdoptedWorkload) -> tuple[HubToken, Origin] | None:
    """The hub's token of the engine's container, or of a loader of ours; None without one, and where nothing is loaded
    from a hub.
    """
    if not adopted.weights.is_loaded:
        return None
    for field in ("containers", "initContainers"):
        for c, body in enumerate(maps_at(adopted.template, "spec", field)):
            if field == "containers" and body is not adopted.container.body:
                continue
            for i, variable in enumerate(maps_at(body, "env")):
                if token := token_of(variable):
                    return token, adopted.workload.engine_origin_of(("spec", field, c, "env", i))
    return None
