"""What does not go with the options of the version that runs."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, make_diagnostic
from renderer.engines.option_parser import validate_options
from renderer.engines.running_engine import EngineLine


def refused_options(line: EngineLine) -> Iterator[Diagnostic]:
    """What the engine's own parser would refuse: unknown options, values that are missing, too many or none of those
    that an option takes.
    """
    rules, findings_by_args = line.option_rules, line.engine.option_findings
    for layer in line.written if rules else ():
        key = line.version, tuple(layer.args)
        findings = findings_by_args.get(key)
        if findings is None and rules:
            findings = findings_by_args[key] = validate_options(rules, layer.args)
        for finding in findings or ():
            yield make_diagnostic(finding.code, layer.origin.at(finding.index), **finding.words)
