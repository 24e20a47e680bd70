"""Writes a difference as JSON."""

from __future__ import annotations

from renderer.diff.comparison import ObjectChange, TreeDiff
from renderer.diff.fields import ABSENT, FieldChange
from renderer.diff.gpus import GpuChange
from renderer.diff.models import ModelChange, ModelSummary
from renderer.diff.objects import ObjectKey
from renderer.diff.options import OptionChange
from renderer.diff.risks import Risk
from renderer.diff.wording import format_sides
from renderer.fleet.prices import cents, per_month
from renderer.text import escapes


def to_json(diff: TreeDiff, environment: str = "") -> str:
    """The difference as JSON: `different`, risks, models, gpus, quotas, roles, traffic, objects and notes. Every key is
    present; the value is null on a side that does not have it. Secrets are hidden.
    """
    document = {
        "environment": environment or None,
        "different": diff.different,
        "risks": [_risk(risk) for risk in diff.risks],
        "models": [_model(model) for model in diff.models],
        "gpus": [_gpus(gpu) for gpu in diff.gpus],
        "currency": diff.currency or None,
        "quotas": [
            {"name": quota.name or None, "what": quota.what, "max": _both(quota.allowed), "used": _both(quota.used)}
            for quota in diff.quotas
        ],
        "roles": [
            {
                "namespace": change.namespace,
                "app": change.app,
                "before": [_role(model) for model in change.before],
                "after": [_role(model) for model in change.after],
            }
            for change in diff.roles
        ],
        "traffic": [
            {
                "name": traffic_input.name,
                "what": traffic_input.aspect,
                "before": traffic_input.before or None,
                "after": traffic_input.after or None,
            }
            for traffic_input in diff.traffic
        ],
        "objects": [_object(change) for change in diff.objects],
        "notes": list(diff.notes),
    }
    return escapes.json_text(document, indent=2) + "\n"


def _both(sides: tuple[int | None, int]) -> dict[str, int | None]:
    return {"before": sides[0], "after": sides[1]}


def _key(key: ObjectKey) -> dict[str, object]:
    return {"group": key.group, "kind": key.kind, "namespace": key.namespace or None, "name": key.name}


def _risk(risk: Risk) -> dict[str, object]:
    return {
        "risk": risk.kind,
        "class": risk.risk_class,
        "object": _key(risk.key),
        "message": risk.message,
        "remedy": risk.remedy,
    }


def _model(change: ModelChange) -> dict[str, object]:
    return {
        "state": change.state,
        "namespace": change.key.namespace,
        "name": change.key.name,
        "was": {"namespace": old.namespace, "name": old.name} if (old := change.renamed_from) else None,
        "before": _side(change.before),
        "after": _side(change.after),
        "facts": [
            {"what": fact.name, "before": fact.before or None, "after": fact.after or None} for fact in change.facts
        ],
        "options": [
            {"option": f"worker: {flag.name}" if flag.of_workers else flag.name or None, **_sides(flag)}
            for flag in change.flags
        ],
        "gpus": [_gpus(gpus) for gpus in change.gpus],
    }


def _sides(flag: OptionChange) -> dict[str, object]:
    return {"before": flag.before, "after": flag.after}


def _side(model: ModelSummary | None) -> dict[str, object] | None:
    if not model:
        return None
    names = {"backend": "backend", "engineVersion": "engine version", "modelRevision": "model revision"}
    return {
        "model": model.name or None,
        **{key: model.annotations.get(word) for key, word in {**names, "servedModelName": "public name"}.items()},
        "image": model.leader.image or None,
        "size": model.size,
        "minReplicas": model.low,
        "maxReplicas": model.high,
        "autoscaled": model.scaled,
        "gpuMemory": model.memory or None,
        "pricePerMonth": None if model.hour is None else cents(per_month(model.hour)),
    }


def _role(model: ModelSummary) -> dict[str, object]:
    return {
        "role": model.role,
        "minReplicas": model.low,
        "maxReplicas": model.high,
        "gpusPerReplica": sum(count for kind, count in model.gpus.items() if not kind.is_part),
        "partsPerReplica": sum(count for kind, count in model.gpus.items() if kind.is_part),
    }


def _gpus(change: GpuChange) -> dict[str, object]:
    """Accelerators of one replica, and at the most replicas."""
    pairs = {"perReplica": change.replica, "atMost": change.peak}
    figures = {"accelerator": change.name, "part": change.is_part}
    return {**figures, **{k: {"before": a, "after": b} for k, (a, b) in pairs.items()}}


def _object(change: ObjectChange) -> dict[str, object]:
    return {
        **_key(change.key),
        "state": change.state,
        "was": _key(change.before.key) if change.state == "renamed" and change.before else None,
        "file": {
            "before": change.before.file if change.before else None,
            "after": change.after.file if change.after else None,
        },
        "changes": [_change(field_change) for field_change in change.changes],
    }


def _change(change: FieldChange) -> dict[str, object]:
    """A changed field with its values as text for people; null where the field is absent."""
    before, after = format_sides(change)
    return {
        "field": change.field,
        "before": None if change.before is ABSENT else before,
        "after": None if change.after is ABSENT else after,
    }
