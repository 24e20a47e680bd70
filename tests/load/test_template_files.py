"""Chat templates in files of the tree: which are read, from where, and what is told of those that are not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer.load.template_files import TemplateReader
from renderer.source.memory import memory_tree
from renderer.source.tree import DISK
from renderer.template import MAX_PARSED, chat_template_fault

if TYPE_CHECKING:
    from tests.conftest import Llmaz

TEXT = "{{ messages }}\n"
PLAYGROUND = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: chat}}
spec:
  modelClaim: {{modelName: qwen3-8b}}
  chatTemplate: {{file: {path}}}
"""
# Of the files below: the path that a file of apps/ names, what is wrong with it, and what helps.
NOT_READ = {
    "../missing.jinja": ("is no file of the tree", "write a path that starts at the folder of this file"),
    "ours.jinje": ("is no file of the tree", "did you mean 'ours.jinja'?"),
    "../templates/tool.jinja": ("is no file of the tree", "did you mean '../templates/tools.jinja'?"),
    "templates/tools.jinja": ("is no file of the tree", "did you mean '../templates/tools.jinja'?"),
    "../../outside.jinja": ("lies outside of the tree", "put it into the tree, or name"),
    "../templates/../../outside.jinja": ("lies outside of the tree", "put it into the tree, or name"),
    "/etc/passwd": ("is no relative path", "write a path that starts at the folder of this file"),
    "../.git/config": ("has a name that begins with a dot, which is never read", "move it"),
    "../templates/.hidden.jinja": ("has a name that begins with a dot, which is never read", "move it"),
    "../templates": ("cannot be read: Is a directory", "name a file with the template"),
    "latin1.jinja": ("is not valid UTF-8, byte 4", "save it as UTF-8"),
}
LINKS = {  # only on disk
    "../templates/linked.jinja": ("is a link", "name the file that it leads to"),
    "../templates/outside.jinja": ("is a link", "name the file that it leads to"),
    "../linked/tools.jinja": ("lies behind a link", "name the file that it leads to"),
    "../away/outside.jinja": ("lies outside of the tree", "put it into the tree, or name"),
    "pipe.jinja": ("cannot be read: ", "name a file with the template"),
}
FILES = {
    "apps/chat.yaml": b"",
    "apps/ours.jinja": TEXT.encode(),
    "apps/latin1.jinja": b"gr\xc3\xbc\xdfe",
    "templates/tools.jinja": TEXT.encode(),
    "templates/.hidden.jinja": TEXT.encode(),
    ".git/config": b"[http] extraheader = secret",
}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository beside a file that is not in it; the tests run in its folder."""
    (tmp_path / "outside.jinja").write_text(TEXT)
    folder = tmp_path / "tree"
    for path, data in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / "templates/linked.jinja").symlink_to("tools.jinja")
    (folder / "templates/outside.jinja").symlink_to(tmp_path / "outside.jinja")
    (folder / "linked").symlink_to("templates")
    (folder / "away").symlink_to(tmp_path)
    os.mkfifo(folder / "apps/pipe.jinja")
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(("path", "outcome"), [*NOT_READ.items(), *LINKS.items()])
def test_what_is_not_read(path: str, outcome: tuple[str, str], tree: Path) -> None:
    file = TemplateReader(DISK).read(path, "apps/chat.yaml")
    assert file.unread.startswith(outcome[0]), file
    assert file.hint.startswith(outcome[1]), file
    assert file.text == ""


@pytest.mark.parametrize("path", NOT_READ)
def test_a_commit_is_read_alike(path: str, tree: Path) -> None:
    in_memory = TemplateReader(memory_tree(str(tree), FILES)).read(path, "apps/chat.yaml")
    assert in_memory == TemplateReader(DISK).read(path, "apps/chat.yaml")


@pytest.mark.parametrize("path", ["ours.jinja", "../templates/tools.jinja", "../apps/./ours.jinja"])
@pytest.mark.parametrize("is_held", [False, True])
def test_what_is_read(path: str, is_held: bool, tree: Path) -> None:
    files: Any = memory_tree(str(tree), FILES) if is_held else DISK
    file = TemplateReader(files).read(path, "apps/chat.yaml")
    assert (file.text, file.unread, file.fault) == (TEXT, "", "")


def test_objects_of_a_pipe_have_the_folder_in_which_the_command_runs(tree: Path) -> None:
    named_in = "apps/chat.yaml (Playground default/chat)"  # as kustomize's objects are called
    assert TemplateReader(DISK).read("templates/tools.jinja", named_in).text == TEXT


def test_each_file_is_read_once(tree: Path) -> None:
    reader = TemplateReader(DISK)
    first = reader.read("ours.jinja", "apps/chat.yaml")
    (tree / "apps/ours.jinja").write_text("another")
    assert reader.read("ours.jinja", "apps/other.yaml") is first


def test_a_patch_of_an_environment_names_a_file_beside_llmaz_yaml(tree: Path, llmaz: Llmaz) -> None:
    (tree / "away").unlink()  # an error of its own
    (tree / "apps/chat.yaml").write_text(PLAYGROUND.format(path="ours.jinja"))
    (tree / "llmaz.yaml").write_text(
        "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: config}\nspec:\n"
        "  environments:\n    dev: {}\n    prod: {playgrounds: {chat: {chatTemplate: {file: templates/tools.jinja}}}}\n"
    )
    (tree / "templates/tools.jinja").write_text("{{ tools }}\n")
    done = llmaz("render", "-o", "out")
    assert done.code == 0, done.err
    dev, prod = ((tree / "out" / name / "default/chat.yaml").read_text() for name in ("dev", "prod"))
    assert ("{{ messages }}" in dev, "{{ tools }}" in prod) == (True, True)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("{% for a in b %}{% if a %}{% continue %}{% endif %}{% break %}{% endfor %}", ""),
        ("{% generation %}{{ a }}{% endgeneration %}", ""),
        ("{{ raise_exception('no') if a is not defined else tools | tojson(indent=4) | not_a_filter }}", ""),
        ("{% include 'x' %}", ""),  # it is not rendered
        ("", ""),
        ("{# a #}\n\n{{ a b }}", "line 3: expected token '}}', got 'b'"),
        ("{% generation %}", "line 1: unexpected end of template; Jinja was looking for the following tags: "),
        ("{% endfor %}", "line 1: encountered unknown tag 'endfor'"),
        ("{% do a %}", "line 1: encountered unknown tag 'do'"),
        ("{{ " + "(" * 5000 + ")" * 5000 + " }}", "it is nested too deep"),
        ("{{ 1" + "0" * 9000 + " }}", "a number has too many digits"),
        ("{{ a" + " " * MAX_PARSED, ""),  # what is longer is not parsed
    ],
)
def test_what_engines_can_parse(text: str, fault: str) -> None:
    assert chat_template_fault(text).startswith(fault)
    assert bool(chat_template_fault(text)) == bool(fault)
