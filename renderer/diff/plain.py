"""A difference in JSON, for other programs."""

from __future__ import annotations

from typing import Any

from renderer import escapes
from renderer.diff.comparing import Altered, Diff
from renderer.diff.fields import ABSENT, Change
from renderer.diff.gpus import Gpus
from renderer.diff.models import Model, ModelChange
from renderer.diff.objects import Key
from renderer.diff.words import sides


def plain(diff: Diff, environment: str = "") -> str:
    """JSON: whether anything differs; models, gpus, traffic, risks, objects and notes. Keys are always there; null on
    a side that has no such thing. Secrets are hidden.
    """
    said = {
        "environment": environment or None,
        "different": diff.different,
        "models": [_model(each) for each in diff.models],
        "gpus": [_gpus(each) for each in diff.gpus],
        "traffic": [
            {"name": each.name, "what": each.what, "before": each.before or None, "after": each.after or None}
            for each in diff.traffic
        ],
        "risks": [{"risk": each.kind, "object": _key(each.key), "message": each.what} for each in diff.risks],
        "objects": [_object(each) for each in diff.objects],
        "notes": list(diff.notes),
    }
    return escapes.json_text(said, indent=2) + "\n"


def _key(key: Key) -> dict[str, Any]:
    return {"group": key.group, "kind": key.kind, "namespace": key.namespace or None, "name": key.name}


def _model(each: ModelChange) -> dict[str, Any]:
    return {
        "state": each.state,
        "namespace": each.key.namespace,
        "name": each.key.name,
        "was": {"namespace": each.was.namespace, "name": each.was.name} if each.was else None,
        "before": _side(each.before),
        "after": _side(each.after),
        "facts": [
            {"what": fact.what, "before": fact.before or None, "after": fact.after or None} for fact in each.facts
        ],
        "options": [{"option": flag.name or None, "before": flag.before, "after": flag.after} for flag in each.flags],
        "gpus": [_gpus(gpus) for gpus in each.gpus],
    }


def _side(model: Model | None) -> dict[str, Any] | None:
    if not model:
        return None
    names = {"backend": "backend", "engineVersion": "engine version", "modelRevision": "model revision"}
    return {
        "model": model.name or None,
        **{key: model.said.get(word) for key, word in {**names, "servedModelName": "public name"}.items()},
        "image": model.leader.image or None,
        "size": model.size,
        "minReplicas": model.low,
        "maxReplicas": model.high,
        "autoscaled": model.scaled,
    }


def _gpus(each: Gpus) -> dict[str, Any]:
    """Of one replica, and of as many as there may be."""
    pairs = {"perReplica": each.replica, "atMost": each.most}
    return {"accelerator": each.name, **{k: {"before": a, "after": b} for k, (a, b) in pairs.items()}}


def _object(each: Altered) -> dict[str, Any]:
    return {
        **_key(each.key),
        "state": each.state,
        "was": _key(each.before.key) if each.state == "renamed" and each.before else None,
        "file": {"before": each.before.file if each.before else None, "after": each.after.file if each.after else None},
        "changes": [_change(change) for change in each.changes],
    }


def _change(change: Change) -> dict[str, Any]:
    """Values as text, since they are for people; null where the field is not there."""
    before, after = sides(change)
    return {
        "field": change.field,
        "before": None if change.before is ABSENT else before,
        "after": None if change.after is ABSENT else after,
    }
