"""Who drops whom on a command line, for each way of reading one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from renderer.diagnostics import Origin, Path
from renderer.engines.dialect import ArgLayer, Dialect, build_style
from renderer.engines.option_lists import Option, OptionList
from renderer.resolve.engine.arg_merge import merge_args

if TYPE_CHECKING:
    from renderer.input_types import OptionsSpec


# What a preset that says everything about its options says.
FULL: dict[str, Any] = {
    "style": "argparse",
    "underscores": True,
    "dotted": True,
    "aliases": {"-tp": "--tensor-size", "--tp-size": "--tensor-size", "-c": "--context"},
    "renamed": {"--old-name": "--new-name"},
    "groups": {"parallelism": ["--tensor-size", "--pipeline-size"]},
}
PRESET = ["--context 4096", "--quiet", "--max-len 8", "--max-loras 2", "--json.a-b 1 --json.c 2", "--new-name x"]


class Line:
    """A command line as a source: item 3 stands in line 3."""

    name = "--"

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return int(path[-1]), 0


AT = Origin(Line())


def reads(options: dict[str, Any], *lines: str) -> Dialect:
    return build_style(cast("OptionsSpec", options), [line.split() for line in lines])


def after(user: str, preset: str, options: dict[str, Any] = FULL) -> str:
    """The line that the preset's arguments and the user's become, the user's part in brackets."""
    user_args = user.split()
    merged = merge_args(reads(options, *PRESET), [ArgLayer(preset.split(), AT), ArgLayer(user_args, AT)])[0]
    assert list(merged[len(merged) - len(user_args) :]) == user_args, "the user's own arguments stay, in order and last"
    return " ".join(merged[: len(merged) - len(user_args)])


@pytest.mark.parametrize(
    ("user", "preset", "left"),
    [
        ("", "--context 4096 --quiet", "--context 4096 --quiet"),
        ("--other 1", "--context 4096 --quiet", "--context 4096 --quiet"),
        # the same option
        ("--context 1", "--context 4096 --quiet", "--quiet"),
        ("--context=1", "--context 4096 --quiet", "--quiet"),
        ("--context 1", "--context=4096 --quiet", "--quiet"),
        ("--quiet", "--quiet --context 4096", "--context 4096"),
        ("--context 1", "model --context 4096 --quiet", "model --quiet"),
        # all that stands behind it goes with it
        ("--stop x", "--stop a b c --quiet", "--quiet"),
        ("--stop x", "--stop a --quiet --stop b", "--quiet"),
        # by another name
        ("-c 1", "--context 4096 --quiet", "--quiet"),
        ("--context 1", "-c 4096 --quiet", "--quiet"),
        ("-c=1", "--context 4096 --quiet", "--quiet"),
        ("--tp-size 2", "-tp 4 --quiet", "--quiet"),
        ("--old-name y", "--new-name x --quiet", "--quiet"),
        # with _ for -
        ("--tensor_size 2", "--tensor-size 4", ""),
        ("--tp_size=2", "--tensor-size 4", ""),
        ("--new-name y", "--new_name x", ""),
        # by its beginning, where that is one option of the preset's
        ("--con 1", "--context 4096 --quiet", "--quiet"),
        ("--ten=2", "--tensor-size 4", ""),
        ("--max 1", "--max-len 8 --max-loras 2", "--max-len 8 --max-loras 2"),  # either: not ours to say
        ("--contexts 1", "--context 4096", "--context 4096"),  # longer than the option: another one
        # parts of an option
        ("--json.c 3", "--json.a-b 1 --json.c 2", "--json.a-b 1"),
        ("--json.c=3", "--json.a-b 1 --json.c=2", "--json.a-b 1"),
        ("--json.a_b 3", "--json.a-b 1 --json.c 2", "--json.c 2"),
        ("--json {}", "--json.a-b 1 --json.c 2 --quiet", "--quiet"),  # all of it at once
        ("--json.c 3", "--json {} --quiet", "--quiet"),  # a part on top of the whole
        # what only looks like an option
        ("--stop -1", "--stop 1 -2 --quiet", "--quiet"),
        ("-1", "-1 --quiet", "-1 --quiet"),
        ("--file -", "--file - --quiet", "--quiet"),
        ("-", "- --quiet", "- --quiet"),
        ("-c 1", "-cram 5", "-cram 5"),  # no short option with its value glued on
    ],
)
def test_an_option_given_again(user: str, preset: str, left: str) -> None:
    assert after(user, preset) == left


