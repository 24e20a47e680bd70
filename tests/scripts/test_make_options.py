"""What scripts/make_options.py reads of a parser in C++ and of help texts, and how it writes lists of many versions."""

from __future__ import annotations

import argparse
import enum
from pathlib import Path

import pytest

from scripts import make_options
from scripts.make_options import Option

# In the style of llama.cpp's common/arg.cpp.
PARSER = r"""
static std::set<llama_example> mine = {LLAMA_EXAMPLE_SERVER};
// add_opt(common_arg({"--commented"}, "N", "no option", [](common_params & params, int value) {}));
add_opt(common_arg(
    {"-h", "--help", "--usage"},
    "print usage (and \"exit\") // no comment",
    [](common_params & params) { params.usage = true; }
));
add_opt(common_arg(
    // a comment (with a bracket
    {"-m", "--model"}, "FNAME",
    string_format("path, default: %s)", params.model.c_str()),
    [](common_params & params, const std::string & value) { params.model = value; }
).set_examples({LLAMA_EXAMPLE_MAIN, LLAMA_EXAMPLE_SERVER}).set_env("LLAMA_ARG_MODEL"));
add_opt(common_arg(
    {"--warmup"}, {"--no-warmup"},
    "a flag and its negation",
    [](common_params & params, bool value) { params.warmup = value; }
).set_examples(mine));
add_opt(common_arg(
    {"--lora-scaled"}, "FNAME", "SCALE",
    R"(two (values)",
    [](common_params & params, const std::string & fname, const std::string & scale) {
        params.lora.push_back({ fname, std::stof(scale) });
    }
));
add_opt(common_arg(
    {"--mode"}, "[on|off|auto]",
    "one of a few: ')'",
    [](common_params & params, const std::string & value) { if (value[0] == ')' || value[0] == '\'') throw 1; }
));
add_opt(common_arg(
    {"--spec-type"}, common_speculative_all_types_str(),
    "types",
    [](common_params & params, const std::string & value) { params.types = value; }
));
add_opt(common_arg(
    {"--gone"}, "N",
    "the argument has been removed. use --new",
    [](common_params & params, int value) { throw arg_removed("--new"); }
));
add_opt(common_arg(
    {"--of-another"}, "N", "not the server's",
    [](common_params & params, int value) { params.n = value; }
).set_examples({LLAMA_EXAMPLE_MAIN}));
add_opt(common_arg(
    {"--excluded"}, "N", "not the server's either",
    [](common_params & params, int value) { params.n = value; }
).set_excludes({LLAMA_EXAMPLE_SERVER}));
"""
TYPES = 'types = { {"none", COMMON_SPECULATIVE_TYPE_NONE}, {"draft", COMMON_SPECULATIVE_TYPE_DRAFT} };'


def test_a_parser_in_source(tmp_path: Path) -> None:
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "arg.cpp").write_text(PARSER)
    (tmp_path / "common" / "speculative.cpp").write_text(TYPES)
    assert [option.line() for option in make_options.llamacpp_options(tmp_path)] == [
        "--help,--usage,-h 0",
        "--model,-m 1",
        "--warmup 0",
        "--no-warmup 0",
        "--lora-scaled 2 repeat",
        "--mode 1",
        "--spec-type 1",
    ]
    values = [option.values() for option in make_options.llamacpp_options(tmp_path)]
    assert list(filter(None, values)) == ["=--mode auto off on", "=--spec-type draft none"]


@pytest.mark.parametrize(
    "option",
    [
        Option(("--a",), "0"),
        Option(("--a", "-a"), "1", repeat=True),
        Option(("--a", "--b"), "+", choices=("x", "y")),
        Option(("-a",), "2", repeat=True, choices=("x",)),
        Option(("--a",), "1", type="float?>0<=1"),
    ],
)
def test_two_lines_say_the_whole_option(option: Option) -> None:
    name, _, values = option.values()[1:].partition(" ")
    assert make_options.parsed(option.line(), {name: values}) == option


def test_a_line_has_the_range_of_the_versions_that_have_it() -> None:
    lists = {"1": {"--a 0", "--b 0", "--c 0"}, "2": {"--a 0", "--b 1"}, "3": {"--a 0", "--b 1", "--c 0", "--d 0"}}
    assert list(make_options.ranged(lists)) == [
        "--a 0",
        "--b 0 ..2",
        "--b 1 2..",
        "--c 0 ..2",
        "--c 0 3..",
        "--d 0 3..",
    ]


