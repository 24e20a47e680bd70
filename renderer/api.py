"""What the user wrote, on the command line and in files: schema-valid, in their words; no default filled that
`resolve` may override.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any, Protocol

from msgspec import Struct

from renderer.diagnostics import Diagnostic, Origin, Path, Source
from renderer.source.tree import DISK, FileSystem, InputTree
from renderer.yamlio import Document

Spec = Mapping[str, Any]


class OpenModel(Struct, frozen=True):
    """A model. `document`: where it stands. `ours`: a preset, else the user's own."""

    name: str
    spec: Spec
    document: Document
    ours: bool = False


class BackendRuntime(Struct, frozen=True):
    """How an engine is run. `ours`: a preset, else the user's own."""

    name: str
    spec: Spec
    document: Document
    ours: bool = False


class UnreadableList(ValueError):
    """A list of options that cannot be read; the text says which, and why."""


class OptionFile(Struct, frozen=True):
    """A file that lists options, less comments and blank lines. `versions`: those that it is about, the oldest first,
    where it says so itself and its lines may have ranges; `sampled`: only some of what there was between them.
    """

    lines: Sequence[str]
    versions: Sequence[str] = ()
    sampled: bool = False


class OptionFiles(Protocol):
    """The files that list an engine's options; `engine.options.list` of a runtime is one of them."""

    def versions(self, runtime: BackendRuntime, listed: str) -> dict[str, str]:
        """Every version that is listed, and the path of its file as a preset would write it. Raises UnreadableList."""

    def file(self, runtime: BackendRuntime, path: str) -> OptionFile | None:
        """A file; None when there is none. Raises UnreadableList."""


class App(Struct, frozen=True):
    """A Playground or a Service. `file`: its input path as headers say it; `namespace` is decided (never empty)."""

    kind: str
    name: str
    namespace: str
    spec: Spec
    annotations: Mapping[str, str]
    document: Document
    file: str
    variant_of: str = ""  # of a variant: the app's own name
    flavor: str = ""  # of a variant: the one flavor that it runs on

    @property
    def label(self) -> str:
        """The name of the app, whose variant this may be."""
        return self.variant_of or self.name

    def origin(self, *path: str | int, key: bool = False) -> Origin:
        """A field of it, from the document's root."""
        return Origin(self.document, path, key)


class TrafficInput(Struct, frozen=True):
    """A ModelRoute or an InferenceModel: a public name over several apps. `outside`: it lies outside PATHS, so that it
    is known and not rendered.
    """

    kind: str
    version: str
    name: str
    namespace: str
    spec: Spec
    document: Document
    file: str
    outside: bool = False

    @property
    def label(self) -> str:
        """Its name, as an app's."""
        return self.name

    @property
    def apps(self) -> Iterator[str]:
        """The names of the apps that it names itself."""
        if self.kind != "ModelRoute":
            yield self.spec["poolRef"]["name"]
            return
        for backend in self.spec["backends"]:
            if name := backend.get("playground") or backend.get("service"):
                yield name

    def origin(self, *path: str | int, key: bool = False) -> Origin:
        """A field of it, from the document's root."""
        return Origin(self.document, path, key)


class RenderConfig(Struct, frozen=True, eq=False):
    """RenderConfig: the file's keys under those of `--set`.

    `sources` names, by path, who set a key that the file did not.
    """

    spec: Spec
    document: Source
    sources: Mapping[Path, Source] = {}

    def get(self, *path: str, default: Any = None) -> Any:
        """The value at a path below `spec`, else the default."""
        value: Any = self.spec
        for part in path:
            if not isinstance(value, dict) or part not in value:
                return default
            value = value[part]
        return value

    def origin(self, *path: str | int, key: bool = False) -> Origin:
        """Who set the key at a path below `spec`."""
        for length in range(len(path), 0, -1):
            if source := self.sources.get(path[:length]):
                return Origin(source, ("spec", *path), key)
        for longer, source in self.sources.items():
            if longer[: len(path)] == path:
                return Origin(source, ("spec", *path), key)
        return Origin(self.document, ("spec", *path), key)


