"""References between namespaces, and into Secrets; and what autoscalers and pools' companions refer to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from renderer.check.chain.view import GROUPS, Place, View, kind_in, kind_of
from renderer.check.finding import Body, Finding
from renderer.problems import Path

_CORE = '""'  # the API group of Secrets and Services


def granted(view: View, from_kind: str, from_space: str, to: tuple[str, str, str], path: Path) -> Iterator[Finding]:
    """Whether an object may refer to one of another namespace (`to`: kind, namespace, name).

    Where the set holds nothing of that namespace, its grants are somewhere else too: only a note.
    """
    kind, namespace, name = to
    if namespace == from_space or not namespace or not from_space:
        return
    grants = view.once("grants", _grants).get((namespace, from_kind, from_space), ())
    if any(each in ((kind, ""), (kind, name)) for each in grants):
        return
    others = view.outside.others
    if others is not None and not any(True for _ in granted(others, from_kind, from_space, to, path)):
        return
    words = {"from_kind": from_kind, "from_space": from_space, "kind": kind, "namespace": namespace}
    if view.holds(namespace):
        yield (
            "E595",
            path,
            {
                **words,
                "source": f"{{group: {GROUPS[from_kind]}, kind: {from_kind}, namespace: {from_space}}}",
                "target": f"{{group: {GROUPS[kind] or _CORE}, kind: {kind}}}",
            },
        )
    else:
        yield from view.noted("N586", (f"{from_kind} {from_space} {kind}", namespace, ""), path, **words)


def _grants(view: View) -> dict[tuple[str, str, str], list[tuple[str, str]]]:
    """By namespace, and kind and namespace of who refers: kinds and names ('' for all) that may be referred to."""
    made: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for (kind, namespace, _), body in view.objects.items():
        if kind == "ReferenceGrant" and body:
            spec = body["spec"]
            to = [(kind_in(each["group"], each["kind"]), each.get("name") or "") for each in spec["to"]]
            for each in spec["from"]:
                made.setdefault((namespace, kind_in(each["group"], each["kind"]), each["namespace"]), []).extend(to)
    return made


def secret(view: View, place: Place, path: Path, keys: Sequence[str] = ()) -> Iterator[Finding]:
    """A Secret that is not in the set is noted; one that is has these keys."""
    namespace, name = place
    found = view.find("Secret", namespace, name)
    if found is None:
        yield from view.noted("N580", ("Secret", namespace, name), path, kind="Secret", name=name, namespace=namespace)
    elif found:
        held = {**(found.get("data") or {}), **(found.get("stringData") or {})}
        for key in keys:
            if key not in held:
                there = ", ".join(sorted(held)) or "nothing"
                yield "E604", path, {"name": name, "key": key, "there": there}


def weight(found: Body) -> int:
    """Bytes of names and values in a Secret, and 8 more for each of them."""
    import base64  # few runs have a Secret beside them

    plain: Mapping[str, str] = found.get("stringData") or {}
    coded: Mapping[str, str] = found.get("data") or {}
    values = {key: len(base64.b64decode(value + "==")) for key, value in coded.items()}
    values |= {key: len(value.encode()) for key, value in plain.items()}
    return sum(len(key.encode()) + size + 8 for key, size in values.items())


def autoscaler(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """HorizontalPodAutoscaler and ScaledObject: what they scale is there."""
    target = body["spec"].get("scaleTargetRef")
    if target:
        kind = kind_of(target.get("apiVersion", "apps/v1"), target.get("kind", "Deployment"))
        if view.find(kind, namespace, target["name"]) is None:
            yield view.missing(kind, namespace, target["name"], ("spec", "scaleTargetRef", "name"))


def pool_companion(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """InferenceObjective and InferenceModelRewrite: their pool is there. (No schema may have seen them.)"""
    spec = body.get("spec")
    reference: Any = spec.get("poolRef") if isinstance(spec, dict) else None
    if isinstance(reference, dict) and isinstance(reference.get("name"), str):
        group = str(reference.get("group", GROUPS["InferencePool"]))
        kind = kind_in(group, str(reference.get("kind", "InferencePool")))
        if view.find(kind, namespace, reference["name"]) is None:
            yield view.missing(kind, namespace, reference["name"], ("spec", "poolRef", "name"))
