"""1: every input file, ours and the user's → Inputs, schema-valid."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from renderer import schema, tree, yamlio
from renderer.api import App, BackendRuntime, Config, Inputs, OpenModel, Options, Scope, minor
from renderer.parallel import Team
from renderer.problems import Origin, Path, Problem, RenderError, Source, at_hand, guess, problem
from renderer.tree import MAX_BYTES, File
from renderer.yamlio import Document

T = TypeVar("T")

GROUPS = ("llmaz.io", "inference.llmaz.io", "renderer.llmaz.io")
KINDS = {
    "OpenModel": "llmaz.io/v1alpha1",
    "Playground": "inference.llmaz.io/v1alpha1",
    "Service": "inference.llmaz.io/v1alpha1",
    "BackendRuntime": "inference.llmaz.io/v1alpha1",
    "RenderConfig": "renderer.llmaz.io/v1alpha1",
}
_LATER = ("ModelRoute", "InferenceModel")
_APPS = ("Playground", "Service")
# Where a plain `off` is that word, not false (contract, 1a).
_WORDS: dict[str, tuple[Path, ...]] = {
    "Playground": (("spec", "hardening"), ("spec", "gateway", "mode")),
    "Service": (("spec", "hardening"), ("spec", "gateway", "mode")),
    "RenderConfig": (("spec", "hardening"), ("spec", "gateway", "mode")),
}
PRESETS = next(
    folder
    for folder in (
        os.path.join(os.path.dirname(__file__), "presets"),
        os.path.join(os.path.dirname(os.path.dirname(__file__)), "presets"),
    )
    if os.path.isdir(folder)
)


# What says that a file may be ours: also with its apiVersion missing or misspelt, or in another encoding.
_SIGNS = (
    b"llmaz.io/",
    b"inference.networking.x-k8s.io/",
    *(f"kind: {kind}".encode() for kind in ("Playground", "OpenModel", "BackendRuntime", "RenderConfig")),
    b"inference.llmaz",
    *("llmaz.io/".encode(encoding) for encoding in ("utf-16-le", "utf-16-be")),
)
# Fields of old releases: what to write now, and the field that it means (llmaz-api.md, section 7).
_CLAIMS = ("write spec.modelClaims.models, a list of name and role", "modelClaims")
_CONFIGS = ("write it in an item of recommendedConfigs", "recommendedConfigs")
_OLDER: dict[str, dict[tuple[str, ...], tuple[str, str]]] = {
    "OpenModel": {
        ("spec", "dataSource"): ("write spec.source.modelHub, with name and modelID", "source"),
        ("spec", "source", "modelID"): ("write it in source.modelHub, beside name", "modelHub"),
        ("spec", "source", "modelHub"): ("write modelHub: {name: …, modelID: …}", ""),
        ("spec", "inferenceFlavors"): ("write spec.inferenceConfig.flavors", "inferenceConfig"),
        ("spec", "inferenceConfig", "flavors", "requests"): ("write limits; they are the requests too", "limits"),
    },
    "Playground": {
        ("spec", "multiModelsClaim"): _CLAIMS,
        ("spec", "multiModelsClaims"): _CLAIMS,
        ("spec", "modelClaims", "modelNames"): _CLAIMS,
        ("spec", "modelClaim", "inferenceFlavorClaims"): ("write inferenceFlavors", "inferenceFlavors"),
        ("spec", "modelClaims", "inferenceFlavorClaims"): ("write inferenceFlavors", "inferenceFlavors"),
        ("spec", "backendConfig"): ("write backendRuntimeConfig, with the name as backendName", "backendRuntimeConfig"),
        ("spec", "backendRuntimeConfig", "name"): ("write backendName", "backendName"),
        ("spec", "backendRuntimeConfig", "argName"): ("write configName", "configName"),
        ("spec", "backendRuntimeConfig", "argFlags"): ("write args, a list of strings", "args"),
        ("spec", "backendRuntimeConfig", "args"): ("write a list, an argument each; configName chooses a config", ""),
        ("spec", "backendRuntimeConfig", "scaleTrigger"): ("write it in spec.elasticConfig", ""),
        ("spec", "elasticConfig", "scaleTriggerRef"): ("write scaleTrigger, with the trigger itself", "scaleTrigger"),
    },
    "BackendRuntime": {
        ("spec", "commands"): ("write command", "command"),
        ("spec", "multiHostCommands"): ("leave it out; several hosts take a Service", ""),
        ("spec", "args"): ("write each as an item of recommendedConfigs, its flags as args", "recommendedConfigs"),
        ("spec", "resources"): _CONFIGS,
        ("spec", "sharedMemorySize"): _CONFIGS,
        ("spec", "scaleTrigger"): _CONFIGS,
        ("spec", "scaleTriggers"): ("write scaleTrigger in an item of recommendedConfigs", "recommendedConfigs"),
    },
    "Service": {
        ("spec", "multiModelsClaims"): _CLAIMS,
        ("spec", "modelClaim"): ("write spec.modelClaims.models, a list of names", "modelClaims"),
        ("spec", "elasticConfig"): ("leave it out; only a Playground has one", ""),
        ("spec", "workloadTemplate", "replicas"): ("write spec.replicas", ""),
        ("spec", "workloadTemplate", "rolloutStrategy"): ("write spec.rolloutStrategy", ""),
        ("spec", "workloadTemplate", "startupPolicy"): ("leave it out; it follows from the size", ""),
        ("spec", "workloadTemplate", "leaderWorkerTemplate"): (
            "write what it holds directly under workloadTemplate",
            "workerTemplate",
        ),
    },
}


class _Rule:
    """A source without a place: a default of ours, or a flag of the command line."""

    def __init__(self, name: str) -> None:
        self.name = name

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return 0, 0


class Override(NamedTuple):
    """`--set KEY=VALUE`: the path below RenderConfig's `spec`, and the value as YAML reads it."""

    path: tuple[str, ...]
    value: Any
    text: str


