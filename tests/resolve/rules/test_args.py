"""Which arguments of users are refused since the renderer says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from renderer.diagnostics import Origin, Path
from renderer.engines.dialect import Dialect, ReservedOption, build_style
from renderer.resolve.rules.args import reserved_options

if TYPE_CHECKING:
    from renderer.input_types import OptionsSpec

OPTIONS: dict[str, Any] = {"style": "argparse", "underscores": True}


class Line:
    """A command line as a source: item 3 stands in line 3."""

    name = "--"

    def locate(self, path: Path, *, key: bool = False) -> tuple[int, int]:
        return int(path[-1]), 0


def reads(line: str) -> Dialect:
    return build_style(cast("OptionsSpec", OPTIONS), [line.split()])


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ("--context 1", []),
        ("--port 80", [(0, "--port")]),
        ("--quiet --port=80", [(1, "--port")]),
        ("--po 80 --served_name x", [(0, "--po"), (2, "--served_name")]),
        ("--title port", []),
        ("--title --port", [(1, "--port")]),  # an engine would read it so, too
    ],
)
def test_what_the_renderer_sets_is_refused(args: str, expected: list[tuple[int, str]]) -> None:
    options = reads("--port 8080 --served-name x --quiet")
    rules = {"--port": [ReservedOption("one port")], "--served-name": [ReservedOption("one name")]}
    problems = list(reserved_options(options, rules, args.split(), Origin(Line(), ("args",))))
    assert [(problem.line, problem.message.split()[0]) for problem in problems] == [
        (index, option) for index, option in expected
    ]
    assert {problem.code for problem in problems} <= {"E406"}
    assert {problem.hint for problem in problems} <= {"one port", "one name"}


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ("--host 127.0.0.1", "E406"),
        ("--host=localhost", "E406"),
        ("--host LocalHost", "E406"),
        ("--host [::1]", "E406"),
        ("--host", ""),
        ("--host 0.0.0.0", ""),
        ("--host $(POD_IP)", ""),
        ("--key x", "W235"),
        ("--servers 0", "E406"),
        ("--servers 1", ""),
        ("--servers=2", "W235"),
    ],
)
def test_only_such_a_value_is_meant(args: str, code: str) -> None:
    options = reads("--host x --key x --servers 1")
    rules = {
        "--host": [ReservedOption("loopback", ("127.*", "localhost", "::1"))],
        "--key": [ReservedOption("a key", warns=True)],
        "--servers": [ReservedOption("none answers", ("0",)), ReservedOption("several", ("[2-9]",), warns=True)],
    }
    problems = list(reserved_options(options, rules, args.split(), Origin(Line(), ("args",))))
    assert [problem.code for problem in problems] == ([code] if code else [])
