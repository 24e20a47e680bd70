"""Where the weights of an engine come from, as an OpenModel says it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from renderer import yamlio
from renderer.adopt.engine_container import AdoptedContainer
from renderer.adopt.serving_workload import Body, ServingWorkload
from renderer.diagnostics import Collector, Origin
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import as_map, list_at, map_at, maps_at, text_at, texts_at
from renderer.kubernetes.variable_references import plain_variables
from renderer.kubernetes.workloads import is_rendered

HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
_SHELL_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
_LOOP = re.compile(r"\bfor (\w+) in ([^;\n]+?)\s*[;\n]\s*do\b")  # of a shell
_URI = re.compile(r"[a-z][a-z0-9+.-]*://")
_HUB_HOME, _HUB_FOLDER = "/root/.cache/huggingface", "/hub"
_HOME_VARIABLE = "HF_HOME"
_CACHE_VARIABLES = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
_HUB = "Huggingface"
_LOADERS = re.compile(r"model-loader(?:-\d+)?")
_USUAL_REVISIONS = ("main", "master")
_LOADED = "/workspace/models/"
_BUCKET, _STORE = re.compile("STORE:(.+)"), "RCLONE_CONFIG_STORE_"  # of presets/loaders/store.yaml
_SCHEMES = {
    frozenset({("TYPE", "s3"), ("PROVIDER", "AWS"), ("ENV_AUTH", "true")}): "s3",
    frozenset({("TYPE", "gcs"), ("ENV_AUTH", "true")}): "gs",
}  # of addresses, by all that the loader knows of the store
_PULLED = "docs/migrating/by-hand.md#a-server-that-pulls-models"
_BY_HAND = "write the OpenModel by hand, or name a repository of the hub, a claim or a folder of the node"


class ModelSource(Struct, frozen=True):
    """The source of an OpenModel, and what the pod needs no more once the OpenModel says it."""

    source: Body  # spec.source of an OpenModel
    id: str  # of the hub's repository, else the path or address: what the model is called after
    name: str  # as the engine opens it, which is its name where nobody gives another
    mount_path: str = ""  # of the volume that is claimed by the source, '' for none
    comment: str = ""  # a choice that was made
    has_loader: bool = False  # a loader of ours brings them in the pod that was read, or has to in the new one
    is_pulled: bool = False  # by a hook into a server that runs
    lost_cache: str = ""  # the mount path of a volume in which the engine kept what it downloaded, and now does not
    keeps_cache: bool = False  # the engine goes on downloading by itself, into a volume of its own

    @property
    def is_loaded(self) -> bool:
        """Whether a loader brings the weights from a hub, for which it may need a token."""
        return "uri" not in self.source


def find_model_source(
    workload: ServingWorkload,
    container: AdoptedContainer,
    template: Body,
    diagnostics: Collector,
    *,
    loads_itself: bool = False,
    opened: str = "",
) -> ModelSource:
    """The weights of a container's engine. `loads_itself`: it goes on finding them as its command line says; `opened`:
    the path that it opens, where that is known. Raises Stop where nobody says them in a way that an OpenModel can.
    """
    revision = _last_value(container, "revision")
    if repository := container.value_of("hubRepository"):
        if loads_itself and not container.value_of("hubFile"):
            name = "".join(repository.values[:1]).partition(":")[0]
            return ModelSource({"modelHub": {"modelID": name}}, name, name)
        source = _hub_file(container, repository.values[:1], repository.origin, diagnostics)
        return replace(source, lost_cache="" if loads_itself else _file_cache(container, template))
    named, origin = _opened(workload, container)
    step = next(iter(own_steps(container, template)), ("", ""))
    opened = opened or named or step[1] or _from_settings(workload, container, template)
    if not opened:
        if address := "".join(pulled_models(container, template)[:1]) or step[0]:
            return source_of_pull(container, template, address, loads_itself=loads_itself)
        _stop_unnamed(workload, container, origin, diagnostics)
    if loaded := _loaded(container, template, opened):
        return loaded
    model = workload.model
    if model and (not model.path or f"{opened}/".startswith(f"{model.path}/")):
        below = opened[len(model.path) :] if model.path else ""
        return source_of_uri(model.uri, model.name, below, revision)
    if _URI.match(opened):
        return ModelSource({"uri": opened}, opened, opened)
    if HUB_ID.fullmatch(opened):
        hub = {"modelID": opened, **({"revision": revision} if revision else {})}
        if loads_itself:
            return ModelSource({"modelHub": hub}, opened, opened)
        return _with_cache(container, template, hub, opened)
    if not opened.startswith("/"):
        why = f"'{opened}' is not a path, an address or a hub id"
        if "$(" in opened and (sources := [*_missing_sources(workload, container, opened)]):
            why = f"'{opened}' is filled in from {' and '.join(sources)}, which is not known"
            hint = _beside(sources)
            diagnostics.stop("E953", origin, why=why, hint=hint)
        diagnostics.stop("E953", origin, why=why, hint=_BY_HAND)
    return _mounted(workload, container, template, opened, diagnostics)


def _opened(workload: ServingWorkload, container: AdoptedContainer) -> tuple[str, Origin]:
    """What the engine opens, and where that is said."""
    if container.first_model:
        return container.first_model, workload.engine_origin_of(container.path)
    if option := container.value_of("weights"):
        return "".join(option.values[:1]), option.origin
    for variable in container.entry.get("weightsVariables") or ():
        if variable in container.values:
            return container.values[variable], workload.engine_origin_of((*container.path, "env"))
    return "", workload.engine_origin_of(container.path)


def _stop_unnamed(
    workload: ServingWorkload, container: AdoptedContainer, origin: Origin, diagnostics: Collector
) -> NoReturn:
    """Raises Stop, with what may name the model and is not here."""
    words = texts_at(container.body, "lifecycle", "postStart", "exec", "command")
    if settings := container.value_of("settingsFile"):
        path = "".join(settings.values[:1])
        why = f"no option names the model, and the file {path} of {settings.name} is in no ConfigMap beside it"
        hint = "adopt the ConfigMap with that file in the same run, or write the model as an option"
    elif sources := [*_missing_sources(workload, container)]:
        why = f"no option names the model, and what {' and '.join(sources)} says is not known"
        hint = _beside(sources)
    elif words:
        why = "no option and no variable names the model, and the postStart hook loads none in words that can be read"
        hint = "write the OpenModel by hand, with what the hook loads as its source"
    elif scheme := container.entry.get("pullScheme"):
        why = "no option, variable or hook names the model: whoever asks, or something beside it, has one pulled"
        hint = f"write an OpenModel with source.uri {scheme}://NAME, and a Playground, for each model: {_PULLED}"
    else:
        why, hint = "no option and no variable names the model", _BY_HAND
    diagnostics.stop("E953", origin, why=why, hint=hint)


def _missing_sources(workload: ServingWorkload, container: AdoptedContainer, text: str = "") -> Iterator[str]:
    """The ConfigMaps and Secrets that variables of the container, or those that a text names, are from, and that are
    not known.
    """
    named = {*(container.entry.get("weightsVariables") or ()), *container.variables_of("hubRepository")}
    for entry in maps_at(container.body, "env"):
        variable = text_at(entry, "name")
        if f"$({variable})" in text or (not text and variable in named):
            for kind, key in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
                if (name := text_at(entry, "valueFrom", key, "name")) and name not in workload.config_maps:
                    yield f"{kind} '{name}'"
    for source in maps_at(container.body, "envFrom"):
        for kind, key in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
            if (name := text_at(source, key, "name")) and name not in workload.config_maps:
                yield f"{kind} '{name}'"


def _beside(sources: Sequence[str]) -> str:
    """The hint to adopt what is missing as well."""
    if all(source.startswith("Secret") for source in sources):
        return "write the model as an option: a Secret is no place for its name"
    return "adopt the ConfigMap in the same run, in the workload's namespace, or write the model as an option"


def _from_settings(workload: ServingWorkload, container: AdoptedContainer, template: Body) -> str:
    """The model that a file of settings names, where a ConfigMap beside the workload has the file; '' for none."""
    settings = container.value_of("settingsFile")
    path = "".join(settings.values[:1]) if settings else ""
    mount, volume = _volume_at(container.body, template, path) if path.startswith("/") else ({}, {})
    data = workload.config_maps.get(text_at(volume, "configMap", "name"), {})
    file = text_at(mount, "subPath") or path[len(_mount_path(mount)) :].lstrip("/")
    named = {text_at(item, "path"): text_at(item, "key") for item in maps_at(volume, "configMap", "items")}
    documents, _ = yamlio.parse(file, data.get(named.get(file, file), "").encode())
    options = [option.lstrip("-") for option in container.entry.get("weights") or ()]
    for document in documents:
        settings_of_file = {str(key).replace("_", "-"): value for key, value in as_map(document.value).items()}
        return next((str(settings_of_file[option]) for option in options if option in settings_of_file), "")
    return ""


def _last_value(container: AdoptedContainer, field: str) -> str:
    option = container.value_of(field)
    value = "".join(option.values[:1]) if option else ""
    return "" if field == "revision" and value in _USUAL_REVISIONS else value


def _hub_file(
    container: AdoptedContainer, values: Sequence[str], origin: Origin, diagnostics: Collector
) -> ModelSource:
    """A file in a repository of the hub."""
    repository, _, quantization = "".join(values).partition(":")
    file = _last_value(container, "hubFile")
    if not file:
        which = f"the quantization {quantization}" if quantization else "a default quantization"
        why = f"{repository} has several files, and the engine chooses {which} when it starts: name the file"
        diagnostics.stop("E953", origin, why=why, hint=_BY_HAND)
    return ModelSource({"modelHub": {"modelID": repository, "filename": file}}, repository, file)


def _file_cache(container: AdoptedContainer, template: Body) -> str:
    """The mount path of a volume in which the engine kept the files of a hub; '' without one that outlives the pod."""
    entry = container.entry
    folder = container.values.get(text_at(entry, "fileCacheVariable")) or text_at(entry, "fileCache")
    mount, volume = _volume_at(container.body, template, folder.rstrip("/")) if folder else ({}, {})
    return "" if "emptyDir" in volume else _mount_path(mount)


_STEP_WORDS = ("name", "path")
_STEPS_WORDS = (*_STEP_WORDS, "projector")
"""What the steps of the preset get as arguments, of one model and for each of several."""


def own_steps(container: AdoptedContainer, template: Body) -> list[tuple[str, str]]:
    """What a step of the preset loads before the engine of a pod that llmaz has rendered: the name of each model, and
    the file that it is made of, '' for one that is pulled; none where one has a projector, which nobody reads here.
    """
    names = {text_at(body, "name") for body in maps_at(container.engine.runtime.spec, "engine", "initContainers")}
    is_ours = is_rendered(template) and "pulls" in container.entry
    for body in maps_at(template, "spec", "initContainers") if is_ours else ():
        if text_at(body, "name") in names and (words := texts_at(body, "args")):
            if len(words) == len(_STEP_WORDS):  # one model, in the step of old
                return [(words[0], words[1])]
            width = len(_STEPS_WORDS)
            return [] if any(words[width - 1 :: width]) else [*zip(words[::width], words[1::width], strict=False)]
    return []


def pulled_models(container: AdoptedContainer, template: Body) -> list[str]:
    """The models that a hook loads into a server that runs, or an init container into the volume of one."""
    bodies = [map_at(container.body, "lifecycle", "postStart", "exec"), *pulling_containers(container, template)]
    names: dict[str, None] = {}
    for body in bodies:
        names |= dict.fromkeys(_pulled(container, [*texts_at(body, "command"), *texts_at(body, "args")]))
    return [*names]


def pulling_containers(container: AdoptedContainer, template: Body) -> list[Body]:
    """The init containers that load models into a volume which the engine has."""
    mounted = {mount.get("name") for mount in maps_at(container.body, "volumeMounts")}
    return [
        body
        for body in maps_at(template, "spec", "initContainers")
        if mounted & {mount.get("name") for mount in maps_at(body, "volumeMounts")}
        and _pulled(container, [*texts_at(body, "command"), *texts_at(body, "args")])
    ]


def _pulled(container: AdoptedContainer, words: Sequence[str]) -> list[str]:
    """The models that a script loads; none where one of them is not known."""
    script, names = " ".join(words), list[str]()
    loops = {name: values.split() for name, values in _LOOP.findall(script)}
    flat = script.replace(";", " ; ").split()
    for command in container.entry.get("pulls") or ():
        for i in range(len(flat) - len(command)):
            if flat[i : i + len(command)] == command and not flat[i + len(command)].startswith("-"):
                name = flat[i + len(command)].strip("\"';&")
                if variable := _SHELL_VARIABLE.fullmatch(name):
                    variable_name = variable[1] or variable[2]
                    names += loops.get(variable_name, [container.values.get(variable_name, "")])
                    continue
                names.append(name)
    return names if all(name and "$" not in name for name in names) else []


def source_of_pull(
    container: AdoptedContainer, template: Body, address: str, *, loads_itself: bool = False
) -> ModelSource:
    """The weights of a model that the server pulls."""
    uri = f"{container.entry['pullScheme']}://{address}"
    mount, volume = _volume_at(container.body, template, container.entry.get("hubCache", ""))
    cache = "" if loads_itself or "emptyDir" in volume else _mount_path(mount)
    return ModelSource({"uri": uri}, address, address, lost_cache=cache, is_pulled=True)


def source_of_uri(uri: str, name: str, below: str = "", revision: str = "") -> ModelSource:
    """The weights of an address that the source's kind says. `name`: under which clients ask for them, '' where nobody
    says; `below`: their folder there; `revision`: where the address has none.
    """
    scheme, _, rest = uri.partition("://")
    if scheme == "hf":
        model_id, _, tag = rest.partition(":")
        hub = {"modelID": model_id, **({"revision": tag or revision} if tag or revision else {})}
        return ModelSource({"modelHub": hub}, model_id, name or model_id)
    return ModelSource({"uri": f"{uri.rstrip('/')}{below}"}, rest, name or rest)


def _loaded(container: AdoptedContainer, template: Body, opened: str) -> ModelSource | None:
    """The weights that a loader of ours brings; None without one, or where it brings others."""
    if not opened.startswith(_LOADED) and not is_rendered(template):
        return None
    values = _loader_values(container, template, opened)
    if not (model_id := values.get("MODEL_ID")):
        return _from_bucket(template, opened)
    hub = _hub_of(values)
    source: dict[str, object] = {"modelHub": hub}
    folder = f"{_LOADED}models--{model_id.replace('/', '--')}"
    if opened.removeprefix(f"{folder}/") in values.get("MODEL_ALLOW_PATTERNS", "").split(","):  # one of several files
        hub["filename"] = opened.removeprefix(f"{folder}/")
        del hub["allowPatterns"]
        source |= _projector(container, folder)
    return ModelSource(source, model_id, model_id, mount_path=_LOADED.rstrip("/"), has_loader=True)


def _loader_values(container: AdoptedContainer, template: Body, opened: str) -> Mapping[str, str]:
    """The variables of the loader of ours that brings what the engine opens: of several the one for that file or
    folder; {} where a volume with content of its own has it.
    """
    bodies = [body for body in maps_at(template, "spec", "initContainers") if _LOADERS.fullmatch(text_at(body, "name"))]
    loaders = [{text_at(env, "name"): text_at(env, "value") for env in maps_at(body, "env")} for body in bodies]
    for values in loaders:
        folder = f"{_LOADED}models--{values.get('MODEL_ID', '').replace('/', '--')}"
        if opened == f"{_LOADED}{values.get('MODEL_FILENAME')}" or f"{opened}/".startswith(f"{folder}/"):
            return values
    _, volume = _volume_at(container.body, template, opened)
    return loaders[0] if loaders and ("emptyDir" in volume or not volume) else {}


def _hub_of(values: Mapping[str, str]) -> dict[str, object]:
    """`modelHub` of an OpenModel, by the variables of a loader of ours."""
    hub: dict[str, object] = {"modelID": values["MODEL_ID"]}
    if values.get("MODEL_HUB_NAME", "Huggingface") != "Huggingface":
        hub["name"] = values["MODEL_HUB_NAME"]
    if values.get("REVISION", "") not in ("", *_USUAL_REVISIONS):
        hub["revision"] = values["REVISION"]
    if file := values.get("MODEL_FILENAME"):
        hub["filename"] = file
    for key, variable in (("allowPatterns", "MODEL_ALLOW_PATTERNS"), ("ignorePatterns", "MODEL_IGNORE_PATTERNS")):
        if patterns := values.get(variable):
            hub[key] = patterns.split(",")
    return hub


def loaded_adapters(workload: ServingWorkload, template: Body) -> tuple[tuple[str, ModelSource], ...]:
    """The public name and source of each adapter that loaders of ours bring; none where they bring other models, or
    in another way.
    """
    names = [name for name in text_at(workload.annotations, wellknown.ADAPTERS).split(", ") if name]
    containers = maps_at(template, "spec", "initContainers") if names and is_rendered(template) else []
    loaders = [body for body in containers if _LOADERS.fullmatch(text_at(body, "name"))][1:]
    if len(loaders) != len(names):
        return ()
    sources: list[ModelSource] = []
    for loader in loaders:
        values = plain_variables(loader)
        model_id, target = values.get("MODEL_ID"), values.get("DEST", "")
        source = _from_bucket({"spec": {"initContainers": [loader]}}, target)
        if model_id:
            source = ModelSource({"modelHub": _hub_of(values)}, model_id, model_id, has_loader=True)
        if source is None:
            return ()
        sources.append(source)
    return tuple(zip(names, sources, strict=True))


def _from_bucket(template: Body, opened: str) -> ModelSource | None:
    """The weights that a loader of ours copies from a bucket; None without one, and where what it does is not all that
    an address says: settings of the store in RenderConfig, or a part of the files.
    """
    for loader in maps_at(template, "spec", "initContainers"):
        values, words = plain_variables(loader), texts_at(loader, "args")
        path = values.get("MODEL_PATH", "")  # of presets/loaders/hub.yaml, into a folder called after its last part
        if values.get("PROVIDER") == "OSS" and opened.endswith(
            (f"/models--{posixpath.basename(path)}", f"/{posixpath.basename(path)}")
        ):
            address = f"{values.get('BUCKET')}.{values.get('ENDPOINT')}/{path}"
            return ModelSource({"uri": f"oss://{address}"}, address, opened, _LOADED.rstrip("/"), has_loader=True)
        address = next((match[1] for word in words if (match := _BUCKET.fullmatch(word))), "")
        if not address or values.get("DEST") != opened or any(word.startswith("--include=") for word in words):
            continue
        settings = {name.removeprefix(_STORE): value for name, value in values.items() if name.startswith(_STORE)}
        if scheme := _SCHEMES.get(frozenset(settings.items())):
            uri = f"{scheme}://{address}"
        elif settings.get("PROVIDER") == "Alibaba":  # whose endpoint the address has
            bucket, _, key = address.partition("/")
            uri = f"oss://{bucket}.{settings.get('ENDPOINT', '').removeprefix('https://')}/{key}"
        else:
            return None
        return ModelSource({"uri": uri}, address, opened, _LOADED.rstrip("/"), has_loader=True)
    return None


def _with_cache(container: AdoptedContainer, template: Body, hub: Body, model_id: str) -> ModelSource:
    """A repository of the hub; from a claim, where the folder into which the engine downloads is one."""
    lost = ""
    for home, below in _hub_folders(container):
        mount, volume = _volume_at(container.body, template, home)
        mount_path = _mount_path(mount)
        if claim := text_at(volume, "persistentVolumeClaim", "claimName") if below is not None else "":
            folder = _joined(text_at(mount, "subPath"), home[len(mount_path) :], below or "")
            uri = f"pvc://{claim}{folder}?layout=hub"
            comment = f"The engine kept its downloads in the claim '{claim}', which has to contain this model."
            return ModelSource({"uri": uri, "modelHub": hub}, model_id, model_id, mount_path, comment)
        if mount and "emptyDir" not in volume:
            lost = mount_path
    hubs = list_at(container.engine.runtime.spec, "engine", "hubs")  # from which it loads by itself
    keeps = bool(lost) and _HUB in hubs
    return ModelSource({"modelHub": hub}, model_id, model_id, lost_cache="" if keeps else lost, keeps_cache=keeps)


def _hub_folders(container: AdoptedContainer) -> Iterator[tuple[str, str | None]]:
    """The folders in which the engine keeps what it downloads, and where in them the hub's cache is; None for one that
    is laid out in another way.
    """
    if option := container.value_of("downloadTo"):
        yield "".join(option.values[:1]).rstrip("/"), None
    for variable in _CACHE_VARIABLES:
        if folder := container.values.get(variable):
            yield folder.rstrip("/"), ""
            return
    if folder := container.values.get(_HOME_VARIABLE):
        yield folder.rstrip("/"), _HUB_FOLDER
    elif folder := container.entry.get("hubCache", ""):
        yield folder, ""
    else:
        yield _HUB_HOME, _HUB_FOLDER


def _mounted(
    workload: ServingWorkload, container: AdoptedContainer, template: Body, opened: str, diagnostics: Collector
) -> ModelSource:
    """The weights in a volume of the pod."""
    mount, volume = _volume_at(container.body, template, opened)
    if not mount:
        origin = workload.engine_origin_of(container.path)
        diagnostics.stop("E953", origin, why=f"'{opened}' is in the image, not in a volume", hint=_BY_HAND)
    mount_path = _mount_path(mount)
    below = _joined(text_at(mount, "subPath"), opened[len(mount_path) :])
    uri, filler = _volume_uri(volume, below), _filler(template, text_at(mount, "name"))
    if not uri or filler:
        kind = next((key for key in volume if key != "name"), "unknown")
        why = f"'{opened}' is in the volume '{text_at(mount, 'name')}' of kind {kind}"
        why += f", which '{filler}' fills" if filler else ", which an OpenModel cannot refer to"
        diagnostics.stop("E953", workload.engine_origin_of((*container.path, "volumeMounts")), why=why, hint=_BY_HAND)
    comment = f"The weights are at {opened} in it." if uri.startswith("oci://") else ""
    source = {"uri": uri, **_projector(container, posixpath.dirname(opened))}
    is_ours = is_rendered(template) and opened.startswith(_LOADED)  # where an OpenModel has its volume
    return ModelSource(source, uri.partition("://")[2], opened, mount_path, comment, has_loader=is_ours)


def _projector(container: AdoptedContainer, folder: str) -> Mapping[str, object]:
    """The projector of a source whose weights lie in a folder; {} where it has none there."""
    option = container.value_of("projector")
    path = "".join(option.values[:1]) if option else ""
    return {"projector": path[len(folder) + 1 :]} if path.startswith(f"{folder}/") else {}


def _volume_uri(volume: Body, below: str) -> str:
    """The address of a path in a volume; '' where no OpenModel can name it."""
    if claim := text_at(volume, "persistentVolumeClaim", "claimName"):
        return f"pvc://{claim}{below}"
    if folder := text_at(volume, "hostPath", "path"):
        return f"host://{folder.rstrip('/')}{below}"
    image = text_at(volume, "image", "reference")
    return f"oci://{image}" if image else ""


def _filler(template: Body, volume_name: str) -> str:
    """The init container that may write into a volume; '' without one, and where it runs beside the engine."""
    for body in maps_at(template, "spec", "initContainers"):
        mounts = maps_at(body, "volumeMounts")
        writes = any(mount.get("name") == volume_name and not mount.get("readOnly") for mount in mounts)
        if writes and body.get("restartPolicy") != "Always":
            return text_at(body, "name")
    return ""


def _volume_at(body: Body, template: Body, path: str) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """The mount that holds a path, the longest one, and its volume; empty without one."""
    mounts = [mount for mount in maps_at(body, "volumeMounts") if f"{path}/".startswith(f"{_mount_path(mount)}/")]
    mount = max(mounts, key=lambda mount: len(_mount_path(mount)), default={})
    name = mount.get("name")
    volumes = maps_at(template, "spec", "volumes")
    return mount, next((volume for volume in volumes if mount and volume.get("name") == name), {})


def _mount_path(mount: Mapping[str, object]) -> str:
    return text_at(mount, "mountPath").rstrip("/")


def _joined(*parts: str) -> str:
    """The parts of a path, with a slash before each."""
    return "".join(f"/{part.strip('/')}" for part in parts if part.strip("/"))


def hub_id(weights: ModelSource) -> str:
    """The id of the hub's repository; '' for other sources."""
    return text_at(weights.source, "modelHub", "modelID")
