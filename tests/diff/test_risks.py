"""What a difference does to those who use the models: restarts, replicas, secrets, routes, rights, listeners."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from msgspec.structs import astuple

from renderer.diff.comparison import compare
from renderer.diff.fields import diff_values
from renderer.diff.formats import FORMS
from renderer.diff.risks import KINDS, is_floating, restarting_fields
from renderer.kubernetes import wellknown
from renderer.resolve import ReplacedName
from renderer.secrets.detection import hide_secrets
from renderer.secrets.words import is_literal_secret
from tests.diff.objects import between, group, placed, policy, risks, route, scaled_object, scaler, texts, workload


@pytest.mark.parametrize(
    ("change", "causes"),
    [
        ({"image": "engine:v1.1"}, ["image of model-runner"]),
        ({"args": ["serve", "--port", "81"]}, ["args of model-runner"]),
        ({"env": [{"name": "A", "value": "1"}]}, ["env of model-runner"]),
        ({"size": 2}, ["size"]),
        ({"flavor": "h100"}, ["annotations llmaz.io/inference-service-flavors"]),
        ({"spec": {"networkConfig": {"subdomainPolicy": "UniquePerReplica"}}}, ["networkConfig"]),
        ({"resources": {"limits": {"nvidia.com/gpu": 2, "cpu": "4000m"}}}, []),
        ({"resources": {"limits": {"nvidia.com/gpu": 2, "cpu": "4001m"}}}, ["resources limits of model-runner"]),
        ({"spec": {"replicas": 5}}, []),
        ({"spec": {"rolloutStrategy": {"type": "RollingUpdate"}}}, []),
        ({"spec": {"startupPolicy": "LeaderCreated"}}, []),
    ],
)
def test_what_restarts_pods(change: dict[str, Any], causes: list[str]) -> None:
    after = workload(**change)
    fields = restarting_fields(diff_values(workload(), after))
    assert [field.replace("resources of", "resources limits of") for field in fields] == causes
    assert [kind for kind, _ in risks(between(workload(), after)) if kind == "restart"] == ["restart"][: len(causes)]


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (group(4, "--a"), group(4, "--b"), "1 group of 4 hosts at a time: args"),
        (
            group(2, "--a", worker=["--a"]),
            group(2, "--b", worker=["--b"]),
            "1 group of 2 hosts at a time: args",
        ),
        (
            group(2, "--a", worker=["--c"]),
            group(2, "--b", worker=["--c"]),
            "1 group of 2 hosts at a time: leader: args",
        ),
        (group(1), group(2), "1 group at a time, on 2 hosts in the place of 1: size"),
        (group(2), group(1), "1 group at a time, on 1 host in the place of 2: size"),
    ],
)
def test_groups_go_one_after_the_other(before: dict[str, Any], after: dict[str, Any], text: str) -> None:
    assert [message for kind, message in risks(between(before, after)) if kind == "restart"] == [text]


def leading(kind: str, leaders: bool, workload: str = "chat") -> dict[str, Any]:
    """A Service or pool over the pods of a LeaderWorkerSet, or over its leaders alone."""
    labels = {"leaderworkerset.sigs.k8s.io/name": workload}
    labels |= {"leaderworkerset.sigs.k8s.io/worker-index": "0"} if leaders else {}
    spec = {"selector": labels if kind == "Service" else {"matchLabels": labels}}
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "chat-lb", "namespace": "llm"}, "spec": spec}


@pytest.mark.parametrize("kind", ["Service", "InferencePool"])
@pytest.mark.parametrize(
    ("old", "before", "after", "lost"),
    [
        (group(2, "--a", worker=["--b"]), True, False, True),
        (group(2, "--a", worker=["--b"]), False, False, False),
        (group(2, "--a"), False, True, False),
        (group(2, "--a"), True, False, False),  # all pods have answered before
        (group(1), True, False, False),
    ],
)
def test_workers_that_do_not_answer_yet(kind: str, old: dict[str, Any], before: bool, after: bool, lost: bool) -> None:
    diff = compare(texts(old, leading(kind, before)), texts(group(2, "--c"), leading(kind, after)))
    text = "leads to workers of chat too, and those that are not rolled out yet do not answer"
    assert [message for risk, message in risks(diff) if risk == "lost-requests"] == [text][: int(lost)]


def _rolling(replicas: int, *args: str, unavailable: object = 1, surge: object = 0, size: int = 1) -> dict[str, Any]:
    """A workload with the bounds of its rollout, whose pods may start for half an hour."""
    body = group(size, *args, replicas=replicas)
    bounds = {"maxUnavailable": unavailable, "maxSurge": surge}
    body["spec"]["rolloutStrategy"] = {"rollingUpdateConfiguration": bounds}
    pod = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    pod["containers"][0]["startupProbe"] = {"periodSeconds": 10, "failureThreshold": 180}
    return body


def _deployed(replicas: int, arg: str, **strategy: object) -> dict[str, Any]:
    """The same as a Deployment."""
    pod = _rolling(1, arg)["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    spec = {"replicas": replicas, "strategy": strategy, "template": pod}
    metadata = {"name": "chat", "namespace": "llm", "labels": wellknown.own_labels("chat", "inference-server")}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


PAUSE = "nothing answers while it loads, 30 min at most (the startup probe's bound): args"


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ([_rolling(1, "--a")], [_rolling(1, "--b")], PAUSE),
        ([_rolling(1, "--a", size=2)], [_rolling(1, "--b", size=2)], f"1 group of 2 hosts at a time: {PAUSE}"),
        ([_rolling(2, "--a")], [_rolling(2, "--b", unavailable=2)], PAUSE),
        ([_rolling(2, "--a")], [_rolling(2, "--b", unavailable="100%")], PAUSE),
        ([_rolling(2, "--a"), scaler(1, 4)], [_rolling(2, "--b"), scaler(1, 4)], PAUSE),
        ([_deployed(1, "--a")], [_deployed(1, "--b", type="Recreate")], PAUSE),
        ([_rolling(2, "--a")], [_rolling(2, "--b")], ""),
        ([_rolling(1, "--a")], [_rolling(1, "--b", unavailable=0, surge=1)], ""),
        ([_rolling(1, "--a")], [_rolling(3, "--b", unavailable=0, surge="25%")], ""),
        ([_rolling(2, "--a"), scaler(2, 4)], [_rolling(2, "--b"), scaler(2, 4)], ""),
        ([_deployed(1, "--a")], [_deployed(1, "--b", type="RollingUpdate")], ""),
        ([_rolling(0, "--a")], [_rolling(0, "--b")], None),
    ],
)
def test_nothing_answers_while_the_only_replica_restarts(
    before: list[dict[str, Any]], after: list[dict[str, Any]], text: str | None
) -> None:
    restarts = [risk for risk in compare(texts(*before), texts(*after)).risks if risk.kind == "restart"]
    usual = [("args", "restarts")]
    expected = [(text, "requests")] if text else usual if text == "" else []
    assert [(risk.message, risk.risk_class) for risk in restarts] == expected
    assert all("maxSurge: 1" in risk.remedy for risk in restarts)


def _canary(share: int, replicas: int, stable: int = 2, name: str = "blue", weight: int = 100) -> list[dict[str, Any]]:
    """Two workloads behind one name, and their part of its requests."""
    apps = [workload("chat", spec={"replicas": stable}), workload("next", spec={"replicas": replicas})]
    backends = [("chat", weight - share), ("next", share)] if share else [("chat", weight)]
    return [*apps, route(name, *backends)]


@pytest.mark.parametrize(
    ("before", "after", "messages"),
    [
        (_canary(0, 1), _canary(50, 1, stable=1), []),  # each replica gets what one got before
        (
            _canary(0, 1, stable=3),
            _canary(50, 1, stable=2),
            ["blue: next gets 50% of the requests, on 1 of 3 replicas"],
        ),
        (_canary(0, 1, stable=3), _canary(5, 1, stable=3), []),
        (_canary(25, 1, stable=3), _canary(25, 1, stable=3), []),
        (
            _canary(10, 1, stable=3),
            _canary(90, 1, stable=3),
            ["blue: next gets 90% of the requests, on 1 of 4 replicas"],
        ),
        (_canary(50, 2), _canary(50, 1), ["blue: next gets 50% of the requests, on 1 of 3 replicas"]),
        (
            [],
            _canary(60, 1, stable=2),
            ["blue: next gets 60% of the requests, on 1 of 3 replicas"],
        ),  # a name that is new
        (_canary(0, 1, stable=3), [*_canary(50, 1, stable=2), scaler(1, 3, "next")], []),
        (_canary(0, 1, stable=3), [*_canary(50, 1, stable=2)[::2]], []),  # a backend without replicas here
    ],
)
def test_a_part_of_the_requests_on_fewer_replicas(
    before: list[dict[str, Any]], after: list[dict[str, Any]], messages: list[str]
) -> None:
    share_risks = [risk for risk in compare(texts(*before), texts(*after)).risks if risk.kind == "share"]
    assert [(risk.message, risk.risk_class) for risk in share_risks] == [(message, "requests") for message in messages]


def test_replicas_of_a_file_that_stays_the_same_count() -> None:
    stable, canary, _ = _canary(0, 1, stable=3)
    apps = [*texts(stable, path="llm/chat.yaml"), *texts(canary, path="llm/next.yaml")]
    before, after = (texts(_canary(share, 1, stable=3)[2], path="llm/route.yaml") for share in (0, 50))
    share_risks = [risk.message for risk in compare([*apps, *before], [*apps, *after]).risks if risk.kind == "share"]
    assert share_risks == ["blue: next gets 50% of the requests, on 1 of 4 replicas"]


def _shared(size: int, tensor: int = 4, **more: Any) -> dict[str, Any]:
    """A group of hosts with two accelerators each, that shares each layer among so many."""
    body = group(size, "--tensor-parallel-size", str(tensor))
    template = body["spec"]["leaderWorkerTemplate"]["workerTemplate"]
    body["metadata"]["annotations"] = {wellknown.BACKEND: more.pop("backend", "vllm")}
    template["metadata"]["annotations"] |= more.pop("annotations", {})
    template["spec"] |= more.pop("pod", {})
    container = template["spec"]["containers"][0]
    container["resources"]["limits"] |= more.pop("limits", {})
    container |= more
    return body


@pytest.mark.parametrize(
    ("before", "after", "is_told"),
    [
        (_shared(1, tensor=2), _shared(2), True),
        ({}, _shared(2), True),  # new
        (_shared(2), _shared(4, tensor=8), True),
        (_shared(1, tensor=2), _shared(2, backend="sglang"), True),
        (_shared(2), _shared(2, tensor=3), False),  # as many hosts as before
        (_shared(1, tensor=2), _shared(2, tensor=2), False),  # a stage on each host
        (_shared(2), _shared(1, tensor=2), False),
        (_shared(1, tensor=2), _shared(2, backend="mine"), False),  # whose options nobody knows
        (_shared(1, tensor=2), _shared(2, limits={"rdma/ib": "1"}), False),
        (_shared(1, tensor=2), _shared(2, limits={"vpc.amazonaws.com/efa": "4"}), False),
        (_shared(1, tensor=2), _shared(2, pod={"hostNetwork": True}), False),
        (_shared(1, tensor=2), _shared(2, pod={"resourceClaims": [{"name": "nic"}]}), False),
        (_shared(1, tensor=2), _shared(2, env=[{"name": "NCCL_IB_HCA", "value": "mlx5"}]), False),
        (_shared(1, tensor=2), _shared(2, annotations={"k8s.v1.cni.cncf.io/networks": "sriov"}), False),
        (_shared(1, tensor=2), _shared(2, env=[{"name": "HF_HOME", "value": "/models"}]), True),
    ],
)
def test_layers_that_hosts_share_over_tcp(before: dict[str, Any], after: dict[str, Any], is_told: bool) -> None:
    kinds = [kind for kind, _ in risks(between(before, after) if before else compare([], texts(after)))]
    assert ("group-network" in kinds) is is_told


def test_a_share_of_the_groups() -> None:
    before, after = group(4, "--a"), group(4, "--b")
    after["spec"]["rolloutStrategy"]["rollingUpdateConfiguration"]["maxUnavailable"] = "50%"
    assert risks(between(before, after))[0][1].startswith("50% of the groups of 4 hosts at a time: ")


@pytest.mark.parametrize("name", ["exclusive-topology", "subgroup-exclusive-topology"])
def test_annotations_that_are_copied_into_pods(name: str) -> None:
    after = workload()
    after["metadata"]["annotations"] = {f"leaderworkerset.sigs.k8s.io/{name}": "rack"}
    assert [kind for kind, _ in risks(between(workload(), after))] == ["restart"]
    other = workload()
    other["metadata"]["annotations"] = {"example.com/team": "a"}
    assert risks(between(workload(), other)) == []
    both = copy.deepcopy(other)
    both["metadata"]["annotations"] |= after["metadata"]["annotations"]
    assert [kind for kind, _ in risks(between(other, both))] == ["restart"]


ALL_KEPT = "all replicas keep the template that runs"


def _held(partition: int, image: str = "engine:v1.0", replicas: int = 3) -> dict[str, Any]:
    """A workload whose rollouts stop at a partition."""
    strategy = {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "partition": partition}}
    return workload(spec={"replicas": replicas, "rolloutStrategy": strategy}, image=image)


@pytest.mark.parametrize(
    ("before", "after", "messages"),
    [
        (_held(0), _held(0, "engine:v1.1"), [("restart", "image")]),
        (
            _held(0),
            _held(2, "engine:v1.1"),
            [("restart", "image"), ("held-back", "partition 0 → 2: replicas 0 to 1 keep the template that runs")],
        ),
        (
            _held(1),
            _held(1, "engine:v1.1"),
            [("restart", "image"), ("held-back", "replica 0 keeps the template that runs")],
        ),
        (_held(0), _held(3, "engine:v1.1"), [("held-back", f"partition 0 → 3: {ALL_KEPT}")]),
        (_held(0), _held(2), [("held-back", "partition 0 → 2: replicas 0 to 1 keep the template that runs")]),
        (_held(2), _held(0), [("restart", "partition 2 → 0")]),  # those that it held are replaced now
        (_held(2), _held(1), [("restart", "partition 2 → 1")]),
        (_held(2), _held(2, replicas=4), []),
        (_held(0, replicas=0), _held(2, replicas=0), []),
        (_held(1, replicas=1), _held(1, "engine:v1.1", replicas=1), [("held-back", ALL_KEPT)]),
    ],
)
def test_a_rollout_that_stops_at_a_partition(
    before: dict[str, Any], after: dict[str, Any], messages: list[tuple[str, str]]
) -> None:
    all_risks = compare(texts(before), texts(after)).risks
    assert [(risk.kind, risk.message) for risk in all_risks] == messages
    assert {risk.risk_class for risk in all_risks} <= {"restarts"}


def test_what_does_not_run_is_not_restarted() -> None:
    still = {"replicas": 0}
    assert risks(between(workload(spec=still), workload(spec=still, image="engine:v1.1"))) == []


@pytest.mark.parametrize(("before", "after"), [(None, 2), (2, None), (2, 4)])
def test_the_immutable_field(before: int | None, after: int | None) -> None:
    pair = [workload(size=4), workload(size=4)]
    for body, size in zip(pair, (before, after), strict=True):
        if size:
            body["spec"]["leaderWorkerTemplate"]["subGroupPolicy"] = {"subGroupSize": size}
    assert [kind for kind, _ in risks(between(*pair))] == ["restart", "immutable"]


def test_claim_templates_that_change() -> None:
    templates = [{"metadata": {"name": "model-volume"}, "spec": {"resources": {"requests": {"storage": "10Gi"}}}}]
    before, after = workload(), workload()
    after["spec"]["leaderWorkerTemplate"]["volumeClaimTemplates"] = templates
    message = "volumeClaimTemplates: the StatefulSets of its pods refuse it, so the rollout stands still"
    assert risks(between(before, after))[1] == ("immutable", message)
    assert [kind for kind, _ in risks(between(after, workload()))] == ["restart", "immutable"]


def claim(size: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "blue-weights", "namespace": "llm"},
        "spec": {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": size}}, **spec},
    }


@pytest.mark.parametrize(
    ("after", "messages"),
    [
        (claim("1000Gi"), []),
        (claim("2Ti"), []),
        (claim("100Gi"), ["storage 1000Gi → 100Gi: the API server refuses it"]),
        (claim("1000Gi", storageClassName="fast"), ["storageClassName none → fast: the API server refuses it"]),
        (
            claim("1000Gi", accessModes=["ReadOnlyMany"]),
            ["accessModes ReadWriteMany → ReadOnlyMany: the API server refuses it"],
        ),
    ],
)
def test_claims_that_change(after: dict[str, Any], messages: list[str]) -> None:
    assert risks(between(claim("1000Gi"), after)) == [("immutable", text) for text in messages]


def test_a_new_claim() -> None:
    assert risks(compare([], texts(claim("10Gi")))) == [("new-claim", "10Gi, which nothing deletes")]
    assert risks(compare(texts(claim("10Gi")), [])) == []


def job(name: str, revision: str = "v1", image: str = "loader:v1", size: str = "") -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": "blue", "app.kubernetes.io/component": "model-cache"}
    loader = {"name": "model-loader", "image": image, "env": [{"name": "REVISION", "value": revision}]}
    notes = {"annotations": {"renderer.llmaz.io/weights-gib": size}} if size else {}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"blue-fill-{name}", "namespace": "llm", "labels": labels, **notes},
        "spec": {"template": {"spec": {"initContainers": [loader]}}},
    }


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (job("b", revision="v2"), "blue: the Job runs again, for the revision v1 → v2"),
        (job("b", image="loader:v2"), "blue: the Job runs again, for another pod template"),
    ],
)
def test_a_job_that_runs_again(after: dict[str, Any], message: str) -> None:
    assert [risk for risk in risks(compare(texts(job("a")), texts(after))) if risk[0] == "download"] == [
        ("download", message)
    ]


def test_downloads_that_a_job_spares() -> None:
    names, cached = ("chat", "batch"), []
    for name in names:
        cached.append(workload(name))
        pod = cached[-1]["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
        pod["volumes"] = [{"name": "model-claim", "persistentVolumeClaim": {"claimName": "blue-weights"}}]
    before, after = texts(*map(workload, names)), texts(*cached)
    new = texts(job("a", size="140"), path="llm/blue.cache.yaml")
    messages = [text for kind, text in risks(compare(before, [*after, *new])) if kind == "download"]
    assert messages == ["140 GiB of blue once instead of 4 times, and pods wait for it"]
    messages = [
        text for kind, text in risks(compare([], [*after, *texts(job("a"), path="llm/c.yaml")])) if kind == "download"
    ]
    assert messages == ["blue once, and pods wait for it"]
    assert [kind for kind, _ in risks(compare([*after, *new], after))] == []


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ((3, None), (0, None), ["scale-to-zero"]),
        ((3, None), (1, None), ["scale-to-one"]),
        ((3, None), (2, None), []),
        ((1, None), (0, None), ["scale-to-zero"]),
        ((1, None), (3, None), []),
        ((3, None), (None, (1, 4)), ["hand-over"]),
        ((3, None), (None, (3, 4)), ["hand-over"]),
        ((1, None), (None, (1, 4)), []),
        ((3, None), (None, None), ["hand-over"]),
        ((None, (2, 4)), (None, (0, 4)), ["scale-to-zero"]),
        ((None, (2, 4)), (None, (1, 4)), ["scale-to-one"]),
        ((None, (2, 4)), (3, None), []),
        ((None, (1, 6)), (1, None), ["scale-to-one"]),
        ((None, (1, 6)), (None, (1, 1)), ["scale-to-one"]),
        ((None, (1, 1)), (1, None), []),
    ],
)
def test_replicas(before: Any, after: Any, kinds: list[str]) -> None:
    sides = []
    for fixed, scaled in (before, after):
        body = workload(spec={"replicas": fixed})
        if fixed is None:
            body["spec"].pop("replicas")
        sides.append(texts(body, scaler(*scaled)) if scaled else texts(body))
    assert [kind for kind, _ in risks(compare(*sides))] == kinds


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        (scaler(2, 4), scaled_object(2, 4), ["autoscaler"]),
        (scaled_object(2, 4), scaler(2, 4), ["autoscaler"]),
        (scaled_object(2, 4), scaled_object(3, 4), []),
        (scaled_object(2, 4), scaled_object(0, 4), ["scale-to-zero"]),
        (scaler(2, 4), scaled_object(1, 4), ["scale-to-one", "autoscaler"]),
    ],
)
def test_another_autoscaler(before: Any, after: Any, kinds: list[str]) -> None:
    body = workload()
    body["spec"].pop("replicas")
    diff = compare(texts(body, before), texts(body, after))
    assert [kind for kind, _ in risks(diff)] == kinds
    assert all(model.after and model.after.scaled and model.after.high == 4 for model in diff.models)


def test_volumes_secrets_and_tags() -> None:
    after = workload(
        image="engine:latest",
        args=["serve", "--api-key", "hunter2", "--hf-token=hunter3", "--max-tokens", "5"],
        env=[
            {"name": "API_KEY", "value": "hunter4"},
            {"name": "HF_TOKEN", "value": "$(OTHER)"},
            {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}},
            {"name": "KEY_FILE", "value": "/etc/key"},
        ],
    )
    pod = after["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    pod["volumes"] = [{"name": "data", "hostPath": {"path": "/data"}}]
    diff = between(workload(), after)
    assert risks(diff) == [
        ("restart", "image, args, env, volumes"),
        ("plaintext-secret", "env API_KEY is written out"),
        ("plaintext-secret", "option --api-key is written out"),
        ("plaintext-secret", "option --hf-token is written out"),
        ("host-path", "volume data is /data of the node"),
        ("floating-tag", "engine:latest names no fixed image"),
    ]
    for form in FORMS.values():
        assert "hunter" not in form(diff, "")
    assert [kind for kind, _ in risks(between(after, after | {"x": 1}))] == []  # it was there before


def test_another_secret_shows_and_is_not_said() -> None:
    one, two = (workload(env=[{"name": "API_KEY", "value": value}]) for value in ("hunter2", "hunter3"))
    diff = between(one, two)
    assert [kind for kind, _ in risks(diff)] == ["restart", "plaintext-secret"]
    for form in FORMS.values():
        text = form(diff, "")
        assert "hunter" not in text
        assert "another one" in text.replace("&#60;hidden&#44; another one&#62;", "another one")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    diff = between(
        {**secret, "data": {"a": "aHVudGVy", "b": "eA=="}}, {**secret, "data": {"a": "aHVudGVzzz", "b": "eA=="}}
    )
    for form in FORMS.values():
        assert "aHVudGV" not in form(diff, "")


@pytest.mark.parametrize(
    ("name", "value", "is_one"),
    [
        ("HF_TOKEN", "x", True),
        ("AWS_SECRET_ACCESS_KEY", "x", True),
        ("OPENAI_API_KEY", "x", True),
        ("APIKEY", "x", True),
        ("password", "x", True),
        ("HF_TOKEN", "", False),
        ("HF_TOKEN", "$(OTHER)", False),
        ("HF_TOKEN", "${OTHER}", True),
        ("PASSWORD", "$hunter2", True),
        ("HF_TOKEN_2", "x", True),
        ("HF_TOKEN2", "x", True),
        ("VLLM_API_KEYS", "x", True),
        ("API_TOKENS", "x", True),
        ("INPUT_TOKEN", "x", True),
        ("DB_PASS", "x", True),
        ("GITHUB_PAT", "x", True),
        ("AZURE_CREDENTIALS", "{}", True),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/google.json", False),
        ("MAX_INPUT_TOKENS", "x", False),
        ("RAY_TLS_SERVER_KEY", "/etc/ray/tls/tls.key", False),
        ("RAY_TLS_SERVER_KEY", "etc.key", True),
        ("TOKENS", "4096", False),
        ("EOS_TOKEN", "</s>", False),
        ("KEYSPACE", "x", False),
        ("VLLM_LOGGING", "x", False),
        ("COMPASS", "x", False),
        ("TOKENIZERS_PARALLELISM", "x", False),
        ("MAX_TOKENS", "5", False),
        ("KEY_FILE", "x", False),
        (None, "x", False),
        ("HF_TOKEN", None, False),
    ],
)
def test_a_secret_in_plain_text(name: object, value: object, is_one: bool) -> None:
    assert is_literal_secret(name, value) is is_one


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ("--api-key a b --port 80", "--api-key <hidden> <hidden> --port 80"),
        ("--token=a --secret-key b --api-token=c", "--token=<hidden> --secret-key <hidden> --api-token=<hidden>"),
        ("--api-keys a --db-password-2 b", "--api-keys <hidden> --db-password-2 <hidden>"),
        ("--api-key $(A) b", "--api-key $(A) <hidden>"),
        ("--password $hunter2", "--password <hidden>"),
        ("--password-file /a --api-key-file /b --ssl-keyfile c", ""),
        ("--max-tokens x --spec-tokens 5 --stop-token a --tokenizer b --key-value c", ""),
        ("--proxy=http://user:pw@host/x http://token@host", "--proxy=http://<hidden>@host/x http://<hidden>@host"),
        ("http://user:$(PW)@host ssh://git@host http://host/@x a@b", ""),
    ],
)
def test_a_secret_in_a_command_line(args: str, shown: str) -> None:
    assert " ".join(hide_secrets(args.split())) == (shown or args)
    after = workload(args=args.split())
    kinds = {kind for kind, _ in risks(between(workload(), after))}
    assert kinds == ({"plaintext-secret", "restart"} if shown else {"restart"})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"args": ["--api-key", "a0", "b0"]}, {"args": ["--api-key", "a0", "c0"]}),
        ({"args": ["--api-key=a0", "--api-key=b0"]}, {"args": ["--api-key=c0", "--api-key=b0"]}),
        ({"args": ["--api-key=a0", "--api-key=b0"]}, {"args": ["--api-key=b0", "--api-key=a0"]}),
        ({"env": [{"name": "P", "value": "http://u:a0@h"}]}, {"env": [{"name": "P", "value": "http://u:b0@h"}]}),
        ({"args": ["http://a0@h"]}, {"args": ["--x", "http://b0@h"]}),
    ],
)
def test_another_of_several_secrets(before: dict[str, Any], after: dict[str, Any]) -> None:
    """It shows that one changed, though nobody sees which it is; pods restart."""
    diff = between(workload(**before), workload(**after))
    assert "restart" in {kind for kind, _ in risks(diff)}
    assert all(change.path for changed_object in diff.objects for change in changed_object.changes)
    for form in FORMS.values():
        text = form(diff, "")
        assert not re.search("[abc]0", text)
        assert "another one" in text.replace("&#44;", ",")


def test_a_restart_that_does_not_show() -> None:
    """Both sides look alike when a secret moves from one place to another."""
    one, two = (workload(args=[f"http://{a}@h", f"http://{b}@h"]) for a, b in ("ab", "ba"))
    diff = between(one, two)
    assert [kind for kind, _ in risks(diff)] == ["restart"]
    assert "args[0]: <hidden> → <hidden, another one>" in FORMS["text"](diff, "")


@pytest.mark.parametrize(
    ("image", "moves"),
    [
        ("a/b:latest", True),
        ("a/b", True),
        ("host:5000/a/b", True),
        ("a/b:main-cuda", True),
        ("a/b:v1.2", False),
        ("a/b:latest@sha256:0", False),
        ("", False),
        ("a/b:server-b11434", False),
    ],
)
def test_floating_tags(image: str, moves: bool) -> None:
    assert is_floating(image) is moves


def test_a_route_loses_its_last_backend() -> None:
    before = route("blue", ("chat", 2), ("next", 1))
    assert risks(between(before, route("blue", ("chat", 1)))) == []
    words = "blue has no backend left that takes requests"
    assert risks(between(before, route("blue", ("chat", 0), ("next", 0)))) == [("no-backend", words)]
    assert risks(between(before, route("blue"))) == [("no-backend", words)]
    assert risks(between(before, route("green", ("chat", 2)))) == [("no-backend", "nothing answers to blue any more")]
    diff = compare(texts(before), [])
    assert risks(diff) == [("no-backend", "nothing answers to blue any more")]
    backend = {"apiVersion": "aigateway.envoyproxy.io/v1beta1", "kind": "AIServiceBackend"}
    chat = {**backend, "metadata": {"name": "chat", "namespace": "llm"}}
    only = route("blue", ("chat", 2))
    after = route("blue", ("chat", 3))
    assert risks(compare(texts(only, chat), texts(after))) == [("no-backend", words)]


def test_a_model_for_whose_task_there_is_no_path() -> None:
    before = texts(route("blue", ("chat", 1)))
    diff = compare(before, [], pathless={("llm", "chat"): "classifier", ("llm", "blue"): "reranker"})
    what = "nothing answers to blue any more, and no request could pass before: the AI gateway has no path for task"
    assert risks(diff) == [("no-backend", f"{what} classifier")]
    assert diff.risks[0].remedy == "let clients ask the Service chat-lb"
    assert risks(compare(before, [], pathless={("other", "chat"): "classifier"})) == [
        ("no-backend", "nothing answers to blue any more")
    ]


def test_a_name_that_a_new_route_takes_away() -> None:
    """Nothing answers to the names of apps whose route a ModelRoute replaces, also in a tree that is new."""
    replaced = [ReplacedName("llm", "chat", "qwen", "Playground", "chat")]
    blue, qwen = route("blue", ("chat", 1)), route("qwen", ("chat", 1))
    diff = compare([], texts(blue), replaced=replaced)
    words = "nothing answers to qwen, the name of Playground chat: this ModelRoute replaces its route"
    assert risks(diff) == [("no-backend", words)]
    assert diff.risks[0].remedy == "if clients ask for it, add a ModelRoute with modelName: qwen that leads there"
    # Not new; diff as lost already; answered by a route elsewhere; without a rendered route.
    assert risks(compare(texts(blue), texts(route("blue", ("chat", 2))), replaced=replaced)) == []
    elsewhere = {**qwen, "metadata": {"name": "other", "namespace": "llm"}}
    lost = compare(texts(elsewhere), texts(blue), replaced=replaced)
    assert risks(lost) == [("no-backend", "nothing answers to qwen any more")]
    assert risks(compare([], texts(blue, elsewhere), replaced=replaced)) == []
    assert risks(compare([], texts(elsewhere), replaced=replaced)) == []


def test_an_api_that_is_asked_on_another_path() -> None:
    def spoken(name: str, **more: str) -> dict[str, Any]:
        backend = {"apiVersion": "aigateway.envoyproxy.io/v1beta1", "kind": "AIServiceBackend"}
        return {**backend, "metadata": {"name": "a", "namespace": "llm"}, "spec": {"schema": {"name": name, **more}}}

    words = "its API is Cohere in place of OpenAI: requests on the old paths fail"
    assert risks(between(spoken("OpenAI"), spoken("Cohere", version="v2"))) == [("path", words)]
    assert risks(between(spoken("Cohere", version="v1"), spoken("Cohere", version="v2"))) == []
    assert risks(compare([], texts(spoken("Cohere")))) == []


def at_door(body: dict[str, Any], namespace: str = "llm", gateway: str = "g", hosts: tuple[str, ...] = ()) -> Any:
    """A route in this namespace, at this Gateway and these hosts."""
    copied = copy.deepcopy(body)
    copied["metadata"]["namespace"] = namespace
    copied["spec"]["parentRefs"][0]["name"] = gateway
    return copied | {"spec": copied["spec"] | ({"hostnames": list(hosts)} if hosts else {})}


@pytest.mark.parametrize(
    ("before", "after", "where"),
    [
        ({}, {"namespace": "other"}, ""),
        ({}, {"gateway": "h"}, "Gateway s/g"),
        ({"hosts": ("a.io", "b.io")}, {"hosts": ("a.io",)}, "b.io of Gateway s/g"),
        ({"hosts": ("a.io",)}, {"hosts": ("a.io", "b.io")}, ""),
        ({"hosts": ("a.io",)}, {"hosts": ("*.io",)}, ""),
        ({"hosts": ("a.io",)}, {}, ""),
        ({}, {"hosts": ("a.io",)}, "Gateway s/g, but for a.io,"),
        ({"hosts": ("a.io",)}, {"hosts": ("a.io",), "gateway": "h"}, "Gateway s/g"),
        ({"hosts": ("a.io",)}, {"hosts": ("b.io",), "namespace": "other"}, "a.io of Gateway s/g"),
    ],
)
def test_a_name_belongs_to_a_gateway(before: dict[str, Any], after: dict[str, Any], where: str) -> None:
    body = route("blue", ("chat", 1))
    diff = between(at_door(body, **before), at_door(body, **after))
    assert risks(diff) == ([("no-backend", f"nothing answers to blue at {where} any more")] if where else [])
    if "namespace" in after:
        assert ("blue", "namespace", "llm", "other") in [astuple(change) for change in diff.traffic]
        assert "public name" not in [change.aspect for change in diff.traffic]


def test_remedies_for_a_name_that_is_lost_in_part() -> None:
    """They name what was lost: the host, the Gateway, or the weights."""
    body = route("blue", ("chat", 1))
    at_a = at_door(body, hosts=("a.io",))
    pairs = [
        (at_a, at_door(body, hosts=("b.io",)), "keep a.io in gateway.hostnames until no client uses it"),
        (body, at_a, "leave gateway.hostnames out until every client uses one of these hosts"),
        (body, at_door(body, gateway="h"), "keep gateway.name as it was until no client uses this Gateway"),
        (body, route("blue"), "give a backend of the route a weight above 0, or keep the one that it leads to"),
        (body, route("green", ("chat", 1)), KINDS["no-backend"].remedy.replace("`", "")),
    ]
    for before, after, remedy in pairs:
        assert [risk.remedy for risk in between(before, after).risks] == [remedy]


def test_a_role_has_no_rollout_to_write() -> None:
    sides = []
    for image in ("engine:v1.0", "engine:v1.1"):
        body = workload("chat-prefill", image=image)
        body["metadata"]["labels"]["app.kubernetes.io/name"] = "chat"
        body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["labels"]["llm-d.ai/role"] = "prefill"
        sides.append(body)
    assert [(risk.kind, "rollout" in risk.remedy) for risk in between(*sides).risks] == [("restart", False)]
    alone = between(workload(), workload(image="engine:v1.1"))
    assert [(risk.kind, "rollout" in risk.remedy) for risk in alone.risks] == [("restart", True)]


def test_the_sum_of_many_accelerators_is_not_cut() -> None:
    """It stands in the head of the table, and the lines of single models give way."""
    sides = [[placed({"gpu": kind}) for _ in range(80)] for kind in "ah"]
    for side in sides:
        for i, body in enumerate(side):
            body["metadata"]["name"] = f"model-{i}"
    shown = FORMS["markdown"](compare(*(texts(*side) for side in sides)), "")
    head, _, table = shown.partition("| GPUs of these models 320 in total, of other kinds | accelerator |")
    assert "GPUs of these models 320 in total" in head
    assert table.splitlines()[2:4] == [
        "| these models in total | `nvidia.com/gpu (gpu=a)` |  | 320 → 0 |",
        "| these models in total | `nvidia.com/gpu (gpu=h)` |  | 0 → 320 |",
    ]
    assert re.search(r"^and \d+ more lines$", shown, re.MULTILINE)


def test_two_clusters_beside_each_other() -> None:
    """What a step from one to the other would do to pods is no risk; what one of them has is."""
    gone = workload("gone")
    now = workload(image="engine:latest", spec={"replicas": 1}, env=[{"name": "API_KEY", "value": "sk-1"}])
    diff = compare(texts(workload(), gone), texts(now), replaces=False)
    assert [kind for kind, _ in risks(diff)] == ["plaintext-secret", "floating-tag"]


SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "openai"}}


@pytest.mark.parametrize(
    ("fields", "texts_of_risks"),
    [
        ({"stringData": {"apiKey": "sk-1"}}, ["key apiKey of the Secret is written out"]),
        ({"data": {"a": "c2stMQ==", "b": "eA=="}}, [f"key {key} of the Secret is written out" for key in "ab"]),
        ({"data": {"a": "ENC[AES256_GCM,data:x,type:str]"}}, []),
        ({"stringData": {"a": "${TOKEN}", "b": "{{ .Values.token }}", "c": ""}}, []),
        ({"type": "Opaque"}, []),
    ],
)
def test_a_secret_that_is_written_out(fields: dict[str, object], texts_of_risks: list[str]) -> None:
    diff = compare(texts(workload()), texts(workload(), {**SECRET, **fields}))
    assert [what for kind, what in risks(diff) if kind == "plaintext-secret"] == texts_of_risks
    for form in FORMS.values():
        assert "sk-1" not in form(diff, "")
    assert risks(compare(texts({**SECRET, **fields}), texts({**SECRET, **fields}))) == []


def test_many_that_move_to_another_namespace() -> None:
    """Pairs of one name are few, however many there are of a namespace."""
    sides: list[list[dict[str, Any]]] = [[], []]
    for side, namespace in zip(sides, "ab", strict=True):
        for i in range(40):
            side.append(workload(f"m{i}"))
            side[-1]["metadata"]["namespace"] = namespace
    diff = compare(texts(*sides[0]), texts(*sides[1]))
    assert {(model.state, model.was and model.was.name == model.key.name) for model in diff.models} == {
        ("renamed", True)
    }


def test_renames_in_two_namespaces_to_one_name() -> None:
    """Each is the heir of its own."""
    backend = {"apiVersion": "aigateway.envoyproxy.io/v1beta1", "kind": "AIServiceBackend"}
    sides: list[list[dict[str, Any]]] = [[], []]
    for side, names in zip(sides, (("chat", "foo"), ("new", "new")), strict=True):
        for namespace, name, public in zip("ab", names, ("p1", "p2"), strict=True):
            model = workload(name)
            model["metadata"]["namespace"] = namespace
            labels = {"app.kubernetes.io/name": name}
            metadata = {"name": name, "namespace": namespace, "labels": labels}
            side += [model, {**backend, "metadata": metadata}]
            side.append(at_door(route(public, (name, 1)), namespace))
    diff = compare(texts(*sides[0]), texts(*sides[1]))
    assert [changed_model.state for changed_model in diff.models] == ["renamed", "renamed"]
    assert diff.traffic == ()


def at_host(body: Any, name: str, host: str) -> Any:
    """A route under another name of its own, for a host."""
    copied = copy.deepcopy(body)
    copied["metadata"]["name"] = name
    copied["spec"]["hostnames"] = [host]
    return copied


def test_one_public_name_at_two_hosts() -> None:
    """Each route is compared with itself; what is gone is said of its host."""
    one, other = at_host(route("blue", ("a", 90), ("b", 10)), "r1", "x.example"), route("blue", ("a", 50), ("c", 50))
    other = at_host(other, "r2", "y.example")
    less = at_host(route("blue", ("a", 70), ("b", 30)), "r1", "x.example")
    for after in ([less], [at_host(less, "r3", "x.example")]):
        assert sorted(astuple(change) for change in compare(texts(one, other), texts(*after)).traffic) == [
            ("blue at x.example", "weight of a", "90", "70"),
            ("blue at x.example", "weight of b", "10", "30"),
            ("blue at y.example", "public name", "a, weight 50; c, weight 50", ""),
        ]
    both = compare(texts(one, other), texts(other, less))
    assert [change.name for change in both.traffic] == ["blue at x.example"] * 2


def test_traffic() -> None:
    limits: dict[str, Any] = {
        "clientSelectors": [{"headers": [{"name": "x-tenant-id", "type": "Distinct"}]}],
        "limit": {"requests": 1000, "unit": "Hour"},
        "cost": {"response": {"from": "Metadata", "metadata": {"key": "llm_total_token"}}},
    }
    more = {**limits, "limit": {"requests": 20000, "unit": "Hour"}}
    host = {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "Backend",
        "metadata": {"name": "outer", "namespace": "llm"},
        "spec": {"endpoints": [{"fqdn": {"hostname": "api.example.com", "port": 443}}]},
    }
    before = [route("blue", ("chat", 1)), policy("BackendTrafficPolicy", rateLimit={"global": {"rules": [limits]}})]
    after = [
        route("blue", ("chat", 9), ("next", 1), priority=1),
        policy("BackendTrafficPolicy", rateLimit={"global": {"rules": [more]}}, retry={"numRetries": 2}),
        host,
    ]
    diff = compare(texts(*before), texts(*after))
    assert [astuple(change) for change in diff.traffic] == [
        ("blue", "weight of chat", "1", "9"),
        ("blue", "priority of chat", "0", "1"),
        ("blue", "leads to", "", "next, weight 1, priority 1"),
        ("llm/outer", "provider", "", "api.example.com:443"),
        ("llm/chat", "limit of llm_total_token for each x-tenant-id an hour", "1,000", "20,000"),
        ("llm/chat", "retries", "", "2"),
    ]


def test_a_name_that_leaves_its_pool() -> None:
    before, after = route("blue", ("chat", 1)), route("blue", ("chat", 1))
    [reference] = before["spec"]["rules"][0]["backendRefs"]
    reference["kind"] = "InferencePool"
    del reference["modelNameOverride"]
    diff = compare(texts(before), texts(after))
    assert [astuple(change) for change in diff.traffic] == [("blue", "leads to", "pool chat", "chat, weight 1")]


def rewrite(pool: str = "chat", **targets: int | None) -> dict[str, Any]:
    """An InferenceModelRewrite of `blue`; weights by the names that it becomes."""
    shares = [
        {"modelRewrite": name, **({} if weight is None else {"weight": weight})} for name, weight in targets.items()
    ]
    return {
        "apiVersion": "llm-d.ai/v1alpha2",
        "kind": "InferenceModelRewrite",
        "metadata": {"name": "chat", "namespace": "llm"},
        "spec": {
            "poolRef": {"kind": "InferencePool", "name": pool},
            "rules": [{"matches": [{"model": {"type": "Exact", "value": "blue"}}], "targets": shares}],
        },
    }


@pytest.mark.parametrize(
    ("before", "after", "traffic"),
    [
        (
            rewrite(v1=90, v2=10),
            rewrite(v1=50, v2=50),
            [("blue", "weight of chat as v1", "90", "50"), ("blue", "weight of chat as v2", "10", "50")],
        ),
        (rewrite(v1=90, v2=10), rewrite(v1=90), [("blue", "leads to", "pool chat as v2, weight 10", "")]),
        (rewrite(v1=None), rewrite(v2=None), [("blue", "called at chat", "v1", "v2")]),
        (rewrite(v1=None), None, [("blue", "called at chat", "v1", "")]),
        (
            None,
            rewrite(v1=9, v2=1),
            [
                ("blue", "leads to", "", "pool chat as v1, weight 9"),
                ("blue", "leads to", "", "pool chat as v2, weight 1"),
            ],
        ),
        (
            rewrite(v1=None),
            rewrite("next", v1=None),
            [("blue", "called at chat", "v1", ""), ("blue", "called at next", "", "v1")],
        ),
    ],
)
def test_what_a_picker_makes_of_a_name(before: Any, after: Any, traffic: list[Any]) -> None:
    """In pool mode the picker shares requests out, not the route; that may be in a file that stays the same."""
    changed = compare(*(texts(side) if side else [] for side in (before, after)))
    assert [astuple(change) for change in changed.traffic] == traffic


def test_a_name_that_goes_with_its_rewrite() -> None:
    before = texts(route("blue", ("chat", 1)), rewrite(v1=None))
    assert [change.aspect for change in compare(before, []).traffic] == ["public name"]
    assert [change.aspect for change in compare([], before).traffic] == ["public name", "called at chat"]


def authorization(*tenants: str, action: str = "Deny") -> dict[str, Any]:
    principal = {"headers": [{"name": "x-tenant-id", "values": list(tenants)}]}
    return {"defaultAction": action, "rules": [{"action": "Allow", "principal": principal}]}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            {"jwt": {}, "authorization": authorization("a")},
            None,
            "the policy is gone: any client that the Gateway lets in may call",
        ),
        ({"jwt": {"x": 1}}, {}, "jwt is gone"),
        ({"authorization": authorization("a")}, {}, "authorization is gone: every authenticated client may call"),
        (
            {"authorization": authorization("a")},
            {"authorization": authorization("a", action="Allow")},
            "defaultAction Deny → Allow",
        ),
        ({"authorization": authorization("a")}, {"authorization": authorization("b", "a")}, "also for b"),
        ({"authorization": authorization("a", "b")}, {"authorization": authorization("a")}, ""),
        ({}, {"authorization": authorization("a")}, ""),
        (None, {"authorization": authorization("a")}, ""),
    ],
)
def test_rights(before: Any, after: Any, words: str) -> None:
    sides = [texts(policy(**spec)) if spec is not None else [] for spec in (before, after)]
    assert risks(compare(*sides)) == ([("rights", words)] if words else [])


def test_a_policy_that_goes_with_its_route_opens_nothing() -> None:
    both = texts(route("blue", ("chat", 1)), policy(jwt={}))
    assert [kind for kind, _ in risks(compare(both, []))] == ["no-backend"]
    assert [kind for kind, _ in risks(compare(both, texts(route("blue", ("chat", 1)))))] == ["rights"]


def test_grants_and_headers() -> None:
    grant: dict[str, Any] = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "ReferenceGrant",
        "metadata": {"name": "g", "namespace": "s"},
        "spec": {"from": [{"kind": "SecurityPolicy", "namespace": "a"}], "to": [{"kind": "Secret", "name": "keys"}]},
    }
    more: dict[str, Any] = copy.deepcopy(grant)
    more["spec"]["from"].append({"kind": "SecurityPolicy", "namespace": "b"})
    assert risks(between(grant, more)) == [("rights", "SecurityPolicy of namespace b may use Secret keys")]
    assert risks(between(more, grant)) == []
    door = policy("ClientTrafficPolicy", headers={"earlyRequestHeaders": {"remove": ["x-tenant-id", "x"]}})
    less = policy("ClientTrafficPolicy", headers={"earlyRequestHeaders": {"remove": ["x"]}})
    assert risks(between(door, less)) == [("rights", "clients may send x-tenant-id themselves")]


def network_policy(*rules: dict[str, Any]) -> dict[str, Any]:
    type_meta = {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy"}
    return {**type_meta, "metadata": {"name": "engines", "namespace": "llm"}, "spec": {"ingress": list(rules)}}


def egress_policy(*rules: dict[str, Any]) -> dict[str, Any]:
    policy = network_policy()
    policy["spec"] |= {"policyTypes": ["Ingress", "Egress"], "egress": list(rules)}
    return policy


WEB = {"podSelector": {"matchLabels": {"app": "web"}}}
TEAMS = {
    "podSelector": {},
    "namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "In", "values": ["a"]}]},
}
BLOCK = {"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (
            {},
            network_policy(),
            [("closed", "the policy is new: the pods that it selects take connections only from its peers")],
        ),
        (
            network_policy(),
            {},
            [("rights", "the policy is gone: anyone who reaches the pods that it selected may connect")],
        ),
        (
            network_policy({"from": [WEB]}),
            network_policy({"from": [WEB, BLOCK]}),
            [("rights", "also from 10.0.0.0/8 without 10.1.0.0/16")],
        ),
        (
            network_policy({"from": [WEB, TEAMS]}),
            network_policy({"from": [WEB]}),
            [("closed", "no longer from pods of namespaces team In a")],
        ),
        (
            network_policy({"from": [WEB]}),
            network_policy({"ports": [{"port": 80}]}),
            [("closed", "no longer from pods app=web"), ("rights", "also from everybody to 80")],
        ),
        (
            network_policy({"from": [{"namespaceSelector": {}}]}),
            network_policy({}),
            [("closed", "no longer from all namespaces"), ("rights", "also from everybody")],
        ),
        (
            {},
            egress_policy(),
            [
                ("closed", "the policy is new: the pods that it selects connect only to its peers"),
                ("closed", "the policy is new: the pods that it selects take connections only from its peers"),
            ],
        ),
        (
            network_policy(),
            egress_policy({"ports": [{"port": 53}]}, {"to": [BLOCK], "ports": [{"port": 443}]}),
            [
                (
                    "closed",
                    "policyTypes: the pods that it selects connect only to its peers: anything at 53, "
                    "10.0.0.0/8 without 10.1.0.0/16 at 443",
                )
            ],
        ),
        (
            egress_policy({}),
            egress_policy({"to": [WEB]}),
            [("closed", "no longer to anything"), ("rights", "also to pods app=web")],
        ),
        (
            egress_policy(),
            network_policy(),
            [("rights", "policyTypes: the pods that it selected may connect to anything")],
        ),
    ],
)
def test_network_policies(before: Any, after: Any, expected: list[tuple[str, str]]) -> None:
    assert risks(between(before, after)) == expected


def test_listeners() -> None:
    def gateway(*listeners: dict[str, Any]) -> dict[str, Any]:
        type_meta = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway"}
        return {**type_meta, "metadata": {"name": "g", "namespace": "s"}, "spec": {"listeners": list(listeners)}}

    https = {"name": "https", "port": 443, "protocol": "HTTPS"}
    diff = between(gateway(https, {"name": "b"}), gateway({**https, "port": 8443, "hostname": "x"}, {"name": "a"}))
    assert risks(diff) == [
        ("listener-gone", "b is gone"),
        ("listener", "a is new"),
        ("listener", "https: port, hostname"),
    ]
    assert [kind for kind, _ in risks(between(gateway(https), {}))] == ["listener-gone"]
    assert [kind for kind, _ in risks(between({}, gateway(https)))] == ["listener"]


def test_services_that_open_to_the_world() -> None:
    def service(**spec: Any) -> dict[str, Any]:
        metadata = {"name": "api", "namespace": "llm"}
        return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}

    opened = ("rights", "of type LoadBalancer: clients outside the cluster get past the gateway")
    assert risks(between(service(), service(type="LoadBalancer"))) == [opened]
    assert risks(between({}, service(type="LoadBalancer"))) == [opened]
    assert risks(between(service(type="NodePort"), service(type="NodePort", ports=[]))) == []
    assert risks(between(service(type="LoadBalancer"), service())) == []


def test_what_kueue_refuses() -> None:
    def queued(**fields: Any) -> dict[str, Any]:
        body = workload(**fields)
        body["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "gpus"}
        return body

    def refused(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
        return [what for kind, what in risks(between(before, after)) if kind == "queue"]

    assert refused(workload(), queued()) == ["queue none → gpus while replicas run"]
    assert refused(workload(spec={"replicas": 0}), queued()) == []
    assert refused(queued(), workload()) == []
    more = queued(resources={"limits": {"nvidia.com/gpu": 4}})
    assert refused(queued(), more) == ["resources of model-runner of replicas that it has admitted"]
    assert refused(queued(), queued(image="engine:v1.1")) == []


def deployment(**more: Any) -> dict[str, Any]:
    """The Deployment that runs the pod of `workload()`."""
    body = workload(**more)
    labels = {"app.kubernetes.io/name": "chat", "app.kubernetes.io/component": "inference-server"}
    labels |= {"app.kubernetes.io/part-of": "llmaz", "app.kubernetes.io/managed-by": "llmaz-renderer"}
    spec = {"replicas": body["spec"]["replicas"], "template": body["spec"]["leaderWorkerTemplate"]["workerTemplate"]}
    metadata = {**body["metadata"], "labels": labels}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def test_a_workload_of_another_kind_replaces_the_old_one() -> None:
    text = "the LeaderWorkerSet is deleted at once with its pods, and the Deployment has to load first"
    diff = between(workload(), deployment())
    assert risks(diff) == [("replaced", text)]
    assert [(model.state, model.facts[0].name) for model in diff.models] == [("changed", "workload")]
    assert [kind for kind, _ in risks(between(deployment(), workload()))] == ["replaced"]


def test_deployments_of_ours_are_models() -> None:
    diff = between(deployment(), deployment(image="engine:v1.1"))
    assert risks(diff) == [("restart", "image")]
    assert [model.key.kind for model in diff.models] == ["Deployment"]
    assert [kind for kind, _ in risks(between(deployment(), {}))] == ["model-deleted"]
    pickers: list[dict[str, Any]] = [deployment(), deployment(image="engine:v1.1")]
    for picker in pickers:
        picker["metadata"]["labels"]["app.kubernetes.io/component"] = "endpoint-picker"
    assert between(*pickers).models == ()


def test_fields_of_groups_that_stay() -> None:
    claims = {"leaderWorkerTemplate": {**workload()["spec"]["leaderWorkerTemplate"], "volumeClaimTemplates": [{}]}}
    texts_by_change = [
        ({"groupIdentity": "Hash"}, "groupIdentity none → Hash: the API server refuses it"),
        (claims, "volumeClaimTemplates: the StatefulSets of its pods refuse it, so the rollout stands still"),
    ]
    for spec, text in texts_by_change:
        pairs = risks(between(workload(), workload(spec=spec)))
        assert [what for kind, what in pairs if kind == "immutable"] == [text]
    other = deployment()
    other["spec"]["selector"] = {"matchLabels": {"app": "chat"}}
    pairs = risks(between(deployment(), other))
    assert [what for kind, what in pairs if kind == "immutable"] == ["selector: the API server refuses it"]
