"""Environments: RenderConfig, and what lies in the tree, under the patches of one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from renderer.diagnostics import Diagnostic, Origin, Path, RenderError, Source, make_diagnostic, quoted, suggestion
from renderer.diagnostics.rule import NamedSource
from renderer.load.preset_files import preset, preset_names
from renderer.yamlio import Document

# What an environment patches: the kind, and where its patches stand.
SECTIONS = {"Playground": "playgrounds", "Service": "services", "OpenModel": "models", "ModelRoute": "routes"}
_ENVIRONMENTS = ("spec", "environments")
_NAME = re.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # of an environment, as its schema has it
_SAME = (("environments",), ("output", "dir"))  # what holds in every environment
MAX_ENVIRONMENTS: Final = 100  # each is a run of its own


class PatchedDocument(Document):
    """A document under patches of RenderConfig. `base`: as it stands in its file; `where`: field → the field of
    RenderConfig that set or deleted it, and all below it.
    """

    __slots__ = ("_config", "base", "where")

    def __init__(self, base: Document, value: Any, where: Mapping[Path, Path], config: Document) -> None:
        super().__init__(base._file, base.index, value)
        self.base: Final = base
        self.where: Final = where
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
        """Whose field it is, and where it stands there."""
        there = _standing(self.where, path)
        return (self._config, there) if there else (self.base, path)

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        source, path = self.behind(path)
        return source.locate(path, key=key)

    def raw(self, path: Path) -> str | None:
        """The scalar at `path` as the user wrote it, in whichever file."""
        there = _standing(self.where, path)
        return self._config.raw(there) if there else self.base.raw(path)


def _standing(where: Mapping[Path, Path], path: Path) -> Path:
    """The field of RenderConfig that set this one, else ()."""
    for length in range(len(path), 0, -1):
        if there := where.get(path[:length]):
            return (*there, *path[length:])
    return ()


class PatchMerge:
    """One value under one patch after another. `where` as in Patched; `idle`: fields of patches that delete what is
    not there.
    """

    def __init__(self) -> None:
        self._set_in_turn: dict[Path, Path] = {}  # fields that were set, the last one last
        self.idle: list[Path] = []

    @property
    def where(self) -> dict[Path, Path]:
        """Field → the field of RenderConfig that set or deleted it, and all below it."""
        changes: dict[Path, Path] = {}
        for path, at in reversed(self._set_in_turn.items()):
            if not any(path[:length] in changes for length in range(len(path))):  # else it was set anew from further up
                changes[path] = at
        return dict(reversed(changes.items()))

    def merged(self, base: Any, patch: Any, path: Path, at: Path) -> Any:
        """`base`, which stands at `path`, under `patch`, which stands at `at` in RenderConfig; neither is changed.

        Maps merge, null deletes, lists whose items have a name merge by it, anything else is replaced.
        """
        if isinstance(base, dict) and isinstance(patch, dict):
            result = dict(base)
            for key, value in patch.items():
                target, source = (*path, key), (*at, key)
                if value is None:
                    if result.pop(key, None) is None:
                        self.idle.append(source)
                    self._set(target, source)
                elif result.get(key) is None:
                    result[key] = self._new(value, target, source)
                else:
                    result[key] = self.merged(result[key], value, target, source)
            return result
        if _named(base) and _named(patch):
            items = list(base)
            places = {item["name"]: i for i, item in reversed([*enumerate(items)])}
            for i, item in enumerate(patch):
                place = places.setdefault(item["name"], len(items))
                target, source = (*path, place), (*at, i)
                if place == len(items):
                    items.append(self._new(item, target, source))
                else:
                    items[place] = self.merged(items[place], item, target, source)
            return items
        return self._new(patch, path, at)

    def meant(self, path: Path) -> list[Path]:
        """The fields of patches that set this field, or something below it."""
        where = self.where
        there = _standing(where, path)
        return [there] if there else [at for field, at in where.items() if field[: len(path)] == path]

    def _new(self, value: Any, path: Path, at: Path) -> Any:
        self._set(path, at)
        self.idle += _nulls(value, at)
        return _without_nulls(value)

    def _set(self, path: Path, at: Path) -> None:
        """From here on the field is the patch's, with all below it."""
        self._set_in_turn.pop(path, None)
        self._set_in_turn[path] = at


def _below(value: Any, path: Path) -> Any:
    for part in path:
        value = _map(value).get(part)  # type: ignore[arg-type]
    return value


def _named(value: Any) -> bool:
    """Whether it is a list whose items all have a name; an empty one has none."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, dict) and isinstance(item.get("name"), str) for item in value)
    )


def _nulls(value: Any, at: Path) -> Iterator[Path]:
    """The keys of maps in maps that have no value."""
    for key, item in value.items() if isinstance(value, dict) else ():
        if item is None:
            yield (*at, key)
        yield from _nulls(item, (*at, key))


def _copied(value: Any) -> Any:
    """A copy of a tree; the module `copy` takes longer to import than this takes."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, list) else value


