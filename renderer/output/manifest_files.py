"""4: Manifests → texts, the same bytes every run; and the folder that holds them: compare, write, prune."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from renderer import yamlio
from renderer.api import Scope
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.output.folder import OutputFolder
from renderer.plan import Manifest, Plan, SharedPlan, TrafficPlan
from renderer.source.tree import CONFIG, MARK, InputFile, ReadableFile, glob

_BEGIN, _END = MARK, ". Do not edit."
# Both as text: few runs need them, and re keeps what it has compiled.
_TEMPORARY = r"\.(?:yaml|yml|json)\.llmaz-(\d{1,10})(?:-[0-9a-f]{16})?$"
_SUFFIXES = (".yaml", ".yml", ".json")
# What Argo CD and Flux take besides (a directory's recursion, and kustomize).
_SYNCED = (".jsonnet", ".libsonnet")
_SYNCED_NAMES = ("Kustomization",)
_LONGEST_LINE = 4096
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)"  # what a terminal obeys
_SHARED = r"kustomization\.yaml|_cluster\.yaml|(?!_extra/)[^/]+/_(shared|routes-\d+)\.yaml"


class OutputFile(NamedTuple):
    """One output file: its path below the output folder, and what it holds."""

    path: str
    text: str


def header(source: str) -> str:
    """The line that says that a file is ours, and from which input it came."""
    return f"{_BEGIN}{source}{_END}\n"


def texts(plans: Sequence[Plan | TrafficPlan], manifests: Sequence[Manifest], layout: str = "file") -> list[OutputFile]:
    """The files of one Playground or Service, ModelRoute or InferenceModel: one; with layout `app` in a folder of its
    own; with `object` one an object. None without objects.
    """
    if not manifests:
        return []
    line = header(plans[0].file)
    paths = _paths(plans[0], manifests, layout)
    bodies = [manifest.body for manifest in manifests]
    if layout == "object":
        return [OutputFile(path, yamlio.dump(body, head=line)) for path, body in zip(paths, bodies, strict=True)]
    return [OutputFile(paths[0], yamlio.dump(*bodies, head=line))]


def bare(plans: Sequence[Plan | TrafficPlan], manifests: Sequence[Manifest], layout: str = "file") -> list[OutputFile]:
    """The files that `texts` makes, with nothing in them."""
    return [OutputFile(path, "") for path in _paths(plans[0], manifests, layout)] if manifests else []


def _paths(plan: Plan | TrafficPlan, manifests: Sequence[Manifest], layout: str) -> list[str]:
    """Where these objects of an app go."""
    if layout == "object":
        folder = f"{plan.namespace}/{plan.app}"
        return [
            f"{folder}/{body['kind'].lower()}-{body['metadata']['name']}.yaml"
            for body in (manifest.body for manifest in manifests)
        ]
    folder = f"{plan.namespace}/{plan.app}" if layout == "app" else plan.namespace
    return [f"{folder}/{plan.app}.yaml"]


def shared(joint: SharedPlan, manifests: Sequence[Manifest]) -> list[OutputFile]:
    """The file of what apps share of a namespace, or of the cluster: one, whatever the layout; none without objects."""
    text = yamlio.dump(*(manifest.body for manifest in manifests), head=header(CONFIG))
    return [OutputFile(shared_path(joint.namespace, joint.part), text)] if manifests else []


def shared_path(namespace: str, part: str = "shared") -> str:
    """Where the apps of a namespace share what they need together; '' is the cluster."""
    return f"{namespace}/_{part}.yaml" if namespace else "_cluster.yaml"


def common(
    scope: Scope, states: dict[str, str], joint: Iterable[OutputFile] = ()
) -> tuple[list[OutputFile], list[Diagnostic]]:
    """Files that belong to no single app, their states noted: shared ones, passThrough, and `kustomization.yaml` where
    asked for.
    """
    patterns = [glob(pattern) for pattern in scope.config.get("passThrough") or ()]
    files = list(joint)
    problems: list[Diagnostic] = []
    for file in scope.tree.files if patterns else ():
        if any(pattern.fullmatch(file.key) for pattern in patterns):
            try:
                files += _copied(file)
            except UnicodeDecodeError as error:
                what = f"byte {error.start + 1} is no UTF-8"
                problems.append(make_diagnostic("E142", Origin(file), what=what))
            except OSError as error:
                problems.append(make_diagnostic("E120", Origin(file), what=error.strerror or error))
            except ValueError as error:
                problems.append(make_diagnostic("E142", Origin(file), what=error))
    if scope.config.get("output", "kustomization") and not scope.prunes:
        resources = sorted([*states, *(text.path for text in files)])
        body = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}
        files.append(OutputFile("kustomization.yaml", yamlio.dump(body, head=header(CONFIG))))
    states.update(compare(OutputFolder(scope.folder) if scope.options.compares else None, files))
    return files, problems


def _copied(file: ReadableFile) -> list[OutputFile]:
    """A passThrough file, byte for byte below our line; nothing of one that we wrote. Raises ValueError where that
    line would break it.
    """
    if file.key.endswith(".json"):
        raise ValueError("JSON has no room for a comment")
    data = file.read()
    if data.startswith(b"\xef\xbb\xbf"):
        raise ValueError("it begins with a byte order mark")
    if data.startswith(MARK.encode()):
        return []
    text = data.decode("utf-8")
    if control := re.search(_CONTROL, text):  # `--stdout` prints it, maybe to a terminal
        raise ValueError(f"the character U+{ord(control[0]):04X} in line {text.count(chr(10), 0, control.start()) + 1}")
    return [OutputFile(f"_extra/{file.key}", header(file.key) + text)]


def compare(output: OutputFolder | None, files: Sequence[OutputFile]) -> list[tuple[str, str]]:
    """Each file's path and what is on disk: same, changed, new, or foreign (something in the way that is not ours, a
    link too). All are new where no output folder matters.
    """
    if output is None:
        return [(path, "new") for path, _ in files]
    mark = _BEGIN.encode()
    states = []
    for path, text in files:
        if output.is_empty(path.rpartition("/")[0]):
            states.append((path, "new"))
            continue
        data = text.encode()
        try:
            old = output.begin(path, len(data) + 1)
        except FileNotFoundError:
            states.append((path, "new"))
        except OSError:  # a folder where a file belongs, the other way round, or a link
            states.append((path, "foreign"))
        else:
            states.append((path, "same" if old == data else "changed" if old.startswith(mark) else "foreign"))
    return states


class OutputFolderState(Struct, frozen=True):
    """What lies in an output folder beside the files of this run, all below the folder and sorted. `stale`: files of
    ours that nothing makes any more; `temporary`: files that killed runs left behind; `foreign`: files that are not
    ours, and that Argo CD or Flux would sync. `problems`: folders that cannot be read.
    """

    stale: list[str]
    temporary: list[str]
    foreign: list[str]
    problems: list[Diagnostic]


def folder_state(scope: Scope, kept: Mapping[str, str], others: Sequence[str] = ()) -> OutputFolderState:
    """A file is ours when it carries our line; it is this run's business when its input lies below PATHS. Shared files
    depend on all input, so a run over a part of the tree leaves them alone. `others`: folders that are not looked at.
    Nothing where no output folder matters.
    """
    if not scope.options.compares:
        return OutputFolderState([], [], [], [])
    below = tuple(f"{path}/" for path in scope.prunes)
    output = OutputFolder(scope.folder)
    is_allowed = allowed(scope)
    stale, temporary, foreign = [], [], []
    problems: list[Diagnostic] = []
    for path, in_chart in _files(scope.folder, problems):
        if path in kept or path.partition("/")[0] in others or (below and re.fullmatch(_SHARED, path)):
            continue
        if is_synced(path):
            input_path = None if in_chart else source(output, path)
            if input_path is None:
                if not is_allowed(path):
                    foreign.append(path)
            elif not below or input_path in scope.prunes or input_path.startswith(below):
                stale.append(path)
        elif not in_chart and (process := re.search(_TEMPORARY, path)) and not _runs(int(process[1])):
            temporary.append(path)
    return OutputFolderState(sorted(stale), sorted(temporary), sorted(foreign), problems)


def is_synced(path: str) -> bool:
    """Whether Argo CD (a directory with `recurse`) or Flux would take a file for manifests, by its name."""
    return path.endswith((*_SUFFIXES, *_SYNCED)) or path.rpartition("/")[2] in _SYNCED_NAMES


def allowed(scope: Scope) -> Callable[[str], bool]:
    """Says whether a file that is not ours may lie in the output folder: `output.foreign`, by paths below the folder of
    all environments.
    """
    patterns = [glob(pattern) for pattern in scope.config.get("output", "foreign") or ()]
    environment = f"{scope.options.env}/" if scope.options.env else ""
    return lambda path: any(pattern.fullmatch(environment + path) for pattern in patterns)


def findings(scope: Scope, leftovers: OutputFolderState) -> list[Diagnostic]:
    """What is wrong with leftovers: each foreign file is an error, and a warning of a run that writes."""
    code = "W129" if scope.options.write else "E129"
    foreign = [make_diagnostic(code, Origin(InputFile(f"{scope.folder}/{path}", "", ""))) for path in leftovers.foreign]
    return [*leftovers.problems, *foreign]


def _runs(process: int) -> bool:
    """Whether there is such a process; it may be writing right now."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def made_from(text: bytes) -> str | None:
    """The input that the first line of a file names; None when the file is not ours."""
    line = text[:_LONGEST_LINE].partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")  # of a checkout's line ends
    return line[len(_BEGIN) : -len(_END)] if line.startswith(_BEGIN) and line.endswith(_END) else None


