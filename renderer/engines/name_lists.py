"""Names besides options that a version of an engine has, such as its environment variables, by lists like those of
options. Nothing is known of a version that a list does not name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from renderer.api import BackendRuntime, OptionFile, OptionFiles, UnreadableList
from renderer.engines.option_lists import ANY_CASE, parse_range
from renderer.engines.version_order import version_key

if TYPE_CHECKING:
    from renderer.input_types import NamesSpec

_VARIABLES, _METRICS, _ARCHITECTURES = "VARIABLES", "METRICS", "ARCHITECTURES"  # groups in lists of one group


class NameList(Struct, frozen=True):
    """The names of a group in one version."""

    names: frozenset[str] = frozenset()
    ended: Mapping[str, str] = {}  # names of older versions, and the version that removed each, as `in 1.2`
    later: Mapping[str, str] = {}  # names of newer versions, and the version that added each, as `by 1.2`
    replaced: Mapping[str, str] = {}  # names, and what took their place
    any_case: bool = False  # of names that are values: their letters may be of another case

    def __contains__(self, value: object) -> bool:
        """Whether a text is one of the names, or a number where some are; values of other types may be."""
        if isinstance(value, str):
            return value in self.names or (self.any_case and value.lower() in map(str.lower, self.names))
        if isinstance(value, bool) or not isinstance(value, int):
            return True
        return str(value) in self.names or not any(name.isdigit() for name in self.names)


class EngineNames(Struct, frozen=True, eq=False):
    """The lists of an engine, read when they are asked for."""

    engine: str = ""  # the name of its runtime
    spec: NamesSpec = {}
    read: Callable[[str], OptionFile | None] = lambda path: None  # a file, by its path relative to the runtime
    prefix: str = ""  # how the names of the engine's own variables begin; '' where no list is about them
    lists: dict[tuple[str, str], Mapping[str, NameList]] = field(default_factory=dict)  # a cache by path and version

    def variables(self, version: str) -> NameList | None:
        """The variables that a version reads; None where nobody knows. Raises UnreadableList."""
        return self._groups(self.spec.get("variables", ""), version).get(_VARIABLES)

    def metrics(self, version: str) -> NameList | None:
        """The metrics that a version reports, without `_total`; None where nobody knows. Raises UnreadableList."""
        return self._groups(self.spec.get("metrics", ""), version).get(_METRICS)

    def keys(self, version: str) -> Mapping[str, NameList]:
        """The keys of JSON options in a version that refuses others: by option, or `--option.key` for a map in it; and
        the values of keys that take no others, by `--option.key=`. Raises UnreadableList.
        """
        return self._groups(self.spec.get("keys", ""), version)

    def version_with(self, architecture: str, version: str) -> str:
        """The first version that is known to have code for an architecture of models, where this one has none; else ''.
        Of one between two that are listed the newer one tells. Raises UnreadableList.
        """
        path = self.spec.get("architectures", "")
        listed = self.read(path) if path else None
        if listed is None or not version or version == listed.versions[-1]:
            return ""
        key = version_key(version)
        nearest = next((known for known in listed.versions if version_key(known) >= key), listed.versions[-1])
        names = self._groups(path, nearest).get(_ARCHITECTURES, NameList())
        return names.later.get(architecture, "").removeprefix("by ")

    def _groups(self, path: str, version: str) -> Mapping[str, NameList]:
        """The names of a version by group; nothing where nobody knows them. Raises UnreadableList."""
        if (path, version) not in self.lists:
            file = self.read(path) if path else None
            if path and file is None:
                raise UnreadableList(f"there is no file '{path}'")
            known = file is not None and version in file.versions
            replaced = self.read(f"{path.removesuffix('.txt')}.removed.txt") if known else None
            self.lists[path, version] = _parse_names(file, replaced, path, version) if file and known else {}
        return self.lists[path, version]


def engine_names(files: OptionFiles, runtime: BackendRuntime) -> EngineNames:
    """The lists that a runtime names."""
    spec: NamesSpec = (runtime.spec.get("engine") or {}).get("names") or {}
    if not spec:
        return EngineNames()
    prefix = spec.get("prefix", "") if spec.get("variables") else ""
    return EngineNames(runtime.name, spec, lambda path: files.file(runtime, path), prefix)


def _parse_names(file: OptionFile, replaced_file: OptionFile | None, path: str, version: str) -> dict[str, NameList]:
    """The names of a version by group. Raises UnreadableList."""
    indexes = {known: i for i, known in enumerate(file.versions)}
    position = indexes[version]
    names: dict[str, set[str]] = {}
    ended: dict[str, dict[str, int]] = {}
    later: dict[str, dict[str, int]] = {}
    for line in file.lines:
        group, version_range, *words = line.split()
        first, last = parse_range(version_range, path, indexes) if ".." in version_range else (-1, -1)
        if first < 0 or not words:
            raise UnreadableList(f"{path}: '{line[:60]}' is not 'GROUP since..until NAME…'")
        if first <= position < last:
            names.setdefault(group, set()).update(words)
        elif position < first:
            versions = later.setdefault(group, {})
            versions.update({word: min(first, versions.get(word, first)) for word in words})
        else:
            versions = ended.setdefault(group, {})
            versions.update({word: max(last, versions.get(word, last)) for word in words})
    replaced = dict(line.split(None, 1) for line in (replaced_file.lines if replaced_file else ()))
    lists = {}
    for group in {*names, *ended, *later}:
        present = frozenset(names.get(group, ()))
        past = {name: f"in {file.versions[i]}" for name, i in ended.get(group, {}).items() if name not in present}
        future = {name: f"by {file.versions[i]}" for name, i in later.get(group, {}).items() if name not in present}
        lists[group] = NameList(
            present - {ANY_CASE},
            past,
            {name: by for name, by in future.items() if name not in past},
            replaced,
            ANY_CASE in present,
        )
    return lists
