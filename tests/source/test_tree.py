"""Which files are input: what is walked, what is left out, and what globs mean."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from renderer.source import tree
from renderer.source.paths import FileTooLargeError
from renderer.source.tree import MAX_BYTES, InputFile


def touch(*paths: str) -> None:
    """Empty files below the current folder."""
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).touch()


def keys(*paths: str, base: Path, ignore: tuple[str, ...] = (), output: str | None = None) -> list[str]:
    return [file.key for file in tree.folder(str(base), paths or (".",), ignore, output).files]


def test_what_is_walked_and_what_is_left_out(folder: Path) -> None:
    touch("z.yaml", "a.yml", "b.json", "c/d/e.yaml", "c.yaml", "notes.txt", "x.yaml.bak", "kustomization.yaml")
    touch(".hidden.yaml", ".git/x.yaml", ".github/x.yaml", "node_modules/x.yaml", "c/node_modules/x.yaml")
    touch("venv/lib/python3.13/site-packages/renderer/presets/backends/vllm.yaml")
    touch("chart/Chart.yaml", "chart/values.yaml", "chart/templates/x.yaml", "Kustomization", "c/kustomization.yaml")
    touch("out/x.yaml", "c/out/x.yaml")
    expected = [".hidden.yaml", "a.yml", "b.json", "c.yaml", "c/d/e.yaml", "c/out/x.yaml", "z.yaml"]
    assert keys(base=folder, output="out") == expected
    assert keys(base=folder, output="./c/../out/") == expected


def test_order_is_that_of_names_not_of_the_disk(folder: Path) -> None:
    touch("b.yaml", "a/b.yaml", "a.yaml", "a-b.yaml", "B.yaml", "a/a.yaml")
    assert keys(base=folder) == sorted(["b.yaml", "a/b.yaml", "a.yaml", "a-b.yaml", "B.yaml", "a/a.yaml"])


def test_ignore_patterns(folder: Path) -> None:
    touch("docs/a.yaml", "docs/b/c.yaml", "x/docs/a.yaml", "a.yaml", "a.test.yaml", "x/b.test.yaml")
    assert keys(base=folder, ignore=("docs/**",)) == ["a.test.yaml", "a.yaml", "x/b.test.yaml", "x/docs/a.yaml"]
    assert keys(base=folder, ignore=("docs", "**/*.test.yaml")) == ["a.yaml", "x/docs/a.yaml"]


def test_names_are_relative_to_the_user_and_keys_to_the_base(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch("base/in/a.yaml", "base/deep/er/here.txt")
    monkeypatch.chdir(folder / "base" / "deep" / "er")
    (file,) = tree.folder(str(folder / "base"), ["../../in"], (), None).files
    assert file == InputFile("../../in/a.yaml", "in/a.yaml", str(folder / "base" / "in" / "a.yaml"))


def test_paths_that_overlap_are_read_once(folder: Path) -> None:
    touch("in/a.yaml", "in/b/c.yaml")
    assert keys("in", "in/a.yaml", "in/b", ".", str(folder / "in"), base=folder) == ["in/a.yaml", "in/b/c.yaml"]


def test_a_file_is_taken_whatever_its_name(folder: Path) -> None:
    touch("in/playground.txt")
    assert keys("in/playground.txt", base=folder) == ["in/playground.txt"]
    assert keys("in", base=folder) == []


def test_a_path_that_is_not_there(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tree.folder(str(folder), ["nowhere"], (), None)


def test_links(folder: Path, tmp_path: Path) -> None:
    touch("in/a.yaml")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "o.yaml").touch()
    Path("in/inside.yaml").symlink_to(folder / "in" / "a.yaml")
    Path("in/loop").symlink_to(folder)
    Path("in/out").symlink_to(outside)
    Path("in/out.yaml").symlink_to(outside / "o.yaml")
    Path("in/out.txt").symlink_to(outside / "o.yaml")
    listing = tree.folder(str(folder), ["in"], (), None)
    assert [file.key for file in listing.files] == ["in/a.yaml"]
    assert [(link.name, link.target) for link in sorted(listing.outside_links)] == [
        ("in/out", str(outside)),
        ("in/out.yaml", str(outside / "o.yaml")),
    ]
    # What the user names himself may lie anywhere.
    assert tree.folder(str(folder), [str(outside)], (), None).outside_links == ()
    assert keys("in/out", base=folder) == ["in/out/o.yaml"]


def test_only_plain_files(folder: Path) -> None:
    touch("a.yaml")
    os.mkfifo("pipe.yaml")
    Path("folder.yaml").mkdir()
    touch("folder.yaml/b.yaml")
    assert keys(base=folder) == ["a.yaml", "folder.yaml/b.yaml"]


def test_names_that_no_header_can_hold(folder: Path) -> None:
    touch("a.yaml", "żółć 🦙.yaml", "new\nline.yaml", "tab\t.yaml")
    unprintable_names = [r"'new\nline.yaml'", r"'tab\t.yaml'"]
    if sys.platform == "linux":  # elsewhere every name is UTF-8
        Path(os.fsdecode(b"\xff.yaml")).touch()
        unprintable_names.insert(0, r"'\udcff.yaml'")
    listing = tree.folder(str(folder), ["."], (), None)
    assert [file.key for file in listing.files] == ["a.yaml", "żółć 🦙.yaml"]
    assert sorted(listing.unprintable_names) == unprintable_names


def test_deep_folders(folder: Path) -> None:
    """Deeper than Python likes to recurse (and pytest, which would clean up)."""
    deep = [f"{folder}/" + "d/" * i for i in range(1, 1200 if sys.platform == "linux" else 300)]
    for path in deep:
        os.mkdir(path)
    touch(deep[-1] + "a.yaml")
    try:
        assert keys(base=folder) == ["d/" * len(deep) + "a.yaml"]
    finally:
        os.unlink(deep[-1] + "a.yaml")
        for path in reversed(deep):
            os.rmdir(path)


def test_reading(folder: Path) -> None:
    Path("a.yaml").write_bytes(b"a: 1\n")
    assert InputFile("a.yaml", "a.yaml", "a.yaml").read() == b"a: 1\n"
    Path("a.yaml").write_bytes(b"")
    assert InputFile("a.yaml", "a.yaml", "a.yaml").read() == b""
    with open("a.yaml", "wb") as file:
        file.truncate(MAX_BYTES + 5)
    with pytest.raises(FileTooLargeError, match=f"{MAX_BYTES + 5:,} bytes, at most {MAX_BYTES:,}"):
        InputFile("a.yaml", "a.yaml", "a.yaml").read()
    with pytest.raises(FileNotFoundError):
        InputFile("b.yaml", "b.yaml", "b.yaml").read()
    if sys.platform == "linux":  # a file that says nothing of its size
        assert len(InputFile("proc", "proc", "/proc/self/status").read()) > 100


# --- where headers begin


def test_base(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of llmaz.yaml, else the git root, else the current folder; from the paths upward."""
    touch("plain/x.yaml", "git/.git/HEAD", "git/deep/x.yaml", "config/llmaz.yaml", "config/deep/x.yaml")
    touch(
        "both/.git/HEAD", "both/llmaz.yaml", "both/in/x.yaml", "above/llmaz.yaml", "above/git/.git", "above/git/x.yaml"
    )
    assert tree.base_of(["plain"]) == (str(folder), None)
    assert tree.base_of([]) == (str(folder), None)
    assert tree.base_of(["git/deep"]) == (str(folder / "git"), None)
    assert tree.base_of(["git/deep/x.yaml"]) == (str(folder / "git"), None)
    assert tree.base_of(["config/deep/x.yaml"]) == (str(folder / "config"), str(folder / "config" / "llmaz.yaml"))
    assert tree.base_of(["config"]) == (str(folder / "config"), str(folder / "config" / "llmaz.yaml"))
    assert tree.base_of(["both/in"]) == (str(folder / "both"), str(folder / "both" / "llmaz.yaml"))
    # Nothing above the git root counts.
    assert tree.base_of(["above/git"]) == (str(folder / "above" / "git"), None)
    # Several paths: what they have in common.
    assert tree.base_of(["config/deep", "plain"]) == (str(folder), None)
    monkeypatch.chdir(folder / "config" / "deep")
    assert tree.base_of([]) == (str(folder / "config"), str(folder / "config" / "llmaz.yaml"))


