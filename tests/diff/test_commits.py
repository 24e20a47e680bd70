"""Commits, and what `llmaz diff` says of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.diff.repository import CHAT, Repository

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz


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


def test_no_golden_is_left(superfluous: Callable[[Path, set[Path]], list[Path]]) -> None:
    ends = ("md", "txt", "json", "stderr.txt")
    goldens = {HERE / "commits" / f"{name}.{end}" for name in (*COMMITS, *GROUPS, *ROLES) for end in ends}
    assert superfluous(HERE / "commits", goldens) == []
