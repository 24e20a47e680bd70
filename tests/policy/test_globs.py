"""The globs of a policy: what they match, and how long that takes."""

from __future__ import annotations

import time

import pytest

from renderer.policy.globs import NameGlobs, PathGlobs


@pytest.mark.parametrize(
    ("globs", "fitting", "others"),
    [
        (["team-a"], ["team-a"], ["team-b", "team-a-dev", ""]),
        (["team-*"], ["team-a", "team-", "team-a/b"], ["a-team-a", "team"]),
        (["*-dev", "a?c"], ["x-dev", "-dev", "abc"], ["dev", "ac", "abbc", "x-dev2"]),
        (["[ab]*", "[!x]y", "[x-z]z", "a[b"], ["a", "bc", "ay", "yz", "a[b"], ["xy", "cz"]),
        (["[z-a]", "ok*ok"], ["okok"], ["z", "a", "-"]),
        (["*"], ["", "anything/at all\n"], []),
        (["*.example.com"], ["api.example.com", "a.b.example.com"], ["example.com", "apixexample.com"]),
        (["hf://Qwen/*"], ["hf://Qwen/Qwen3-8B"], ["hf://Qwen", "hf://qwen/x", "hf://evil/hf://Qwen/x"]),
        ([], [], ["", "a"]),
    ],
)
def test_names(globs: list[str], fitting: list[str], others: list[str]) -> None:
    names = NameGlobs(globs)
    assert [name for name in fitting if not names.fit(name)] == []
    assert [name for name in others if names.fit(name)] == []
    assert [names.fit(name) for name in fitting] == [True] * len(fitting)  # asked again


@pytest.mark.parametrize(
    ("glob", "fitting", "others"),
    [
        ("teams/a/**", ["teams/a/x.yaml", "teams/a/b/x.yaml"], ["teams/a", "teams/ab/x.yaml", "x/teams/a/y"]),
        ("teams/a", ["teams/a", "teams/a/x.yaml"], ["teams/ab", "teams"]),
        ("/teams/a/", ["teams/a/x.yaml"], ["teams/x.yaml"]),
        ("**", ["x.yaml", "a/b/c.yaml"], []),
        ("teams/*/x.yaml", ["teams/a/x.yaml"], ["teams/a/b/x.yaml"]),
        ("**/x.yaml", ["x.yaml", "a/x.yaml"], ["ax.yaml"]),
        (".", ["."], ["a", ".."]),
    ],
)
def test_paths(glob: str, fitting: list[str], others: list[str]) -> None:
    paths = PathGlobs(["nowhere", glob])
    assert [path for path in fitting if paths.first(path) != 1] == []
    assert [path for path in others if paths.first(path) != -1] == []


def test_many_globs_and_names() -> None:
    """As many as the schema allows, with as many stars, and names that nearly fit: no second of each name."""
    names = NameGlobs([f"*{'a' * 60}*{'b' * 60}*{'c' * 60}*{i}" for i in range(200)])
    start = time.process_time()
    assert not any(names.fit(f"{'a' * 80}{'b' * 80}{'c' * 80}-{i}-") for i in range(1_000))
    assert time.process_time() - start < 20
