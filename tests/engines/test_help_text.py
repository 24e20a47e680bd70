"""What is read of a help text: forms of argparse, clap, click and of entries that begin at the first column."""

from __future__ import annotations

import argparse
import time

import click
import pytest

from renderer.engines.help_text import MAX_BYTES, HelpOption, read_help


def lines(text: str, style: str) -> list[str]:
    """Each option as `names arity values`, with `*` before values to which others may come."""
    return [
        " ".join([",".join(option.names), option.arity, *(["*"] if option.is_open else []), *option.values])
        for option in read_help(text, style).options
    ]


def argparse_help(width: int) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="engine serve",
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=width),
        epilog="   --an-example of how it is used",
    )
    parser.add_argument("tag", nargs="?", help="--tag is no option here")
    parser.add_argument("-t", "--threads", type=int, help="how many --threads work")
    parser.add_argument("--name-that-is-too-long-for-its-column", metavar="WORD", help="--threads is another one")
    parser.add_argument("--range", nargs=2, metavar=("FIRST", "LAST"))
    parser.add_argument("--twice", nargs=2)
    parser.add_argument("--maybe", nargs="?")
    parser.add_argument("--any", nargs="*")
    parser.add_argument("--some", "-s", nargs="+")
    parser.add_argument("--kind", choices=["auto", "half", "none-of-both"])
    parser.add_argument("--kinds", nargs="+", choices=["a", "b"])
    parser.add_argument("--list", metavar="['mp', 'ray', 'uni']")
    parser.add_argument("--lists", nargs="+", metavar="['mp', 'ray']")
    parser.add_argument("--parser", metavar="{one,two} or a name of --parser-plugin")
    parser.add_argument("--cache", "-c", action=argparse.BooleanOptionalAction)
    parser.add_argument("--fast", action="store_true", help="with  two blanks and a very long text behind them " * 3)
    group = parser.add_argument_group("of a group", "Words in front of a group")
    group.add_argument("--grouped", help=argparse.SUPPRESS)
    group.add_argument("--in-group", help="-h as it were")
    return parser


OPTIONS = [
    "-h,--help 0",
    "-t,--threads 1",
    "--name-that-is-too-long-for-its-column 1",
    "--range 2",
    "--twice 2",
    "--maybe ?",
    "--any *",
    "--some,-s +",
    "--kind 1 auto half none-of-both",
    "--kinds + a b",
    "--list 1",
    "--lists +",
    "--parser 1 * one two",
    "--cache,-c 0",
    "--no-cache 0",
    "--fast 0",
    "--in-group 1",
]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_help_of_argparse_at_any_width(width: int) -> None:
    parser = argparse_help(width)
    assert lines(parser.format_help(), "argparse") == OPTIONS
    assert read_help(parser.format_help(), "argparse").unexplained == ()


