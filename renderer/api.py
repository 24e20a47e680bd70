"""The user's input, from the command line and from files: schema-valid and unchanged; `resolve` adds defaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from renderer.diagnostics import Diagnostic, Origin, Path, Source
from renderer.kubernetes import wellknown
from renderer.source.tree import DISK, FileSystem, InputTree, ReadableFile
from renderer.yamlio import Document

if TYPE_CHECKING:
    from renderer.fit.accelerator_types import AcceleratorTypes
    from renderer.input_types import (
        AppSpec,
        BackendRuntimeSpec,
        OpenModelSpec,
        RenderConfigSpec,
        RenderPolicySpec,
        TrafficSpec,
    )


class OpenModel(Struct, frozen=True):
    """A model."""

    name: str
    spec: OpenModelSpec
    document: Document  # its source
    ours: bool = False  # it is a preset
    file: str = ""  # its input path as in headers


class BackendRuntime(Struct, frozen=True):
    """How an engine is run."""

    name: str
    spec: BackendRuntimeSpec
    document: Document
    ours: bool = False  # it is a preset
    file: str = ""  # its input path as in headers


class UnreadableList(ValueError):
    """A list of options that cannot be read; the text names it and the reason."""


class OptionFile(Struct, frozen=True):
    """A file that lists options, without comments and blank lines."""

    lines: Sequence[str]
    versions: Sequence[str] = ()  # those that it covers, oldest first, where its lines may have ranges of versions
    sampled: bool = False  # `versions` are only some of the releases between the first and the last
    learnt: str = ""  # the version whose own help it is from, which says less than other lists


class OptionFiles(Protocol):
    """The files that list an engine's options; `engine.options.list` of a runtime is one of them."""

    def versions(self, runtime: BackendRuntime, list_path: str) -> dict[str, str]:
        """Every listed version, and the path of its file relative to the runtime's folder. Raises UnreadableList."""

    def file(self, runtime: BackendRuntime, path: str) -> OptionFile | None:
        """The option file at `path`; None when there is none. Raises UnreadableList."""

    def learnt(self) -> dict[str, OptionFile]:
        """The lists in the folder that RenderConfig names, by file name."""

    def unread(self) -> dict[str, str]:
        """The files of that folder that are no such lists, by name, and what is wrong with each."""


class TreeFile(Struct, frozen=True):
    """A chat template in a file of the tree."""

    path: str  # as messages name it
    text: str = ""
    unread: str = ""  # why it cannot be read, '' where it can
    hint: str = ""  # what to do then
    fault: str = ""  # why engines cannot parse it, '' where they can


class TemplateFiles(Protocol):
    """The chat templates of a tree."""

    def read(self, path: str, named_in: str) -> TreeFile:
        """The file at a path that is relative to the folder of the file that names it."""


ItemKey = tuple[str, str, str]  # kind, namespace, name


class App(Struct, frozen=True):
    """A Playground or a Service."""

    kind: str
    name: str
    namespace: str  # never empty
    spec: AppSpec
    annotations: Mapping[str, str]
    document: Document
    file: str  # its input path as in headers
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
    """A ModelRoute or an InferenceModel: a public name over several apps."""

    kind: str
    version: str
    name: str
    namespace: str
    spec: TrafficSpec
    document: Document
    file: str
    outside: bool = False  # it lies outside PATHS, and is not rendered

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


def _value_at(spec: object, path: tuple[str, ...], default: object) -> object:
    """The value at a path of maps, else the default; a null is a value."""
    for key in path:
        if not isinstance(spec, dict) or key not in spec:
            return default
        spec = spec[key]
    return spec


class RenderConfig(Struct, frozen=True, eq=False):
    """RenderConfig: the file's keys, overridden by `--set`."""

    spec: RenderConfigSpec
    document: Source
    sources: Mapping[Path, Source] = {}  # the override that set a key, by the path of the key

    def get(self, *path: str, default: object = None) -> Any:
        """The value at a path below `spec`, else the default."""
        return _value_at(self.spec, path, default)

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
    """The documents that `admission` of a RenderPolicy names, and those of the tree that belong to them."""

    documents: tuple[Document, ...] = ()  # of the files that it names
    facts: tuple[Document, ...] = ()  # documents of the tree that the policies may ask for
    problems: tuple[Diagnostic, ...] = ()  # of the files

    @property
    def values(self) -> tuple[list[object], list[object]]:
        """What documents and facts say."""
        return [document.value for document in self.documents], [document.value for document in self.facts]


