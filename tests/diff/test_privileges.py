"""What a change lets pods do to the node and the cluster, and to which new hosts it leads, in every kind of pod."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from renderer.diff.comparison import compare
from renderer.diff.formats import FORMS
from tests.diff.objects import between, risks, texts, workload
from tests.diff.repository import CHAT, CONFIG, MODEL, Repository

if TYPE_CHECKING:
    from tests.conftest import Llmaz

KINDS = ("privileges", "service-account", "priority", "whole-secret", "provider-host")


def pod(**fields: Any) -> dict[str, Any]:
    """A pod's spec with one container; `fields` over it."""
    return {"containers": [{"name": "main", "image": "engine:v1.0"}], **fields}


def container(**fields: Any) -> dict[str, Any]:
    """A pod's spec whose container has these fields too."""
    return {"containers": [{"name": "main", "image": "engine:v1.0", **fields}]}


def deployed(spec: dict[str, Any], kind: str = "Deployment", group: str = "apps/v1") -> dict[str, Any]:
    metadata = {"name": "tool", "namespace": "llm"}
    return {"apiVersion": group, "kind": kind, "metadata": metadata, "spec": {"template": {"spec": spec}}}


def find_risks(before: dict[str, Any] | None, after: dict[str, Any]) -> list[tuple[str, str]]:
    """The risks of the new kinds."""
    diff = compare(texts(before) if before else [], texts(after))
    return [risk for risk in risks(diff) if risk[0] in KINDS]


# --- What gives a privilege

CASES = [
    (pod(hostPID=True), "privileges", "pods share the processes of the node (hostPID)"),
    (pod(hostNetwork=True), "privileges", "pods share the network of the node (hostNetwork)"),
    (pod(hostIPC=True), "privileges", "pods share the shared memory of the node (hostIPC)"),
    (
        container(ports=[{"containerPort": 80, "hostPort": 8080}]),
        "privileges",
        "container main takes port 8080 of the node (hostPort)",
    ),
    (container(securityContext={"privileged": True}), "privileges", "container main is privileged"),
    (pod(securityContext={"windowsOptions": {"hostProcess": True}}), "privileges", "container main is privileged"),
    (
        container(securityContext={"allowPrivilegeEscalation": True}),
        "privileges",
        "container main may gain privileges (allowPrivilegeEscalation)",
    ),
    (container(securityContext={"runAsUser": 0}), "privileges", "container main runs as root (runAsUser: 0)"),
    (pod(securityContext={"runAsUser": 0}), "privileges", "container main runs as root (runAsUser: 0)"),
    (
        container(securityContext={"capabilities": {"add": ["SYS_ADMIN"]}}),
        "privileges",
        "container main has the capability SYS_ADMIN",
    ),
    (container(securityContext={"procMount": "Unmasked"}), "privileges", "container main has procMount: Unmasked"),
    (
        pod(securityContext={"seccompProfile": {"type": "Unconfined"}}),
        "privileges",
        "container main has seccompProfile: Unconfined",
    ),
    (
        container(securityContext={"appArmorProfile": {"type": "Unconfined"}}),
        "privileges",
        "container main has appArmorProfile: Unconfined",
    ),
    (pod(serviceAccountName="admin"), "service-account", "pods run as admin"),
    (pod(serviceAccount="admin"), "service-account", "pods run as admin"),
    (pod(automountServiceAccountToken=True), "service-account", "pods mount the token of their service account"),
    (
        pod(volumes=[{"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}]),
        "service-account",
        "volume t is a token of the service account",
    ),
    (
        pod(priorityClassName="system-node-critical"),
        "priority",
        "pods of system-node-critical preempt other pods",
    ),
    (
        container(envFrom=[{"secretRef": {"name": "keys"}}]),
        "whole-secret",
        "container main gets all keys of keys as variables (envFrom)",
    ),
    (
        {
            **container(volumeMounts=[{"name": "v", "mountPath": "/keys"}]),
            "volumes": [{"name": "v", "secret": {"secretName": "keys"}}],
        },
        "whole-secret",
        "container main gets all keys of keys as files",
    ),
    (
        {
            **container(volumeMounts=[{"name": "v", "mountPath": "/keys"}]),
            "volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "keys"}}]}}],
        },
        "whole-secret",
        "container main gets all keys of keys as files",
    ),
]


@pytest.mark.parametrize(("spec", "kind", "text"), CASES, ids=[text for _, _, text in CASES])
def test_a_privilege_is_told_where_the_change_brings_it(spec: dict[str, Any], kind: str, text: str) -> None:
    """In a new object and in one that is changed; not where it was there before, and not where it goes."""
    before, after = deployed(pod()), deployed(spec)
    assert find_risks(before, after) == [(kind, text)]
    assert find_risks(None, after) == [(kind, text)]
    later = copy.deepcopy(after)
    later["spec"]["replicas"] = 3
    assert find_risks(after, later) == []
    assert find_risks(after, before) == []


@pytest.mark.parametrize(
    "spec",
    [
        pod(
            hostNetwork=False,
            serviceAccountName="default",
            priorityClassName="batch",
            automountServiceAccountToken=False,
        ),
        container(securityContext={"privileged": False, "runAsUser": 1000, "capabilities": {"drop": ["ALL"]}}),
        container(securityContext={"procMount": "Default", "seccompProfile": {"type": "RuntimeDefault"}}),
        container(ports=[{"containerPort": 80}], envFrom=[{"configMapRef": {"name": "c"}}]),
        container(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "a"}}}]),
        pod(volumes=[{"name": "v", "secret": {"secretName": "keys"}}]),  # nobody mounts it
        {
            **container(volumeMounts=[{"name": "v", "mountPath": "/keys"}]),
            "volumes": [{"name": "v", "secret": {"secretName": "keys", "items": [{"key": "a", "path": "a"}]}}],
        },
    ],
)
def test_what_gives_none(spec: dict[str, Any]) -> None:
    assert find_risks(None, deployed(spec)) == []


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ({"allowPrivilegeEscalation": False}, {}, "is no longer limited by allowPrivilegeEscalation"),
        ({"runAsNonRoot": True}, {}, "is no longer limited by runAsNonRoot"),
        ({"runAsNonRoot": True}, {"runAsNonRoot": False}, "is no longer limited by runAsNonRoot"),
        ({"seccompProfile": {"type": "RuntimeDefault"}}, {}, "is no longer limited by seccompProfile"),
        ({"capabilities": {"drop": ["ALL"]}}, {}, "no longer drops the capability ALL"),
        ({"capabilities": {"drop": ["NET_RAW"]}}, {"capabilities": {"drop": ["ALL"]}}, ""),
        ({"runAsNonRoot": True}, {"runAsNonRoot": True, "runAsUser": 5}, ""),
    ],
)
def test_limits_that_are_gone(old: dict[str, Any], new: dict[str, Any], text: str) -> None:
    sides = [deployed(container(securityContext=context)) for context in (old, new)]
    assert find_risks(*sides) == ([("privileges", f"container main {text}")] if text else [])


