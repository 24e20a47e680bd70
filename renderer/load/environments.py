"""Environments: the patches of RenderConfig, applied to RenderConfig itself and to documents of the tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from renderer.diagnostics import (
    Diagnostic,
    NamedSource,
    Origin,
    Path,
    RenderError,
    Source,
    make_diagnostic,
    quoted,
    suggestion,
)
from renderer.kubernetes.json_values import as_map, map_at, without_nulls
from renderer.load.preset_files import preset, preset_names
from renderer.yamlio import Document

# The kinds that an environment patches, and the key of their patches.
SECTIONS = {"Playground": "playgrounds", "Service": "services", "OpenModel": "models", "ModelRoute": "routes"}
_ENVIRONMENTS = ("spec", "environments")
_NAME = "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"  # of an environment, as its schema has it
_FIXED = (("environments",), ("output", "dir"))  # keys that no environment can change
MAX_ENVIRONMENTS: Final = 100  # each takes a run of its own


class PatchedDocument(Document):
    """A document with patches of RenderConfig applied."""

    __slots__ = ("_config", "base", "sources")

    def __init__(self, base: Document, value: object, sources: Mapping[Path, Path], config: Document) -> None:
        super().__init__(base._file, base.index, value)
        self.base: Final = base  # the document without patches
        self.sources: Final = sources  # by field, the field of RenderConfig that set or deleted it and all below it
        self._config: Final = config

    @property
    def name(self) -> str:
        """The file of the document that is patched."""
        return self.base.name

    @property
    def data(self) -> bytes:
        """The bytes of that file."""
        return self.base.data

    def behind(self, path: Path) -> tuple[Source, Path]:
        """The source that set the field, and its path there."""
        source = _source_field(self.sources, path)
        return (self._config, source) if source else (self.base, path)

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        source, path = self.behind(path)
        return source.locate(path, key=key)

    def raw(self, path: Path) -> str | None:
        """The unparsed scalar at `path`, from the file that set it."""
        source = _source_field(self.sources, path)
        return self._config.raw(source) if source else self.base.raw(path)

    def is_empty(self, *path: str | int) -> bool:
        """As Document.is_empty; a null of a patch deletes the field, which is missing then."""
        return not _source_field(self.sources, path) and self.base.is_empty(*path)


def _source_field(sources: Mapping[Path, Path], path: Path) -> Path:
    """The field of RenderConfig that set this one; () where none did."""
    for length in range(len(path), 0, -1):
        if source := sources.get(path[:length]):
            return (*source, *path[length:])
    return ()


class PatchMerge:
    """Merges patches into a value, one after another.

    No strategic merge (kubernetes/strategic_merge.py): it patches input that no schema has seen, without types to look
    up merge keys in, and a null deletes (docs/environments.md). It notes what is deleted as well as what is set.
    """

    def __init__(self) -> None:
        self._set_fields: dict[Path, Path] = {}  # field → field of RenderConfig that set it, in order
        self.unused_deletions: list[Path] = []  # nulls for keys that do not exist

    @property
    def sources(self) -> dict[Path, Path]:
        """Field → the field of RenderConfig that set or deleted it and all below it."""
        changes: dict[Path, Path] = {}
        for path, source in reversed(self._set_fields.items()):
            if not any(path[:length] in changes for length in range(len(path))):  # else a parent was set later
                changes[path] = source
        return dict(reversed(changes.items()))

    def merge(self, base: Any, patch: Any, path: Path, source_path: Path) -> object:
        """The merge of `base`, at `path` of the document, with `patch`, at `source_path` of RenderConfig; neither is
        changed. Maps merge, null deletes, lists whose items all have a name merge by name, all else is replaced.
        """
        if isinstance(base, dict) and isinstance(patch, dict):
            result = dict(base)
            for key, value in patch.items():
                target, source = (*path, key), (*source_path, key)
                if value is None:
                    if result.pop(key, None) is None:
                        self.unused_deletions.append(source)
                    self._set(target, source)
                elif result.get(key) is None:
                    result[key] = self._set_value(value, target, source)
                else:
                    result[key] = self.merge(result[key], value, target, source)
            return result
        if _is_named_list(base) and _is_named_list(patch):
            items = list(base)
            places = {item["name"]: i for i, item in reversed([*enumerate(items)])}
            for i, item in enumerate(patch):
                place = places.setdefault(item["name"], len(items))
                target, source = (*path, place), (*source_path, i)
                if place == len(items):
                    items.append(self._set_value(item, target, source))
                else:
                    items[place] = self.merge(items[place], item, target, source)
            return items
        return self._set_value(patch, path, source_path)

    def setting_fields(self, path: Path) -> list[Path]:
        """The fields of RenderConfig that set this field or fields below it."""
        sources = self.sources
        source = _source_field(sources, path)
        return [source] if source else [source for field, source in sources.items() if field[: len(path)] == path]

    def _set_value(self, value: object, path: Path, source_path: Path) -> object:
        self._set(path, source_path)
        self.unused_deletions += _nulls(value, source_path)
        return without_nulls(value)

    def _set(self, path: Path, source_path: Path) -> None:
        """Notes that the patch set the field and all below it."""
        self._set_fields.pop(path, None)
        self._set_fields[path] = source_path


def _value_at(value: object, path: Path) -> object:
    for part in path:
        value = as_map(value).get(part)  # type: ignore[arg-type]
    return value


def _is_named_list(value: object) -> bool:
    """Whether it is a non-empty list whose items all have a name."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and isinstance(item.get("name"), str) for item in value)
    )


