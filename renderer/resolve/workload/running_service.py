"""The engine in a hand-written template as rules about running engines see it (renderer/engines/)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from renderer.diagnostics import Origin
from renderer.engines.container_engine import (
    Surroundings,
    engine_line,
    known_facts,
    known_model,
    listening_port,
    recognise,
)
from renderer.engines.downloads import download_folder
from renderer.engines.handwritten_command import Word
from renderer.engines.running_engine import EngineLine, RunningEngine
from renderer.kubernetes.json_values import as_text, map_at, maps_at
from renderer.kubernetes.variable_references import as_process_sees, plain_variables
from renderer.kubernetes.wellknown import RUNNER
from renderer.plan import Body, Container
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
        variables = plain_variables({"env": list(container.env)})
        command, args = (
            [Word(as_process_sees(word, variables), at.at(field, n)) for n, word in enumerate(words)]
            for field, words in (("command", container.command), ("args", container.args))
        )
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
                written_variables=partial(_written_variables, template_pod, i),
                cards=partial(base.context.known_engines.cards, template_pod.pod),
                takes_turns=partial(
                    base.context.known_engines.take_turns, map_at(container.resources, "limits"), template_pod.pod
                ),
                weights_folder=partial(download_folder, recognised, _body(container)),
                downloads_to=partial(download_folder, recognised, _body(container)),
                port=partial(listening_port, recognised, {"env": list(container.env), **container.rest}),
                version_origin=partial(template_pod.origin_of, ("spec", "containers", i, "image")),
                facts=partial(known_facts, base.context.known_engines, recognised),
                model=partial(known_model, recognised),
            )
    return None


def _body(container: Container) -> Body:
    """The container as a manifest has it, as far as it says where weights are written."""
    return {"env": list(container.env), "securityContext": container.security_context, **container.rest}


def _written_variables(template_pod: TemplatePod, index: int, prefix: str) -> Iterator[tuple[str, Origin]]:
    """The names of the variables of a container of the template with a prefix, and where."""
    path = ("spec", "containers", index, "env")
    for i, variable in enumerate(maps_at(template_pod.template, *path)):
        if (name := as_text(variable.get("name"))).startswith(prefix):
            yield name, template_pod.origin.at(*path, i, "name")
