"""Files that an engine reads and nothing puts there, and variables that move a store away from what fills it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Container, Iterable, Iterator, Sequence

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, quoted, rule
from renderer.kubernetes.json_values import maps_at, text_at
from renderer.plan import Container as PodContainer
from renderer.resolve.pod.containers import is_empty_dir, volume_at, written_volumes
from renderer.resolve.pod.loaders import loader_name
from renderer.resolve.pod_defaults import CA_VARIABLES
from renderer.resolve.workload import engine_process
from renderer.resolve.workload.planned_pod import PlannedPod

_IN_IMAGES = ("/etc/ssl/", "/etc/pki/", "/usr/")  # where images have certificates of their own
# Folders of images and of the kernel have short names, such as /usr; images of engines have a workspace besides. Of
# /etc they have the certificates alone.
_OUTSIDE_VOLUMES = r"/(?:(?!etc/)[a-z]{1,4}\d*|etc/(?:ssl|pki)|[a-z-]*workspace)/"
_ELSEWHERE = "provide the file with a volume or an init container of podTemplate, or name one that the image has"
_VOLUME = "provide it with a volume of podTemplate"
_SOURCE = f"name it as source.projector of the OpenModel, or {_VOLUME}"
_TEMPLATE = f"write chatTemplate: {{file: …}} with its path in the tree instead, or {_VOLUME}"
# How a tree brings what options load, by what their names have in them.
_CLAIMED = {
    "lora": "claim the adapter as an OpenModel, with role: lora in modelClaims; or ",
    "draft": "claim the draft model as an OpenModel, with role: draft in modelClaims; or ",
    "speculative": "claim the draft model as an OpenModel, with role: draft in modelClaims; or ",
}
_PARTS = r"[^\s=,:;\"'*?\[\]{}]+"
# Below the folder in which the engine starts: as paths begin, or as files end.
_RELATIVE_PATH = r"\.{1,2}/.+|\w[\w./-]*\.(?:jinja2?|json|ya?ml|txt|gguf|gbnf|pem|crt|key|py)"
_OF_IMAGES = "examples/"  # a folder there
_WORK_FOLDER = r"/(?:app|[a-z]+-workspace)(?:/|$)"
_PATH = r"(?:^|[=,:\"'\s])(/[^\s=,:;\"'*?\[\]{}]+)"


@rule(of=PlannedPod, when=lambda planned: planned.run.engine.templated)
def unfilled_files(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for each option and variable of users that names a file in a volume that is empty when the pod starts,
    and in which nothing puts it, or that the preset's image would have to have, in a folder that images of engines do
    not have. What lies in another image, or in a volume with content of its own, is not judged.
    """
    engine_spec = planned.run.engine.spec
    named = list(given_by_users(planned, (engine_spec.get("options") or {}).get("files") or ()))
    if not named:
        return
    hints = dict.fromkeys(engine_spec.get("projector") or (), _SOURCE)
    hints |= dict.fromkeys((engine_spec.get("chatTemplate") or {}).get("options") or (), _TEMPLATE)
    pod, runner, loads = planned.pod, planned.pod.containers[0], planned.run.base.pod_needs.loads
    loaded = [path for load in loads for path in load.weights.paths]
    written = written_volumes(pod, {loader_name(load.position) for load in loads})
    is_known_image = runner in _known_containers(planned)
    folder = text_at(runner.rest, "workingDir")
    fills_folder = any(re.match(_WORK_FOLDER, str(mount["mountPath"])) for mount in runner.volume_mounts)
    for name, text, origin in named:
        relative_paths = [part for part in re.findall(_PARTS, text) if re.fullmatch(_RELATIVE_PATH, part)]
        if folder:
            text = " ".join([text, *[posixpath.join(folder, path) for path in relative_paths]])
        elif is_known_image and not fills_folder:
            for path in relative_paths:
                if not path.startswith(_OF_IMAGES):
                    hint = f"{_provided(name)}, and write its path from / on"
                    yield make_diagnostic("W481", origin, option=name, path=path, hint=hint)
        for path in map(posixpath.normpath, re.findall(_PATH, text)):
            volume = volume_at(runner, path)
            if not volume and is_known_image and not re.match(_OUTSIDE_VOLUMES, path):
                yield make_diagnostic("W481", origin, option=name, path=path, hint=hints.get(name, _provided(name)))
            if not is_empty_dir(pod, volume) or volume in written:
                continue
            beside = [other for other in loaded if volume_at(runner, other) == volume]
            if any(path == other or path.startswith(f"{other}/") for other in beside):
                continue
            content = f"only {' and '.join(beside)} is loaded there" if beside else "it is empty when the pod starts"
            words = {"option": name, "path": path, "volume": volume, "content": content}
            yield make_diagnostic("W411", origin, **words, hint=hints.get(name, _ELSEWHERE))


def _provided(option: str) -> str:
    """How a file for an option comes into the pod."""
    return next((way for word, way in _CLAIMED.items() if word in option), "") + _VOLUME


