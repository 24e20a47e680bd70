"""The models that a Playground or Service claims, with their roles, and its flavors."""

from __future__ import annotations

from msgspec import Struct

from renderer.api import App, Inputs, OpenModel
from renderer.diagnostics import Collector, Origin, Path, Stop, quoted, suggestion

_ONE: Path = ("spec", "modelClaim", "modelName")
_ITS_FLAVORS: Path = ("spec", "modelClaim", "inferenceFlavors")
_Named = tuple[str | None, str, Path]  # name, role, path of the name


class ClaimedModel(Struct, frozen=True):
    """One model of the claim. `path`: of its name in the app."""

    model: OpenModel
    role: str
    path: Path


class Claim(Struct, frozen=True):
    """The models: main, then draft, then adapters as listed. `main`: the model of labels, names and flavors; `flavors`:
    as the claim lists them, at `flavors_path`; `draft`: whether there is a draft model; `adapters`: the number of LoRA
    adapters.
    """

    models: tuple[ClaimedModel, ...]
    main: OpenModel
    flavors: tuple[str, ...]
    flavors_path: Path
    draft: bool = False
    adapters: int = 0


_ORDER = {"main": 0, "draft": 1, "lora": 2}


def read_claim(inputs: Inputs, app: App, diagnostics: Collector) -> Claim:
    """The claim (docs/design/operator.md#claims). Raises Stop without a main model."""
    single, claims = app.spec.get("modelClaim"), app.spec.get("modelClaims")
    if single is not None and claims is not None:
        diagnostics.stop("E220", app.origin("spec", "modelClaims", key=True))
    if single is None and claims is None:
        for field, needed in (("modelClaim", "modelName"), ("modelClaims", "models")):
            if app.document.is_empty("spec", field):
                hint = f"write {needed} below it, further to the right"
                diagnostics.stop("E227", app.origin("spec", field, key=True), word=field, hint=hint)
        field = "modelClaims.models" if app.kind == "Service" else "modelClaim.modelName"
        diagnostics.stop("E221", app.origin("spec", key=True), field=field)
    if single is not None:
        names: list[_Named] = [(single.get("modelName"), "main", _ONE)]
        if not names[0][0]:
            diagnostics.stop("E222", app.origin(*(_ONE if "modelName" in single else _ONE[:-1])))
        flavors, path = single.get("inferenceFlavors"), _ITS_FLAVORS
    else:
        names = [
            (entry.get("name"), entry.get("role", "main"), ("spec", "modelClaims", "models", i, "name"))
            for i, entry in enumerate((claims or {}).get("models") or ())
        ]
        if not names:
            diagnostics.stop("E223", app.origin("spec", "modelClaims"))
        flavors, path = (claims or {}).get("inferenceFlavors"), ("spec", "modelClaims", "inferenceFlavors")
        _validate_roles(app, names, diagnostics)
    models = [
        ClaimedModel(claimed, role, name_path)
        for name, role, name_path in names
        if (
            claimed := inputs.models.get(str(name))
            or find_model(inputs, str(name), app.origin(*name_path), diagnostics)
        )
        is not None
    ]
    if len(models) < len(names):
        raise Stop
    draft, adapters = False, 0
    if len(models) > 1:
        models.sort(key=lambda entry: _ORDER[entry.role])
        roles = [entry.role for entry in models]
        draft, adapters = "draft" in roles, roles.count("lora")
        if adapters:
            _validate_adapters(app, models, diagnostics)
    if "adapter" in (models[0].model.spec.get("facts") or {}):
        what, hint = "an adapter, as its facts say", "claim the model that it was trained on, and this with role: lora"
        diagnostics.add("E361", app.origin(*models[0].path), name=models[0].model.name, what=what, hint=hint)
    return Claim(tuple(models), models[0].model, tuple(flavors or ()), path, draft, adapters)


def _validate_roles(app: App, names: list[_Named], diagnostics: Collector) -> None:
    mains = [where for _, role, where in names if role == "main"]
    drafts = [where for _, role, where in names if role == "draft"]
    if not mains:
        diagnostics.stop("E224", app.origin("spec", "modelClaims", "models", key=True))
    if len(mains) > 1:
        diagnostics.stop(
            "E225", app.origin(*mains[1][:-1]), names=quoted(name for name, role, _ in names if role == "main")
        )
    count = len([role for _, role, _ in names if role != "lora"])
    if drafts and count != 2:
        diagnostics.stop("E226", app.origin(*drafts[-1][:-1]), count=count)


def _validate_adapters(app: App, models: list[ClaimedModel], diagnostics: Collector) -> None:
    """Errors for adapters that are claimed twice, or were trained on another model; Stop in a Service."""
    main, names = models[0].model, {entry.model.name: entry.role for entry in models if entry.role != "lora"}
    repeated = False
    main_id = (main.spec["source"].get("modelHub") or {}).get("modelID", "")
    for entry in models:
        if entry.role != "lora":
            continue
        name, origin = entry.model.name, app.origin(*entry.path)
        if app.kind == "Service":
            diagnostics.stop("E215", app.origin(*entry.path[:-1], "role"))
        if name in names:
            hint = "claim each model once; an adapter is an OpenModel of its own, beside the model that it changes"
            diagnostics.add("E361", origin, name=name, what=f"claimed already, with role {names[name]}", hint=hint)
            repeated = True
            continue
        names.setdefault(name, "lora")
        base = ((entry.model.spec.get("facts") or {}).get("adapter") or {}).get("base", "")
        if base and main_id and base.lower() != main_id.lower():
            diagnostics.add("E362", origin, name=name, base=base, main=main.name, id=main_id)
    if repeated:
        raise Stop


def public_name(model: OpenModel) -> str:
    """The public name of an OpenModel where no app says another."""
    return str(model.spec.get("servedModelName") or model.name)


def claimed_adapters(inputs: Inputs, app: App) -> dict[str, Path]:
    """By the name of its OpenModel, the path of each adapter in the claim of an app."""
    entries = (app.spec.get("modelClaims") or {}).get("models") or ()
    return {
        entry["name"]: ("spec", "modelClaims", "models", i, "name")
        for i, entry in enumerate(entries)
        if entry.get("role") == "lora" and entry["name"] in inputs.models
    }


def find_model(inputs: Inputs, name: str, origin: Origin, diagnostics: Collector) -> OpenModel | None:
    """The OpenModel of that name; None, and an error unless the tree has an invalid one of that name."""
    if name in inputs.models:
        return inputs.models[name]
    if not inputs.unreadable and ("OpenModel", name) not in inputs.broken:
        known = [*inputs.models, *(other for kind, other in inputs.broken if kind == "OpenModel")]
        diagnostics.add(
            "E203", origin, name=name, hint=suggestion(name, known, (own.name for own in inputs.definitions))
        )
    return None