def override(text: str) -> Override:
    """One `--set`. Raises RenderError when it is no KEY=VALUE, or the value is no YAML."""
    source = _flag(text)
    key, equals, value = text.partition("=")
    path = tuple(key.removeprefix("spec.").split("."))
    if not equals or not all(path):
        raise RenderError([problem("E130", Origin(source), text=text)])
    documents, problems = yamlio.parse(source.name, value.encode())
    if problems:
        raise RenderError([problem("E131", Origin(source), what=problems[0].message)])
    read = documents[0].value if documents else ""
    return Override(path, value if read is False and value.lower() == "off" else read, text)


def config(path: str | None, name: str, overrides: Sequence[Override] = ()) -> tuple[Config, list[Problem]]:
    """RenderConfig of the file at `path` (None: there is none), under the overrides; and what is wrong with the file,
    the Config then being what is well.

    Raises RenderError for a file that is no YAML, and for bad overrides.
    """
    document: Document | None = None
    spec: dict[str, Any] = {}
    problems: list[Problem] = []
    if path:
        try:
            data = File(name, "", path).read()
        except OSError as error:
            raise RenderError([problem("E120", Origin(_Rule(name)), what=error.strerror or error)]) from None
        documents, problems = yamlio.parse(name, data)
        broken = bool(problems)
        named = [d for d in documents if isinstance(d.value, dict) and d.value.get("kind") == "RenderConfig"]
        ours = [each for each in named if _kind(each, problems)]
        for each in ours:
            problems += _check(each, "RenderConfig")
        if ours:
            document = ours[0]
            wrong = {each.field.removeprefix("spec.").partition(".")[0].partition("[")[0] for each in problems}
            read = document.value.get("spec")
            spec = {key: read[key] for key in read if key not in wrong} if isinstance(read, dict) else {}
            first = f"{name}:{document.locate(('kind',))[0]}"
            problems += [problem("E204", second.origin("kind"), name=first) for second in ours[1:]]
        if broken:
            raise RenderError(problems)
    sources: dict[Path, Source] = {}
    for override in overrides:
        sources[override.path] = _flag(override.text)
        spec = _with(spec, override, override.value)
        if any(f.code == "E303" and f.words["kind"] == "string" for f in _override_findings(spec, override)):
            # Where a text belongs, the shell's 1.35 is that text.
            spec = _with(spec, override, override.text.partition("=")[2])
    made = Config(spec, document or _Rule("llmaz.yaml"), sources)
    if overrides and (findings := _config_findings(spec)):
        raise RenderError(
            problem(found.code, made.origin(*found.path[1:], key=found.key), **found.words) for found in findings
        )
    target = made.get("targets", "kubernetes")
    if target is not None and minor(str(target)) < 30:
        problems.append(problem("E133", made.origin("targets", "kubernetes"), value=target))
    return made, problems


