"""Manifests → texts, the same bytes every run; compares them with the output folder, and writes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from renderer import yamlio
from renderer.api import Scope
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.output.file_header import MARK, header
from renderer.output.folder_writer import OutputFolder
from renderer.plan import Manifest, Plan, SharedPlan, TrafficPlan
from renderer.source.tree import CONFIG, PASSED, ReadableFile, glob

# As text: few runs need it, and `re` caches the compiled pattern.
_CONTROL_CHARACTER = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)"  # control characters for a terminal


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
    globs = scope.config.get("passThrough") or ()
    patterns = [glob(pattern) for pattern in globs]
    files = list(joint)
    problems: list[Diagnostic] = []
    for i, pattern in enumerate(patterns if not scope.pruned_paths else ()):
        if not any(pattern.fullmatch(file.key) for file in scope.tree.files):
            problems.append(make_diagnostic("W142", scope.config.origin("passThrough", i), glob=globs[i]))
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
    return [OutputFile(f"{PASSED}/{file.key}", header(file.key) + text)]


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


def write(output: OutputFolder, files: Iterable[OutputFile]) -> None:
    """Writes each file atomically. Raises OSError."""
    for path, text in files:
        output.write(path, text)


def delete(output: OutputFolder, paths: Iterable[str]) -> None:
    """Deletes files, and parent folders that become empty. Raises OSError."""
    for path in paths:
        output.delete(path)
