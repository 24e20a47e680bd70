"""Lines of the presets that no user names: loaders and pickers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from renderer import load
from renderer.api import Inputs
from renderer.explain.making import Made
from renderer.problems import Origin, Path, Source
from renderer.resolve import gateways
from renderer.template import could_make
from renderer.yamlio import Changed, Document

_LOADER = "model-loader"


class Shipped:
    """The presets of one run, each read when it is first asked for."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._read: dict[str, Document] = {}

    def ours(self, source: Source) -> bool:
        """Whether a document is a preset."""
        if isinstance(source, Changed):
            source = source.whole
        if not isinstance(source, Document):
            return False
        if any(source is each for each in self._read.values()):
            return True
        kind, name = source.value.get("kind"), str((source.value.get("metadata") or {}).get("name"))
        shelves: Mapping[str, Mapping[str, Any]] = {
            "OpenModel": self._inputs.models,
            "BackendRuntime": self._inputs.runtimes,
        }
        shelf = shelves.get(str(kind), {})
        return bool(name in shelf and shelf[name].ours and shelf[name].document is source)

    def _document(self, name: str) -> Document:
        if name not in self._read:
            self._read[name] = load.preset(name)
        return self._read[name]

    def candidates(self, made: Made, path: Path) -> Iterator[tuple[Origin, Path, Path]]:
        """Where presets may say the field: origin, steps that are left, and the field that it is of."""
        if made.key[0] == "LeaderWorkerSet" and "initContainers" in path:
            at = path.index("initContainers") + 2
            if len(path) > at and _reached(made.body, path[:at])["name"].startswith(_LOADER):
                yield from self._loader(made, path, at)
        plan_name = made.key[2]
        if plan_name.endswith("-epp") and made.item is not None:
            yield from self._picker(made, path)

    def _loader(self, made: Made, path: Path, at: int) -> Iterator[tuple[Origin, Path, Path]]:
        container, field = _reached(made.body, path[:at]), path[at]
        for name in self._loaders(container):
            document = self._document(f"loaders/{name}")
            config = self._inputs.config.origin("loaders", name)
            if field == "env" and len(path) > at + 1:
                yield config.at("env"), path[at + 1 :], path[: at + 1]
                for i in _sources(document, container):
                    yield Origin(document, ("spec", "sources", i, "envs")), path[at + 1 :], path[: at + 1]
                    for j, grant in enumerate(document.value["spec"]["sources"][i].get("credentials") or ()):
                        yield from self._secret(
                            made, path, at, Origin(document, ("spec", "sources", i, "credentials", j)), grant
                        )
            elif field in ("command", "resources"):
                yield config.at(str(field)), path[at + 1 :], path[: at + 1]
                yield Origin(document, ("spec", field)), path[at + 1 :], path[: at + 1]
            elif field == "args" and len(path) == at + 2:
                aligned = _aligned(container["args"], document.value["spec"].get("args") or ())
                if (found := aligned.get(int(path[-1]))) is not None:
                    yield Origin(document, ("spec", "args", *found)), (), path

    def _secret(
        self, made: Made, path: Path, at: int, origin: Origin, grant: Mapping[str, Any]
    ) -> Iterator[tuple[Origin, Path, Path]]:
        """A key of a Secret, and its name."""
        entry = _reached(made.body, path[: at + 2])
        for k, each in enumerate(grant.get("envs") or ()):
            if each["name"] != entry["name"]:
                continue
            if path[-1] == "key" and "key" in each:
                yield origin.at("envs", k, "key"), (), path
            elif path[-1] == "name" and len(path) > at + 3:
                yield self._inputs.config.origin("secrets", grant["secret"]), (), path
                yield self._inputs.config.origin("secrets", grant["secret"], "name"), (), path
                yield origin.at("name"), (), path
            elif len(path) == at + 3:
                yield origin.at("envs", k, str(path[-1])), (), path

    def _loaders(self, container: Mapping[str, Any]) -> list[str]:
        """The loader that made the container: of all, the one that says most of it."""
        fits = {
            name: max(_fit(each, container) for each in self._document(f"loaders/{name}").value["spec"]["sources"])
            for name in load.preset_names("loaders")
        }
        return [max(fits, key=lambda name: fits[name])]

    def _picker(self, made: Made, path: Path) -> Iterator[tuple[Origin, Path, Path]]:
        container: Path = ("spec", "template", "spec", "containers", 0)
        name = str(gateways.door(self._inputs.config, made.key[1]).get("picker"))
        if name in load.preset_names("pickers"):
            document = self._document(f"pickers/{name}")
            if path[: len(container)] == container and len(path) > 5 and path[5] in ("args", "resources"):
                yield Origin(document, ("spec", path[5])), path[6:], path[:6]


def _sources(document: Document, container: Mapping[str, Any]) -> list[int]:
    """The entries of a loader's sources, the ones first that say most of what the container holds."""
    sources = document.value["spec"]["sources"]
    return sorted(range(len(sources)), key=lambda i: _fit(sources[i], container), reverse=True)


def _fit(source: Mapping[str, Any], container: Mapping[str, Any]) -> int:
    """How much a source's entry says of the container's variables, less what the container has otherwise."""
    held = {each["name"]: each.get("value") for each in container.get("env") or ()}
    score = 0
    for each in source.get("envs") or ():
        if each["name"] not in held:
            score -= 0 if "when" in each else 10
        elif "{{" not in each["value"]:
            score += 1 if held[each["name"]] == each["value"] else -1
    return score


def _aligned(args: Sequence[str], entries: Sequence[Any]) -> dict[int, Path]:
    """Which entry each argument comes from: some may be left out, all keep their order."""
    made: dict[int, Path] = {}
    i = 0
    for k, entry in enumerate(entries):
        text = entry["value"] if isinstance(entry, Mapping) else entry
        if i < len(args) and could_make(text, args[i]):
            made[i] = (k, "value") if isinstance(entry, Mapping) else (k,)
            i += 1
    return made


def _reached(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value
