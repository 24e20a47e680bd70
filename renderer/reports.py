"""Problems in the formats that machines read: JSON, GitHub annotations, SARIF, GitLab Code Quality.

In messages for people nothing stands that cannot be printed; names that programs look up are in JSON what they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from urllib.parse import quote

from renderer import escapes
from renderer.problems import Problem


def as_json(problems: Sequence[Problem]) -> str:
    """One JSON list; an item has file, line, column, code, severity, field, message, hint."""
    items = [
        {
            "file": each.file,
            "line": each.line,
            "column": each.column,
            "code": each.code,
            "severity": each.severity,
            "field": each.field,
            "message": each.message,
            "hint": each.hint,
        }
        for each in problems
    ]
    return escapes.json_text(items, indent=2)


def as_github(problems: Sequence[Problem]) -> str:
    """One workflow command a problem; GitHub shows it at its line in the pull request."""
    lines = []
    for each in problems:
        file = escapes.workflow_property(each.file)
        place = f"file={file}" + (f",line={each.line},col={each.column}" if each.line else "")
        text = f"{escapes.line(each.text)} [{each.code}]" + (f"\n{escapes.line(each.hint)}" if each.hint else "")
        kind = "notice" if each.severity == "note" else each.severity
        lines.append(f"::{kind} {place},title=llmaz {each.code}::{escapes.workflow_data(text)}")
    return "\n".join(lines)


def as_sarif(problems: Sequence[Problem]) -> str:
    """A SARIF 2.1.0 log with one run."""
    from renderer import __version__

    results = []
    for each in problems:
        region = {"region": {"startLine": each.line, "startColumn": each.column}} if each.line else {}
        text = f"{each.text}. {each.hint}" if each.hint else each.text
        results.append(
            {
                "ruleId": each.code,
                "level": each.severity,
                "message": {"text": escapes.line(text)},
                "locations": [
                    {
                        "physicalLocation": {
                            "artifactLocation": {"uri": quote(each.file, errors="surrogateescape")},
                            **region,
                        }
                    }
                ],
            }
        )
    rules = [{"id": code} for code in sorted({each.code for each in problems})]
    driver = {"name": "llmaz", "version": __version__, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }
    return escapes.json_text(log, indent=2)


_SEVERITIES = {"error": "critical", "warning": "minor", "note": "info"}


def as_gitlab(problems: Sequence[Problem]) -> str:
    """A GitLab Code Quality report: a list, an item a problem.

    What concerns a whole file stands at its line 1, since GitLab wants a line.
    """
    items = [
        {
            "description": escapes.line(f"{each.text} ({each.hint})" if each.hint else each.text),
            "check_name": each.code,
            "fingerprint": known_by,
            "severity": _SEVERITIES[each.severity],
            "location": {"path": each.file.removeprefix("./"), "lines": {"begin": each.line or 1}},
        }
        for each, known_by in zip(problems, fingerprints(problems), strict=True)
    ]
    return escapes.json_text(items, indent=2)


def fingerprints(problems: Sequence[Problem]) -> list[str]:
    """By what a problem is known again in the next run: no line is in it, which changes with every edit above. No two
    are alike; of problems that say the same, the count is in it too."""
    import hashlib  # few runs need it

    seen: Counter[str] = Counter()
    made = []
    for each in problems:
        words = "\0".join((each.code, each.file, each.field, each.message))
        seen[words] += 1
        text = words if seen[words] == 1 else f"{words}\0{seen[words]}"
        made.append(hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32])
    return made


FORMATS: dict[str, Callable[[Sequence[Problem]], str]] = {
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
    "gitlab": as_gitlab,
}
