"""The models in values of production-stack's chart as workloads, as presets/production_stack.yaml describes them.

The chart is not rendered: the template is what it makes of the values that a user wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from renderer.adopt import pod_schema
from renderer.adopt.api_keys import refer_to_secret
from renderer.adopt.plain_secrets import tell_secret, tell_secret_address, without_secrets
from renderer.adopt.serving_workload import ServedModel, ServingWorkload
from renderer.adopt.source_fields import as_word, read_fields
from renderer.check.engines.chart_values import read_values, values_paths
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, Stop
from renderer.engines.handwritten_command import table_entry
from renderer.kubernetes.json_values import list_at, map_at, maps_at, text_at, value_at
from renderer.kubernetes.template_origins import TemplateOrigins
from renderer.load.preset_files import preset
from renderer.yamlio import Document

_HUB_ID = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")
_PLACEHOLDER = re.compile(r"\{(\w+(?:\.\w+)+)\}")
_PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
_HANDLERS = ("exec", "tcpSocket", "grpc")
_CONTAINER: Path = ("spec", "containers", 0)


def read_production_stack(documents: Sequence[Document]) -> tuple[list[ServingWorkload], list[Diagnostic]]:
    """A workload for each model in values of the chart, and what is lost or wrong. Values are a document of their own,
    or stand in an object that gives them to a chart.
    """
    diagnostics = Collector()
    workloads: list[ServingWorkload] = []
    for document in documents:
        for values in _find_values(document, diagnostics):
            workloads += _read_values(values, diagnostics)
    return workloads, diagnostics.problems


@cache
def _facts() -> Mapping[str, Any]:
    spec: Mapping[str, Any] = preset("production_stack").value["spec"]
    return spec


class _Values(Struct, frozen=True):
    """Values of the chart in a document."""

    document: Document  # with texts as maps
    path: Path  # of the values
    release: str = ""  # its name, '' where nobody says it
    namespace: str = ""


class _Volume(Struct, frozen=True):
    """A volume that the chart makes of a value."""

    name: str
    path: str  # where the engine finds it
    source: Mapping[str, Any]
    origin: Origin


def _find_values(document: Document, diagnostics: Collector) -> Iterator[_Values]:
    """The values of the chart in a document: as they are, or one level below where the chart is part of another."""
    if not isinstance(document.value, dict):
        return
    paths: Sequence[Path] = values_paths(document.value)
    names: Mapping[str, Any] = {}
    if paths:
        release, problems = read_values(document)
        if any(_facts()["section"] in as_word(value_at(document.value, *path)) for path in paths):
            diagnostics.problems += problems
        document, names = release, _facts()["releases"].get(text_at(document.value, "kind")) or {}
    elif "kind" not in document.value:
        paths = [()]
    for field in names.get("unread") or () if paths else ():
        if value_at(document.value, *field.split(".")):
            why = "what it changes in the objects of the chart is not read: write it into podTemplate"
            diagnostics.add("W966", document.origin(*field.split("."), key=True), why=why)
    name, namespace = (_first_text(document.value, names.get(key) or ()) for key in ("name", "namespace"))
    for path in paths:
        values = map_at(document.value, *path)
        for place in (path, *((*path, key) for key in values)):
            section = value_at(document.value, *place, _facts()["section"])
            if isinstance(section, dict) or (place == path and section is not None):
                yield _Values(document, place, name, namespace)


def _first_text(value: object, paths: Sequence[str]) -> str:
    return next((text for path in paths if (text := text_at(value, *path.split(".")))), "")


def _read_values(values: _Values, diagnostics: Collector) -> Iterator[ServingWorkload]:
    facts, origin = _facts(), values.document.origin(*values.path)
    body = value_at(values.document.value, *values.path)
    section = read_fields(body, facts["values"], origin, diagnostics).get(facts["section"]) or {}
    origin = origin.at(facts["section"])
    settings = read_fields(section, facts["settings"], origin, diagnostics)
    if settings.get("enableEngine") is False:
        diagnostics.add("N966", origin.at("enableEngine"), why="these engines are not deployed")
        return
    unset = {key for key, value in section.items() if value is None}
    for i, model in enumerate(maps_at(settings, facts["models"])):
        place = origin.at(facts["models"], i)
        try:
            yield _Model(values, settings, unset, (model, place), diagnostics).workload()
        except Stop:
            continue


class _Model:
    """A model on its way to a workload."""

    def __init__(
        self,
        values: _Values,
        settings: Mapping[str, Any],
        unset: set[str],
        entry: tuple[Mapping[str, Any], Origin],
        diagnostics: Collector,
    ) -> None:
        self.facts, self.values, self.diagnostics = _facts(), values, diagnostics
        self.settings, self.unset = settings, unset  # of all models, and what of them is null
        self.settings_origin = values.document.origin(*values.path, self.facts["section"])
        self.origin = entry[1]
        self.model = read_fields(entry[0], self.facts["model"], self.origin, diagnostics)
        self.origins = TemplateOrigins(self.origin)
        self.container: dict[str, Any] = {"name": self.facts["engine"]}
        self.pod: dict[str, Any] = {"containers": [self.container]}
        self.words: list[tuple[str, Origin]] = []

    def workload(self) -> ServingWorkload:
        """The workload. Raises Stop where the values say too little."""
        model = self.model
        self._require_deployed()
        self._read_switched("lmcacheConfig", self.facts["lmcache"])
        keda = self._read_switched("keda", self.facts["keda"]["fields"])
        self._say_container()
        self._say_environment()
        self._say_volumes()
        self._say_pod()
        app = self.values.namespace, str(model["name"])
        refer_to_secret(self.pod, app, self.origins, self.diagnostics, ("spec",))
        self.pod = without_secrets(self.pod, self.origins, self.diagnostics, ("spec",))
        pod = pod_schema.valid_pod(self.pod, self.origins, ("spec",), self.diagnostics)
        metadata = self._metadata()
        self.diagnostics.add("N965", self.origin.at("name"), source=self.facts["source"], adds=self.facts["adds"])
        replicas = None if keda else model.get("replicaCount")
        return ServingWorkload(
            document=self.values.document,
            kind=self.facts["models"],
            name=model["name"],
            namespace=self.values.namespace,
            labels=_texts(model.get("labels")),
            annotations=_texts(model.get("annotations")),
            replicas=replicas,
            replicas_origin=self.origin.at("replicaCount") if replicas is not None else None,
            rollout=self._rollout(),
            template={**({"metadata": metadata} if metadata else {}), "spec": pod},
            origin_of=self.origins,
            model=self._served_model(),
            spec={"elasticConfig": self._bounds(keda)} if keda else {},
            engine=self.facts["engine"],
        )

    def _require_deployed(self) -> None:
        """Stops where nothing can be made of the model."""
        what = "this model"
        for key in ("name", "repository", "modelURL"):
            if not self.model.get(key):
                self.diagnostics.stop("E965", self.origin, what=what, why=f"it has no {key}", hint="")
        tell_secret_address(self.model["modelURL"], self.origin.at("modelURL"), self.diagnostics)
        if self.model.get("enabled") is False:
            self.diagnostics.stop("N966", self.origin.at("enabled"), why="this model is not deployed")
        ray = map_at(self.model, "raySpec")
        if ray and ray.get("enabled", True):  # older charts make a cluster of it without that key
            why = "it is a Ray cluster, whose hosts have the accelerators together"
            hint = "write a Playground with parallelism, which runs on several hosts without Ray"
            self.diagnostics.stop("E965", self.origin.at("raySpec"), what=what, why=why, hint=hint)

    def _read_switched(self, key: str, table: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields of a map that counts only where it is enabled; else nothing."""
        body: Mapping[str, Any] = self.model.pop(key, {})
        if not body.get("enabled"):
            return {}
        self.model[key] = read_fields(body, table, self.origin.at(key), self.diagnostics)
        fields: Mapping[str, Any] = self.model[key]
        return fields

    # The container

    def _say_container(self) -> None:
        model, facts, container = self.model, self.facts, self.container
        tag = model.get("tag")
        if tag is None:
            self.diagnostics.add("E302", self.origin, word="tag", hint="")
        image = model["repository"] if tag is None else f"{model['repository']}:{as_word(tag)}"
        self._make((*_CONTAINER, "image"), self.origin.at("repository"))
        port = self.settings.get("containerPort", facts["port"]["number"])
        port_origin = self.settings_origin.at("containerPort") if "containerPort" in self.settings else self.origin
        self.words.append((model["modelURL"], self.origin.at("modelURL")))
        self.words += [(word, self.origin.at("modelURL")) for word in facts["listens"]]
        self.words += [(word, port_origin) for word in (facts["port"]["option"], str(port))]
        for rule in facts["options"]:
            self.words += self._option(rule)
        container |= {"image": image, "command": [*facts["command"]], "args": [word for word, _ in self.words]}
        for i, (_, origin) in enumerate(self.words):
            self._make((*_CONTAINER, "args", i), origin)
        container["ports"] = [{"name": facts["port"]["name"], "containerPort": port}]
        self._make((*_CONTAINER, "ports"), port_origin)
        if policy := self.settings.get("imagePullPolicy"):
            self._copy((*_CONTAINER, "imagePullPolicy"), self.settings_origin.at("imagePullPolicy"))
            container["imagePullPolicy"] = policy
        if context := self.settings.get("containerSecurityContext"):
            self._copy((*_CONTAINER, "securityContext"), self.settings_origin.at("containerSecurityContext"))
            container["securityContext"] = context
        self._say_probes()
        self._say_resources()

    def _option(self, rule: Mapping[str, Any]) -> Iterator[tuple[str, Origin]]:
        """The words that a rule of `options` writes."""
        if not self._applies(rule):
            return
        path = tuple(rule["field"].split("."))
        value, origin = value_at(self.model, *path), self.origin.at(*path)
        if "flag" in rule:
            if value:
                yield rule["flag"], origin
            elif "otherwise" in rule and (value is not None or self.model.get(rule.get("without", ""))):
                yield rule["otherwise"], origin if value is not None else self.origin.at(*path[:-1])
        elif rule.get("words"):
            items = value if isinstance(value, list) else []
            yield from ((as_word(item), origin.at(i)) for i, item in enumerate(items))
        elif value not in (None, "", False):
            yield rule["option"], origin
            yield rule.get("prefix", "") + self._text(rule, value), origin

    def _text(self, rule: Mapping[str, Any], value: object) -> str:
        """The value that a rule writes."""

        def field(match: re.Match[str]) -> str:
            other = value_at(self.model, *match[1].split("."))
            return as_word(other if other is not None else rule["defaults"][match[1]])

        return _PLACEHOLDER.sub(field, rule["value"]) if "value" in rule else as_word(value)

    def _applies(self, rule: Mapping[str, Any]) -> bool:
        """Whether other fields have the values that a rule asks for."""
        conditions = [(rule.get("when") or {}, True), (rule.get("unless") or {}, False)]
        return all(
            (as_word(value_at(self.model, *path.split("."))) == text) is should
            for texts, should in conditions
            for path, text in texts.items()
        )

    def _say_probes(self) -> None:
        for key in _PROBES:
            if key in self.unset:
                continue
            probe, origin = self.settings.get(key) or {}, self.settings_origin.at(key)
            place = (*_CONTAINER, key)
            handler = next((name for name in _HANDLERS if probe.get(name)), "")
            body = {name: value for name, value in probe.items() if name not in ("httpGet", *_HANDLERS)}
            if probe:
                self._copy(place, origin)
            body[handler or "httpGet"] = (
                probe[handler] if handler else {**self.facts["probe"], **map_at(probe, "httpGet")}
            )
            self.container[key] = body

    def _say_resources(self) -> None:
        model, facts = self.model, self.facts["resources"]
        place = (*_CONTAINER, "resources")
        if model.get("resources"):
            self._copy(place, self.origin.at("resources"))
            self.container["resources"] = model["resources"]
            return
        sides: dict[str, dict[str, Any]] = {}
        for side in ("requests", "limits"):
            for key, resource in facts[side].items():
                if model.get(key) is not None:
                    sides.setdefault(side, {})[resource] = as_word(model[key])
                    self._make((*place, side, resource), self.origin.at(key))
            number = facts["accelerators"]["number"]
            if as_word(model.get(number, 0)) not in ("0", ""):
                resource = model.get(facts["accelerators"]["name"]) or facts["accelerators"]["default"]
                sides.setdefault(side, {})[resource] = as_word(model[number])
                self._make((*place, side, resource), self.origin.at(number))
        if sides:
            self.container["resources"] = sides

    def _say_environment(self) -> None:
        model, settings = self.model, self.settings
        env = self.container["env"] = []
        place: Path = (*_CONTAINER, "env")

        def add(item: Mapping[str, Any], origin: Origin, *, copied: bool = False) -> None:
            (self._copy if copied else self._make)((*place, len(env)), origin)
            env.append(item)

        for name, value in (settings.get("configs") or {}).items():
            add({"name": name, "value": as_word(value)}, self.settings_origin.at("configs", name))
        for rule in self.facts["variables"]:
            for item, origin in self._variable(rule):
                add(item, origin)
        keys = table_entry(self.facts["engine"])["apiKeyVariables"]
        for key, name in self.facts["token"].items():
            for token, origin in (
                (model.get(key), self.origin.at(key)),
                (settings.get(key), self.settings_origin.at(key)),
            ):
                if isinstance(token, str) and token and name in keys:  # which becomes a reference
                    add({"name": name, "value": token}, origin)
                elif reference := self._token(token, name, origin):
                    add({"name": name, "valueFrom": {"secretKeyRef": reference}}, origin)
        for items, origin in (
            (maps_at(settings, "env"), self.settings_origin.at("env")),
            (maps_at(model, "env"), self.origin.at("env")),
        ):
            for i, item in enumerate(items):
                add(item, origin.at(i), copied=True)
        names = {item.get("name") for item in env if isinstance(item.get("name"), str)}
        for rule in self.facts["laterVariables"]:
            for item, origin in self._variable(rule):
                if item["name"] not in names:
                    names.add(item["name"])
                    add(item, origin)
        if not env:
            del self.container["env"]
        if secret := text_at(model, "envFromSecret", "name"):
            self._make((*_CONTAINER, "envFrom"), self.origin.at("envFromSecret", "name"))
            self.container["envFrom"] = [{"secretRef": {"name": secret}}]

    def _variable(self, rule: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Origin]]:
        """The variable that a rule of `variables` writes."""
        path = tuple(rule["field"].split("."))
        value = value_at(self.model, *path)
        is_set = value not in (None, "", False) and self._applies(rule)
        if is_set and not (rule.get("positive") and as_word(value) == "0"):
            source = (
                {"valueFrom": {"fieldRef": {"fieldPath": rule["reference"]}}}
                if "reference" in rule
                else {"value": self._text(rule, value)}
            )
            yield {"name": rule["name"], **source}, self.origin.at(*path)

    def _token(self, token: object, name: str, origin: Origin) -> Mapping[str, str]:
        """The reference to a secret; a text is told."""
        if isinstance(token, str) and token:
            tell_secret(origin, name, self.diagnostics)
        if not isinstance(token, dict):
            return {}
        table = {"secretName": "text", "secretKey": "text"}
        reference = read_fields(token, table, origin, self.diagnostics)
        secret, key = reference.get("secretName"), reference.get("secretKey")
        return {"name": secret, "key": key} if secret and key else {}

    # The pod

    def _say_volumes(self) -> None:
        model = self.model
        volumes: list[tuple[Mapping[str, Any], Origin, bool]] = []
        mounts: list[tuple[Mapping[str, Any], Origin, bool]] = []
        for volume in (*self._cache(), *self._shared_memory(), *self._chat_template()):
            volumes.append(({"name": volume.name, **volume.source}, volume.origin, False))
            mounts.append(({"name": volume.name, "mountPath": volume.path}, volume.origin, False))
        for items, key in ((volumes, "extraVolumes"), (mounts, "extraVolumeMounts")):
            items += [(item, self.origin.at(key, i), True) for i, item in enumerate(maps_at(model, key))]
        places: tuple[Path, Path] = (("spec", "volumes"), (*_CONTAINER, "volumeMounts"))
        for items, place, body in zip((volumes, mounts), places, (self.pod, self.container), strict=True):
            for i, (_, origin, is_copy) in enumerate(items):
                (self._copy if is_copy else self._make)((*place, i), origin)
            if items:
                body[str(place[-1])] = [item for item, _, _ in items]

    def _cache(self) -> Iterator[_Volume]:
        """The volume for downloads."""
        cache, storage, origin = self.facts["cache"], self.model.get("pvcStorage"), self.origin.at("pvcStorage")
        claim = self.model.get("pvcExistingClaimName")
        if isinstance(storage, dict):
            fields = read_fields(storage, {"emptyDir": "map"}, origin, self.diagnostics)
            volume = fields if "emptyDir" in fields else {}
        elif storage and claim:
            volume, origin = {"persistentVolumeClaim": {"claimName": claim}}, self.origin.at("pvcExistingClaimName")
        elif storage and self.values.release:
            claim = f"{self.values.release}-{self.model['name']}{cache['claim']}"
            volume = {"persistentVolumeClaim": {"claimName": claim}}
            self.diagnostics.add("N967", origin, claim=claim)
        else:
            volume = {}
            if storage:
                why = "the chart names its claim after the release, whose name is unknown here"
                self.diagnostics.add("W966", origin, why=why)
            elif claim:
                why = "the chart uses it only together with pvcStorage"
                self.diagnostics.add("W966", self.origin.at("pvcExistingClaimName"), why=why)
        if not volume:
            return
        if self.model.get("enableLoRA"):
            why = "the sidecar that loads adapters into this volume is left out"
            self.diagnostics.add("W966", self.origin.at("enableLoRA"), why=why)
        env = self.container.setdefault("env", [])
        self._make((*_CONTAINER, "env", len(env)), origin)
        env.append({"name": cache["variable"], "value": cache["path"]})
        yield _Volume(cache["volume"], cache["path"], volume, origin)

    def _shared_memory(self) -> Iterator[_Volume]:
        memory, size = self.facts["memory"], self.model.get("shmSize")
        path = tuple(memory["field"].split("."))
        if value_at(self.model, *path) is not None:
            origin = self.origin.at("shmSize") if size is not None else self.origin.at(*path)
            limit = as_word(size) if size is not None else memory["size"]
            volume = {"emptyDir": {"medium": "Memory", "sizeLimit": limit}}
            yield _Volume(memory["volume"], memory["path"], volume, origin)
        elif size is not None:
            why = f"the chart uses it only together with {memory['field']}"
            self.diagnostics.add("W966", self.origin.at("shmSize"), why=why)

    def _chat_template(self) -> Iterator[_Volume]:
        chat, text = self.facts["chat"], self.model.get("chatTemplateConfigMap")
        if not self.model.get("chatTemplate"):
            return
        origin = self.origin.at("chatTemplate")
        if text is None:
            claim = {"persistentVolumeClaim": {"claimName": chat["claim"]}}
            yield _Volume(chat["volume"], chat["path"], claim, origin)
            return
        name = "-".join(filter(None, (self.values.release, self.model["name"]))) + chat["configMap"]
        why = f"the chart makes the ConfigMap {name} from it, which is not rendered; write it yourself"
        self.diagnostics.add("W966", self.origin.at("chatTemplateConfigMap"), why=why)
        yield _Volume(chat["volume"], chat["path"], {"configMap": {"name": name}}, origin)

    def _say_pod(self) -> None:
        model, settings, pod = self.model, self.settings, self.pod
        for key in self.facts["podFields"]:
            if model.get(key):
                self._copy(("spec", key), self.origin.at(key))
                pod[key] = model[key]
        for key in self.facts["engineFields"]:
            if settings.get(key):
                self._copy(("spec", key), self.settings_origin.at(key))
                pod[key] = settings[key]
        self._say_runtime_class()
        self._say_tolerations()
        if secret := model.get("imagePullSecret"):
            self._make(("spec", "imagePullSecrets"), self.origin.at("imagePullSecret"))
            pod["imagePullSecrets"] = [{"name": secret}]
        terms = model.get("nodeSelectorTerms")
        if terms and not model.get("affinity") and not model.get("nodeName"):
            required = "requiredDuringSchedulingIgnoredDuringExecution"
            origin = self.origin.at("nodeSelectorTerms")
            self._make(("spec", "affinity"), origin)
            self._copy(("spec", "affinity", "nodeAffinity", required, "nodeSelectorTerms"), origin)
            pod["affinity"] = {"nodeAffinity": {required: {"nodeSelectorTerms": terms}}}
        elif terms:
            why = "the chart does not use it together with affinity or nodeName"
            self.diagnostics.add("W966", self.origin.at("nodeSelectorTerms"), why=why)
        if "initContainer" in model:
            self._say_init_container()

    def _say_runtime_class(self) -> None:
        origin = self.origin
        if "runtimeClassName" in self.model:
            name, origin = self.model["runtimeClassName"], self.origin.at("runtimeClassName")
        elif "runtimeClassName" in self.settings:
            name, origin = self.settings["runtimeClassName"], self.settings_origin.at("runtimeClassName")
        else:
            name = "" if "runtimeClassName" in self.unset else self.facts["runtimeClassName"]
        if name:
            self._make(("spec", "runtimeClassName"), origin)
            self.pod["runtimeClassName"] = name

    def _say_tolerations(self) -> None:
        own = [(item, self.origin.at("tolerations", i)) for i, item in enumerate(maps_at(self.model, "tolerations"))]
        of_all = [
            (item, self.settings_origin.at("tolerations", i))
            for i, item in enumerate(maps_at(self.settings, "tolerations"))
        ]
        tolerations = own if own and self.model.get("tolerationsPolicy") == "override" else [*of_all, *own]
        for i, (_, origin) in enumerate(tolerations):
            self._copy(("spec", "tolerations", i), origin)
        if tolerations:
            self.pod["tolerations"] = [item for item, _ in tolerations]

    def _say_init_container(self) -> None:
        origin, place = self.origin.at("initContainer"), ("spec", "initContainers", 0)
        fields = read_fields(self.model["initContainer"], self.facts["init"], origin, self.diagnostics)
        self._copy(place, origin)
        body = {key: fields[key] for key in ("name", "image", "env", "resources") if fields.get(key)}
        body |= {key: [*map(as_word, list_at(fields, key))] for key in ("command", "args") if fields.get(key)}
        mounts = maps_at(fields, "extraVolumeMounts")
        cache = self.facts["cache"]
        volumes = [volume.get("name") for volume in maps_at(self.pod, "volumes")]
        if fields.get("mountPvcStorage") and cache["volume"] in volumes:
            mounts = [{"name": cache["volume"], "mountPath": cache["path"]}, *mounts]
        if mounts:
            self._make((*place, "volumeMounts"), origin)
            body["volumeMounts"] = mounts
        self.pod["initContainers"] = [body]

    # The rest of the workload

    def _metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        for group, sources in (
            ("labels", ((self.settings, self.settings_origin, "labels"), (self.model, self.origin, "podLabels"))),
            ("annotations", ((self.model, self.origin, "podAnnotations"),)),
        ):
            for body, origin, key in sources:
                if body.get(key):
                    metadata.setdefault(group, {}).update(_texts(body[key]))
                    for name in body[key]:
                        self._copy(("metadata", group, name), origin.at(key, name))
        return metadata

    def _served_model(self) -> ServedModel | None:
        """The model by its address; None for a path, which the command line says."""
        address = self.model["modelURL"]
        uri = f"hf://{address}" if _HUB_ID.fullmatch(address) else address if "://" in address else ""
        return ServedModel(uri=uri, name="", origin=self.origin.at("modelURL"), path=address) if uri else None

    def _rollout(self) -> Mapping[str, Any]:
        strategy = self.settings.get("strategy") or {}
        if strategy.get("type") == "Recreate":
            return {"maxUnavailable": "100%", "maxSurge": 0}
        if strategy.get("type") not in (None, "RollingUpdate"):
            why = "replicas are always updated one after the other"
            self.diagnostics.add("W966", self.settings_origin.at("strategy", "type"), why=why)
        return map_at(strategy, "rollingUpdate")

    def _bounds(self, keda: Mapping[str, Any]) -> dict[str, Any]:
        bounds = {**self.facts["keda"]["missing"], **keda}
        return {"minReplicas": bounds["minReplicaCount"], "maxReplicas": bounds["maxReplicaCount"]}

    def _copy(self, path: Path, origin: Origin) -> None:
        self.origins.copy(path, origin)

    def _make(self, path: Path, origin: Origin) -> None:
        self.origins.make(path, origin)


def _texts(entries: Mapping[str, object] | None) -> dict[str, str]:
    return {key: as_word(value) for key, value in (entries or {}).items()}
