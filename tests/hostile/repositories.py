"""Made-up repositories of somebody hostile: the project's own cases and examples, with hostile text or spoilt."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import yaml
from yaml import CSafeDumper, CSafeLoader

from renderer import yamlio
from tests.hostile import legal, words
from tests.hostile.text_fields import at

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
    """Bytes of a file that is not YAML any more, or hardly."""
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


@cache
def cases() -> list[dict[str, Node]]:
    """The files of each case and example that renders as it is: documents, or the bytes of what is not YAML."""
    folders = [path for path in sorted(ROOT.glob("tests/cases/*/input")) if not (path.parent / "args.txt").exists()]
    folders += sorted(path for path in ROOT.glob("examples/*") if path.is_dir())
    read = [{str(path.relative_to(folder)): _read(path) for path in _files(folder)} for folder in folders]
    return [files for files in read if files and sum(len(str(content)) for content in files.values()) < 20_000]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def _read(path: Path) -> Node:
    data = path.read_bytes()
    if path.suffix not in (".yaml", ".yml"):
        return data
    documents, _ = yamlio.parse(path.name, data)
    for document in documents:
        for place in [place for place in places(document.value) if document.raw(place) == "off"]:
            *way, last = place
            at(document.value, way)[last] = "off"  # which is that word where a field takes it, not false
    return [document.value for document in documents]


def write(folder: Path, random: Random) -> None:
    """A repository in an empty folder. Most may render: hostile text stands where the schemas take it."""
    if random.random() < 0.12:
        write_spoilt(folder, random)
    else:
        write_legal(folder, random.choice(cases()), random)


def write_legal(folder: Path, files: Mapping[str, Node], random: Random) -> None:
    """A case with hostile text in some fields, and maybe objects with such text beside it."""
    random.choice([write_case, write_case, write_odd_case])(folder, files, random)
    if random.random() < 0.2:
        put(folder / "beside.yaml", written(legal.objects(random), random).encode())
    if random.random() < 0.05:
        odd_files(folder, random)


def write_case(folder: Path, files: Mapping[str, Node], random: Random) -> None:
    """The files of a case, some of them with hostile text."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
            continue
        documents = copy.deepcopy(content)
        if random.random() < 0.7:
            legal.disturb(documents, random)
        path.write_text(written(documents, random), "utf-8", "surrogateescape")


def write_odd_case(folder: Path, files: Mapping[str, Node], random: Random) -> None:
    """The same in a folder with an odd name."""
    odd = folder / words.name(random).strip(". ")[:60]
    if odd == folder or "llmaz.yaml" in files:
        odd = folder
    odd.mkdir(exist_ok=True)
    write_case(odd, files, random)


def change(folder: Path, random: Random) -> None:
    """Writes other hostile text into some files of a repository, where they are YAML."""
    for path in sorted(folder.glob("**/*.yaml")):
        if path.is_symlink() or not path.is_file() or random.random() < 0.5:
            continue
        try:
            documents = list(yaml.load_all(path.read_text("utf-8"), CSafeLoader))
        except (yaml.YAMLError, ValueError, OSError, RecursionError):
            continue
        if all(isinstance(document, dict) for document in documents):
            legal.disturb(documents, random)
            put(path, written(documents, random).encode("utf-8", "surrogateescape"))


def write_spoilt(folder: Path, random: Random) -> None:
    """Documents of several cases, spoilt at any place, and files that are hardly YAML."""
    for i in range(random.choice([1, 1, 2, 4])):
        documents = copy.deepcopy(random.choice(inputs()))
        if random.random() < 0.3:
            documents.append(copy.deepcopy(random.choice(AROUND)))
        for document in documents:
            if isinstance(document, dict) and random.random() < 0.6:
                spoil(document, random)
        name = words.name(random) if random.random() < 0.2 else f"a{i}"
        if any(isinstance(document, dict) and document.get("kind") == "RenderConfig" for document in documents):
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