def _flag(text: str) -> _Rule:
    """`--set KEY=VALUE` as one types it."""
    return _Rule(f"--set {shlex.quote(text)}")


def _config_findings(spec: Mapping[str, Any]) -> list[schema.Finding]:
    whole = {"apiVersion": KINDS["RenderConfig"], "kind": "RenderConfig", "metadata": {"name": "config"}, "spec": spec}
    return [] if schema.valid("input/renderconfig", whole) else schema.findings("input/renderconfig", whole)


def _override_findings(spec: Mapping[str, Any], override: Override) -> list[schema.Finding]:
    return [found for found in _config_findings(spec) if found.path[1:] == override.path]


def _with(spec: Any, override: Override, value: Any, depth: int = 0) -> dict[str, Any]:
    """The spec with the value at the override's path. Raises RenderError where that leads through a single value."""
    if not isinstance(spec, dict):
        parent, key = ".".join(override.path[:depth]), ".".join(override.path)
        raise RenderError([problem("E132", Origin(_flag(override.text)), parent=parent, key=key)])
    part = override.path[depth]
    if depth + 1 < len(override.path):
        value = _with(spec.get(part) or {}, override, value, depth + 1)
    return {**spec, part: value}


def scope(options: Options) -> Scope:
    """Finds RenderConfig and the files. Raises RenderError for bad overrides or a path that is not there."""
    here = os.getcwd()
    overrides = [override(text) for text in options.overrides]
    missing = [path for path in options.paths if not os.path.exists(path)]
    if missing:
        raise RenderError(problem("E122", Origin(_Rule(path))) for path in missing)
    base, config_path = tree.base_of(options.paths)
    made, problems = config(config_path, os.path.relpath(config_path, here) if config_path else "", overrides)
    paths = options.paths or (os.path.relpath(base, here) if config_path else ".",)
    wanted = (
        options.output
        if options.output is not None
        else os.path.join(base, str(made.get("output", "dir") or "rendered"))
    )
    folder = os.path.relpath(os.path.abspath(wanted), here)
    files = tree.folder(base, paths, made.get("ignore") or (), folder)
    keys = [os.path.relpath(os.path.abspath(path), base).replace(os.sep, "/") for path in paths]
    return Scope(options, made, config_path, files, folder, () if "." in keys else tuple(keys), tuple(problems))


def nothing(inputs: Inputs, scope: Scope, problems: Sequence[Problem]) -> list[Problem]:
    """An error when there was nothing to render, and nothing else is wrong."""
    if inputs.apps or inputs.own or problems or scope.options.allow_empty:
        return []
    files = _files(len(scope.tree.files))
    return [problem("E123", Origin(_Rule(path)), files=files) for path in scope.options.paths or (".",)]


def _files(count: int) -> str:
    return f"{count} file{'' if count == 1 else 's'}"


def inputs(scope: Scope) -> tuple[Inputs, list[Problem]]:
    """Every document of ours in the tree, and what is wrong with them; what is wrong is left out of the Inputs."""
    files = scope.tree.files
    with Team(lambda part: ([_file(file) for file in part], lambda _: None), files) as team:
        read = [each for part in team.results() for each in part]
    reading = _Reading(scope.config, scope.config_path)
    for file, (data, foreign, values, problems, unreadable) in zip(files, read, strict=True):
        reading.add(file, data, foreign, values, [Problem(*each) for each in problems], unreadable)
    reading.problems += [problem("E121", Origin(_Rule(link.name)), target=link.target) for link in scope.tree.strayed]
    reading.problems += [problem("E124", Origin(_Rule(name))) for name in scope.tree.odd]
    made = reading.inputs()
    if scope.problems:  # what follows from the configuration is unknown
        made = made._replace(apps=(), own=())
    return made, list(dict.fromkeys([*scope.problems, *reading.problems]))


