"""A comparison as text, Markdown and JSON, whatever the manifests hold."""

from __future__ import annotations

import copy
import json
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest

from renderer import yamlio
from renderer.diff.comparison import compare
from renderer.diff.formats import FORMS
from renderer.diff.risks import KINDS
from renderer.output.manifest_files import OutputFile
from tests.diff.objects import route, texts, workload

TESTS = Path(__file__).resolve().parent.parent


def test_nothing_breaks_out_of_the_comment() -> None:
    """Names and values that mean something to Markdown, HTML, a table or GitHub."""
    nasty = [
        "a | b",
        "`x`",
        "```\n</details>\n<script>alert(1)</script>",
        "</code></summary></details><img src=x>",
        "@octocat #1 https://example.com/?a=b",
        "[x](http://example.com)",
        "<!-- llmaz -->",
        "-->",
        "\u202egnp.exe\x1b[31m",
        "**bold** _it_ ~~no~~ $x$",
        "\\|",
        "|\n|---|\n",
    ]
    for text in nasty:
        before = workload(args=["--x", "1"], env=[{"name": "E", "value": "v"}])
        after = workload(args=["--x", text, f"--{text}", "1"], image=text, env=[{"name": text, "value": text}])
        after["metadata"] |= {"annotations": {"renderer.llmaz.io/engine-version": text, text: text}}
        route_of = route(text, (text, 1))
        page = FORMS["markdown"](compare(texts(before, route("b", ("b", 1))), texts(after, route_of)), text)
        head, *rest = page.splitlines()
        assert re.fullmatch(r"<!-- llmaz(:(?:[A-Za-z0-9.]|-(?!-))+)? -->", head)
        assert "\x1b" not in page
        assert "\u202e" not in page
        outside = outside_of_fences(rest)
        for line in outside:
            bare = re.sub(r"`[^`]*`|<code>[A-Za-z0-9 →–…&#;/.,()=-]*</code>", "", line)
            bare = re.sub(r"</?details>|</?summary>|<br>", "", bare)
            assert not re.search(r"[<>@`\[\\$~_]", bare), (text, line)
            if line.startswith("|"):
                assert line.count("|") in (4, 5), (text, line)


def outside_of_fences(lines: list[str]) -> list[str]:
    """The lines of a page that stand in no fence; every fence is closed."""
    outside, fence = [], ""
    for line in lines:
        if not fence and (begin := re.fullmatch(r"(`{3,})diff", line)):
            fence = begin[1]
        elif fence:
            assert line[:1] in ("+", "-", " ", "@", "`"), line
            if re.fullmatch(r" {0,3}`{3,} *", line) and len(line.strip()) >= len(fence):
                assert line == fence
                fence = ""
        else:
            outside.append(line)
    assert fence == ""
    return outside


@pytest.mark.parametrize("count", [3, 60, 400])
@pytest.mark.parametrize("wide", ["x", "\U0001f600"])
def test_a_comment_has_an_end(count: int, wide: str) -> None:
    """65,536 characters, whatever comes; every fence and fold closed, and what is missing is counted."""
    before = [workload(f"chat-{i}") for i in range(count)]
    lots = [f"{wide * 40}-{n}" for n in range(200)]
    after = [workload(f"chat-{i}", args=["serve", *lots], image=f"{wide * 300}:v1") for i in range(count)]
    page = FORMS["markdown"](compare(texts(*before), texts(*after)), "prod")
    assert len(page.encode("utf-16-le")) // 2 <= 65_536
    outside = outside_of_fences(page.splitlines())
    assert page.count("<details>") == page.count("</details>") > 0
    assert "**restarts pods**" in page
    left = [line for line in outside if line.startswith("Not shown")]
    assert len(left) == (count > 3)
    if left:
        (number,) = re.findall(r"([\d,]+) objects? more", left[0])
        assert int(number.replace(",", "")) + page.count("<details>") == count


