"""A pod that somebody wrote, whole or in parts, and what its runner's command line says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import Struct

from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path
from renderer.engines.handwritten_command import EngineCommand, Word, read_engine_command
from renderer.kubernetes.wellknown import RUNNER
from renderer.plan import Body, Container, Pod, Scaler
from renderer.resolve import network_policy
from renderer.resolve.kube import api_defaults
from renderer.resolve.pod.service_pod import complete_pod
from renderer.resolve.workload.claimed import AppBase
from renderer.resolve.workload.planned_pod import PlannedPod
from renderer.resolve.workload.written_app import WrittenService

TemplateKey = Literal["leaderTemplate", "workerTemplate"]


class WrittenPod(Struct, frozen=True):
    """A pod and its runner's command line."""

    base: AppBase
    pod: Pod
    command: EngineCommand  # empty where the preset wrote it
    origin_of: Callable[[Path], Origin | None]  # of a field that somebody wrote, by its path in the pod's template
    answers: bool  # requests come to it

    @property
    def runner(self) -> Container | None:
        """The container that serves the model."""
        return next((container for container in self.pod.containers if container.name == RUNNER), None)


class TemplatePod(WrittenPod, frozen=True):
    """A pod of a Service."""

    key: TemplateKey
    template: Mapping[str, Any]  # with API defaults written out
    origin: Origin  # of the template


class ServicePods(Struct, frozen=True):
    """The pods of a Service, and what runs them."""

    written: WrittenService
    base: AppBase
    leader: TemplatePod | None  # None where all pods are alike
    worker: TemplatePod
    claim_templates: tuple[Body, ...]  # of the Service itself
    foreign: Scaler | None  # the autoscaler of somebody else

    @property
    def app(self) -> App:
        """The Service."""
        return self.written.app


def service_pod(written: WrittenService, base: AppBase, key: TemplateKey, diagnostics: Collector) -> TemplatePod:
    """The pod of one template with what the models need."""
    origin = written.origin.at(key)
    normalized = api_defaults.default_pod_template(written.template[key], origin, diagnostics)
    answers = key == "leaderTemplate" or written.template.get("leaderTemplate") is None
    config = written.context.inputs.config
    hosts = int(written.template.get("size") or 1)
    # A NetworkPolicy takes the pods of models by their labels, workers too (docs/pods.md#network-policy).
    is_selected = answers or bool(config.get(*network_policy.SETTING))
    pod = complete_pod(config, base.pod_needs, normalized, answers=answers, with_model_labels=is_selected, hosts=hosts)
    return TemplatePod(
        base=base,
        pod=pod,
        command=_engine_command(pod, origin),
        origin_of=lambda path: origin.at(*path),
        answers=answers,
        key=key,
        template=normalized,
        origin=origin,
    )


def _engine_command(pod: Pod, origin: Origin) -> EngineCommand:
    """The command line of the runner. `origin`: of the pod's template."""
    for i, container in enumerate(pod.containers):
        if container.name == RUNNER:
            at = origin.at("spec", "containers", i)
            command = [Word(text, at.at("command", j)) for j, text in enumerate(container.command)]
            args = [Word(text, at.at("args", j)) for j, text in enumerate(container.args)]
            return read_engine_command(command, args, container.image)
    return EngineCommand()


def patched_pod(planned: PlannedPod) -> WrittenPod | None:
    """The pod of a Playground where a podTemplate, or a runtime without `spec.engine`, wrote some of it; else None."""
    templated = planned.run.engine.templated
    if templated and not planned.app.spec.get("podTemplate"):
        return None
    command = EngineCommand() if templated else runtime_command(planned)
    return WrittenPod(
        planned.run.base, planned.pod, command, lambda path: _patched_field(planned, path), answers=not templated
    )


def _patched_field(planned: PlannedPod, path: Path) -> Origin | None:
    of_runner = path[:3] == ("spec", "containers", 0)
    for length in range(len(path), 4 if of_runner else 2, -1):  # of model-runner a hook, of others the whole
        if origin := planned.patch_origins.get(path[:length]):
            return origin.at(*path[length:])
    if of_runner and path[3] == "lifecycle" and not planned.run.engine.templated:
        return Origin(planned.run.engine.runtime.document, ("spec", *path[3:]))
    return None


def runtime_command(planned: PlannedPod) -> EngineCommand:
    """The command line of the runner where a runtime without `spec.engine` wrote it."""
    runtime, runner = Origin(planned.run.engine.runtime.document, ("spec",)), planned.pod.containers[0]
    command = [Word(text, runtime.at("command", i)) for i, text in enumerate(runner.command)]
    layers = planned.command.layers
    args = [Word(text, layer.origin_of(i)) for layer in layers for i, text in enumerate(layer.args)]
    return read_engine_command(command, args, runner.image)
