"""What a checkout makes of files by `.gitattributes`, which a diff does not read (docs/diff.md#attributes)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.diff.repository import CHAT, Repository

if TYPE_CHECKING:
    from tests.conftest import Llmaz

END = ": a checkout may hold other bytes than are read here"
EVIL = CHAT.replace("name: chat", "name: evil").replace("spec:", "spec:\n  servedModelName: evil") + "\n"


def changes(llmaz: Llmaz, *words: str) -> list[tuple[str, str]]:
    """The file and message of each guard risk."""
    done = llmaz("diff", *words, "--format", "json")
    assert done.code == 0, done.err
    risks: list[dict[str, Any]] = json.loads(done.out)["risks"]
    assert {risk["risk"] for risk in risks} <= {"guard"}
    return [(risk["object"]["name"], risk["message"]) for risk in risks]


def test_an_app_that_only_a_checkout_holds(repository: Repository, llmaz: Llmaz) -> None:
    """The bytes that were pushed are a text in Chinese signs; git writes them as UTF-16, which is plain YAML."""
    text = EVIL.encode().ljust(len(EVIL) + len(EVIL) % 2, b"\n")
    (repository.folder / "blob").write_text(text.decode("utf-16-le"), "utf-8")
    blob = repository.git("hash-object", "-w", "--no-filters", "blob").strip()
    (repository.folder / "blob").unlink()
    (repository.folder / ".gitattributes").write_text("notes.yaml working-tree-encoding=UTF-16LE\n")
    repository.git("add", ".gitattributes")
    repository.git("update-index", "--add", "--cacheinfo", f"100644,{blob},notes.yaml")
    repository.git("commit", "--quiet", "--message", "notes")
    repository.git("checkout", "--quiet", "notes.yaml")
    assert "name: evil" in (repository.folder / "notes.yaml").read_text("utf-8")
    assert "name: evil" in llmaz("render", "--stdout").out
    done = llmaz("diff", "HEAD~1...HEAD")
    assert "no object changes" in done.out
    line = "notes.yaml working-tree-encoding=UTF-16LE"
    assert changes(llmaz, "HEAD~1...HEAD") == [(".gitattributes", f"with {line}{END}")]


@pytest.mark.parametrize(
    "line",
    [
        "*.yaml filter=x",
        "* ident",
        "models/** working-tree-encoding=UTF-16",
        '"models/a b.yml" ident',
        "*.y[a]ml ident",
        "*.YAML ident",
        "*l ident",
        "kustomization.* ident",
        "*.json -ident",
        "*.yaml !filter",
        "*.yaml text eol=lf ident",
    ],
)
@pytest.mark.parametrize("path", [".gitattributes", "models/.gitattributes"])
def test_lines_that_convert(line: str, path: str, repository: Repository, llmaz: Llmaz) -> None:
    (repository.folder / "models").mkdir()
    (repository.folder / path).write_text(f"# a comment\n\n*.md text\n  {line} \r\n")
    repository.git("add", "--all")
    assert changes(llmaz) == [(path, f"with {line}{END}")]
    repository.git("commit", "--quiet", "--message", "attributes")
    assert changes(llmaz) == []
    (repository.folder / path).write_text("*.md text\n")
    repository.git("add", "--all")
    assert changes(llmaz) == [(path, f"without {line}{END}")]


@pytest.mark.parametrize(
    "line",
    [
        "* text=auto eol=lf",
        "*.yaml text diff=yaml merge=union linguist-generated export-ignore",
        "*.safetensors filter=lfs diff=lfs merge=lfs -text",
        "models/*.gguf filter=lfs",
        "Makefile ident",
        "*.py ident",
        "# *.yaml ident",
        "*.yaml filters ident2",
        "[attr]mine text diff",
        "*.yaml mine",
    ],
)
def test_lines_that_convert_no_input(line: str, repository: Repository, llmaz: Llmaz) -> None:
    """Large files of models may lie elsewhere, and lines may end as they like."""
    (repository.folder / ".gitattributes").write_text(f"{line}\n")
    repository.git("add", "--all")
    assert changes(llmaz) == []


def test_a_macro_that_converts(repository: Repository, llmaz: Llmaz) -> None:
    attributes = repository.folder / ".gitattributes"
    attributes.write_text("[attr]outer inner text\n[attr]inner ident\n[attr]other diff\n")
    repository.commit("macros")
    (repository.folder / "models").mkdir()
    (repository.folder / "models" / ".gitattributes").write_text("*.yaml outer\n*.yml other\n")
    repository.git("add", "--all")
    assert changes(llmaz) == [("models/.gitattributes", f"with *.yaml outer{END}")]
    attributes.write_text("[attr]outer inner text\n[attr]inner text\n[attr]other diff\n")
    repository.git("add", "--all")
    assert (".gitattributes", f"without [attr]inner ident{END}") in changes(llmaz)


def test_the_order_of_lines_counts(repository: Repository, llmaz: Llmaz) -> None:
    lines = ["*.yaml ident", "a.yaml -ident", "*.md text"]
    for text in ("\n".join(lines), "\n".join(lines[::-1])):
        (repository.folder / ".gitattributes").write_text(text)
        repository.commit("attributes")
    text = "the order changed, by which a checkout may hold other bytes"
    assert changes(llmaz, "HEAD~1...HEAD") == [(".gitattributes", text)]


def test_many_lines_are_counted(repository: Repository, llmaz: Llmaz) -> None:
    (repository.folder / ".gitattributes").write_text("".join(f"{i}.yaml ident\n" for i in range(50_000)))
    repository.commit("attributes")
    risks = changes(llmaz, "HEAD~1...HEAD")
    assert (len(risks), risks[0], risks[10][1]) == (
        11,
        (".gitattributes", f"with 0.yaml ident{END}"),
        "49,990 more lines by which a checkout may hold other bytes",
    )


@pytest.mark.parametrize("data", [b"\xff\xfe* ident", b"\xef\xbb\xbf* ident\n", b"* ident\0x\n", b"\n \t\r\n[attr]\n"])
def test_odd_bytes(data: bytes, repository: Repository, llmaz: Llmaz) -> None:
    (repository.folder / ".gitattributes").write_bytes(data)
    repository.commit("attributes")
    assert changes(llmaz, "HEAD~1...HEAD") != [] or b"[attr]" in data
    assert llmaz("diff", "HEAD~1...HEAD", "--format", "markdown").code == 0


def test_a_file_of_another_folder(repository: Repository, llmaz: Llmaz, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is about the folder of llmaz.yaml lies in it, or above it."""
    for folder in ("teams/a", "teams/b"):
        (repository.folder / folder).mkdir(parents=True)
        for name in ("llmaz", "models", "chat", "mails"):
            text = (repository.folder / f"{name}.yaml").read_text()
            (repository.folder / folder / f"{name}.yaml").write_text(text)
    repository.commit("teams")
    monkeypatch.chdir(repository.folder / "teams" / "a")
    for folder in (".", "teams", "teams/a", "teams/a/x", "teams/b", "other"):
        (repository.folder / folder).mkdir(exist_ok=True)
        (repository.folder / folder / ".gitattributes").write_text("* ident\n")
    repository.git("add", "--all")
    assert [name for name, _ in changes(llmaz)] == [
        "../../.gitattributes",
        "../.gitattributes",
        ".gitattributes",
        "x/.gitattributes",
    ]


def test_a_link_counts_as_none(repository: Repository, llmaz: Llmaz) -> None:
    """As for git, which follows none."""
    (repository.folder / "mine").write_text("* ident\n")
    (repository.folder / ".gitattributes").symlink_to("mine")
    repository.commit("a link")
    assert changes(llmaz, "HEAD~1...HEAD") == []
