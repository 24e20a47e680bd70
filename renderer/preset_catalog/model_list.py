"""The model presets as `llmaz presets list` shows them, all of them or those that somebody looks for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from renderer import load
from renderer.diagnostics import suggestion
from renderer.fit.accelerator_types import AcceleratorType
from renderer.kubernetes.json_values import map_at, text_at
from renderer.load import PresetRefused
from renderer.load.preset_files import accelerator_types
from renderer.preset_catalog.model_fit import fit_of_model, sensible_backend

_ACCELERATORS = re.compile(r"(?:([1-9][0-9]?)x)?(.+)", re.DOTALL)
_UNKNOWN = "–"
_FIGURES = {"task": "kind", "parameters": "parameters", "weightsGiB": "weightsGiB"}  # in JSON, and of `facts`


class ModelSearch(Struct, frozen=True):
    """What somebody looks for; '' for whatever there is."""

    text: str = ""  # a part of the name, of the served name, of the hub id or of the family, whatever its case
    task: str = ""  # `facts.kind`
    fits: str = ""  # a type of accelerators such as a-80g, or several that share each layer, such as 4xa-80g

    @property
    def is_open(self) -> bool:
        """Whether nothing is looked for."""
        return not (self.text or self.task or self.fits)


class ModelListing(Struct, frozen=True):
    """The models that were looked for."""

    text: str  # a line for each
    records: Sequence[Mapping[str, object]]  # the same for programs: what is not known is left out
    unknown: int = 0  # models that may fit too: their facts do not say it


class _Model(Struct, frozen=True):
    """A model preset."""

    name: str
    spec: Mapping[str, object]

    @property
    def source(self) -> str:
        """Where its weights come from: the hub id and the one file of it, or the URI."""
        hub = map_at(self.spec, "source", "modelHub")
        return text_at(self.spec, "source", "uri") or "/".join(
            filter(None, [text_at(hub, "modelID"), text_at(hub, "filename")])
        )

    def fact(self, name: str) -> str:
        """A fact as it is printed."""
        value = map_at(self.spec, "facts").get(name)
        return _UNKNOWN if value is None else str(value)


def model_list(search: ModelSearch) -> ModelListing:
    """A line for each model preset that is looked for: name, task, parameters, size of the weights, source. Raises
    PresetRefused where none is, and for a task or a type that is not known.
    """
    unknown = 0
    models = [_Model(name, load.preset(f"models/{name}").value["spec"]) for name in load.preset_names("models")]
    tasks = sorted({model.fact("kind") for model in models})
    if search.task and search.task not in tasks:
        raise PresetRefused(f"no model is for '{search.task}'; {suggestion(search.task, tasks)}")
    accelerators = _accelerators(search.fits) if search.fits else None
    part = search.text.lower()
    chosen = [
        model
        for model in models
        if part in "\n".join(_names(model)).lower() and search.task in ("", model.fact("kind"))
    ]
    if accelerators:
        answers = [(model, _fits(model, *accelerators)) for model in chosen]
        unknown = sum(fits is None for _, fits in answers)
        chosen = [model for model, fits in answers if fits]
    if not chosen:
        raise PresetRefused("no model preset is like that; llmaz presets list shows all of them")
    return ModelListing(_lines(chosen, tasks), [_record(model) for model in chosen], unknown)


def _record(model: _Model) -> dict[str, object]:
    """What a line says, under names."""
    known = map_at(model.spec, "facts")
    figures = {name: known[key] for name, key in _FIGURES.items() if key in known}
    return {"name": model.name, **figures, "source": model.source}


def _names(model: _Model) -> tuple[str, ...]:
    """By what a model can be searched."""
    return model.name, text_at(model.spec, "servedModelName"), model.source, text_at(model.spec, "familyName")


def _accelerators(word: str) -> tuple[AcceleratorType, int]:
    """The type and the number that a word such as 4xa-80g says. Raises PresetRefused for a type that is not known."""
    types = accelerator_types()
    match = _ACCELERATORS.fullmatch(word)
    count, name = (match[1] or "1", match[2]) if match else ("1", word)
    if name not in types.by_name:
        raise PresetRefused(f"no accelerator type is named '{name}'; {types.hint(name)}")
    return types.by_name[name], int(count)


def _fits(model: _Model, accelerator: AcceleratorType, count: int) -> bool | None:
    """Whether a model fits with its longest context on its sensible backend; None where its facts do not say it."""
    backend = sensible_backend(model.spec)
    try:
        fit = fit_of_model(model.name, model.spec, backend, load.preset(f"backends/{backend}").value["spec"])
    except PresetRefused:
        return None
    return None if fit.missing_fact else fit.fits(accelerator, count)


def _lines(models: Sequence[_Model], tasks: Sequence[str]) -> str:
    """The models in columns."""
    name_width = max(len(model.name) for model in models)
    task_width = max(map(len, tasks))
    lines = []
    for model in models:
        weights = model.fact("weightsGiB")
        size = weights if weights == _UNKNOWN else f"{weights} GiB"
        figures = f"{model.fact('kind'):<{task_width}}  {model.fact('parameters'):>7}  {size:>10}"
        lines.append(f"  {model.name:<{name_width}}  {figures}  {model.source}\n")
    return "".join(lines)
