"""Fields of older releases of the operator that have only moved, and fields that nothing reads any more."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from renderer.diagnostics import Path

EACH: Final = "*"  # in a path: every item of a list


class Move(Struct, frozen=True):
    """A field and its place today."""

    old: Path
    new: Path


def _move(old: str, new: str) -> Move:
    return Move(tuple(old.split(".")), tuple(new.split(".")))


# In this order: the first moves make the fields that later ones are in. Only a field with such an old name moves, so
# objects in today's shape stay as they are (docs/design/operator.md#older-fields).
MOVES: Final[dict[str, tuple[Move, ...]]] = {
    "OpenModel": (
        _move("spec.dataSource", "spec.source"),
        _move("spec.inferenceFlavors", "spec.inferenceConfig.flavors"),
        _move("spec.inferenceConfig.flavors.*.requests", "spec.inferenceConfig.flavors.*.limits"),
    ),
    "Playground": (
        _move("spec.modelClaim.inferenceFlavorClaims", "spec.modelClaim.inferenceFlavors"),
        _move("spec.modelClaims.inferenceFlavorClaims", "spec.modelClaims.inferenceFlavors"),
        _move("spec.backendConfig", "spec.backendRuntimeConfig"),
        _move("spec.backendRuntimeConfig.name", "spec.backendRuntimeConfig.backendName"),
        _move("spec.backendRuntimeConfig.argName", "spec.backendRuntimeConfig.configName"),
        _move("spec.backendRuntimeConfig.argFlags", "spec.backendRuntimeConfig.args"),
    ),
    "Service": (
        _move("spec.modelClaims.inferenceFlavorClaims", "spec.modelClaims.inferenceFlavors"),
        _move("spec.workloadTemplate.replicas", "spec.replicas"),
        _move("spec.workloadTemplate.rolloutStrategy", "spec.rolloutStrategy"),
        *(
            _move(f"spec.workloadTemplate.leaderWorkerTemplate.{field}", f"spec.workloadTemplate.{field}")
            for field in ("size", "leaderTemplate", "workerTemplate", "restartPolicy", "subGroupPolicy")
        ),
    ),
    "BackendRuntime": (_move("spec.commands", "spec.command"),),
}


class Removal(Struct, frozen=True):
    """A field that is left out, and why."""

    path: Path
    code: str
    reason: str


def _removal(path: str, code: str, reason: str) -> Removal:
    return Removal(tuple(path.split(".")), code, reason)


REMOVALS: Final[dict[str, tuple[Removal, ...]]] = {
    "OpenModel": (),
    "Playground": (),
    "Service": (
        _removal("spec.elasticConfig", "W960", "the operator made no autoscaler for a Service"),
        _removal("spec.workloadTemplate.startupPolicy", "N961", "it follows from the number of pods in a group"),
    ),
    "BackendRuntime": (
        _removal(
            "spec.multiHostCommands",
            "W960",
            "it started an engine on several hosts; the presets do that for a flavor with PP, other engines need a "
            "Service",
        ),
    ),
}
# What kubectl, controllers and the operator's webhook write.
WRITTEN_ANNOTATIONS: Final = ("kubectl.kubernetes.io/last-applied-configuration", "argocd.argoproj.io/tracking-id")
WRITTEN_LABELS: Final = ("llmaz.io/model-family-name", "llmaz.io/model-name")
SHIPPED_LABELS: Final = ("app.kubernetes.io/created-by", "app.kubernetes.io/part-of")  # llmaz: the operator's chart
UNREAD_ANNOTATIONS: Final = ("llmaz.io/model-preheat",)
WRITTEN_FIELDS: Final = (("status",), ("spec", "createdAt"))
# What the operator's CRDs fill in, where it means the same as nothing; removed only of objects that a server stored.
DEFAULTS: Final[dict[str, tuple[tuple[Path, object], ...]]] = {
    "OpenModel": (
        (("spec", "ownedBy"), "llmaz"),
        (("spec", "source", "modelHub", "name"), "Huggingface"),
        (("spec", "source", "modelHub", "revision"), "main"),
    ),
    "Playground": (
        (("spec", "replicas"), 1),
        (("spec", "elasticConfig", "minReplicas"), 1),
        (("spec", "modelClaims", "models", EACH, "role"), "main"),
    ),
    "Service": (
        (("spec", "replicas"), 1),
        (("spec", "modelClaims", "models", EACH, "role"), "main"),
        (("spec", "workloadTemplate", "size"), 1),
        (
            ("spec", "rolloutStrategy"),
            {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0}},
        ),
    ),
    "BackendRuntime": (),
}
