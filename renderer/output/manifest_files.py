"""Manifests → texts, the same bytes every run; compares, writes and prunes the output folder."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from renderer import yamlio
from renderer.api import Scope
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.output.file_header import LONGEST_LINE, MARK, header, source_of
from renderer.output.folder_writer import OutputFolder
from renderer.output.foreign_files import allowed_foreign, is_synced
from renderer.plan import Manifest, Plan, SharedPlan, TrafficPlan
from renderer.source.tree import CONFIG, InputFile, ReadableFile, glob

# As text: few runs need it, and `re` caches the compiled pattern.
_TEMPORARY = r"\.(?:yaml|yml|json)\.llmaz-(\d{1,10})(?:-[0-9a-f]{16})?$"
_CONTROL_CHARACTER = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)"  # control characters for a terminal
_SHARED = r"kustomization\.yaml|_cluster\.yaml|(?!_extra/)[^/]+/(_(shared|routes-\d+)|[^/]+\.cache)\.yaml"


class OutputFile(NamedTuple):
    """An output file: its path below the output folder, and its text."""

    path: str
    text: str


def texts(plans: Sequence[Plan | TrafficPlan], manifests: Sequence[Manifest], layout: str = "file") -> list[OutputFile]:
    """The files of an item: one, with layout `app` in a folder of its own; with layout `object` one for each object.
    None without objects.
    """
    if not manifests:
        return []
    line = header(plans[0].file)
    paths = _paths(plans[0], manifests, layout)
    bodies = [manifest.body for manifest in manifests]
    if layout == "object":
        return [OutputFile(path, yamlio.dump(body, head=line)) for path, body in zip(paths, bodies, strict=True)]
    return [OutputFile(paths[0], yamlio.dump(*bodies, head=line))]


def empty_files(
    plans: Sequence[Plan | TrafficPlan], manifests: Sequence[Manifest], layout: str = "file"
) -> list[OutputFile]:
    """The files of `texts`, with empty texts."""
    return [OutputFile(path, "") for path in _paths(plans[0], manifests, layout)] if manifests else []


def _paths(plan: Plan | TrafficPlan, manifests: Sequence[Manifest], layout: str) -> list[str]:
    """The paths of an item's files."""
    if layout == "object":
        folder = f"{plan.namespace}/{plan.app}"
        return [
            f"{folder}/{body['kind'].lower()}-{body['metadata']['name']}.yaml"
            for body in (manifest.body for manifest in manifests)
        ]
    folder = f"{plan.namespace}/{plan.app}" if layout == "app" else plan.namespace
    return [f"{folder}/{plan.app}.yaml"]


def shared_files(joint: SharedPlan, manifests: Sequence[Manifest]) -> list[OutputFile]:
    """The file of the objects that apps of a namespace, or of the cluster, share; none without objects."""
    text = yamlio.dump(*(manifest.body for manifest in manifests), head=header(CONFIG))
    return [OutputFile(shared_path(joint.namespace, joint.part), text)] if manifests else []


def shared_path(namespace: str, part: str = "shared") -> str:
    """The path of the objects that apps of a namespace share; '' is the cluster. No app's name holds a dot, as that of
    a model's cache does.
    """
    if part.endswith(".cache"):
        return f"{namespace}/{part}.yaml"
    return f"{namespace}/_{part}.yaml" if namespace else "_cluster.yaml"


def common_files(
    scope: Scope, states: dict[str, str], joint: Iterable[OutputFile] = ()
) -> tuple[list[OutputFile], list[Diagnostic]]:
    """The files that belong to no single app (shared objects, passThrough, `kustomization.yaml`), and problems. Adds
    their states to `states`.
    """
    patterns = [glob(pattern) for pattern in scope.config.get("passThrough") or ()]
    files = list(joint)
    problems: list[Diagnostic] = []
    for file in scope.tree.files if patterns else ():
        if any(pattern.fullmatch(file.key) for pattern in patterns):
            try:
                files += _pass_through(file)
            except UnicodeDecodeError as error:
                what = f"byte {error.start + 1} is not UTF-8"
                problems.append(make_diagnostic("E142", Origin(file), what=what))
            except OSError as error:
                problems.append(make_diagnostic("E120", Origin(file), what=error.strerror or error))
            except ValueError as error:
                problems.append(make_diagnostic("E142", Origin(file), what=error))
    if scope.config.get("output", "kustomization") and not scope.pruned_paths:
        resources = sorted([*states, *(text.path for text in files)])
        body = {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources}
        files.append(OutputFile("kustomization.yaml", yamlio.dump(body, head=header(CONFIG))))
    states.update(compare(OutputFolder(scope.folder) if scope.options.compares else None, files))
    return files, problems


