"""The lists of options by version: their form, whose version is meant, what ended and what came later."""

from __future__ import annotations

import hashlib
import re
import zlib
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from renderer import load
from renderer.api import BackendRuntime, OptionFile, UnreadableList
from renderer.engines import image_version
from renderer.engines.option_lists import OptionList, known_versions, read_option_list
from renderer.engines.version_order import version_key
from renderer.load.option_lists import OptionListReader
from renderer.preset_catalog.preview import option_lines
from renderer.yamlio import parse
from tests.paths import ROOT

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec

BACKENDS = ROOT / "presets" / "backends"
ENGINES = ("vllm", "sglang", "llamacpp")
RELEASES = {"vllm": 66, "sglang": 76, "llamacpp": 35}
# The builds of llama.cpp that have to be known.
BUILDS = [4094, 4295, 4447, 4579, 6628, 7079, 7710, 8352, 8929, 9294, 10566, 10809, 11434]
# What the installed parsers printed, and the help of the server that was built: lines, and the hash of them.
PRINTED = {
    ("vllm", "0.33.0"): (410, "24b779863f15f06bc7aca6cd94dc524bcc08b79fd3994b937d8d07e6357cab83"),
    ("sglang", "0.5.23"): (545, "5668dbe40ea754f5d2ee965b183a02b1d02a9fe29811068a9b81848751582d70"),
    ("llamacpp", "b11434"): (278, "091632804accdabccb6180b86e042371195553f2bfc155b934012d88455cd6a9"),
}
MANY = """\
# A comment.
versions 0.9 0.10 0.10.post1 0.10.0.1 1.0

--always,-a 1
--kind 1 {big,small} ..0.10.post1
--kind 1 {big} 0.10.post1..
--many 0 ..0.10
--many + repeat 0.10..
--old,-o 0 ..0.10
--back 0 ..0.10
--back 0 1.0..
--new 1 0.10.0.1..
"""


@cache
def shipped(engine: str) -> BackendRuntime:
    """The preset of an engine."""
    document = load.preset(f"backends/{engine}")
    return BackendRuntime(engine, document.value["spec"], document, ours=True)


@cache
def options_of(engine: str, version: str) -> OptionList:
    """The options of a version of an engine."""
    options = read_option_list(OptionListReader(), shipped(engine), version)
    assert options is not None
    return options


@cache
def option_file(engine: str) -> OptionFile:
    """The file of an engine."""
    file = OptionListReader().file(shipped(engine), f"flags/{engine}.txt")
    assert file is not None
    return file


def own(folder: Path, path: str, more: str = "") -> BackendRuntime:
    """A runtime of a user's in that folder, with a list of options."""
    text = f"engine: {{options: {{style: argparse, list: {path}{more}}}}}"
    documents, _ = parse(str(folder / "own.yaml"), text.encode())
    return BackendRuntime("own", documents[0].value, documents[0], ours=False)


# --- the form


def many(folder: Path, version: str) -> OptionList | None:
    (folder / "many.txt").write_text(MANY)
    return read_option_list(OptionListReader(), own(folder, "many.txt"), version)


@pytest.mark.parametrize(
    ("version", "lines"),
    [
        ("0.9", ["--always,-a 1", "--kind 1 {big,small}", "--many 0", "--old,-o 0", "--back 0"]),
        ("0.10", ["--always,-a 1", "--kind 1 {big,small}", "--many + repeat"]),
        ("0.10.post1", ["--always,-a 1", "--kind 1 {big}", "--many + repeat"]),
        ("0.10.0.1", ["--always,-a 1", "--kind 1 {big}", "--many + repeat", "--new 1"]),
        ("1.0", ["--always,-a 1", "--kind 1 {big}", "--many + repeat", "--back 0", "--new 1"]),
    ],
)
def test_a_line_holds_in_its_range(version: str, lines: list[str], tmp_path: Path) -> None:
    options = many(tmp_path, version)
    assert options is not None
    assert (options.version, option_lines(options)) == (version, lines)


