"""The fields of both objects of a pair, with what each value comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from renderer.diff.live.command_options import ContainerCommand, json_meaning
from renderer.diff.live.compared import LivePair, ObjectSide, PodPair, selector_path
from renderer.diff.live.counterparts import PodSide, hub_source
from renderer.diff.live.leaves import OPTION, Key, Leaf, Leaves, flatten
from renderer.engines.handwritten_command import port_in
from renderer.kubernetes.json_values import map_at, maps_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.resolve.kube.images import split_image

ENGINE_PORT: Final = "the port of the engine"
_HTTP: Final = "http"
_IDENTITY: Final = ("apiVersion", "kind")  # by which objects are matched
_PORT_FIELDS: Final = ("httpGet", "tcpSocket", "grpc")


def pair_leaves(pair: LivePair) -> tuple[Leaves, Leaves]:
    """The fields of theirs and of ours."""
    theirs, ours = dict(_object_leaves(pair.theirs, pair)), dict(_object_leaves(pair.ours, pair))
    path = selector_path(pair.theirs.key)
    if path and not pair.other_kind and pair.around.same_pods(pair.theirs, pair.ours):
        for leaves, side in ((theirs, pair.theirs), (ours, pair.ours)):
            for key in [key for key in leaves if key[: len(path)] == path]:
                del leaves[key]
            leaves[path] = Leaf(map_at(side.view, *path), path, "the same pods", "selector")
    if (pair.ours.key.namespace, pair.ours.key.name) in pair.around.scaled:
        for leaves, side in ((theirs, pair.theirs), (ours, pair.ours)):
            if "replicas" not in map_at(side.body, "spec"):  # the server's 1 is not a decision
                leaves.pop(("spec", "replicas"), None)
    return theirs, ours


def _object_leaves(side: ObjectSide, pair: LivePair) -> Iterator[tuple[Key, Leaf]]:
    is_ours = side is pair.ours
    templates = {pods.ours.place if is_ours else pods.theirs.place for pods in pair.pods.values()}
    fields = {field: value for field, value in side.view.items() if field not in _IDENTITY}
    for key, leaf in flatten(fields, (), (), _by_number, templates):
        yield key, _with_target_port(key, leaf, side, pair) if side.key.kind == "Service" else leaf
    for role, pods in pair.pods.items():
        yield from PodLeaves(pods, f"@{role}", is_ours=is_ours).fields()


def _by_number(key: Key, item: Mapping[str, Any]) -> str:
    """The ports of a Service by their numbers, whose names nobody needs where it has one."""
    return str(item.get("port", "")) if key == ("spec", "ports") else ""


def _with_target_port(key: Key, leaf: Leaf, side: ObjectSide, pair: LivePair) -> Leaf:
    """The target of a Service's port: the engine's, whatever number or name that has."""
    if key[:2] != ("spec", "ports") or key[-1] != "targetPort":
        return leaf
    others = pair.around.ours if side is pair.ours else pair.around.theirs
    targets = [workload.port_number(leaf.value) == workload.engine_port for workload, _ in others.selected_by(side)]
    return Leaf(leaf.value, leaf.place, ENGINE_PORT, "port") if targets and all(targets) else leaf


class PodLeaves:
    """The fields of a pod template of one side of a pair."""

    def __init__(self, pods: PodPair, root: str, *, is_ours: bool) -> None:
        self._pods: Final = pods
        self._side: Final[PodSide] = pods.ours if is_ours else pods.theirs
        self._root: Final = root
        self._is_ours: Final = is_ours
        self._counterparts: Final = pods.counterparts

    def fields(self) -> Iterator[tuple[Key, Leaf]]:
        """All of them, and the options of engines in the place of `command` and `args`."""
        by_options = {self._container_key(name): name for name in self._own_names()}
        for key, leaf in flatten(self._side.template, (self._root,), self._side.place, self._name_item):
            name = by_options.get(key[:4])
            if name is None or key[4] not in ("command", "args"):
                yield key, self._with_meaning(key, leaf, name)
        for key, name in by_options.items():
            yield from self._command(key, self._side.engines[name])

    def _own_names(self) -> list[str]:
        """The names that this side has for the containers that are compared option by option."""
        commands = self._pods.commands
        return [*commands] if self._is_ours else [*commands.values()]

    def _container_key(self, name: str) -> Key:
        return (self._root, "spec", "containers", f"[{self._shared_name(name)}]")

    def _shared_name(self, name: str) -> str:
        is_renamed = not self._is_ours and name == self._counterparts.container
        return (self._pods.ours.engine or RUNNER) if is_renamed else name

    def _name_item(self, key: Key, item: Mapping[str, Any]) -> str:
        name = str(item.get("name", ""))
        if key[1:] == ("spec", "containers"):
            return self._shared_name(name)
        if key[1:] == ("spec", "volumes") and not self._is_ours:
            return self._counterparts.volumes.get(name, "")
        if key[-1] == "ports":
            own = [own for own in self._side.engines if self._container_key(own) == key[:4]]
            is_engine = bool(own) and item.get("containerPort") == self._side.engines[own[0]].port
            return _HTTP if is_engine else name or str(item.get("containerPort", ""))
        return ""

    def _with_meaning(self, key: Key, leaf: Leaf, name: str | None) -> Leaf:
        """A field, and what it comes to. `name`: of the container that runs an engine, which the field is in."""
        value, last = leaf.value, key[-1]
        if last == "image" and isinstance(value, str):
            return Leaf(value, leaf.place, split_image(value), "image-name")
        if last == "name" and "volumeMounts" in key:
            renamed = {} if self._is_ours else self._counterparts.volumes
            return Leaf(value, leaf.place, renamed.get(str(value), value), "volume-name")
        if key[1:3] == ("spec", "containers") and len(key) == 5 and last == "name":
            return Leaf(value, leaf.place, key[3] if key[3] == f"[{RUNNER}]" else value, "container-name")
        if key[-2:] in (("add",), ("drop",)) or (last in ("add", "drop") and isinstance(value, list)):
            return Leaf(value, leaf.place, sorted(map(str, value)), "order")  # type: ignore[call-overload]
        if name is not None and self._is_engine_port(key, value, name):
            return Leaf(value, leaf.place, ENGINE_PORT, "port")
        return leaf

    def _is_engine_port(self, key: Key, value: object, name: str) -> bool:
        """Whether a field of an engine's container is its port, by number or by name; or the name of the port."""
        port, last = self._side.engines[name].port, key[-1]
        if key[4] == "ports" and key[5] == f"[{_HTTP}]":
            return (last == "containerPort" and value == port) or (
                last == "name" and (not self._is_ours or value == _HTTP)
            )
        if last == "port" and key[-2] in _PORT_FIELDS:
            ports = maps_at(self._side.container(name), "ports")
            number = next((entry.get("containerPort") for entry in ports if entry.get("name") == value), value)
            return port is not None and number == port
        if key[4] == "env" and key[5].strip("[]") in self._side.engines[name].port_variables:
            return last == "value" and port is not None and port_in(str(value)) == port
        return False

    def _command(self, container: Key, command: ContainerCommand) -> Iterator[tuple[Key, Leaf]]:
        place = (*self._side.place, *container[1:])
        is_known = not self._is_ours or command.starts_preset
        start: object = ("starts", command.backend) if is_known else command.start
        yield (*container, "command"), Leaf(" ".join(command.start), (*place, "command"), start, "start")
        for name, value in command.options.items():
            meaning: object = json_meaning(value)
            rule = "json"
            if name in command.port_options and value == str(command.port):
                meaning, rule = ENGINE_PORT, "port"
            elif (weights := self._weights(name, value, command)) != value:
                meaning, rule = weights, "weights"
            key = (*container, "args", f"{OPTION}{name or 'argument'}")
            yield key, Leaf(value, (*place, "args", name), meaning, rule)

    def _weights(self, name: str, value: str, command: ContainerCommand) -> str:
        """A value with each path of weights, or of a chat template, replaced by what is there; of a model its revision
        beside it.
        """
        template = self._side.chat_template
        if template and value == template.path and name in command.template_options:
            return f"configmap://{template.config_map}/{template.key}"
        source = self._side.weights(value)
        if name == command.model_option and source == value:
            return hub_source(value, command.options.get("--revision", ""))
        return source
