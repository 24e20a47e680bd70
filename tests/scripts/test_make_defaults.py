"""How scripts/make_defaults.py writes the defaults of a parser, and which of them it leaves out."""

from __future__ import annotations

import argparse
import enum
import json
from pathlib import Path

import pytest

from scripts import make_defaults


class Level(enum.Enum):
    FAST = "fast"
    TWO = 2


def parser() -> argparse.ArgumentParser:
    """One with nothing but --help, which is told nowhere."""
    return argparse.ArgumentParser()


@pytest.mark.parametrize(
    ("names", "keywords", "line"),
    [
        (["-n", "--number"], {"type": int, "default": 4}, "--number,-n 4"),
        (["--text-of-a-number"], {"type": int, "default": "08"}, "--text-of-a-number 8"),
        (["--whole"], {"type": float, "default": 5.0}, "--whole 5"),
        (["--part"], {"type": float, "default": 0.92}, "--part 0.92"),
        (["--endless"], {"type": float, "default": float("inf")}, "--endless inf"),
        (["--word"], {"default": "auto"}, "--word auto"),
        (["--words"], {"default": "two words"}, "--words two words"),
        (["--empty"], {"default": ""}, '--empty ""'),
        (["--dash"], {"default": "-"}, '--dash "-"'),
        (["--quoted"], {"default": '"a"'}, r'--quoted "\"a\""'),
        (["--lines"], {"default": "a\nb"}, r'--lines "a\nb"'),
        (["--list"], {"default": ["*", "a b"], "nargs": "+"}, '--list ["*", "a b"]'),
        (["--set"], {"default": {"b", "a"}, "nargs": "+"}, '--set ["a", "b"]'),
        (["--map"], {"type": json.loads, "default": {"a": None}}, '--map {"a": null}'),
        (["--read"], {"type": json.loads, "default": "[]"}, "--read []"),
        (["--json-as-text"], {"default": "{}"}, "--json-as-text {}"),
        (["--enum"], {"default": Level.FAST}, "--enum fast"),
        (["--number-of-enum"], {"default": Level.TWO}, "--number-of-enum 2"),
        (["--yes"], {"type": bool, "default": True}, "--yes true"),
        (["--open"], {}, "--open -"),
        (["--flag"], {"action": "store_true"}, "--flag false"),
        (["--always"], {"action": "store_true", "default": True}, "--always true"),
        (["--off"], {"action": "store_false"}, "--off false"),
        (["--undecided"], {"action": "store_true", "default": None}, "--undecided -"),
        (["--both"], {"action": argparse.BooleanOptionalAction, "default": True}, "--both/--no-both true"),
        (["--none"], {"action": "store_const", "const": "x", "default": "y"}, None),
        (["--hidden"], {"default": argparse.SUPPRESS}, None),
        (["--needed"], {"required": True}, None),
        (["--object"], {"default": object()}, None),
        (["--objects"], {"default": [object()]}, None),
        (["--model"], {"default": "somebody/s"}, None),
    ],
)
def test_a_default_is_what_a_user_would_write(names: list[str], keywords: dict[str, object], line: str | None) -> None:
    own = parser()
    own.add_argument(*names, **keywords)  # type: ignore[arg-type]
    assert [*make_defaults.default_lines("vllm", own)] == ([line] if line else [])


def test_the_first_option_of_a_field_has_its_default_and_the_others_set_it_too() -> None:
    own = parser()
    own.add_argument("--newest", dest="field", default=argparse.SUPPRESS)
    own.add_argument("--new", dest="field", default="a")
    own.add_argument("--old", dest="field", default="b")
    own.add_argument("positional", nargs="?")
    assert [*make_defaults.default_lines("vllm", own)] == ["--new/--newest,--old a"]
    own.set_defaults(field="c")
    assert [*make_defaults.default_lines("vllm", own)] == ["--newest/--new,--old c"]


def test_what_differs_between_machines_is_left_out(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(
        '#!/bin/sh\necho --same 1\necho "--home $HOME"\necho "--folder $(pwd)"\necho "--user $USER"\n'
        'echo "--seed $PYTHONHASHSEED"\necho "--machine $6"\n'
    )
    python.chmod(0o755)
    assert make_defaults.release_defaults("vllm", tmp_path, python) == {"--same 1"}


def test_a_line_has_the_range_of_the_versions_that_have_it() -> None:
    by_version = {"1.0": ["--a 1", "--b x"], "1.1": ["--a 2", "--b x"], "1.2": ["--a 1", "--b x", "--c -"]}
    assert [*make_defaults.ranged(by_version)] == [
        "--a 1 ..1.1",
        "--a 2 1.1..1.2",
        "--a 1 1.2..",
        "--b x ..",
        "--c - 1.2..",
    ]