@pytest.mark.parametrize(
    ("change", "user", "preset"),
    [
        ({"style": "exact"}, "--con 1", "--context 4096"),
        ({"style": "clap"}, "--con 1", "--context 4096"),
        ({"underscores": False}, "--tensor_size 2", "--tensor-size 4"),
        ({"aliases": {}}, "-c 1", "--context 4096"),
        ({"renamed": {}}, "--old-name 1", "--new-name x"),
    ],
)
def test_only_what_the_engine_reads_alike_is_alike(change: dict[str, Any], user: str, preset: str) -> None:
    assert after(user, preset, FULL) == ""
    assert after(user, preset, {**FULL, **change}) == preset


@pytest.mark.parametrize("options", [{**FULL, "style": "none"}, {}])
def test_where_nobody_says_how_a_line_is_read_all_is_kept(options: dict[str, Any]) -> None:
    assert after("--context 1 --quiet", "--context 4096 --quiet", options) == "--context 4096 --quiet"
    assert merge_args(reads(options), [ArgLayer(["--a"], AT, "parallelism"), ArgLayer(["--a"], AT)])[0] == (
        "--a",
        "--a",
    )


# --- more than two layers


def layered(*layers: tuple[str, str] | str) -> str:
    arg_layers = [
        ArgLayer(layer.split(), AT) if isinstance(layer, str) else ArgLayer(layer[0].split(), AT, layer[1])
        for layer in layers
    ]
    return " ".join(merge_args(reads(FULL, *PRESET), arg_layers)[0])


def test_each_layer_drops_from_all_before_it() -> None:
    assert layered("--a 1 --b 1 --c 1", "--b 2 --c 2", "--c 3") == "--a 1 --b 2 --c 3"


def test_a_layer_keeps_what_it_says_twice_itself() -> None:
    assert layered("--quiet", "--header a --header b") == "--quiet --header a --header b"


@pytest.mark.parametrize("user", ["--pipeline-size 2", "-tp 8", "--tp_size=8", "--pipe 2"])
def test_any_option_of_the_group_drops_the_whole_derived_layer(user: str) -> None:
    assert layered("--quiet", ("--tensor-size 4 --side-effect", "parallelism"), user) == f"--quiet {user}"


def test_a_group_is_about_later_layers_only() -> None:
    derived = ("--pipeline-size 2", "parallelism")
    assert layered("--tensor-size 4", derived, "--quiet") == "--tensor-size 4 --pipeline-size 2 --quiet"


def test_a_dropped_layer_drops_nothing() -> None:
    derived = ("--tensor-size 4 --quiet", "parallelism")
    assert layered("--quiet --verbose", derived, "--pipeline-size 2") == "--quiet --verbose --pipeline-size 2"


def test_a_group_that_nobody_defines_drops_nothing() -> None:
    assert layered("--quiet", ("--tensor-size 4", "other"), "--pipeline-size 2").count("--tensor-size") == 1


def test_a_group_and_its_layer_share_no_value() -> None:
    """A value that reads like an option's name is none."""
    assert layered(("--tensor-size 4", "parallelism"), "--title pipeline-size") == (
        "--tensor-size 4 --title pipeline-size"
    )


def test_of_two_spellings_the_preset_means_the_first() -> None:
    size = Option("--size", "1", repeats=False)
    known = OptionList("1", {"--size": size, "--tensor_size": size, "--tp_size": size}, {})
    spec: OptionsSpec = {"style": "click", "groups": {"parallelism": ["--tensor_size", "--tp_size"]}}
    assert build_style(spec, [["--tp_size", "4"]], known).name("--size") == "--tp_size"
    assert build_style(spec, [[]], known).name("--size") == "--tensor_size"


# --- keys of JSON options


@pytest.mark.parametrize(
    ("user", "preset", "left"),
    [
        # the preset's keys follow the user's spelling
        ("-j.c 1", "--json.a-b 1 --json.c 2", "-j.a-b 1"),
        ("--js.c=1", "--json.a=1.5 --json.c=2", "--js.a=1.5"),
        ("--json.c 1", "-j.a 1", "--json.a 1"),
        ("-j.c 1 --json.d 2", "--json.a 1", "--json.a 1"),  # the last one counts anyway
        # keys over a whole, which the parser would lose
        ("--json.c 1", "--json {} --quiet", "--quiet"),
        ("-j.c 1", "--json {}", ""),
        # an option that is another name of one key leaves the spelling alone
        ("--own-c 1", "--json.a 1 --json.c 2", "--json.a 1"),
        # values with a dot are no keys
        ("-j.c 1", "--context 4.5 --title -a.b", "--context 4.5 --title -a.b"),
    ],
)
def test_keys_of_one_option_stand_behind_one_spelling(user: str, preset: str, left: str) -> None:
    options = {**FULL, "aliases": {"-j": "--json", "--own-c": "--json.c"}}
    assert after(user, preset, options) == left
