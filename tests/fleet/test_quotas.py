"""Quotas of a RenderPolicy: at the most, in a rollout, in an environment, and raised by the change that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests import inputs
from tests.diff.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Llmaz

POLICY = "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderPolicy\nmetadata: {name: policy}\nspec:\n"
FLAVORS = "  flavors: {h100: {limits: {nvidia.com/gpu: 1}, accelerator: h100-80g}}\n"
CONFIG = f"{inputs.CONFIG}\n{FLAVORS}"
CHAT = inputs.playground("chat", "llm", "qwen3-8b, inferenceFlavors: [h100]")
ELASTIC = """\
  elasticConfig:
    minReplicas: 1
    maxReplicas: 4
    scaleTrigger: {hpa: {metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization,
      averageUtilization: 80}}}]}}
"""
DENIED = (
    "denied by llmaz-policy.yaml:5{of}: 4 accelerators of h100-80g with the most replicas, 3 are allowed: "
    "llm/chat 4 [E807]\n    hint: lower the replicas of one of these, or ask whoever owns the policy for more"
)
RAISED = "; a change of the policy counts once it is merged"


def quota(most: int) -> str:
    return f"{POLICY}  quotas: [{{accelerators: [h100-80g], max: {most}}}]\n"


def lay_out(folder: Path, **files: str) -> None:
    for stem, text in files.items():
        (folder / f"{stem.replace('_', '-')}.yaml").write_text(text)


def test_exceeded_at_the_most_alone(folder: Path, llmaz: Llmaz) -> None:
    lay_out(folder, llmaz=CONFIG, llmaz_policy=quota(3), chat=CHAT + ELASTIC)
    assert llmaz("validate").err == f"chat.yaml:8:18: spec.elasticConfig.maxReplicas: {DENIED.format(of='')}\n1 error\n"
    lay_out(folder, llmaz_policy=quota(4))
    assert llmaz("validate").code == 0


@pytest.mark.parametrize("kind", ["LeaderWorkerSet", "Deployment"])
def test_exceeded_by_a_rollout_alone(kind: str, folder: Path, llmaz: Llmaz) -> None:
    rollout = f"  replicas: 4\n  workload: {{kind: {kind}, rollout: {{maxSurge: 25%}}}}\n"
    lay_out(folder, llmaz=CONFIG, llmaz_policy=quota(4), chat=CHAT + rollout)
    done = llmaz("validate")
    assert done.code == 0
    assert done.err.startswith(
        "chat.yaml:6:13: warning: spec.replicas: more than llmaz-policy.yaml:5 allows while a rollout replaces pods: "
        "5 accelerators of h100-80g, 4 are allowed: llm/chat 5 [W807]\n"
    )
    lay_out(folder, llmaz_policy=quota(5))
    assert "W807" not in llmaz("validate").err


def test_exceeded_in_one_of_two_environments(folder: Path, llmaz: Llmaz) -> None:
    environments = "  environments: {dev: {}, prod: {playgrounds: {chat: {replicas: 4}}}}\n"
    lay_out(folder, llmaz=CONFIG + environments, llmaz_policy=quota(3), chat=CHAT)
    done = llmaz("validate")
    place = "llmaz.yaml:6:65: spec.environments.prod.playgrounds.chat.replicas: "
    assert (done.code, done.err) == (2, f"{place}{DENIED.format(of='')}\n1 error\n")
    assert llmaz("validate", "--env", "dev").code == 0


def test_a_change_that_raises_its_own_quota(folder: Path, llmaz: Llmaz) -> None:
    repository = Repository(folder)
    lay_out(folder, llmaz=CONFIG, llmaz_policy=quota(3), chat=CHAT)
    repository.commit()
    lay_out(folder, llmaz_policy=quota(8), chat=f"{CHAT}  replicas: 4\n")
    assert llmaz("validate").code == 0
    done = llmaz("diff")
    assert (done.code, done.out) == (2, "")
    commit = repository.git("rev-parse", "--short", "HEAD").strip()
    denied = DENIED.format(of=f" of HEAD ({commit})")
    assert f"chat.yaml:6:13: spec.replicas: {denied}{RAISED}\n" in done.err


def test_a_change_that_raises_its_quota_by_too_little(folder: Path, llmaz: Llmaz) -> None:
    """Both policies deny it: it is told once, by the one that counts."""
    repository = Repository(folder)
    lay_out(folder, llmaz=CONFIG, llmaz_policy=quota(2), chat=CHAT)
    repository.commit()
    lay_out(folder, llmaz_policy=quota(3), chat=f"{CHAT}  replicas: 4\n")
    done = llmaz("diff")
    assert done.code == 2
    assert done.err.count("[E807]") == 1
    assert "llmaz-policy.yaml:5 of HEAD" in done.err


def test_parts_count_by_their_flavor_alone(folder: Path, llmaz: Llmaz) -> None:
    parts = "  flavors: {h100: {limits: {nvidia.com/mig-3g.40gb: 1}, accelerator: h100-80g}}\n"
    lay_out(folder, llmaz=f"{inputs.CONFIG}\n{parts}", llmaz_policy=quota(0), chat=CHAT)
    assert llmaz("validate").code == 0
    lay_out(folder, llmaz_policy=f"{POLICY}  quotas: [{{flavors: [h100], max: 0}}]\n")
    assert "[E807]" in llmaz("validate").err


def test_an_app_with_an_error_beside_quotas(folder: Path, llmaz: Llmaz) -> None:
    lay_out(folder, llmaz=CONFIG, llmaz_policy=quota(0), chat=inputs.playground("chat", "llm", "nobodys"))
    assert [line[-6:] for line in llmaz("validate").err.splitlines() if line.endswith("]")] == ["[E203]"]
