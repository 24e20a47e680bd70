"""The public names that a namespace may have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from renderer.api import App, ClaimedName, RenderPolicy
from renderer.diagnostics import Origin, Path
from renderer.kubernetes.json_values import maps_at, text_at
from renderer.kubernetes.wellknown import MODEL_HEADER
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.globs import NameGlobs
from renderer.policy.known_objects import AI_GATEWAY_ROUTE, NAMING_ROUTES
from renderer.policy.objects import JudgedObject

EVERY_NAME = "*"


def judge_claimed_names(policy: RenderPolicy, names: Iterable[ClaimedName]) -> Iterator[Denial]:
    """A denial of each public name of a rendered route that its namespace may not have, at the input that asks."""
    for claimed in names:
        if not allows_name(policy, claimed.owner.namespace, claimed.model):
            yield _denial(policy, claimed.owner.namespace, claimed.model, _claim_origin(claimed))


def judge_routes(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each public name that a route written by hand matches."""
    if judged.kind not in NAMING_ROUTES:
        return
    of_models = judged.kind == AI_GATEWAY_ROUTE
    for r, rule in enumerate(maps_at(judged.body, "spec", "rules")):
        matches = maps_at(rule, "matches")
        if not matches and of_models:
            yield from _denials(policy, judged.namespace, EVERY_NAME, judged.origin(("spec", "rules", r)))
        for m, match in enumerate(matches):
            for path, name in _matched_names(match, ("spec", "rules", r, "matches", m), of_models):
                yield from _denials(policy, judged.namespace, name, judged.origin(path))


def _matched_names(match: Mapping[str, object], path: Path, of_models: bool) -> Iterator[tuple[Path, str]]:
    """The public name that a match is about, `*` for any. `of_models`: whether every request there is to a model."""
    headers = [(i, header) for i, header in enumerate(maps_at(match, "headers"))]
    names = [(i, header) for i, header in headers if text_at(header, "name").lower() == MODEL_HEADER]
    for i, header in names:
        exact = text_at(header, "type", default="Exact") == "Exact"
        yield (*path, "headers", i, "value"), text_at(header, "value") if exact else EVERY_NAME
    if not names and of_models:
        yield path, EVERY_NAME


def _denials(policy: RenderPolicy, namespace: str, name: str, origin: Origin) -> Iterator[Denial]:
    if not allows_name(policy, namespace, name):
        yield _denial(policy, namespace, name, origin)


def allows_name(policy: RenderPolicy, namespace: str, name: str) -> bool:
    """Whether a namespace may have a public name; EVERY_NAME for all at once."""
    for namespaces, names in _entries(policy):
        if namespaces.fit(namespace) and (EVERY_NAME in names.globs if name == EVERY_NAME else names.fit(name)):
            return True
    return False


def _denial(policy: RenderPolicy, namespace: str, name: str, origin: Origin) -> Denial:
    what = "may not match every public name" if name == EVERY_NAME else f"may not have the public name '{name}'"
    return name_denial(policy, namespace, origin, what)


def name_denial(policy: RenderPolicy, namespace: str, origin: Origin, what: str, hint: str = "") -> Denial:
    """The denial of what a namespace may not do with public names. `hint`: what it may do instead."""
    allowed = [text for namespaces, names in _entries(policy) if namespaces.fit(namespace) for text in names.globs]
    hint = "; ".join(filter(None, (hint, f"allowed: {quoted_globs(allowed)}")))
    return Denial("E814", origin, ("publicNames",), {"what": what, "namespace": namespace, "hint": hint})


@cache
def _entries(policy: RenderPolicy) -> tuple[tuple[NameGlobs, NameGlobs], ...]:
    """The entries of the policy: globs of namespaces, and of public names."""
    entries = policy.get("publicNames", default=())
    return tuple((NameGlobs(entry["namespaces"]), NameGlobs(entry["names"])) for entry in entries)


def _claim_origin(claimed: ClaimedName) -> Origin:
    """The field of the input by which it has the name."""
    owner = claimed.owner
    if not isinstance(owner, App):
        return owner.origin("spec", "modelName")
    claims = maps_at(owner.spec, "modelClaims", "models")
    for i, entry in enumerate(claims if claimed.entry else ()):
        if entry.get("name") == claimed.entry:
            return owner.origin("spec", "modelClaims", "models", i, "name")
    paths: tuple[Path, ...] = (("servedModelName",), ("modelClaim", "modelName"), ("modelClaims", "models"))
    path = next((path for path in paths if path[0] in owner.spec), None)
    return owner.origin("spec", *path) if path else owner.origin("metadata", "name")
