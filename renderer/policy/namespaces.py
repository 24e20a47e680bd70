"""Which namespaces the files of a folder may write to."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import RenderPolicy
from renderer.diagnostics import Path, counted
from renderer.policy.denial import Denial
from renderer.policy.globs import name_globs, path_globs
from renderer.policy.objects import JudgedObject

_EVERYTHING = "*"  # a namespace glob that is also about objects of the cluster
_SHOWN = 5  # globs in a hint


def judge_namespace(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial where the file of the object may not write to its namespace."""
    folders = path_globs(policy, "folders")
    if folders is None or judged.path is None:
        return
    entry = folders.first(judged.path)
    allowed = name_globs(policy, "folders", entry, "namespaces") if entry >= 0 else None
    namespace = judged.namespace
    if allowed and (allowed.fit(namespace) if namespace else _EVERYTHING in allowed.globs):
        return
    rule: Path = ("folders", entry, "namespaces") if entry >= 0 else ("folders",)
    where = f"into the namespace '{namespace}'" if namespace else "objects of no namespace"
    field: Path = ("metadata", "namespace") if namespace else ("metadata", "name")
    words = {"file": judged.path, "where": where, "hint": _hint(allowed.globs if allowed else None)}
    yield Denial("E810", judged.origin(field), rule, words)


def _hint(globs: object) -> str:
    """What the file may do instead."""
    if globs is None:
        return "no entry of folders matches the file, so it may write to none"
    names = [str(text) for text in globs] if isinstance(globs, (list, tuple)) else []
    more = f" and {counted(len(names) - _SHOWN, 'more glob')}" if len(names) > _SHOWN else ""
    return f"its folder may write to {', '.join(names[:_SHOWN])}{more}" if names else "its folder may write to none"
