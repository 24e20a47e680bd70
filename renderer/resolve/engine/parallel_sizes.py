"""How the accelerators of a replica share a model, and on how many hosts (docs/parallelism.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from renderer.api import App, OpenModel
from renderer.diagnostics import Collector, Diagnostic, Located, Origin, Stop, make_diagnostic
from renderer.engines.accelerator import Accelerator
from renderer.resolve.flavors import Placement, is_whole_number, param_origin

if TYPE_CHECKING:
    from renderer.input_types import ParallelismSpec

_PARAMS: Mapping[Literal["tensor", "pipeline", "data"], str] = {  # by key of `spec.parallelism`, those of a flavor
    "tensor": "TP",
    "pipeline": "PP",
    "data": "DP",
}
_EXPERT = "EP"
SIZE_WORDS = {"tensor": "TP", "pipeline": "PP", "data": "DP", "expert": _EXPERT}
"""By key of `spec.parallelism`, the word of a preset's templates."""
_SIZES = frozenset([*_PARAMS.values(), _EXPERT])
_SWITCHES = {"true": True, "false": False}


class Parallelism(Struct, frozen=True):
    """The sizes of a replica's parallel groups."""

    tensor: int = 1
    pipeline: int = 1
    data: int = 1
    expert: bool = False  # experts are spread over the ranks
    hosts: int = 1  # pods of a replica
    local_ranks: int = 1  # data parallel ranks of each of these pods

    @property
    def size(self) -> int:
        """The accelerators of a replica."""
        return self.tensor * self.pipeline * self.data


SINGLE = Parallelism()


class _Sizes(Struct, frozen=True):
    """What Playground and flavor say, by key of `spec.parallelism`, and where."""

    numbers: Mapping[str, int]
    origins: Mapping[str, Origin]
    expert: bool


_NOTHING = _Sizes({}, {}, False)


def resolve_parallelism(
    app: App,
    accelerator: Accelerator,
    placement: Placement,
    model: OpenModel,
    diagnostics: Collector,
    *,
    keeps_ranks_whole: bool,
) -> Parallelism:
    """The sizes by `spec.parallelism`, each else by the flavor's params, else by the accelerators of a pod.
    `keeps_ranks_whole`: a data parallel rank of the engine has all of its accelerators in one pod. Raises Stop, with an
    error, where they do not fit together.
    """
    sizes = _read_sizes(app, placement, model, diagnostics)
    numbers, origins = sizes.numbers, sizes.origins
    data, pipeline = numbers.get("data", 1), numbers.get("pipeline", 1)
    if data > 1 and pipeline > 1:
        diagnostics.stop("E344", origins["data"], data=data, pipeline=pipeline, other=_place(origins["pipeline"]))
    count = accelerator.number if accelerator.group else 1
    tensor = numbers.get("tensor", 1 if data > 1 else count)
    in_one_pod = Parallelism(tensor, pipeline, data, sizes.expert, local_ranks=data)
    # Without accelerators a pod counts as one; but TP alone has always been the number of processes in one pod.
    has_no_pods_to_count = not accelerator.resource and "parallelism" not in app.spec and pipeline == data == 1
    if in_one_pod.size <= count or has_no_pods_to_count:
        return in_one_pod
    origin = next(origins[key] for key in ("tensor", "data", "pipeline") if key in origins)
    if accelerator.resource and not accelerator.group:
        diagnostics.stop("E255", origin, size=in_one_pod.size, count=accelerator.number, name=accelerator.resource)
    words = {"factors": factors(in_one_pod), "size": in_one_pod.size, "count": count, "name": accelerator.resource}
    if in_one_pod.size % count:
        limits = _limit_origin(accelerator, placement, model)
        diagnostics.stop("E340", origin, **words, place=_place(limits))
    if data > 1 and keeps_ranks_whole and count % tensor:
        diagnostics.stop("E345", origins.get("tensor", origin), tensor=tensor, count=count, name=accelerator.resource)
    if pipeline > 1 and count % tensor and tensor % count:
        diagnostics.stop("E359", origins.get("tensor", origin), tensor=tensor, count=count)
    hosts = in_one_pod.size // count
    local_ranks = data // hosts if data > 1 and keeps_ranks_whole else 1
    return Parallelism(tensor, pipeline, data, sizes.expert, hosts, local_ranks)