def _file(file: File) -> Any:
    with at_hand(file.name):
        return _read(file)


def _read(file: File) -> Any:
    """One file as plain values: its bytes, the number of foreign documents, ours by index, problems, could not be
    read.
    """
    try:
        data = file.read()
    except OSError as error:
        return b"", 0, [], [tuple(problem("E120", Origin(_Rule(file.name)), what=error.strerror or error))], True
    if len(data) <= MAX_BYTES and not any(sign in data for sign in _SIGNS):
        return b"", 1, [], [], False
    documents, problems = yamlio.parse(file.name, data)
    values = []
    foreign = 0
    unreadable = bool(problems)
    for document in documents:
        kind = _kind(document, problems)
        if kind is None:
            foreign += 1
            continue
        found = _check(document, kind) if kind else []
        values.append((document.index, document.value, kind, bool(kind) and not found))
        said = {(each.line, each.field) for each in problems}  # what a tag made of a value, say, fits nowhere
        problems += [each for each in found if (each.line, each.field) not in said]
    return data if values else b"", foreign, values, [tuple(each) for each in problems], unreadable


def _kind(document: Document, problems: list[Problem]) -> str | None:
    """Which kind of ours it is; '' when it is ours and wrong (a problem says so); None when it is none of our
    business.
    """
    value = document.value
    if not isinstance(value, dict):
        return _listed(document, value, (), problems)
    kind, version = value.get("kind"), value.get("apiVersion")
    if KINDS.get(str(kind)) == version and isinstance(kind, str):
        return kind
    group = version.partition("/")[0] if isinstance(version, str) else None
    if (kind == "InferenceModel" and group == "inference.networking.x-k8s.io") or (
        kind == "ModelRoute" and group == GROUPS[2]
    ):
        problems.append(problem("E214", document.origin("kind"), kind=kind))
        return ""
    if group in GROUPS:
        if kind is None:
            hint = f"write kind: {', '.join(name for name in KINDS if KINDS[name] == version) or 'Playground'}"
            problems.append(problem("E302", document.origin(), word="kind", hint=hint))
        elif isinstance(kind, str) and kind in KINDS:
            problems.append(
                problem("E212", document.origin("apiVersion"), version=version, kind=kind, right=KINDS[kind])
            )
        else:
            hint = (
                "kind Model of old releases is OpenModel now"
                if kind == "Model"
                else guess(str(kind), [*KINDS, *_LATER])
            )
            problems.append(problem("E213", document.origin("kind"), kind=kind, version=version, hint=hint))
        return ""
    if isinstance(kind, str) and kind in KINDS and (kind != "Service" or "llmaz" in (group or "")):
        if version is None:
            hint = f"write apiVersion: {KINDS[kind]}"
            problems.append(problem("E302", document.origin(), word="apiVersion", hint=hint))
        else:
            origin = document.origin("apiVersion")
            problems.append(problem("E212", origin, version=version, kind=kind, right=KINDS[kind]))
        return ""
    return _listed(document, value.get("items"), ("items",), problems) if kind == "List" else None


def _listed(document: Document, items: Any, path: Path, problems: list[Problem]) -> str | None:
    """'' when objects of ours stand in a list (a problem says so), else None."""
    for item in items if isinstance(items, list) else ():
        version = item.get("apiVersion") if isinstance(item, dict) else None
        if isinstance(version, str) and version.partition("/")[0] in GROUPS:
            problems.append(problem("E218", document.origin(*path, key=True)))
            return ""
    return None


