"""Which namespaces the files of a folder may write to."""

from __future__ import annotations

import os
from collections.abc import Iterator

from renderer.api import RenderPolicy
from renderer.diagnostics import Diagnostic, Path, make_diagnostic
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.globs import NameGlobs, name_globs, path_globs
from renderer.policy.objects import JudgedObject
from renderer.source.tree import FileSystem

_EVERYTHING = "*"  # a namespace glob that is also about objects of the cluster
_WILDCARDS = frozenset("*?")


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
    where = f"to the namespace '{namespace}'" if namespace else "objects without a namespace"
    field: Path = ("metadata", "namespace") if namespace else ("metadata", "name")
    words = {"file": judged.path, "where": where, "hint": _hint(allowed, namespace)}
    yield Denial("E810", judged.origin(field), rule, words)


def _hint(allowed: NameGlobs | None, namespace: str) -> str:
    """What the file may do instead."""
    if allowed is None:
        return "no entry of spec.folders of the RenderPolicy matches this file: move the file, or have an entry added"
    what = f"allowed: {quoted_globs(allowed.globs)}"
    return what if namespace else f"{what}; write metadata.namespace: cluster-scoped objects need an entry with '*'"


def missing_folders(policy: RenderPolicy, base: str, file_system: FileSystem) -> Iterator[Diagnostic]:
    """A note for each entry of `folders` and `definitions` whose folder is not there."""
    entries: list[tuple[Path, str]] = [
        (("folders", i, "path"), entry["path"]) for i, entry in enumerate(policy.get("folders", default=()))
    ]
    for key, globs in policy.get("definitions", default={}).items():
        entries += [(("definitions", key, i), text) for i, text in enumerate(globs)]
    for path, text in entries:
        folder = _plain_start(text)
        if folder and not file_system.exists(os.path.join(policy.folder or base, folder)):
            yield make_diagnostic("N800", policy.origin(*path), folder=folder)


def _plain_start(text: str) -> str:
    """The folders, or the file, that a glob begins with."""
    parts = text.strip("/").split("/")
    wild = next((i for i, part in enumerate(parts) if _WILDCARDS.intersection(part)), len(parts))
    return "/".join(parts[:wild])
