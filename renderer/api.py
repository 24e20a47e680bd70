"""The user's input, from the command line and from files: schema-valid and unchanged; `resolve` adds defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from renderer.diagnostics import Diagnostic, Origin, Path, Source
from renderer.kubernetes import wellknown
from renderer.source.tree import DISK, FileSystem, InputTree, ReadableFile
from renderer.yamlio import Document

if TYPE_CHECKING:
    from renderer.input_types import (
        AppSpec,
        BackendRuntimeSpec,
        OpenModelSpec,
        RenderConfigSpec,
        RenderPolicySpec,
        TrafficSpec,
    )


class OpenModel(Struct, frozen=True):
    """A model. `document`: its source; `ours`: whether it is a preset; `file`: its input path as in headers."""

    name: str
    spec: OpenModelSpec
    document: Document
    ours: bool = False
    file: str = ""


class BackendRuntime(Struct, frozen=True):
    """How an engine is run. `ours`: whether it is a preset; `file`: its input path as in headers."""

    name: str
    spec: BackendRuntimeSpec
    document: Document
    ours: bool = False
    file: str = ""


class UnreadableList(ValueError):
    """A list of options that cannot be read; the text names it and the reason."""


class OptionFile(Struct, frozen=True):
    """A file that lists options, without comments and blank lines. `versions`: the versions that it covers, oldest
    first, where its lines may have ranges of versions; `sampled`: these are only some of the releases between them.
    """

    lines: Sequence[str]
    versions: Sequence[str] = ()
    sampled: bool = False


class OptionFiles(Protocol):
    """The files that list an engine's options; `engine.options.list` of a runtime is one of them."""

    def versions(self, runtime: BackendRuntime, list_path: str) -> dict[str, str]:
        """Every listed version, and the path of its file relative to the runtime's folder. Raises UnreadableList."""

    def file(self, runtime: BackendRuntime, path: str) -> OptionFile | None:
        """The option file at `path`; None when there is none. Raises UnreadableList."""


ItemKey = tuple[str, str, str]  # kind, namespace, name


class App(Struct, frozen=True):
    """A Playground or a Service. `file`: its input path as in headers; `namespace`: never empty."""

    kind: str
    name: str
    namespace: str
    spec: AppSpec
    annotations: Mapping[str, str]
    document: Document
    file: str
    variant_of: str = ""  # of a variant: the app's own name
    flavor: str = ""  # of a variant: the one flavor that it runs on
    role: str = ""  # prefill or decode, where the pods of a Playground share its work (`variant_of` is its name)
    role_args: int = 0  # how many of its arguments, the last ones, are its role's own
    role_scaler: str = ""  # of a role of a DisaggregatedSet: the kind that an autoscaler targets

    @property
    def key(self) -> ItemKey:
        """Its identity in a tree."""
        return self.kind, self.namespace, self.name

    @property
    def label(self) -> str:
        """The app's name, of a variant or role too."""
        return self.variant_of or self.name

    @property
    def workload_kind(self) -> str:
        """The kind of the workload that runs its pods."""
        return str((self.spec.get("workload") or {}).get("kind") or wellknown.LEADER_WORKER_SET)

    @property
    def scaled_kind(self) -> str:
        """The kind of the object of its name that an autoscaler of its pods targets."""
        return self.role_scaler or self.workload_kind

    def origin(self, *path: str | int, key: bool = False) -> Origin:
        """A field of it, from the document's root."""
        return Origin(self.document, path, key)


class TrafficInput(Struct, frozen=True):
    """A ModelRoute or an InferenceModel: a public name over several apps. `outside`: it lies outside PATHS, and is not
    rendered.
    """

    kind: str
    version: str
    name: str
    namespace: str
    spec: TrafficSpec
    document: Document
    file: str
    outside: bool = False

    @property
    def key(self) -> ItemKey:
        """Its identity in a tree."""
        return self.kind, self.namespace, self.name

    @property
    def label(self) -> str:
        """Its name, under the same attribute as an app's."""
        return self.name

    @property
    def apps(self) -> Iterator[str]:
        """The names of the apps (or the pool) that it refers to."""
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
    """RenderConfig: the file's keys, overridden by `--set`. `sources`: path → the override that set the key."""

    spec: RenderConfigSpec
    document: Source
    sources: Mapping[Path, Source] = {}

    def get(self, *path: str, default: object = None) -> Any:
        """The value at a path below `spec`, else the default."""
        value: object = self.spec
        for part in path:
            if not isinstance(value, dict) or part not in value:
                return default
            value = value[part]
        return value

    def origin(self, *path: str | int, key: bool = False) -> Origin:
        """The origin of the key at a path below `spec`."""
        for length in range(len(path), 0, -1):
            if source := self.sources.get(path[:length]):
                return Origin(source, ("spec", *path), key)
        for longer, source in self.sources.items():
            if longer[: len(path)] == path:
                return Origin(source, ("spec", *path), key)
        return Origin(self.document, ("spec", *path), key)


class ConfigPart(Struct, frozen=True):
    """A map of RenderConfig, some of whose keys `--set` or an environment may have set."""

    config: RenderConfig
    path: tuple[str, ...]

    def at(self, *more: str | int) -> Origin:
        """The origin of a key below it."""
        return self.config.origin(*self.path, *more)


class AdmissionDocuments(Struct, frozen=True, eq=False):
    """What `admission` of a RenderPolicy names: the documents of the files; the facts of the tree that their policies
    may ask for; the problems of the files.
    """

    documents: tuple[Document, ...] = ()
    facts: tuple[Document, ...] = ()
    problems: tuple[Diagnostic, ...] = ()

    @property
    def values(self) -> tuple[list[object], list[object]]:
        """What documents and facts say."""
        return [document.value for document in self.documents], [document.value for document in self.facts]