def _nulls(value: object, source_path: Path) -> Iterator[Path]:
    """The paths of null values in nested maps."""
    for key, item in value.items() if isinstance(value, dict) else ():
        if item is None:
            yield (*source_path, key)
        yield from _nulls(item, (*source_path, key))


def _copy(value: object) -> object:
    """A deep copy of maps and lists; importing the module `copy` takes longer than this."""
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list) else value


class EnvironmentLayer(Struct, frozen=True):
    """An environment's entry in RenderConfig."""

    path: Path  # of the entry
    value: Mapping[str, object]
    patches: Mapping[str, Mapping[str, object]]  # by section and name


def _layer(name: str, value: Mapping[str, object]) -> EnvironmentLayer:
    """The layer of an environment. Invalid patches are dropped here, and reported by the schema."""
    sections = {section: as_map(value.get(section)) for section in SECTIONS.values()}
    patches = {
        section: {key: patch for key, patch in values.items() if _is_patch(patch)}
        for section, values in sections.items()
    }
    return EnvironmentLayer((*_ENVIRONMENTS, name), value, patches)


def _is_patch(value: object) -> bool:
    return value is None or isinstance(value, dict)


class Environment:
    """One environment and its layers."""

    def __init__(self, config: Document, name: str, namespace: str = "default") -> None:
        self.name, self._config = name, config
        self.namespace = namespace  # the default namespace of apps
        environments = _environment_values(config)
        value = as_map(environments.get(name))
        base = value.get("from")
        chain = [base, name] if isinstance(base, str) and base in environments and base != name else [name]
        # That of its `from` first.
        self._layers = [_layer(layer_name, as_map(environments.get(layer_name))) for layer_name in chain]

    def apply_environment(self) -> tuple[PatchedDocument, list[Diagnostic]]:
        """RenderConfig with the `config` of all layers applied, and errors for changes that are not allowed."""
        merge, spec = PatchMerge(), _copy(self._config.value["spec"])
        for layer in self._layers:
            if isinstance(config := layer.value.get("config"), dict):
                spec = merge.merge(spec, config, ("spec",), (*layer.path, "config"))
        patch_document = PatchedDocument(
            self._config, {**self._config.value, "spec": spec}, merge.sources, self._config
        )
        problems = [
            make_diagnostic("E757", self._config.origin(*source_path, key=True), key=".".join(same))
            for same in _FIXED
            if _value_at(spec, same) != _value_at(self._config.value["spec"], same)
            for source_path in merge.setting_fields(("spec", *same))
        ]
        return patch_document, problems + self._unused_deletion_warnings(merge)

    def patch_document(self, document: Document, kind: str) -> tuple[Document | None, list[Diagnostic]]:
        """The document with the patches for its name applied, None when the last one deletes it; and problems."""
        merge, spec, deleted = PatchMerge(), document.value.get("spec"), False
        is_patched, problems = False, []
        for layer in self._layers:
            patches, keys = layer.patches.get(SECTIONS.get(kind, ""), {}), self.keys(document.value)
            matching = [key for key in keys if key in patches]
            if len(matching) > 1:
                origin = self._config.origin(*layer.path, SECTIONS[kind], matching[1], key=True)
                problems.append(make_diagnostic("E755", origin, kind=kind, name=matching[1], other=matching[0]))
            for key in matching[:1]:
                is_patched = True
                if patches[key] is None:
                    deleted, merge, spec = True, PatchMerge(), document.value.get("spec")
                else:
                    deleted = False
                    with_origins = (*layer.path, SECTIONS[kind], key)
                    spec = merge.merge({} if spec is None else spec, patches[key], ("spec",), with_origins)
        if deleted or not is_patched:
            return None if deleted else document, problems
        patched_document = PatchedDocument(document, {**document.value, "spec": spec}, merge.sources, self._config)
        return patched_document, problems + self._unused_deletion_warnings(merge)

    def stands_in(self, file: str) -> bool:
        """Whether RenderConfig is in this file."""
        return self._config.name == file

    def keys(self, value: object) -> list[str]:
        """The keys by which patches can refer to an object: NAME and, in a namespace, NAMESPACE/NAME."""
        metadata = map_at(value, "metadata")
        name, namespace = metadata.get("name"), metadata.get("namespace") or self.namespace
        namespaced = as_map(value).get("kind") != "OpenModel"
        return [f"{name}", f"{namespace}/{name}"] if namespaced else [f"{name}"]

    def with_origins(self, document: Document, sources: Iterable[tuple[Path, Path]]) -> Document:
        """A document whose value is patched already, with the sources of the patched fields."""
        return PatchedDocument(document, document.value, dict(sources), self._config) if sources else document

    def presets(self, user_names: Iterable[str]) -> Iterator[tuple[str, PatchedDocument, list[Diagnostic]]]:
        """The model presets that patches name and the user does not define, with the patches applied, and problems."""
        environment_names = {key for layer in self._layers for key in layer.patches["models"]} - {*user_names}
        for name in sorted(environment_names & {*preset_names("models")}):
            patch_document, problems = self.patch_document(preset(f"models/{name}"), "OpenModel")
            if isinstance(patch_document, PatchedDocument):
                yield name, patch_document, problems

    def unmatched_patches(self, objects: Mapping[str, set[str]], *, all_read: bool) -> list[Diagnostic]:
        """Errors for patches that match no object, or several. `objects`: by kind, the objects of the tree with their
        namespaces; `all_read`: whether these are all of them.
        """
        problems = []
        targets = _PatchTargets(objects)
        for kind, section in SECTIONS.items():
            by_name: dict[str, list[str]] = {}
            for label in sorted(objects.get(kind, ())):
                for name in {label, label.rpartition("/")[2]}:
                    by_name.setdefault(name, []).append(label)
            for layer in self._layers:
                for key in layer.patches[section]:
                    labels = by_name.get(key, [])
                    origin = self._config.origin(*layer.path, section, key, key=True)
                    if len(labels) > 1:
                        problems.append(
                            make_diagnostic("E754", origin, name=key, names=quoted(labels), first=labels[0])
                        )
                    elif not labels and all_read:
                        problems.append(
                            make_diagnostic("E753", origin, kind=kind, name=key, hint=targets.hint(kind, key))
                        )
        return problems

    def _unused_deletion_warnings(self, merge: PatchMerge) -> list[Diagnostic]:
        origins = [self._config.origin(*source_path, key=True) for source_path in merge.unused_deletions]
        return [make_diagnostic("W750", origin, key=origin.path[-1]) for origin in origins]


