"""ResourceQuotas of a tree: what they count of rendered and hand-written pods, at `validate` and in `check`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests import inputs
from tests.diff.repository import Repository
from tests.paths import TESTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Llmaz

EVERY_KIND = TESTS / "fleet" / "every-kind" / "input"
GPU = "requests.nvidia.com/gpu"
CONFIG = f"""{inputs.CONFIG}
  passThrough: ["extra/*.yaml"]
  flavors:
    h100: {{limits: {{nvidia.com/gpu: 1}}, accelerator: h100-80g}}
    amd: {{limits: {{amd.com/gpu: 1}}, accelerator: mi300x-192g}}
    claimed: {{accelerator: h100-80g, claims: {{deviceClassName: gpu.nvidia.com, count: 2}}}}
  targets: {{kubernetes: "1.34"}}
"""
ELASTIC = """\
  elasticConfig:
    minReplicas: 2
    maxReplicas: 4
    scaleTrigger: {hpa: {metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization,
      averageUtilization: 80}}}]}}
"""
THREE = "  replicas: 3\n"


def chat(more: str = "", flavor: str = "h100") -> str:
    return inputs.playground("chat", "llm", f"qwen3-8b, inferenceFlavors: [{flavor}]") + more


def quota(key: str, hard: object, more: str = "", namespace: str = "llm", name: str = "gpus") -> str:
    return (
        f"apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: {name}, namespace: {namespace}}}\n"
        f"spec: {{hard: {{{key}: {hard}}}{more}}}\n"
    )


def deployment(name: str, replicas: int, resources: str, more: str = "", strategy: str = "{type: Recreate}") -> str:
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: llm}}
spec:
  replicas: {replicas}
  strategy: {strategy}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{containers: [{{name: web, image: "registry.example/web:v1", resources: {resources}}}]{more}}}
"""


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: c, namespace: llm}
spec:
  activeDeadlineSeconds: 60
  containers: [{name: web, image: "registry.example/web:v1", resources: {limits: {nvidia.com/gpu: 4}}}]
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def of_quota(text: str) -> list[str]:
    """What is said of quotas, without hints."""
    return [line for line in text.splitlines() if line.endswith(("[E929]", "[W930]", "[W931]"))]


def judged(folder: Path, llmaz: Llmaz, **files: str) -> list[str]:
    """What `validate` says of quotas in these files; `extra_` names what is passed through."""
    write(folder, {"llmaz.yaml": CONFIG} | {f"{key.replace('extra_', 'extra/')}.yaml": files[key] for key in files})
    return of_quota(llmaz("validate").err)


def exceeded(place: str, hard: int, who: str, code: str, key: str = GPU) -> str:
    warning = "warning: " if code[0] == "W" else ""
    allowed = f"ResourceQuota 'gpus' lets the pods of namespace 'llm' have {hard} of {key} in all"
    return f"{place}: {warning}spec.hard[{key}]: {allowed}, and {who} [{code}]"


@pytest.mark.parametrize(
    ("more", "hard", "code", "who"),
    [
        (THREE, 2, "E929", "the least replicas of LeaderWorkerSet 'chat' need 3"),
        (THREE, 3, "", ""),
        (ELASTIC, 1, "E929", "the least replicas of LeaderWorkerSet 'chat' need 2"),
        (ELASTIC, 2, "W930", "the most replicas of LeaderWorkerSet 'chat' need 4"),
        (ELASTIC, 3, "W930", "the most replicas of LeaderWorkerSet 'chat' need 4"),
        (ELASTIC, 4, "", ""),
        (f"{THREE}  workload: {{rollout: {{maxSurge: 1}}}}\n", 3, "W930", "in a rollout the most replicas of "
         "LeaderWorkerSet 'chat' need 4"),
        (f"{THREE}  workload: {{rollout: {{maxSurge: 1}}}}\n", 4, "", ""),
        ("  workload: {kind: Deployment, rollout: {maxSurge: 1}}\n", 0, "E929", "a pod of Deployment 'chat' needs 1"),
    ],
)  # fmt: skip
def test_three_grades(more: str, hard: int, code: str, who: str, folder: Path, llmaz: Llmaz) -> None:
    output = judged(folder, llmaz, chat=chat(more), extra_quota=quota(GPU, hard))
    assert output == ([exceeded("extra/quota.yaml:4:40", hard, who, code)] if code else [])
    assert llmaz("validate").code == (2 if code == "E929" else 0)


