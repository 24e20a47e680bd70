"""Formats of problems for machines: JSON, GitHub annotations, SARIF, GitLab Code Quality.

Unprintable characters are escaped in messages for people; names in JSON are unchanged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from urllib.parse import quote

from renderer.diagnostics import Diagnostic, Edit
from renderer.diagnostics.addresses import page_address
from renderer.text import escapes


def as_json(problems: Sequence[Diagnostic]) -> str:
    """A JSON list of objects with file, line, column, code, severity, field, message and hint; endLine and endColumn
    where they are known, edits where there are any, and url, with a site.
    """
    items = [
        {
            "file": problem.file,
            "line": problem.line,
            "column": problem.column,
            "code": problem.code,
            "severity": problem.severity,
            "field": problem.field,
            "message": problem.message,
            "hint": problem.hint,
            **({"endLine": problem.end_line, "endColumn": problem.end_column} if problem.end_line else {}),
            **({"edits": [*map(_json_edit, problem.edits)]} if problem.edits else {}),
            **({"url": address} if (address := page_address(problem.code)) else {}),
        }
        for problem in problems
    ]
    return escapes.json_text(items, indent=2)


def _json_edit(edit: Edit) -> dict[str, object]:
    """What a JSON object says of an edit."""
    return {
        "file": edit.file,
        "line": edit.line,
        "column": edit.column,
        "endLine": edit.end_line,
        "endColumn": edit.end_column,
        "text": edit.text,
    }


def as_github(problems: Sequence[Diagnostic]) -> str:
    """A workflow command for each problem, which GitHub shows at its line in the pull request."""
    lines = []
    for problem in problems:
        file = escapes.workflow_property(problem.file)
        place = f"file={file}" + (f",line={problem.line},col={problem.column}" if problem.line else "")
        text = f"{escapes.line(problem.text)} [{problem.code}]" + (
            f"\n{escapes.line(problem.hint)}" if problem.hint else ""
        )
        text += f"\n{page_address(problem.code) or f'llmaz errors {problem.code}'}"
        kind = "notice" if problem.severity == "note" else problem.severity
        lines.append(f"::{kind} {place},title=llmaz {problem.code}::{escapes.workflow_data(text)}")
    return "\n".join(lines)


def as_sarif(problems: Sequence[Diagnostic]) -> str:
    """A SARIF 2.1.0 log with one run."""
    from renderer import __version__

    results = []
    for problem in problems:
        region = {"startLine": problem.line, "startColumn": problem.column}
        if problem.end_line:
            region |= {"endLine": problem.end_line, "endColumn": problem.end_column}
        text = f"{problem.text}. {problem.hint}" if problem.hint else problem.text
        results.append(
            {
                "ruleId": problem.code,
                "level": problem.severity,
                "message": {"text": escapes.line(text)},
                "locations": [
                    {
                        "physicalLocation": {
                            "artifactLocation": _artifact(problem.file),
                            **({"region": region} if problem.line else {}),
                        }
                    }
                ],
                **({"fixes": [_sarif_fix(problem)]} if problem.edits else {}),
            }
        )
    rules = [
        {"id": code, **({"helpUri": address} if (address := page_address(code)) else {})}
        for code in sorted({problem.code for problem in problems})
    ]
    driver = {"name": "llmaz", "version": __version__, "rules": rules}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }
    return escapes.json_text(log, indent=2)


def _artifact(file: str) -> dict[str, str]:
    """What SARIF says of which file it is."""
    return {"uri": quote(file, errors="surrogateescape")}


def _sarif_fix(problem: Diagnostic) -> dict[str, object]:
    """The edits of a problem as a fix of SARIF."""
    replacements: dict[str, list[object]] = {}
    for edit in problem.edits:
        deleted_region = {
            "startLine": edit.line,
            "startColumn": edit.column,
            "endLine": edit.end_line,
            "endColumn": edit.end_column,
        }
        replacement = {"deletedRegion": deleted_region, "insertedContent": {"text": edit.text}}
        replacements.setdefault(edit.file, []).append(replacement)
    return {
        "description": {"text": escapes.line(problem.hint)},
        "artifactChanges": [
            {"artifactLocation": _artifact(file), "replacements": items} for file, items in replacements.items()
        ],
    }


_SEVERITIES = {"error": "critical", "warning": "minor", "note": "info"}


def as_gitlab(problems: Sequence[Diagnostic]) -> str:
    """A GitLab Code Quality report. Problems without a line get line 1, since GitLab requires one."""
    items = [
        {
            "description": escapes.line(f"{problem.text} ({problem.hint})" if problem.hint else problem.text),
            "check_name": problem.code,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[problem.severity],
            "location": {"path": problem.file.removeprefix("./"), "lines": {"begin": problem.line or 1}},
        }
        for problem, fingerprint in zip(problems, fingerprints(problems), strict=True)
    ]
    return escapes.json_text(items, indent=2)


def fingerprints(problems: Sequence[Diagnostic]) -> list[str]:
    """Identifiers that are stable between runs: without the line, which changes with edits above. Equal problems are
    numbered, so that all identifiers are distinct."""
    import hashlib  # few runs need it

    seen: Counter[str] = Counter()
    digests = []
    for problem in problems:
        words = "\0".join((problem.code, problem.file, problem.field, problem.message))
        seen[words] += 1
        text = words if seen[words] == 1 else f"{words}\0{seen[words]}"
        digests.append(hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:32])
    return digests


FORMATS: dict[str, Callable[[Sequence[Diagnostic]], str]] = {
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
    "gitlab": as_gitlab,
}
