"""The texts of an app, and a folder compared, written and pruned. Whole runs are in test_robustness.py."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from msgspec.structs import replace

from renderer import yamlio
from renderer.api import RenderConfig, RenderOptions, Scope
from renderer.diagnostics import NamedSource, Origin
from renderer.output import leftover_files, manifest_files
from renderer.output.file_header import header
from renderer.output.folder_writer import OutputFolder
from renderer.output.manifest_files import OutputFile
from renderer.plan import Container, Manifest, Plan, Pod, Port, Rollout
from renderer.source.tree import InputFile, InputTree

if TYPE_CHECKING:
    from renderer.input_types import RenderConfigSpec

WRITING = RenderOptions(write=True)
LINE = "# Rendered by llmaz from apps/chat.yaml. Do not edit.\n"


def plan(name: str = "chat", namespace: str = "llm", file: str = "apps/chat.yaml") -> Plan:
    pod = Pod(scheduler_name="default-scheduler", containers=(Container("runner"),))
    port, origin = Port("http", 8080), Origin(NamedSource(""))
    fields: tuple[Any, ...] = ({}, {}, 1, 1, "LeaderReady", "None", Rollout(), pod, port, {}, origin, dict)
    return replace(Plan(name, namespace, file, *fields), app=name)


def manifest(kind: str, name: str) -> Manifest:
    return Manifest({"kind": kind, "metadata": {"name": name}}, dict)


def scope(
    folder: Path | str,
    *prunes: str,
    options: RenderOptions = WRITING,
    files: tuple[InputFile, ...] = (),
    **config: Any,
) -> Scope:
    (document,), _ = yamlio.parse("llmaz.yaml", b"kind: RenderConfig\n")
    return Scope(
        options,
        RenderConfig(cast("RenderConfigSpec", config), document),
        None,
        InputTree(".", files),
        str(folder),
        prunes,
    )


def put(folder: Path, files: dict[str, str | bytes]) -> None:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())


def left(folder: Path) -> list[str]:
    """All that is below the folder, folders with a slash."""
    return sorted(f"{path.relative_to(folder).as_posix()}{'/' * path.is_dir()}" for path in folder.rglob("*"))


# --- texts

OBJECTS = [manifest("LeaderWorkerSet", "chat"), manifest("Service", "chat-lb")]
FIRST, SECOND = "kind: LeaderWorkerSet\nmetadata:\n  name: chat\n", "kind: Service\nmetadata:\n  name: chat-lb\n"


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("file", {"llm/chat.yaml": f"{LINE}{FIRST}---\n{SECOND}"}),
        ("app", {"llm/chat/chat.yaml": f"{LINE}{FIRST}---\n{SECOND}"}),
        (
            "object",
            {
                "llm/chat/leaderworkerset-chat.yaml": LINE + FIRST,
                "llm/chat/service-chat-lb.yaml": LINE + SECOND,
            },
        ),
    ],
)
def test_texts(layout: str, expected: dict[str, str]) -> None:
    files = manifest_files.texts([plan()], OBJECTS, layout)
    assert {text.path: text.text for text in files} == expected
    assert [text.path for text in files] == list(expected)


def test_the_header_names_the_input() -> None:
    assert header("apps/chat.yaml") == LINE
    assert manifest_files.texts([plan(file="a b/ä.yaml")], OBJECTS)[0].text.startswith(
        "# Rendered by llmaz from a b/ä.yaml. Do not edit.\n"
    )


# --- whose file is it


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (LINE, "apps/chat.yaml"),
        (LINE + "kind: X\n", "apps/chat.yaml"),
        (header("a. Do not edit.b"), "a. Do not edit.b"),
        (header("ä"), "ä"),
        ("", None),
        ("kind: X\n", None),
        ("---\n" + LINE, None),  # the line is the first
        (" " + LINE, None),
        (LINE.rstrip("\n"), "apps/chat.yaml"),
        (LINE.replace("\n", "\r\n"), "apps/chat.yaml"),  # a checkout may have turned the line ends
        (LINE.replace(". Do not edit.", ""), None),
        (LINE.lower(), None),
        (b"\xff\xfe", None),
    ],
)
def test_made_from(text: str | bytes, source: str | None, tmp_path: Path) -> None:
    put(tmp_path, {"x.yaml": text})
    assert leftover_files.source(OutputFolder(str(tmp_path)), "x.yaml") == source


def test_what_cannot_be_read_is_not_ours(tmp_path: Path) -> None:
    put(tmp_path, {"folder/x.yaml": LINE, "real.yaml": LINE})
    (tmp_path / "link.yaml").symlink_to("real.yaml")
    for path in ("folder", "none", "none/x.yaml", "link.yaml"):
        assert leftover_files.source(OutputFolder(str(tmp_path)), path) is None


# --- compare


def test_compare(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "ns/same.yaml": LINE + "a: 1\n",
            "ns/shorter.yaml": LINE,
            "ns/longer.yaml": LINE + "a: 1\nb: 2\n",
            "ns/renamed.yaml": header("elsewhere.yaml") + "a: 1\n",
            "ns/foreign.yaml": "a: 1\n",
            "ns/empty.yaml": "",
            "ns/folder.yaml/x": "",
            "file/x": "",
        },
    )
    expected = {
        "ns/same.yaml": "same",
        "ns/shorter.yaml": "changed",
        "ns/longer.yaml": "changed",
        "ns/renamed.yaml": "changed",
        "ns/foreign.yaml": "foreign",
        "ns/empty.yaml": "foreign",
        "ns/folder.yaml": "foreign",
        "ns/new.yaml": "new",
        "other/new.yaml": "new",
        "ns/same.yaml/below.yaml": "foreign",  # a file where a folder is needed
        "file/x/deep/below.yaml": "foreign",
    }
    files = [OutputFile(path, LINE + "a: 1\n") for path in expected]
    output = OutputFolder(str(tmp_path))
    assert dict(manifest_files.compare(output, files)) == expected
    assert [path for path, _ in manifest_files.compare(output, files)] == list(expected)


def test_a_link_is_in_the_way_wherever_it_leads(tmp_path: Path) -> None:
    put(tmp_path, {"out/real.yaml": LINE, "elsewhere/a.yaml": LINE})
    for link, target in (("nowhere.yaml", "nothing"), ("inside.yaml", "real.yaml"), ("folder", "../elsewhere")):
        (tmp_path / "out" / link).symlink_to(target)
    paths = ["nowhere.yaml", "inside.yaml", "folder/a.yaml"]
    compared = manifest_files.compare(OutputFolder(str(tmp_path / "out")), [OutputFile(path, LINE) for path in paths])
    assert compared == [(path, "foreign") for path in paths]


def test_without_a_folder_that_matters_all_is_new(tmp_path: Path) -> None:
    put(tmp_path, {"a.yaml": LINE})
    assert manifest_files.compare(None, [OutputFile("a.yaml", LINE)]) == [("a.yaml", "new")]


# --- stale


def stale(folder: Path, *prunes: str, unchanged: tuple[str, ...] = ()) -> list[str]:
    return leftover_files.folder_state(scope(folder, *prunes), dict.fromkeys(unchanged, "same")).stale


def test_stale_files_are_ours_and_made_no_more(tmp_path: Path) -> None:
    put(
        tmp_path,
        {
            "z/gone.yaml": LINE,
            "a/b/c/gone.yml": LINE,
            "gone.json": LINE,
            "kept.yaml": LINE,
            "foreign.yaml": "a: 1\n",
            "note.txt": LINE,  # we write no such files
            "a/gone.yaml.llmaz-7": LINE,
        },
    )
    assert stale(tmp_path, unchanged=("kept.yaml", "made/anew.yaml")) == ["a/b/c/gone.yml", "gone.json", "z/gone.yaml"]


def test_stale_files_of_other_inputs_are_not_our_business(tmp_path: Path) -> None:
    sources = ["apps/a.yaml", "apps/deep/b.yaml", "apps.yaml", "apps2/a.yaml", "other.yaml", "llmaz.yaml"]
    put(tmp_path, {f"{i}.yaml": header(source) for i, source in enumerate(sources)})
    pruned = {prune: [sources[int(path[0])] for path in stale(tmp_path, *prune)] for prune in [
        (), ("apps",), ("apps/a.yaml",), ("app*",), ("apps", "other.yaml"), ("none",),
    ]}  # fmt: skip
    assert pruned == {
        (): sources,
        ("apps",): ["apps/a.yaml", "apps/deep/b.yaml"],
        ("apps/a.yaml",): ["apps/a.yaml"],
        ("apps", "other.yaml"): ["apps/a.yaml", "apps/deep/b.yaml", "other.yaml"],
        ("none",): [],
        ("app*",): [],  # a path is no glob
    }


def test_nothing_is_stale_where_nothing_is(tmp_path: Path) -> None:
    assert stale(tmp_path / "none") == []
    put(tmp_path, {"file": LINE})
    assert stale(tmp_path / "file") == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, {"elsewhere/a.yaml": LINE, "out/b.yaml": LINE})
    (tmp_path / "out" / "linked").symlink_to(tmp_path / "elsewhere")
    assert stale(tmp_path / "out") == ["b.yaml"]


# --- write and settle


def test_write_makes_folders_and_replaces(tmp_path: Path) -> None:
    put(tmp_path, {"out/a.yaml": "old and much longer than what comes\n"})
    inode = (tmp_path / "out" / "a.yaml").stat().st_ino
    output = OutputFolder(str(tmp_path / "out"))
    manifest_files.write(
        output, [OutputFile("a.yaml", "ä: 1\n"), OutputFile("n/b/c.yaml", "c\n"), OutputFile("n/b/d.yaml", "d\n")]
    )
    assert (tmp_path / "out" / "a.yaml").read_bytes() == "ä: 1\n".encode()
    assert (tmp_path / "out" / "a.yaml").stat().st_ino != inode, "a reader of the old file keeps the old file"
    assert left(tmp_path / "out") == ["a.yaml", "n/", "n/b/", "n/b/c.yaml", "n/b/d.yaml"]


def test_files_are_as_readable_as_the_user_wants(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        manifest_files.write(OutputFolder(str(tmp_path)), [OutputFile("a.yaml", "a\n")])
    finally:
        os.umask(before)
    assert (tmp_path / "a.yaml").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("call", ["write", "rename"])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **folders: object) -> None:
        raise OSError(28, "No space left on device")

    put(tmp_path, {"a.yaml": "old\n"})
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError, match="No space"):
        manifest_files.write(OutputFolder(str(tmp_path)), [OutputFile("a.yaml", "new\n")])
    monkeypatch.undo()
    assert left(tmp_path) == ["a.yaml"]
    assert (tmp_path / "a.yaml").read_text() == "old\n"


def test_a_write_in_pieces_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data[:3])))
    manifest_files.write(OutputFolder(str(tmp_path)), [OutputFile("a.yaml", "0123456789\n")])
    monkeypatch.undo()
    assert (tmp_path / "a.yaml").read_text() == "0123456789\n"


def test_delete_takes_folders_that_get_empty(tmp_path: Path) -> None:
    put(tmp_path, {"a/b/gone.yaml": LINE, "a/b/c/gone.yaml": LINE, "d/gone.yaml": LINE, "d/kept.yaml": LINE})
    manifest_files.delete(OutputFolder(str(tmp_path)), ["a/b/gone.yaml", "a/b/c/gone.yaml", "d/gone.yaml"])
    assert left(tmp_path) == ["d/", "d/kept.yaml"]


def test_what_a_killed_run_left_is_rubbish(tmp_path: Path) -> None:
    alive, dead = os.getpid(), next(pid for pid in range(4_000_000, 5_000_000) if not Path(f"/proc/{pid}").exists())
    files: dict[str, str | bytes] = {
        f"a/x.yaml.llmaz-{dead}": "half",
        f"a/x.yaml.llmaz-{alive}": "being written right now",
        "a/x.yaml": LINE,
        "a/x.yaml.llmaz-old": "",
        f"notes.llmaz-{dead}": "somebody's own",
        f"b/y.json.llmaz-{dead}": "",
    }
    put(tmp_path, files)
    state = leftover_files.folder_state(scope(tmp_path), {"a/x.yaml": "same"})
    assert (state.stale, state.temporary) == ([], [f"a/x.yaml.llmaz-{dead}", f"b/y.json.llmaz-{dead}"])
    manifest_files.delete(OutputFolder(str(tmp_path)), state.temporary)
    assert left(tmp_path) == sorted(
        ["a/", "a/x.yaml", f"a/x.yaml.llmaz-{alive}", "a/x.yaml.llmaz-old", f"notes.llmaz-{dead}"]
    )


# --- what belongs to no single app


def passing(folder: Path, text: str | bytes, name: str = "extra.yaml") -> tuple[list[OutputFile], list[str]]:
    """What `passThrough` makes of a file, and the codes."""
    put(folder, {name: text})
    files = (InputFile(name, name, str(folder / name)), InputFile("other.yaml", "other.yaml", "none"))
    outputs, problems = manifest_files.common_files(scope(folder / "out", files=files, passThrough=["extra.*"]), {})
    return outputs, [problem.code for problem in problems]


def test_a_file_is_passed_through_below_our_line(tmp_path: Path) -> None:
    text = "# mine\r\na:   1   # ä\n"
    assert passing(tmp_path, text) == ([OutputFile("_extra/extra.yaml", header("extra.yaml") + text)], [])


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("extra.json", b"{}"),
        ("extra.yaml", b"a: \xff\n"),
        ("extra.yaml", b"a: 1 # \x1b[2J\n"),
        ("extra.yaml", b"a: 1\rb: 2\n"),
        ("extra.yaml", b"a: \xc2\x9b31m\n"),
    ],
)
def test_what_cannot_be_passed_through(name: str, data: bytes, tmp_path: Path) -> None:
    assert passing(tmp_path, data, name) == ([], ["E142"])


@pytest.mark.parametrize(
    ("enabled", "prunes", "there"), [(True, (), True), (False, (), False), (True, ("apps",), False)]
)
def test_kustomization(enabled: bool, prunes: tuple[str, ...], there: bool, tmp_path: Path) -> None:
    """A run over a part of the tree does not know all resources, so it leaves the list alone."""
    states = {"b/x.yaml": "same", "a/y.yaml": "new"}
    outputs, problems = manifest_files.common_files(scope(tmp_path, *prunes, output={"kustomization": enabled}), states)
    assert problems == []
    if not there:
        assert outputs == []
        return
    (text,) = outputs
    assert text.path == "kustomization.yaml"
    assert text.text.startswith(header("llmaz.yaml"))
    assert text.text.endswith("resources:\n  - a/y.yaml\n  - b/x.yaml\n")
    assert states["kustomization.yaml"] == "new"