def _without_nulls(value: Any) -> Any:
    """A copy without keys that have no value: there is nothing for them to delete."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


class EnvironmentLayer(Struct, frozen=True):
    """What RenderConfig says of one environment, and where. `patches`: by section and name."""

    path: Path
    value: Mapping[str, Any]
    patches: Mapping[str, Mapping[str, Any]]


def _layer(name: str, value: dict[str, Any]) -> EnvironmentLayer:
    """The layer of an environment; what is no patch is the schema's to refuse."""
    sections = {section: _map(value.get(section)) for section in SECTIONS.values()}
    patches = {
        section: {key: patch for key, patch in values.items() if _is_patch(patch)}
        for section, values in sections.items()
    }
    return EnvironmentLayer((*_ENVIRONMENTS, name), value, patches)


def _is_patch(value: Any) -> bool:
    return value is None or isinstance(value, dict)


class Environment:
    """One environment: its layers, first that of the environment that it is made from.

    `namespace`: where apps stand that name none.
    """

    def __init__(self, config: Document, name: str, namespace: str = "default") -> None:
        self.name, self.namespace, self._config = name, namespace, config
        environments = _said(config)
        own = _map(environments.get(name))
        other = own.get("from")
        chain = [other, name] if isinstance(other, str) and other in environments and other != name else [name]
        self._layers = [_layer(layer_name, _map(environments.get(layer_name))) for layer_name in chain]

    def configured(self) -> tuple[PatchedDocument, list[Diagnostic]]:
        """RenderConfig itself under the `config` of all layers, and what these cannot change."""
        merge, spec = PatchMerge(), _copied(self._config.value["spec"])
        for layer in self._layers:
            if isinstance(config := layer.value.get("config"), dict):
                spec = merge.merged(spec, config, ("spec",), (*layer.path, "config"))
        patched = PatchedDocument(self._config, {**self._config.value, "spec": spec}, merge.where, self._config)
        problems = [
            make_diagnostic("E757", self._config.origin(*at, key=True), key=".".join(same))
            for same in _SAME
            if _below(spec, same) != _below(self._config.value["spec"], same)
            for at in merge.meant(("spec", *same))
        ]
        return patched, problems + self._idle(merge)

    def patched(self, document: Document, kind: str) -> tuple[Document | None, list[Diagnostic]]:
        """A document under the patches that name it, None when the last of them deletes it; and what is wrong."""
        merge, spec, gone = PatchMerge(), document.value.get("spec"), False
        touched, problems = False, []
        for layer in self._layers:
            patches, keys = layer.patches.get(SECTIONS.get(kind, ""), {}), self.keys(document.value)
            both = [key for key in keys if key in patches]
            if len(both) > 1:
                at = self._config.origin(*layer.path, SECTIONS[kind], both[1], key=True)
                problems.append(make_diagnostic("E755", at, kind=kind, name=both[1], other=both[0]))
            for key in both[:1]:
                touched = True
                if patches[key] is None:
                    gone, merge, spec = True, PatchMerge(), document.value.get("spec")
                else:
                    gone = False
                    standing = (*layer.path, SECTIONS[kind], key)
                    spec = merge.merged({} if spec is None else spec, patches[key], ("spec",), standing)
        if gone or not touched:
            return None if gone else document, problems
        patched_document = PatchedDocument(document, {**document.value, "spec": spec}, merge.where, self._config)
        return patched_document, problems + self._idle(merge)

    def stands_in(self, file: str) -> bool:
        """Whether that is the file of RenderConfig."""
        return self._config.name == file

    def keys(self, value: Any) -> list[str]:
        """The names by which patches can mean an object: its own, and with its namespace."""
        metadata = _map(_map(value).get("metadata"))
        name, namespace = metadata.get("name"), metadata.get("namespace") or self.namespace
        spaced = _map(value).get("kind") != "OpenModel"
        return [f"{name}", f"{namespace}/{name}"] if spaced else [f"{name}"]

    def standing(self, document: Document, where: Iterable[tuple[Path, Path]]) -> Document:
        """A document whose value is merged already, with the places of what the patches set."""
        return PatchedDocument(document, document.value, dict(where), self._config) if where else document

    def presets(self, own_names: Iterable[str]) -> Iterator[tuple[str, PatchedDocument, list[Diagnostic]]]:
        """The presets of models that the patches name, under these, less those that the tree has itself."""
        names = {key for layer in self._layers for key in layer.patches["models"]} - {*own_names}
        for name in sorted(names & {*preset_names("models")}):
            patched, problems = self.patched(preset(f"models/{name}"), "OpenModel")
            if isinstance(patched, PatchedDocument):
                yield name, patched, problems

    def unmet(self, objects: Mapping[str, set[str]], *, all_read: bool) -> list[Diagnostic]:
        """What is wrong with the names that patches give: by kind, `there` are the objects of the tree, with their
        namespaces. `all_read`: there are no others.
        """
        problems = []
        known = _Known(objects)
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
                            make_diagnostic("E753", origin, kind=kind, name=key, hint=known.hint(kind, key))
                        )
        return problems

    def _idle(self, merge: PatchMerge) -> list[Diagnostic]:
        origins = [self._config.origin(*at, key=True) for at in merge.idle]
        return [make_diagnostic("W750", origin, key=origin.path[-1]) for origin in origins]


