"""What a rule of a RenderPolicy denies, and its diagnostic: at the line that asks, with the place of the rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer.api import RenderPolicy
from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic

_SHOWN = 6  # globs in a hint


class Denial(Struct, frozen=True):
    """A denied field."""

    code: str  # of the key that denies it
    origin: Origin  # of the field
    rule: Path  # the path of the rule below `spec`
    words: Mapping[str, object]  # of the message


def rule_place(policy: RenderPolicy, rule: Path) -> str:
    """The file and line of a rule, with the revision where that is not the tree's own."""
    file, line, _ = policy.origin(*rule, key=True).place
    return f"{file}:{line}{f' of {policy.revision}' if policy.revision else ''}"


def denial_diagnostics(policy: RenderPolicy, denials: Iterable[Denial]) -> Iterator[Diagnostic]:
    """The errors for what a policy denies."""
    for denial in denials:
        diagnostic = make_diagnostic(denial.code, denial.origin, rule=rule_place(policy, denial.rule), **denial.words)
        if policy.revision:
            diagnostic = replace(diagnostic, hint=f"{diagnostic.hint}; a change of the policy counts once it is merged")
        yield diagnostic


def quoted_globs(globs: Sequence[str]) -> str:
    """The globs that a hint names, the first few of many."""
    shown = ", ".join(globs[:_SHOWN]) or "none"
    return f"{shown} and {len(globs) - _SHOWN:,} more" if len(globs) > _SHOWN else shown
