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
from renderer.diff.objects import ObjectKey
from renderer.diff.risks import CLASSES, KINDS, Risk
from renderer.diff.risks.kinds import sort_risks
from renderer.output.manifest_files import OutputFile
from tests.diff.objects import container, placed, route, scaler, texts, workload

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


def test_long_values_show_where_they_differ() -> None:
    """Of a text the first line that differs, of a long line what stands around it; short ones come whole."""
    text = "[*]\nmetrics = true\n" + "flash-attn = on\n" * 5
    for before, after, shown in (
        (f"{text}[a]\n", f"{text}[b]\n", "…[a]\\n → …[b]\\n"),
        (text, f"{text}[b]\n", "… → …[b]\\n"),
        (f"{'x' * 100},one", f"{'x' * 100},two", f"…{'x' * 19},one → …{'x' * 19},two"),
        ("one", "two", "one → two"),
    ):
        bodies = [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": side}}
            for side in (before, after)
        ]
        assert f"data.k: {shown}\n" in FORMS["text"](compare(texts(bodies[0]), texts(bodies[1])), "")


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
        "currency": None,
        "quotas": [],
        "roles": [],
        "traffic": [],
        "risks": [],
        "objects": [],
        "notes": [],
    }


def test_every_risk_is_documented() -> None:
    page = (TESTS.parent / "docs" / "diff.md").read_text("utf-8")
    table = page[page.index("<!-- risks -->") : page.index("<!-- /risks -->")]
    rows = re.findall(r"^\| `([\w-]+)` \| `(\w+)` \| ([^|]+) \|", table, re.MULTILINE)
    kinds = [risk.kind for risk in sort_risks(Risk(kind, ObjectKey("", "File", "", "x"), "") for kind in KINDS)]
    assert rows == [(kind, KINDS[kind].risk_class, KINDS[kind].title) for kind in kinds]
    assert dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|$", page, re.MULTILINE)).keys() >= {*CLASSES}


def test_every_risk_has_a_remedy_of_one_line() -> None:
    """Short enough for a line of a terminal; what is code stands between backticks."""
    assert [kind for kind, what in KINDS.items() if not 0 < len(f"      remedy: {what.remedy}") <= 160] == []
    assert [kind for kind, what in KINDS.items() if what.remedy.count("`") % 2 or "\n" in what.remedy] == []
    assert {what.risk_class for what in KINDS.values()} == {*CLASSES}


def test_risks_are_sorted_by_what_they_cost() -> None:
    """In each format, the same order; in the comment they stand above all else, each with its remedy."""
    gone = workload("gone", args=["other"])
    before = texts(gone, workload("chat", spec={"replicas": 2}), route("blue", ("chat", 1)))
    after = texts(workload("chat", image="engine:latest", spec={"replicas": 1}))
    diff = compare(before, after)
    kinds = ["scale-to-one", "restart", "no-backend", "model-deleted", "floating-tag"]
    classes = [KINDS[kind].risk_class for kind in kinds]
    classes[1] = "requests"  # of the only replica
    risks = json.loads(FORMS["json"](diff, ""))["risks"]
    assert [(risk["risk"], risk["class"]) for risk in risks] == list(zip(kinds, classes, strict=True))
    assert [risk["remedy"] for risk in risks] == [KINDS[kind].remedy.replace("`", "") for kind in kinds]
    page, text = FORMS["markdown"](diff, ""), FORMS["text"](diff, "")
    titles = [KINDS[kind].title for kind in kinds]
    assert re.findall(r"^\* \*\*(.+?)\*\*", page, re.MULTILINE) == titles
    assert page.count("<br>Remedy: ") == len(kinds)
    assert page.index("llmaz: 5 risks ·") < page.index(titles[-1]) < page.index("| 1 model removed, 1 changed |")
    positions = [text.index(f"  {title}: ") for title in titles]
    assert [*positions, text.index("Models\n")] == sorted([*positions, text.index("Models\n")])
    keys = list(json.loads(FORMS["json"](diff, "")))
    assert keys[:4] == ["environment", "different", "risks", "models"]
    assert text.count("      remedy: ") == len(kinds)


def test_one_remedy_for_risks_that_share_it() -> None:
    before = [workload(name) for name in ("a", "b", "c")]
    after = [workload("a", image="engine:v2"), workload("b", args=["x"]), workload("c", image="engine:v2")]
    diff = compare(texts(*before), texts(*after))
    remedy = KINDS["restart"].remedy
    assert FORMS["markdown"](diff, "").splitlines()[3] == (
        f"* **restarts pods**: `llm/a`, `llm/c`: `image`; `llm/b`: `args`<br>Remedy: {remedy}"
    )
    lines = FORMS["text"](diff, "").partition("Risks\n")[2].splitlines()[:3]
    assert lines == [
        "  restarts pods: llm/a, llm/c: image",
        "  restarts pods: llm/b: args",
        f"      remedy: {remedy.replace('`', '')}",
    ]


def test_long_lists_of_risks_have_a_row_each() -> None:
    """What they have in common is said in each of them; in a row of several only once."""
    names = [f"a-model-with-a-long-name-{i}" for i in range(30)]
    env = [{"name": "A", "value": "1"}]
    before = [workload(name, spec={"replicas": 1}, env=env) for name in names]
    after = [workload(name, spec={"replicas": 1}, env=[*env, {"name": name, "value": "1"}]) for name in names]
    few, many = (
        FORMS["markdown"](compare(texts(*before[:count]), texts(*after[:count])), "").splitlines() for count in (2, 30)
    )
    pause = "nothing answers while it loads"
    assert (few[3].startswith("* **restarts pods**: nothing"), few[3].count(pause), few[4]) == (True, 1, "")
    assert many[3].startswith("* **restarts pods**<br>Remedy: ")
    assert [line.startswith(f"  * {pause}") for line in many[4:34]] == [True] * 30


