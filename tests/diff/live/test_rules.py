"""Each rule has an example: a field of theirs or ours, and the rule that explains it, or does not."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from renderer.diff.fields import ABSENT
from renderer.diff.live import comparison, rules
from renderer.diff.live.differing_field import DifferingField
from renderer.diff.live.records import ADDS, EQUAL, IMMUTABLE, LOST, UNEXPLAINED, Difference
from renderer.diff.live.rules import RULES, LiveRule
from renderer.kubernetes import wellknown
from tests.diff.live.dumps import Body, read, report_of
from tests.paths import ROOT, TESTS

THEIRS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: vllm-llama3-deployment}
spec:
  selector: {matchLabels: {app: llama3-server}}
  template:
    metadata:
      labels: {app: llama3-server, ai.gke.io/model: llama3-3-1b-it}
    spec:
      containers:
        - name: server
          image: docker.io/vllm/vllm-openai:v0.8.5
          command: [python3, -m, vllm.entrypoints.openai.api_server]
          args: [--model=$(NAME), --tensor-parallel-size, "1", --port=8000, --max_model_len, "32768"]
          env:
            - {name: NAME, value: meta-llama/Llama-3.1-8B-Instruct}
            - {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hf-token-secret, key: token}}}
          ports: [{containerPort: 8000}]
          volumeMounts: [{name: shm, mountPath: /dev/shm}]
          resources: {limits: {cpu: "2", memory: 10240Mi, nvidia.com/gpu: 1}}
      volumes: [{name: shm, emptyDir: {medium: Memory}}]
---
apiVersion: v1
kind: Service
metadata: {name: vllm-llama3-service, labels: {helm.sh/chart: vllm-1}}
spec:
  selector: {app: llama3-server}
  ports: [{port: 8000, targetPort: 8000}]
"""
OF_KUBERNETES = re.compile("kubelet|API server|HPA controller|LeaderWorkerSet's controller|Endpoints|The scheduler")
MODEL = "meta-llama/Llama-3.1-8B-Instruct"
Change = Callable[[list[Body], list[Body]], object]


def theirs_and_ours() -> tuple[list[Body], list[Body]]:
    ours = read((TESTS / "adopted" / "gke-adk" / "expected").rglob("*.yaml"))
    return list(yaml.safe_load_all(THEIRS)), [body for body in ours if body["kind"] in ("Deployment", "Service")]


def runner(bodies: list[Body]) -> Body:
    container: Body = bodies[0]["spec"]["template"]["spec"]["containers"][0]
    return container


def differences_of(change: Change) -> dict[str, Difference]:
    """All differences by their paths, without what stands before the container."""
    theirs, ours = theirs_and_ours()
    change(theirs, ours)
    container = "spec.template.spec.containers[model-runner]."
    differences = reversed([*report_of(theirs, ours).differences()])  # the Service's stand behind
    return {difference.path.removeprefix(container): difference for difference in differences}


def nothing(theirs: list[Body], ours: list[Body]) -> None:
    """The two as they are."""


BASE = differences_of(nothing)


@pytest.mark.parametrize(
    ("path", "kind", "rule"),
    [
        ("name", EQUAL, "container-name"),
        ("image", EQUAL, "image-name"),
        ("command", EQUAL, "start"),
        ("args: --model", EQUAL, "weights"),
        ("args: --port", EQUAL, "port"),
        ("args: --tensor-parallel-size", EQUAL, "size-of-one"),
        ("args: --served-model-name", ADDS, "served-name"),
        ("args: --host", ADDS, "preset-option"),
        ("ports[http].containerPort", EQUAL, "port"),
        ("ports[http].name", ADDS, "named-port"),
        ("env[NAME].value", EQUAL, "argument-variable"),
        ("env[HF_TOKEN]", EQUAL, "hub-token"),
        ("resources.requests", EQUAL, "request-of-limit"),
        ("volumeMounts[/dev/shm].name", EQUAL, "volume-name"),
        ("startupProbe", ADDS, "probes"),
        ("lifecycle.preStop.sleep.seconds", ADDS, "drain"),
        ("securityContext.allowPrivilegeEscalation", ADDS, "hardening"),
        ("spec.template.spec.volumes[dshm].emptyDir.sizeLimit", ADDS, "shared-memory"),
        ("spec.template.spec.initContainers[model-loader]", ADDS, "loader"),
        ("spec.template.spec.nodeSelector[cloud.google.com/gke-accelerator]", ADDS, "nodes"),
        ("spec.template.spec.tolerations[NoSchedule nvidia.com/gpu Exists]", ADDS, "tolerations"),
        ("spec.template.metadata.labels[llmaz.io/model-name]", ADDS, "model-labels"),
        ("spec.template.metadata.labels[app.kubernetes.io/name]", ADDS, "labels"),
        ("spec.strategy.rollingUpdate.maxSurge", ADDS, "fewer-pods"),
        ("spec.progressDeadlineSeconds", ADDS, "rollout"),
        ("spec.selector.matchLabels", IMMUTABLE, "immutable-field"),
        ("spec.selector", EQUAL, "selector"),
        ("spec.ports[8000].targetPort", EQUAL, "port"),
        ("metadata.labels[helm.sh/chart]", EQUAL, "tool"),
        # What of ours a rule does not know is unexplained: theirs has no templates, and no such options.
        ("args: --chat-template", UNEXPLAINED, ""),
        ("spec.template.spec.volumes[chat-templates]", UNEXPLAINED, ""),
    ],
)
def test_a_deployment_of_somebody_else(path: str, kind: str, rule: str) -> None:
    assert (BASE[path].kind, BASE[path].rule) == (kind, rule)