def _read_sizes(app: App, placement: Placement, model: OpenModel, diagnostics: Collector) -> _Sizes:
    """The sizes that Playground and flavor say. Raises Stop where params are no sizes."""
    spec: ParallelismSpec = app.spec.get("parallelism") or {}
    params = placement.params
    if not spec and not (params and (_SIZES & params.keys())):  # as with most
        return _NOTHING
    numbers: dict[str, int] = {}
    origins: dict[str, Origin] = {}
    problem_count = len(diagnostics.problems)
    for key, param in _PARAMS.items():
        if origin := own_size_origin(app, placement, model, key):
            origins[key] = origin
        if key in spec:
            numbers[key] = spec[key]
        elif param in params and _is_size(params[param]):
            numbers[key] = int(params[param])
        elif param in params:
            diagnostics.add("E253", origins[key], name=param, value=params[param][:60])
    expert: bool | None = spec.get("expert", _SWITCHES.get(params.get(_EXPERT, "false").lower()))
    if expert is None:
        diagnostics.add("E346", param_origin(placement, model, _EXPERT), value=params[_EXPERT][:60])
    if len(diagnostics.problems) > problem_count:
        raise Stop
    return _Sizes(numbers, origins, bool(expert))


def _is_size(value: str) -> bool:
    return is_whole_number(value) and int(value) > 0


def invalid_params(params: Mapping[str, str], origins: Located) -> Iterator[Diagnostic]:
    """An error for each param of a flavor that is not the number or switch it has to be. `origins`: the flavor's."""
    for name, value in params.items():
        origin = origins.at("params", name)
        if name == _EXPERT and value.lower() not in _SWITCHES:
            yield make_diagnostic("E346", origin, value=value[:60])
        elif (name in _PARAMS.values() and not _is_size(value)) or (
            name == "MAX-MODEL-LEN" and not is_whole_number(value)
        ):
            yield make_diagnostic("E253", origin, name=name, value=value[:60])


def size_origin(app: App, placement: Placement, model: OpenModel) -> Origin:
    """Where the sizes are said: in `spec.parallelism`, a param of the flavor, else the Playground as a whole."""
    if "parallelism" in app.spec:
        return app.origin("spec", "parallelism")
    param = next((param for param in _PARAMS.values() if param in placement.params), "")
    return param_origin(placement, model, param) if param else app.origin("spec")


def own_size_origin(app: App, placement: Placement, model: OpenModel, *keys: str) -> Origin | None:
    """Where the first of these sizes that somebody says is said, by key of `spec.parallelism`; None where none is."""
    for key in keys:
        if key in (app.spec.get("parallelism") or {}):
            return app.origin("spec", "parallelism", key)
        if SIZE_WORDS[key] in placement.params:
            return param_origin(placement, model, SIZE_WORDS[key])
    return None


def factors(parallelism: Parallelism) -> str:
    """The sizes above 1, as a product."""
    sizes = {"data": parallelism.data, "tensor": parallelism.tensor, "pipeline": parallelism.pipeline}
    return " × ".join(f"{name} {size}" for name, size in sizes.items() if size > 1)


def _limit_origin(accelerator: Accelerator, placement: Placement, model: OpenModel) -> Origin:
    """Where the number of accelerators of a pod is said."""
    origins = placement.origins(model)
    if origins is None:
        return Origin(model.document, ("spec",))
    if accelerator.claimed and placement.claim:
        return placement.claim.origin
    return origins.at("limits", accelerator.resource)


def _place(origin: Origin) -> str:
    file, line, _ = origin.place
    return f"{file}:{line}"