def given_by_users(planned: PlannedPod, names: Sequence[str]) -> Iterator[tuple[str, str, Origin]]:
    """The options and variables of users that have one of the names: name, value and place of each value."""
    command, style = planned.command, planned.run.engine.style
    for layer in () if command.user_options.isdisjoint(names) else command.user_layers:
        for i, token in enumerate(layer.args):
            if (name := style.name(token)) not in names:
                continue
            glued = style.kind != "exact" and "=" in token
            if glued:
                yield name, token.partition("=")[2], layer.origin_of(i)
            for n in range(i + 1, len(layer.args)) if not glued else ():
                if style.is_option(layer.args[n]):
                    break
                yield name, layer.args[n], layer.origin_of(n)
    if names:
        yield from variables_of_users(planned, names)


def variables_of_users(planned: PlannedPod, names: Container[str]) -> Iterator[tuple[str, str, Origin]]:
    """The variables of users that have one of the names: name, value and place of each; the later one counts."""
    layers = [*reversed(planned.command.user_env)]
    if planned.is_patched():
        layers.append(engine_process.patched_env(planned.app))
    for layer in layers:
        for i, entry in enumerate(layer.value):
            if (name := str(entry.get("name"))) in names:
                yield name, str(entry.get("value", "")), layer.origin.at(i, "value")


@rule(of=PlannedPod, when=lambda planned: planned.run.engine.templated)
def moved_stores(planned: PlannedPod) -> Iterator[Diagnostic]:
    """An error for each variable that names another folder to the engine than to the container that fills it, as far as
    the preset has it in a volume of the pod.
    """
    stores = dict(_stores(planned))
    if not stores:
        return
    pod, runner = planned.pod, planned.pod.containers[0]
    users = {name: (value, origin) for name, value, origin in variables_of_users(planned, stores)}
    for name, path in stores.items():
        value, origin = users.get(name, (path, None))
        volume = volume_at(runner, path)
        if origin is None or not volume or not value.startswith("/"):
            continue
        fillers = [container for container in pod.init_containers if _may_write(container, volume)]
        if not fillers and is_empty_dir(pod, volume):
            continue
        moved = volume_at(runner, value)
        lost = [container.name for container in fillers if not moved or _store_volume(container, name, path) != moved]
        if lost or (not fillers and moved != volume):
            writers = f"what the containers {quoted(lost)} write to {path}" if len(lost) > 1 else ""
            writers = writers or f"what the container {quoted(lost)} writes to {path}"
            source = writers if lost else f"the weights of the volume '{volume}' in {path}"
            yield make_diagnostic("E410", origin, name=name, value=value, source=source)


@rule(of=PlannedPod, when=lambda planned: planned.run.engine.templated)
def unmounted_certificates(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for each variable of users that names a file of certificates to containers that mount nothing there. An
    image that is not the preset's may have it.
    """
    for name, path, origin in variables_of_users(planned, CA_VARIABLES):
        if not path.startswith("/") or path.startswith(_IN_IMAGES):
            continue
        lacking = [
            container.name
            for container in _known_containers(planned)
            if any(entry.get("name") == name and entry.get("value") == path for entry in container.env)
            and not volume_at(container, posixpath.normpath(path))
        ]
        if lacking:
            yield make_diagnostic("W919", origin, name=name, path=path, containers=quoted(lacking))


def _known_containers(planned: PlannedPod) -> Iterator[PodContainer]:
    """The engine, its steps and the loaders, as far as they have the images of presets."""
    generated, run = planned.generated, planned.run
    images = {container.name: container.image for container in (*generated.init_containers, *generated.containers)}
    own_loaders = run.base.context.inputs.config.get("loaders") or {}
    loads = {loader_name(load.position): load.loader.name for load in run.base.pod_needs.loads}
    for container in (*planned.pod.init_containers, planned.pod.containers[0]):
        is_ours = "image" not in own_loaders.get(loads[container.name], {}) if container.name in loads else None
        is_ours = run.engine.runtime.ours if is_ours is None else is_ours
        if is_ours and images.get(container.name) == container.image:
            yield container


def _stores(planned: PlannedPod) -> Iterator[tuple[str, str]]:
    """The variables that the preset, or the kind of source, sets to a folder, and the folder."""
    run = planned.run
    if any("/" in str(entry.get("value")) for entry in run.engine.runtime.spec.get("envs") or ()):
        for entry in maps_at({"env": run.engine.envs(run.words)}, "env"):
            if (value := str(entry.get("value", ""))).startswith("/"):
                yield str(entry["name"]), value
    for weights in run.base.weights:
        for variable in weights.cache_env:
            if (value := str(variable.get("value", ""))).startswith("/"):
                yield str(variable["name"]), value


def _may_write(container: PodContainer, volume: str) -> bool:
    return any(mount["name"] == volume and not mount.get("readOnly") for mount in container.volume_mounts)


def _store_volume(container: PodContainer, name: str, path: str) -> str:
    """The volume in which a container has the folder of a variable, `path` where it is not told."""
    values: Iterable[str] = (str(entry.get("value", "")) for entry in container.env if entry.get("name") == name)
    return volume_at(container, next(iter(values), path))