def test_the_option_with_an_underscore_is_the_same() -> None:
    assert "args: --max-model-len" not in BASE


def set_args(*args: str) -> Change:
    def change(theirs: list[Body], ours: list[Body]) -> None:
        runner(theirs)["args"] += args

    return change


def edit(side: str, path: tuple[Any, ...], value: object) -> Change:
    """Sets a field of the engine's container."""

    def change(theirs: list[Body], ours: list[Body]) -> None:
        body: Any = runner(theirs if side == "theirs" else ours)
        for part in path[:-1]:
            body = body[part]
        body[path[-1]] = value

    return change


def give_both(theirs_arg: str, ours_arg: str) -> Change:
    def change(theirs: list[Body], ours: list[Body]) -> None:
        runner(theirs)["args"].append(theirs_arg)
        runner(ours)["args"].append(ours_arg)

    return change


CONFIG = "--compilation-config="


@pytest.mark.parametrize(
    ("change", "path", "kind", "rule"),
    [
        (give_both(CONFIG + '{"a": 1, "b": 2}', CONFIG + '{"b":2,"a":1}'), "args: --compilation-config", EQUAL, "json"),
        (give_both(CONFIG + '{"a": 1}', CONFIG + '{"a": 2}'), "args: --compilation-config", UNEXPLAINED, ""),
        (set_args("--max-model-len", "8"), "args: --max-model-len", UNEXPLAINED, ""),
        (set_args("--max-model-len", "8", "--max-model-len=32768"), "args: --max-model-len", EQUAL, "last-option"),
        (set_args("--enforce-eager"), "args: --enforce-eager", LOST, ""),
        (set_args("--hf-repo", MODEL), "args: --hf-repo", EQUAL, "loaded-model"),
        (set_args("--hf-repo", "org/other"), "args: --hf-repo", LOST, ""),
        (
            edit("theirs", ("livenessProbe",), {"httpGet": {"path": "/health", "port": 8000}}),
            "livenessProbe.failureThreshold",
            ADDS,
            "preset-probe",
        ),
        (
            edit("theirs", ("livenessProbe",), {"httpGet": {"path": "/health", "port": 8000}, "failureThreshold": 9}),
            "livenessProbe.failureThreshold",
            UNEXPLAINED,
            "",
        ),
        (set_args("--revision", "main"), "args: --revision", EQUAL, "revision"),
        (set_args("--revision", "v2"), "args: --revision", LOST, ""),
        (set_args("--revision", "v2"), "args: --model", UNEXPLAINED, ""),
        (set_args("--tensor-parallel-size=2"), "args: --tensor-parallel-size", LOST, ""),
        (
            lambda theirs, ours: (
                runner(ours)["args"].extend(["--tensor-parallel-size", "1"]) or runner(theirs)["args"].pop(1)
            ),
            "args: --port",
            EQUAL,
            "port",
        ),
        (edit("ours", ("ports", 0, "containerPort"), 9000), "ports[http].containerPort", UNEXPLAINED, ""),
        (edit("ours", ("ports", 0, "name"), "web"), "ports[http].name", ADDS, "named-port"),
        (edit("theirs", ("image",), "quay.io/vllm/vllm-openai:v0.8.5"), "image", UNEXPLAINED, ""),
        (edit("theirs", ("args",), [f"--model={MODEL}-other"]), "args: --model", UNEXPLAINED, ""),
        (edit("theirs", ("args",), [f"--model={MODEL}"]), "args: --port", EQUAL, "default-port"),
        (
            edit("theirs", ("args",), ["--model", MODEL, "--served-model-name", "x"]),
            "args: --served-model-name",
            UNEXPLAINED,
            "",
        ),
        (edit("theirs", ("readinessProbe",), {"tcpSocket": {"port": 8000}}), "readinessProbe.tcpSocket.port", LOST, ""),
        (
            edit("theirs", ("readinessProbe",), {"httpGet": {"path": "/health", "port": 8000}}),
            "readinessProbe.httpGet.port",
            EQUAL,
            "port",
        ),
        (
            edit("theirs", ("readinessProbe",), {"httpGet": {"path": "/health", "port": 8001}}),
            "readinessProbe.httpGet.port",
            UNEXPLAINED,
            "",
        ),
        (
            edit("theirs", ("securityContext",), {"capabilities": {"add": ["A", "B"]}}),
            "securityContext.capabilities.add",
            LOST,
            "",
        ),
    ],
)
def test_an_option_or_field(change: Change, path: str, kind: str, rule: str) -> None:
    difference = differences_of(change)[path]
    assert (difference.kind, difference.rule) == (kind, rule)