def test_a_token_that_is_mounted_by_default_again() -> None:
    before, after = deployed(pod(automountServiceAccountToken=False)), deployed(pod())
    assert find_risks(before, after) == [("service-account", "pods mount the token of their service account")]


def test_a_limit_that_moves_from_the_container_to_the_pod_is_not_gone() -> None:
    before, after = container(securityContext={"runAsNonRoot": True}), pod(securityContext={"runAsNonRoot": True})
    assert find_risks(deployed(before), deployed(after)) == []


# --- In every kind


def in_lws(part: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    def make(spec: dict[str, Any]) -> dict[str, Any]:
        body = workload()
        body["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = {"spec": pod()}
        body["spec"]["leaderWorkerTemplate"]["workerTemplate"] = {"spec": pod()}
        body["spec"]["leaderWorkerTemplate"][part] = {"spec": spec}
        return body

    return make


def in_set(spec: dict[str, Any]) -> dict[str, Any]:
    roles = [
        {"name": name, "spec": {"leaderWorkerTemplate": {"size": 1, "workerTemplate": {"spec": template}}}}
        for name, template in (("prefill", pod()), ("decode", spec))
    ]
    metadata = {"name": "chat", "namespace": "llm"}
    kind = {"apiVersion": "disaggregatedset.x-k8s.io/v1", "kind": "DisaggregatedSet"}
    return {**kind, "metadata": metadata, "spec": {"roles": roles}}


def in_cron_job(spec: dict[str, Any]) -> dict[str, Any]:
    body = deployed({}, "CronJob", "batch/v1")
    return {**body, "spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": {"spec": spec}}}}}


