"""The engine and the version of an upgrade, as the command line names them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from renderer.api import BackendRuntime, Inputs, UnreadableList
from renderer.diagnostics import Diagnostic, NamedSource, Origin, RenderError, make_diagnostic, suggestion
from renderer.engines.image_version import version_of_tag
from renderer.engines.option_lists import (
    VERSION,
    completed_version,
    is_listed,
    known_versions,
    list_path,
    older_listed,
)
from renderer.engines.version_order import version_key

_OTHER_SIGN = r"([\w-]+?)[:@-]v?(\d.*)"  # between an engine and a version, in place of `=`


class UpgradeTarget(Struct, frozen=True, eq=False):
    """An engine in the version that it is to have."""

    runtime: BackendRuntime
    version: str
    is_named: bool  # the command line names the version; else it is the newest that is known
    backends: frozenset[str]  # the BackendRuntimes that run this engine

    @property
    def name(self) -> str:
        """The name of the engine."""
        return self.runtime.name


def require_one_word(argument: str, paths: Sequence[str], exists: Callable[[str], bool]) -> None:
    """Raises RenderError where the version stands behind the engine, as if it were a path."""
    if paths and "=" not in argument and VERSION.fullmatch(paths[0]) and not exists(paths[0]):
        hint = f"write {argument}={paths[0]}"
        raise RenderError([make_diagnostic("E122", Origin(NamedSource(paths[0])), hint=hint)])


def find_target(argument: str, inputs: Inputs) -> UpgradeTarget:
    """The engine and version of `ENGINE=VERSION`, or of `ENGINE` alone. Raises RenderError."""
    name, has_version, word = argument.partition("=")
    origin = Origin(NamedSource(argument))
    if name not in inputs.runtimes:
        hint = suggestion(name, [*inputs.runtimes], (own.name for own in inputs.definitions))
        other = re.fullmatch(_OTHER_SIGN, argument)
        if other and other[1] in inputs.runtimes:
            hint = f"write {other[1]}={other[2]}"
        raise RenderError([make_diagnostic("E205", origin, name=name, hint=hint)])
    runtime = inputs.runtimes[name]
    with reporting_lists(runtime):
        newest = newest_version(inputs, runtime)
        version = _version(inputs, runtime, word) if has_version else newest
        example = _version(inputs, runtime, word.lstrip("=")) or newest
    if not version:
        words = {"word": word, "backend": name, "example": example or "1.2.3"}
        raise RenderError([make_diagnostic("E711", origin, **words)])
    return UpgradeTarget(runtime, version, bool(has_version), frozenset(_backends(inputs, runtime)))


@contextmanager
def reporting_lists(runtime: BackendRuntime) -> Iterator[None]:
    """Turns an UnreadableList of a runtime within into a RenderError."""
    try:
        yield
    except UnreadableList as error:
        origin = Origin(runtime.document, ("spec", "engine", "options", "list"))
        raise RenderError([make_diagnostic("E425", origin, what=error)]) from None


def unlisted_version(inputs: Inputs, target: UpgradeTarget) -> Iterator[Diagnostic]:
    """A warning for a version whose options nobody knows, of an engine whose options are known by version; a note for
    one whose list was learnt.
    """
    files, origin = inputs.option_files, Origin(NamedSource(f"{target.name}={target.version}"))
    known = known_versions(files, target.runtime)
    if target.version in known and not is_listed(files, target.runtime, target.version):
        nearest = older_listed(files, target.runtime, target.version)
        teller = f"is judged by {nearest}" if nearest else "is not judged"
        yield make_diagnostic("N705", origin, backend=target.name, version=target.version, teller=teller)
    if not known or target.version in known:
        return
    older = [version for version in known if version_key(version) < version_key(target.version)]
    judged = f"what breaks is judged by {older[-1]}" if older else "nothing about its options is judged"
    words = {"backend": target.name, "version": target.version, "newest": known[-1], "judged": judged}
    yield make_diagnostic("W712", origin, **words)


def newest_version(inputs: Inputs, runtime: BackendRuntime) -> str:
    """The newest version whose options are known, else the runtime's own; '' where nobody knows one."""
    known = known_versions(inputs.option_files, runtime)
    return known[-1] if known else version_of_tag(runtime.spec.get("engine") or {}, runtime.spec["version"])


def _version(inputs: Inputs, runtime: BackendRuntime, word: str) -> str:
    """The version that a word names, as lists have it: with or without `v`, as the tag of an image, as the name of a
    release, or its first numbers; '' for another word.
    """
    spec = runtime.spec.get("engine") or {}
    known, releases = known_versions(inputs.option_files, runtime), (spec.get("options") or {}).get("releases") or {}
    bare = word.removeprefix("v")
    for version in (word, bare, str(releases.get(word, "")), version_of_tag(spec, word)):
        if version in known:
            return version
    if completed := completed_version(inputs.option_files, runtime, word):
        return completed
    return version_of_tag(spec, word) or (bare if VERSION.fullmatch(bare) else "")


def _backends(inputs: Inputs, runtime: BackendRuntime) -> Iterator[str]:
    """The runtimes of the engine: of a preset also those of the user whose options are in the same list."""
    yield runtime.name
    listed = list_path(runtime.spec.get("engine") or {})
    if listed and runtime.name in inputs.preset_runtimes:
        for own in inputs.runtimes.values():
            if not own.ours and list_path(own.spec.get("engine") or {}) == listed:
                yield own.name
