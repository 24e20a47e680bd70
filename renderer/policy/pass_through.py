"""What files that passThrough copies to the output may hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from renderer import yamlio
from renderer.api import RenderPolicy, Scope
from renderer.diagnostics import Diagnostic
from renderer.kubernetes.json_values import text_at
from renderer.load.passed_inputs import listed_inputs, refuse_to_pass
from renderer.output.file_header import MARK
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.globs import name_globs
from renderer.policy.objects import JudgedObject
from renderer.source.tree import glob
from renderer.yamlio import Document

_KINDS = ("passThrough", "kinds")


class PassedFile(Struct, frozen=True):
    """A file that passThrough copies."""

    key: str
    objects: Sequence[Document]
    problems: Sequence[Diagnostic]  # of its YAML, which nobody could judge, and of input in lists


def passed_documents(scope: Scope) -> Iterator[PassedFile]:
    """The files that passThrough copies to the output."""
    patterns = [(text, glob(text)) for text in scope.config.get("passThrough") or ()]
    for file in scope.tree.files if patterns else ():
        pattern = next((text for text, expression in patterns if expression.fullmatch(file.key)), "")
        if not pattern:
            continue
        try:
            data = file.read()
        except OSError:
            continue  # reported when it is copied
        if not data.startswith(MARK.encode()):
            documents, problems = yamlio.parse(file.name, data, disputes=True)
            problems += _listed_inputs(documents, pattern)
            yield PassedFile(file.key, [part for document in documents for part in document.objects], problems)


def _listed_inputs(documents: Sequence[Document], pattern: str) -> Iterator[Diagnostic]:
    """The errors about objects of our kinds in lists, which are no input, and which the operator would serve as they
    are.
    """
    for document in documents:
        for part in listed_inputs(document):
            yield refuse_to_pass(part.origin("kind"), text_at(part.value, "kind"), pattern)


def judge_kind(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of a kind that passed-through files may not hold."""
    allowed = name_globs(policy, *_KINDS)
    group, kind = judged.kind
    name = f"{group}/{kind}" if group else kind
    if allowed and not allowed.fit(name):
        has_kind = bool(text_at(judged.body, "kind"))
        words = {
            "what": f"a {name}" if has_kind else "a document that is not an object",
            "allowed": quoted_globs(allowed.globs),
        }
        yield Denial("E825", judged.origin(("kind",) if has_kind else ()), _KINDS, words)
