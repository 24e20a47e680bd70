"""Whether a model fits on accelerators of a type, on a backend as it is shipped, with the options of both."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from renderer import load
from renderer.api import Inputs, OpenModel, RenderOptions
from renderer.diagnostics import RenderError
from renderer.engines.known_engine import build_dialect, length_options, size_options
from renderer.engines.memory import MemorySettings, memory_options, memory_settings
from renderer.fit.accelerator_types import AcceleratorType
from renderer.fit.attention import missing_attention_fact, read_attention
from renderer.fit.verdict import FITS, UNCHECKED, FitQuestion, FitVerdict, judge_fit
from renderer.fit.weights import missing_weights_fact, read_weights
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at, texts_at
from renderer.load import PresetRefused
from renderer.schema_validation import spec_default
from renderer.source import tree

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeSpec

COUNTS = (1, 2, 4, 8, 16)
"""Numbers of accelerators that share each layer."""


class ModelFit(Struct, frozen=True):
    """A model preset on a backend, less the accelerators."""

    name: str
    backend: str
    version: str  # tag of the backend's image
    question: FitQuestion  # of no type of accelerators yet
    missing_fact: str  # key of `spec.facts` without which the weights alone are judged; '' where all is known
    divides_experts: bool = False  # each accelerator has a part of each expert, which FP8 weights allow by blocks alone

    def verdict(self, accelerator: AcceleratorType, count: int) -> FitVerdict | None:
        """The answer for so many accelerators that share each layer; None where they cannot share the heads alike."""
        if self.question.heads % count:
            return None
        settings = replace(self.question.settings, tensor=count)
        return judge_fit(replace(self.question, accelerator=accelerator, settings=settings))

    def smallest_count(self, accelerator: AcceleratorType) -> int:
        """The least of COUNTS on which weights and a request of the longest context fit for certain; 0 for none."""
        return next((count for count in COUNTS if self.fits(accelerator, count)), 0)

    def fits(self, accelerator: AcceleratorType, count: int) -> bool:
        """Whether weights and a request of the longest context fit for certain."""
        verdict = None if self.missing_fact else self.verdict(accelerator, count)
        return verdict is not None and verdict.kind == FITS


def model_fit(name: str, backend: str = "") -> ModelFit:
    """The model `name` of the tree around the current folder, or the preset, with its longest context, on a backend;
    '': that of Playgrounds that name none, or the first that the model has settings for where that one is not among
    them. Raises PresetRefused for a name that is not known, for a model whose weights nobody knows, and for a backend
    that says nothing of memory; RenderError for an OpenModel of that name that is broken.
    """
    model_name, preset_paths = name.removeprefix("models/"), load.preset_paths()
    is_alone = f"models/{model_name}" in preset_paths and not tree.base_of((os.getcwd(),))[1]  # no llmaz.yaml around
    inputs = None if is_alone else _read_tree(model_name)
    own_models = {own.name: own for own in inputs.definitions if isinstance(own, OpenModel)} if inputs else {}
    model: Mapping[str, object]
    if model_name in own_models:
        model = own_models[model_name].spec
    else:
        path = load.find_preset(name, [*preset_paths, *(f"models/{own}" for own in own_models)])
        if not path.startswith("models/"):
            raise PresetRefused(f"'{name}' is not a model")
        model_name, model = path.partition("/")[2], map_at(load.preset(path).value, "spec")
    backend = backend or sensible_backend(model)
    if inputs and backend in inputs.runtimes:
        return fit_of_model(model_name, model, backend, inputs.runtimes[backend].spec)
    if backend not in load.preset_names("backends"):
        raise PresetRefused(f"no backend is named '{backend}'")
    return fit_of_model(model_name, model, backend, load.preset(f"backends/{backend}").value["spec"])


def _read_tree(name: str) -> Inputs:
    """The input around the current folder. Raises RenderError where the OpenModel `name` may be in it, but broken."""
    inputs, problems = load.inputs(load.scope(RenderOptions(allow_empty=True)))
    if ("OpenModel", name) in inputs.broken or (inputs.unreadable and name not in inputs.models):
        raise RenderError([problem for problem in problems if problem.forbids()])
    return inputs


def fit_of_model(name: str, model: Mapping[str, object], backend: str, runtime: BackendRuntimeSpec) -> ModelFit:
    """The same for the specs of a model and of a backend."""
    facts, memory = map_at(model, "facts"), map_at(runtime, "engine", "memory")
    weights = read_weights(facts)
    if memory.get("offload") == "automatic":
        missing = f"the size of its weights is not known: facts.{missing_weights_fact(facts)} is missing"
        size = f"its weights take {weights.gib:.1f} GiB" if weights else missing
        raise PresetRefused(f"'{backend}' puts on the CPU what does not fit, so '{name}' has no least number; {size}")
    own = map_at(model, "engines", backend)
    settings = _settings(runtime, texts_at(own, "args"))
    if settings is None:
        raise PresetRefused(f"'{backend}' says nothing of what it leaves for the KV cache")
    if weights is None:
        raise PresetRefused(f"{name}: {UNCHECKED}: facts.{missing_weights_fact(facts)} is missing")
    longest = number_at(own, "maxModelLen") or number_at(facts, "contextLength")
    question = FitQuestion(
        AcceleratorType("", "", 0),
        settings.budget,
        weights,
        settings.cache,
        read_attention(facts),
        0 if settings.length is None else settings.length or int(longest),
        int(number_at(facts, "attention", "heads")),
        width=int(number_at(facts, "attention", "hiddenSize")),
        step=settings.step,
    )
    return ModelFit(
        name,
        backend,
        text_at(runtime, "version"),
        question,
        missing_attention_fact(facts) or ("" if question.length else "contextLength"),
        _divides_experts(model),
    )


def _divides_experts(model: Mapping[str, object]) -> bool:
    """Whether a mixture of experts is stored as FP8, and no flavor of it spreads whole experts."""
    facts, flavors = map_at(model, "facts"), maps_at(model, "inferenceConfig", "flavors")
    is_fp8 = "fp8" in (text_at(facts, "quantization").lower(), text_at(facts, "precision").lower())
    return is_fp8 and "activeParameters" in facts and not any("EP" in map_at(flavor, "params") for flavor in flavors)


def sensible_backend(model: Mapping[str, object]) -> str:
    """The backend that runs a model where nobody names one."""
    default = str(spec_default("Playground", "backendRuntimeConfig", "backendName"))
    engines = list(map_at(model, "engines"))
    return default if default in engines or not engines else engines[0]


def _settings(runtime: BackendRuntimeSpec, args: list[str]) -> MemorySettings | None:
    """What the options of a model preset say of the memory; None where it, or the backend, says nothing of it."""
    engine_spec, style = runtime.get("engine") or {}, build_dialect(runtime, None)
    lengths, sizes = length_options(style, engine_spec), size_options(style, engine_spec)
    options = memory_options(style, engine_spec, lengths, sizes)
    return memory_settings(options, style, args, tensor=1, pipeline=1) if options else None