def test_the_order_of_capabilities_means_nothing() -> None:
    def change(theirs: list[Body], ours: list[Body]) -> None:
        for side, names in ((theirs, ["A", "B"]), (ours, ["B", "A"])):
            runner(side)["securityContext"] = {"capabilities": {"add": names}}

    assert differences_of(change)["securityContext.capabilities.add"].rule == "order"


def test_a_script_of_one_command_is_that_command() -> None:
    line = f"exec vllm serve {MODEL} --max-model-len 32768 --port 8000"
    differences = differences_of(lambda theirs, ours: runner(theirs).update(command=["/bin/sh", "-c", line], args=[]))
    assert differences["args: --model"].rule == "weights"
    assert differences["command"].rule == "start"
    assert "args: --max-model-len" not in differences


@pytest.mark.parametrize(
    "script", ["sleep 1; vllm serve x", "vllm serve x && true", "A=b vllm serve x", "vllm serve $X"]
)
def test_any_other_script_is_compared_as_it_is(script: str) -> None:
    differences = differences_of(lambda theirs, ours: runner(theirs).update(command=["sh", "-c", script], args=[]))
    assert differences["command"].kind == UNEXPLAINED


def test_weights_of_a_claim_are_found_at_another_path() -> None:
    def change(theirs: list[Body], ours: list[Body]) -> None:
        for side, path in ((theirs, "/models"), (ours, "/workspace/models/")):
            pod = side[0]["spec"]["template"]["spec"]
            pod["volumes"] = [{"name": "w", "persistentVolumeClaim": {"claimName": "weights"}}]
            runner(side)["volumeMounts"] = [{"name": "w", "mountPath": path}]
        runner(theirs)["args"][0] = "--model=/models/llama"
        runner(ours)["args"][0] = "/workspace/models/llama"

    assert differences_of(change)["args: --model"].rule == "weights"


def test_a_group_takes_the_place_of_a_deployment() -> None:
    def change(theirs: list[Body], ours: list[Body]) -> None:
        template = ours[0]["spec"].pop("template")
        ours[0] |= {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet"}
        group = {"size": 1, "workerTemplate": template}
        ours[0]["spec"] = {"replicas": 1, "startupPolicy": "LeaderReady", "leaderWorkerTemplate": group}

    differences = differences_of(change)
    assert differences["spec.startupPolicy"].rule == "workload-kind"
    assert differences["spec.rolloutStrategy.rollingUpdateConfiguration.maxUnavailable"].rule == "fewer-pods"
    assert differences["spec.selector.matchLabels.app"].rule == "other-kind"
    assert differences["image"].rule == "image-name"


@pytest.mark.parametrize(
    ("replicas", "strategy", "rules"),
    [
        (1, {}, {"fewer-pods"}),
        (3, {}, {"fewer-pods"}),
        (4, {}, {"rollout"}),  # 25 % of theirs are one, too
        (3, {"type": "Recreate"}, set()),
        (3, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}, set()),
        (3, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%"}}, {"fewer-pods", ""}),
        (3, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "many"}}, {"fewer-pods", ""}),
    ],
)
def test_a_rollout_with_fewer_pods(replicas: int, strategy: Body, rules: set[str]) -> None:
    def change(theirs: list[Body], ours: list[Body]) -> None:
        theirs[0]["spec"] |= {"replicas": replicas, **({"strategy": strategy} if strategy else {})}
        ours[0]["spec"]["replicas"] = replicas

    bounds = ("maxSurge", "maxUnavailable")
    assert {difference.rule for path, difference in differences_of(change).items() if path.endswith(bounds)} == rules


