"""Hooks of Helm: objects that it creates before or behind the others of a release, by an annotation."""

from __future__ import annotations

from collections.abc import Iterator

from renderer import yamlio
from renderer.diagnostics import Diagnostic, make_diagnostic
from renderer.kubernetes.json_values import value_at
from renderer.output import file_header
from renderer.output.manifest_files import OutputFile

_HOOK = ("metadata", "annotations", "helm.sh/hook")
_KINDS = (
    *("pre-install", "post-install", "pre-delete", "post-delete", "pre-upgrade", "post-upgrade"),
    *("pre-rollback", "post-rollback", "test", "test-success"),
)


def is_hook(body: object) -> bool:
    """Whether Helm takes an object for a hook, perhaps of no kind that it knows."""
    return value_at(body, *_HOOK) is not None


def unknown_hooks(text: OutputFile) -> Iterator[Diagnostic]:
    """An error for each object of a file that is passed through which Helm takes for a hook of no kind it knows."""
    header, _, body = text.text.partition("\n")
    documents, _ = yamlio.parse(file_header.source_of(header.encode()) or text.path, body.encode())
    for document in documents:
        hooks = value_at(document.value, *_HOOK)
        unknown = [hook for hook in str(hooks).split(",") if hook.strip().lower() not in _KINDS]
        if hooks is not None and unknown:
            words = {"hook": unknown[0].strip(), "known": ", ".join(_KINDS)}
            yield make_diagnostic("E870", document.origin(*_HOOK), **words)