# --- globs


@pytest.mark.parametrize(
    ("pattern", "matches", "others"),
    [
        ("a.yaml", ["a.yaml"], ["b/a.yaml", "axyaml", "a.yaml2"]),
        ("*.yaml", ["a.yaml", ".yaml"], ["b/a.yaml", "a.yml"]),
        ("docs", ["docs", "docs/a.yaml", "docs/b/c.yaml"], ["docs2/a.yaml", "a/docs"]),
        ("docs/", ["docs/a.yaml"], ["docs2/a.yaml"]),
        ("/docs", ["docs/a.yaml"], ["x/docs/a.yaml"]),
        ("docs/**", ["docs/a.yaml", "docs/b/c.yaml"], ["docs2/a.yaml"]),
        ("docs/*", ["docs/a.yaml", "docs/b/c.yaml"], ["a.yaml"]),
        ("docs/*.yaml", ["docs/a.yaml"], ["docs/b/c.yaml"]),
        ("**/a.yaml", ["a.yaml", "b/a.yaml", "b/c/a.yaml"], ["ba.yaml"]),
        ("b/**/a.yaml", ["b/a.yaml", "b/c/a.yaml", "b/c/d/a.yaml"], ["a.yaml", "ba.yaml"]),
        ("a?.yaml", ["ab.yaml"], ["a.yaml", "a/.yaml", "abc.yaml"]),
        ("[a].(b)+$", ["[a].(b)+$"], ["a.b"]),
        ("**", ["a", "a/b/c"], []),
    ],
)
def test_globs(pattern: str, matches: list[str], others: list[str]) -> None:
    compiled = tree.glob(pattern)
    assert [path for path in matches if not compiled.fullmatch(path)] == []
    assert [path for path in others if compiled.fullmatch(path)] == []


def test_what_lies_around_a_part(folder: Path) -> None:
    for name in ("a/x.yaml", "a/b/y.yaml", "ab/z.yaml", "w.yaml", "out/o.yaml", "docs/d.yaml", ".git/g.yaml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder / "link").symlink_to("a")

    def other_files(*paths: str) -> list[str]:
        return [file.key for file in tree.other_files(str(folder), paths, ["docs/**"], "out")]

    assert other_files("a") == ["ab/z.yaml", "w.yaml"]
    assert other_files("link") == ["ab/z.yaml", "w.yaml"]  # what it leads to is no second definition
    assert other_files("a/x.yaml", "w.yaml") == ["a/b/y.yaml", "ab/z.yaml"]
    assert other_files(".") == []
