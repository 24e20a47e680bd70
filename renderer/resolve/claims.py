"""Which models a Playground or Service serves, and in which part: the main model first."""

from __future__ import annotations

from renderer.api import App, Inputs, OpenModel
from renderer.problems import Findings, Origin, Path, Stop, guess, quoted
from renderer.records import NamedTuple, quick

_ONE: Path = ("spec", "modelClaim", "modelName")
_ITS_FLAVORS: Path = ("spec", "modelClaim", "inferenceFlavors")
_Named = tuple[str | None, str, Path]  # name, role, where


class Claimed(NamedTuple):
    """One model of the claim; `path` is where the Playground names it."""

    model: OpenModel
    role: str
    path: Path


class Claim(NamedTuple):
    """The models, main first, the others as listed; `main`: the one that labels, names and flavors come from; `flavors`
    as the claim lists them, with where it does; `draft`: whether a model speculates for the main one.
    """

    models: tuple[Claimed, ...]
    main: OpenModel
    flavors: tuple[str, ...]
    flavors_path: Path
    draft: bool = False


_claimed, _claim = quick(Claimed), quick(Claim)


def claim(inputs: Inputs, app: App, found: Findings) -> Claim:
    """The claim. Raises Stop when there is no main model to go on with (reference: llmaz-api.md, sections 3 and 4)."""
    one, several = app.spec.get("modelClaim"), app.spec.get("modelClaims")
    if one is not None and several is not None:
        found.stop("E220", app.origin("spec", "modelClaims", key=True))
    if one is None and several is None:
        field = "modelClaims.models" if app.kind == "Service" else "modelClaim.modelName"
        found.stop("E221", app.origin("spec", key=True), field=field)
    if one is not None:
        names: list[_Named] = [(one.get("modelName"), "main", _ONE)]
        if not names[0][0]:
            found.stop("E222", app.origin(*("spec", "modelClaim", "modelName")[: 3 if "modelName" in one else 2]))
        flavors, path = one.get("inferenceFlavors"), _ITS_FLAVORS
    else:
        names = [
            (each.get("name"), each.get("role", "main"), ("spec", "modelClaims", "models", i, "name"))
            for i, each in enumerate((several or {}).get("models") or ())
        ]
        if not names:
            found.stop("E223", app.origin("spec", "modelClaims"))
        flavors, path = (several or {}).get("inferenceFlavors"), ("spec", "modelClaims", "inferenceFlavors")
        _roles(app, names, found)
    models = [
        _claimed(known, role, where)
        for name, role, where in names
        if (known := inputs.models.get(str(name)) or model(inputs, str(name), app.origin(*where), found)) is not None
    ]
    if len(models) < len(names):
        raise Stop
    draft = False
    if len(models) > 1:
        models.sort(key=lambda each: each.role != "main")
        draft = any(each.role == "draft" for each in models)
    return _claim(tuple(models), models[0].model, tuple(flavors or ()), path, draft)


def _roles(app: App, names: list[_Named], found: Findings) -> None:
    mains = [where for _, role, where in names if role == "main"]
    drafts = [where for _, role, where in names if role == "draft"]
    if not mains:
        found.stop("E224", app.origin("spec", "modelClaims", "models", key=True))
    if len(mains) > 1:
        found.stop("E225", app.origin(*mains[1][:-1]), names=quoted(name for name, role, _ in names if role == "main"))
    if drafts and len(names) != 2:
        found.stop("E226", app.origin(*drafts[-1][:-1]), count=len(names))


def model(inputs: Inputs, name: str, origin: Origin, found: Findings) -> OpenModel | None:
    """The OpenModel of that name; None, and a finding unless it stands in the tree and is only broken."""
    if name in inputs.models:
        return inputs.models[name]
    if not inputs.unreadable and ("OpenModel", name) not in inputs.broken:
        known = [*inputs.models, *(other for kind, other in inputs.broken if kind == "OpenModel")]
        found.add("E203", origin, name=name, hint=guess(name, known, (own.name for own in inputs.own)))
    return None