def test_the_same_in_check(folder: Path, llmaz: Llmaz) -> None:
    """The copies of passed-through files in the output are judged with what is rendered beside them."""
    output = judged(folder, llmaz, chat=chat(ELASTIC), extra_quota=quota(GPU, 3))
    assert llmaz("render").code == 0
    copied = of_quota(llmaz("check", "rendered").err)
    assert [line.partition(" warning: ")[2] for line in copied] == [line.partition(" warning: ")[2] for line in output]


def test_in_one_of_two_environments(folder: Path, llmaz: Llmaz) -> None:
    """Both share the quota; and each may have its own."""
    environments = "  environments: {dev: {}, prod: {playgrounds: {chat: {replicas: 4}}}}\n"
    write(folder, {"llmaz.yaml": CONFIG + environments, "chat.yaml": chat(), "extra/quota.yaml": quota(GPU, 3)})
    line = exceeded("extra/quota.yaml:4:40", 3, "the least replicas of LeaderWorkerSet 'chat' need 4", "E929")
    assert of_quota(llmaz("validate").err) == [line.replace(" [E929]", " (in prod) [E929]")]
    assert llmaz("validate", "--env", "dev").code == 0
    own = (
        "  environments: {dev: {}, prod: {config: {passThrough: [prod/*.yaml]}, playgrounds: {chat: {replicas: 4}}}}\n"
    )
    write(folder, {"llmaz.yaml": CONFIG + own, "prod/quota.yaml": quota(GPU, 4)})
    assert llmaz("validate").code == 0


def test_of_a_change_the_quota_of_the_tree_counts(folder: Path, llmaz: Llmaz) -> None:
    repository = Repository(folder)
    assert judged(folder, llmaz, chat=chat(THREE), extra_quota=quota(GPU, 3)) == []
    repository.commit()
    write(folder, {"chat.yaml": chat("  replicas: 4\n")})
    done = llmaz("diff")
    line = exceeded("extra/quota.yaml:4:40", 3, "the least replicas of LeaderWorkerSet 'chat' need 4", "E929")
    assert (done.code, of_quota(done.err)) == (2, [line])
    write(folder, {"extra/quota.yaml": quota(GPU, 4)})
    done = llmaz("diff")
    assert (done.code, of_quota(done.err)) == (0, [])


@pytest.mark.parametrize(
    ("flavor", "key", "most"),
    [("amd", "requests.amd.com/gpu", 3), ("claimed", "gpu.nvidia.com.deviceclass.resource.k8s.io/devices", 6)],
)
def test_other_vendors_and_devices(flavor: str, key: str, most: int, folder: Path, llmaz: Llmaz) -> None:
    output = judged(folder, llmaz, chat=chat(THREE, flavor), extra_quota=quota(key, most - 1))
    who = f"the least replicas of LeaderWorkerSet 'chat' need {most}"
    assert output == [exceeded(f"extra/quota.yaml:4:{17 + len(key)}", most - 1, who, "E929", key)]
    assert judged(folder, llmaz, extra_quota=quota(key, most)) == []
    assert judged(folder, llmaz, extra_quota=quota(GPU, 0)) == []


def test_pods_written_by_hand_count(folder: Path, llmaz: Llmaz) -> None:
    """3 and 2 × 2, in the namespace of the quota alone; an autoscaler written by hand scales what is rendered."""
    web = deployment("web", 2, "{limits: {nvidia.com/gpu: 2}}")
    other = web.replace("namespace: llm", "namespace: other")
    both = "the least replicas of LeaderWorkerSet 'chat' and Deployment 'web' need 7"
    output = judged(folder, llmaz, chat=chat(THREE), extra_quota=quota(GPU, 6), extra_web=f"{web}---\n{other}")
    assert output == [exceeded("extra/quota.yaml:4:40", 6, both, "E929")]
    assert judged(folder, llmaz, extra_quota=quota(GPU, 7)) == []


@pytest.mark.parametrize("replicas", [".inf", "-1", "two", "[]"])
def test_what_no_server_takes_does_not_count(replicas: str, folder: Path, llmaz: Llmaz) -> None:
    web = deployment("web", 2, "{limits: {nvidia.com/gpu: 2}}").replace("replicas: 2", f"replicas: {replicas}")
    assert judged(folder, llmaz, chat=chat(THREE), extra_quota=quota(GPU, 3), extra_web=web) == []


