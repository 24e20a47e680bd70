"""Foreign objects that lead to models which only some tenants may call, past the authorization of their own routes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from renderer.api import ClaimedName, Inputs
from renderer.check.foreign.objects import ForeignObject, OwnObjects, describe
from renderer.check.graph import ObjectView, declared_objects
from renderer.check.graph.guarded_models import (
    ROUTES,
    GuardedModel,
    GuardedPods,
    route_policies,
    validate_guard,
    validate_patterns,
)
from renderer.check.graph.view import Key
from renderer.diagnostics import Finding
from renderer.kubernetes import wellknown

_LEADING = ("AIServiceBackend", "Backend", "InferencePool", "Service")
_KINDS = (*ROUTES, "Service", "ReferenceGrant")
# The errors in place of warnings about files that are written, since they are passed through.
_PASSED = {"W672": "E672", "W673": "E673", "W674": "E674"}


def validate_guarded_models(
    objects: Sequence[ForeignObject], judged: Sequence[ForeignObject], rendered: OwnObjects, inputs: Inputs
) -> Iterator[tuple[ForeignObject, Finding]]:
    """A finding for each object that opens a model with spec.gateway.allow to others: an error where its file is passed
    through, since it is written then. `judged`: the objects that a schema finds valid.
    """
    guards = {
        place: GuardedModel(app.name, f"spec.gateway.allow of {describe(app)}", frozenset(map(str, allow)))
        for place, app in rendered.apps.items()
        if (allow := (app.spec.get("gateway") or {}).get("allow"))
    }
    candidates = [foreign for foreign in objects if foreign.key[0] in _KINDS] if guards else []
    if not candidates:
        return
    external = declared_objects(inputs.config)
    view = ObjectView([foreign.body for foreign in objects], external)
    known = ObjectView([foreign.body for foreign in judged], replace(external, present=frozenset(rendered.objects)))
    pods = _guarded_pods(guards, rendered, view)
    policies = route_policies(known)
    for foreign in candidates:
        kind, *place = foreign.key
        for finding in validate_guard(pods, policies, kind, foreign.body, (place[0], place[1])):
            yield foreign, replace(finding, code=_PASSED[finding.code]) if foreign.passed else finding


def _guarded_pods(
    guards: Mapping[tuple[str, str], GuardedModel], rendered: OwnObjects, view: ObjectView
) -> GuardedPods:
    """What is rendered for guarded models."""
    objects: dict[Key, GuardedModel] = {}
    labels: dict[str, list[tuple[Mapping[str, object], GuardedModel]]] = {}
    for key, own in rendered.objects.items():
        if not (guard := guards.get((own.owner[1], own.owner[2]))):
            continue
        if key[0] in _LEADING:
            objects[key] = guard
        elif key[0] == wellknown.LEADER_WORKER_SET:
            objects["Service", key[1], key[2]] = guard  # LeaderWorkerSet makes one of its own name
        labels.setdefault(key[1], []).extend((pod_labels, guard) for pod_labels in own.pods)
    return GuardedPods(objects, labels, view.find, view.external.domain)


def validate_name_patterns(
    objects: Sequence[ForeignObject], names: Sequence[ClaimedName]
) -> Iterator[tuple[ForeignObject, Finding]]:
    """A finding for each regular expression of a route that matches public names which rendered routes of the same
    Gateway have.
    """
    by_gateway: dict[tuple[str, str], set[str]] = {}
    for name in names:
        by_gateway.setdefault(name.gateway, set()).add(name.model)
    for foreign in objects:
        if foreign.key[0] in ROUTES:
            for finding in validate_patterns(foreign.body, foreign.key[1], by_gateway):
                yield foreign, finding
