"""The engine in a hand-written template as rules about running engines see it (renderer/engines/)."""

from __future__ import annotations

from renderer.engines.container_engine import Surroundings, engine_line, recognise
from renderer.engines.handwritten_command import Word
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.kubernetes.json_values import map_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.resolve.kube import images
from renderer.resolve.workload.handwritten_pod import TemplatePod


def running_service(template_pod: TemplatePod, hosts: int) -> RunningEngine | None:
    """The engine of a Service's template; None where model-runner runs none that is known. `hosts`: pods of a
    replica.
    """
    base, origin = template_pod.base, template_pod.origin
    for i, container in enumerate(template_pod.pod.containers):
        if container.name != RUNNER:
            continue
        at = origin.at("spec", "containers", i)
        command = [Word(word, at.at("command", n)) for n, word in enumerate(container.command)]
        args = [Word(word, at.at("args", n)) for n, word in enumerate(container.args)]
        image = images.original_image(base.context.inputs.config, container.image)
        recognised = recognise(base.context.known_engines, command, args, image)
        if recognised:
            around = Surroundings(
                name=f"container '{RUNNER}' of {base.app.kind} {base.app.namespace}/{base.app.label}",
                limits=map_at(container.resources, "limits"),
                limits_origin=at.at("resources", "limits"),
                hosts=hosts,
            )
            line: EngineLine = engine_line(base.context.known_engines, recognised, around)
            return RunningEngine(
                line=line,
                pod=template_pod.pod,
                container=container,
                path=("spec", "containers", i),
                origin_of=template_pod.origin_of,
            )
    return None
