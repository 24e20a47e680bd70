"""Replicas of several hosts: what their leader and their workers have in common, and what they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer.plan import Port
from renderer.resolve.workload.host_groups import container_ports, rank_ports
from tests.inputs import CONFIG

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Llmaz

MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: blue-671b}
spec:
  familyName: blue
  source: {modelHub: {modelID: example/Blue-671B, revision: v1.0}}
  facts: {parameters: 671B, activeParameters: 37B}
  inferenceConfig: {flavors: [{name: h100, limits: {nvidia.com/gpu: 8}, nodeSelector: {gpu: h100}}]}
"""
PLAYGROUND = """\
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: blue, namespace: llm}
spec:
  modelClaim: {modelName: blue-671b}
  parallelism: {pipeline: 2}
"""
Pod = dict[str, Any]


def group(folder: Path, llmaz: Llmaz, *, of_model: str = "", of_playground: str = "", config: str = "{}") -> Pod:
    """The `leaderWorkerTemplate` of such a Playground."""
    (folder / "llmaz.yaml").write_text(CONFIG + config, "utf-8")
    (folder / "blue.yaml").write_text(MODEL + of_model + PLAYGROUND + of_playground, "utf-8")
    done = llmaz("render", "--stdout", "blue.yaml")
    assert done.code == 0, done.err
    bodies = [body for body in yaml.safe_load_all(done.out) if body["kind"] == "LeaderWorkerSet"]
    template: Pod = bodies[0]["spec"]["leaderWorkerTemplate"]
    return template


def pods(template: Pod) -> tuple[Pod, Pod]:
    """The pod specs of leader and worker."""
    return template["leaderTemplate"]["spec"], template["workerTemplate"]["spec"]


def test_ports_of_a_pod_without_ranks() -> None:
    assert rank_ports(None, {"RankPorts": 0}, 8080) == ()
    assert container_ports(None, [Port("http", 8080)]) == ()


def test_a_pod_template_is_for_leader_and_workers(folder: Path, llmaz: Llmaz) -> None:
    """But for probes, ports and hooks of the engine, which workers do not have."""
    patch = """\
  podTemplate:
    metadata: {labels: {team: blue}, annotations: {example.com/a: b}}
    spec:
      priorityClassName: high
      terminationGracePeriodSeconds: 300
      volumes: [{name: data, emptyDir: {}}]
      containers:
        - name: model-runner
          env: [{name: LOG_LEVEL, value: debug}]
          startupProbe: {failureThreshold: 9}
          readinessProbe: {periodSeconds: 3}
          livenessProbe: {httpGet: {path: /live, port: http}}
          lifecycle: {preStop: {sleep: {seconds: 60}}}
          volumeMounts: [{name: data, mountPath: /data}]
        - name: side
          image: example.com/side:1
          readinessProbe: {httpGet: {path: /, port: 9000}}
"""
    template = group(folder, llmaz, of_playground=patch)
    for part in ("leaderTemplate", "workerTemplate"):
        metadata = template[part]["metadata"]
        assert (metadata["labels"]["team"], metadata["annotations"]["example.com/a"]) == ("blue", "b")
    leader, worker = pods(template)
    assert leader["priorityClassName"] == worker["priorityClassName"] == "high"
    assert (leader["terminationGracePeriodSeconds"], worker["terminationGracePeriodSeconds"]) == (300, 320)
    assert leader["volumes"] == worker["volumes"]
    assert leader["containers"][1] == worker["containers"][1]
    own, other = leader["containers"][0], worker["containers"][0]
    assert own["env"] == other["env"]
    assert own["volumeMounts"] == other["volumeMounts"]
    answers = {"startupProbe", "readinessProbe", "livenessProbe", "ports"}
    assert answers & own.keys() == answers
    assert answers & other.keys() == set()
    assert own["lifecycle"] == {"preStop": {"sleep": {"seconds": 60}}}
    assert list(other["lifecycle"]["preStop"]) == ["exec"]


