"""What is known of a workload that is to become a Playground: its engine, its weights, its accelerators and names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer.adopt.chat_templates import mounted_template
from renderer.adopt.devices import device_giver
from renderer.adopt.engine_container import AdoptedContainer, find_engine
from renderer.adopt.kept_command import why_kept
from renderer.adopt.model_source import ModelSource, find_model_source, loaded_adapters, source_of_uri
from renderer.adopt.pod_changes import EnginePort, engine_port
from renderer.adopt.serving_workload import Body, ServingWorkload
from renderer.adopt.several_models import AdoptedMain, find_several_models
from renderer.adopt.takeover import Takeover
from renderer.diagnostics import Collector, Origin, quoted
from renderer.engines.accelerator import Accelerator
from renderer.engines.catalog import EngineCatalog
from renderer.engines.handwritten_command import usual_port
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.kubernetes.mounted_files import MountedKey
from renderer.resolve.names import is_dns_label

_NO_NAME = re.compile(r"[^a-z0-9]+")
_FAMILY = re.compile(r"[a-z]+[0-9]*")
_TYPE_LABELS = ("accelerator", "product", "gpu-type|gpu-name", "instance-type", "gpu")  # of nodes, the best first
_UNNAMED = "devices"  # a flavor of accelerators that nothing names
_LONGEST_NAME = 40
_ROLE = (
    "llm-d.ai/role",
    "prefill",
)  # pods that only decode answer whole requests too, where nothing has read the prompt
_OBJECT_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_OBJECT_NAME = 253


class AdoptedWorkload(Struct, frozen=True):
    """A workload with one engine that is known."""

    workload: ServingWorkload
    template: Body  # of the pod that runs the engine: of several hosts the leader's
    container: AdoptedContainer
    weights: ModelSource
    accelerator: Accelerator
    flavor: Body  # of an OpenModel, with the `claims` that llmaz.yaml has
    served_name: str  # under which clients ask for the model
    model_name: str  # of the OpenModel
    family: str
    takeover: Takeover
    keep_reason: str = ""  # why its command line stays as it is, '' where the preset starts the engine
    adapters: tuple[tuple[str, ModelSource], ...] = ()  # the public name and source of each
    chat_template: MountedKey | None = None  # that the Playground says, where the preset starts the engine
    mains: Sequence[AdoptedMain] = ()  # all models, where the engine has several; `weights` are the first one's
    loaded: int = 1  # how many of these are in memory at once
    models_file: MountedKey | None = None  # with the options of each

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name of the workload that runs."""
        return self.workload.key

    @property
    def new_key(self) -> tuple[str, str]:
        """Namespace and name of the workload that takes its place."""
        return self.workload.key[0], self.takeover.name

    @property
    def loads_itself(self) -> bool:
        """Whether the engine goes on finding its weights by itself, as its own command line says."""
        return bool(self.keep_reason) and not self.weights.has_loader

    @property
    def loaded_path(self) -> str:
        """Where the engine opens weights that somebody loads for it, as its command line says it; '' for none."""
        model, option = self.workload.model, self.container.value_of("weights")
        if model and model.is_mounted:
            return model.path
        opened = self.container.first_model or "".join(option.values[:1] if option else ())
        return opened if self.weights.has_loader else ""