class _PatchTargets:
    """The objects that patches can name."""

    def __init__(self, objects: Mapping[str, set[str]]) -> None:
        self._labels = {kind: set(objects.get(kind, ())) for kind in SECTIONS}  # by kind, names with namespaces
        # By kind, names without namespaces.
        self._names = {kind: {_without_namespace(label) for label in labels} for kind, labels in self._labels.items()}
        self._names_in_order: dict[tuple[str, bool], list[str]] = {}

    def hint(self, kind: str, key: str) -> str:
        """A suggestion for a key that matches no object of the kind."""
        for other_kind, section in SECTIONS.items():
            if key in self._labels[other_kind] or key in self._names[other_kind]:
                return f"write it below {section}"
        if kind == "OpenModel" and key in preset_names("models"):
            return "a model that ships with llmaz need not be deleted: without an app it is not rendered"
        return suggestion(key, self._all(kind, "/" in key))

    def _all(self, kind: str, namespaced: bool) -> list[str]:
        """All names of a kind, sorted, with those of presets."""
        if (kind, namespaced) not in self._names_in_order:
            labels = self._labels[kind] | {*(preset_names("models") if kind == "OpenModel" else ())}
            self._names_in_order[kind, namespaced] = sorted(
                labels if namespaced else {_without_namespace(label) for label in labels}
            )
        return self._names_in_order[kind, namespaced]


