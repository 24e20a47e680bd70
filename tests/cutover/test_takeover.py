"""Steps from workloads of others to what `llmaz adopt` wrote for them, and how `diff --live` pairs these."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import Llmaz

POD = """\
metadata: {labels: {app: chat}}
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.24.0
          args: [Qwen/Qwen3-8B, --port=8000]
          ports: [{containerPort: 8000, name: http}]
          resources: {limits: {nvidia.com/gpu: 2}}
"""
DEPLOYMENT = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: chat, namespace: llm}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: chat}}}}
  template:
    {POD}"""
STATEFUL = DEPLOYMENT.replace("Deployment", "StatefulSet").replace("replicas: 2", "replicas: 2\n  serviceName: chat")
SERVICE = """\
---
apiVersion: v1
kind: Service
metadata: {name: chat, namespace: llm}
spec:
  selector: {app: chat}
  ports: [{name: metrics, port: 9000, targetPort: 9000}, {name: http, port: 80, targetPort: 8000}]
"""
BESIDE = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: chat, namespace: llm}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: chat}
  minReplicas: 1
  maxReplicas: 4
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: guard, namespace: llm}
spec: {podSelector: {matchLabels: {app: chat}}, policyTypes: [Ingress]}
"""


def steps(dump: str, llmaz: Llmaz, *words: str, adopt: tuple[str, ...] = ()) -> str:
    """What `cutover` prints for a dump and what was adopted of it."""
    Path("run.yaml").write_text(dump)
    done = llmaz("adopt", "run.yaml", "-o", "input", *adopt)
    assert done.code in (0, 1), done.err
    planned = llmaz("cutover", "run.yaml", *words, "--", "input")
    assert planned.code == 0, planned.err
    return planned.out


def commands(text: str) -> list[list[str]]:
    """The words of each command."""
    return [shlex.split(line) for line in text.splitlines() if not line.startswith("#")]


def test_a_deployment_by_another_name(folder: Path, llmaz: Llmaz) -> None:
    text = steps(DEPLOYMENT + SERVICE + BESIDE, llmaz)
    assert re.findall(r"^# (\d)\. (.*)$", text, re.MULTILINE) == [
        ("1", "Apply what is rendered beside what runs"),
        ("2", "Wait until the new pods are ready"),
        ("3", "Move the Services of clients"),
        ("4", "Check, then delete what ran before"),
    ]
    assert "# Deployment llm/chat → Deployment llm/chat-llmaz: 2 pods with 4 nvidia.com/gpu more until step 4." in text
    assert "# NetworkPolicy llm/guard is about the old pods alone" in text
    words = commands(text)
    assert words[2] == ["kubectl", "rollout", "status", "deployments.apps/chat-llmaz", "-n", "llm", "--timeout=1h"]
    (move,) = [line for line in words if line[:2] == ["kubectl", "patch"]]
    assert json.loads(move[-1])[0]["value"]["app.kubernetes.io/name"] == "chat-llmaz"
    assert json.loads(move[-1])[1]["path"] == "/spec/ports/1/targetPort"  # that of the same port, wherever it stands
    (back,) = [line[len("# Back: ") :] for line in text.splitlines() if line.startswith("# Back: ")]
    assert json.loads(shlex.split(back)[-1]) == [
        {"op": "replace", "path": "/spec/selector", "value": {"app": "chat"}},
        {"op": "add", "path": "/spec/ports/1/targetPort", "value": 8000},
    ]
    deleted = [line[2:4] for line in words if line[:2] == ["kubectl", "delete"]]
    assert deleted == [["horizontalpodautoscalers.autoscaling", "chat"], ["deployments.apps", "chat"]]
    assert text.index("kubectl patch") < text.index("kubectl delete")


def test_a_deployment_that_keeps_its_name(folder: Path, llmaz: Llmaz) -> None:
    text = steps(DEPLOYMENT + SERVICE, llmaz, adopt=("--as", "same"))
    answer = "1 pod with 2 nvidia.com/gpu more during the rollout, 2 of 2 replicas answering."
    assert f"# Deployment llm/chat keeps its name: {answer}" in text
    assert [line[:3] for line in commands(text)][-1] == ["kubectl", "rollout", "status"]
    assert "kubectl delete" not in text
    assert "kubectl patch" not in text


def test_an_outage_is_told(folder: Path, llmaz: Llmaz) -> None:
    dump = DEPLOYMENT.replace("replicas: 2", "replicas: 1\n  strategy: {type: Recreate}") + SERVICE
    text = steps(dump, llmaz, adopt=("--as", "same"))
    assert "0 of 1 replica answering" in text
    assert "# AN OUTAGE: write workload.rollout: {maxSurge: 1, maxUnavailable: 0}" in text.replace("#   AN", "# AN")


def test_a_statefulset_and_flux(folder: Path, llmaz: Llmaz) -> None:
    text = steps(STATEFUL + SERVICE, llmaz, "--gitops", "flux")
    assert "# StatefulSet llm/chat → LeaderWorkerSet llm/chat-llmaz: 2 pods with 4 nvidia.com/gpu more" in text
    wait = ["kubectl", "wait", "leaderworkersets.leaderworkerset.x-k8s.io", "chat-llmaz", "-n", "llm"]
    assert [*wait, "--for=condition=Available", "--timeout=1h"] in commands(text)
    assert ["kubectl", "delete", "statefulsets.apps", "chat", "-n", "llm"] in commands(text)


def test_a_workload_without_a_service(folder: Path, llmaz: Llmaz) -> None:
    """Its new name says whose place it takes."""
    text = steps(DEPLOYMENT, llmaz)
    assert "# No Service of clients is among the files: let it select the new pods." in text
    assert ["kubectl", "delete", "deployments.apps", "chat", "-n", "llm"] in commands(text)


def test_what_another_controller_makes_is_not_deleted(folder: Path, llmaz: Llmaz) -> None:
    owner = "ownerReferences: [{apiVersion: serving.kserve.io/v1beta1, kind: InferenceService, name: chat, uid: u}]"
    dump = DEPLOYMENT.replace("namespace: llm}", f"namespace: llm, {owner}}}", 1) + SERVICE
    Path("run.yaml").write_text(DEPLOYMENT + SERVICE)
    assert llmaz("adopt", "run.yaml", "-o", "input").code == 0
    Path("run.yaml").write_text(dump)
    text = llmaz("cutover", "run.yaml", "--", "input").out
    assert "# Deployment llm/chat is made by InferenceService chat, which makes it anew: delete that instead." in text
    assert "kubectl delete" not in text


def test_machines(folder: Path, llmaz: Llmaz) -> None:
    record = json.loads(steps(DEPLOYMENT + SERVICE, llmaz, "--format", "json"))
    assert record["moves"] == [
        {
            "namespace": "llm",
            "kind": "Deployment",
            "name": "chat",
            "newKind": "Deployment",
            "newName": "chat-llmaz",
            "services": ["chat"],
        }
    ]
    assert [step["title"] for step in record["steps"]][2] == "Move the Services of clients"


def test_nothing_of_the_tree_is_in_the_dump(folder: Path, llmaz: Llmaz) -> None:
    Path("run.yaml").write_text(DEPLOYMENT + SERVICE)
    assert llmaz("adopt", "run.yaml", "-o", "input").code == 0
    Path("run.yaml").write_text(DEPLOYMENT.replace("chat", "other"))
    done = llmaz("cutover", "run.yaml", "--", "input")
    assert (done.code, done.out) == (2, "")
    assert "[E981]" in done.err


def test_live_differences_pair_what_has_another_name(folder: Path, llmaz: Llmaz) -> None:
    """As `adopt` compares them: nothing is lost."""
    Path("run.yaml").write_text(DEPLOYMENT + SERVICE)
    adopted = llmaz("adopt", "run.yaml", "-o", "input")
    live = llmaz("diff", "--live", "run.yaml", "--", "input")
    assert "Deployment llm/chat → Deployment llm/chat-llmaz" in live.out
    (summary,) = re.findall(r"^\d+ objects compared: .*$", live.out, re.MULTILINE)
    assert summary in adopted.out
    assert ": 0 lost" in summary


MADE = "ownerReferences: [{apiVersion: serving.kserve.io/v1alpha2, kind: LLMInferenceService, name: chat, uid: u}]"
INFERENCE = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: chat, namespace: llm}
spec:
  model: {uri: "hf://Qwen/Qwen3-8B", name: qwen3-8b}
  template: {containers: [{name: main, image: "vllm/vllm-openai:v0.24.0", resources: {limits: {nvidia.com/gpu: 1}}}]}
---
"""