def test_many_risks_of_one_class_hide_none_of_another() -> None:
    before = [workload(f"chat-{i}") for i in range(300)]
    after = [workload(f"chat-{i}", args=[f"--{i}"], env=[{"name": f"V{i}", "value": "1"}]) for i in range(300)]
    for i, body in enumerate(after):
        pod = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]
        pod["metadata"]["annotations"][f"example.com/{i}"] = "1"
    after[-1]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["hostPID"] = True
    page = FORMS["markdown"](compare(texts(*before), texts(*after)), "")
    assert re.search(r"^\* and \d+ more$", page, re.MULTILINE)
    assert "**privileges on the node**: `llm/chat-299`" in page


def led(gpus: int) -> dict[str, Any]:
    """A group of leader and worker with accelerators of two kinds, so many for the worker."""
    body = workload(size=2, resources={"limits": {"nvidia.com/gpu": gpus}})
    body["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = {"spec": {"containers": [container()]}}
    return body


SLICE = {"limits": {"nvidia.com/mig-1g.10gb": "1"}}
PART = workload(resources=SLICE)
MIXED = (workload("a", flavor="l4"), workload("b", flavor="h100"), workload("c", flavor="h100", spec={"replicas": 3}))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([workload()], [workload(image="engine:v2")]),  # no other GPUs
        ([workload()], [workload(spec={"replicas": 5})]),
        ([workload()], [workload(flavor="h100", size=3)]),  # two kinds of one model
        ([placed({"gpu": "a"})], [placed({"gpu": "h"})]),  # as many of another kind
        ([workload()], []),
        (MIXED, [workload("a", spec={"replicas": 4}), workload("b", flavor="h100", image="x:v2"), MIXED[2]]),
        (MIXED, [workload("a", spec={"replicas": 4}), workload("b", flavor="l4"), MIXED[2], workload("d")]),
        (MIXED[1:], [workload("b", "h100", spec={"replicas": 3}), workload("c", "h100", spec={"replicas": 2})]),
        (
            [workload(), route("blue", ("chat", 1))],
            [workload("talk"), route("blue", ("talk", 1)), scaler(2, 9, "talk")],
        ),
        ([workload(), workload("cpu", resources={})], [workload(size=2), workload("cpu", image="x:v2", resources={})]),
        ([led(1)], [led(2)]),  # one of two kinds of one model
        ([workload()], [PART]),  # a card becomes a part of one
        (MIXED, [*MIXED[1:], PART, workload("part", resources=SLICE)]),
        ([PART, workload("b")], [workload(resources=SLICE), workload("b", size=2)]),
        ([workload(f"m-{i}") for i in range(300)], [workload(f"m-{i}", size=1200) for i in range(300)]),
    ],
)
def test_every_figure_of_the_headline_stands_below_it(before: list[Any], after: list[Any]) -> None:
    diff = compare(texts(*before), texts(*after))
    head, _, page = FORMS["markdown"](diff, "").partition("\n### llmaz: ")[2].partition("\n")
    below = "\n".join(outside_of_fences(page.splitlines()))
    parts = [part for part in head.split(" · ") if re.search(r"\d", part)]
    assert parts
    for part in parts:
        if part.startswith("parts of GPUs "):
            assert re.search(
                rf"^\| .*{re.escape(part)} \| accelerator \| a replica \| at most \|$", below, re.MULTILINE
            )
        elif part.startswith("GPUs "):
            assert re.search(rf"^\| {re.escape(part)}[^|]* \| accelerator \|", below, re.MULTILINE)
            assert ("in total" in part, len(diff.models) > 1) == ("these models" in part,) * 2
        elif " object" in part:
            assert f"\n**{part}**\n" in f"\n{below}"
        elif " model" in part:
            assert f"\n| {part} | change | replicas |\n" in f"\n{below}"
    number = re.match(r"([\d,]+) risks?", head)
    entries = re.findall(r"^(?:\* \*\*.+?\*\*: |  \* )|; (?=`llm/)", below, re.MULTILINE)
    hidden = sum(int(more.replace(",", "")) for more in re.findall(r"^\* and ([\d,]+) more$", below, re.MULTILINE))
    assert len(entries) + hidden == (int(number[1].replace(",", "")) if number else 0)


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


def test_a_backend_at_a_second_priority_is_one_more() -> None:
    """It is not taken for the one that was there."""
    before, after = route("m", ("chat", 1), ("next", 1)), route("m", ("chat", 1), ("chat", 1))
    after["spec"]["rules"][0]["backendRefs"][1]["priority"] = 2
    changes = compare(texts(before), texts(after)).traffic
    assert [(change.before, change.after) for change in changes] == [
        ("", "chat again, weight 1, priority 2"),
        ("next, weight 1", ""),
    ]


def test_a_model_whose_other_fields_change_says_where() -> None:
    before, after = workload(), workload()
    after["metadata"]["labels"] = {**after["metadata"].get("labels", {}), "team": "search"}
    text = FORMS["text"](compare(texts(before), texts(after)), "")
    assert "changed in other fields, which Objects lists" in text