def test_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for columns in ("80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        parser = argparse_help(0)
        parser.formatter_class = argparse.HelpFormatter
        texts.append(parser.format_help())
    assert texts[0] != texts[1]
    assert [lines(text, "argparse") for text in texts] == [OPTIONS, OPTIONS]


def test_aliases_with_a_metavar_each_and_as_newer_pythons_print_them() -> None:
    older = "options:\n  --size SIZE, -n SIZE  how many\n  --some X [X ...], -s X [X ...]\n"
    newer = "options:\n  --size, -n SIZE  how many\n  --some, -s X [X ...]\n"
    assert lines(older, "argparse") == lines(newer, "argparse") == ["--size,-n 1", "--some,-s +"]


def test_words_between_a_heading_and_its_entries() -> None:
    text = "a group:\n  Words about it, such as\n  --words as they are\n\n  --size N\n\nanother:\n  --kind X\n"
    assert lines(text, "argparse") == ["--size 1", "--kind 1"]


def test_spellings_that_switch_off_are_options_of_their_own() -> None:
    text = "options:\n  --enable-log, --disable-log\n  --lb, --no-lb, -l\n  --disable-shm, --enable-shm\n"
    assert lines(text, "argparse") == [
        *("--enable-log 0", "--disable-log 0", "--lb,-l 0", "--no-lb 0"),
        *("--disable-shm 0", "--enable-shm 0"),
    ]


def test_another_language_and_colours() -> None:
    text = (
        "\x1b[1maufruf: \x1b[0mengine serve [-h]\r\n\r\nOptionen:\r\n"
        "  \x1b[36m-h\x1b[0m, \x1b[36m--help\x1b[0m            zeigt diese Hilfe\r\n"
        "  \x1b]8;;https://example.org\x07--größe\x1b]8;;\x07 ZAHL\r\n"
        "  --zahl\x00 \u202eZAHL\u202c         wie viele\r\n"
    )
    assert lines(text, "argparse") == ["-h,--help 0", "--zahl 1"]


def test_a_usage_without_its_entries_is_cut() -> None:
    text = argparse_help(80).format_help()
    cut = text[: text.index("  --fast ")]
    assert read_help(cut, "argparse").unexplained == ("--fast", "--in-group")
    assert read_help(cut, "argparse").usage.startswith("usage: engine serve [-h] [-t THREADS]")


def test_the_help_of_clap() -> None:
    text = """\
Usage: engine [OPTIONS]

Options:
      --model <MODEL>
          The model.
          -p is the port, and --port too
          - no value of it

          [env: MODEL=]
  -p, --port <PORT>
          [default: 80]
      --kind <KIND>
          How it counts

          Possible values:
          - one:     the first
          - two-of-it: the second
      --dtype <DTYPE>
          [env: DTYPE=]
          [possible values: f16, bf16]
      --quiet
      --maybe [<N>]     short form
      --equals[=<N>]
      --origin <X>...
      --any [<X>...]
      --pair <A> <B>
  -h, --help
"""
    assert lines(text, "clap") == [
        *("--model 1", "-p,--port 1", "--kind 1 one two-of-it", "--dtype 1 f16 bf16", "--quiet 0"),
        *("--maybe ?", "--equals ?", "--origin +", "--any *", "--pair 2", "-h,--help 0"),
    ]


def test_the_help_of_click() -> None:
    @click.command()
    @click.option("--size", type=int, help="--size of it")
    @click.option("--share", type=click.FloatRange(0, 1))
    @click.option("--backend", "-b", type=click.Choice(["one", "two"]))
    @click.option("--pair", type=(str, int))
    @click.option("--on/--off")
    @click.option("--flag", is_flag=True, help="a long text about this flag " * 5)
    def serve() -> None:
        """Serves."""

    text = serve.get_help(click.Context(serve, info_name="serve"))
    assert lines(text, "click") == [
        *("--size 1", "--share 1", "-b,--backend 1 one two", "--pair 2", "--on,--off 0", "--flag 0", "--help 0"),
    ]


def test_entries_that_begin_at_the_first_column() -> None:
    text = """\
----- common params -----

-h,    --help, --usage                  print this
-t,    --threads N                      how many, as in:
                                        --threads 4
-fa,   --attention [on|off|auto]        whether (default: 'auto')
--strict <0|1>                          numbers are no list of values
--layers FIRST LAST
                                        two of them
--scaled FNAME:SCALE,...                one
--a-name-that-leaves-no-room-beside-it, -anl KEY=TYPE:VALUE,...
                                        below
-b,    --batching, -nb, --no-batching   a switch
--old N                                 this argument was removed
"""
    options = read_help(text, "exact").options
    assert lines(text, "exact") == [
        *("-h,--help,--usage 0", "-t,--threads 1", "-fa,--attention 1 * on off auto", "--strict 1 * 0 1"),
        *("--layers 2", "--scaled 1", "--a-name-that-leaves-no-room-beside-it,-anl 1"),
        *("-b,--batching 0", "-nb,--no-batching 0", "--old 1"),
    ]
    assert options[-1] == HelpOption(("--old",), "1", (), is_open=False, description="this argument was removed")


def test_a_spelling_of_two_entries_is_of_the_first() -> None:
    text = "  -p, --port <PORT>\n  -p, --prometheus-port <PORT>\n"
    assert lines(text, "clap") == ["-p,--port 1", "--prometheus-port 1"]


@pytest.mark.parametrize(
    "line",
    [
        "  --a#b X",
        "  --",
        "  -",
        "  ---x",
        "  --ü X",
        f"  --{'x' * 101}",
        "  --a/../b",
        "  $(x)",
        "  - a list",
        "--x X",
    ],
)
def test_what_is_no_entry(line: str) -> None:
    assert lines(f"options:\n  -h, --help  words\n{line}\n", "argparse") == ["-h,--help 0"]


@pytest.mark.parametrize("values", ["a b,c", "a,@b", "~a,b", "^,a", "*,a", "a,,b", "#a,b", "a=,=b"])
def test_values_that_no_list_can_hold_are_left_out(values: str) -> None:
    assert lines(f"  --kind {{{values}}}\n", "argparse") == ["--kind 1"]


@pytest.mark.parametrize("style", ["argparse", "clap", "click", "exact", ""])
@pytest.mark.parametrize(
    "piece",
    [
        "  -a, ",
        "  --a {",
        "  --a [a ...]",
        "[--a ",
        "\x1b[",
        "\x1b]",
        "  --a X\n",
        "  --a <X> [possible values: a, ",
        "-a, --no-a ",
        "A ",
        "\t",
        "a:\n  x\n",
        "usage: [--a | ",
        "          - a: x\n",
        " ",
    ],
)
def test_the_time_grows_with_the_text(piece: str, style: str) -> None:
    text = "  --a X Possible values:\n  --b " + piece * (MAX_BYTES // len(piece))
    start = time.process_time()
    read_help(text, style)
    assert time.process_time() - start < 5
