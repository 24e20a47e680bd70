"""What else is in the output folder: rendered files whose input is gone, files of others, leftovers of killed runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.api import Scope
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.output.file_header import LONGEST_LINE, source_of
from renderer.output.folder_writer import OutputFolder
from renderer.output.foreign_files import allowed_foreign, foreign_file, is_synced
from renderer.source.tree import InputFile

# As text: few runs need it, and `re` caches the compiled pattern.
_TEMPORARY = r"\.(?:yaml|yml|json)\.llmaz-(\d{1,10})(?:-[0-9a-f]{16})?$"
_SHARED = r"kustomization\.yaml|_cluster\.yaml|(?!_extra/)[^/]+/(_(shared|routes-\d+)|[^/]+\.cache)\.yaml"


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


def findings(scope: Scope, leftovers: OutputFolderState) -> list[Diagnostic]:
    """The problems of leftovers: an error for each foreign file, or a warning in a run that writes."""
    code = "W129" if scope.options.write else "E129"
    foreign = [foreign_file(Origin(InputFile(f"{scope.folder}/{path}", "", "")), code) for path in leftovers.foreign]
    return [*leftovers.problems, *foreign]
