"""KServe's LLMInferenceServices as workloads, with the configs that they name, as presets/kserve.yaml describes them.

KServe merges its own config, those of `baseRefs` in their order and the service's spec, and then fills in expressions
of Go's templates; so does this. Its own config starts the engine by a long script, in whose place stands the command
line that comes of it.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct, field

from renderer.adopt import pod_schema
from renderer.adopt.api_keys import refer_to_secret
from renderer.adopt.go_expressions import fill_expressions
from renderer.adopt.plain_secrets import tell_secret_address, without_secrets
from renderer.adopt.server_defaults import SERVER_METADATA
from renderer.adopt.serving_workload import ServedModel, ServingWorkload
from renderer.adopt.source_fields import read_fields
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, Stop, suggestion
from renderer.kubernetes.json_values import list_at, map_at, maps_at, number_at, text_at
from renderer.kubernetes.strategic_merge import DIRECTIVES, SERVER, Merge
from renderer.kubernetes.template_origins import TemplateOrigins
from renderer.load.preset_files import preset
from renderer.text import escapes, patterns
from renderer.yamlio import Document

_PODS = ("template", "worker")  # fields of spec that are specs of pods
_BOOKKEEPING = "kubectl.kubernetes.io/"  # annotations of a program, not of a user
_METADATA = {
    **dict.fromkeys(("name", "namespace"), "text"),
    **dict.fromkeys(("labels", "annotations"), "textMap"),
    **dict.fromkeys(("generateName", *SERVER_METADATA), "any"),
}
_OBJECT = {**dict.fromkeys(("apiVersion", "kind", "metadata", "spec", "status"), "any")}
_PLAIN_WORDS = re.compile(r"(?:[\w@%+=:,./ \t-]|'[^'\n]*'|\"[^\"$`\\\n]*\")*")
_ITEM_BY_ITEM = re.compile(r"[\w@%+=:,./ \t-]*")  # words that mean the same within quotes


def read_kserve(documents: Sequence[Document]) -> tuple[list[ServingWorkload], list[Diagnostic]]:
    """A workload for each LLMInferenceService that says enough, and what is lost or wrong."""
    source, diagnostics = _Source(_facts()), Collector()
    services: list[Document] = []
    for document in documents:
        kind = _kind(document, source)
        if kind == source.kinds["service"]:
            services.append(document)
        elif kind == source.kinds["config"]:
            source.configs.setdefault(text_at(document.value, "metadata", "name"), []).append(document)
    workloads = []
    for document in services:
        try:
            workloads.append(_Service(document, source, diagnostics).workload())
        except Stop:
            continue
    for configs in source.configs.values():
        for document in configs:
            if id(document) not in source.specs:
                diagnostics.add("N966", document.origin("metadata", "name"), why=_why_unused(document, source))
    return workloads, diagnostics.problems


class _Source(Struct):
    """What presets/kserve.yaml says, and the configs among the documents."""

    facts: Mapping[str, Any]
    configs: dict[str, list[Document]] = field(default_factory=dict)  # by name
    specs: dict[int, dict[str, Any]] = field(default_factory=dict)  # those that were read, by the id of the document

    @property
    def kinds(self) -> Mapping[str, str]:
        kinds: Mapping[str, str] = self.facts["kinds"]
        return kinds


@cache
def _facts() -> Mapping[str, Any]:
    spec: Mapping[str, Any] = preset("kserve").value["spec"]
    return spec


def _kind(document: Document, source: _Source) -> str:
    """The kind of an object of KServe's group; '' of any other."""
    group = text_at(document.value, "apiVersion").partition("/")[0]
    return text_at(document.value, "kind") if group == source.facts["group"] else ""


def _why_unused(document: Document, source: _Source) -> str:
    name = text_at(document.value, "metadata", "name")
    if patterns.fits_any(name, source.facts["wellKnown"]):
        return "this config is one of KServe's own, which llmaz knows"
    return f"no {source.kinds['service']} here uses this config"


def _read_spec(document: Document, source: _Source, diagnostics: Collector) -> dict[str, Any]:
    """The known fields of the spec of a service or config."""
    origin = document.origin("spec")
    body = _without_directives(document.value.get("spec"), origin, diagnostics)
    spec = read_fields({} if body is None else body, source.facts["spec"], origin, diagnostics)
    for key in _PODS:
        if key in spec:
            spec[key] = pod_schema.read_pod(spec[key], origin.at(key), diagnostics)
    return spec


