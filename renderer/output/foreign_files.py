"""Files in the output folder that the renderer did not write, and that Argo CD or Flux would sync."""

from __future__ import annotations

from collections.abc import Callable

from renderer.api import Scope
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.source.tree import glob

_SUFFIXES = (".yaml", ".yml", ".json")


# Other files that Argo CD and Flux take (in a recursive directory, and by kustomize).
_SYNCED = (".jsonnet", ".libsonnet")


_SYNCED_NAMES = ("Kustomization",)


SYNCED = (*_SUFFIXES, *_SYNCED, *_SYNCED_NAMES)
"""What the names of synced files end with."""


def is_synced(path: str) -> bool:
    """Whether Argo CD (a directory with `recurse`) or Flux would read a file of this name as manifests."""
    return path.endswith((*_SUFFIXES, *_SYNCED)) or path.rpartition("/")[2] in _SYNCED_NAMES


def allowed_foreign(scope: Scope) -> Callable[[str], bool]:
    """A function that tells whether `output.foreign` allows a foreign file. Its patterns are relative to the folder of
    all environments.
    """
    patterns = [glob(pattern) for pattern in scope.config.get("output", "foreign") or ()]
    environment = f"{scope.options.env}/" if scope.options.env else ""
    return lambda path: any(pattern.fullmatch(environment + path) for pattern in patterns)


def foreign_file(origin: Origin, code: str = "E129") -> Diagnostic:
    """The problem of a foreign file."""
    from renderer.diagnostics.wordings.input import FOREIGN_HINT  # a quiet run needs no wordings

    return make_diagnostic(code, origin, what="not written by llmaz", hint=FOREIGN_HINT)