def made(body: str) -> str:
    """An object as KServe's controller makes it."""
    return body.replace("name: chat, namespace: llm}", f"name: chat-kserve, namespace: llm, {MADE}}}")


def test_a_service_that_another_controller_makes_does_not_move(folder: Path, llmaz: Llmaz) -> None:
    """It would get its selector back, and goes away with what makes it; one of the user's own moves."""
    own = SERVICE.replace("name: chat,", "name: clients,")
    text = steps(made(DEPLOYMENT) + made(SERVICE) + own, llmaz)
    patched = [words[3] for words in commands(text) if words[:2] == ["kubectl", "patch"]]
    assert patched == ["clients"]
    assert (
        "# Service llm/chat-kserve is made by LLMInferenceService chat, and goes away with it: let its clients ask "
        "chat-kserve-llmaz-lb before step 4." in text
    )
    assert not list(Path("input", "later").glob("*chat*"))


def test_what_kserve_makes_for_what_was_adopted(folder: Path, llmaz: Llmaz) -> None:
    """The Deployment of a dump is known by its owner, and Services that lead to it are named."""
    Path("service.yaml").write_text(INFERENCE)
    assert llmaz("adopt", "service.yaml", "-o", "input").code == 0
    own = SERVICE.replace("name: chat,", "name: clients,")
    Path("run.yaml").write_text(INFERENCE + made(DEPLOYMENT) + made(SERVICE) + own)
    text = llmaz("cutover", "run.yaml", "--", "input").out
    assert "# Deployment llm/chat-kserve → LeaderWorkerSet llm/chat: 2 pods with 2 nvidia.com/gpu more" in text
    assert "# Service llm/chat-kserve is made by LLMInferenceService chat" in text
    assert "# Service llm/clients leads to the old pods alone: let it select what chat-lb selects." in text


def test_what_a_controller_makes_cannot_keep_its_name(folder: Path, llmaz: Llmaz) -> None:
    Path("run.yaml").write_text(made(DEPLOYMENT))
    done = llmaz("adopt", "run.yaml", "-o", "input", "--as", "same")
    assert (done.code, "LLMInferenceService chat makes it, and gives its fields their values back" in done.err) == (
        2,
        True,
    )
