"""Adapts a BackendRuntime to a version of its engine: the entries of `engine.versions` whose range contains the version
are applied to its spec in order (docs/presets.md). Messages and `explain` cite the entry that set a field.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from renderer.api import BackendRuntime
from renderer.diagnostics import Path
from renderer.engines.dialect import is_number
from renderer.engines.version_order import in_range
from renderer.yamlio import ChangedDocument, source_path

if TYPE_CHECKING:
    from renderer.input_types import (
        BackendRuntimeSpec,
        EngineSpec,
        VersionSpec,
    )

GRACE_PERIOD_NAMES: tuple[Literal["gracePeriodSeconds"], Literal["seconds"]] = ("gracePeriodSeconds", "seconds")
"""The keys of `drain` that state the grace period, the second one in presets of older releases."""
ENTRIES: Path = ("spec", "engine", "versions")
_DERIVED: Path = ("spec", "engine", "derived")
# Fields of an entry that are merged by key into the field of the same name.
_AROUND: tuple[Literal["lifecycle", "startupProbe", "readinessProbe", "livenessProbe"], ...] = (
    "lifecycle",
    "startupProbe",
    "readinessProbe",
    "livenessProbe",
)
_OF_ENGINE: tuple[Literal["metrics", "drain", "options", "adapters", "memory"], ...] = (
    "metrics",
    "drain",
    "options",
    "adapters",
    "memory",
)
_HANDLERS = frozenset(["httpGet", "exec", "tcpSocket", "grpc"])  # of a probe, one at a time


def runtime_in_version(runtime: BackendRuntime, version: str) -> BackendRuntime:
    """The runtime for a version of its engine ('': unknown); itself where nothing changes."""
    engine: EngineSpec = runtime.spec.get("engine") or {}
    entries, derived = engine.get("versions") or (), engine.get("derived") or ()
    applied = [i for i, entry in enumerate(entries) if version and in_range(entry, version)]
    derived_indexes = [i for i, entry in enumerate(derived) if not version or in_range(entry, version)]
    if not applied and len(derived_indexes) == len(derived):
        return runtime
    change = _SpecChange(runtime.spec)
    change.keep_derived(derived_indexes)
    for i in applied:
        change.apply(entries[i], (*ENTRIES, i), version)
    document = ChangedDocument(runtime.document, {**runtime.document.value, "spec": change.spec}, change.sources)
    return replace(runtime, spec=change.spec, document=document)


class _SpecChange:
    """A runtime's spec while entries are applied."""

    def __init__(self, spec: BackendRuntimeSpec) -> None:
        self.engine: dict[str, Any] = dict(spec["engine"])
        self.spec: dict[str, Any] = {**spec, "engine": self.engine}
        self.sources: dict[Path, Path] = {}  # by path of a changed field, its path in the document

    def keep_derived(self, indexes: Sequence[int]) -> None:
        """Removes the entries of `derived` except these indexes."""
        derived = self.engine.get("derived") or ()
        if len(indexes) < len(derived):
            self.engine["derived"] = [derived[i] for i in indexes]
            self.sources.update({(*_DERIVED, new_index): (*_DERIVED, i) for new_index, i in enumerate(indexes)})

    def apply(self, entry: VersionSpec, at: Path, version: str) -> None:
        """Applies one entry, which stands at `at`."""
        if "command" in entry:
            self.spec["command"] = entry["command"]
            self.sources["spec", "command"] = (*at, "command")
        for hook in _AROUND:
            if hook in entry:
                self._overlay(self.spec, hook, entry[hook], ("spec", hook), (*at, hook))
        for field in _OF_ENGINE:
            if field in entry:
                self._overlay(self.engine, field, entry[field], ("spec", "engine", field), (*at, field))
        if rules := entry.get("args"):
            self._rewrite_all(rules, (*at, "args"))
        if values := entry.get("envs"):
            self._set_variables(values, (*at, "envs"))
        derived = list(self.engine.get("derived") or ())
        for i, item in enumerate(entry.get("derived") or ()):
            if in_range(item, version):
                self.sources[(*_DERIVED, len(derived))] = (*at, "derived", i)
                derived.append(item)
                self.engine["derived"] = derived

    def _overlay(self, holder: dict[str, Any], field: str, patch: Mapping[str, object], path: Path, at: Path) -> None:
        """Merges a map into a field by key; an empty value removes its key."""
        value = dict(holder.get(field) or {})
        if field.endswith("Probe") and _HANDLERS & patch.keys():
            for name in (_HANDLERS & value.keys()) - patch.keys():
                del value[name]
        if field == "drain" and any(name in patch for name in GRACE_PERIOD_NAMES):
            for name in GRACE_PERIOD_NAMES:  # the later one wins, whichever its name
                value.pop(name, None)
        for key, item in patch.items():
            if item in ("", [], {}):
                value.pop(key, None)
            else:
                value[key] = item
                self._record_source((*path, key), (*at, key))
        if field not in holder:
            self._record_source(path, at)
        holder[field] = value

    def _record_source(self, path: Path, at: Path) -> None:
        """Notes where a field stands, instead of what was noted of fields below it."""
        self._forget_sources(path)
        self.sources[path] = at

    def _forget_sources(self, path: Path) -> None:
        for known in [known for known in self.sources if known[: len(path)] == path]:
            del self.sources[known]

    def _rewrite_all(self, rules: Mapping[str, object], at: Path) -> None:
        """Rewrites the arguments of all configs and of all entries of `derived`."""
        for holder, field, path in (
            (self.spec, "recommendedConfigs", ("spec", "recommendedConfigs")),
            (self.engine, "derived", _DERIVED),
        ):
            items = list(holder.get(field) or ())
            for i, item in enumerate(items):
                if any(matching_rule(rules, arg) for arg in item.get("args") or ()):
                    items[i] = {**item, "args": self._rewrite_args(item["args"], rules, (*path, i, "args"), at)}
            if items:
                holder[field] = items

    def _rewrite_args(self, args: Sequence[str], rules: Mapping[str, Any], path: Path, at: Path) -> list[str]:
        """The arguments after `rewrite_args`; notes where each stands."""
        old_sources = {i: source_path(self.sources, (*path, i)) for i in range(len(args))}
        rewritten = rewrite_args(args, rules)
        for i in range(len(args)):
            self.sources.pop((*path, i), None)
        for i, (_, source) in enumerate(rewritten):
            self.sources[*path, i] = old_sources[source] if isinstance(source, int) else (*at, *source)
        return [text for text, _ in rewritten]

    def _set_variables(self, values: Mapping[str, str], at: Path) -> None:
        """Sets variables; an empty value removes one, also from `derived`."""
        removed = {name for name, value in values.items() if value == ""}
        path: Path = ("spec", "envs")
        before = list(self.spec.get("envs") or ())
        variables = [
            (source_path(self.sources, (*path, i)), variable)
            for i, variable in enumerate(before)
            if variable["name"] not in values
        ]
        variables += [((*at, name), {"name": name, "value": value}) for name, value in values.items() if value != ""]
        for i in range(len(before)):
            self._forget_sources((*path, i))
        self.spec["envs"] = [variable for _, variable in variables]
        self.sources.update({(*path, i): source for i, (source, _) in enumerate(variables)})
        derived = list(self.engine.get("derived") or ())
        for i, entry in enumerate(derived):
            if any(env["name"] in removed for env in entry.get("envs") or ()):
                env_path = (*_DERIVED, i, "envs")
                remaining = [
                    (source_path(self.sources, (*env_path, n)), variable) for n, variable in enumerate(entry["envs"])
                ]
                remaining = [(source, variable) for source, variable in remaining if variable["name"] not in removed]
                derived[i] = {**entry, "envs": [variable for _, variable in remaining]}
                self.sources.update({(*env_path, n): source for n, (source, _) in enumerate(remaining)})
        if derived:
            self.engine["derived"] = derived


