"""What a backend comes to for a model: image, command line, environment, budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer import build, check, load, resolve, yamlio
from renderer.api import App, BackendRuntime, Inputs, RenderOptions
from renderer.diagnostics import Diagnostic, has_errors
from renderer.load import PresetRefused
from renderer.load.option_lists import VERSION, OptionListReader
from renderer.plan import Body, Plan
from renderer.resolve import RunContext
from renderer.resolve.engine import backend_runtime, dialect

if TYPE_CHECKING:
    from renderer.input_types import AppSpec

_PLAYGROUND = {"apiVersion": "inference.llmaz.io/v1alpha1", "kind": "Playground"}
_SHARED_MEMORY = "dshm"  # the volume's name (docs/design/contract.md#names-in-the-pod)


class BackendPreview(Struct, frozen=True):
    """A short YAML, '' when something stands in the way; what is wrong; the model that was taken for want of one."""

    text: str
    problems: list[Diagnostic]
    chosen: str = ""


def backend_preview(
    name: str, model: str = "", backend: str = "", overrides: tuple[str, ...] = (), version: str = ""
) -> BackendPreview:
    """The backend `name` for a model, or the model `name` on a backend, ours or the user's own: planned for a
    Playground that says no more than these two and the tag of an image.

    Without a model the first is taken that the backend can run, without a backend what `render` takes. Raises Refused
    for names that lead nowhere; RenderError.
    """
    inputs, problems = load.inputs(load.scope(RenderOptions(overrides=overrides, allow_empty=True)))
    if has_errors(problems):
        return BackendPreview("", problems)
    model, backend = _pair(inputs, name, model, backend)
    context = resolve.run_context(inputs)
    problems += context.problems
    for item in inputs.definitions:
        if item is inputs.runtimes.get(backend) or item is inputs.models.get(model):
            problems += resolve.validate_item(context, item)
    if has_errors(problems):
        return BackendPreview("", problems)
    chosen = "" if model else _first(context, backend)
    app = _app(f"llmaz presets show {name} --resolved", model or chosen, backend, version)
    plans, plan_problems = resolve.plan(context, app)
    plan = next((item for item in plans if isinstance(item, Plan)), None)
    if plan:
        plan_problems += check.validate_manifests(build.build_manifests(plans))
    # The Playground stands in no file, so it has no lines.
    problems += [replace(item, line=0, column=0) if item.file == app.document.name else item for item in plan_problems]
    text = yamlio.dump(_outcome(plan, model or chosen)) if plan and not has_errors(problems) else ""
    return BackendPreview(text, problems, chosen)


def of_version(name: str, tag: str) -> str:
    """The options of the preset `name` in the version that an image tag says, or that `tag` is itself, as a short YAML;
    those of the nearest older version where its own are not known. Raises Refused.
    """
    folder, _, own = load.find_preset(name, load.preset_paths()).partition("/")
    if folder != "backends":
        raise PresetRefused(f"'{name}' is no backend, so it has no versions")
    document = load.preset(f"backends/{own}")
    runtime, files = BackendRuntime(own, document.value["spec"], document, ours=True), OptionListReader()
    known = dialect.known_versions(files, runtime)
    if not known:
        raise PresetRefused(f"'{name}' has no list of options")
    engine_version = backend_runtime.version_of_tag(runtime.spec["engine"], tag)
    version = engine_version or (tag if VERSION.fullmatch(tag) else "")
    if not version:
        raise PresetRefused(f"'{tag}' says no version of {own}; take a tag such as {runtime.spec['version']}")
    listed = dialect.read_option_list(files, runtime, version)
    if listed is None:
        raise PresetRefused(
            f"nobody knows the options of {own} {version}; known are {dialect.describe_versions(known)}"
        )
    outcome = {
        "backend": own,
        "engineVersion": version,
        "checkedAgainst": listed.version,
        "knownVersions": known,
        "options": option_lines(listed),
    }
    return yamlio.dump(outcome)


def option_lines(listed: dialect.OptionList) -> list[str]:
    """The options of a version, each as a line of a list has it."""
    spellings: dict[int, list[str]] = {}
    for name, option in listed.options.items():
        spellings.setdefault(id(option), []).append(name)
    lines = []
    for names in spellings.values():
        option = listed.options[names[0]]
        values = f" {{{','.join(option.choices)}}}" if option.choices else ""
        lines.append(f"{','.join(names)} {option.arity}{' repeat' * option.repeats}{values}")
    return lines


def _pair(inputs: Inputs, name: str, model: str, backend: str) -> tuple[str, str]:
    """Model and backend, '' where nobody names one. Raises Refused."""
    folders = {"backends": inputs.runtimes, "models": inputs.models, "loaders": inputs.loaders}
    known = [f"{folder}/{preset_name}" for folder, shelf in folders.items() for preset_name in shelf]
    folder, _, own = load.find_preset(name, known, "backend or model").partition("/")
    if folder == "loaders":
        raise PresetRefused(f"'{name}' is a loader; only backends and models are resolved")
    if folder == "backends":
        if backend:
            raise PresetRefused(f"'{name}' is a backend, so --backend has no meaning; name a model with --model")
        return model, own
    if model:
        raise PresetRefused(f"'{name}' is a model, so --model has no meaning; name a backend with --backend")
    return own, backend


def _first(context: RunContext, backend: str) -> str:
    """The first model that the backend runs, by name: the user's own before ours, chat models before others.

    Raises Refused when there is none.
    """
    models = context.inputs.models

    def rank(name: str) -> tuple[bool, bool, str]:
        return models[name].ours, (models[name].spec.get("facts") or {}).get("kind", "chat") != "chat", name

    for name in sorted(models, key=rank):
        if resolve.plan(context, _app("", name, backend))[0]:
            return name
    raise PresetRefused(f"no model known here runs on '{backend}'; write an OpenModel, and name it with --model")


def _app(command: str, model: str, backend: str, version: str = "") -> App:
    """A Playground as short as can be; `command` stands where its file's name would."""
    spec: AppSpec = {"modelClaim": {"modelName": model}}
    if backend or version:
        spec["backendRuntimeConfig"] = {
            **({"backendName": backend} if backend else {}),
            **({"version": version} if version else {}),
        }
    whole = {**_PLAYGROUND, "metadata": {"name": "resolved"}, "spec": spec}
    ((document,), _) = yamlio.parse(command, yamlio.dump(whole).encode())
    return App("Playground", "resolved", "default", spec, {}, document, command)


