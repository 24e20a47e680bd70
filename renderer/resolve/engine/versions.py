"""What a version of an engine cannot do, and invalid entries of `engine.versions` (renderer/engines/runtime_versions.py
applies them).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from renderer import template
from renderer.api import BackendRuntime, OptionFiles
from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic
from renderer.engines.option_lists import known_versions
from renderer.engines.runtime_versions import ENTRIES, is_option, matching_rule
from renderer.engines.version_order import in_range, version_key
from renderer.template import TemplateError, Words

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeSpec, EngineSpec, ModelEngineSpec, NoteSpec, VersionSpec

_DERIVED: Path = ("spec", "engine", "derived")


def version_items(
    runtime: BackendRuntime, version: str, field: Literal["notes", "refuse"]
) -> Iterator[tuple[NoteSpec, Path]]:
    """The items of `notes` or `refuse` for a version, each with its path below `spec`."""
    entries = (runtime.spec.get("engine") or {}).get("versions") or ()
    for i, entry in enumerate(entries if version else ()):
        if in_range(entry, version):
            for n, item in enumerate(entry.get(field) or ()):
                yield item, (*ENTRIES[1:], i, field, n)


def capable_versions_hint(
    files: OptionFiles, runtime: BackendRuntime, version: str, known: frozenset[str], words: Words
) -> str:
    """A hint which versions can do what this one refuses: the next newer and the next older known one."""

    def is_capable(candidate: str) -> bool:
        refusals = version_items(runtime, candidate, "refuse")
        try:
            return not any(template.compile_condition(item.get("when", "true"), known)(words) for item, _ in refusals)
        except TemplateError:
            return False  # reported when that version is used

    versions = known_versions(files, runtime)
    capable = [candidate for candidate in versions if is_capable(candidate)]
    newer = [candidate for candidate in capable if version_key(candidate) > version_key(version)]
    older = [candidate for candidate in capable if version_key(candidate) < version_key(version)]
    hints = []
    if newer:
        behind = versions[versions.index(newer[0]) :]
        hints.append(f"{newer[0]} or newer" if set(behind) <= set(newer) else newer[0])
    if older:
        hints.append(older[-1])
    return f"use version {', or '.join(hints)}" if hints else "leave it out"


def invalid_versions(runtime: BackendRuntime) -> Iterator[Diagnostic]:
    """An error for each empty range of versions, and for each rule about an option that the runtime never gives."""
    engine: EngineSpec = runtime.spec.get("engine") or {}
    entries = engine.get("versions") or ()
    for path, items in (
        (ENTRIES, entries),
        (_DERIVED, engine.get("derived") or ()),
        *(((*ENTRIES, i, "derived"), entry.get("derived") or ()) for i, entry in enumerate(entries)),
    ):
        for i, item in enumerate(items):
            since, until = item.get("since"), item.get("until")
            if since and until and version_key(since) >= version_key(until):
                origin = Origin(runtime.document, (*path, i, "until"))
                yield make_diagnostic("E446", origin, since=since, until=until)
    options = {arg for args in _all_args(runtime.spec, entries) for arg in args if is_option(arg)}
    for i, entry in enumerate(entries):
        for name in entry.get("args") or ():
            if not any(matching_rule((name,), arg) for arg in options):
                origin = Origin(runtime.document, (*ENTRIES, i, "args", name), key=True)
                yield make_diagnostic("E447", origin, giver="the runtime", option=name)


def invalid_model_versions(settings: ModelEngineSpec, origin: Origin) -> Iterator[Diagnostic]:
    """The same for the settings of a model for an engine, which stand at `origin`."""
    entries = settings.get("versions") or ()
    rules = [rule for entry in entries for rule in entry["args"].values()]
    args = [*(settings.get("args") or ())]
    for rule in rules:
        args += [rule] if isinstance(rule, str) else rule
    for i, entry in enumerate(entries):
        since, until = entry.get("since"), entry.get("until")
        if since and until and version_key(since) >= version_key(until):
            yield make_diagnostic("E446", origin.at("versions", i, "until"), since=since, until=until)
        for name in entry["args"]:
            if not any(matching_rule((name,), arg) for arg in args):
                key = origin.at("versions", i, "args", name, key=True)
                yield make_diagnostic("E447", key, giver="the model", option=name)


def version_samples(runtime: BackendRuntime) -> list[str]:
    """One version of each range between the bounds of the runtime's entries; empty without entries."""
    engine: EngineSpec = runtime.spec.get("engine") or {}
    entries = [*(engine.get("versions") or ()), *(engine.get("derived") or ())]
    borders = {border for entry in entries for border in (entry.get("since"), entry.get("until")) if border}
    return ["0", *sorted(borders, key=version_key)] if borders else []


def _all_args(spec: BackendRuntimeSpec, entries: Iterable[VersionSpec]) -> Iterator[Sequence[str]]:
    """All lists of arguments in a runtime."""
    for config in spec.get("recommendedConfigs") or ():
        yield config.get("args") or ()
    for holder in (spec.get("engine") or {}, *entries):
        for item in holder.get("derived") or ():
            yield item.get("args") or ()
    for entry in entries:
        for rule in (entry.get("args") or {}).values():
            yield [rule] if isinstance(rule, str) else rule
