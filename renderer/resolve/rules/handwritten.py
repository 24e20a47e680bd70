"""Whether a pod that somebody wrote fits what is rendered around it: the ports of its containers, the name that its
engine serves, the folder that it opens, and the port that its hooks ask.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic, rule
from renderer.kubernetes.json_values import map_at, text_at, texts_at, value_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.plan import Body
from renderer.resolve import claims
from renderer.resolve.gateway import task_routes
from renderer.resolve.gateway.settings import gateway_settings
from renderer.resolve.pod.containers import is_empty_dir, running_containers, volume_at, written_volumes
from renderer.resolve.pod.loaders import VOLUME
from renderer.resolve.weight_sources import MODELS_FOLDER
from renderer.resolve.workload.handwritten_pod import TemplatePod, WrittenPod
from renderer.text.suggestions import closest

_LOCAL_PORT = r"(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]):(\d{1,5})(?!\d)"
_CLIENT = re.compile(r"\b(?:curl|wget)\b")
_LOCAL_HOSTS = ("", "localhost", "127.0.0.1", "::1")
# Of sidecars that a mesh adds to a pod: their admin ports, which hooks of others ask to end.
_MESH_PORTS = frozenset((*range(15000, 15100), 3500, 4190, 4191, 9901, 19000))
_MODEL_PATH = rf"(?:^|[=,:\"'\s]){re.escape(MODELS_FOLDER)}([^\s=,:;\"'*?\[\]{{}}]++)(?![*?\[{{])"


@rule(of=TemplatePod)
@rule(of=WrittenPod)
def shared_ports(written: WrittenPod) -> Iterator[Diagnostic]:
    """An error for each port of another container on which the runner listens: they share the pod's network."""
    served: dict[tuple[object, object], Origin | None] = {}
    if (port := written.command.port) is not None:
        served[port, "TCP"] = written.command.ports[-1].origin
    listening = list(running_containers(written.pod))
    for path, container in listening:
        for i, body in enumerate(container.ports if container.name == RUNNER else ()):
            served.setdefault(_key(body), written.origin_of((*path, "ports", i, "containerPort")))
    for path, container in listening:
        for i, body in enumerate(container.ports if container.name != RUNNER else ()):
            origin = written.origin_of((*path, "ports", i, "containerPort"))
            if origin is None or (key := _key(body)) not in served:
                continue
            where = _place(served[key])
            yield make_diagnostic("E262", origin, name=container.name, port=key[0], runner=RUNNER, where=where)


@rule(of=TemplatePod)
@rule(of=WrittenPod)
def other_served_name(written: WrittenPod) -> Iterator[Diagnostic]:
    """A warning where the route asks the engine for another name than it serves."""
    command, context, app = written.command, written.base.context, written.base.app
    if not (written.answers and command.names and all(word.known for word in command.names)):
        return
    if task_routes.app_mode(context.inputs, app, gateway_settings(context, app.namespace)) == "off":
        return
    if any(item.kind == "InferenceModel" for item in context.traffic.get((app.namespace, app.name), ())):
        return  # its targets are names of their own
    main = written.base.claim.main
    name = claims.public_name(main, app)
    if any(name in (word.text, *word.text.split(",")) for word in command.names):
        return
    first, option, where = command.names[0], command.named_by, _place(claims.public_name_origin(main, app))
    name_to_write = name if first.origin.source is app.document else '"{{ .ModelName }}"'  # of all apps of the runtime
    hint = f"add {option} {name_to_write}"
    if not command.unnamed:
        hint = f"write {option} {name_to_write}, or servedModelName: {first.text}"
    yield make_diagnostic("W250", first.origin, served=first.text, name=name, where=where, hint=hint)


@rule(of=TemplatePod)
@rule(of=WrittenPod)
def unfilled_paths(written: WrittenPod) -> Iterator[Diagnostic]:
    """A warning for each path in the folder of models that no loader of the claim fills."""
    base, runner = written.base, written.runner
    paths = [load.weights.root for load in base.pod_needs.loads]
    if runner is None or not paths or not is_empty_dir(written.pod, VOLUME):
        return
    loaders = {container.name for container in written.pod.init_containers[-len(paths) :]}
    if VOLUME in written_volumes(written.pod, loaders):
        return
    for word in written.command.words:
        for match in re.finditer(_MODEL_PATH, word.text) if word.known else ():
            path = posixpath.normpath(MODELS_FOLDER + match[1])
            if volume_at(runner, path) != VOLUME or any(_overlap(path, loaded) for loaded in paths):
                continue
            where = _place(base.app.origin(*base.claim.models[0].path))
            nearest_path = closest(path, paths, 0) or paths[0]
            yield make_diagnostic(
                "W251", word.origin, path=path, loaded=" and ".join(paths), where=where, hint=nearest_path
            )


def _overlap(path: str, other: str) -> bool:
    """Whether one of the paths is the other, or lies in it."""
    return path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/")


@rule(of=TemplatePod)
@rule(of=WrittenPod)
def unanswered_hooks(written: WrittenPod) -> Iterator[Diagnostic]:
    """A warning for each hook that asks a port of the pod on which no container is known to listen: none has it among
    its ports, and none has the number in its command line or environment.
    """
    runner, port = written.runner, written.command.port
    if runner is None or (written.command.ports and port is None) or not (runner.ports or port is not None):
        return
    own: list[object] = [port]
    own_origin: Origin | None = written.command.ports[-1].origin if port is not None else None
    if port is None:
        own = [body["containerPort"] for body in runner.ports]
        index = written.pod.containers.index(runner)
        own_origin = written.origin_of(("spec", "containers", index, "ports", 0, "containerPort"))
    for path, container in running_containers(written.pod):
        for hook, handler in container.lifecycle.items():
            asked_ports = dict(_asked_ports(handler))
            if any(_is_known(number, written) for number in asked_ports):
                continue
            for number, below in asked_ports.items():
                if origin := written.origin_of((*path, "lifecycle", hook, *below)):
                    words = {"hook": hook, "asked": number, "runner": RUNNER, "where": _place(own_origin)}
                    yield make_diagnostic("W252", origin, port=" and ".join(map(str, own)), **words)


def _is_known(number: int, written: WrittenPod) -> bool:
    """Whether a container may listen on a port: its ports, its command line or its environment have the number."""
    if number in _MESH_PORTS or number == written.command.port:
        return True
    whole_number = re.compile(rf"(?<!\d){number}(?!\d)")
    for _, container in running_containers(written.pod):
        if any(body.get("containerPort") == number for body in container.ports):
            return True
        texts = (*container.command, *container.args, *(str(entry.get("value")) for entry in container.env))
        if any(whole_number.search(text) for text in texts):
            return True
    return False


def _asked_ports(handler: object) -> Iterator[tuple[int, Path]]:
    """The ports of its own pod that a hook asks, and where in the hook."""
    request = map_at(handler, "httpGet")
    number = value_at(request, "port")
    if isinstance(number, int) and text_at(request, "host") in _LOCAL_HOSTS:
        yield number, ("httpGet", "port")
    texts = texts_at(handler, "exec", "command")
    if any(_CLIENT.search(text) for text in texts):
        for i, text in enumerate(texts):
            for match in re.finditer(_LOCAL_PORT, text):
                yield int(match[1]), ("exec", "command", i)


def _key(port: Body) -> tuple[object, object]:
    return port.get("containerPort"), port.get("protocol", "TCP")


def _place(origin: Origin | None) -> str:
    """` (file:line)`; '' where there is none."""
    file, line, _ = origin.place if origin else ("", 0, 0)
    return f" ({file}:{line})" if file and line else ""