class ConfigPart(Struct, frozen=True):
    """A part of RenderConfig, whose keys different authors may set."""

    config: RenderConfig
    path: tuple[str, ...]

    def at(self, *more: str | int) -> Origin:
        """Who set the key below it."""
        return self.config.origin(*self.path, *more)


class ReusedItems(Struct, frozen=True):
    """What another run found that would be found again. `items`: by kind, namespace and name, apps and what leads to
    apps; `models`: there is nothing to say of; `parts`: what came of the items (result.Part).
    """

    items: Set[tuple[str, str, str]]
    models: Set[str]
    parts: Sequence[Any]


Spared = Callable[["Inputs"], Set[tuple[str, str, str]]]


class RenderOptions(Struct, frozen=True):
    """What the command line says. `output` None: RenderConfig's; `texts`: they are wanted back; `compare`: with the
    folder; `ground`: where the paths lead; `beside`: keys of RenderConfig that the caller reads itself; `env`:
    one environment, else all of RenderConfig's; `spared`: says of what was read whose files nobody wants, so that they
    are not made; `read`: what another run read (Inputs.read); `known`: what came of its items.
    """

    paths: tuple[str, ...] = ()
    output: str | None = None
    overrides: tuple[str, ...] = ()
    strict: bool = False
    write: bool = False
    compare: bool = False
    texts: bool = False
    allow_empty: bool = False
    kubeconform: str | None = None
    ground: FileSystem = DISK
    spared: Spared | None = None
    read: Mapping[tuple[str, bool], Any] = {}
    known: ReusedItems | None = None
    beside: tuple[str, ...] = ()
    env: str = ""

    @property
    def compares(self) -> bool:
        """Whether the output folder matters."""
        return self.compare or self.write


class Scope(Struct, frozen=True):
    """What one run is about: the options, RenderConfig, the files below PATHS, and the output folder.

    `prunes`: input paths, files and folders, whose output this run answers for; empty: all of the tree. `problems`:
    what is wrong with RenderConfig. `reading`: where the files are being read already, what is in them.
    """

    options: RenderOptions
    config: RenderConfig
    config_path: str | None
    tree: InputTree
    folder: str
    prunes: tuple[str, ...]
    problems: tuple[Diagnostic, ...] = ()
    reading: Iterator[Any] | None = None

    @property
    def layout(self) -> str:
        """file, app or object."""
        return str(self.config.get("output", "layout") or "file")


def minor(version: str) -> int:
    """The minor number of a Kubernetes version such as `1.35`, patch and `v` aside; 0 when it is none."""
    major, _, rest = version.removeprefix("v").partition(".")
    number = rest.partition(".")[0]
    return int(number) if major == "1" and number.isdigit() else 0


class Inputs(Struct, frozen=True, eq=False):
    """Everything that was read.

    `models`, `runtimes`, `loaders`: the user's over the presets of the same name; presets are parsed when first
    asked for.
    `own`: names of the user's own models and runtimes. `broken`: by kind and name, documents that stand in the tree but
    have problems of their own; `unreadable`: some file could not be read at all, so what it holds is unknown. `around`:
    objects of others that routes may refer to, unchecked. `traffic`: what leads one public name to several apps;
    `beyond`: apps that lie outside PATHS, to which it may lead. `off`: how much below PATHS the environment turns off.
    `read`: where items may be spared, by the name of a file and whether it lies outside PATHS, what was read there.
    """

    config: RenderConfig
    apps: tuple[App, ...]
    models: Mapping[str, OpenModel]
    runtimes: Mapping[str, BackendRuntime]
    loaders: Mapping[str, Document]
    accelerators: tuple[Spec, ...]
    own: tuple[OpenModel | BackendRuntime, ...]
    option_files: OptionFiles
    broken: Mapping[tuple[str, str], Document]
    unreadable: bool
    foreign: int
    around: tuple[Any, ...] = ()
    traffic: tuple[TrafficInput, ...] = ()
    beyond: tuple[App, ...] = ()
    pickers: Mapping[str, Document] = {}
    off: int = 0
    read: Mapping[tuple[str, bool], Any] = {}

    @property
    def ways(self) -> tuple[TrafficInput, ...]:
        """The traffic that is rendered."""
        return tuple(traffic_input for traffic_input in self.traffic if not traffic_input.outside)