def test_a_rollout_that_starts_pods_first_has_as_many() -> None:
    def change(theirs: list[Body], ours: list[Body]) -> None:
        ours[0]["spec"]["strategy"]["rollingUpdate"] = {"maxSurge": 1, "maxUnavailable": 0}

    assert "fewer-pods" not in {difference.rule for difference in differences_of(change).values()}


def hpa(kind: str, version: str = "apps/v1") -> Body:
    target = {"apiVersion": version, "kind": kind, "name": "vllm-llama3-deployment"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target}
    metadata = {"name": "vllm-llama3-deployment", "namespace": "default"}
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": metadata, "spec": spec}


def test_an_autoscaler_and_the_replicas_that_it_sets() -> None:
    def change(theirs: list[Body], ours: list[Body]) -> None:
        theirs.append(hpa("Deployment"))
        ours.append(hpa("Deployment"))
        theirs[0]["spec"]["replicas"] = 3
        del ours[0]["spec"]["replicas"]

    assert differences_of(change)["spec.replicas"].rule == "scaled-replicas"


def test_an_autoscaler_follows_its_target() -> None:
    def change(theirs: list[Body], ours: list[Body]) -> None:
        theirs[0]["kind"] = "StatefulSet"
        theirs.append(hpa("StatefulSet"))
        ours.append(hpa("Deployment"))

    assert differences_of(change)["spec.scaleTargetRef.kind"].rule == "autoscaler-of-counterpart"


def test_labels_of_an_app_and_sizes_of_accelerators() -> None:
    def change(theirs: list[Body], ours: list[Body]) -> None:
        theirs[0]["metadata"]["labels"] = {"app.kubernetes.io/name": "llama"}
        runner(theirs)["args"].remove("--tensor-parallel-size")
        runner(theirs)["args"].remove("1")
        runner(ours)["args"] += ["--tensor-parallel-size", "4", "--lora-modules", f"a={LOADED}"]
        runner(ours)["resources"]["limits"]["nvidia.com/gpu"] = "4"
        runner(ours)["env"] = [{"name": "VLLM_CPU_KVCACHE_SPACE", "value": "4"}]
        runner(ours)["resources"]["requests"] = {"cpu": "4"}
        del runner(theirs)["resources"]["limits"]["cpu"]

    differences = differences_of(change)
    assert differences["metadata.labels[app.kubernetes.io/name]"].rule == "own-label"
    assert differences["args: --tensor-parallel-size"].rule == "parallel-size"
    assert differences["args: --lora-modules"].rule == "loaded-files"
    assert differences["env[VLLM_CPU_KVCACHE_SPACE].value"].rule == "preset-variable"
    assert differences["resources.requests.cpu"].rule == "preset-request"


LOADED = "/workspace/models/models--meta-llama--Llama-3.1-8B-Instruct"


def test_nothing_is_changed_by_a_comparison() -> None:
    theirs, ours = theirs_and_ours()
    before = copy.deepcopy((theirs, ours))
    report_of(theirs, ours)
    assert (theirs, ours) == before


@pytest.mark.parametrize(("storage", "kinds"), [("10Gi", {EQUAL}), ("20Gi", {EQUAL, LOST})])
def test_claims_of_each_pod(storage: str, kinds: set[str]) -> None:
    """What a claim of a StatefulSet has is in that of the LeaderWorkerSet, or is lost."""

    def claims(size: str) -> list[Body]:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
        return [{"metadata": {"name": "scratch"}, "spec": spec}]

    template = {"spec": {"containers": [{"name": "model-runner", "image": "vllm/vllm-openai:v0.24.0"}]}}
    metadata = {"name": "chat"}
    selector = {"matchLabels": {"app": "chat"}}
    theirs: Body = {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata}
    theirs["spec"] = {"selector": selector, "template": template, "volumeClaimTemplates": claims(storage)}
    ours: Body = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata}
    ours["spec"] = {"leaderWorkerTemplate": {"workerTemplate": template, "volumeClaimTemplates": claims("10Gi")}}
    differences = [item for item in report_of([theirs], [ours]).differences() if "volumeClaimTemplates" in item.path]
    assert {item.kind for item in differences if item.ours is ABSENT} == kinds
    assert {item.rule for item in differences if item.kind == EQUAL} == {"claim-template"}


