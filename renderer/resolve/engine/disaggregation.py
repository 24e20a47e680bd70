"""The roles prefill and decode of an engine: `spec.disaggregation` of a Playground (docs/disaggregation.md). How an
engine is told so stands in its preset, as entries of `engine.derived` with the words Role and EnginePort.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path, quoted
from renderer.json_values import map_at
from renderer.plan import Body, Role, Setting
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.engine.dialect import ArgLayer
from renderer.resolve.engine.given_options import given_options, last_given_number
from renderer.resolve.engine.parallelism import Parallelism
from renderer.resolve.flavors import NONE, Accelerator
from renderer.wellknown import DECODE, ENGINE_PORT, PORT
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import DisaggregationSpec

KEY: Path = ("spec", "disaggregation")
_NEGATION = "--no-"
_CLAIMS = ("modelClaim", "modelClaims")
_NOTHING: DisaggregationSpec = {}


def ability(engine: Engine) -> DisaggregationSpec:
    """What the preset says of roles."""
    return engine.spec.get("disaggregation") or _NOTHING


def engine_port(role: str) -> int:
    """The port on which the engine of such a pod listens."""
    return ENGINE_PORT if role == DECODE else PORT


def role_ports(engine: Engine, role: str) -> tuple[Body, ...]:
    """The ports of a runner of this role beside those of requests."""
    ports = ability(engine).get("ports") or ()
    return tuple(
        SharedMap({"name": port["name"], "containerPort": port["port"], "protocol": "TCP"})
        for port in ports
        if port.get("role", role) == role
    )


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
    options = given_options(engine, written)
    takes_arguments = "parallelism" not in app.spec and parallelism.hosts == 1  # else they are errors
    if takes_arguments and options & engine.parallel_options:  # they drop all that follows from the sizes
        tensor = tensor if options & engine.size_options else 1
        pipeline = pipeline if options & engine.pipeline_options else 1
        if number := last_given_number(engine, written, engine.size_options):
            tensor, tensor_origin = number.value, number.origin
        if number := last_given_number(engine, written, engine.pipeline_options):
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
                yield key, Setting(name, value, layer.origin.at(i))


def validate_pair(app: App, prefill: Role, decode: Role, known_attention: bool, diagnostics: Collector) -> None:
    """Errors for two roles that cannot hand KV cache to each other. `known_attention`: the model's facts say that each
    layer has keys and values of its own heads.
    """
    if prefill.vendor != decode.vendor:
        _report_vendors(app, prefill, decode, diagnostics)
        return  # all else follows from that
    sizes = {"prefill": prefill.tensor, "decode": decode.tensor}
    origin = prefill.tensor_origin or decode.tensor_origin or app.origin(*KEY, "prefill", key=True)
    if prefill.tensor_rule == "equal" and prefill.tensor != decode.tensor:
        diagnostics.add("E379", origin, **sizes, hint="give both roles the same size")
    elif prefill.tensor_rule == "prefillAtMostDecode" and prefill.tensor > decode.tensor:
        hint = "give prefill at most the size of decode; more of it by replicas"
        diagnostics.add("E379" if known_attention else "W375", origin, **sizes, hint=hint)
    _validate_pipelines(prefill, decode, diagnostics)
    for option in sorted({*prefill.layout, *decode.layout}):
        settings = prefill.layout.get(option), decode.layout.get(option)
        if (settings[0] and settings[0].text) != (settings[1] and settings[1].text):
            _report_layout(app, *settings, diagnostics)


def _report_vendors(app: App, prefill: Role, decode: Role, diagnostics: Collector) -> None:
    """An error at the flavors of one role, which names the place of the other's."""
    roles = [decode, prefill]  # the one with flavors of its own first
    roles.sort(key=lambda role: not _of_role(app, role.vendor_origin, role.name, "inferenceFlavors"))
    file, line, _ = roles[1].vendor_origin.place
    (role, place), (other, other_place) = ((role.name, place_of(role.vendor)) for role in roles)
    words = {"role": role, "place": place, "other": other, "other_place": other_place}
    diagnostics.add("E380", roles[0].vendor_origin, **words, file=file, line=line)


def place_of(vendor: str) -> str:
    """Where pods run, by the vendor of their accelerators."""
    return f"on {vendor}" if vendor != NONE.vendor else "without an accelerator"


def _validate_pipelines(prefill: Role, decode: Role, diagnostics: Collector) -> None:
    """An error for pipeline parallel sizes between which the engine hands no KV cache over."""
    sizes = {"prefill": prefill.pipeline, "decode": decode.pipeline}
    if prefill.pipeline_rule == "none" and max(sizes.values()) > 1:
        origin = (prefill if prefill.pipeline > 1 else decode).pipeline_origin
        diagnostics.add("E388", origin, **sizes, hint="leave pipeline out, and share the model by tensor")
    elif prefill.pipeline_rule == "decodeEqualOrNone" and decode.pipeline not in (1, prefill.pipeline):
        hint = "leave pipeline out in decode"
        hint += f", or write {prefill.pipeline} there as well" if prefill.pipeline > 1 else ""
        diagnostics.add("E388", decode.pipeline_origin, **sizes, hint=hint)


def _report_layout(app: App, prefill: Setting | None, decode: Setting | None, diagnostics: Collector) -> None:
    """An error at the role's own setting, which names the other one's."""
    settings = [("prefill", prefill), ("decode", decode)]
    own = [(role, setting) for role, setting in settings if setting and _of_role(app, setting.origin, role, "args")]
    role, setting = own[-1] if own else ("decode", decode) if decode else ("prefill", prefill)
    if setting is None:
        return  # unreachable: one of them says it
    other_role, other = next((name, value) for name, value in settings if name != role)
    what = "says nothing of it"
    if other:
        file, line, _ = other.origin.place
        what = f"has {quoted([other.value]) if other.value else other.option}, in {file}:{line}"
    diagnostics.add("E381", setting.origin, given=setting.text, role=role, other=other_role, said=what)


def _of_role(app: App, origin: Origin, role: str, key: str) -> bool:
    """Whether a role itself says this under a key, in the Playground or in a patch of its environment."""
    source, path = origin.behind
    own_source, own_path = app.origin(*KEY, role, key).behind
    return source is own_source and path[: len(own_path)] == own_path
