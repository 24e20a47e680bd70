"""Service accounts and priority classes that pods may have."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Final

from renderer.api import RenderPolicy
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.pod_parts import PRIORITIES
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.globs import name_globs
from renderer.policy.objects import JudgedObject

ACCOUNTS: Final = ("pods", "serviceAccounts")
PRIORITY_CLASSES: Final = ("pods", "priorityClasses")


def judge_service_accounts(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each service account; a pod that names none has `default`."""
    allowed = name_globs(policy, *ACCOUNTS)
    for path, name in (account for pod in judged.pods for account in pod.accounts()) if allowed else ():
        if allowed and not allowed.fit(name):
            words = {"name": name, "allowed": quoted_globs(allowed.globs)}
            yield Denial("E819", judged.origin(path), ACCOUNTS, words)


def judge_priority_classes(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each priority class."""
    allowed = name_globs(policy, *PRIORITY_CLASSES)
    for pod, field in product(judged.pods, PRIORITIES) if allowed else ():
        name = text_at(pod.spec, field)
        if name and allowed and not allowed.fit(name):
            words = {"name": name, "allowed": quoted_globs(allowed.globs)}
            yield Denial("E820", judged.origin((*pod.path, field)), PRIORITY_CLASSES, words)
