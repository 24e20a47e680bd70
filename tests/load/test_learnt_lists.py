"""Lists of options that were learnt from a help: where they count, and what an older version's list adds to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from renderer import yamlio
from renderer.api import BackendRuntime
from renderer.engines.known_engine import build_dialect, build_option_rules
from renderer.engines.option_lists import known_versions, read_option_list
from renderer.engines.option_validation import validate_options
from renderer.load.option_lists import OptionListReader

# Versions 1.0 and 2.0 of an engine.
MANY = """\
versions 1.0 2.0
--port,-p 1 int>0
--kind 1
--mode 1
--size 1 int
--tag 1 repeat
--gone 1
--gone-flag 0
--dropped 0 ..2.0
--secret-port 1 int
--quiet 0
--no-quiet 0
=--kind a b ~c
=--mode x y
"""
# What the help of 3.0 says: --size takes several values now, --kind and --mode take others, --new is new.
LEARNT = """\
learnt 3.0
--port,-p 1
--kind 1
--mode 1
--size +
--tag 1
--new 1
--quiet 0
--no-quiet 0
=--kind b d
=--mode * y z
=--new k
"""
SPEC = "style: argparse, list: flags/own.txt, duplicates: last, help: {hidden: [--secret-*]}"


def runtime(folder: Path, spec: str = SPEC, more: str = "") -> BackendRuntime:
    text = (
        "apiVersion: inference.llmaz.io/v1alpha1\nkind: BackendRuntime\nmetadata: {name: own}\n"
        f"spec: {{image: own, version: v2.0, engine: {{{more}options: {{{spec}}}}}}}\n"
    )
    [document], _ = yamlio.parse(str(folder / "own.yaml"), text.encode())
    return BackendRuntime("own", document.value["spec"], document)


@pytest.fixture
def files(tmp_path: Path) -> OptionListReader:
    """Its own lists beside the runtime, and one in the folder that RenderConfig names."""
    (tmp_path / "flags").mkdir()
    (tmp_path / "flags" / "own.txt").write_text(MANY)
    (tmp_path / "learnt").mkdir()
    (tmp_path / "learnt" / "own-3.0.txt").write_text(LEARNT)
    return OptionListReader(learnt_folder=(str(tmp_path), "learnt"))


def judge(files: OptionListReader, own: BackendRuntime, version: str, *args: str) -> list[tuple[int, str]]:
    listed = read_option_list(files, own, version)
    assert listed is not None
    rules = build_option_rules(files, own, build_dialect(own.spec, listed), listed, version)
    return [(finding.index, finding.code) for finding in validate_options(rules, args)]


@pytest.mark.parametrize(
    ("args", "findings"),
    [
        # What the help says is certain.
        ("--port 1 -p 2", [(2, "W434")]),
        ("--pord 1", [(0, "E430")]),
        ("--port", [(0, "E433")]),
        ("--quiet=1", [(0, "E435")]),
        ("--quiet 1", [(1, "E437")]),
        ("--size 1 2", []),
        ("--new k", []),
        ("--new j", [(1, "E440")]),
        ("--kind d", []),
        ("--kind e", [(1, "E440")]),
        ("--t u", []),
        ("--n", [(0, "E432")]),
        ("--dropped", [(0, "E431")]),
        # What only 2.0 is known to take is a warning.
        ("--kind a", [(1, "W440")]),
        ("--kind c", [(1, "W440")]),
        ("--mode x --mode y --mode z", [(2, "W434"), (4, "W434")]),
        ("--mode w", [(1, "W440")]),
        ("--port 0", [(1, "W441")]),
        ("--port x", [(1, "W441")]),
        ("--size x", []),
        ("--tag a --tag b", []),
        ("--new k --new k", []),
        ("--gone 1", [(0, "W430")]),
        ("--gone", [(0, "W430")]),
        ("--gone-flag 1 2 --port 1", [(0, "W430")]),
        ("--gon", [(0, "W432")]),
        # The help of no version names it.
        ("--secret-port 1", []),
        ("--secret-port x", [(1, "W441")]),
        ("--secret-port", [(0, "W433")]),
    ],
)
def test_a_help_proves_names_and_numbers_of_values(
    files: OptionListReader, tmp_path: Path, args: str, findings: list[tuple[int, str]]
) -> None:
    assert judge(files, runtime(tmp_path), "3.0", *args.split()) == findings


def test_words_of_findings(files: OptionListReader, tmp_path: Path) -> None:
    own = runtime(tmp_path)
    listed = read_option_list(files, own, "3.0")
    assert listed is not None
    rules = build_option_rules(files, own, build_dialect(own.spec, listed), listed, "3.0")
    findings = validate_options(rules, ["--gone", "1", "--port", "x", "--pord", "1", "--kind", "a"])
    assert [(finding.words["of"], finding.words["hint"]) for finding in findings] == [
        ("the help of own 3.0", "leave it out, or try it: own 2.0 has it"),
        ("own 2.0 (the nearest known to 3.0)", ""),
        ("own 3.0", "did you mean '--port'?"),
        ("the help of own 3.0", "write 'b' or 'd', or try it: own 2.0 takes it"),
    ]


# Options with JSON, of which the help of 3.0 says so, and 2.0 has more or less to say.
JSON_MANY = """\
versions 1.0 2.0
--conf 1 object
--loose 1 map
--count 1 int>0
--list 1 json
--plain 1 object
"""
JSON_LEARNT = """\
learnt 3.0
--conf 1 json
--loose 1 json
--count 1 json
--list 1 json
--plain 1
--fresh 1 json
"""
KEYS = """\
versions 1.0 2.0
--conf .. size kind
--conf.kind= .. a b
--plain .. size
"""


@pytest.mark.parametrize(
    ("args", "findings"),
    [
        ("--conf {}", []),
        ("--conf x", [(1, "E441")]),
        ("--conf=x", [(0, "E441")]),
        # Only 2.0 is known to take nothing but an object, and no empty text.
        ("--conf 3", [(1, "W441")]),
        ("--conf None", [(1, "W441")]),
        ('--conf {"size":8k}', []),
        ('--list {"size":8k}', [(1, "W441")]),
        ("--plain x", [(1, "W441")]),
        # What 2.0 says of its type is out of date.
        ("--loose x", [(1, "E441")]),
        ("--loose None", []),
        ("--count x", [(1, "E441")]),
        ("--count 0", []),
        ("--fresh x", [(1, "E441")]),
        ("--fresh {}", []),
        ("--fresh None", []),
        # Keys that 2.0 does not have, and their values.
        ('--conf {"siez":1}', [(1, "W477")]),
        ("--conf.siez 1", [(0, "W477")]),
        ('--conf {"kind":"c"}', [(1, "W478")]),
        ('--conf {"kind":"a"}', []),
        ('--plain {"siez":1}', [(1, "W477")]),
    ],
)
def test_json(tmp_path: Path, args: str, findings: list[tuple[int, str]]) -> None:
    """What a help says of JSON is certain in its own version alone; what it does not say an older one tells."""
    own = runtime_with_json(tmp_path)
    (tmp_path / "flags" / "own-3.0.txt").write_text(JSON_LEARNT)
    files = OptionListReader()
    assert judge(files, own, "3.0", *args.split()) == findings
    assert judge(files, own, "3.1", *args.split()) == [(index, code.replace("E", "W")) for index, code in findings]


@pytest.mark.parametrize(
    ("args", "code"),
    [("--conf x", "E441"), ('--conf {"siez":1}', "E477"), ('--conf {"kind":"c"}', "E478"), ('--conf {"kind":"a"}', "")],
)
def test_json_without_a_help(tmp_path: Path, args: str, code: str) -> None:
    """The nearest older version tells all, as warnings."""
    own, files = runtime_with_json(tmp_path), OptionListReader()
    assert judge(files, own, "2.0", *args.split()) == ([(1, code)] if code else [])
    assert judge(files, own, "2.1", *args.split()) == ([(1, code.replace("E", "W"))] if code else [])


def runtime_with_json(folder: Path) -> BackendRuntime:
    """A runtime with lists of its options and of the keys of their JSON."""
    (folder / "flags").mkdir()
    (folder / "flags" / "own.txt").write_text(JSON_MANY)
    (folder / "flags" / "keys.txt").write_text(KEYS)
    return runtime(folder, f"{SPEC}, dotted: true", "names: {keys: flags/keys.txt}, ")


def test_the_list_of_a_release_counts(files: OptionListReader, tmp_path: Path) -> None:
    own = runtime(tmp_path)
    assert known_versions(files, own) == ["1.0", "2.0", "3.0"]
    (tmp_path / "flags" / "own-3.0.txt").write_text("--port 1 int\n")
    listed = read_option_list(OptionListReader(learnt_folder=(str(tmp_path), "learnt")), own, "3.0")
    assert listed is not None
    assert (sorted(listed.options), listed.is_learnt) == (["--port"], False)


def test_a_list_beside_the_runtime_counts_for_its_version_alone(tmp_path: Path) -> None:
    (tmp_path / "flags").mkdir()
    (tmp_path / "flags" / "own.txt").write_text(MANY)
    for version in ("2.0", "3.0"):
        (tmp_path / "flags" / f"own-{version}.txt").write_text(LEARNT.replace("3.0", version))
    files, own = OptionListReader(), runtime(tmp_path)
    assert judge(files, own, "3.0", "--new", "k") == judge(files, own, "2.0", "--gone", "1") == []
    assert judge(files, own, "2.0", "--new", "k") == [(0, "E430")]


def test_a_newer_version_is_judged_by_it_with_warnings(files: OptionListReader, tmp_path: Path) -> None:
    assert judge(files, runtime(tmp_path), "3.1", "--pord", "1", "--new", "j") == [(0, "W430"), (3, "W440")]


def test_a_version_older_than_all_lists_has_its_help_alone(files: OptionListReader, tmp_path: Path) -> None:
    (tmp_path / "learnt" / "own-0.9.txt").write_text(LEARNT.replace("3.0", "0.9"))
    files = OptionListReader(learnt_folder=(str(tmp_path), "learnt"))
    own = runtime(tmp_path)
    assert judge(files, own, "0.9", "--port", "x", "--tag", "a", "--tag", "b", "--mode", "w") == [(7, "W440")]
    assert judge(files, own, "0.9", "--gone", "1", "--kind", "a") == [(0, "E430"), (3, "E440")]


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("own-4.txt", "--port 1\n", "its first line is not 'learnt VERSION'"),
        ("own-4.txt", "learnt 5\n--port 1\n", "'learnt 5' is not 'learnt VERSION' with the version of its name"),
        ("own-4.txt", "learnt\n", "'learnt' is not 'learnt VERSION' with the version of its name"),
        ("own-4.txt", "learnt 4\n--port one\n", "'--port one' is not '--name"),
        ("own-4.txt", "learnt 4\n--port 1 3.0..\n", "'--port 1 3.0..' is not '--name"),
        ("own-4.txt", "\xff", "not valid UTF-8, byte 0"),
    ],
)
def test_files_that_are_no_such_lists(tmp_path: Path, name: str, text: str, what: str) -> None:
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    (tmp_path / "README.md").write_text("what these are")
    files = OptionListReader(learnt_folder=(str(tmp_path), "."))
    assert files.learnt() == {}
    assert [*files.unread()] == [name]
    assert files.unread()[name].startswith(what)


def test_nothing_outside_of_the_tree_is_read(tmp_path: Path) -> None:
    tree, outside = tmp_path / "tree", tmp_path / "own-4.txt"
    (tree / ".git").mkdir(parents=True)
    (tree / "flags").mkdir()
    outside.write_text("learnt 4\n--port 1\n")
    (tree / "flags" / "own-4.txt").symlink_to(outside)
    (tree / "away").symlink_to(tmp_path)
    files = OptionListReader(learnt_folder=(str(tree), "flags"))
    assert (files.learnt(), [*files.unread()]) == ({}, ["own-4.txt"])
    assert files.unread()["own-4.txt"].startswith("it points outside the tree")
    away = OptionListReader(learnt_folder=(str(tree), "away"))
    assert (away.learnt(), away.unread()) == ({}, {})
