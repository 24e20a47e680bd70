"""The models that a Playground or Service claims, with their roles, and its flavors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, cast

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import App, Inputs, OpenModel
from renderer.diagnostics import Collector, Diagnostic, Origin, Path, Stop, make_diagnostic, quoted, suggestion
from renderer.resolve import tasks

if TYPE_CHECKING:
    from renderer.input_types import BackendSpec, FactsSpec

_ONE: Path = ("spec", "modelClaim", "modelName")
_NAME: Path = ("metadata", "name")
_ITS_FLAVORS: Path = ("spec", "modelClaim", "inferenceFlavors")
_Named = tuple[str | None, str, Path]  # name, role, path of the name
MAIN = "main"


class ClaimedModel(Struct, frozen=True):
    """One model of the claim."""

    model: OpenModel
    role: str
    path: Path  # of its name in the app


class Claim(Struct, frozen=True):
    """The models that an app claims."""

    models: tuple[ClaimedModel, ...]  # main ones, then draft, then adapters as listed
    main: OpenModel  # the model of labels, names and flavors: the first main one
    flavors: tuple[str, ...]  # as the claim lists them
    flavors_path: Path  # where it does
    draft: bool = False  # there is a draft model
    adapters: int = 0  # the number of LoRA adapters
    task: str = tasks.CHAT  # of the main model
    mains: int = 1  # the number of main models, which share one server
    loaded: int = 1  # how many of these are in memory at once

    @property
    def served(self) -> tuple[ClaimedModel, ...]:
        """All main models, the first one too."""
        return self.models[: self.mains]

    @property
    def others(self) -> tuple[ClaimedModel, ...]:
        """The main models beside the first one."""
        return self.models[1 : self.mains]

    @property
    def known_gib(self) -> float:
        """The size of all weights that the server loads, as far as facts say it."""
        if len(self.models) == 1:  # as with most
            return _facts(self.main).get("weightsGiB") or 0
        return sum(_facts(entry.model).get("weightsGiB") or 0 for entry in self.models if entry.role != "lora")

    @property
    def largest_gib(self) -> float:
        """The size of the largest of its main models, as far as facts say it."""
        return max(_facts(entry.model).get("weightsGiB") or 0 for entry in self.served)


_ORDER = {"main": 0, "draft": 1, "lora": 2}


def read_claim(inputs: Inputs, app: App, diagnostics: Collector) -> Claim:
    """The claim (docs/design/operator.md#claims). Raises Stop without a main model."""
    named = _named_models(inputs, app, diagnostics)
    models = [
        ClaimedModel(claimed, role, name_path)
        for name, role, name_path in named.models
        if (
            claimed := inputs.models.get(str(name))
            or find_model(inputs, str(name), app.origin(*name_path), diagnostics)
        )
        is not None
    ]
    if len(models) < len(named.models):
        raise Stop
    draft, adapters, mains = False, 0, 1
    if len(models) > 1:
        models.sort(key=lambda entry: _ORDER[entry.role])
        roles = [entry.role for entry in models]
        draft, adapters, mains = "draft" in roles, roles.count("lora"), roles.count(MAIN)
        problems = list(_unfit_adapters(app, models)) if adapters else []
        diagnostics.problems += problems
        if any(problem.code in _UNREADABLE for problem in problems):
            raise Stop
    if "adapter" in (models[0].model.spec.get("facts") or {}):
        what, hint = "an adapter, according to its facts", "claim the base model, and this one with role: lora"
        diagnostics.add("E361", app.origin(*models[0].path), name=models[0].model.name, what=what, hint=hint)
    main = models[0].model
    claim = Claim(tuple(models), main, named.flavors, named.flavors_path, draft, adapters, tasks.task_of(main))
    return claim if mains == 1 else replace(claim, mains=mains, loaded=app.spec["modelClaims"].get("loaded", mains))


class _NamedModels(Struct, frozen=True):
    """What a claim names."""

    models: list[_Named]
    flavors: tuple[str, ...]
    flavors_path: Path


def _named_models(inputs: Inputs, app: App, diagnostics: Collector) -> _NamedModels:
    """What the claim of an app names, by one of two keys. Raises Stop where that is none, or makes no sense."""
    single, claims = app.spec.get("modelClaim"), app.spec.get("modelClaims")
    if single is not None and claims is not None:
        diagnostics.stop("E220", app.origin("spec", "modelClaims", key=True))
    if single is not None:
        name = single.get("modelName")
        if not name:
            diagnostics.stop("E222", app.origin(*(_ONE if "modelName" in single else _ONE[:-1])))
        return _NamedModels([(name, MAIN, _ONE)], tuple(single.get("inferenceFlavors") or ()), _ITS_FLAVORS)
    if claims is None:
        _stop_without_claim(app, diagnostics)
    names: list[_Named] = [
        (entry.get("name"), entry.get("role", MAIN), ("spec", "modelClaims", "models", i, "name"))
        for i, entry in enumerate(claims.get("models") or ())
    ]
    if problem := _impossible_roles(inputs, app, names):
        diagnostics.problems.append(problem)
        raise Stop
    flavors_path = ("spec", "modelClaims", "inferenceFlavors")
    return _NamedModels(names, tuple(claims.get("inferenceFlavors") or ()), flavors_path)


def _stop_without_claim(app: App, diagnostics: Collector) -> NoReturn:
    """Raises Stop, with an error that says how models are claimed."""
    for field, needed in (("modelClaim", "modelName"), ("modelClaims", "models")):
        if app.document.is_empty("spec", field):
            hint = f"write {needed} below it, indented"
            diagnostics.stop("E227", app.origin("spec", field, key=True), word=field, hint=hint)
    field = "modelClaims.models" if app.kind == "Service" else "modelClaim.modelName"
    diagnostics.stop("E221", app.origin("spec", key=True), field=field)


ONE_MAIN = "keep one, and serve the others with Playgrounds of their own"


def _facts(model: OpenModel) -> FactsSpec:
    return model.spec.get("facts") or {}


def _impossible_roles(inputs: Inputs, app: App, names: list[_Named]) -> Diagnostic | None:
    """An error for models that cannot serve together: no main one, several, or a draft beside more than that."""
    if not names:
        return make_diagnostic("E223", app.origin("spec", "modelClaims"))
    mains = [path for _, role, path in names if role == MAIN]
    drafts = [path for _, role, path in names if role == "draft"]
    if not mains:
        return make_diagnostic("E224", app.origin("spec", "modelClaims", "models", key=True))
    if len(mains) > 1:
        listed = [str(name) for name, role, _ in names if role == MAIN]
        adapters = [name for name in listed if name in inputs.models and "adapter" in _facts(inputs.models[name])]
        if adapters or app.kind == "Service":
            hint = f"write role: lora for {quoted(adapters)}" if adapters else ONE_MAIN
            return make_diagnostic("E225", app.origin(*mains[1][:-1]), names=quoted(listed), hint=hint)
    count = len([role for _, role, _ in names if role != "lora"])
    if drafts and count != 2:
        return make_diagnostic("E226", app.origin(*drafts[-1][:-1]), count=count)
    return None


_UNREADABLE = ("E215", "E361")  # about adapters, with which there is no claim


def _unfit_adapters(app: App, models: list[ClaimedModel]) -> Iterator[Diagnostic]:
    """Errors for adapters that are claimed twice, or were trained on another model, and for any in a Service."""
    main, names = models[0].model, {entry.model.name: entry.role for entry in models if entry.role != "lora"}
    main_id = (main.spec["source"].get("modelHub") or {}).get("modelID", "")
    for entry in models:
        if entry.role != "lora":
            continue
        name, origin = entry.model.name, app.origin(*entry.path)
        if app.kind == "Service":
            yield make_diagnostic("E215", app.origin(*entry.path[:-1], "role"))
            return
        if name in names:
            hint = "claim each model once; an adapter is an OpenModel of its own, beside the model that it changes"
            yield make_diagnostic(
                "E361", origin, name=name, what=f"already claimed, with role {names[name]}", hint=hint
            )
            continue
        names.setdefault(name, "lora")
        base = ((entry.model.spec.get("facts") or {}).get("adapter") or {}).get("base", "")
        if base and main_id and base.lower() != main_id.lower():
            yield make_diagnostic("E362", origin, name=name, base=base, main=main.name, id=main_id)


def main_model(inputs: Inputs, app: App) -> OpenModel | None:
    """The main model of an app; None where it is not known, which others tell."""
    name = _single_name(app)
    if not name:
        entries = (app.spec.get("modelClaims") or {}).get("models") or ()
        name = next((entry["name"] for entry in entries if entry.get("role", MAIN) == MAIN), "")
    return inputs.models.get(name) if name else None


def claim_origin(app: App) -> Origin:
    """Where an app claims its models."""
    return app.origin("spec", "modelClaim" if "modelClaim" in app.spec else "modelClaims")


def public_name(model: OpenModel, app: App | None = None) -> str:
    """The public name of an OpenModel: `servedModelName` of the app that serves it, else its own, else its name
    (docs/design/contract.md#served-name).
    """
    return str((app.spec.get("servedModelName") if app else None) or model.spec.get("servedModelName") or model.name)


def public_name_origin(model: OpenModel, app: App | None = None) -> Origin:
    """Where that name is said."""
    if app and "servedModelName" in app.spec:
        return app.origin("spec", "servedModelName")
    return Origin(model.document, ("spec", "servedModelName") if "servedModelName" in model.spec else _NAME)


class NamedEntry(Struct, frozen=True):
    """An entry of a claim whose public name its OpenModel alone says: an adapter, or one of several main models."""

    path: Path  # of its name
    role: str


def named_entries(inputs: Inputs, app: App) -> dict[str, NamedEntry]:
    """Those entries of the claim of an app, by the names of their OpenModels."""
    entries = (app.spec.get("modelClaims") or {}).get("models") or ()
    roles = [entry.get("role", MAIN) for entry in entries]
    named_roles = ("lora", MAIN) if roles.count(MAIN) > 1 else ("lora",)
    return {
        entry["name"]: NamedEntry(("spec", "modelClaims", "models", i, "name"), role)
        for i, (entry, role) in enumerate(zip(entries, roles, strict=True))
        if role in named_roles and entry["name"] in inputs.models
    }


def entry_of(app: App, claimed: ClaimedModel) -> Mapping[str, Any]:
    """The entry of `modelClaims` of a claimed model; an empty one for `modelClaim`."""
    index = claimed.path[3] if len(claimed.path) > 4 else None
    return cast("Mapping[str, Any]", app.spec["modelClaims"]["models"][index]) if isinstance(index, int) else {}


def other_model(app: App, backend: BackendSpec) -> str:
    """The name of the adapter, or of the main model beside the first, to which a backend of a ModelRoute leads in its
    app; '' for the first main model.
    """
    if adapter := backend.get("adapter"):
        return adapter
    name, entries = backend.get("model", ""), (app.spec.get("modelClaims") or {}).get("models") or ()
    mains = [entry["name"] for entry in entries if entry.get("role", MAIN) == MAIN] or [_single_name(app)]
    return "" if name == mains[0] else name


def _single_name(app: App) -> str:
    return (app.spec.get("modelClaim") or {}).get("modelName") or ""


def find_model(inputs: Inputs, name: str, origin: Origin, diagnostics: Collector) -> OpenModel | None:
    """The OpenModel of that name; None, and an error unless the tree has an invalid one of that name."""
    if name in inputs.models:
        return inputs.models[name]
    if not inputs.unreadable and ("OpenModel", name) not in inputs.broken:
        known = [*inputs.models, *(other for kind, other in inputs.broken if kind == "OpenModel")]
        diagnostics.add(
            "E203", origin, name=name, hint=_model_hint(name, known, [own.name for own in inputs.definitions])
        )
    return None


_LETTERS = re.compile("[a-z]+")


def _model_hint(name: str, known: Sequence[str], own: Sequence[str]) -> str:
    """The known model that is meant by a name, else those that are known, `own` and those of the family first. One with
    other digits is another model: of another version or size.
    """
    alike = [other for other in known if _digits(other) == _digits(name)]
    hint = suggestion(name, alike)
    letters = _LETTERS.match(name)
    family = [other for other in known if letters and other.startswith(letters[0])]
    return hint if hint.startswith("did you mean") else suggestion("", known, [*own, *family])


def _digits(name: str) -> str:
    return "".join(filter(str.isdigit, name))