def _without_directives(value: Any, origin: Origin, diagnostics: Collector) -> Any:
    """A copy of the value without directives of strategic merge patches, which are told: KServe makes its patches."""
    if isinstance(value, list):
        return [_without_directives(item, origin.at(i), diagnostics) for i, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    for key in value:
        if str(key).startswith(DIRECTIVES):
            why = "KServe merges its objects without directives; write the values that you mean"
            diagnostics.add("W966", origin.at(key, key=True), why=why)
    return {
        key: _without_directives(item, origin.at(key), diagnostics)
        for key, item in value.items()
        if not str(key).startswith(DIRECTIVES)
    }


class _Service:
    """An LLMInferenceService on its way to a workload."""

    def __init__(self, document: Document, source: _Source, diagnostics: Collector) -> None:
        self.document, self.source, self.facts, self.diagnostics = document, source, source.facts, diagnostics
        version = text_at(document.value, "apiVersion").partition("/")[2]
        if version not in self.facts["versions"]:
            hint = f"known versions: {', '.join(self.facts['versions'])}"
            self._refuse(document.origin("apiVersion"), f"its version '{version}' is not known", hint)
        read_fields(document.value, _OBJECT, document.origin(), diagnostics)
        metadata = read_fields(
            document.value.get("metadata") or {}, _METADATA, document.origin("metadata"), diagnostics
        )
        self.metadata: Mapping[str, Any] = metadata
        self.name: str = metadata.get("name") or ""
        if not self.name:
            self._refuse(document.origin("metadata"), "it has no name", "")
        self.own = _read_spec(document, source, diagnostics)
        self.origins = TemplateOrigins(document.origin("spec"))
        self.defaults: dict[str, Any] = {}
        self.spec: dict[str, Any] = {}

    def workload(self) -> ServingWorkload:
        """The workload. Raises Stop where the service says too little."""
        layers = self._layers()
        self._merge(layers)
        hosts = self._hosts()
        model = self._model()
        default_pods = {key for key in _PODS if self._has_default_command(key)}
        uses_parallelism = ".Parallelism." in str([self._engine(key) for key in _PODS])
        self._fill_expressions()
        for key in _PODS:
            if engine := self._engine(key):
                self._move_initializer(key)
                self._say_arguments(key, engine, key in default_pods)
            if key in self.spec:
                app = self.metadata.get("namespace") or "", self.name
                refer_to_secret(self.spec[key], app, self.origins, self.diagnostics, (key,))
                self.spec[key] = without_secrets(self.spec[key], self.origins, self.diagnostics, (key,))
                place = self._place(key)[1:] if self._engine(key) else ()
                self.spec[key] = pod_schema.valid_pod(self.spec[key], self.origins, (key,), self.diagnostics, place)
        main = "template" if "template" in self.spec else "worker"
        worker = "worker" if hosts > 1 else main
        spec = self._playground_fields(main in default_pods, uses_parallelism)
        self._tell_lost(hosts, worker)
        has_leader = hosts > 1 and "template" in self.spec
        return ServingWorkload(
            document=self.document,
            kind=self.source.kinds["service"],
            name=self.name,
            namespace=self.metadata.get("namespace") or "",
            labels=self.metadata.get("labels") or {},
            annotations=self._own_annotations(),
            replicas=self.spec.get("replicas", None if "scaling" in self.spec else 1),
            replicas_origin=self.origins(("replicas",)) if "replicas" in self.spec else None,
            rollout=self.spec.get("rolloutStrategy") or {},
            template=self._template(worker),
            leader_template=self._template("template") if has_leader else None,
            hosts=hosts,
            origin_of=self._origin_of(worker),
            leader_origin_of=self._origin_of("template") if has_leader else None,
            model=model,
            spec=spec,
            may_add_certificate=True,
            device_claim=self._device_claim(),
            engine=self.facts["engine"],
        )

    def _refuse(self, origin: Origin, why: str, hint: str) -> None:
        self.diagnostics.stop("E965", origin, what=f"this {self.source.kinds['service']}", why=why, hint=hint)

    # What is merged

    def _layers(self) -> list[tuple[Document, Mapping[str, Any]]]:
        """The configs of baseRefs and the service, each with its spec."""
        layers: list[tuple[Document, Mapping[str, Any]]] = []
        names = [text_at(ref, "name") for ref in maps_at(self.own, "baseRefs")]
        last = {name: i for i, name in enumerate(names)}  # which wins over an earlier one
        for name, i in sorted(last.items(), key=lambda item: item[1]):
            origin = self.document.origin("spec", "baseRefs", i, "name")
            if patterns.fits_any(name, self.facts["wellKnown"]):
                continue
            if config := self._config(name):
                layers.append((config, self._config_spec(config)))
            else:
                kind = self.source.kinds["config"]
                hint = suggestion(name, [*self.source.configs]) if self.source.configs else ""
                self.diagnostics.add("W969", origin, kind=kind, name=name, hint=hint)
        return [*layers, (self.document, self.own)]

    def _config(self, name: str) -> Document | None:
        """The config of a name: in the service's namespace, else in that of KServe, else where nobody says which."""
        own = self.metadata.get("namespace") or ""
        configs = self.source.configs.get(name, ())
        namespaces = [text_at(config.value, "metadata", "namespace") for config in configs]
        for namespace in (own, self.facts["system"], ""):
            if namespace in namespaces:
                return configs[namespaces.index(namespace)]
        return configs[0] if configs and not own else None

    def _config_spec(self, config: Document) -> dict[str, Any]:
        if id(config) not in self.source.specs:
            spec = _read_spec(config, self.source, self.diagnostics)
            if spec.pop("baseRefs", None):
                why = "KServe follows baseRefs of services only"
                self.diagnostics.add("W966", config.origin("spec", "baseRefs"), why=why)
            self.source.specs[id(config)] = spec
        return self.source.specs[id(config)]

    def _merge(self, layers: Sequence[tuple[Document, Mapping[str, Any]]]) -> None:
        """Merges KServe's own config and the layers."""
        resolved = self._merged({}, layers, TemplateOrigins())
        self.model_name: str = text_at(resolved, "model", "name") or self.name
        self.defaults = self._default_pods(resolved)
        self.spec = self._merged(self.defaults, layers, self.origins)

    def _merged(
        self, spec: dict[str, Any], layers: Sequence[tuple[Document, Mapping[str, Any]]], origins: TemplateOrigins
    ) -> dict[str, Any]:
        merge, pods = Merge(SERVER, origins, self.diagnostics), dict.fromkeys(_PODS, "core.PodSpec")
        for document, layer in layers:
            spec = merge.merge_map(spec, layer, "", document.origin("spec"), (), pods)
        return spec

    def _default_pods(self, resolved: Mapping[str, Any]) -> dict[str, Any]:
        """What KServe's own config says of pods, for this shape of service."""
        if "worker" not in resolved:
            command = [fill_expressions(word, self._body()) for word in self.facts["startsWith"]]
            return {"template": self._default_pod(command)}
        parallelism = map_at(resolved, "parallelism")
        if not (parallelism.get("data") or parallelism.get("dataLocal")):
            return {}
        hosts = self.facts["hosts"]
        values = {**hosts["missing"], **parallelism}
        body = {"spec": {"model": {"name": escapes.shell_word(self.model_name)}, "parallelism": values}}
        options = [option for key, option in hosts["options"].items() if parallelism.get(key)]
        pods = {}
        for key, script in zip(_PODS, (hosts["leader"], hosts["worker"]), strict=True):
            text = " ".join([script.strip(), *options, hosts["arguments"]])
            pods[key] = self._default_pod([*hosts["shell"], fill_expressions(text, body), hosts["end"]])
        for container in pods[hosts["withoutProbes"]]["containers"]:
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                container.pop(probe)
        return pods

    def _default_pod(self, command: list[str]) -> dict[str, Any]:
        (container,) = self.facts["pod"]["containers"]
        return {"containers": [{**container, "command": command}]}

    def _body(self) -> dict[str, Any]:
        """What expressions refer to: the service, with the name of its model."""
        model = {**map_at(self.own, "model"), "name": self.model_name}
        return {"metadata": self.metadata, "spec": {**self.own, "model": model}}

    def _fill_expressions(self) -> None:
        body = self._body()
        for key in (*_PODS, "labels", "annotations", "model"):
            if key in self.spec:
                self.spec[key] = self._filled(self.spec[key], (key,), body)

    def _filled(self, value: Any, path: Path, body: Mapping[str, Any]) -> Any:
        if isinstance(value, dict):
            return {key: self._filled(item, (*path, key), body) for key, item in value.items()}
        if isinstance(value, list):
            return [self._filled(item, (*path, i), body) for i, item in enumerate(value)]
        if not isinstance(value, str) or "{{" not in value:
            return value
        return fill_expressions(
            value, body, lambda expression: self.diagnostics.add("W968", self.origins(path), expression=expression)
        )

    # The engine

    def _engine(self, key: str) -> dict[str, Any] | None:
        """The container of a pod that runs the engine."""
        containers = maps_at(self.spec, key, "containers")
        return next((item for item in containers if item.get("name") == self.facts["container"]), None)

    def _place(self, key: str) -> Path:
        names = [item.get("name") for item in maps_at(self.spec, key, "containers")]
        return (key, "containers", names.index(self.facts["container"]))

    def _has_default_command(self, key: str) -> bool:
        """Whether KServe's own start script runs the engine."""
        engine, default = self._engine(key), maps_at(self.defaults, key, "containers")
        return bool(engine and default) and list_at(engine, "command") == default[0]["command"]

    def _say_arguments(self, key: str, engine: dict[str, Any], is_default: bool) -> None:
        """Writes out what KServe adds to the arguments of the engine."""
        place = self._place(key)
        if is_default:
            words = [*self._words_of_variable(engine, place), *self._lora_words(), *self._own_words(engine, place)]
        else:
            self._fill_variable(engine, place)
            is_script = len(engine.get("command") or ()) > 1 and engine["command"][-1].startswith("-")
            added = [] if is_script else self._lora_words()
            if self._lora_words() and is_script:
                why = "a shell runs the engine, and ignores the options that KServe writes after it"
                self.diagnostics.add("W966", self.origins(("model", "lora")), why=why)
            if not added:
                return
            words = [
                *added,
                *((word, self.origins((*place, "args", i))) for i, word in enumerate(engine.get("args") or ())),
            ]
        self.origins.forget((*place, "args"))
        for i, (_, origin) in enumerate(words):
            self.origins.make((*place, "args", i), origin)
        if words:
            engine["args"] = [word for word, _ in words]
        else:
            engine.pop("args", None)

    def _own_words(self, engine: Mapping[str, Any], place: Path) -> Iterator[tuple[str, Origin]]:
        """The args of the container, from which KServe's script takes the quotes."""
        for i, word in enumerate(engine.get("args") or ()):
            origin = self.origins((*place, "args", i))
            for part in _plain_words(word) or [word]:
                yield part, origin

    def _words_of_variable(self, engine: dict[str, Any], place: Path) -> Iterator[tuple[str, Origin]]:
        """The words of the variable that KServe's script adds to the options. The variable goes."""
        env = engine.get("env") or []
        names = [item.get("name") for item in env]
        if self.facts["variable"] not in names:
            return
        index = names.index(self.facts["variable"])
        origin = self.origins((*place, "env", index)).at("value")
        words = _plain_words(env[index].get("value"))
        if words is None:
            why = "a shell fills this in when the pod starts; write its value instead"
            self.diagnostics.add("W966", origin, why=why)
            return
        self._remove_variable(engine, place, index)
        for word in words:
            yield word, origin

    def _remove_variable(self, engine: dict[str, Any], place: Path, index: int) -> None:
        env = engine["env"]
        self.origins.remove_items((*place, "env"), {index}, len(env))
        del env[index]
        if not env:
            del engine["env"]

    def _fill_variable(self, engine: dict[str, Any], place: Path) -> None:
        """Fills that variable in where a script of a user names it: without a value it is nothing."""
        name = self.facts["variable"]
        pattern = re.compile(rf"\$(?:{name}(?!\w)|\{{{name}(?::-)?\}})")
        env = engine.get("env") or []
        names = [item.get("name") for item in env]
        index = names.index(name) if name in names else -1
        value = env[index].get("value") if index >= 0 else "" if not engine.get("envFrom") else None
        if not isinstance(value, str) or not _ITEM_BY_ITEM.fullmatch(value):
            return
        is_there = False
        for field_name in ("command", "args"):
            words = engine.get(field_name) or []
            for i, word in enumerate(words):
                if pattern.search(word):
                    words[i], is_there = pattern.sub(value, word), True
        if is_there and index >= 0:
            self._remove_variable(engine, place, index)

    def _lora_words(self) -> list[tuple[str, Origin]]:
        """Options for the sizes of adapters; which they are is part of the model."""
        options, lora = self.facts["loraOptions"], map_at(self.spec, "model", "lora")
        return [
            (f"{options[key]}={lora[key]}", self.origins(("model", "lora", key)))
            for key in ("maxRank", "maxAdapters", "maxCpuAdapters")
            if key in lora and lora.get("adapters")
        ]

    def _move_initializer(self, key: str) -> None:
        """Gives the variables of KServe's init container for weights to the engine, from where loaders have theirs."""
        containers = self.spec[key].get("initContainers") or []
        names = [container.get("name") for container in containers]
        if self.facts["initializer"] not in names:
            return
        index = names.index(self.facts["initializer"])
        place, engine = (key, "initContainers", index), self._engine(key) or {}
        for field_name in containers[index]:
            if field_name not in ("name", "env"):
                why = "a preset's loader replaces it"
                self.diagnostics.add("W966", self.origins((*place, field_name)), why=why)
        own = {item.get("name") for item in engine.get("env") or ()}
        for i, variable in enumerate(containers[index].get("env") or ()):
            if variable.get("name") not in own:
                env = engine.setdefault("env", [])
                self.origins.copy((*self._place(key), "env", len(env)), self.origins((*place, "env", i)))
                env.append(variable)
        self.origins.remove_items((key, "initContainers"), {index}, len(containers))
        del containers[index]
        if not containers:
            del self.spec[key]["initContainers"]

    # What the workload says beside its pods

    def _model(self) -> ServedModel:
        model = map_at(self.spec, "model")
        uri = text_at(model, "uri")
        if not uri:
            self._refuse(self.document.origin("spec"), "neither it nor a config here sets model.uri", "")
        tell_secret_address(uri, self.origins(("model", "uri")), self.diagnostics)
        adapters = []
        for i, adapter in enumerate(maps_at(model, "lora", "adapters")):
            name, adapter_uri = text_at(adapter, "name"), text_at(adapter, "uri")
            origin = self.origins(("model", "lora", "adapters", i))
            for word in [word for word in ("name", "uri") if not text_at(adapter, word)]:
                self.diagnostics.add("E302", origin, word=word, hint="")
            tell_secret_address(adapter_uri, origin.at("uri"), self.diagnostics)
            if name and adapter_uri:
                adapters.append((name, adapter_uri))
        return ServedModel(
            uri=uri,
            name=self.model_name,
            origin=self.origins(("model", "uri")),
            path=self.facts["path"],
            adapters=tuple(adapters),
        )

    def _hosts(self) -> int:
        """The pods of a replica, as KServe counts them."""
        if "worker" not in self.spec:
            return 1
        data, local, pipeline = (
            int(number_at(self.spec, "parallelism", key)) for key in ("data", "dataLocal", "pipeline")
        )
        hosts = max(data, 1) // max(local, 1) if data > 0 or local > 0 else pipeline
        return max(hosts, 1)

    def _playground_fields(self, is_default: bool, uses_parallelism: bool) -> dict[str, Any]:
        """What a Playground says in its own words."""
        fields: dict[str, Any] = {"gateway": {"mode": self._gateway_mode()}}
        if (scaling := self.spec.get("scaling")) is not None:
            if "maxReplicas" in scaling:
                bounds = ("minReplicas", "maxReplicas")
                fields["elasticConfig"] = {key: scaling[key] for key in bounds if key in scaling}
            else:
                self.diagnostics.add("E302", self.origins(("scaling",)), word="maxReplicas", hint="")
        why = "only KServe's own start script turns it into options, and this is another command"
        parallelism = self.spec.get("parallelism") or {}
        sizes = {key: parallelism[key] for key in ("tensor", "pipeline", "data", "expert") if parallelism.get(key)}
        if sizes and is_default:
            hosts = self._hosts()
            has_one_each = 1 < hosts == math.prod(sizes.get(key, 1) for key in ("tensor", "pipeline", "data"))
            fields["parallelism"] = {**sizes, "hosts": hosts} if has_one_each else sizes
        elif sizes and not uses_parallelism and "worker" not in self.spec:
            self.diagnostics.add("W966", self.origins(("parallelism",)), why=why)
        if (offloading := self.spec.get("kvCacheOffloading")) is not None:
            if is_default:
                fields["kvCacheOffloading"] = self._offloading(offloading)
            else:
                self.diagnostics.add("W966", self.origins(("kvCacheOffloading",)), why=why)
        return fields

    def _gateway_mode(self) -> str:
        router = self.spec.get("router") or {}
        return "pool" if "scheduler" in router else "backend" if "route" in router else "off"

    def _offloading(self, offloading: Mapping[str, Any]) -> dict[str, Any]:
        fields = {key: offloading[key] for key in ("cpu", "evictionPolicy") if key in offloading}
        tiers = []
        for i, tier in enumerate(maps_at(offloading, "secondary")):
            files = map_at(tier, "fileSystem")
            if size := map_at(files, "emptyDir").get("size"):
                tiers.append({"emptyDir": size})
            elif claim := text_at(files, "pvc", "ref", "name"):
                tiers.append({"pvc": claim})
            elif "pvc" not in files:  # what is lost of it is told already
                origin = self.origins(("kvCacheOffloading", "secondary", i))
                self.diagnostics.add("W966", origin, why="it has neither a size nor a claim")
        return {**fields, **({"secondary": tiers} if tiers else {})}

    def _tell_lost(self, hosts: int, worker: str) -> None:
        """Tells what else is lost."""
        lost: list[tuple[Path, str]] = []
        if "prefill" in self.spec:
            why = "prefill-only pods are not adopted, and the new pods do both; write spec.disaggregation"
            lost.append((("prefill",), why))
        if "worker" in self.spec and worker != "worker" and hosts == 1:
            lost.append((("worker",), "parallelism gives a replica one host, so nothing runs it"))
        if (self.spec.get("storageInitializer") or {}).get("enabled") is False:
            lost.append((("storageInitializer", "enabled"), "a loader loads the weights anyway"))
        for key in self.metadata.get("annotations") or {}:
            why = _control(key, self.facts["controls"])
            if why and key not in self.facts["devices"].values():
                self.diagnostics.add("W966", self.document.origin("metadata", "annotations", key), why=why)
        for path, why in lost:
            self.diagnostics.add("W966", self.origins(path), why=why)
        self.diagnostics.add("N965", self.document.origin("kind"), source=self.facts["source"], adds=self.facts["adds"])

    def _device_claim(self) -> dict[str, Any]:
        """The devices that KServe claims for each pod; {} for none."""
        keys, annotations = self.facts["devices"], self.metadata.get("annotations") or {}
        name, count = str(annotations.get(keys["class"]) or ""), str(annotations.get(keys["count"]) or "1")
        if not name:
            return {}
        if not (count.isascii() and count.isdigit() and int(count)):
            origin = self.document.origin("metadata", "annotations", keys["count"])
            self._refuse(origin, f"'{count}' is no number of devices", "write how many devices each pod gets")
        lines = str(annotations.get(keys["selectors"]) or "").splitlines()
        selectors = [line.strip() for line in lines if line.strip()]
        claim = {"deviceClassName": name, "count": int(count)}
        return {**claim, "selectors": selectors} if selectors else claim

    def _own_annotations(self) -> dict[str, str]:
        """The annotations of the service that are its user's."""
        controls = self.facts["controls"]
        return {
            key: value
            for key, value in (self.metadata.get("annotations") or {}).items()
            if not key.startswith(_BOOKKEEPING) and not _control(key, controls)
        }

    def _template(self, key: str) -> dict[str, Any]:
        """The template of the pods of `key`."""
        metadata = {}
        for group in ("labels", "annotations"):
            prefixes = tuple(self.facts["propagated"][group])
            inherited = {
                name: text for name, text in (self.metadata.get(group) or {}).items() if name.startswith(prefixes)
            }
            if entries := {**inherited, **(self.spec.get(group) or {})}:
                metadata[group] = entries
        return {**({"metadata": metadata} if metadata else {}), "spec": self.spec.get(key) or {}}

    def _origin_of(self, key: str) -> Callable[[Path], Origin]:
        """The origins of the fields of such a template."""

        def origin_of(path: Path) -> Origin:
            if path[:1] == ("spec",):
                return self.origins((key, *path[1:]))
            if path[:1] == ("metadata",) and len(path) > 1:
                group, name = path[1], path[2:3]
                if name and name[0] not in (self.spec.get(str(group)) or {}):
                    return self.document.origin(*path)
                return self.origins(path[1:])
            return self.origins((key,))

        return origin_of


def _control(annotation: str, controls: Mapping[str, str]) -> str:
    """What becomes of an annotation that steers KServe; '' of any other."""
    return next((why for prefix, why in controls.items() if annotation.startswith(prefix)), "")


def _plain_words(text: object) -> list[str] | None:
    """The words that a shell makes of a text; None where it fills something in."""
    if not isinstance(text, str) or not _PLAIN_WORDS.fullmatch(text.strip()):
        return None
    return shlex.split(text)
