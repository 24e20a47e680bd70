"""What a rule of a RenderPolicy denies, and its diagnostic: at the line that asks, with the place of the rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from renderer.api import RenderPolicy
from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic


class Denial(Struct, frozen=True):
    """A denied field: the code of its key, the field, the path of the rule below `spec`, and the wording's words."""

    code: str
    origin: Origin
    rule: Path
    words: Mapping[str, object]


def rule_place(policy: RenderPolicy, rule: Path) -> str:
    """The file and line of a rule, with the revision where that is not the tree's own."""
    file, line, _ = policy.origin(*rule, key=True).place
    return f"{file}:{line}{f' of {policy.revision}' if policy.revision else ''}"


def denial_diagnostics(policy: RenderPolicy, denials: Iterable[Denial]) -> Iterator[Diagnostic]:
    """The errors for what a policy denies."""
    for denial in denials:
        yield make_diagnostic(denial.code, denial.origin, rule=rule_place(policy, denial.rule), **denial.words)
