"""Commits, and what `llmaz diff` says of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.diff.repository import CHAT, CONFIG, Repository

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz, Outcome


HERE = Path(__file__).resolve().parent
ELASTIC = """\
  elasticConfig:
    minReplicas: 1
    maxReplicas: 4
    scaleTrigger:
      hpa:
        metrics:
          - type: Pods
            pods: {metric: {name: vllm_num_requests_waiting}, target: {type: AverageValue, averageValue: "5"}}
"""
# What each commit does: words of the Playground, and what stands in their place.
COMMITS = {
    "bump-engine": ("version: v0.32.0", "version: v0.33.0"),
    "change-flavor": ("[l4]", "[h100]"),
    "add-hpa": ("  replicas: 2\n", ELASTIC),
    "rename-model": ("name: chat,", "name: assistant,"),
    "break-flag": ("--max-model-len,", "--max-model-length,"),
}


# The sizes before and after it.
GROUPS = {
    "one-host-to-two": ("  hardening: default\n", "  hardening: default\n  parallelism: {pipeline: 2}\n"),
    "two-hosts-to-four": ("  parallelism: {pipeline: 2}\n", "  parallelism: {tensor: 8, pipeline: 2}\n"),
}
# Prefill and decode of another version, and one more that decodes; what comes behind `disaggregation:`.
ROLES = {"two-roles": "", "disaggregated-set": "    kind: DisaggregatedSet\n"}
SHARED = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: chat, namespace: llm}}
spec:
  modelClaim: {{modelName: blue-30b}}
  gateway: {{mode: pool}}
  backendRuntimeConfig: {{version: {version}}}
  disaggregation:
{kind}    prefill: {{inferenceFlavors: [h100], replicas: 2}}
    decode: {{inferenceFlavors: [l4], replicas: {replicas}}}
"""
# A model of which is known how much memory it takes: another type for one Playground, another context for a second, a
# label for a third, of which the answer stays, a larger step for a fourth, and a fifth that comes.
SIZED = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: sized-8b}
spec:
  familyName: sized
  source: {modelHub: {modelID: example/Sized-8B, revision: v1}}
  inferenceConfig:
    flavors:
      - {name: l4, limits: {nvidia.com/gpu: 1}, accelerator: l4-24g}
      - {name: h100, limits: {nvidia.com/gpu: 1}, accelerator: h100-80g}
  facts:
    weightsGiB: 15.0
    contextLength: 131072
    attention: {layers: 32, heads: 32, kvHeads: 8, headDim: 128, hiddenSize: 4096}
"""
SIZED_PLAYGROUND = """\
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: {name}, namespace: llm}}
spec:
  modelClaim: {{modelName: sized-8b, inferenceFlavors: [{flavor}]}}
  servedModelName: {name}
  replicas: {replicas}
  backendRuntimeConfig: {{args: [--max-model-len, "{length}", --max-num-batched-tokens, "{step}"]}}
