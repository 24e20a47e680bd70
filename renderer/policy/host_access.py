"""What pods may have of their node: its network, processes and folders."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from typing import Final

from renderer.api import RenderPolicy
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.pod_parts import volume_path
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.loose_values import is_true
from renderer.policy.objects import JudgedObject

HOST_NETWORK: Final = ("pods", "hostNetwork")
HOST_PID: Final = ("pods", "hostPID")
HOST_PATHS: Final = ("weights", "hostPaths")


def judge_host_network(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of the node's network."""
    for pod in judged.pods:
        if is_true(pod.spec.get("hostNetwork")):
            yield Denial("E821", judged.origin((*pod.path, "hostNetwork")), HOST_NETWORK, {})


def judge_host_pid(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of the node's processes."""
    for pod in judged.pods:
        if is_true(pod.spec.get("hostPID")):
            yield Denial("E822", judged.origin((*pod.path, "hostPID")), HOST_PID, {})


def judge_host_paths(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each hostPath volume that lies in none of the folders."""
    for folder in judged.folders:
        yield from _folder_denials(policy, judged, folder.path, folder.text)


def judge_persistent_volume(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of a PersistentVolume that is a folder of nodes."""
    place = volume_path(judged.kind)
    for field in ("hostPath", "local") if place else ():
        path: Path = (*(place or ()), field, "path")
        if folder := text_at(judged.body, *path):
            yield from _folder_denials(policy, judged, path, folder)


def _folder_denials(policy: RenderPolicy, judged: JudgedObject, path: Path, folder: str) -> Iterator[Denial]:
    allowed = policy.get(*HOST_PATHS)
    if not lies_in(folder, allowed):
        words = {"path": folder, "allowed": quoted_globs(allowed)}
        yield Denial("E818", judged.origin(path), HOST_PATHS, words)


def lies_in(path: str, folders: Sequence[str]) -> bool:
    """Whether the path of a node is one of the folders, or lies in one."""
    if ".." in path.split("/"):
        return False
    below = posixpath.normpath(f"/{path}").lstrip("/") + "/"
    return any(below.startswith(f"{folder.strip('/')}/".lstrip("/")) for folder in folders)
