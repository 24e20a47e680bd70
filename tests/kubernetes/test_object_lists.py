"""Lists are what appliers take for one; `python -m tests.apiserver` asks kubectl what it applies of each spelling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from renderer import yamlio
from renderer.kubernetes.object_lists import listed_objects
from tests.apiserver.lists import SPELLINGS, Spelling, judged, nested
from tests.inputs import CONFIG, playground

if TYPE_CHECKING:
    from tests.conftest import Llmaz

EACH = pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS.keys())
POLICY = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderPolicy
metadata: {name: policy}
spec:
  passThrough: {kinds: [v1/Nothing]}
"""
TOO_DEEP = nested(100)


def pass_through(folder: Path, text: str) -> str:
    """A tree that passes a file through; its text, which begins with a comment where it is JSON."""
    text = f"# a comment\n{text}" if text.startswith("{") else text
    (folder / "llmaz.yaml").write_text(f"{CONFIG}{{passThrough: [extra], gateway: {{mode: 'off'}}}}\n")
    (folder / "chat.yaml").write_text(playground("chat", backend="llamacpp"))
    (folder / "extra").mkdir()
    (folder / "extra" / "list.yaml").write_text(text)
    return text


@EACH
def test_what_is_applied_is_judged(spelling: Spelling) -> None:
    assert judged(spelling.text) == {*spelling.applied, *spelling.beyond}


@EACH
def test_an_object_is_located_where_it_stands(spelling: Spelling) -> None:
    lines = spelling.text.splitlines()
    for document in yamlio.parse("list.yaml", spelling.text.encode())[0]:
        for part in document.objects:
            name = (part.value.get("metadata") or {}).get("name") if isinstance(part.value, dict) else None
            if name:
                _, line, column = part.origin("metadata", "name").place
                assert lines[line - 1][column - 1 :].lstrip('"').startswith(name)


def test_objects_come_in_the_order_of_the_file() -> None:
    inner = {"kind": "Pods", "apiVersion": "v1", "metadata": {"name": "b"}, "items": [{"kind": "c"}]}
    body = {"kind": "Pod", "items": [{"kind": "a"}, inner, {"kind": "d"}]}
    assert [path for path, _ in listed_objects(body)] == [
        (),
        ("items", 0),
        ("items", 1),
        ("items", 1, "items", 0),
        ("items", 2),
    ]


def test_the_objects_of_a_list_are_taken_apart_once() -> None:
    """What has been taken apart may be asked for its objects again."""
    (document,), _ = yamlio.parse("list.yaml", SPELLINGS["an object with items in a List"].text.encode())
    parts = document.objects
    assert len(parts) == 2
    assert [again for part in parts for again in part.objects] == parts


@EACH
def test_without_a_policy_it_is_passed_through_as_it_is(spelling: Spelling, folder: Path, llmaz: Llmaz) -> None:
    text = pass_through(folder, spelling.text)
    done = llmaz("render", "-o", "out")
    assert done.code == 0, done.err
    copied = next(folder.glob("out/**/list.yaml")).read_text()
    assert copied.partition("\n")[2] == text


@pytest.mark.parametrize("policy", ["", POLICY])
def test_a_list_that_is_nested_too_deeply(policy: str, folder: Path, llmaz: Llmaz) -> None:
    """Nobody takes it apart; under a policy it is refused as what could not be read."""
    pass_through(folder, TOO_DEEP)
    if policy:
        (folder / "llmaz-policy.yaml").write_text(policy)
    done = llmaz("render", "-o", "out")
    assert ("[E105]" in done.err) == bool(policy)
    assert (done.code == 0) != bool(policy), done.err


@EACH
def test_a_policy_sees_each_object(spelling: Spelling, folder: Path, llmaz: Llmaz) -> None:
    """Its wrapper and its items have to be allowed."""
    pass_through(folder, spelling.text)
    (folder / "llmaz-policy.yaml").write_text(POLICY)
    done = llmaz("validate")
    for name in (*spelling.applied, *spelling.beyond):
        kind = name.partition("/")[0].partition(".")[0]
        assert f"{kind} in a file that is passed through [E825]" in done.err.lower().replace("[e825]", "[E825]")
