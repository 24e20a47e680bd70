"""What a BackendRuntime is in another version of its engine: the entries of `engine.versions` whose range holds the
version, laid over its spec one after the other (docs/presets.md). What they made stands, for messages and `explain`, in
the entry that made it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from msgspec.structs import replace

from renderer import template
from renderer.api import BackendRuntime, OptionFiles
from renderer.diagnostics import Collector, Origin, Path
from renderer.resolve.engine.dialect import is_number, known_versions, order
from renderer.template import TemplateError, Words
from renderer.yamlio import ChangedDocument

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeSpec, DerivedSpec, EngineSpec, NoteSpec, VersionSpec

_ENTRIES: Path = ("spec", "engine", "versions")
_DERIVED: Path = ("spec", "engine", "derived")
# Fields that an entry names as the BackendRuntime does: laid over what stands there, key by key.
_AROUND: tuple[Literal["lifecycle", "startupProbe", "readinessProbe", "livenessProbe"], ...] = (
    "lifecycle",
    "startupProbe",
    "readinessProbe",
    "livenessProbe",
)
_OF_ENGINE: tuple[Literal["metrics", "drain", "options"], ...] = ("metrics", "drain", "options")
_HANDLERS = frozenset(["httpGet", "exec", "tcpSocket", "grpc"])  # of a probe, one at a time


def holds(entry: VersionSpec | DerivedSpec, version: str) -> bool:
    """Whether the range of an entry holds a version: `since` is the first in it, `until` the first behind it."""
    since, until = entry.get("since"), entry.get("until")
    place = order(version)
    return (not since or order(since) <= place) and (not until or place < order(until))


def in_version(runtime: BackendRuntime, version: str) -> BackendRuntime:
    """The runtime as it is in a version of its engine; itself where that makes no difference. '' is no version."""
    engine: EngineSpec = runtime.spec.get("engine") or {}
    entries, derived = engine.get("versions") or (), engine.get("derived") or ()
    held = [i for i, entry in enumerate(entries) if version and holds(entry, version)]
    kept = [i for i, entry in enumerate(derived) if not version or holds(entry, version)]
    if not held and len(kept) == len(derived):
        return runtime
    change = _Change(runtime.spec)
    change.keep_derived(kept)
    for i in held:
        change.lay(entries[i], (*_ENTRIES, i), version)
    document = ChangedDocument(runtime.document, {**runtime.document.value, "spec": change.spec}, change.moved)
    return replace(runtime, spec=change.spec, document=document)


class _Change:
    """A runtime's spec while entries are laid over it. `moved`: where what they made stands in the document."""

    def __init__(self, spec: BackendRuntimeSpec) -> None:
        self.engine: dict[str, Any] = dict(spec["engine"])
        self.spec: dict[str, Any] = {**spec, "engine": self.engine}
        self.moved: dict[Path, Path] = {}

    def keep_derived(self, kept: Sequence[int]) -> None:
        """Leaves out the entries of `derived` but these."""
        derived = self.engine.get("derived") or ()
        if len(kept) < len(derived):
            self.engine["derived"] = [derived[i] for i in kept]
            self.moved.update({(*_DERIVED, place): (*_DERIVED, i) for place, i in enumerate(kept)})

    def lay(self, entry: VersionSpec, at: Path, version: str) -> None:
        """Lays one entry over the spec."""
        if "command" in entry:
            self.spec["command"] = entry["command"]
            self.moved["spec", "command"] = (*at, "command")
        for hook in _AROUND:
            if hook in entry:
                self._over(self.spec, hook, entry[hook], ("spec", hook), (*at, hook))
        for field in _OF_ENGINE:
            if field in entry:
                self._over(self.engine, field, entry[field], ("spec", "engine", field), (*at, field))
        if rules := entry.get("args"):
            self._rewrite_all(rules, (*at, "args"))
        if values := entry.get("envs"):
            self._set_variables(values, (*at, "envs"))
        added = [
            (i, derived_entry)
            for i, derived_entry in enumerate(entry.get("derived") or ())
            if holds(derived_entry, version)
        ]
        if added:
            derived = list(self.engine.get("derived") or ())
            for i, derived_entry in added:
                self.moved[(*_DERIVED, len(derived))] = (*at, "derived", i)
                derived.append(derived_entry)
            self.engine["derived"] = derived

    def _over(self, holder: dict[str, Any], field: str, patch: Mapping[str, object], path: Path, at: Path) -> None:
        """Lays a map over the one that stands there, key by key; what is empty takes its key away."""
        value = dict(holder.get(field) or {})
        if field.endswith("Probe") and _HANDLERS & patch.keys():
            for name in (_HANDLERS & value.keys()) - patch.keys():
                del value[name]
        for key, item in patch.items():
            if item in ("", [], {}):
                value.pop(key, None)
            else:
                value[key] = item
                self._move((*path, key), (*at, key))
        if field not in holder:
            self._move(path, at)
        holder[field] = value

    def _move(self, path: Path, at: Path) -> None:
        """Notes where a field stands, and forgets what earlier entries said of what is below it."""
        for known in [known for known in self.moved if known[: len(path)] == path]:
            del self.moved[known]
        self.moved[path] = at

    def _rewrite_all(self, rules: Mapping[str, Any], at: Path) -> None:
        """Rewrites the arguments of all configs and of all entries of `derived`."""
        for holder, field, path in (
            (self.spec, "recommendedConfigs", ("spec", "recommendedConfigs")),
            (self.engine, "derived", _DERIVED),
        ):
            items = list(holder.get(field) or ())
            for i, item in enumerate(items):
                if any(_rule(rules, arg) for arg in item.get("args") or ()):
                    items[i] = {**item, "args": self._rewritten(item["args"], rules, (*path, i, "args"), at)}
            if items:
                holder[field] = items

    def _rewritten(self, args: Sequence[str], rules: Mapping[str, Any], path: Path, at: Path) -> list[str]:
        """Arguments, where a rule says that an option is called otherwise, or what stands in its place."""
        rewritten: list[str] = []
        places: list[Path] = []  # of what is kept, in the document

        def take(text: str, place: Path) -> None:
            rewritten.append(text)
            places.append(place)

        known = {i: self._place((*path, i)) for i in range(len(args))}
        replaced: set[str] = set()
        rule = ""
        for i, arg in enumerate(args):
            if is_option(arg):
                rule = _rule(rules, arg)
                if rule and isinstance(rules[rule], str):
                    take(rules[rule] + arg[len(rule) :], (*at, rule))
                    rule = ""
                    continue
                if rule and rule not in replaced:
                    replaced.add(rule)
                    for n, text in enumerate(rules[rule]):
                        take(text, (*at, rule, n))
            if not rule:
                take(arg, known[i])
        for i in range(len(args)):
            self.moved.pop((*path, i), None)
        self.moved.update({(*path, i): place for i, place in enumerate(places)})
        return rewritten

    def _place(self, path: Path) -> Path:
        """Where a field stands in the document so far."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.moved:
                return (*self.moved[path[:length]], *path[length:])
        return path

    def _set_variables(self, values: Mapping[str, str], at: Path) -> None:
        """Sets variables, and takes those away, derived ones too, whose value is empty."""
        gone = {name for name, value in values.items() if value == ""}
        path: Path = ("spec", "envs")
        before = list(self.spec.get("envs") or ())
        kept = [
            (self._place((*path, i)), variable) for i, variable in enumerate(before) if variable["name"] not in values
        ]
        kept += [((*at, name), {"name": name, "value": value}) for name, value in values.items() if value != ""]
        for i in range(len(before)):
            self._forget((*path, i))
        self.spec["envs"] = [variable for _, variable in kept]
        self.moved.update({(*path, i): place for i, (place, _) in enumerate(kept)})
        derived = list(self.engine.get("derived") or ())
        for i, entry in enumerate(derived):
            if any(env["name"] in gone for env in entry.get("envs") or ()):
                env_path = (*_DERIVED, i, "envs")
                left = [(self._place((*env_path, n)), variable) for n, variable in enumerate(entry["envs"])]
                left = [(place, variable) for place, variable in left if variable["name"] not in gone]
                derived[i] = {**entry, "envs": [variable for _, variable in left]}
                self.moved.update({(*env_path, n): place for n, (place, _) in enumerate(left)})
        if derived:
            self.engine["derived"] = derived

    def _forget(self, path: Path) -> None:
        for known in [known for known in self.moved if known[: len(path)] == path]:
            del self.moved[known]


def is_option(arg: str) -> bool:
    """Whether an argument of a preset names an option."""
    return arg[:1] == "-" and len(arg) > 1 and not is_number(arg)


def _rule(rules: Iterable[str], arg: str) -> str:
    """The rule that an argument falls under: that of its option, or of the option that it is a key of; '' for none."""
    if not is_option(arg):
        return ""
    return next((name for name in rules if arg == name or arg.startswith((f"{name}.", f"{name}="))), "")


# ---- what a version cannot do ----


def conditions(
    runtime: BackendRuntime, version: str, field: Literal["notes", "refuse"]
) -> Iterator[tuple[NoteSpec, Path]]:
    """The items of `notes` or `refuse` of all entries that hold a version, and where each stands in the document."""
    entries = (runtime.spec.get("engine") or {}).get("versions") or ()
    for i, entry in enumerate(entries if version else ()):
        if holds(entry, version):
            for n, item in enumerate(entry.get(field) or ()):
                yield item, (*_ENTRIES, i, field, n)


def versions_able(
    files: OptionFiles, runtime: BackendRuntime, version: str, known: frozenset[str], words: Words
) -> str:
    """Which versions can do what this one cannot: the next newer and the next older of those that are known."""

    def can(other: str) -> bool:
        refusals = conditions(runtime, other, "refuse")
        try:
            return not any(template.condition(item.get("when", "true"), known)(words) for item, _ in refusals)
        except TemplateError:
            return False  # who takes that version is told

    versions = known_versions(files, runtime)
    capable = [other for other in versions if can(other)]
    newer = [other for other in capable if order(other) > order(version)]
    older = [other for other in capable if order(other) < order(version)]
    hints = []
    if newer:
        behind = versions[versions.index(newer[0]) :]
        hints.append(f"{newer[0]} and newer can" if set(behind) <= set(newer) else f"{newer[0]} can")
    if older:
        hints.append(f"{older[-1]} can" if not hints else f"so can {older[-1]}")
    return f"take another version: {', '.join(hints)}" if hints else "leave it out"


# ---- whether the entries make sense ----


def validate_versions(runtime: BackendRuntime, diagnostics: Collector) -> None:
    """What is wrong with the ranges of a runtime's entries, and with what they say of its arguments."""
    engine: EngineSpec = runtime.spec.get("engine") or {}
    entries = engine.get("versions") or ()
    for path, items in (
        (_ENTRIES, entries),
        (_DERIVED, engine.get("derived") or ()),
        *(((*_ENTRIES, i, "derived"), entry.get("derived") or ()) for i, entry in enumerate(entries)),
    ):
        for i, item in enumerate(items):
            since, until = item.get("since"), item.get("until")
            if since and until and order(since) >= order(until):
                origin = Origin(runtime.document, (*path, i, "until"))
                diagnostics.add("E446", origin, since=since, until=until)
    given = {arg for args in _arguments(runtime.spec, entries) for arg in args if is_option(arg)}
    for i, entry in enumerate(entries):
        for name in entry.get("args") or ():
            if not any(_rule((name,), arg) for arg in given):
                diagnostics.add("E447", Origin(runtime.document, (*_ENTRIES, i, "args", name), key=True), option=name)


def version_samples(runtime: BackendRuntime) -> list[str]:
    """A version of each range that the runtime's entries make: where one begins, or the one before it has ended."""
    engine: EngineSpec = runtime.spec.get("engine") or {}
    entries = [*(engine.get("versions") or ()), *(engine.get("derived") or ())]
    borders = {border for entry in entries for border in (entry.get("since"), entry.get("until")) if border}
    return ["0", *sorted(borders, key=order)] if borders else []


def _arguments(spec: BackendRuntimeSpec, entries: Iterable[VersionSpec]) -> Iterator[Sequence[str]]:
    """All arguments that a runtime may ever give."""
    for config in spec.get("recommendedConfigs") or ():
        yield config.get("args") or ()
    for holder in (spec.get("engine") or {}, *entries):
        for item in holder.get("derived") or ():
            yield item.get("args") or ()
    for entry in entries:
        for rule in (entry.get("args") or {}).values():
            yield [rule] if isinstance(rule, str) else rule
