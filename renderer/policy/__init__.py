"""Judges what is rendered by RenderPolicy: each rule is a generator over a finished record, and knows no other."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from renderer.api import App, RenderPolicy, Scope, TrafficInput
from renderer.diagnostics import Diagnostic, Origin, Path
from renderer.file_header import LONGEST_LINE, MARK, source_of
from renderer.load.validation import GROUPS
from renderer.plan import Manifest
from renderer.policy.denial import Denial, denial_diagnostics
from renderer.policy.globs import path_below
from renderer.policy.namespaces import judge_namespace
from renderer.policy.objects import JudgedObject, list_items
from renderer.source.paths import CONFIG, is_inside
from renderer.yamlio import Document

OBJECT_RULES = (judge_namespace,)


def judge_app(scope: Scope, app: App | TrafficInput, manifests: Sequence[Manifest]) -> list[Diagnostic]:
    """The errors for what the policies deny of an app or traffic and its objects."""
    base = scope.tree.base
    problems: list[Diagnostic] = []
    for policy in scope.policies:
        path = path_below(policy, base, app.file)
        judged = [JudgedObject(manifest.body, manifest.origin, path) for manifest in manifests]
        problems += denial_diagnostics(policy, _object_denials(policy, judged))
    return list(dict.fromkeys(problems))


def judge_documents(
    policies: Sequence[RenderPolicy], base: str, output: str, documents: Sequence[Document]
) -> list[Diagnostic]:
    """The errors for what the policies deny of manifests below the folder `base` of llmaz.yaml. `output`: the output
    folder, whose rendered files count as the input that their header names.
    """
    keys = {document.name: _input_key(base, output, document) for document in documents}
    objects = [part for document in documents for part in list_items(document)]
    problems: list[Diagnostic] = []
    for policy in policies:
        judged = [
            JudgedObject(document.value, _origin_of(document), key and path_below(policy, base, key))
            for document in objects
            for key in (keys[document.name],)
            if _is_manifest(document.value)
        ]
        problems += denial_diagnostics(policy, _object_denials(policy, judged))
    return list(dict.fromkeys(problems))


def _is_manifest(value: object) -> bool:
    """Whether it is an object that may be applied: our own kinds are input."""
    return isinstance(value, dict) and str(value.get("apiVersion")).partition("/")[0] not in GROUPS


def _origin_of(document: Document) -> Callable[[Path], Origin]:
    return lambda path: document.origin(*path)


def _input_key(base: str, output: str, document: Document) -> str | None:
    """The input file of a manifest, relative to `base`; None for a rendered file of several inputs."""
    path = os.path.abspath(document.name)
    if is_inside(path, output) and document.data.startswith(MARK.encode()):
        source = source_of(document.data[:LONGEST_LINE])
        return None if source == CONFIG else source
    return os.path.relpath(path, base).replace(os.sep, "/")


def _object_denials(policy: RenderPolicy, judged: Sequence[JudgedObject]) -> Iterator[Denial]:
    for rule in OBJECT_RULES:
        for object_ in judged:
            yield from rule(policy, object_)