def _pass_through(file: ReadableFile) -> list[OutputFile]:
    """A passThrough file, unchanged after our header; nothing for a rendered file. Raises ValueError where a header is
    not possible.
    """
    if file.key.endswith(".json"):
        raise ValueError("JSON has no room for a comment")
    data = file.read()
    if data.startswith(b"\xef\xbb\xbf"):
        raise ValueError("it begins with a byte order mark")
    if data.startswith(MARK.encode()):
        return []
    text = data.decode("utf-8")
    if control := re.search(_CONTROL_CHARACTER, text):  # `--stdout` prints it, maybe to a terminal
        raise ValueError(f"the character U+{ord(control[0]):04X} in line {text.count(chr(10), 0, control.start()) + 1}")
    return [OutputFile(f"_extra/{file.key}", header(file.key) + text)]


def compare(output: OutputFolder | None, files: Sequence[OutputFile]) -> list[tuple[str, str]]:
    """Each file's path and state against the disk: same, changed, new, or foreign (the path is taken by something that
    is not ours, or by a link). All are new without an output folder.
    """
    if output is None:
        return [(path, "new") for path, _ in files]
    mark = MARK.encode()
    states = []
    for path, text in files:
        if output.is_empty(path.rpartition("/")[0]):
            states.append((path, "new"))
            continue
        data = text.encode()
        try:
            old = output.read_start(path, len(data) + 1)
        except FileNotFoundError:
            states.append((path, "new"))
        except OSError:  # a folder in place of a file, a file in place of a folder, or a link
            states.append((path, "foreign"))
        else:
            states.append((path, "same" if old == data else "changed" if old.startswith(mark) else "foreign"))
    return states


class OutputFolderState(Struct, frozen=True):
    """Other files in the output folder, by sorted paths below it."""

    stale: list[str]  # rendered files whose input is gone
    temporary: list[str]  # left behind by killed runs
    foreign: list[str]  # not written by llmaz, and synced by Argo CD or Flux
    problems: list[Diagnostic]  # folders that cannot be read


def folder_state(
    scope: Scope,
    rendered: Mapping[str, str],
    skipped_folders: Sequence[str] = (),
    acts: Callable[[str], bool] = is_synced,
) -> OutputFolderState:
    """The other files in the output folder; nothing if the run does not compare with it. A file is stale only when its
    input lies below PATHS; shared files depend on all input, so a run with PATHS ignores them. `rendered`: the files
    of this run; `skipped_folders`: top-level folders to ignore; `acts`: whether a file of this path reaches a cluster.
    """
    if not scope.options.compares:
        return OutputFolderState([], [], [], [])
    prefixes = tuple(f"{path}/" for path in scope.pruned_paths)
    output = OutputFolder(scope.folder)
    is_allowed = allowed_foreign(scope)
    stale, temporary, foreign = [], [], []
    problems: list[Diagnostic] = []
    for path, in_chart in folder_files(scope.folder, problems):
        if path in rendered or path.partition("/")[0] in skipped_folders or (prefixes and is_shared(path)):
            continue
        match = None if in_chart or is_synced(path) else re.search(_TEMPORARY, path)
        if match and not _is_running(int(match[1])):
            temporary.append(path)
        elif acts(path):
            input_path = None if in_chart else source(output, path)
            if input_path is None:
                if not is_allowed(path):
                    foreign.append(path)
            elif not prefixes or input_path in scope.pruned_paths or input_path.startswith(prefixes):
                stale.append(path)
    return OutputFolderState(sorted(stale), sorted(temporary), sorted(foreign), problems)


def is_shared(path: str) -> bool:
    """Whether a rendered file of this path may depend on all input."""
    return re.fullmatch(_SHARED, path) is not None


def _is_running(process: int) -> bool:
    """Whether the process exists."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def source(output: OutputFolder, path: str) -> str | None:
    """The input that a file in the output folder names; None without a header, or where it cannot be read."""
    try:
        return source_of(output.read_start(path, LONGEST_LINE))
    except OSError:
        return None


def folder_files(folder: str, problems: list[Diagnostic]) -> Iterator[tuple[str, bool]]:
    """The files and links in an output folder, by path, and whether each lies in a Helm chart (of another run)."""
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
    """Writes each file atomically. Raises OSError."""
    for path, text in files:
        output.write(path, text)


def delete(output: OutputFolder, paths: Iterable[str]) -> None:
    """Deletes files, and parent folders that become empty. Raises OSError."""
    for path in paths:
        output.delete(path)