def rewrite_args(args: Sequence[str], rules: Mapping[str, str | Sequence[str]]) -> list[tuple[str, int | Path]]:
    """The arguments with options renamed (rule is a text) or replaced (rule is a list), each with its index among
    `args`, or with its path below the rules.
    """
    rewritten: list[tuple[str, int | Path]] = []
    replaced: set[str] = set()
    name = ""
    for i, arg in enumerate(args):
        if is_option(arg):
            name = matching_rule(rules, arg)
            rule = rules[name] if name else ()
            if isinstance(rule, str):
                rewritten.append((rule + arg[len(name) :], (name,)))
                name = ""
                continue
            if name and name not in replaced:
                replaced.add(name)
                rewritten += [(text, (name, n)) for n, text in enumerate(rule)]
        if not name:
            rewritten.append((arg, i))
    return rewritten


def is_option(arg: str) -> bool:
    """Whether an argument of a preset names an option."""
    return arg[:1] == "-" and len(arg) > 1 and not is_number(arg)


def matching_rule(rules: Iterable[str], arg: str) -> str:
    """The option among the rules that an argument names or is a key of; '' without one."""
    if not is_option(arg):
        return ""
    return next((name for name in rules if arg == name or arg.startswith((f"{name}.", f"{name}="))), "")