def test_values_have_the_ranges_of_their_versions_and_options_with_the_same_values_share_a_line() -> None:
    older = [Option(("--kind", "-k"), "1", choices=("b", "a")), Option(("--other",), "1", choices=("a", "b"))]
    newer = [Option(("--kind", "-k"), "1", choices=("a", "c")), Option(("--other",), "1", choices=("a", "c"))]
    assert list(make_options.value_lines({"1.0": older, "1.1": newer})) == ["=--kind,--other a @..1.1 b @1.1.. c"]


class Backend(enum.Enum):
    """Names of which one is refused."""

    AUTO = ""
    FAST = "a.fast"
    SLOW = "a.slow"
    GONE = "a.gone"


@pytest.mark.parametrize(
    ("accepted", "names"),
    [
        ({"FAST", "SLOW"}, ("FAST", "SLOW")),
        ({"FAST", "SLOW", "auto"}, ("FAST", "SLOW", "auto")),
        ({"FAST", "SLOW", "fast", "slow", "Auto"}, ("FAST", "SLOW", "^")),
        ({"FAST", "SLOW", "fast"}, ("FAST", "SLOW")),
        ({"FAST"}, ()),
    ],
)
def test_names_of_an_enum_that_are_taken(accepted: set[str], names: tuple[str, ...]) -> None:
    assert make_options.named_values(accepted.__contains__, [Backend]) == names


def test_a_value_that_cannot_stand_in_a_list_leaves_the_option_without() -> None:
    assert make_options.listable(["a", "two words"]) == ()
    assert make_options.listable(["None"]) == ()
    assert make_options.listable(["None", "a"]) == ("None", "a")


def test_the_help_of_argparse() -> None:
    """The parser's own actions say what its help has to be read as."""
    parser = argparse.ArgumentParser(prog="engine", formatter_class=lambda prog: argparse.HelpFormatter(prog, width=60))
    parser.add_argument("model_path", help="the path, or -1 for none")
    parser.add_argument("-t", "--tp", type=int, help="number of GPUs; --tp 2 for two")
    parser.add_argument("--a-name-so-long-that-its-help-is-below", default="x", help="-h, as it were")
    parser.add_argument("--pair", nargs=2, metavar=("FROM", "TO"))
    for arity in ("?", "*", "+"):
        parser.add_argument(f"--many{'?*+'.index(arity)}", nargs=arity)
    parser.add_argument("--dtype", choices=["auto", "half"], help="[default: auto]")
    parser.add_argument("--cache", action=argparse.BooleanOptionalAction)
    parser.add_argument("--fast", action="store_true", help="with  two blanks")
    options = make_options.help_options(parser.format_help())
    assert make_options.option_lines(options) == [
        *("--help,-h 0", "--tp,-t 1", "--a-name-so-long-that-its-help-is-below 1", "--pair 2"),
        *("--many0 ?", "--many1 *", "--many2 +", "--dtype 1", "=--dtype auto half"),
        *("--cache 0", "--no-cache 0", "--fast 0"),
    ]


def test_the_help_of_clap() -> None:
    text = """\
Usage: engine [OPTIONS]

Options:
      --model-id <MODEL_ID>
          The name of the model. -p is the port.

          [env: MODEL_ID=]
          [default: tiny]

  -p, --port <PORT>
          [default: 80]

      --quantize <QUANTIZE>
          Possible values:
          - awq:  one
          [possible values: awq, gptq]

      --json-output
      --sharded [<SHARDED>]
      --origin <ORIGIN>...  may be given several values
"""
    assert make_options.option_lines(make_options.help_options(text)) == [
        *("--model-id 1", "--port,-p 1", "--quantize 1", "=--quantize awq gptq"),
        *("--json-output 0", "--sharded ?", "--origin +"),
    ]


@pytest.mark.parametrize("engine", ["llamacpp", "sglang", "vllm"])
def test_a_list_is_read_as_it_was_written(engine: str) -> None:
    text = (make_options.BACKENDS / "flags" / f"{engine}.txt").read_text("utf-8")
    options = make_options.read_list(text)
    assert make_options.list_text(engine, options) == text
    newest = next(reversed(options.values()))
    longer = make_options.read_list(
        make_options.list_text(engine, {**options, "9999.0": [*newest, Option(("--x",), "0")]})
    )
    assert {option.names for option in longer["9999.0"]} - {option.names for option in newest} == {("--x",)}