class _Known:
    """The objects of a tree by kind: `labels` with their namespaces, and `names` without."""

    def __init__(self, there: Mapping[str, set[str]]) -> None:
        self._labels = {kind: set(there.get(kind, ())) for kind in SECTIONS}
        self._names = {kind: {_bare(label) for label in labels} for kind, labels in self._labels.items()}
        self._listed: dict[tuple[str, bool], list[str]] = {}

    def hint(self, kind: str, key: str) -> str:
        """What may be meant by a name that no object of a kind has."""
        for other, section in SECTIONS.items():
            if key in self._labels[other] or key in self._names[other]:
                return f"write it below {section}"
        if kind == "OpenModel" and key in preset_names("models"):
            return "a model that comes with llmaz need not be deleted: without an app nothing is made of it"
        return suggestion(key, self._all(kind, "/" in key))

    def _all(self, kind: str, spaced: bool) -> list[str]:
        """Every name of a kind, those of the presets too, in order."""
        if (kind, spaced) not in self._listed:
            labels = self._labels[kind] | {*(preset_names("models") if kind == "OpenModel" else ())}
            self._listed[kind, spaced] = sorted(labels if spaced else {_bare(label) for label in labels})
        return self._listed[kind, spaced]


def _bare(label: str) -> str:
    """A name without its namespace."""
    return label.rpartition("/")[2]


def environment(config: Source, name: str, namespace: str) -> Environment | None:
    """The environment of that name, '' is none, of RenderConfig as `configured` has made it."""
    return Environment(config.base, name, namespace) if name and isinstance(config, PatchedDocument) else None


def configured(config: Document, name: str) -> tuple[Document, list[Diagnostic]]:
    """RenderConfig in the environment of that name, '' is in none, and what is wrong with its environments.

    Raises RenderError when there is none of that name.
    """
    environments = _said(config)
    if len(environments) > MAX_ENVIRONMENTS:
        origin = config.origin(*_ENVIRONMENTS, key=True)
        raise RenderError([make_diagnostic("E160", origin, count=len(environments), limit=MAX_ENVIRONMENTS)])
    if name and name not in environments:
        raise missing(name, list(environments))
    if not environments:
        return config, []
    if not name:
        # Its value is looked at later, when a check may have taken empty keys out of this one.
        return PatchedDocument(config, _copied(config.value), {}, config), _misled(config)
    patched, problems = Environment(config, name).configured()
    return patched, _misled(config) + problems


def missing(name: str, known: Sequence[str] = ()) -> RenderError:
    """No environment has that name."""
    hint = suggestion(name, known) or "environments are written into llmaz.yaml, under spec"
    return RenderError([make_diagnostic("E750", Origin(NamedSource(f"--env {name}")), name=name, hint=hint)])


def names(config: Source) -> tuple[str, ...]:
    """The environments of RenderConfig, in its order."""
    return tuple(_said(config.base)) if isinstance(config, PatchedDocument) else ()


def one(config: Source, what: str) -> str:
    """The only environment of RenderConfig, '' when it has none. Raises RenderError when it has several, saying that
    `what` is about one.
    """
    environments = names(config)
    if len(environments) > 1:
        origin = Origin(config, _ENVIRONMENTS, key=True)
        raise RenderError(
            [make_diagnostic("E756", origin, what=what, names=quoted(environments), first=environments[0])]
        )
    return "".join(environments)


def _misled(config: Document) -> list[Diagnostic]:
    """What is wrong with `from`."""
    environments, problems = _said(config), []
    for name, value in environments.items():
        other = _map(value).get("from")
        origin = config.origin(*_ENVIRONMENTS, name, "from")
        if not isinstance(other, str):
            continue  # the schema's to refuse
        if other not in environments:
            problems.append(
                make_diagnostic(
                    "E751",
                    origin,
                    name=other,
                    hint=suggestion(other, [environment for environment in environments if environment != name]),
                )
            )
        elif other == name:
            problems.append(
                make_diagnostic("E752", origin, what="an environment cannot begin with itself", hint="leave it out")
            )
        elif further := _map(environments[other]).get("from"):
            what = f"'{other}' begins with '{further}' itself, and this goes one level deep"
            problems.append(
                make_diagnostic("E752", origin, what=what, hint=f"write from: {further}, and what '{other}' adds")
            )
    return problems


def _said(config: Document) -> dict[str, Any]:
    """What RenderConfig says of environments, by their names, which become folders; none where that is no map."""
    environments = _map(_map(_map(config.value).get("spec")).get("environments"))
    return {key: value for key, value in environments.items() if _NAME.fullmatch(key) and _is_patch(value)}


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