def test_probes_of_the_engine_by_others(folder: Path, llmaz: Llmaz) -> None:
    """On a worker they would fail for ever, and each restart ends the group."""
    patch = """\
  podTemplate:
    spec:
      initContainers:
        - name: native
          image: example.com/native:1
          restartPolicy: Always
          livenessProbe: {tcpSocket: {port: 8080}}
      containers:
        - name: side
          image: example.com/side:1
          readinessProbe: {httpGet: {path: /, port: 9000}}
          livenessProbe: {httpGet: {path: /health, port: 8080}}
"""
    leader, worker = pods(group(folder, llmaz, of_playground=patch))
    for field, position, readiness in (("containers", 1, {"readinessProbe"}), ("initContainers", -1, set[str]())):
        own, other = leader[field][position], worker[field][position]
        assert own["name"] == other["name"] in ("side", "native")
        probes = {"readinessProbe", "livenessProbe"}
        assert probes & own.keys() == readiness | {"livenessProbe"}
        assert probes & other.keys() == readiness


def test_a_worker_has_no_api_servers(folder: Path, llmaz: Llmaz) -> None:
    """vLLM refuses any number of them beside --headless."""
    args = '  backendRuntimeConfig: {args: [--api-server-count, "1", --max-num-seqs, "64"]}\n'
    leader, worker = pods(group(folder, llmaz, of_playground=args))
    assert "--api-server-count" in leader["containers"][0]["args"]
    assert "--api-server-count" not in worker["containers"][0]["args"]
    assert worker["containers"][0]["args"][-3:] == ["--max-num-seqs", "64", "--headless"]


@pytest.mark.parametrize("cache", ["{pvc: {size: 800Gi}}", "{hostPath: {path: /var/weights}}"])
def test_every_host_mounts_the_cache(cache: str, folder: Path, llmaz: Llmaz) -> None:
    leader, worker = pods(group(folder, llmaz, of_model=f"  modelCache: {cache}\n"))
    assert leader["initContainers"] == worker["initContainers"]
    assert leader["volumes"] == worker["volumes"]
    assert leader["containers"][0]["volumeMounts"] == worker["containers"][0]["volumeMounts"]


def test_a_claim_of_each_pod(folder: Path, llmaz: Llmaz) -> None:
    template = group(folder, llmaz, of_model="  modelCache: {perPod: {size: 800Gi, storageClassName: fast}}\n")
    (claim,) = template["volumeClaimTemplates"]
    for pod in pods(template):
        assert claim["metadata"]["name"] in [mount["name"] for mount in pod["containers"][0]["volumeMounts"]]
        assert claim["metadata"]["name"] not in [volume["name"] for volume in pod["volumes"]]


def test_restricted(folder: Path, llmaz: Llmaz) -> None:
    leader, worker = pods(group(folder, llmaz, of_playground="  hardening: restricted\n"))
    assert leader["securityContext"] == worker["securityContext"]
    assert leader["containers"][0]["securityContext"] == worker["containers"][0]["securityContext"]
    assert leader["containers"][0]["volumeMounts"] == worker["containers"][0]["volumeMounts"]
    assert leader["nodeSelector"] == worker["nodeSelector"] == {"gpu": "h100"}


def test_an_environment_has_sizes_of_its_own(folder: Path, llmaz: Llmaz) -> None:
    """Key by key over those of the Playground; null takes all of them away."""
    overlays = """\
  environments:
    prod: {playgrounds: {blue: {parallelism: {pipeline: 4}}}}
    dev: {playgrounds: {blue: {parallelism: null}}}
"""
    (folder / "llmaz.yaml").write_text(CONFIG.rstrip(" ") + "\n" + overlays, "utf-8")
    (folder / "blue.yaml").write_text(MODEL + PLAYGROUND, "utf-8")
    sizes = {}
    for name in ("prod", "dev"):
        done = llmaz("render", "--stdout", "--env", name, "blue.yaml")
        assert done.code == 0, done.err
        bodies = [body for body in yaml.safe_load_all(done.out) if body["kind"] == "LeaderWorkerSet"]
        sizes[name] = bodies[0]["spec"]["leaderWorkerTemplate"]["size"]
    assert sizes == {"prod": 4, "dev": 1}