"""
SIZES = {
    "other-type": (("h100", 131072, 1, 8192), ("l4", 131072, 1, 8192)),
    "shorter": (("l4", 131072, 1, 2048), ("l4", 16384, 1, 2048)),
    "more": (("h100", 131072, 1, 8192), ("h100", 131072, 2, 8192)),
    "larger-step": (("l4", 16384, 1, 2048), ("l4", 16384, 1, 32768)),
    "new": (None, ("l4", 16384, 1, 2048)),
}
FORMATS = {"text": "txt", "markdown": "md", "json": "json"}


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize("name", COMMITS)
def test_commits(name: str, form: str, repository: Repository, llmaz: Llmaz, golden: Golden) -> None:
    text = CHAT
    for commit, (old, new) in COMMITS.items():
        assert old in text
        text = text.replace(old, new)
        repository.write(chat=text)
        repository.commit(commit)
        if commit == name:
            break
    done = llmaz("diff", "HEAD~1..HEAD", "--format", form)
    assert done.code == (2 if name == "break-flag" else 0), done.err
    golden(f"diff/commits/{name}.{'md' if form == 'markdown' else 'json' if form == 'json' else 'txt'}", done.out)
    golden(f"diff/commits/{name}.stderr.txt", done.err)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", GROUPS)
def test_groups_of_hosts(name: str, form: str, repository: Repository, llmaz: Llmaz, golden: Golden) -> None:
    for sizes in GROUPS[name]:
        repository.write(chat=CHAT + sizes)
        repository.commit(f"sizes:{sizes}")
    done = llmaz("diff", "HEAD~1..HEAD", "--format", form)
    assert done.code == 0, done.err
    golden(f"diff/commits/{name}.{FORMATS[form]}", done.out)
    golden(f"diff/commits/{name}.stderr.txt", done.err)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ROLES)
def test_roles(name: str, form: str, repository: Repository, llmaz: Llmaz, golden: Golden) -> None:
    for version, replicas in (("v0.32.0", 1), ("v0.33.0", 2)):
        repository.write(chat=SHARED.format(version=version, kind=ROLES[name], replicas=replicas))
        repository.commit(version)
    done = llmaz("diff", "HEAD~1..HEAD", "--format", form)
    assert done.code == 0, done.err
    golden(f"diff/commits/{name}.{FORMATS[form]}", done.out)
    golden(f"diff/commits/{name}.stderr.txt", done.err)


def sized(side: int) -> str:
    """The Playgrounds of the model, as they are in one of the two commits."""
    return "".join(
        SIZED_PLAYGROUND.format(name=name, flavor=size[0], length=size[1], replicas=size[2], step=size[3])
        for name, sides in SIZES.items()
        if (size := sides[side])
    )


@pytest.mark.parametrize("form", FORMATS)
def test_memory(form: str, repository: Repository, llmaz: Llmaz, golden: Golden) -> None:
    repository.write(models=SIZED, mails="", chat=sized(0))
    repository.commit("before")
    repository.write(chat=sized(1))
    repository.commit("after")
    done = llmaz("diff", "HEAD~1..HEAD", "--format", form)
    assert done.code == 0, done.err
    golden(f"diff/commits/memory.{FORMATS[form]}", done.out)
    golden("diff/commits/memory.stderr.txt", done.err)


def verdicts(done: Outcome) -> list[str]:
    """What is said of the memory of models."""
    assert done.code == 0, done.err
    return [line.partition("GPU memory: ")[2] for line in done.out.splitlines() if "GPU memory" in line]


def test_the_memory_of_rendered_files_follows_from_their_inputs(repository: Repository, llmaz: Llmaz) -> None:
    repository.write(models=SIZED, mails="", chat=sized(0))
    assert llmaz("render").code == 0
    repository.commit("before")
    repository.write(chat=sized(1))
    rendered, inputs = (verdicts(llmaz("diff", "--base", base)) for base in ("rendered", "inputs"))
    assert rendered == inputs
    assert len([line for line in rendered if "→" in line]) == len(SIZES) - 2  # more replicas, and a new model
    unreadable = CONFIG.replace("apiVersion", "apiVersions")
    repository.write(llmaz=unreadable, chat=sized(0))
    repository.commit("before, with settings that are none")
    repository.write(llmaz=CONFIG, chat=sized(1))
    unknown = verdicts(llmaz("diff"))
    assert len([line for line in unknown if line.endswith(" (before: not known)")]) == len(SIZES) - 2


def test_the_memory_of_files_of_another_llmaz_is_not_known(repository: Repository, llmaz: Llmaz) -> None:
    """The inputs are the same, so what differs is the renderer."""
    repository.write(models=SIZED, mails="", chat=sized(0))
    assert llmaz("render").code == 0
    for path in repository.folder.glob("rendered/llm/*.yaml"):
        path.write_text(path.read_text("utf-8").replace("--max-num-batched-tokens", "--max-num-batch"), "utf-8")
    repository.commit("before")
    lines = verdicts(llmaz("diff"))
    assert len(lines) == len([sides for sides in SIZES.values() if sides[0]])
    assert {line.endswith(" (before: not known)") for line in lines} == {True}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("parameters: 8B", "parameters: 8B", {"not checked: facts.precision is missing"}),
        (
            "parameters: 8B, contextLength: 4096",
            "weightsGiB: 15, contextLength: 4096",
            {
                "not checked: facts.precision is missing → the weights fit, a request is not checked: "
                "facts.attention is missing",
                "the weights fit, a request is not checked: facts.attention is missing",
            },
        ),
    ],
)
def test_memory_that_nobody_can_work_out(
    before: str, after: str, words: set[str], repository: Repository, llmaz: Llmaz
) -> None:
    """The fact that is missing is named, but for a model that only has more replicas than before."""
    head = SIZED.partition("  facts:")[0]
    repository.write(models=f"{head}  facts: {{{before}}}\n", mails="", chat=sized(0))
    repository.commit("before")
    repository.write(models=f"{head}  facts: {{{after}}}\n", chat=sized(1))
    repository.commit("after")
    lines = verdicts(llmaz("diff", "HEAD~1..HEAD"))
    assert (set(lines), len(lines)) == (words, len(SIZES) - (before == after))


def test_no_golden_is_left(superfluous: Callable[[Path, set[Path]], list[Path]]) -> None:
    ends = ("md", "txt", "json", "stderr.txt")
    goldens = {HERE / "commits" / f"{name}.{end}" for name in (*COMMITS, *GROUPS, *ROLES, "memory") for end in ends}
    assert superfluous(HERE / "commits", goldens) == []