def read_workload(workload: ServingWorkload, catalog: EngineCatalog, diagnostics: Collector) -> AdoptedWorkload | None:
    """The workload, as far as it is known; None where it runs no engine that is known. Raises Stop where it cannot be
    adopted.
    """
    for field, value in invalid_names(*workload.key):
        origin = workload.document.origin("metadata", field)
        diagnostics.stop("E957", origin, what=f"the {field} of this {workload.kind}", value=value)
    template = workload.leader_template or workload.template
    container = find_engine(workload, template, catalog, diagnostics)
    if container is None:
        return None
    keep_reason = why_kept(workload, container, template)
    if keep_reason and engine_port_in(container).number is None:
        diagnostics.stop("E952", workload.engine_origin_of(container.path), why="it does not say the engine's port")
    options = catalog.all_options(container.backend)
    several = find_several_models(workload, container, template, options, keep_reason, diagnostics)
    if several:
        container, weights = several.container, several.mains[0].weights
    else:
        weights = find_model_source(workload, container, template, diagnostics, loads_itself=bool(keep_reason))
    if keep_reason and workload.model and workload.model.is_mounted:
        weights = replace(weights, has_loader=True)
    limits = {**map_at(container.body, "resources", "requests"), **map_at(container.body, "resources", "limits")}
    claim = workload.device_claim
    accelerator = catalog.accelerator(limits)
    if claim:
        accelerator = catalog.claimed_accelerator({claim["deviceClassName"]: claim["count"]})
    giver = "" if accelerator.resource else text_at(claim, "deviceClassName") or device_giver(template, container.body)
    if giver and not text_at(container.body, "image"):
        container = _with_own_image(container, catalog)
        words = {"giver": giver, "image": text_at(container.body, "image"), "backend": container.backend}
        diagnostics.add("N957", workload.engine_origin_of(container.path), **words)
    _tell_lost(workload, container, weights, diagnostics)
    labels = map_at(template, "metadata", "labels")
    first = several.mains[0] if several else None
    model_name = (first and first.name) or text_at(labels, wellknown.MODEL_NAME) or object_name(weights.id)
    return AdoptedWorkload(
        workload=workload,
        template=template,
        container=container,
        weights=weights,
        accelerator=accelerator,
        flavor=_flavor(accelerator, limits, map_at(template, "spec", "nodeSelector"), claim, giver),
        served_name=first.served_name if first else _served_name(workload, container, weights),
        model_name=model_name,
        family=text_at(labels, wellknown.MODEL_FAMILY) or family_of(model_name),
        takeover=Takeover(name=workload.name),
        keep_reason=keep_reason,
        adapters=_adapters(workload, template),
        chat_template=None if keep_reason or several else mounted_template(template, container),
        mains=several.mains if several and len(several.mains) > 1 else (),
        loaded=several.loaded if several else 1,
        models_file=several.file if several else None,
    )


def _adapters(workload: ServingWorkload, template: Body) -> tuple[tuple[str, ModelSource], ...]:
    """The adapters of a workload that its source says apart, or that loaders of ours bring."""
    if workload.model:
        return tuple((name, source_of_uri(uri, name)) for name, uri in workload.model.adapters)
    return loaded_adapters(workload, template)


def engine_port_in(container: AdoptedContainer) -> EnginePort:
    """The port of the engine of a container."""
    recognised = container.recognised
    usual = usual_port(container.entry, container.values, is_own_image=recognised.is_own_image)
    return engine_port(container.body, recognised.command.port or usual)


def _tell_lost(
    workload: ServingWorkload, container: AdoptedContainer, weights: ModelSource, diagnostics: Collector
) -> None:
    """Tells what of the engine's container is lost."""
    origin_of = workload.engine_origin_of
    if (names := container.value_of("servedName")) and len(names.values) > 1:
        what = f"the model's name {quoted(names.values[1:])}"
        diagnostics.add("W951", names.origin, what=what, why="a Playground has one public name")
    for origin, what in _halves(workload, container):
        diagnostics.add("N956", origin, what=what)
    if weights.lost_cache:
        paths = [text_at(mount, "mountPath").rstrip("/") for mount in maps_at(container.body, "volumeMounts")]
        why = "each pod loads the model again, unless modelCache of the OpenModel or of llmaz.yaml keeps it"
        origin = origin_of((*container.path, "volumeMounts", paths.index(weights.lost_cache)))
        diagnostics.add("W951", origin, what=f"the content of the volume at {weights.lost_cache}", why=why)
    ports = maps_at(container.body, "ports")
    for i, port in enumerate(ports):
        if i and len(ports) > 1 and port.get("containerPort") != container.recognised.command.port:
            why = "the engine's container has only its own port; a Service finds this one by its number"
            origin = origin_of((*container.path, "ports", i))
            diagnostics.add("W951", origin, what=f"the entry of port {port.get('containerPort')}", why=why)
        if port.get("hostPort"):
            origin = origin_of((*container.path, "ports", i, "hostPort"))
            diagnostics.add(
                "W951", origin, what="the hostPort", why="the ports of the engine follow from its Playground"
            )
    for i, source in enumerate(maps_at(container.body, "envFrom")):
        if name := text_at(source, "secretRef", "name"):
            diagnostics.add("W956", origin_of((*container.path, "envFrom", i)), name=name)