def _without_namespace(label: str) -> str:
    """A name without its namespace."""
    return label.rpartition("/")[2]


def find_environment(config: Source, name: str, namespace: str) -> Environment | None:
    """The environment `name` ('' for none) of a RenderConfig returned by `apply_environment`."""
    return Environment(config.base, name, namespace) if name and isinstance(config, PatchedDocument) else None


def apply_environment(config: Document, name: str) -> tuple[Document, list[Diagnostic]]:
    """RenderConfig with the environment `name` applied ('' for none), and the problems of its environments.

    Raises RenderError for an unknown name.
    """
    environments = _environment_values(config)
    if len(environments) > MAX_ENVIRONMENTS:
        origin = config.origin(*_ENVIRONMENTS, key=True)
        raise RenderError([make_diagnostic("E160", origin, count=len(environments), limit=MAX_ENVIRONMENTS)])
    if name and name not in environments:
        raise unknown_environment(name, list(environments))
    if not environments:
        return config, []
    if not name:
        # A copy, since validation removes null keys from this one.
        return PatchedDocument(config, _copy(config.value), {}, config), _from_problems(config)
    patch_document, problems = Environment(config, name).apply_environment()
    return patch_document, _from_problems(config) + problems


def unknown_environment(name: str, known: Sequence[str] = ()) -> RenderError:
    """The error for a name that no environment has."""
    hint = suggestion(name, known) or "define environments in llmaz.yaml, under spec"
    return RenderError([make_diagnostic("E750", Origin(NamedSource(f"--env {name}")), name=name, hint=hint)])


def environment_names(config: Source) -> tuple[str, ...]:
    """The names of RenderConfig's environments, in its order."""
    return tuple(_environment_values(config.base)) if isinstance(config, PatchedDocument) else ()


def only_environment(config: Source, what: str) -> str:
    """The only environment of RenderConfig, '' when it has none. Raises RenderError for several, saying that `what`
    handles just one.
    """
    environments = environment_names(config)
    if len(environments) > 1:
        origin = Origin(config, _ENVIRONMENTS, key=True)
        raise RenderError(
            [make_diagnostic("E756", origin, what=what, names=quoted(environments), first=environments[0])]
        )
    return "".join(environments)


def _from_problems(config: Document) -> list[Diagnostic]:
    """Errors for wrong values of `from`."""
    environments, problems = _environment_values(config), []
    for name, value in environments.items():
        base = as_map(value).get("from")
        origin = config.origin(*_ENVIRONMENTS, name, "from")
        if not isinstance(base, str):
            continue  # the schema's to refuse
        if base not in environments:
            problems.append(
                make_diagnostic(
                    "E751",
                    origin,
                    name=base,
                    hint=suggestion(base, [environment for environment in environments if environment != name])
                    or "leave it out; there is no other environment",
                )
            )
        elif base == name:
            problems.append(
                make_diagnostic("E752", origin, what="an environment cannot start from itself", hint="leave it out")
            )
        elif second_base := as_map(environments[base]).get("from"):
            what = f"'{base}' starts from '{second_base}' itself, but only one level is allowed"
            problems.append(
                make_diagnostic("E752", origin, what=what, hint=f"write from: {second_base}, and what '{base}' adds")
            )
    return problems


def _environment_values(config: Document) -> dict[str, object]:
    """The entries of `environments` by name; entries with bad names (they become folders) or values are left out."""
    environments = map_at(config.value, "spec", "environments")
    return {key: value for key, value in environments.items() if re.fullmatch(_NAME, key) and _is_patch(value)}
