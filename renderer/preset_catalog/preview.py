"""Previews of presets: what a backend gives a model, and the options of an engine's version."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from renderer import build, check, load, resolve, yamlio
from renderer.api import App, BackendRuntime, Inputs, RenderOptions
from renderer.diagnostics import Diagnostic, has_errors
from renderer.engines import image_version, option_defaults, option_lists, version_order
from renderer.engines.option_lists import VERSION
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import value_at
from renderer.load import PresetRefused
from renderer.load.option_lists import OptionListReader, learnt_folder
from renderer.plan import Plan
from renderer.resolve import RunContext

if TYPE_CHECKING:
    from renderer.input_types import AppSpec

_PLAYGROUND = {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Playground"}
_SHARED_MEMORY = "dshm"  # the volume's name (docs/design/contract.md#names-in-the-pod)


class BackendPreview(Struct, frozen=True):
    """What a preset makes of a model."""

    text: str  # YAML, '' on an error
    problems: list[Diagnostic]
    chosen: str = ""  # the model that was chosen where none was named


def backend_preview(
    name: str, model: str = "", backend: str = "", overrides: tuple[str, ...] = (), version: str = ""
) -> BackendPreview:
    """The backend `name` for a model, or the model `name` on a backend: the plan of a Playground that sets no more than
    these and the image's tag, `version`.

    Without a model it is the first that the backend can run, without a backend the default. Raises PresetRefused for
    unknown names; RenderError.
    """
    inputs, problems = load.inputs(load.scope(RenderOptions(overrides=overrides, allow_empty=True)))
    if has_errors(problems):
        return BackendPreview("", problems)
    model, backend = _model_and_backend(inputs, name, model, backend)
    context = resolve.run_context(inputs)
    problems += context.problems
    for item in inputs.definitions:
        if item is inputs.runtimes.get(backend) or item is inputs.models.get(model):
            problems += resolve.validate_item(context, item)
    if has_errors(problems):
        return BackendPreview("", problems)
    chosen = "" if model else _first_model(context, backend)
    app = _playground(f"llmaz presets show {name} --resolved", model or chosen, backend, version)
    plans, plan_problems = resolve.plan(context, app)
    plan = next((item for item in plans if isinstance(item, Plan)), None)
    if plan:
        plan_problems += check.validate_manifests(build.build_manifests(plans))
    # The Playground stands in no file, so it has no lines.
    problems += [replace(item, line=0, column=0) if item.file == app.document.name else item for item in plan_problems]
    text = yamlio.dump(_preview_fields(plan, model or chosen)) if plan and not has_errors(problems) else ""
    return BackendPreview(text, problems, chosen)


def version_preview(name: str, tag: str) -> str:
    """The options of the backend `name` as YAML, for the version in an image tag, or that is the tag; those of the
    nearest older version where its own are unknown, and those that the tree has learnt; and what the version does
    without each, where that is known.

    Raises PresetRefused, RenderError.
    """
    folder, _, preset = load.find_preset(name, load.preset_paths()).partition("/")
    if folder != "backends":
        raise PresetRefused(f"'{name}' is not a backend, so it has no versions")
    document = load.preset(f"backends/{preset}")
    runtime = BackendRuntime(preset, document.value["spec"], document, ours=True)
    files = OptionListReader(learnt_folder=learnt_folder(load.scope(RenderOptions(allow_empty=True)).config))
    known = option_lists.known_versions(files, runtime)
    if not known:
        raise PresetRefused(f"'{name}' has no list of options")
    engine_version = image_version.version_of_tag(runtime.spec["engine"], tag)
    version = engine_version or (tag if VERSION.fullmatch(tag) else "")
    if not version:
        raise PresetRefused(f"'{tag}' is not a version of {preset}; use a tag such as {runtime.spec['version']}")
    option_list = option_lists.read_option_list(files, runtime, version)
    if option_list is None:
        raise PresetRefused(
            f"the options of {preset} {version} are unknown; known are {version_order.describe_versions(known)}"
        )
    outcome: dict[str, object] = {
        "backend": preset,
        "engineVersion": version,
        "checkedAgainst": option_list.version,
        "knownVersions": known,
        "options": option_lines(option_list),
    }
    defaults = (option_defaults.read_defaults(files, runtime, version) or {}).values()
    if defaults:
        outcome["defaults"] = [*dict.fromkeys(f"{default.names[0]} {default.value}" for default in defaults)]
    return yamlio.dump(outcome)


def option_lines(option_list: option_lists.OptionList) -> list[str]:
    """The options of a version, each in the format of a list's line."""
    spellings: dict[int, list[str]] = {}
    for name, option in option_list.options.items():
        if option.unnamed and not option.hidden:
            continue
        spellings.setdefault(id(option), []).append(name)
    lines = []
    for names in spellings.values():
        option = option_list.options[names[0]]
        optional, bounds = "?" * option.takes_none, "".join(f"{sign}{bound:g}" for sign, bound in option.bounds)
        value_type = f" {option.type}{optional}{bounds}" if option.type else ""
        values = f" {{{','.join(option.choices.values)}}}" if option.choices.values else ""
        lines.append(f"{','.join(names)} {option.arity}{value_type}{' repeat' * option.repeats}{values}")
    return lines


