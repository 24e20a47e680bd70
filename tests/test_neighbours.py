"""A change of one model is the diff of one model: which rendered files differ when one is renamed or added."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.inputs import CONFIG, playground

if TYPE_CHECKING:
    from tests.conftest import Llmaz

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
GATEWAYS = sorted(path.name for path in EXAMPLES.glob("gateway-*"))
SHARED = "llmaz-system/_shared.yaml"
PACKED = "  gateway:\n    routeLayout: packed\n    routeBuckets: 4\n"


class Tree:
    """A copy of an example, in the current folder, that is changed and rendered again."""

    def __init__(self, example: str, folder: Path, llmaz: Llmaz) -> None:
        self._folder, self._llmaz = folder, llmaz
        shutil.copytree(EXAMPLES / example, folder, dirs_exist_ok=True)
        self._rendered: dict[str, str] = {}
        self.differing()
        assert self._rendered

    def replace(self, old: str, new: str) -> None:
        """Replaces words of the input, wherever they stand; they must be there."""
        texts = {path: path.read_text("utf-8") for path in self._folder.glob("*.yaml")}
        assert any(old in text for text in texts.values())
        for path, text in texts.items():
            path.write_text(text.replace(old, new), "utf-8")

    def add(self, name: str, namespace: str, rest: str = "") -> None:
        """A Playground more, in a file of its own."""
        (self._folder / f"{namespace}-{name}.yaml").write_text(
            f"{playground(name, namespace, backend='llamacpp')}  servedModelName: {name}\n{rest}"
        )

    def differing(self) -> list[str]:
        """Renders; the files that are new, gone or other than before."""
        done = self._llmaz("render")
        assert done.code == 0, done.err
        output = self._folder / "rendered"
        before = self._rendered
        self._rendered = {
            path.relative_to(output).as_posix(): path.read_text("utf-8") for path in sorted(output.rglob("*.yaml"))
        }
        return sorted(path for path in before | self._rendered if before.get(path) != self._rendered.get(path))


@pytest.mark.parametrize(
    ("example", "old", "new", "files"),
    [
        # The public name.
        ("gateway-basic", "servedModelName: qwen2-0.5b", "servedModelName: qwen2-half.b", ["demo/chat.yaml"]),
        ("gateway-basic", "servedModelName: qwen2.5-coder", "servedModelName: Qwen/Coder:free", ["demo/coder.yaml"]),
        ("gateway-auth", "servedModelName: large", "servedModelName: larger", ["llm/large.yaml"]),
        # The OpenModel, and with it who claims it.
        ("gateway-basic", "qwen2-0--5b", "qwen2-half", ["demo/chat.yaml"]),
        # The Playground.
        ("gateway-basic", "  name: coder", "  name: developer", ["demo/coder.yaml", "demo/developer.yaml"]),
        ("gateway-auth", "  name: large", "  name: larger", ["llm/large.yaml", "llm/larger.yaml"]),
        ("gateway-auth", "  name: chat", "  name: talk", ["llm/chat.yaml", "llm/talk.yaml"]),
        (
            "gateway-teams",
            "name: chat\n  namespace: search",
            "name: talk\n  namespace: search",
            ["search/chat.yaml", "search/talk.yaml"],
        ),
        ("gateway-teams", "  name: nightly", "  name: weekly", ["batch/nightly.yaml", "batch/weekly.yaml"]),
    ],
)
def test_renaming_a_model(example: str, old: str, new: str, files: list[str], folder: Path, llmaz: Llmaz) -> None:
    tree = Tree(example, folder, llmaz)
    tree.replace(old, new)
    assert tree.differing() == files


@pytest.mark.parametrize(
    ("example", "namespace"), [("gateway-basic", "demo"), ("gateway-auth", "llm"), ("gateway-teams", "support")]
)
def test_adding_a_model(example: str, namespace: str, folder: Path, llmaz: Llmaz) -> None:
    tree = Tree(example, folder, llmaz)
    for name in ("a-first", "z-last"):
        tree.add(name, namespace)
        assert tree.differing() == [f"{namespace}/{name}.yaml"]


def test_the_first_model_of_a_namespace(folder: Path, llmaz: Llmaz) -> None:
    """The Gateway has to let the namespace in; where it is somebody else's, that is not ours to say."""
    tree = Tree("gateway-auth", folder, llmaz)
    tree.add("one", "more")
    assert tree.differing() == [SHARED, "more/one.yaml"]
    tree.add("two", "more")
    assert tree.differing() == ["more/two.yaml"]
    tree.replace("create: true", "create: false")
    tree.differing()
    tree.add("three", "even-more")
    assert tree.differing() == ["even-more/three.yaml"]


def test_the_first_rights_of_a_namespace(folder: Path, llmaz: Llmaz) -> None:
    """Its policy names the Gateway's Secret, which takes a grant."""
    tree = Tree("gateway-auth", folder, llmaz)
    tree.add("one", "more")
    tree.differing()
    tree.add("two", "more", "  gateway: {allow: [search]}\n")
    assert tree.differing() == [SHARED, "more/two.yaml"]
    tree.add("three", "more", "  gateway: {allow: [search]}\n")
    assert tree.differing() == ["more/three.yaml"]
    tree.add("four", "llm", "  gateway: {allow: [search]}\n")
    assert tree.differing() == ["llm/four.yaml"]


def test_a_gateway_of_its_own(folder: Path, llmaz: Llmaz) -> None:
    """A team's first model changes the team's Gateway, and nobody else's."""
    tree = Tree("gateway-teams", folder, llmaz)
    tree.add("more", "search")
    assert tree.differing() == ["search/more.yaml"]
    tree.replace("perNamespace: ", "perNamespace:\n      news: {name: news-gateway, namespace: news} ")
    assert tree.differing() == ["news/_shared.yaml"]
    tree.add("headlines", "news")
    assert tree.differing() == ["news/_shared.yaml", "news/headlines.yaml"]


def test_packed(folder: Path, llmaz: Llmaz) -> None:
    """A model more, or under another name, changes its own bucket; the others stay where they are."""
    tree = Tree("gateway-basic", folder, llmaz)
    (folder / "llmaz.yaml").write_text(f"{CONFIG}\n{PACKED}")
    tree.differing()
    for name in ("one", "two", "three", "four", "five", "six"):
        tree.add(name, "demo")
        own, bucket = sorted(tree.differing(), reverse=True)
        assert own == f"demo/{name}.yaml"
        assert bucket.startswith("demo/_routes-")
    tree.replace("servedModelName: three", "servedModelName: third")
    *buckets, own = tree.differing()
    assert own == "demo/three.yaml"
    assert 1 <= len(buckets) <= 2  # the old one's and the new one's
    assert all(path.startswith("demo/_routes-") for path in buckets)


def test_every_gateway_example_is_tried() -> None:
    assert GATEWAYS == ["gateway-auth", "gateway-basic", "gateway-pool", "gateway-teams"]
