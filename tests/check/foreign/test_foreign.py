"""Foreign objects beside rendered ones: what is said of which of them. How each warning reads: errors/W260-*."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from renderer.load.parsing import COMPARED_KINDS, REFERENCED_GROUPS
from tests.inputs import CONFIG, playground

if TYPE_CHECKING:
    from tests.conftest import Llmaz

CASES = Path(__file__).resolve().parents[2] / "cases"
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: chat-lb, namespace: llm}\nspec: {ports: [{port: 80}]}\n"
LISTED = "{apiVersion: v1, kind: Service, metadata: {name: chat-lb}}"
ROUTE = """apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: llm}
spec: {rules: [{backendRefs: [{name: code-lb, port: 8080}]}]}
"""


@pytest.fixture
def tree(folder: Path) -> Path:
    """A tree with the Playground `chat`, in the current folder."""
    (folder / "llmaz.yaml").write_text(f"{CONFIG}{{namespace: llm}}\n")
    (folder / "apps").mkdir()
    (folder / "apps/chat.yaml").write_text(playground("chat", "llm", backend="llamacpp"))
    return folder


def put(tree: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)


def codes(llmaz: Llmaz, *paths: str) -> list[str]:
    """The codes that are printed."""
    done = llmaz("validate", *paths)
    assert done.code == 0, done.err
    return re.findall(r"\[([EWN]\d{3})\]", done.err)


def test_every_kind_that_is_rendered_is_compared() -> None:
    """A file that is not parsed is looked for these kinds; files with other groups are parsed."""
    kinds: set[str] = set()
    for path in CASES.glob("*/expected/**/*.yaml"):
        if "_extra" not in path.parts and path.name != "kustomization.yaml":
            for group, kind in re.findall(r"^apiVersion: (?:(\S+)/)?\S+\nkind: (\S+)$", path.read_text("utf-8"), re.M):
                kinds |= {kind} if group not in (*REFERENCED_GROUPS, "aigateway.envoyproxy.io", "llmaz.io") else set()
    assert len(kinds) > 5
    assert kinds <= {*COMPARED_KINDS}


@pytest.mark.parametrize(
    "text",
    [
        SERVICE,
        SERVICE.replace("kind: Service", "kind:  'Service'").replace("name: chat-lb", 'name: "chat-lb"'),
        '{"kind":"Service","metadata":{"namespace":"llm","name":"chat-lb"},"apiVersion":"v1"}',
        SERVICE.replace("name: chat-lb", "name: &name chat-lb"),
        f"a: 1\n---\n{SERVICE}",
        "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: Service, metadata: {name: chat-lb}}]",
        "apiVersion: v1\nkind: ServiceList\nitems: [{metadata: {name: chat-lb}}]",
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: other}}\nitems: [{LISTED}]",
        f"apiVersion: v1\nkind: Team\nmetadata: {{name: other}}\nitems: [{{items: [{LISTED}]}}]",
    ],
)
def test_however_it_is_written(text: str, tree: Path, llmaz: Llmaz) -> None:
    put(tree, {"own/service.yaml": text})
    assert codes(llmaz) == ["W260"]


@pytest.mark.parametrize(
    "text",
    [
        SERVICE.replace("llm", "other"),
        SERVICE.replace("v1", "serving.example.com/v1"),
        SERVICE.replace("chat-lb", "[chat-lb]"),
        SERVICE.replace("metadata: ", "metadata: 5 # "),
        SERVICE + "  a: b: c\n",  # no YAML
        SERVICE + "$patch: delete\n",
        "{{ if .Values.a }}\n" + SERVICE,
    ],
)
def test_what_is_no_object_of_that_name(text: str, tree: Path, llmaz: Llmaz) -> None:
    put(tree, {"own/service.yaml": text})
    assert codes(llmaz) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("own/kustomization.yaml", "patches: [{path: service.yaml}]", []),
        ("own/kustomization.yml", "patchesStrategicMerge: [service.yaml, 'a: |\n  b']", []),
        ("kustomization.yaml", "patchesJson6902: [{path: own/service.yaml}]", []),
        ("own/Kustomization", "resources: [service.yaml]\nnamePrefix: my-", []),
        ("kustomization.yaml", "resources: [own]\nnamespace: other", []),
        ("kustomization.yaml", "resources: [own]\nnamespace: llm", ["W260"]),
        ("own/kustomization.yaml", "resources: [other.yaml]\nnamespace: other", ["W260"]),
        ("own/kustomization.yaml", "patches: [{patch: '- op: add'}, {path: 5}, null]\nresources: {a: 1}", ["W260"]),
        ("own/kustomization.yaml", "patches: [", ["W260"]),
    ],
)
def test_what_a_kustomization_makes_of_it(name: str, text: str, expected: list[str], tree: Path, llmaz: Llmaz) -> None:
    put(tree, {"own/service.yaml": SERVICE, name: text})
    assert codes(llmaz) == expected


def test_a_part_of_the_tree_speaks_of_its_own_files(tree: Path, llmaz: Llmaz) -> None:
    """And does not know what else is rendered."""
    put(tree, {"own/service.yaml": SERVICE, "apps/route.yaml": ROUTE, "apps/service.yaml": SERVICE})
    assert codes(llmaz) == ["W265", "W260", "W260"]
    assert codes(llmaz, "apps") == ["W260"]
    assert codes(llmaz, "apps/chat.yaml") == []


def test_what_any_file_names_is_not_missing(tree: Path, llmaz: Llmaz) -> None:
    put(tree, {"own/route.yaml": ROUTE})
    assert codes(llmaz) == ["W265"]
    put(tree, {"own/service.yaml": SERVICE.replace("chat-lb", "code-lb")})
    assert codes(llmaz) == []


def test_nothing_is_missing_where_an_input_is_wrong(tree: Path, llmaz: Llmaz) -> None:
    put(tree, {"own/route.yaml": ROUTE, "apps/code.yaml": playground("code", "llm", backend="lamacpp")})
    assert "W265" not in llmaz("validate").err


def test_many_files_are_parsed_by_several_processes(tree: Path, llmaz: Llmaz) -> None:
    put(tree, {f"own/{i}.yaml": SERVICE for i in range(300)})
    assert codes(llmaz) == ["W260"] * 300