def test_it_is_deterministic() -> None:
    before = texts(*(workload(f"chat-{i}") for i in range(20)), route("blue", ("a", 1)))
    after = texts(*(workload(f"talk-{i}", image="engine:v2") for i in range(20)), route("blue", ("b", 1)))
    for form in FORMS.values():
        assert len({form(compare(before[::step], after[::step]), "") for step in (1, -1, 1)}) == 1


ODD: tuple[Any, ...] = (None, "", 1, 0, -1, 1.5, True, [], {}, [None], [[]], ["a"], {"name": 1}, [{"name": "x"}])


def mutated(value: Any, dice: random.Random) -> Any:
    """The value with something odd somewhere in it."""
    if isinstance(value, dict) and value and dice.random() < 0.95:
        key = dice.choice(list(value))
        return {**value, key: mutated(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.95:
        place = dice.randrange(len(value))
        return [mutated(item, dice) if i == place else item for i, item in enumerate(value)]
    return copy.deepcopy(dice.choice(ODD))


@pytest.mark.parametrize("seed", range(8))
def test_whatever_manifests_hold(seed: int) -> None:
    """Files of others are compared too: nothing of them is taken for granted, and no difference is lost."""
    dice = random.Random(seed)
    manifests: dict[str, list[Any]] = {}
    for path in sorted((TESTS / "cases").glob("*gate*/expected/**/*.yaml")) + sorted(
        (TESTS / "cases").glob("example-*/expected/**/*.yaml")
    ):
        for document in yamlio.parse(path.name, path.read_bytes())[0]:
            manifests.setdefault(document.value["kind"], []).append(document.value)
    assert len(manifests) > 12
    for kind in sorted(manifests):
        for _ in range(20):
            body = dice.choice(manifests[kind])
            sides = [
                texts(manifest) for manifest in (body, mutated(mutated(body, dice), dice)) if isinstance(manifest, dict)
            ]
            if len(sides) == 2:
                diff = compare(*sides)
                assert diff.different == (sides[0] != sides[1])
                for form in FORMS.values():
                    assert form(diff, "")


def test_json_has_all_keys() -> None:
    empty = json.loads(FORMS["json"](compare([], []), ""))
    assert empty == {
        "environment": None,
        "different": False,
        "models": [],
        "gpus": [],
        "roles": [],
        "traffic": [],
        "risks": [],
        "objects": [],
        "notes": [],
    }


def test_every_risk_is_documented() -> None:
    page = (TESTS.parent / "docs" / "diff.md").read_text("utf-8")
    table = page[page.index("<!-- risks -->") : page.index("<!-- /risks -->")]
    assert re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|", table, re.MULTILINE) == list(KINDS.items())


def test_the_goldens_hold_no_secret() -> None:
    """What we render by ourselves writes out no secret: all that is found is what inputs of cases write out."""
    counts = {}
    for folder in sorted((TESTS / "cases").iterdir()):
        files = [OutputFile(path.name, path.read_text("utf-8")) for path in (folder / "expected").rglob("*.yaml")]
        kinds = [risk.kind for risk in compare([], files).risks]
        if "plaintext-secret" in kinds:
            counts[folder.name] = kinds.count("plaintext-secret")
    assert set(counts) <= {"environment-who-wins", "likely-not-what-is-meant", "loaders-and-secrets"}


def test_one_of_a_thousand_is_quick() -> None:
    """What did not change costs nothing: well under a tenth of a second."""
    case = (TESTS / "cases" / "example-hpa" / "expected" / "llm" / "chat.yaml").read_text("utf-8")
    before = [OutputFile(f"llm/chat-{i}.yaml", case.replace("chat", f"chat-{i}")) for i in range(1000)]
    after = [*before]
    after[500] = OutputFile(before[500].path, before[500].text.replace("maxReplicas: 6", "maxReplicas: 7"))
    compare(before[:1], after[:1])
    began = time.perf_counter()
    diff = compare(before, after)
    took = time.perf_counter() - began
    assert [change.state for change in diff.objects] == ["changed"]
    assert took < 0.1, f"{took:.3f} s"
