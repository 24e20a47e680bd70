"""`spec.disaggregation`: a Playground whose prefill and decode are two workloads (docs/disaggregation.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec.structs import replace

from renderer.api import App
from renderer.diagnostics import Path
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.yamlio import ChangedDocument

if TYPE_CHECKING:
    from renderer.input_types import AppSpec

KEY = "disaggregation"
_ROLES: tuple[Literal["prefill"], Literal["decode"]] = (wellknown.PREFILL, wellknown.DECODE)
_BACKEND = "backendRuntimeConfig"
_REPLACING = ("parallelism", "podTemplate")  # keys of a role that stand in place of the Playground's
_CLAIMS = ("modelClaim", "modelClaims")


def kind(app: App) -> str:
    """What runs the pods of both roles."""
    return str(app.spec["disaggregation"].get("kind", wellknown.LEADER_WORKER_SET))


def app_roles(app: App) -> tuple[App, ...]:
    """The apps of both roles, `<name>-prefill` and `<name>-decode`; the app itself without `spec.disaggregation`."""
    if KEY not in app.spec:
        return (app,)
    return tuple(_role_app(app, role) for role in _ROLES)


def _role_app(app: App, role: Literal["prefill", "decode"]) -> App:
    """The app as this role has it: what the role says is laid over the Playground's spec, in a document that knows
    where each field stands.
    """
    own: Mapping[str, Any] = app.spec["disaggregation"][role] or {}
    place: Path = ("spec", KEY, role)
    spec: dict[str, Any] = {key: value for key, value in app.spec.items() if key != KEY}
    moved: dict[Path, Path] = {}
    if "replicas" in own or "elasticConfig" in own:  # each in place of both
        spec = {key: value for key, value in spec.items() if key not in ("replicas", "elasticConfig")}
    for key in ("replicas", "elasticConfig", *_REPLACING):
        if key in own:
            spec[key], moved["spec", key] = own[key], (*place, key)
    if "inferenceFlavors" in own:
        claim = next(key for key in _CLAIMS if key in spec)
        spec[claim] = {**spec[claim], "inferenceFlavors": own["inferenceFlavors"]}
        moved["spec", claim, "inferenceFlavors"] = (*place, "inferenceFlavors")
    if backend := _role_backend(spec.get(_BACKEND) or {}, own, place, moved):
        spec[_BACKEND] = backend
    document = ChangedDocument(app.document, {**app.document.value, "spec": spec}, moved)
    return replace(
        app,
        name=f"{app.name}-{role}",
        spec=cast("AppSpec", spec),
        document=document,
        variant_of=app.name,
        role=role,
        role_args=len(own.get("args") or ()),
        role_scaler=disaggregated_sets.ROLE_SCALER if kind(app) == disaggregated_sets.KIND else "",
    )


def _role_backend(
    shared: Mapping[str, Any], own: Mapping[str, Any], place: Path, moved: dict[Path, Path]
) -> dict[str, Any]:
    """`backendRuntimeConfig` of a role; where its fields stand is added to `moved`."""
    backend, root = dict(shared), ("spec", _BACKEND)
    if own.get("args"):
        earlier = shared.get("args") or []
        backend["args"] = [*earlier, *own["args"]]
        moved |= {(*root, "args", len(earlier) + i): (*place, "args", i) for i in range(len(own["args"]))}
    if own.get("envs"):
        earlier = shared.get("envs") or []
        index_by_name = {variable["name"]: i for i, variable in enumerate(earlier)}
        envs = [*earlier]
        for i, variable in enumerate(own["envs"]):  # in the Playground's place, which others may refer to
            index = index_by_name.pop(variable["name"], len(envs))
            envs[index : index + 1] = [variable]
            moved[*root, "envs", index] = (*place, "envs", i)
        backend["envs"] = envs
    if own.get("resources"):
        sides = dict(shared.get("resources") or {})
        for side, amounts in own["resources"].items():
            sides[side] = {**(sides.get(side) or {}), **amounts}
            moved |= {(*root, "resources", side, name): (*place, "resources", side, name) for name in amounts}
        backend["resources"] = sides
    if "sharedMemorySize" in own:
        backend["sharedMemorySize"] = own["sharedMemorySize"]
        moved[*root, "sharedMemorySize"] = (*place, "sharedMemorySize")
    return backend