def _check(document: Document, kind: str) -> list[Problem]:
    """What the schema of its kind says."""
    value = document.value
    for path in _WORDS.get(kind, ()):
        _restore_word(document, value, path)
    name = f"input/{kind.lower()}"
    if schema.valid(name, value) or (_drop_nulls(value) and schema.valid(name, value)):
        return []
    problems = []
    for found in schema.findings(name, value, _OLDER.get(kind, {})):
        origin = document.origin(*found.path, key=found.key)
        raw = document.raw(found.path) if found.code not in ("E301", "E302") else None
        if kind == "BackendRuntime" and raw and raw.startswith("{{") and raw.endswith("}}") and _has_engine(value):
            continue  # a bare word may stand for a number
        code = found.code
        if code == "E302" and found.words["word"] == "maxReplicas":
            code = "E271"
        elif code == "E304" and raw == "lora" and found.path[-1] == "role":
            code = "E215"
        problems.append(problem(code, origin, **schema.words(found, raw)))
    return problems


def _has_engine(value: Any) -> bool:
    spec = value.get("spec")
    return isinstance(spec, dict) and "engine" in spec


def _drop_nulls(value: Any) -> bool:
    """Takes keys without a value out, as the API server does; whether there were any."""
    if isinstance(value, list):
        return bool([item for item in value if _drop_nulls(item)])
    if not isinstance(value, dict):
        return False
    empty = [key for key, item in value.items() if item is None]
    for key in empty:
        del value[key]
    return any([bool(empty), *map(_drop_nulls, value.values())])


def _restore_word(document: Document, value: Any, path: Path) -> None:
    for part in path[:-1]:
        value = value.get(part) if isinstance(value, dict) else None
    if isinstance(value, dict) and value.get(path[-1]) is False and (document.raw(path) or "").lower() == "off":
        value[path[-1]] = "off"


class _Reading:
    """Puts the files' documents together."""

    def __init__(self, config: Config, config_path: str | None) -> None:
        self.config, self.config_path = config, config_path
        self.problems: list[Problem] = []
        self.apps: dict[tuple[str, str], App] = {}
        self.models: dict[str, OpenModel] = {}
        self.runtimes: dict[str, BackendRuntime] = {}
        self.broken: dict[tuple[str, str], Document] = {}
        self.named: dict[tuple[str, str], tuple[str, Document]] = {}
        self.unreadable = False
        self.foreign = 0
        self.namespace = config.get("namespace") or "default"

    def add(
        self, file: File, data: bytes, foreign: int, values: list[Any], problems: list[Problem], unreadable: bool
    ) -> None:
        self.problems += problems
        self.foreign += foreign
        self.unreadable |= unreadable
        for document, (_, value, kind, good) in zip(
            yamlio.documents(file.name, data, (each[:2] for each in values)), values, strict=True
        ):
            if good:
                self._document(file, document, kind)
            elif isinstance(value, dict):
                self._broken(file, document, str(value.get("kind")))

    def _document(self, file: File, document: Document, kind: str) -> None:
        value = document.value
        metadata = value["metadata"]
        name = metadata["name"]
        if kind in _APPS:
            namespace = metadata.get("namespace") or self.namespace
            app = App(kind, name, namespace, value["spec"], metadata.get("annotations") or {}, document, file.key)
            if self._first(document, kind, name, namespace):
                self.apps[namespace, name] = app
        elif kind == "OpenModel":
            if self._first(document, kind, name):
                self.models[name] = OpenModel(name, value["spec"], document)
        elif kind == "BackendRuntime":
            if self._first(document, kind, name):
                self.runtimes[name] = BackendRuntime(name, value["spec"], document)
        elif self.config_path is None:
            self.problems.append(problem("E217", document.origin("kind")))
        elif file.path != self.config_path:
            self.problems.append(problem("E204", document.origin("kind"), name=self.config.document.name))

    def _broken(self, file: File, document: Document, kind: str) -> None:
        """A document with problems of its own still has a name, and names others."""
        metadata = document.value.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        name = str(metadata.get("name") or "")
        if kind in _APPS:
            self.broken[kind, f"{file.name} {document.index}"] = document
            namespace = str(metadata.get("namespace") or self.namespace)
        elif kind in KINDS and kind != "RenderConfig":
            self.broken.setdefault((kind, name), document)
            namespace = ""
        else:
            return
        if name:
            self._first(document, kind, name, namespace)

    def _first(self, document: Document, kind: str, name: str, namespace: str = "") -> bool:
        """Whether nothing before it has this name; else a problem says so. All apps share one space of names."""
        key = ("", f"{namespace}/{name}") if kind in _APPS else (kind, name)
        other, first = self.named.setdefault(key, (kind, document))
        if first is document:
            return True
        file, line, _ = first.origin("metadata", "name").place
        words = {"kind": kind, "name": name, "other": other, "file": file, "line": line}
        code = "E201" if other == kind else "E202"
        self.problems.append(problem(code, document.origin("metadata", "name"), **words))
        return False

    def inputs(self) -> Inputs:
        return Inputs(
            config=self.config,
            apps=tuple(self.apps.values()),
            models=_Shelf(self.models, "models", lambda d: OpenModel(_name(d), d.value["spec"], d, ours=True)),
            runtimes=_Shelf(
                self.runtimes,
                "backends",
                lambda d: BackendRuntime(_name(d), d.value["spec"], d, ours=True),
            ),
            loaders=_Shelf({}, "loaders", lambda d: d.value["spec"]),
            accelerators=tuple(preset("accelerators").value["spec"]["resources"]),
            own=(*self.models.values(), *self.runtimes.values()),
            broken=self.broken,
            unreadable=self.unreadable,
            foreign=self.foreign,
        )


