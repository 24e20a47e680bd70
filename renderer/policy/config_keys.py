"""Whose llmaz.yaml may set the keys of RenderConfig that decide what is judged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from renderer.api import RenderPolicy
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_map, map_at
from renderer.load.environments import PatchedDocument
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.globs import PathGlobs
from renderer.source.paths import git_root
from renderer.yamlio import Document

_CODES: Final = {"output": "E826", "passThrough": "E827", "external": "E828"}
_OWN = "."  # the folder of the policy


def judge_config(policy: RenderPolicy, base: str, document: object) -> Iterator[Denial]:
    """A denial of each such key in the RenderConfig of the tree at `base`, in its environments too."""
    if not isinstance(document, Document):
        return
    whole = document.base if isinstance(document, PatchedDocument) else document
    folder = tree_folder(policy, base)
    for key, code in _CODES.items():
        globs = policy.get("config", key)
        if globs is not None and PathGlobs([text or _OWN for text in globs]).first(folder) < 0:
            for path in _places(whole, key):
                words = {"key": key, "folder": folder, "allowed": quoted_globs(globs)}
                yield Denial(code, whole.origin(*path, key=True), ("config", key), words)


def tree_folder(policy: RenderPolicy, base: str) -> str:
    """The folder of llmaz.yaml, relative to that of the policy; of a policy from elsewhere, to the top of the
    repository. `.` for that folder itself.
    """
    top = policy.folder or git_root(base) or base
    return os.path.relpath(os.path.realpath(base), os.path.realpath(top)).replace(os.sep, "/")


def _places(config: Document, key: str) -> Iterator[Path]:
    """Where RenderConfig sets a key: below `spec`, and in environments."""
    spec = map_at(config.value, "spec")
    if key in spec:
        yield ("spec", key)
    for name, environment in map_at(spec, "environments").items():
        if key in map_at(as_map(environment), "config"):
            yield ("spec", "environments", name, "config", key)