def source(output: OutputFolder, path: str) -> str | None:
    """The input that a file in the output folder names; None when it is not ours, or cannot be read."""
    try:
        return made_from(output.begin(path, _LONGEST_LINE))
    except OSError:
        return None


def _files(folder: str, problems: list[Diagnostic]) -> Iterator[tuple[str, bool]]:
    """The files in an output folder, links too, by their paths below it; and whether each lies in a chart, which has
    files of ours too and is another run's.
    """
    folders = [("", False)]
    while folders:
        below, in_chart = folders.pop()
        try:
            with os.scandir(os.path.join(folder, below)) as scan:
                entries = list(scan)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            problems.append(
                make_diagnostic("E120", Origin(InputFile(os.path.join(folder, below), "", "")), what=error.strerror)
            )
            continue
        in_chart |= below != "" and any(entry.name == "Chart.yaml" for entry in entries)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append((f"{below}{entry.name}/", in_chart))
            else:
                yield below + entry.name, in_chart


def write(output: OutputFolder, files: Iterable[OutputFile]) -> None:
    """Writes each file whole. Raises OSError."""
    for path, text in files:
        output.write(path, text)


def delete(output: OutputFolder, paths: Iterable[str]) -> None:
    """Deletes files, and the folders above them that get empty. Raises OSError."""
    for path in paths:
        output.delete(path)
