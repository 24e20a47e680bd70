"""Foreign objects that are rendered too, or that do the work of rendered ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.api import App, ClaimedName
from renderer.check.finding import Body, IndexedFinding
from renderer.check.foreign.objects import CREATED_KINDS, ForeignObject, OwnObjects, describe, target_kind
from renderer.check.graph.listener_admission import hostnames_overlap
from renderer.check.graph.route_matches import RouteMatch, route_matches
from renderer.check.graph.view import ExternalObjects, ObjectView
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import map_at, maps_at, text_at

# By kind, the kind of rendered objects whose controller makes objects of this kind, of the same name.
_MAKERS = {kind: maker for maker, kinds in CREATED_KINDS.items() for kind in kinds}
# By kind of a rendered policy, the fields that make one.
_POLICY_FIELDS = {
    "SecurityPolicy": "allow",
    "BackendTrafficPolicy": "timeouts.streamIdle, retries and tokenLimits",
}
_ROUTING = ("AIGatewayRoute", "AIServiceBackend", "Backend", *_POLICY_FIELDS)
_ROUTES = ("AIGatewayRoute", "HTTPRoute")


def validate_same_object(foreign: ForeignObject, rendered: OwnObjects) -> Iterator[Finding]:
    """A finding where the object is rendered too, or made by the controller of one that is."""
    kind, namespace, name = foreign.key
    path = ("metadata", "name")
    if same := rendered.objects.get(foreign.key):
        item = rendered.input_of(same)
        hint = "delete this one, or rename one of the two"
        if kind in _ROUTING and isinstance(item, App):
            hint = f"delete this one, or set spec.gateway.mode: off in the {item.kind}, and no route is rendered"
        words = {"owner": rendered.owner(same), "kind": foreign.kind, "hint": hint}
        yield Finding("E211" if foreign.passed else "W260", path, words)
    elif maker := rendered.objects.get((_MAKERS.get(kind, ""), namespace, name)):
        yield Finding("W261", path, {"owner": rendered.owner(maker), "maker": maker.key[0], "name": name, "kind": kind})


def validate_policy_targets(foreign: ForeignObject, rendered: OwnObjects) -> Iterator[Finding]:
    """A finding for each target of a policy that a rendered policy of its kind has too."""
    kind, namespace, _ = foreign.key
    spec = map_at(foreign.body, "spec")
    places: list[tuple[Path, Body]] = [(("spec", "targetRef"), map_at(spec, "targetRef"))]
    places += [(("spec", "targetRefs", i), reference) for i, reference in enumerate(maps_at(spec, "targetRefs"))]
    for path, reference in places:
        name = text_at(reference, "name")
        rival = rendered.acting.get((kind, (target_kind(reference), namespace, name)))
        if kind.endswith("Policy") and rival and "sectionName" not in reference:
            fields = _POLICY_FIELDS.get(kind)
            leave = f", or leave {fields} out there and in RenderConfig, and set it here" if fields else ""
            words = {"owner": rendered.owner(rival), "kind": kind, "target": text_at(reference, "kind"), "name": name}
            yield Finding("W266", (*path, "name"), {**words, "hint": f"delete this one{leave}"})


def validate_public_names(objects: Sequence[ForeignObject], names: Sequence[ClaimedName]) -> Iterator[IndexedFinding]:
    """A finding for each match of a route, of the objects given, on a public name that a rendered route has too, on the
    same Gateway and host.
    """
    claims: dict[tuple[tuple[str, str], str], list[ClaimedName]] = {}
    for name in names:
        claims.setdefault((name.gateway, name.model), []).append(name)
    view = ObjectView([foreign.body for foreign in objects], ExternalObjects())
    for match in route_matches(view, _ROUTES):
        for claim in claims.get((match.gateway, match.model), ()):
            if _share_host(match, claim):
                words = {"owner": describe(claim.owner), "model": match.model, "gateway": "/".join(match.gateway)}
                kind = claim.owner.kind
                field = "spec.servedModelName" if isinstance(claim.owner, App) else "spec.modelName"
                off = f", or set spec.gateway.mode: off in the {kind}" if isinstance(claim.owner, App) else ""
                named = f"OpenModel '{claim.entry}'" if claim.entry else kind
                hint = f"match another name here, or give the {named} another {field}{off}"
                yield match.index, Finding("W267", match.path, {**words, "hint": hint})
                break


def _share_host(match: RouteMatch, claim: ClaimedName) -> bool:
    """Whether a request can match both."""
    if not match.hostnames or not claim.hostnames:
        return True
    return any(hostnames_overlap(host, other) for host in match.hostnames for other in claim.hostnames)
