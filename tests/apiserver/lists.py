"""Whether we judge the objects that kubectl applies: each spelling of a list is asked about by `kubectl apply`.

kubectl stands for Helm and Flux too, which take lists apart alike. Argo CD gives kubectl the items of a list one by
one, so each item of a list is asked about as well.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from renderer import yamlio
from renderer.kubernetes.json_values import text_at
from tests.apiserver.server import LANES, CannotJudge, Client

DEPTH: Final = 48  # of nested lists: more than 100 levels of a file are E105
CORE: Final = "apiVersion: v1\nkind: "
OF_RBAC: Final = "apiVersion: rbac.authorization.k8s.io/v1\nkind: "
MAP: Final = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
ROLE: Final = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: b}}"
BARE: Final = "{metadata: {name: a}, data: {k: v}}"
LISTED: Final = f"{CORE}List\nitems:\n"
TYPED: Final = f"{CORE}ConfigMapList\nitems:\n"
OWN: Final = f"{CORE}ConfigMap\nmetadata: {{name: own}}\n"
A, B, OBJECT = "configmap/a", "role.rbac.authorization.k8s.io/b", "configmap/own"


class Spelling(NamedTuple):
    """A file with lists, the objects in it that kubectl applies, and others that we judge."""

    text: str
    applied: Sequence[str] = ()
    beyond: Sequence[str] = ()


def nested(depth: int) -> str:
    """Lists in lists, the innermost with an object."""
    body: object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    for _ in range(depth):
        body = {"apiVersion": "v1", "kind": "List", "items": [body]}
    return json.dumps(body)


SPELLINGS: Final[Mapping[str, Spelling]] = {
    "one object": Spelling(OWN, [OBJECT]),
    "two documents": Spelling(f"{OWN}---\n{LISTED}- {MAP}\n", [A, OBJECT]),
    "a List": Spelling(f"{LISTED}- {MAP}\n- {ROLE}\n", [A, B]),
    "a List as kubectl prints it": Spelling(f"{LISTED}- {MAP}\nmetadata: {{resourceVersion: ''}}\n", [A]),
    "a List with a name": Spelling(f"{LISTED}- {MAP}\nmetadata: {{name: own}}\n", [A]),
    "a List of no version": Spelling(f"kind: List\nitems:\n- {MAP}\n", [A]),
    "a List of another group": Spelling(f"apiVersion: apps/v1\nkind: List\nitems:\n- {MAP}\n", [A]),
    "an empty List": Spelling(f"{CORE}List\nitems: []\n"),
    "items without a kind": Spelling(f"{TYPED}- {BARE}\n", [A]),
    "items without a kind of a group": Spelling(f"{OF_RBAC}RoleList\nitems:\n- {{metadata: {{name: b}}}}\n", [B]),
    "items without a kind in a List": Spelling(f"{LISTED}- {BARE}\n- {ROLE}\n", [B]),
    "items of other kinds": Spelling(f"{TYPED}- {MAP}\n- {ROLE}\n", [A, B]),
    "an item with a kind alone": Spelling(f"{TYPED}- {{kind: Secret, metadata: {{name: c}}}}\n- {MAP}\n", [A]),
    "an item with a version alone": Spelling(f"{TYPED}- {{apiVersion: v1, metadata: {{name: c}}}}\n- {MAP}\n", [A]),
    "an item with an empty kind": Spelling(f"{TYPED}- {{apiVersion: '', kind: '', metadata: {{name: a}}}}\n", [A]),
    "an item whose kind is null": Spelling(f"{TYPED}- {{apiVersion: , kind: , metadata: {{name: a}}}}\n", [A]),
    "an item whose kind is a number": Spelling(f"{TYPED}- {{apiVersion: 1, kind: 5, metadata: {{name: a}}}}\n", [A]),
    "an object with items": Spelling(f"{OWN}items:\n- {ROLE}\n", [B], [OBJECT]),
    "an object with items without a kind": Spelling(f"{OWN}items:\n- {BARE}\n", [A], [OBJECT]),
    "an object with fields and items": Spelling(f"{OWN}data: {{k: v}}\nitems:\n- {MAP}\n- {ROLE}\n", [A, B], [OBJECT]),
    "an object with items and no name": Spelling(f"{CORE}ConfigMap\nitems:\n- {ROLE}\n", [B]),
    "a list with a name": Spelling(f"{TYPED}- {MAP}\nmetadata: {{name: own}}\n", [A], ["configmaplist/own"]),
    "an unknown kind with items": Spelling(
        f"apiVersion: example.com/v1\nkind: Team\nmetadata: {{name: own}}\nitems:\n- {ROLE}\n",
        [B],
        ["team.example.com/own"],
    ),
    "no kind at all": Spelling(f"items:\n- {ROLE}\n", [B]),
    "items that are empty": Spelling(f"{OWN}items: []\n", [], [OBJECT]),
    "items that are null": Spelling(f"{OWN}items:\n", [], [OBJECT]),
    "items that are a map": Spelling(f"{OWN}items: {{a: {MAP}}}\n", [], [OBJECT]),
    "items that are a text": Spelling(f"{OWN}items: a\n", [], [OBJECT]),
    "items that are texts": Spelling(f"{OWN}items: [a, b]\n", [], [OBJECT]),
    "lists in items": Spelling(f"{OWN}items:\n- [{MAP}]\n", [], [OBJECT]),
    "lists in the items of a List": Spelling(f"{LISTED}- [{MAP}]\n"),
    "a null among items": Spelling(f"{LISTED}- null\n- {MAP}\n", [A]),
    "a text among items": Spelling(f"{LISTED}- a\n- {MAP}\n", [], [A]),
    "other letters": Spelling(f"{OWN}Items:\n- {ROLE}\n", [OBJECT]),
    "other letters beside": Spelling(f"{OWN}Items: []\nitems:\n- {ROLE}\n", [B], [OBJECT]),
    "a quoted key": Spelling(f'{OWN}"it\\x65ms":\n- {ROLE}\n', [B], [OBJECT]),
    "an explicit key": Spelling(f"{OWN}? items\n: - {ROLE}\n", [B], [OBJECT]),
    "an alias": Spelling(f"{OWN}more: &items\n- {ROLE}\nitems: *items\n", [B], [OBJECT]),
    "a merge key": Spelling(f"{OWN}<<: {{items: [{ROLE}]}}\n", [B], [OBJECT]),
    "JSON": Spelling(nested(1), [A]),
    "a List in a List": Spelling(nested(2), [A]),
    "a List in a List in a List": Spelling(nested(3), [], [A]),
    f"{DEPTH} levels": Spelling(nested(DEPTH), [], [A]),
    "an object with items in a List": Spelling(
        f"{LISTED}- apiVersion: v1\n  kind: ConfigMap\n  metadata: {{name: own}}\n  items: [{ROLE}]\n", [B], [OBJECT]
    ),
    "items without a kind in a List in a List": Spelling(
        f"{LISTED}- {{apiVersion: v1, kind: ConfigMapList, items: [{BARE}]}}\n", [A]
    ),
}


def faults(client: Client, tools: Path) -> list[str]:
    """The spellings of which other objects are applied than we judge. Raises CannotJudge."""
    if not (tools / "kubectl").exists():
        raise CannotJudge("kubectl not built: scripts/tools.sh kubectl")
    with tempfile.TemporaryDirectory(prefix="llmaz-lists-") as folder, ThreadPoolExecutor(LANES) as lanes:
        (Path(folder) / "config").write_text(client.kubeconfig())
        apply = partial(applied, (tools / "kubectl").absolute(), Path(folder))
        everything = list(lanes.map(apply, SPELLINGS, (spelling.text for spelling in SPELLINGS.values())))
    return [
        f"{name}: applied: {sorted(theirs)}; judged: {sorted(judged(spelling.text))}"
        for (name, spelling), theirs in zip(SPELLINGS.items(), everything, strict=True)
        if theirs != {*spelling.applied} or judged(spelling.text) != theirs | {*spelling.beyond}
    ]


def applied(kubectl: Path, home: Path, name: str, text: str) -> set[str]:
    """What kubectl applies of a file, or of its items one by one."""
    names: set[str] = set()
    for i, part in enumerate([text, *_items(text)]):
        file = home / f"{name} {i}.yaml"
        file.write_text(part)
        options = ("--dry-run=server", "--validate=ignore", "-o", "name", "-f", file)
        done = subprocess.run(
            [kubectl, "--kubeconfig", home / "config", "--cache-dir", home / "cache", "apply", *options],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        if "connect" in done.stderr or "Unauthorized" in done.stderr:
            raise CannotJudge(done.stderr)
        names.update(done.stdout.split())
    return names


def _items(text: str) -> Iterator[str]:
    """The items of the lists of a file, as Argo CD takes them apart: of one level."""
    for document in yamlio.parse("", text.encode())[0]:
        items = document.value.get("items")
        if isinstance(items, list) and all(isinstance(item, dict) for item in items):
            yield from map(json.dumps, items)


def judged(text: str) -> set[str]:
    """The objects that we judge of a file, those aside that nobody can apply: without a version, a kind or a name."""
    documents, problems = yamlio.parse("", text.encode())
    if problems:
        raise CannotJudge(f"{problems[0]}: {text}")
    names = set()
    for part in (part for document in documents for part in document.objects):
        version, kind, name = (
            text_at(part.value, *path) for path in (("apiVersion",), ("kind",), ("metadata", "name"))
        )
        if version and kind and name:
            group = version.rpartition("/")[0]
            names.add(f"{kind.lower()}{f'.{group}' if group else ''}/{name}")
    return names
