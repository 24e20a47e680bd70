"""Which models a Playground or Service serves, and in which part: the main model first."""

from __future__ import annotations

from msgspec import Struct

from renderer.api import App, Inputs, OpenModel
from renderer.diagnostics import Collector, Origin, Path, Stop, quoted, suggestion

_ONE: Path = ("spec", "modelClaim", "modelName")
_ITS_FLAVORS: Path = ("spec", "modelClaim", "inferenceFlavors")
_Named = tuple[str | None, str, Path]  # name, role, where


class ClaimedModel(Struct, frozen=True):
    """One model of the claim; `path` is where the Playground names it."""

    model: OpenModel
    role: str
    path: Path


class Claim(Struct, frozen=True):
    """The models, main first, the others as listed; `main`: the one that labels, names and flavors come from; `flavors`
    as the claim lists them, with where it does; `draft`: whether a model speculates for the main one.
    """

    models: tuple[ClaimedModel, ...]
    main: OpenModel
    flavors: tuple[str, ...]
    flavors_path: Path
    draft: bool = False


def claim(inputs: Inputs, app: App, diagnostics: Collector) -> Claim:
    """The claim (docs/design/operator.md#claims). Raises Stop when there is no main model to go on with."""
    one, several = app.spec.get("modelClaim"), app.spec.get("modelClaims")
    if one is not None and several is not None:
        diagnostics.stop("E220", app.origin("spec", "modelClaims", key=True))
    if one is None and several is None:
        field = "modelClaims.models" if app.kind == "Service" else "modelClaim.modelName"
        diagnostics.stop("E221", app.origin("spec", key=True), field=field)
    if one is not None:
        names: list[_Named] = [(one.get("modelName"), "main", _ONE)]
        if not names[0][0]:
            diagnostics.stop("E222", app.origin(*("spec", "modelClaim", "modelName")[: 3 if "modelName" in one else 2]))
        flavors, path = one.get("inferenceFlavors"), _ITS_FLAVORS
    else:
        names = [
            (entry.get("name"), entry.get("role", "main"), ("spec", "modelClaims", "models", i, "name"))
            for i, entry in enumerate((several or {}).get("models") or ())
        ]
        if not names:
            diagnostics.stop("E223", app.origin("spec", "modelClaims"))
        flavors, path = (several or {}).get("inferenceFlavors"), ("spec", "modelClaims", "inferenceFlavors")
        _roles(app, names, diagnostics)
    models = [
        ClaimedModel(known, role, where)
        for name, role, where in names
        if (known := inputs.models.get(str(name)) or model(inputs, str(name), app.origin(*where), diagnostics))
        is not None
    ]
    if len(models) < len(names):
        raise Stop
    draft = False
    if len(models) > 1:
        models.sort(key=lambda entry: entry.role != "main")
        draft = any(entry.role == "draft" for entry in models)
    return Claim(tuple(models), models[0].model, tuple(flavors or ()), path, draft)


def _roles(app: App, names: list[_Named], diagnostics: Collector) -> None:
    mains = [where for _, role, where in names if role == "main"]
    drafts = [where for _, role, where in names if role == "draft"]
    if not mains:
        diagnostics.stop("E224", app.origin("spec", "modelClaims", "models", key=True))
    if len(mains) > 1:
        diagnostics.stop(
            "E225", app.origin(*mains[1][:-1]), names=quoted(name for name, role, _ in names if role == "main")
        )
    if drafts and len(names) != 2:
        diagnostics.stop("E226", app.origin(*drafts[-1][:-1]), count=len(names))


def model(inputs: Inputs, name: str, origin: Origin, diagnostics: Collector) -> OpenModel | None:
    """The OpenModel of that name; None, and a finding unless it stands in the tree and is only broken."""
    if name in inputs.models:
        return inputs.models[name]
    if not inputs.unreadable and ("OpenModel", name) not in inputs.broken:
        known = [*inputs.models, *(other for kind, other in inputs.broken if kind == "OpenModel")]
        diagnostics.add(
            "E203", origin, name=name, hint=suggestion(name, known, (own.name for own in inputs.definitions))
        )
    return None