def test_rules_say_what_they_are() -> None:
    for name, rule in RULES.items():
        assert rule.name == name
        assert rule.effect in (EQUAL, ADDS, IMMUTABLE)
        assert rule.sentence.endswith(".")
        assert rule.deviation in range(15)


def test_the_page_lists_them() -> None:
    text = (ROOT / "docs" / "live.md").read_text("utf-8")
    table = text.partition("<!-- live rules -->\n")[2].partition("<!-- /live rules -->")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]
    assert rows == [
        [f"`{rule.name}`", rule.effect, str(rule.deviation or ""), rule.sentence] for rule in RULES.values()
    ]


def test_the_page_says_why_values_are_equal() -> None:
    """For each rule that calls values equal, what the program that reads them makes of both."""
    assert {name for name, rule in RULES.items() if rule.ground} == {
        name for name, rule in RULES.items() if rule.effect == EQUAL
    }
    text = (ROOT / "docs" / "live.md").read_text("utf-8")
    table = text.partition("<!-- live grounds -->\n")[2].partition("<!-- /live grounds -->")[0]
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]
    assert rows == [[f"`{rule.name}`", rule.ground] for rule in RULES.values() if rule.ground]


@pytest.mark.parametrize("name", [name for name, rule in RULES.items() if OF_KUBERNETES.match(rule.ground)])
def test_a_ground_in_kubernetes_names_its_source(name: str) -> None:
    """The file, and the function in it, but where the ground is that nothing reads a value."""
    assert (".go" in RULES[name].ground) is (name not in ("tool", "own-label"))


def test_what_is_known_of_one_workload_holds_of_those_alike_but_for_names() -> None:
    """Each is compared as if it were the only one: its command line, too, where a word of it is a name."""

    def workload(name: str, image: str, *command: str) -> Body:
        container = {"name": "model-runner", "image": image, "command": [*command]}
        template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
        spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}

    own_image = "registry.example/serve:1"
    pairs = [
        (workload(name, own_image, *words), workload(name, own_image, *words, *more))
        for name, words, more in (
            ("one", ("vllm", "serve", "a/b"), ("--dtype", "half")),
            ("two", ("vllm", "serve", "a/b"), ("--dtype", "half")),
            ("vllm", ("vllm", "serve", "a/b"), ("--enable-prefix-caching",)),
            ("sglang", ("sglang", "serve", "--model-path", "a/b"), ("--enable-metrics",)),
            ("env", ("env", "serve", "a/b"), ("--enable-metrics",)),
            ("served", ("vllm", "serve", "a/b"), ("--served-model-name", "served")),
            ("other", ("vllm", "serve", "a/b"), ("--served-model-name", "other")),
            ("auto", ("vllm", "serve", "a/b"), ("--dtype", "auto")),
            ("half", ("vllm", "serve", "a/b", "--dtype", "half"), ("--dtype", "half")),
        )
    ]
    together = report_of([theirs for theirs, _ in pairs], [ours for _, ours in pairs])
    alone = [report_of([theirs], [ours]) for theirs, ours in pairs]
    shown = [[(item.path, item.kind, item.rule) for item in report.differences()] for report in alone]
    assert [(item.path, item.kind, item.rule) for item in together.differences()] == [
        entry for differences in shown for entry in differences
    ]
    assert shown[0] == shown[1] != []


def test_workloads_alike_but_for_names_are_classified_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are, with names of their own for the object, the model and clients."""

    def workload(i: int, *args: str) -> Body:
        container: Body = {"name": "model-runner", "image": "vllm/vllm-openai:v0.24.0", "command": ["vllm", "serve"]}
        container["args"] = ["a/b", "--served-model-name", f"chat-{i}", *args]
        template = {
            "metadata": {"labels": {"app": f"chat-{i}", **({wellknown.MODEL_NAME: f"model-{i}"} if args else {})}},
            "spec": {"containers": [container]},
        }
        spec = {"selector": {"matchLabels": {"app": f"chat-{i}"}}, "template": template}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"chat-{i}"}, "spec": spec}

    classified_fields: list[DifferingField] = []

    def explain(differing: DifferingField) -> LiveRule | None:
        classified_fields.append(differing)
        return rules.explain(differing)

    monkeypatch.setattr(comparison, "explain", explain)
    counts = []
    for count in (1, 5):
        classified_fields.clear()
        report_of([workload(i) for i in range(count)], [workload(i, "--dtype", "auto") for i in range(count)])
        counts.append(len(classified_fields))
    assert counts[0] == counts[1] > 0