@pytest.mark.parametrize("beside", ["", "web.yaml"])
def test_a_quota_that_is_not_passed_through(beside: str, folder: Path, llmaz: Llmaz) -> None:
    """Nobody says what is applied with it: a warning at most, and nothing where it may be of another cluster."""
    who = "the least replicas of LeaderWorkerSet 'chat' need 3"
    if beside:
        write(folder, {beside: deployment("web", 2, "{limits: {nvidia.com/gpu: 1}}")})
        who = "the least replicas of LeaderWorkerSet 'chat' and Deployment 'web' need 5"
    output = [exceeded("quota.yaml:4:40", 2, who, "W930")]
    assert judged(folder, llmaz, chat=chat(THREE), quota=quota(GPU, 2)) == output
    write(folder, {"other/quota.yaml": quota(GPU, 9)})
    assert of_quota(llmaz("validate").err) == []
    (folder / "other/quota.yaml").unlink()
    write(folder, {"llmaz.yaml": f"{CONFIG}  environments: {{dev: {{}}}}\n"})
    assert of_quota(llmaz("validate").err) == []


@pytest.mark.parametrize(
    ("environment", "hard", "who"),
    [
        # By hand, of tests/fleet/every-kind without devices and parts: adapted, any, both, elastic, sleeping, hosts,
        # decode and prefill: 1 + 2 + 4 + 1 + 0 + 32 + 2 + 1, at the most 3 more each of two, and 2 + 16 in a rollout;
        # in staging 1 + 2 + 4 + 1 + 1, 1 and 2 more, and 2.
        ("prod", 42, "the least replicas of 8 need 43 [E929]"),
        ("prod", 43, "the most replicas of 9 need 49 [W930]"),
        ("prod", 48, "the most replicas of 9 need 49 [W930]"),
        ("prod", 49, "in a rollout the most replicas of 9 need 67 [W930]"),
        ("prod", 66, "in a rollout the most replicas of 9 need 67 [W930]"),
        ("prod", 67, ""),
        ("staging", 8, "the least replicas of 6 need 9 [E929]"),
        ("staging", 11, "the most replicas of 6 need 12 [W930]"),
        ("staging", 13, "in a rollout the most replicas of 6 need 14 [W930]"),
        ("staging", 14, ""),
    ],
)
def test_every_kind_of_workload(environment: str, hard: int, who: str, folder: Path, llmaz: Llmaz) -> None:
    """The counts are those of `llmaz fleet`, and with surge those of node pools."""
    shutil.copytree(EVERY_KIND, folder, dirs_exist_ok=True)
    config = (folder / "llmaz.yaml").read_text()
    beside = "gpu.nvidia.com.deviceclass.resource.k8s.io/devices: 2, requests.nvidia.com/mig-3g.40gb: 1, "
    quotas = {"llmaz.yaml": config.replace("spec:\n", "spec:\n  passThrough: [extra/*.yaml]\n", 1)}
    write(folder, quotas | {"extra/quota.yaml": quota(f"{beside}{GPU}", hard)})
    output = of_quota(llmaz("validate", "--env", environment).err)
    figures = [line.partition("in all, and ")[2] for line in output]
    counted = [f"{line.partition(' of ')[0]} of {_number(line)} need{line.rpartition(' need')[2]}" for line in figures]
    assert counted == ([who] if who else [])


def _number(line: str) -> int:
    """How many workloads a message names and counts."""
    more = line.partition(" more")[0].rpartition(" ")[2] if " more" in line else "0"
    return line.count("'") // 2 + int(more)


@pytest.mark.parametrize(
    ("more", "hard", "counts"),
    [
        (", scopes: [NotTerminating]", 3, 4),
        (", scopes: [Terminating]", 3, 4),
        (", scopes: [BestEffort]", 4, 5),
        (", scopes: [NotBestEffort]", 2, 3),
        (", scopes: [CrossNamespacePodAffinity]", 2, 3),
        (", scopes: [PriorityClass]", 2, 3),
        (", scopes: [NotTerminating, BestEffort]", 0, 1),
        (", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [high]}]}", 2, 3),
        (", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: NotIn, values: [high]}]}", 4, 5),
        (", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: DoesNotExist}]}", 4, 5),
        (", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [low]}]}", 0, 0),
    ],
)
def test_scopes(more: str, hard: int, counts: int, folder: Path, llmaz: Llmaz) -> None:
    """Of GPUs, by hand: 1 of a; 3 of b, with cpu, a priority and an affinity to other namespaces; 4 of c."""
    term = "{topologyKey: zone, namespaces: [other], labelSelector: {}}"
    affinity = f"affinity: {{podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}"
    files = {
        "a.yaml": deployment("a", 1, "{limits: {nvidia.com/gpu: 1}}"),
        "b.yaml": deployment("b", 3, "{limits: {nvidia.com/gpu: 1, cpu: 1}}", f", priorityClassName: high, {affinity}"),
        "c.yaml": POD,
        "quota.yaml": quota(GPU, hard, more),
    }
    write(folder, files)
    output = of_quota(llmaz("check", ".").err)
    assert [line.rpartition(" ")[0].rpartition(" ")[2] for line in output] == ([str(counts)] if counts else [])