def _model_and_backend(inputs: Inputs, name: str, model: str, backend: str) -> tuple[str, str]:
    """The names of model and backend, '' where none is given. Raises PresetRefused."""
    folders = {"backends": inputs.runtimes, "models": inputs.models, "loaders": inputs.loaders}
    known = [f"{folder}/{preset_name}" for folder, presets in folders.items() for preset_name in presets]
    folder, _, preset = load.find_preset(name, known, "backend or model").partition("/")
    if folder == "loaders":
        raise PresetRefused(f"'{name}' is a loader; only backends and models are resolved")
    if folder == "backends":
        if backend:
            raise PresetRefused(f"'{name}' is a backend, so --backend has no meaning; name a model with --model")
        return model, preset
    if model:
        raise PresetRefused(f"'{name}' is a model, so --model has no meaning; name a backend with --backend")
    return preset, backend


def _first_model(context: RunContext, backend: str) -> str:
    """The first model that the backend runs: the user's own first, then chat models, then by name.

    Raises PresetRefused without one.
    """
    models = context.inputs.models

    def rank(name: str) -> tuple[bool, bool, str]:
        return models[name].ours, (models[name].spec.get("facts") or {}).get("kind", "chat") != "chat", name

    for name in sorted(models, key=rank):
        if resolve.plan(context, _playground("", name, backend))[0]:
            return name
    raise PresetRefused(f"no model known here runs on '{backend}'; write an OpenModel, and name it with --model")


def _playground(command: str, model: str, backend: str, version: str = "") -> App:
    """A minimal Playground. `command`: instead of its file's name."""
    spec: AppSpec = {"modelClaim": {"modelName": model}}
    if backend or version:
        spec["backendRuntimeConfig"] = {
            **({"backendName": backend} if backend else {}),
            **({"version": version} if version else {}),
        }
    playground = {**_PLAYGROUND, "metadata": {"name": "resolved"}, "spec": spec}
    ((document,), _) = yamlio.parse(command, yamlio.dump(playground).encode())
    return App("Playground", "resolved", "default", spec, {}, document, command)


def _preview_fields(plan: Plan, model: str) -> dict[str, object]:
    """The fields of a preview, without empty ones."""
    pod = plan.worker
    runner = pod.containers[0]
    annotations = {key.removeprefix(wellknown.OWN_PREFIX): value for key, value in plan.annotations.items()}
    volumes = {volume["name"]: volume for volume in pod.volumes}
    probes = {
        "startup": _probe_fields(runner.startup_probe),
        "readiness": _probe_fields(runner.readiness_probe),
        "liveness": _probe_fields(runner.liveness_probe),
    }
    outcome = {
        "backend": annotations.get("backend"),
        "engineVersion": annotations.get("engine-version"),
        "model": model,
        "servedModelName": annotations.get("served-model-name"),
        "image": runner.image,
        "command": list(runner.command),
        "args": list(runner.args),
        "env": list(runner.env),
        "files": plan.config,
        "sharedMemory": value_at(volumes, _SHARED_MEMORY, "emptyDir", "sizeLimit"),
        "resources": runner.resources,
        "probes": {key: value for key, value in probes.items() if value},
        "gracePeriodSeconds": pod.termination_grace_period_seconds,
    }
    return {key: value for key, value in outcome.items() if value not in (None, "", [], {})}


def _probe_fields(probe: Mapping[str, Any]) -> dict[str, object]:
    """A probe's handler, period, and seconds until failure, with Kubernetes' defaults."""
    if not probe:
        return {}
    period = probe.get("periodSeconds", 10)
    handler = {key: probe[key] for key in ("httpGet", "tcpSocket", "grpc", "exec") if key in probe}
    if "path" in (handler.get("httpGet") or {}):
        handler = {"path": handler["httpGet"]["path"]}
    seconds = probe.get("initialDelaySeconds", 0) + period * probe.get("failureThreshold", 3)
    return {**handler, "everySeconds": period, "failsAfterSeconds": seconds}