def bare(spec: dict[str, Any]) -> dict[str, Any]:
    return {**deployed({}, "Pod", "v1"), "spec": spec}


def in_proxy(spec: dict[str, Any]) -> dict[str, Any]:
    """The proxies of a Gateway, by a patch of Envoy Gateway."""
    patch = {"value": {"spec": {"template": {"spec": spec}}}}
    kubernetes = {"type": "Kubernetes", "kubernetes": {"envoyDeployment": {"patch": patch}}}
    return {**deployed({}, "EnvoyProxy", "gateway.envoyproxy.io/v1alpha1"), "spec": {"provider": kubernetes}}


HOLDERS: dict[str, tuple[Callable[[dict[str, Any]], dict[str, Any]], str]] = {
    "leader": (in_lws("leaderTemplate"), "leader: "),
    "worker": (in_lws("workerTemplate"), "worker: "),
    "role": (in_set, "decode: "),
    "Deployment": (deployed, ""),
    "StatefulSet": (lambda spec: deployed(spec, "StatefulSet"), ""),
    "DaemonSet": (lambda spec: deployed(spec, "DaemonSet"), ""),
    "Job": (lambda spec: deployed(spec, "Job", "batch/v1"), ""),
    "CronJob": (in_cron_job, ""),
    "Pod": (bare, ""),
    "EnvoyProxy": (in_proxy, ""),
    "a kind that nobody knows": (lambda spec: deployed(spec, "Notebook", "example.com/v1"), ""),
}


@pytest.mark.parametrize(("make", "label"), HOLDERS.values(), ids=list(HOLDERS))
@pytest.mark.parametrize("containers", ["containers", "initContainers", "ephemeralContainers"])
def test_pods_are_found_in_every_kind_and_container(
    make: Callable[[dict[str, Any]], dict[str, Any]], label: str, containers: str
) -> None:
    bad = {"name": "x", "image": "a:1", "securityContext": {"privileged": True}}
    spec = pod()
    after = {**spec, containers: [*spec.get(containers, ()), bad]}
    assert find_risks(make(spec), make(after)) == [("privileges", f"{label}container x is privileged")]
    assert find_risks(make(spec), make({**spec, "hostPID": True})) == [
        ("privileges", f"{label}pods share the processes of the node (hostPID)")
    ]


def test_a_part_of_a_pod_without_containers() -> None:
    body = in_proxy({})
    body["spec"]["provider"]["kubernetes"]["envoyDeployment"] = {"container": {"securityContext": {"privileged": True}}}
    assert find_risks(in_proxy(pod()), body) == [("privileges", "a container is privileged")]


def test_a_leader_that_becomes_a_template_of_its_own_brings_nothing_new() -> None:
    before, after = workload(), workload(size=2)
    for body in (before, after):
        body["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["hostNetwork"] = True
    template = after["spec"]["leaderWorkerTemplate"]
    template["leaderTemplate"] = copy.deepcopy(template["workerTemplate"])
    assert find_risks(before, after) == []
    template["leaderTemplate"]["spec"]["hostPID"] = True
    assert find_risks(before, after) == [("privileges", "leader: pods share the processes of the node (hostPID)")]


# --- Accounts, and environments


def test_an_account_that_comes_with_the_change_is_no_foreign_one() -> None:
    account: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "own", "namespace": "llm"},
    }
    user = deployed(pod(serviceAccountName="own"))
    assert [kind for kind, _ in risks(compare([], texts(account, user)))] == []
    assert [kind for kind, _ in risks(compare(texts(account), texts(account, user)))] == ["service-account"]
    elsewhere = copy.deepcopy(account)
    elsewhere["metadata"]["namespace"] = "other"
    assert [kind for kind, _ in risks(compare([], texts(elsewhere, user)))] == ["service-account"]


def test_they_are_told_between_two_environments_and_in_every_form() -> None:
    after = deployed(pod(hostPID=True, serviceAccountName="a|b*<c>"))
    diff = compare([], texts(after), replaces=False)
    assert [kind for kind, _ in risks(diff)] == ["privileges", "service-account"]
    for form in FORMS:
        assert "hostPID" in FORMS[form](diff, ""), form
    assert "pods run as <code>a&#124;b&#42;&#60;c&#62;</code>" in FORMS["markdown"](diff, "")