def _outcome(plan: Plan, model: str) -> dict[str, object]:
    """What people ask for, in reading order; what is not there is left out."""
    pod = plan.worker
    runner = pod.containers[0]
    marks = {key.removeprefix("renderer.llmaz.io/"): value for key, value in plan.annotations.items()}
    volumes = {volume["name"]: volume for volume in pod.volumes}
    probes = {
        "startup": _probe(runner.startup_probe),
        "readiness": _probe(runner.readiness_probe),
        "liveness": _probe(runner.liveness_probe),
    }
    outcome = {
        "backend": marks.get("backend"),
        "engineVersion": marks.get("engine-version"),
        "model": model,
        "servedModelName": marks.get("served-model-name"),
        "image": runner.image,
        "command": list(runner.command),
        "args": list(runner.args),
        "env": list(runner.env),
        "files": plan.config,
        "sharedMemory": volumes[_SHARED_MEMORY]["emptyDir"].get("sizeLimit") if _SHARED_MEMORY in volumes else None,
        "resources": runner.resources,
        "probes": {key: value for key, value in probes.items() if value},
        "gracePeriodSeconds": pod.grace_seconds,
    }
    return {key: value for key, value in outcome.items() if value not in (None, "", [], {})}


def _probe(probe: Body) -> dict[str, object]:
    """What is asked, how often, and after how many seconds without an answer it fails; with Kubernetes' defaults."""
    if not probe:
        return {}
    every = probe.get("periodSeconds", 10)
    asked = {key: probe[key] for key in ("httpGet", "tcpSocket", "grpc", "exec") if key in probe}
    if "path" in (asked.get("httpGet") or {}):
        asked = {"path": asked["httpGet"]["path"]}
    seconds = probe.get("initialDelaySeconds", 0) + every * probe.get("failureThreshold", 3)
    return {**asked, "everySeconds": every, "failsAfterSeconds": seconds}