def _name(document: Document) -> str:
    return str(document.value["metadata"]["name"])


def manifests(paths: Sequence[str]) -> tuple[list[Document], list[Problem]]:
    """Every document of every YAML file below the paths, of any kind, for `llmaz check`.

    Raises RenderError for a path that is not there.
    """
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        raise RenderError(problem("E122", Origin(_Rule(path))) for path in missing)
    documents: list[Document] = []
    problems: list[Problem] = []
    files = tree.folder(tree.base_of(paths)[0], paths, (), None).files
    for file in files:
        with at_hand(file.name):
            try:
                read, wrong = yamlio.parse(file.name, file.read())
            except OSError as error:
                read, wrong = [], [problem("E120", Origin(_Rule(file.name)), what=error.strerror or error)]
        documents += read
        problems += wrong
    if not documents and not problems:
        problems = [problem("E125", Origin(_Rule(path)), files=_files(len(files))) for path in paths]
    return documents, problems


def preset(name: str) -> Document:
    """A shipped file of presets/, as `backends/<name>`. Raises FileNotFoundError; RenderError when it is no YAML
    (never shipped so).
    """
    with open(os.path.join(PRESETS, *name.split("/")) + ".yaml", "rb") as file:
        documents, problems = yamlio.parse(f"presets/{name}.yaml", file.read())
    if problems:
        raise RenderError(problems)
    return documents[0]


def preset_names(folder: str) -> list[str]:
    """The names in a folder of presets/, sorted."""
    return sorted(
        name.removesuffix(".yaml") for name in os.listdir(os.path.join(PRESETS, folder)) if name.endswith(".yaml")
    )


class _Shelf(Mapping[str, T], Generic[T]):
    """The user's own by name, then presets, each parsed when first asked for."""

    def __init__(self, own: dict[str, T], folder: str, make: Callable[[Document], T]) -> None:
        self._own, self._folder, self._make = own, folder, make
        self._made: dict[str, T] = dict(own)
        self._names: list[str] | None = None

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            if name not in self._presets():
                raise KeyError(name)
            self._made[name] = self._make(preset(f"{self._folder}/{name}"))
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._made or name in self._presets()

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*self._own, *self._presets()}))

    def __len__(self) -> int:
        return len({*self._own, *self._presets()})

    def _presets(self) -> list[str]:
        if self._names is None:
            self._names = preset_names(self._folder)
        return self._names


__all__ = ["config", "inputs", "nothing", "override", "preset", "preset_names", "scope"]
