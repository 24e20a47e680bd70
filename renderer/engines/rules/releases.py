"""Whether an engine has the release that somebody chose."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.running_engine import RunningEngine


@rule(of=RunningEngine, when=lambda running: running.line.option_rules and running.line.option_rules.around)
def no_such_release(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for a version between two releases of an engine that is none itself, in an image of its project."""
    line = running.line
    if line.option_rules and line.option_rules.around and line.is_own_image() and (origin := running.version_origin()):
        tag = running.container.image.partition("@")[0].rpartition(":")[2]
        below, above = (tag.replace(line.version, release) for release in line.option_rules.around)
        words = {"backend": line.backend, "version": line.version, "below": below, "above": above}
        yield make_diagnostic("W887", origin, **words)
