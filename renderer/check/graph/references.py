"""References between namespaces and to Secrets; targets of autoscalers; pools of InferenceObjectives and rewrites."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from renderer.check.finding import Body
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.set_pods import validate_scale_target, validate_whole_target
from renderer.check.graph.view import GROUPS, ObjectView, Place, kind_in, kind_of
from renderer.diagnostics import Finding, Path
from renderer.kubernetes import disaggregated_sets
from renderer.kubernetes.json_values import as_text, map_at, maps_at, text_at

_CORE = '""'  # the API group of Secrets and Services

_STEERING = ("inference.networking.x-k8s.io", "llm-d.ai")  # groups of what tells a picker more
OBJECTIVES = [f"InferenceObjective.{group}" for group in _STEERING]
REWRITES = [f"InferenceModelRewrite.{group}" for group in _STEERING]


def validate_grant(
    view: ObjectView, from_kind: str, from_space: str, to: tuple[str, str, str], path: Path
) -> Iterator[Finding]:
    """A finding where a ReferenceGrant for an object of another namespace is missing (`to`: kind, namespace, name).

    Only a note where the set has no objects of that namespace, since its ReferenceGrants are elsewhere too.
    """
    kind, namespace, name = to
    if namespace == from_space or not namespace or not from_space:
        return
    grants = view.once("grants", _grants).get((namespace, from_kind, from_space), ())
    if any(grant in ((kind, ""), (kind, name)) for grant in grants):
        return
    other_view = view.external.others
    if other_view is not None and not any(True for _ in validate_grant(other_view, from_kind, from_space, to, path)):
        return
    words = {"from_kind": from_kind, "from_space": from_space, "kind": kind, "namespace": namespace}
    if view.holds(namespace):
        yield Finding(
            "E595",
            path,
            {
                **words,
                "source": f"{{group: {GROUPS[from_kind]}, kind: {from_kind}, namespace: {from_space}}}",
                "target": f"{{group: {GROUPS[kind] or _CORE}, kind: {kind}}}",
            },
        )
    else:
        yield from view.note_once("N586", (f"{from_kind} {from_space} {kind}", namespace, ""), path, **words)


def _grants(view: ObjectView) -> dict[tuple[str, str, str], list[tuple[str, str]]]:
    """By namespace, and by kind and namespace of the referring object: kinds and names ('' for all) that may be
    referred to.
    """
    grants: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for (kind, namespace, _), body in view.objects.items():
        if kind == "ReferenceGrant" and body:
            to = [
                (kind_in(target["group"], target["kind"]), text_at(target, "name"))
                for target in maps_at(body, "spec", "to")
            ]
            for source in maps_at(body, "spec", "from"):
                source_kind = kind_in(source["group"], source["kind"])
                grants.setdefault((namespace, source_kind, text_at(source, "namespace")), []).extend(to)
    return grants


def validate_secret(view: ObjectView, place: Place, path: Path, keys: Sequence[str] = ()) -> Iterator[Finding]:
    """A note where the Secret is not in the set; an error for each of the keys that it lacks."""
    namespace, name = place
    body = view.find("Secret", namespace, name)
    if body is None:
        yield from view.unseen("Secret", namespace, name, path)
    elif body:
        data = {**map_at(body, "data"), **map_at(body, "stringData")}
        for key in keys:
            if key not in data:
                present = ", ".join(sorted(data)) or "nothing"
                yield Finding("E604", path, {"name": name, "key": key, "there": present})


def secret_bytes(body: Body) -> int:
    """Bytes of the names and values in a Secret, plus 8 for each entry."""
    import base64  # rarely needed

    data, string_data = map_at(body, "data"), map_at(body, "stringData")
    values = {key: len(base64.b64decode(as_text(value) + "==")) for key, value in data.items()}
    values |= {key: len(as_text(value).encode()) for key, value in string_data.items()}
    return sum(len(key.encode()) + size + 8 for key, size in values.items())


@reference_rules.about("HorizontalPodAutoscaler", "ScaledObject")
def validate_autoscaler(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where the target of a HorizontalPodAutoscaler or ScaledObject does not exist."""
    target = map_at(body, "spec", "scaleTargetRef")
    if target:
        kind = kind_of(target.get("apiVersion", "apps/v1"), target.get("kind", "Deployment"))
        target_name = as_text(target.get("name"))
        if kind == disaggregated_sets.KIND:
            yield from validate_whole_target(target_name)
        elif view.find(kind, namespace, target_name) is None:
            yield from validate_scale_target(view, kind, namespace, target_name)


@reference_rules.about(*OBJECTIVES, *REWRITES)
def validate_pool_companion(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where the pool of an InferenceObjective or InferenceModelRewrite does not exist. These objects may not
    be validated by a schema.
    """
    spec = body.get("spec")
    reference: object = spec.get("poolRef") if isinstance(spec, dict) else None
    if isinstance(reference, dict) and isinstance(reference.get("name"), str):
        group = str(reference.get("group", GROUPS["InferencePool"]))
        kind = kind_in(group, str(reference.get("kind", "InferencePool")))
        if view.find(kind, namespace, reference["name"]) is None:
            yield view.missing(kind, namespace, reference["name"], ("spec", "poolRef", "name"))