# --- Hosts


def backend(*hosts: str, **spec: Any) -> dict[str, Any]:
    endpoints: list[dict[str, Any]] = [
        {"ip": {"address": host, "port": 443}} if host[0].isdigit() else {"fqdn": {"hostname": host, "port": 443}}
        for host in hosts
    ]
    return {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "Backend",
        "metadata": {"name": "outer", "namespace": "llm"},
        "spec": {"type": "Endpoints", "endpoints": endpoints, **spec},
    }


@pytest.mark.parametrize(
    ("before", "after", "hosts"),
    [
        (None, backend("api.example.com"), ["api.example.com"]),
        (backend("api.example.com"), backend("api.example.com", "evil.example"), ["evil.example"]),
        (backend("api.example.com"), backend("API.example.com."), []),
        (backend("api.example.com"), backend("203.0.113.9"), ["203.0.113.9"]),
        (None, backend("chat-lb.llm.svc.cluster.local", "chat-lb.llm.svc", "chat-lb.llm.svc.cluster.local."), []),
        (None, backend("chat-lb.llm.svc.evil.example"), ["chat-lb.llm.svc.evil.example"]),
        (backend("chat-lb.llm.svc.corp"), backend("next-lb.llm.svc.corp"), []),
        (
            backend("chat-lb.llm.svc.corp"),
            backend("next-lb.llm.svc.corp.evil.example"),
            ["next-lb.llm.svc.corp.evil.example"],
        ),
    ],
)
def test_hosts_outside_of_the_cluster(before: Any, after: Any, hosts: list[str]) -> None:
    assert find_risks(before, after) == [("provider-host", f"leads to {host}, outside the cluster") for host in hosts]


def test_a_host_that_another_backend_led_to_is_not_new() -> None:
    """In a file that is changed, and in one that stays the same."""
    other = backend("api.example.com")
    other["metadata"]["name"] = "other"
    unchanged = texts(backend("api.example.com"), path="llm/outer.yaml")
    for before in (texts(backend("api.example.com")), unchanged):
        after = texts(backend("api.example.com"), other) if before is not unchanged else [*unchanged, *texts(other)]
        assert risks(compare(before, after)) == []
    named = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "api.example.com"}}
    unrelated = texts(named, path="llm/c.yaml")  # a text that holds the name leads nowhere
    assert [kind for kind, _ in risks(compare(unrelated, [*unrelated, *texts(other)]))] == ["provider-host"]


def test_other_ways_to_a_host() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "llm"}}
    inside = {**service, "spec": {"type": "ClusterIP"}}
    outside = {**service, "spec": {"type": "ExternalName", "externalName": "evil.example"}}
    assert find_risks(inside, outside) == [("provider-host", "leads to evil.example, outside the cluster")]
    open_backend = {**backend(), "spec": {"type": "DynamicResolver"}}
    message = "type DynamicResolver: leads to any host that a request names"
    assert find_risks(backend("a.svc"), open_backend) == [("provider-host", message)]
    assert find_risks(open_backend, copy.deepcopy(open_backend)) == []


# --- From the input


def test_a_file_that_is_passed_through_and_a_pod_template(folder: Path, llmaz: Llmaz) -> None:
    repository = Repository(folder)
    repository.write(llmaz=CONFIG, models=MODEL, chat=CHAT)
    repository.commit("first")
    repository.write(
        llmaz=f'{CONFIG}  passThrough: ["extra.yaml"]\n',
        chat=f"{CHAT}  podTemplate: {{spec: {{hostPID: true, priorityClassName: system-node-critical}}}}\n",
        extra="apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d, namespace: llm}\n"
        "spec: {template: {spec: {hostNetwork: true, containers: [{name: main, image: 'a:1'}]}}}\n",
    )
    done = llmaz("diff")
    assert "privileges on the node: llm/d: pods share the network of the node (hostNetwork)" in done.out
    assert "pods share the processes of the node (hostPID)" in done.out
    assert "system priority class" in done.out


def test_privileges_of_a_changed_workload_stand_beside_its_restart() -> None:
    after = workload()
    after["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]["hostNetwork"] = True
    assert [kind for kind, _ in risks(between(workload(), after))] == ["restart", "privileges"]
