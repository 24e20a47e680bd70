"""Eight small edits of nine apps, as a person reads what `llmaz diff` says of them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.diff.repository import Repository

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

LINES = 25
"""The most lines of such a comment above the first fold, beside one for each kind of risk (docs/diff.md)."""
APP = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: app{0}, namespace: llm}}
spec:
  replicas: {1}
  servedModelName: app{0}
  modelClaim: {{modelName: coder-7b, inferenceFlavors: [l4]}}
  backendRuntimeConfig:
    args: [--max-model-len, "16384"]
    envs:
      - {{name: VLLM_NO_USAGE_STATS, value: "1"}}
    resources:
      requests: {{cpu: 4, memory: 24Gi}}
      limits: {{memory: 32Gi}}
"""
MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: {name}}}
spec:
  familyName: {name}
  source: {{modelHub: {{modelID: example/{name}, revision: v1}}}}
  inferenceConfig:
    flavors:
      - {{name: l4, limits: {{nvidia.com/gpu: 1}}, accelerator: l4-24g}}
  facts: {facts}
"""
FACTS = "{{weightsGiB: {0}, contextLength: 32768, attention: {{layers: 28, heads: 28, kvHeads: 4, headDim: 128}}}}"
SMALL = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: {0}, namespace: llm}}
spec:
  servedModelName: {0}
  modelClaim: {{modelName: one, inferenceFlavors: [l4]}}
  backendRuntimeConfig: {{backendName: {1}}}
"""
EDITS = {
    1: ("replicas: ", "replicas: 1"),  # ten more
    2: ("16384", "32768"),
    3: ("limits: {memory: 32Gi}", "limits: {memory: 48Gi}"),
    5: ("app5", "fifth"),
    6: ("servedModelName: app6", "servedModelName: sixth"),
    7: ("    resources:", "      - {name: VLLM_LOGGING_LEVEL, value: DEBUG}\n    resources:"),
    8: ('"16384"]', '"16384", --enforce-eager]'),
    9: ("coder-7b", "other-8b"),
}


def write_apps(repository: Repository, replicas: int) -> None:
    """The nine apps, and two models."""
    repository.write(chat="", mails="", models=MODEL.format(name="coder-7b", facts=FACTS.format(14.2)))
    repository.write(other=MODEL.format(name="other-8b", facts=FACTS.format(18)))
    repository.write(**{f"app{i}": APP.format(i, replicas) for i in range(1, 10)})


def edit_apps(repository: Repository, replicas: int) -> None:
    """Makes the edits."""
    for i, (old, new) in EDITS.items():
        text = APP.format(i, replicas)
        assert old in text
        repository.write(**{f"app{i}": text.replace(old, new)})


def shown_lines(comment: str) -> int:
    """The lines of a comment above its first fold as GitHub shows them, without those that only have to wrap."""
    count = 0
    for line in comment.partition("<details>")[0].splitlines():
        if line.startswith("| "):
            count += max(cell.count("<br>") + 1 for cell in line.split(" | "))
        elif line and not line.startswith(("<!--", "|--")):
            count += line.count("<br>") + 1
    return count


@pytest.mark.parametrize("base", ["rendered", "inputs"])
@pytest.mark.parametrize("replicas", [1, 2])
def test_they_take_few_lines(replicas: int, base: str, repository: Repository, llmaz: Llmaz, golden: Golden) -> None:
    """Whatever the base is made from: what was known of it is the same."""
    write_apps(repository, replicas)
    assert llmaz("render").code == 0
    repository.commit("before")
    edit_apps(repository, replicas)
    comment, text = (llmaz("diff", "--base", base, "--format", form).out for form in ("markdown", "text"))
    kinds = set(re.findall(r"^\* \*\*(.+?)\*\*", comment, re.MULTILINE))
    assert 3 <= len(kinds) <= 5
    assert shown_lines(comment) <= LINES + len(kinds)
    assert (comment.index("* **") < comment.index("\n| "), text.index("Risks") < text.index("Models")) == (True, True)
    if replicas == 2:
        golden("diff/small-edits.md", comment)
        golden("diff/small-edits.txt", text)


@pytest.mark.parametrize("backend", ["vllm", "sglang", "llamacpp", "tgi", "tensorrt-llm"])
def test_each_change_is_told_once(backend: str, repository: Repository, llmaz: Llmaz) -> None:
    """Another model, another public name and a renamed app, each without what follows from it."""
    file = ", filename: q4.gguf" if backend == "llamacpp" else ""
    model = MODEL.replace(", revision", f"{file}, revision")
    repository.write(chat="", mails="", **{name: model.format(name=name, facts="{}") for name in ("one", "two")})
    apps = "---\n".join(SMALL.format(name, backend) for name in "abc")
    repository.write(apps=apps)
    repository.commit("before")
    edited = apps.replace("servedModelName: b", "servedModelName: bees").replace("c, namespace", "cats, namespace")
    edited = edited.replace("servedModelName: c", "servedModelName: cats").replace("one", "two", 1)
    repository.write(apps=edited)
    text = llmaz("diff").out
    assert [line.strip() for line in text.partition("Models\n")[2].partition("\n\n")[0].splitlines()] == [
        "~ llm/a (two): changed",
        "model: one → two",
        "~ llm/b (one): changed",
        "public name: b → bees",
        "> llm/cats (one): renamed, was llm/c",
    ]
    traffic = text.partition("Traffic\n")[2].partition("\n\n")[0].splitlines()
    assert [line.strip() for line in traffic] == ["bees: public name: b → bees", "cats: public name: c → cats"]


@pytest.mark.parametrize("kind", ["", "    kind: DisaggregatedSet\n"])
def test_all_of_an_app_with_roles_is_renamed(kind: str, repository: Repository, llmaz: Llmaz) -> None:
    """As of any other app: its Services, its pool and its route go with it."""
    model = MODEL.format(name="one", facts="{}")
    roles = "    prefill: {inferenceFlavors: [l4]}\n    decode: {inferenceFlavors: [l4], replicas: 2}\n"
    app = f"{SMALL.format('chat', 'vllm')}  gateway: {{mode: pool}}\n  disaggregation:\n{kind}{roles}"
    app = app.replace(", inferenceFlavors: [l4]}\n  backend", "}\n  backend")
    repository.write(chat="", mails="", one=model, apps=app)
    repository.commit("before")
    repository.write(apps=app.replace("chat", "talk"))
    diff = json.loads(llmaz("diff", "--format", "json").out)
    assert {item["state"] for item in [*diff["models"], *diff["objects"]]} == {"renamed"}
    assert [(item["what"], item["before"], item["after"]) for item in diff["traffic"]] == [
        ("public name", "chat", "talk")
    ]
    assert [(model["facts"], model["options"]) for model in diff["models"]] == [([], [])] * 2