@pytest.mark.parametrize(
    ("version", "nearest"),
    [
        ("0.8.9", None),
        ("0.9rc1", None),
        ("0.9.0", "0.9"),
        ("0.9.5", "0.9"),
        ("0.10rc2", "0.9"),
        ("0.10.0", "0.10"),
        ("0.10.post2", "0.10.post1"),
        ("0.10.1", "0.10.0.1"),
        ("1.0.dev1", "0.10.0.1"),
        ("1.0.0", "1.0"),
        ("2", "1.0"),
    ],
)
def test_a_version_between_two_is_the_older_one(version: str, nearest: str | None, tmp_path: Path) -> None:
    options = many(tmp_path, version)
    assert (options.version if options else None) == nearest


@pytest.mark.parametrize(
    ("version", "value", "is_known"),
    [
        ("0.9", "Fast", False),
        ("0.9", "FAST", True),
        ("0.10", "Fast", True),
        ("0.10", "fast", True),
        ("0.10", "^", False),
        ("0.10", "faster", False),
    ],
)
def test_values_in_any_case_of_letters(version: str, value: str, is_known: bool, tmp_path: Path) -> None:
    (tmp_path / "any.txt").write_text("versions 0.9 0.10\n--mode 1\n=--mode FAST slow @0.10.. ^\n")
    options = read_option_list(OptionListReader(), own(tmp_path, "any.txt"), version)
    assert options is not None
    choices = options.options["--mode"].choices
    assert (value in choices) == is_known
    assert {*choices.values, *choices.later, *choices.earlier} == {"FAST", "slow"}


def test_what_ended_and_what_came_later(tmp_path: Path) -> None:
    options = many(tmp_path, "0.10")
    assert options is not None
    assert options.ended == {"--many": "in 0.10", "--old": "in 0.10", "-o": "in 0.10", "--back": "in 0.10"}
    assert options.later == {"--kind": "in 0.10.post1", "--back": "in 1.0", "--new": "in 0.10.0.1"}
    assert options.removed == {}


