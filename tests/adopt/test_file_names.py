"""The files of adopted objects: one for each, whatever the names, and none that a program reads as its own."""

from __future__ import annotations

import itertools
import os

import pytest

from renderer.adopt.file_names import FileNames
from renderer.adopt.free_names import FreeNames

LONG = "n" * 252
NAMES = ["a", "a-2", "kustomization", "llmaz", "llmaz-playground", "llmaz-policy", "extra", "rendered", "con", "nul"]
NAMES += ["lpt1", "playground-a", "playground-a-b", f"{LONG}1", f"{LONG}2"]
NAMESPACES = ["", "a", "a-b", "extra", "namespace-extra", "rendered", "kustomization", "llmaz", "aux", "n" * 63]


def test_each_object_has_a_file_of_its_own() -> None:
    names = FileNames()
    paths = [names.of_workload(namespace, name) for namespace, name in itertools.product(NAMESPACES, NAMES)]
    for kind, namespace, name, folder in itertools.product(("Playground", "Service"), NAMESPACES, NAMES, ("", "extra")):
        metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
        paths.append(names.of_object({"kind": kind, "metadata": metadata}, folder))
    assert len({path.casefold() for path in paths}) == len(paths)
    assert [path for path in paths if max(map(len, path.split("/"))) > os.pathconf("/", "PC_NAME_MAX")] == []
    stems = {part.removesuffix(".yaml") for path in paths for part in path.split("/")}
    assert stems.isdisjoint({"kustomization", "llmaz", "llmaz-policy", "con", "nul", "aux", "lpt1", ""})
    folders = {path.rpartition("/")[0] for path in paths}
    assert (len(folders), "rendered" in folders) == (len(NAMESPACES) + 1, False)


@pytest.mark.parametrize(
    ("namespace", "name", "path"),
    [
        ("", "chat", "chat.yaml"),
        ("llm", "chat", "llm/chat.yaml"),
        ("", "extra", "extra.yaml"),
        ("", "kustomization", "kustomization-playground.yaml"),
        ("extra", "chat", "namespace-extra/chat.yaml"),
        ("", "con", "con-playground.yaml"),
    ],
)
def test_files_of_workloads(namespace: str, name: str, path: str) -> None:
    assert FileNames().of_workload(namespace, name) == path


def test_names_that_differ_in_case_are_one() -> None:
    names = FreeNames(["Chat"])
    assert [names.take(name) for name in ("chat", "chat-2", "CHAT", "chat")] == [
        "chat-2",
        "chat-2-2",
        "CHAT-3",
        "chat-4",
    ]