class RenderPolicy(Struct, frozen=True, eq=False):
    """RenderPolicy: what folders may do."""

    spec: RenderPolicySpec
    document: Document
    folder: str = ""  # its paths are relative to this one, '' for that of llmaz.yaml
    revision: str = ""  # the commit that holds it, '' for that of the tree
    admission: AdmissionDocuments = AdmissionDocuments()  # of the files that its `admission` names

    def get(self, *path: str, default: object = None) -> Any:
        """The value at a path below `spec`, else the default."""
        return _value_at(self.spec, path, default)

    def origin(self, *path: str | int, key: bool = False) -> Origin:
        """The origin of the key at a path below `spec`."""
        return Origin(self.document, ("spec", *path), key)


class RenderOptions(Struct, frozen=True):
    """The options of the command line."""

    paths: tuple[str, ...] = ()
    output: str | None = None  # None for RenderConfig's
    overrides: tuple[str, ...] = ()
    strict: bool = False
    verbose: bool = False  # notes are told that only who asks for each wants
    write: bool = False
    compare: bool = False  # with the output folder
    texts: bool = False  # return the rendered files
    counts_fleet: bool = False  # and count the accelerators of workloads
    allow_empty: bool = False
    kubeconform: str | None = None
    file_system: FileSystem = DISK
    skipped_keys: tuple[str, ...] = ()  # keys of RenderConfig that the caller reads itself
    env: str = ""  # one environment, '' for all of RenderConfig's
    policy: str = ""  # the file of a RenderPolicy in place of the tree's
    earlier_policies: tuple[RenderPolicy, ...] = ()  # those of other revisions, which count as well
    unjudged: bool = False  # no policy counts

    @property
    def compares(self) -> bool:
        """Whether the output folder is compared with."""
        return self.compare or self.write


class Scope(Struct, frozen=True):
    """What one run covers: the options, RenderConfig, the files below PATHS, and the output folder."""

    options: RenderOptions
    config: RenderConfig
    config_path: str | None
    tree: InputTree
    folder: str
    pruned_paths: tuple[str, ...]  # the input paths whose stale output this run deletes, empty for the whole tree
    problems: tuple[Diagnostic, ...] = ()  # of RenderConfig and RenderPolicy
    policies: tuple[RenderPolicy, ...] = ()  # each of them has to allow what is rendered

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
    """A file that is not parsed, since it holds none of our kinds."""

    file: ReadableFile
    names: Set[bytes]  # those that its text holds
    kinds: Set[bytes] = frozenset()  # of objects that are compared with rendered ones


class ClaimedName(Struct, frozen=True):
    """A public name that a rendered route has."""

    gateway: tuple[str, str]  # namespace and name
    hostnames: tuple[str, ...]  # empty for all hosts
    model: str
    owner: App | TrafficInput
    entry: str = ""  # the OpenModel whose entry of the claim has that name, '' for a name that the owner has itself


class Inputs(Struct, frozen=True, eq=False):
    """All input of a run. Maps by name have the user's objects before presets, which are parsed on first access."""

    config: RenderConfig
    apps: tuple[App, ...]
    models: Mapping[str, OpenModel]  # by name
    runtimes: Mapping[str, BackendRuntime]  # by name
    preset_runtimes: Mapping[str, BackendRuntime]  # ours alone, by name
    loaders: Mapping[str, Document]  # by name
    accelerators: tuple[Mapping[str, str], ...]
    own_accelerators: Mapping[str, Mapping[str, str]]  # those that RenderConfig declares, by the resource
    definitions: tuple[OpenModel | BackendRuntime, ...]  # the user's models and runtimes below PATHS
    option_files: OptionFiles
    accelerator_types: Callable[[], AcceleratorTypes]  # read where one is asked for
    broken: Mapping[tuple[str, str], Document]  # invalid documents, by kind and name
    unreadable: bool  # documents may be missing
    foreign: int  # the number of documents of other kinds
    foreign_objects: tuple[Any, ...] = ()  # those that routes may refer to, and autoscalers, unchecked
    foreign_documents: tuple[ForeignDocument, ...] = ()  # those below PATHS that rendered objects are compared with
    foreign_files: tuple[ForeignFile, ...] = ()  # those below PATHS that rendered objects are compared with
    traffic: tuple[TrafficInput, ...] = ()  # ModelRoutes and InferenceModels
    outside_apps: tuple[App, ...] = ()  # apps outside PATHS, to which `traffic` may refer
    pickers: Mapping[str, Document] = {}  # by name
    disabled: int = 0  # the number of documents below PATHS that the environment deletes
    disabled_names: Set[str] = frozenset()  # of the deleted documents that have one
    device_classes: Mapping[str, str] = {}  # the vendor of the devices, by DeviceClass
    preset_facts: Callable[[str], Mapping[str, object]] = lambda model_id: {}  # `facts` of our model with that modelID
    template_files: TemplateFiles | None = None  # None where nothing is read from a tree

    @property
    def rendered_traffic(self) -> tuple[TrafficInput, ...]:
        """The traffic below PATHS, which is rendered."""
        return tuple(traffic_input for traffic_input in self.traffic if not traffic_input.outside)