def test_of_samples_nobody_knows_the_first(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("samples b10 b20 b30\n--a 0 ..b20\n--b 0 b30..\n")
    options = read_option_list(OptionListReader(), own(tmp_path, "own.txt"), "b25")
    assert options is not None
    assert (options.version, options.options) == ("b20", {})
    assert (options.ended, options.later) == ({"--a": "by b20"}, {"--b": "by b30"})


def test_what_took_the_place_of_an_option_is_told_once_it_ended(tmp_path: Path) -> None:
    (tmp_path / "many.removed.txt").write_text("--old --new\n--new --newest\n--other\n")
    before, behind = many(tmp_path, "0.9"), many(tmp_path, "1.0")
    assert before is not None
    assert behind is not None
    assert before.removed == {"--old": "--new", "--other": ""}  # --new is still to come
    assert behind.removed == {"--old": "--new", "--new": "--newest", "--other": ""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("versions 1 2\n--a 0 1..3\n", "'1..3': '3' is not one of its versions"),
        ("versions 1 2\n--a 0 0.5..\n", "'0.5..': '0.5' is not one of its versions"),
        ("versions 1 newest\n--a 0\n", "'newest' is not a version"),
        ("versions 1 2\n--a 0 1-2\n", "is not '--name"),
        ("versions 1 2\n--a 0 {}\n", "is not '--name"),
        ("versions 1 2\n--a 0 {x, y}\n", "is not '--name"),
        ("versions 1 2\n--a 0 ..2 {x}\n", "is not '--name"),
        ("versions 1 2\n--a ..2\n", "is not '--name"),
        ("versions 1 2\n..\n", "is not '--name"),
        ("versions 1 2\n--a 1 number\n", "is not '--name"),
        ("versions 1 2\n--a 1\n=--a x @2..5 y\n", "'2..5': '5' is not one of its versions"),
    ],
)
def test_a_file_that_nobody_can_read(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text(text)
    with pytest.raises(UnreadableList, match=re.escape(message)):
        read_option_list(OptionListReader(), own(tmp_path, "own.txt"), "1")


def test_a_range_needs_a_line_of_versions(tmp_path: Path) -> None:
    (tmp_path / "own-1.txt").write_text("--a 0 1..2\n")
    with pytest.raises(UnreadableList, match="is not '--name"):
        read_option_list(OptionListReader(), own(tmp_path, "own-1.txt"), "1")


def test_a_line_of_dots_is_read_at_once(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text(f"versions 1\n--a 0 {'.' * 500_000} x\n--a{',-a' * 200_000} 0 {'.' * 500_000}\n")
    with pytest.raises(UnreadableList):
        read_option_list(OptionListReader(), own(tmp_path, "own.txt"), "1")


# --- which file


def test_a_file_of_one_version_wins_over_the_same_version_of_ours(tmp_path: Path) -> None:
    (tmp_path / "flags").mkdir()
    (tmp_path / "flags" / "vllm-0.33.0.txt").write_text("--mine 0\n")
    (tmp_path / "flags" / "vllm-0.33.0.post1.txt").write_text("--mine-later 0\n")
    runtime = own(tmp_path, "flags/vllm.txt")
    assert known_versions(OptionListReader(), runtime) == [
        *known_versions(OptionListReader(), shipped("vllm")),
        "0.33.0.post1",
    ]
    lists = {
        version: read_option_list(OptionListReader(), runtime, version)
        for version in ("0.32.0", "0.33.0", "0.33.0.post1")
    }
    assert {version: len(options.options) for version, options in lists.items() if options} == {
        "0.32.0": len(options_of("vllm", "0.32.0").options),
        "0.33.0": 1,
        "0.33.0.post1": 1,
    }


def test_a_file_of_many_versions_replaces_ours(tmp_path: Path) -> None:
    (tmp_path / "flags").mkdir()
    (tmp_path / "flags" / "vllm.txt").write_text("versions 0.40.0\n--mine 0\n")
    assert known_versions(OptionListReader(), own(tmp_path, "flags/vllm.txt")) == ["0.40.0"]
    assert read_option_list(OptionListReader(), own(tmp_path, "flags/vllm.txt"), "0.33.0") is None


@pytest.mark.parametrize(
    ("path", "engine"),
    [("vllm-0.33.0", "vllm"), ("vllm-0.1", "vllm"), ("sglang-0.5.23", "sglang"), ("llamacpp-b11434", "llamacpp")],
)
def test_the_names_that_older_presets_have_go_on_working(path: str, engine: str, tmp_path: Path) -> None:
    runtime = own(tmp_path, f"flags/{path}.txt", f", removed: flags/{path}.removed.txt")
    assert known_versions(OptionListReader(), runtime) == known_versions(OptionListReader(), shipped(engine))
    for version in known_versions(OptionListReader(), runtime):
        assert read_option_list(OptionListReader(), runtime, version) == options_of(engine, version)


def test_a_list_that_says_no_version_is_none(tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("--a 0\n")
    assert OptionListReader().versions(own(tmp_path, "own.txt"), "own.txt") == {}


# --- order

NUMBERS = st.integers(0, 12).map(str)
VERSIONS = st.builds(
    "{}{}{}".format,
    st.lists(NUMBERS, min_size=1, max_size=5).map(".".join),
    st.sampled_from(["", "rc0", "rc1", "rc10"]),
    st.sampled_from(["", ".post1", ".post2", ".post10", ".dev3"]),
)


@given(VERSIONS, VERSIONS)
def test_versions_are_ordered_as_packages_are(one: str, other: str) -> None:
    a, b = Version(one), Version(other)
    assert (version_key(one) < version_key(other), version_key(one) == version_key(other)) == (a < b, a == b)


@given(st.integers(1, 20_000), st.integers(1, 20_000))
def test_builds_are_ordered_by_number(one: int, other: int) -> None:
    assert (version_key(f"b{one}") < version_key(f"b{other}")) == (one < other)


@given(st.text(max_size=40), st.text(max_size=40))
def test_whatever_people_write_has_an_order(one: str, other: str) -> None:
    assert (version_key(one) < version_key(other)) + (version_key(one) == version_key(other)) + (
        version_key(one) > version_key(other)
    ) == 1


@pytest.mark.parametrize(
    "versions",
    [
        ["0.9.0", "0.9.0.1", "0.9.1", "0.9.2", "0.10.0", "0.10.1", "0.10.1.1", "0.10.2"],
        ["0.4.6rc1", "0.4.6", "0.4.6.post1", "0.4.6.post5", "0.4.7", "0.4.10", "0.4.10.post1", "0.5.1"],
    ],
)
def test_releases_are_ordered_as_they_came(versions: list[str]) -> None:
    assert all(version_key(one) < version_key(other) for one, other in pairwise(versions))


# --- whose version


@pytest.mark.parametrize(
    ("engine", "tag", "version"),
    [
        ("vllm", "v0.33.0", "0.33.0"),
        ("vllm", "0.8.5.post1", "0.8.5.post1"),
        ("vllm", "v0.10.1.1", "0.10.1.1"),
        ("vllm", "v0.33.0-x86_64", "0.33.0"),
        ("vllm", "v0.33.0.patched", "0.33.0"),
        ("vllm", "v0.9.0rc2", "0.9.0rc2"),
        ("vllm", "v0.9.0.dev7-cu128", "0.9.0.dev7"),
        ("vllm", "v0.9", ""),
        ("vllm", "latest", ""),
        ("sglang", "v0.4.6.post1-cu124", "0.4.6.post1"),
        ("sglang", "v0.5.10.post1", "0.5.10.post1"),
        ("sglang", "v0.5.3.post", "0.5.3"),
        ("llamacpp", "server-b11434", "b11434"),
        ("llamacpp", "server-cuda-b4094", "b4094"),
        ("llamacpp", "server-v0.5.0", "b11146"),
        ("llamacpp", "server-cuda-v0.2.0", "b10566"),
        ("llamacpp", "server-v1.0.0", ""),
        ("llamacpp", "server-v0.5", ""),
        ("llamacpp", "server", ""),
    ],
)
def test_the_version_that_a_tag_says(engine: str, tag: str, version: str) -> None:
    assert image_version.version_of_tag(shipped(engine).spec["engine"], tag) == version


@pytest.mark.parametrize(
    ("expression", "tag", "version"),
    [
        (r"^v?(\d+\.\d+\.\d+)", "v0.4.6.post1-cu124", "0.4.6.post1"),  # as presets had it that somebody vendored
        (r"^v?(\d+\.\d+\.\d+)", "v0.10.1.1", "0.10.1.1"),
        (r"^v?(\d+\.\d+)", "v2.4.1", "2.4"),
        (r"-(b\d+)$", "server-b11434", "b11434"),
        (r"-(b\d+)$", "server-v0.5.0", ""),
        ("0.8.5.post1", "nightly", "0.8.5.post1"),
        (r"(x)|(y)", "y", ""),
    ],
)
def test_the_version_by_an_expression_of_ones_own(expression: str, tag: str, version: str) -> None:
    assert image_version.version_of_tag({"options": {"version": expression}}, tag) == version


def test_a_name_of_a_release_said_as_it_is() -> None:
    engine: EngineSpec = {"options": {"version": "v0.5.0", "releases": {"v0.5.0": "b11146"}}}
    assert image_version.version_of_tag(engine, "mine") == "b11146"


# --- what ships


@pytest.mark.parametrize("engine", ENGINES)
def test_every_release_is_listed_in_its_order(engine: str) -> None:
    versions = known_versions(OptionListReader(), shipped(engine))
    assert versions == list(option_file(engine).versions)
    assert len(versions) == RELEASES[engine]
    assert versions[-1] == image_version.version_of_tag(shipped(engine).spec["engine"], shipped(engine).spec["version"])
    if engine == "llamacpp":
        releases = shipped(engine).spec["engine"]["options"]["releases"].values()
        assert set(versions) >= {*(f"b{build}" for build in BUILDS), *releases}
    else:
        assert {"vllm": "0.6.0", "sglang": "0.4.3"}[engine] == versions[0]
        assert versions == sorted(versions, key=Version)


@pytest.mark.parametrize(("engine", "version"), PRINTED)
def test_the_list_is_what_the_installed_parser_printed(engine: str, version: str) -> None:
    lines = [
        re.sub(r" (int|float|json|object|map|count|kv)[^ ]*| \{.*\}$", "", line)
        for line in option_lines(options_of(engine, version))
    ]
    digest = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    assert (len(lines), digest) == PRINTED[engine, version]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_spelling_is_listed_twice(engine: str) -> None:
    for version in option_file(engine).versions:
        options = options_of(engine, version)
        names = [name for line in option_lines(options) for name in line.split(" ")[0].split(",")]
        assert sorted(names) == sorted(options.options)
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("engine", "version", "lines"),
    [
        ("vllm", "0.6.6.post1", 129),
        ("vllm", "0.10.1", 216),
        ("vllm", "0.10.1.1", 218),
        ("vllm", "0.18.0", 290),
        ("sglang", "0.4.6", 125),
        ("sglang", "0.4.6.post5", 146),
        ("sglang", "0.5.3", 247),
        ("sglang", "0.5.3.post2", 264),
        ("llamacpp", "b4094", 127),
        ("llamacpp", "b8929", 237),
    ],
)
def test_how_many_options_a_version_has(engine: str, version: str, lines: int) -> None:
    assert len(option_lines(options_of(engine, version))) == lines


@pytest.mark.parametrize(
    ("engine", "name", "since", "until"),
    [
        ("vllm", "--shutdown-timeout", "0.18.0", ""),
        ("vllm", "--speculative-model", "0.6.0", "0.8.3"),
        ("vllm", "--num-speculative-tokens", "0.6.0", "0.8.3"),
        ("vllm", "--speculative-config", "0.8.2", ""),
        ("sglang", "--speculative-draft-model-revision", "0.5.2", ""),
        ("sglang", "--model-type", "0.5.10", ""),
        ("llamacpp", "--draft-max", "b4295", "b9093"),
        ("llamacpp", "--spec-draft-n-max", "b9093", ""),
        ("llamacpp", "--cache-ram", "b6751", ""),
        ("llamacpp", "--spec-type", "b7964", ""),
    ],
)
def test_since_when_an_option_is_there(engine: str, name: str, since: str, until: str) -> None:
    versions = list(option_file(engine).versions)
    start, end = versions.index(since), versions.index(until) if until else len(versions)
    assert [version for version in versions if name in options_of(engine, version).options] == versions[start:end]


@pytest.mark.parametrize(
    ("engine", "name", "word", "since"),
    [
        ("sglang", "--speculative-algorithm", "STANDALONE", "0.5.2"),
        ("sglang", "--load-format", "runai_streamer", "0.5.10"),
        ("vllm", "--load-format", "runai_streamer", "0.6.6"),
        ("llamacpp", "--spec-type", "draft-simple", "b9294"),
    ],
)
def test_since_when_a_word_is_one_of_the_choices(engine: str, name: str, word: str, since: str) -> None:
    for version in option_file(engine).versions:
        option = options_of(engine, version).options.get(name)
        if option is not None and option.choices.values:
            assert (word in option.choices) == (version_key(version) >= version_key(since)), version


@pytest.mark.parametrize("engine", ENGINES)
def test_options_with_values_are_in_the_list(engine: str) -> None:
    lines = option_file(engine).lines
    names = {line.split(" ")[0].split(",")[0] for line in lines if line[0] == "-"}
    for line in lines:
        if line[0] == "=":
            assert set(line[1:].split(" ")[0].split(",")) <= names, line


@pytest.mark.parametrize("engine", ENGINES)
def test_what_took_the_place_of_an_option_is_there_where_it_is_told(engine: str) -> None:
    replaced = set()
    for version in option_file(engine).versions:
        options = options_of(engine, version)
        for name, instead in options.removed.items():
            if name.partition("=")[0] not in options.options and instead:
                replaced.add(name)
                for word in (word.partition(".")[0] for word in instead.partition(",")[0].split()):
                    pattern = re.compile(re.escape(word).replace(r"\*", ".*"))
                    values = [value for option in options.options.values() for value in option.choices.values]
                    assert any(map(pattern.fullmatch, [*options.options, *values])), (version, name, instead)
    file = OptionListReader().file(shipped(engine), f"flags/{engine}.removed.txt")
    assert file is not None
    words = {line.split(" ")[0] for line in file.lines}
    last = options_of(engine, option_file(engine).versions[-1]).options
    assert replaced == {word for word in words if "=" not in word or word.partition("=")[0] not in last}  # else a value


def test_the_lists_are_small() -> None:
    """The wheel, which holds them deflated, may grow by less than 75 kB for all of them."""
    assert sum(len(zlib.compress(path.read_bytes())) for path in (BACKENDS / "flags").iterdir()) < 75_000
