"""Made-up repositories of somebody hostile: documents of the project's own cases and examples, spoilt."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import yaml
from yaml import CSafeDumper

from renderer import yamlio
from tests.hostile import words

Node: TypeAlias = Any
ROOT = Path(__file__).resolve().parents[2]
AROUND: Sequence[Node] = (
    {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": {"name": "g"}, "spec": {}},
    {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "YQ=="}},
    {"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "Backend", "metadata": {"name": "b"}, "spec": {}},
    {
        "apiVersion": "v1",
        "kind": "List",
        "items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}],
    },
)
POD: Node = {
    "spec": {
        "containers": [
            {
                "name": "model-runner",
                "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                "env": [{"name": "A", "value": "b"}],
            }
        ],
        "volumes": [{"name": "v", "emptyDir": {}}],
    }
}


@cache
def inputs() -> list[list[Node]]:
    """The documents of each file of the cases and examples."""
    files = [*ROOT.glob("tests/cases/*/input/*.yaml"), *ROOT.glob("examples/*/*.yaml")]
    read = [yamlio.parse(path.name, path.read_bytes())[0] for path in sorted(files) if path.stat().st_size < 20_000]
    return [[document.value for document in documents] for documents in read if documents]


def places(value: Node, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def spoil(document: Node, random: Random) -> None:
    """Changes the document at some places."""
    if document.get("kind") == "Playground" and random.random() < 0.2:
        document["spec"] = {**(document.get("spec") or {}), "podTemplate": copy.deepcopy(POD)}
    for _ in range(random.choice([1, 1, 1, 2, 3, 6])):
        listed = [*places(document)]
        if not listed:
            return
        *way, last = random.choice(listed)
        parent = document
        for part in way:
            parent = parent[part]
        match random.randrange(8):
            case 0 | 1 | 2 | 3:
                parent[last] = words.value(random)
            case 4:
                del parent[last]
            case 5 if isinstance(parent, dict):
                parent[words.text(random)] = parent.pop(last)
            case 5 | 6 if isinstance(parent, list):
                parent[:] = [parent[last], *parent] * random.choice([1, 1, 8])
            case _:
                parent[last] = [parent[last]]


def written(documents: Sequence[Node], random: Random) -> str:
    """The documents as YAML or, now and then, as JSON, which YAML takes too."""
    style: dict[str, Any] = random.choice([{}, {"default_flow_style": True}, {"width": 10**9}])
    allow_unicode = random.random() < 0.5
    text: str = yaml.dump_all(documents, Dumper=CSafeDumper, allow_unicode=allow_unicode, sort_keys=False, **style)
    return text


def broken(text: str, random: Random) -> bytes:
    """Bytes of a file that is no YAML any more, or hardly."""
    data = text.encode()
    at = random.randrange(len(data) + 1)
    junk = [
        b"\xff\xfe",
        b"\x00",
        b"&a [*a, *a]",
        b"!!python/object:os.system x",
        b"\t",
        b"---\n",
        b"? [",
        b"\r",
        b"<<: *x",
        b"{" * 200,
    ]
    return random.choice(
        [data[:at], data[:at] + random.choice(junk) + data[at:], text.encode("utf-16"), text.encode("utf-32")]
    )


def write(folder: Path, random: Random) -> None:
    """A repository in an empty folder."""
    for i in range(random.choice([1, 1, 2, 4])):
        documents = copy.deepcopy(random.choice(inputs()))
        if random.random() < 0.3:
            documents.append(copy.deepcopy(random.choice(AROUND)))
        for document in documents:
            if isinstance(document, dict) and random.random() < 0.6:
                spoil(document, random)
        name = words.name(random) if random.random() < 0.2 else f"a{i}"
        if any(isinstance(each, dict) and each.get("kind") == "RenderConfig" for each in documents):
            name = "llmaz"
        text = written(documents, random)
        data = broken(text, random) if random.random() < 0.1 else text.encode()
        put(folder / f"{name}.yaml", data)
    if random.random() < 0.3:
        odd_files(folder, random)


def odd_files(folder: Path, random: Random) -> None:
    """Links, pipes, folders and files that lie about."""
    for _ in range(random.choice([1, 3])):
        place = folder / random.choice(["", "rendered", "rendered/demo", "models", "chart/templates"])
        place.mkdir(parents=True, exist_ok=True)
        path = place / (words.name(random) + random.choice(["", ".yaml", ".txt", "-1.txt"]))
        if os.path.lexists(path):
            continue
        match random.randrange(5):
            case 0 | 1:
                os.symlink(random.choice([*words.PATHS[:9], "../canary", "../../canary", "."]) or ".", path)
            case 2:
                os.mkfifo(path)
            case 3:
                put(path, b"# Rendered by llmaz from a0.yaml. Do not edit.\nkind: Secret\n")
            case _:
                put(path, words.text(random).encode(errors="surrogateescape"))


def put(path: Path, data: bytes) -> None:
    """Writes a file, unless its name is too long for this."""
    try:
        path.write_bytes(data)
    except OSError:
        (path.parent / "other.yaml").write_bytes(data)
