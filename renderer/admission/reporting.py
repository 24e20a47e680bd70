"""The diagnostics about policies, and about what they deny."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from renderer.admission.judge import Verdict
from renderer.admission.programs import problems_of
from renderer.admission.records import AdmissionPolicy, PolicyExpression, UnjudgedReason
from renderer.admission.source_text import place_in_file, read_paths, read_variables
from renderer.check.finding import existing_origin
from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic
from renderer.kubernetes.json_values import text_at, value_at
from renderer.yamlio import Document

_CODES: Final[Mapping[str, str]] = {"Deny": "E842", "Warn": "W840", "Audit": "W841"}
_TOLD: Final = 3  # reasons of a policy


class _PlacedDocument(Struct, frozen=True):
    """A document in which every field stands at one place."""

    document: Document
    line: int
    column: int

    @property
    def name(self) -> str:
        return self.document.name

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return self.line, self.column


def expression_problems(policy: AdmissionPolicy) -> list[Diagnostic]:
    """An error for each expression that the server would not take, at its line and column."""
    problems = []
    for expression, problem in problems_of(policy):
        place = place_in_file(policy.document, expression.path, expression.text, problem.line, problem.column)
        origin = Origin(_PlacedDocument(policy.document, *place), expression.path)
        problems.append(make_diagnostic("E840", origin, what=problem.message))
    return problems


def verdict_diagnostics(verdict: Verdict) -> Iterator[Diagnostic]:
    """What is said of a denial: an error, a warning, or both."""
    body = verdict.object.body
    words = {
        "kind": text_at(body, "kind"),
        "name": text_at(body, "metadata", "name") or text_at(body, "metadata", "generateName"),
        "policy": verdict.policy.name,
        "binding": verdict.binding.name,
        "message": verdict.decision.message,
        "rule": _place(verdict.policy, verdict.decision.expression),
        "bound": _place_of(Origin(verdict.binding.document, ("metadata", "name"))),
    }
    origin = existing_origin(verdict.object.origin(_field(body, verdict.policy, verdict.decision.expression)))
    for action in ("Deny",) if verdict.always else verdict.binding.actions:
        yield make_diagnostic(_CODES[action], origin, **words)


def unjudged_diagnostics(documents: Mapping[str, Document], unjudged: Iterable[UnjudgedReason]) -> Iterator[Diagnostic]:
    """One note for each policy of which something is not judged, at the first expression that it is about."""
    by_policy: dict[str, list[UnjudgedReason]] = {}
    for item in unjudged:
        by_policy.setdefault(item.policy, []).append(item)
    for name, items in by_policy.items():
        reasons = list(dict.fromkeys(item.reason for item in items))
        more = f"; and {len(reasons) - _TOLD} more" if len(reasons) > _TOLD else ""
        words = "; ".join(reasons[:_TOLD]) + more
        yield make_diagnostic("N840", Origin(documents[name], items[0].path), policy=name, reasons=words)


def _field(body: object, policy: AdmissionPolicy, expression: PolicyExpression) -> Path:
    """The field that a denial is best told at: the first that the expression names and the object has, else one of its
    variables.
    """
    variables = [policy.variables[name] for name in read_variables(expression.text) if name in policy.variables]
    for text in (expression, *variables):
        for path in read_paths(text.text):
            if value_at(body, *path) is not None:
                return path
    return ()


def _place(policy: AdmissionPolicy, expression: PolicyExpression) -> str:
    return _place_of(Origin(policy.document, expression.path))


def _place_of(origin: Origin) -> str:
    file, line, _ = origin.place
    return f"{file}:{line}"
