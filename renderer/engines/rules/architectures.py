"""Whether the version of an engine has code for the model."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.running_engine import RunningEngine
from renderer.kubernetes.json_values import text_at

# An argument with one of these names another architecture, or other code for all of them.
_OTHER_CODE = ("architectures", "transformers")


def _lists_architectures(running: RunningEngine) -> object:
    return running.line.version and running.line.engine.names.spec.get("architectures")


@rule(of=RunningEngine, when=_lists_architectures)
def older_than_the_model(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for a version of the engine that is older than the architecture of the model."""
    line, architecture = running.line, text_at(running.facts(), "architecture")
    version = line.engine.names.version_with(architecture, line.version) if architecture else ""
    if not version or not line.is_own_image() or any(word in arg for arg in line.args for word in _OTHER_CODE):
        return
    if origin := running.version_origin():
        tag = running.container.image.partition("@")[0].rpartition(":")[2]
        words = {"engine": line.engine.names.engine or line.backend, "version": line.version}
        newer = tag.replace(line.version, version) if line.version in tag else version
        yield make_diagnostic("W492", origin, architecture=architecture, newer=newer, **words)