class RenderPolicy(Struct, frozen=True, eq=False):
    """RenderPolicy: what folders may do. `folder`: the one that its paths are relative to, '' for that of llmaz.yaml;
    `revision`: the commit that it stands in, where it is not that of the tree; `admission`: the files that it names.
    """

    spec: RenderPolicySpec
    document: Document
    folder: str = ""
    revision: str = ""
    admission: AdmissionDocuments = AdmissionDocuments()

    def get(self, *path: str, default: object = None) -> Any:
        """The value at a path below `spec`, else the default."""
        value: object = self.spec
        for part in path:
            if not isinstance(value, dict) or part not in value:
                return default
            value = value[part]
        return value

    def origin(self, *path: str | int, key: bool = False) -> Origin:
        """The origin of the key at a path below `spec`."""
        return Origin(self.document, ("spec", *path), key)


class RenderOptions(Struct, frozen=True):
    """The options of the command line. `output`: None for RenderConfig's; `texts`: return the rendered files;
    `compare`: compare with the output folder; `skipped_keys`: keys of RenderConfig that the caller reads itself;
    `env`: one environment, '' for all of RenderConfig's; `policy`: the file of a RenderPolicy in place of the tree's;
    `earlier_policies`: those of other revisions that count as well; `unjudged`: no policy counts.
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
    file_system: FileSystem = DISK
    skipped_keys: tuple[str, ...] = ()
    env: str = ""
    policy: str = ""
    earlier_policies: tuple[RenderPolicy, ...] = ()
    unjudged: bool = False

    @property
    def compares(self) -> bool:
        """Whether the output folder is compared with."""
        return self.compare or self.write


class Scope(Struct, frozen=True):
    """What one run covers: the options, RenderConfig, the files below PATHS, and the output folder.

    `pruned_paths`: the input paths whose stale output this run deletes; empty: the whole tree. `problems`: those of
    RenderConfig and RenderPolicy.
    `policies`: each of them has to allow what is rendered.
    """

    options: RenderOptions
    config: RenderConfig
    config_path: str | None
    tree: InputTree
    folder: str
    pruned_paths: tuple[str, ...]
    problems: tuple[Diagnostic, ...] = ()
    policies: tuple[RenderPolicy, ...] = ()

    @property
    def layout(self) -> str:
        """file, app or object."""
        return str(self.config.get("output", "layout") or "file")


def minor(version: str) -> int:
    """The minor number of a Kubernetes version such as `1.35`, patch and `v` aside; 0 when it is none."""
    major, _, rest = version.removeprefix("v").partition(".")
    number = rest.partition(".")[0]
    return int(number) if major == "1" and number.isdigit() else 0


class ForeignDocument(Struct, frozen=True):
    """A document of another kind that may be beside a rendered object, or act on one, and its file."""

    document: Document
    file: ReadableFile


class ForeignFile(Struct, frozen=True):
    """A file that is not parsed, since none of our kinds is in it. `names`: the names that stand in it."""

    file: ReadableFile
    names: Set[bytes]


class ClaimedName(Struct, frozen=True):
    """A public name that a rendered route has. `gateway`: namespace and name; `hostnames`: empty for all hosts;
    `adapter`: the OpenModel of the adapter that has it, '' for another name.
    """

    gateway: tuple[str, str]
    hostnames: tuple[str, ...]
    model: str
    owner: App | TrafficInput
    adapter: str = ""


class Inputs(Struct, frozen=True, eq=False):
    """All input of a run.

    `models`, `runtimes`, `loaders`, `pickers`: by name, the user's before presets, which are parsed on first access.
    `definitions`: the user's models and runtimes below PATHS. `broken`: by kind and name, invalid documents.
    `unreadable`: whether documents may be missing. `foreign`: the number of documents of other kinds;
    `foreign_objects`: those that routes may refer to, and autoscalers, unchecked; `foreign_documents`, `foreign_files`:
    those below PATHS that rendered objects are compared with. `traffic`: ModelRoutes and InferenceModels;
    `outside_apps`: apps outside PATHS, which these may refer to. `disabled`: the number of documents below PATHS that
    the environment deletes; `disabled_names`: those of them, where they have one. `device_classes`: by DeviceClass, the
    vendor of its devices.
    """

    config: RenderConfig
    apps: tuple[App, ...]
    models: Mapping[str, OpenModel]
    runtimes: Mapping[str, BackendRuntime]
    loaders: Mapping[str, Document]
    accelerators: tuple[Mapping[str, str], ...]
    definitions: tuple[OpenModel | BackendRuntime, ...]
    option_files: OptionFiles
    broken: Mapping[tuple[str, str], Document]
    unreadable: bool
    foreign: int
    foreign_objects: tuple[Any, ...] = ()
    foreign_documents: tuple[ForeignDocument, ...] = ()
    foreign_files: tuple[ForeignFile, ...] = ()
    traffic: tuple[TrafficInput, ...] = ()
    outside_apps: tuple[App, ...] = ()
    pickers: Mapping[str, Document] = {}
    disabled: int = 0
    disabled_names: Set[str] = frozenset()
    device_classes: Mapping[str, str] = {}

    @property
    def rendered_traffic(self) -> tuple[TrafficInput, ...]:
        """The traffic below PATHS, which is rendered."""
        return tuple(traffic_input for traffic_input in self.traffic if not traffic_input.outside)
