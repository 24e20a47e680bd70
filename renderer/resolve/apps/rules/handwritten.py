"""Whether what podTemplate, and a runtime without `spec.engine`, say of ports, names and folders fits the rest."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, Origin, Path
from renderer.resolve.apps import handwritten_engine
from renderer.resolve.apps.planned_pod import PlannedPod
from renderer.resolve.engine.engine_command import EngineCommand, Word, read_engine_command


def misfit(planned: PlannedPod) -> Iterator[Diagnostic]:
    """What of the pod that somebody wrote does not fit what is rendered around it."""
    run, base, app = planned.run, planned.run.base, planned.app
    if run.engine.templated and not app.spec.get("podTemplate"):
        return
    command = EngineCommand() if run.engine.templated else _written_command(planned)
    written = handwritten_engine.WrittenPod(planned.pod, command, lambda path: _origin_of(planned, path))
    yield from handwritten_engine.validate_ports(written)
    yield from handwritten_engine.validate_hooks(written)
    if not run.engine.templated:
        yield from handwritten_engine.validate_model_paths(app, base, written)
        yield from handwritten_engine.validate_served_name(base.context, app, base, command)


def _origin_of(planned: PlannedPod, path: Path) -> Origin | None:
    of_runner = path[:3] == ("spec", "containers", 0)
    for length in range(len(path), 4 if of_runner else 2, -1):  # of model-runner a hook, of others the whole
        if origin := planned.patch_origins.get(path[:length]):
            return origin.at(*path[length:])
    if of_runner and path[3] == "lifecycle" and not planned.run.engine.templated:
        return Origin(planned.run.engine.runtime.document, ("spec", *path[3:]))
    return None


def _written_command(planned: PlannedPod) -> EngineCommand:
    runtime, runner = Origin(planned.run.engine.runtime.document, ("spec",)), planned.pod.containers[0]
    command = [Word(text, runtime.at("command", i)) for i, text in enumerate(runner.command)]
    layers = planned.command.layers
    args = [Word(text, layer.origin.at(i)) for layer in layers for i, text in enumerate(layer.args)]
    return read_engine_command(command, args, runner.image)
