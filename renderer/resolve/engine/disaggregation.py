"""The roles prefill and decode of an engine: `spec.disaggregation` of a Playground (docs/disaggregation.md). How an
engine is told so stands in its preset, as entries of `engine.derived` with the words Role and EnginePort.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from renderer.api import App
from renderer.diagnostics import Origin, Path
from renderer.engines.accelerator import NONE, Accelerator
from renderer.engines.dialect import ArgLayer
from renderer.engines.given_options import given_options, last_given_number
from renderer.kubernetes.json_values import map_at
from renderer.plan import Body, Role, Setting
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.parallel_sizes import Parallelism
from renderer.resolve.engine.ports import container_port

if TYPE_CHECKING:
    from renderer.input_types import DisaggregationSpec

KEY: Path = ("spec", "disaggregation")
_NEGATION = "--no-"
_CLAIMS = ("modelClaim", "modelClaims")
_NOTHING: DisaggregationSpec = {}


def ability(engine: Engine) -> DisaggregationSpec:
    """What the preset says of roles."""
    return engine.spec.get("disaggregation") or _NOTHING


def role_ports(engine: Engine, role: str) -> tuple[Body, ...]:
    """The ports of a runner of this role beside those of requests."""
    ports = ability(engine).get("ports") or ()
    return tuple(container_port(port["name"], port["port"]) for port in ports if port.get("role", role) == role)


def plan_role(
    engine: Engine,
    app: App,
    accelerator: Accelerator,
    parallelism: Parallelism,
    pipeline_origin: Origin,
    layers: Sequence[ArgLayer],
) -> Role:
    """The role of a workload. `pipeline_origin`: of its pipeline parallel size, where no argument says it; `layers`: of
    its command line.
    """
    abilities = ability(engine)
    tensor, pipeline = parallelism.tensor, parallelism.pipeline
    tensor_origin: Origin | None = None
    written = [layer for layer in layers if not layer.group]  # those that follow from the sizes have one
    options = given_options(engine.style, written)
    takes_arguments = "parallelism" not in app.spec and parallelism.hosts == 1  # else they are errors
    if takes_arguments and options & engine.parallel_options:  # they drop all that follows from the sizes
        tensor = tensor if options & engine.size_options else 1
        pipeline = pipeline if options & engine.pipeline_options else 1
        if number := last_given_number(engine.style, written, engine.size_options):
            tensor, tensor_origin = number.value, number.origin
        if number := last_given_number(engine.style, written, engine.pipeline_options):
            pipeline, pipeline_origin = number.value, number.origin
    return Role(
        name=app.role,
        connector=abilities.get("connector", ""),
        tensor=tensor,
        tensor_rule=abilities.get("tensor", ""),
        tensor_origin=tensor_origin,
        pipeline=pipeline,
        pipeline_rule=abilities.get("pipeline", ""),
        pipeline_origin=pipeline_origin,
        vendor=accelerator.vendor,
        vendor_origin=flavors_origin(app),
        layout=dict(_layout(engine, abilities.get("sameOptions") or (), layers)),
    )


def flavors_origin(app: App) -> Origin:
    """Where the flavors of a role are said, else the claim that leaves them to the model."""
    claim = next(key for key in _CLAIMS if key in app.spec)
    return app.origin("spec", claim, *(("inferenceFlavors",) if "inferenceFlavors" in map_at(app.spec, claim) else ()))


def _layout(engine: Engine, options: Sequence[str], layers: Sequence[ArgLayer]) -> Iterator[tuple[str, Setting]]:
    """By option, of a flag and its negation by the flag, what the last layer that gives it says."""
    names = {engine.style.name(option) for option in options}
    for layer in layers:
        for i, token in enumerate(layer.args):
            if (name := engine.style.name(token)) in names:
                _, glued, value = token.partition("=")
                following = layer.args[i + 1 : i + 2]
                if not glued and following and not engine.style.is_option(following[0]):
                    value = following[0]
                flag = "--" + name.removeprefix(_NEGATION)
                key = flag if name.startswith(_NEGATION) and flag in names else name
                yield key, Setting(name, value, layer.origin_of(i))


def place_of(vendor: str) -> str:
    """Where pods run, by the vendor of their accelerators."""
    return f"on {vendor}" if vendor != NONE.vendor else "without an accelerator"
