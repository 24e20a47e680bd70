"""Security contexts, wherever an object has them: privileged containers and the root user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from renderer.api import RenderPolicy
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_map
from renderer.policy.denial import Denial
from renderer.policy.loose_values import is_true, is_zero
from renderer.policy.objects import JudgedObject

PRIVILEGED: Final = ("pods", "privileged")
ROOT: Final = ("pods", "runAsRoot")
_USERS: Final = ("runAsUser", "userID")  # as Kubernetes calls it, and the operator of NIM


def judge_privileged(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each privileged container; on Windows, of a process of the node."""
    for located in judged.contexts:
        field: Path = ("privileged",)
        if not is_true(located.context.get("privileged")):
            windows = located.context.get("windowsOptions")
            if not windows or not is_true(as_map(windows).get("hostProcess")):
                continue
            field = ("windowsOptions", "hostProcess")
        yield Denial("E823", judged.origin((*located.path, *field)), PRIVILEGED, {})


def judge_root(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each `runAsUser: 0`, of a pod or a container."""
    for located in judged.contexts:
        for field in _USERS:
            if field in located.context and is_zero(located.context[field]):
                yield Denial("E824", judged.origin((*located.path, field)), ROOT, {})