def _halves(workload: ServingWorkload, container: AdoptedContainer) -> Iterator[tuple[Origin, str]]:
    """What says that the engine does one part of each request, with its place; nothing where it does all."""
    halves: Mapping[str, list[str]] = container.entry.get("halves") or {}
    for option in container.options:
        words = re.findall(r"\w+", " ".join(option.values)) or [""]
        if values := [value for value in halves.get(option.name.partition(".")[0], ()) if value in words]:
            yield option.origin, f"'{values[0]}' of {option.name}" if values[0] else option.name
            return
    template = workload.leader_template or workload.template
    key, role = _ROLE
    if text_at(template, "metadata", "labels", key) == role:
        yield workload.engine_origin_of(("metadata", "labels", key)), f"'{role}' of the label {key}"


def invalid_names(namespace: str, name: str) -> Iterator[tuple[str, str]]:
    """Those of the two that Kubernetes does not take, each with the field that it is. `namespace`: '' for none."""
    if not _OBJECT_NAME.fullmatch(name) or len(name) > _LONGEST_OBJECT_NAME:
        yield "name", name
    if namespace and not is_dns_label(namespace):
        yield "namespace", namespace


def object_name(text: str) -> str:
    """A name for an object that is called after a model: its last part, as Kubernetes takes names."""
    last = text.rstrip("/").rpartition("/")[2].partition("?")[0].lower().removesuffix(".gguf")
    last = re.sub(r"-\d{5}-of-\d{5}$", "", last)  # of the first part of a split file
    return _NO_NAME.sub("-", last).strip("-")[:_LONGEST_NAME].strip("-") or "model"


def family_of(model_name: str) -> str:
    """The family of a model, by its name."""
    match = _FAMILY.search(model_name)
    return match[0] if match else "model"


def _served_name(workload: ServingWorkload, container: AdoptedContainer, weights: ModelSource) -> str:
    """The first name that the model is served under."""
    if option := container.value_of("servedName"):
        return "".join(option.values[:1])
    if name := text_at(workload.annotations, wellknown.SERVED_MODEL_NAME):
        return name
    if workload.model and workload.model.name:
        return workload.model.name
    by_folder = map_at(container.engine.runtime.spec, "engine").get("servedName") == "directory"
    return weights.name.rstrip("/").rpartition("/")[2] if by_folder else weights.name


def _with_own_image(container: AdoptedContainer, catalog: EngineCatalog) -> AdoptedContainer:
    """A container without an image with the one that its engine has for accelerators."""
    spec = container.engine.runtime.spec
    recognised = replace(container.recognised, engine=catalog.engine(container.backend, spec["version"]))
    body = {**container.body, "image": f"{spec['image']}:{spec['version']}"}
    return replace(container, body=body, recognised=recognised)


def _flavor(
    accelerator: Accelerator, limits: Mapping[str, object], node_selector: Body, claim: Body, giver: str
) -> Body:
    """The flavor of the accelerators, called after the nodes that have them, or the class of claimed devices. `giver`:
    what may give the pod some that no limit names.
    """
    nodes: Body = {"nodeSelector": dict(node_selector)} if node_selector else {}
    if claim:
        return {"name": object_name(f"{claim['deviceClassName']}-x{claim['count']}"), "claims": claim, **nodes}
    if not accelerator.resource:
        return {"name": _UNNAMED if giver else "cpu"}
    values = [
        str(value)
        for pattern in _TYPE_LABELS
        for key, value in node_selector.items()
        if re.search(pattern, key) and str(value).lower() not in ("true", "false")
    ]
    name = object_name(values[0]) if values else object_name(accelerator.resource)
    amount = limits[accelerator.resource]
    flavor: dict[str, object] = {"name": name, "limits": {accelerator.resource: _number(amount)}}
    return {**flavor, **nodes}


def _number(amount: object) -> object:
    return int(amount) if isinstance(amount, str) and amount.isascii() and amount.isdigit() else amount
