"""Objects that stand beside workloads, and act on them: what one of each sort does, and what its neighbours do not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer.check.graph import ExternalObjects, ObjectView, validate_graph
from renderer.check.graph.rules import GraphRules, check_rules, side_rules
from renderer.diagnostics import dotted

if TYPE_CHECKING:
    from tests.conftest import Llmaz

Body = dict[str, Any]
REQUESTS = "resources: {requests: {cpu: 4, memory: 16Gi}}"

THRICE = "resources: {requests: {cpu: 1}, limits: {cpu: 3}}"
LOADER = "initContainers: [{name: a, resources: {limits: {memory: 9Gi}}}],"
LARGE_LOADER = f"initContainers: [{{name: a, {REQUESTS}}}],"


def workload(container: str = "", pod: str = "", name: str = "chat") -> str:
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: llm, labels: {{app.kubernetes.io/managed-by: llmaz-renderer}}}}
spec:
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{{pod} containers: [{{name: web, image: web, {container}}}]}}
"""


def thing(kind: str, spec: str, version: str = "v1", name: str = "thing") -> str:
    return f"{{apiVersion: {version}, kind: {kind}, metadata: {{name: {name}, namespace: llm}}, spec: {spec}}}"


def external(spec: str, name: str = "thing") -> str:
    return thing("ExternalSecret", spec, "external-secrets.io/v1", name)


def asks(key: str = "HF_TOKEN", name: str = "thing", *, optional: bool = True) -> str:
    reference = f"{{name: {name}, key: {key}, optional: {str(optional).lower()}}}"
    return workload(f"env: [{{name: A, valueFrom: {{secretKeyRef: {reference}}}}}]")


def findings(
    texts: Sequence[str], external_objects: ExternalObjects | None = None, *, stage: GraphRules = side_rules
) -> list[str]:
    """The code and field of each finding."""
    bodies: list[Body] = [yaml.safe_load(text) for text in texts]
    view = ObjectView(bodies, external_objects or ExternalObjects())
    return [f"{finding.code} {dotted(finding.path)}" for _, finding in validate_graph(view, stage)]


def limits(item: str) -> str:
    return thing("LimitRange", f"{{limits: [{item}]}}")


@pytest.mark.parametrize(
    ("item", "container", "pod", "expected"),
    [
        ("{type: Container, default: {memory: 4Gi}}", REQUESTS, "", ["default.memory"]),
        ("{type: Container, default: {memory: 16Gi}}", REQUESTS, "", []),
        # The default limit is max, and the default request the limit.
        ("{type: Container, max: {memory: 8Gi}}", REQUESTS, "", ["max.memory"]),
        ("{type: Container, max: {memory: 8Gi}}", "", "", []),
        ("{type: Container, max: {memory: 8Gi}}", "resources: {limits: {memory: 9Gi}}", "", ["max.memory"]),
        ("{type: Container, min: {cpu: 5}}", REQUESTS, "", ["min.cpu"]),
        ("{type: Container, min: {cpu: 5}}", "", "", []),
        ("{type: Container, maxLimitRequestRatio: {cpu: 2}}", THRICE, "", ["maxLimitRequestRatio.cpu"]),
        ("{type: Container, maxLimitRequestRatio: {cpu: 3}}", THRICE, "", []),
        ("{type: Container, maxLimitRequestRatio: {cpu: 3}}", REQUESTS, "", ["maxLimitRequestRatio.cpu"]),
        # An init container is judged as well, and the pod by the larger of both.
        ("{type: Container, max: {memory: 8Gi}}", "", LARGE_LOADER, ["max.memory"]),
        ("{type: Pod, max: {memory: 8Gi}}", "resources: {limits: {memory: 5Gi}}", LOADER, ["max.memory"]),
        ("{type: Pod, max: {memory: 9Gi}}", "resources: {limits: {memory: 5Gi}}", LOADER, []),
        ("{type: Pod, max: {memory: 99Gi}}", REQUESTS, "", ["max.memory"]),
        ("{type: Pod, min: {cpu: 5}}", REQUESTS, "", ["min.cpu"]),
        # The API server asks pods that say what they have as a whole in another way.
        ("{type: Container, default: {memory: 4Gi}}", REQUESTS, "resources: {requests: {memory: 20Gi}},", []),
    ],
)  # fmt: skip
def test_limits(item: str, container: str, pod: str, expected: list[str]) -> None:
    prefix = "E576 spec.limits[0]."
    assert findings([limits(item), workload(container, pod)]) == [f"{prefix}{field}" for field in expected]


def test_defaults_of_two_limit_ranges_are_joined() -> None:
    """One gives the limit that the other asks for; where both give one, nobody knows which counts."""
    bounds = limits("{type: Pod, max: {memory: 99Gi}}")
    other = thing("LimitRange", "{limits: [{type: Container, default: {memory: 20Gi}}]}", name="other")
    assert findings([bounds, other, workload(REQUESTS)]) == []
    one = limits("{type: Container, default: {memory: 4Gi}}")
    assert findings([one, other, workload(REQUESTS)]) == []


def test_claims() -> None:
    claim = thing("PersistentVolumeClaim", "{resources: {requests: {storage: 500Gi}}}")
    bounds = limits("{type: PersistentVolumeClaim, min: {storage: 1Gi}, max: {storage: 100Gi}}")
    assert findings([bounds, claim]) == ["E576 spec.limits[0].max.storage"]


def test_what_is_in_several_clusters_is_not_judged() -> None:
    ambiguous = ExternalObjects(ambiguous=frozenset({("Service", "llm", "x")}))
    texts = [limits("{type: Container, default: {memory: 4Gi}}"), workload(REQUESTS)]
    assert findings(texts) != []
    assert findings(texts, ambiguous) == []


@pytest.mark.parametrize(
    ("spec", "is_known"),
    [
        ("{data: [{secretKey: token}]}", True),
        ("{data: [{secretKey: HF_TOKEN}]}", False),
        ("{data: [{secretKey: token}], dataFrom: [{extract: {key: a}}]}", False),
        ("{data: [{secretKey: HF_TOKEN}], target: {template: {data: {token: a}}}}", True),
        ("{data: [{secretKey: HF_TOKEN}], target: {template: {mergePolicy: Merge, data: {token: a}}}}", False),
        ("{data: [{secretKey: token}], target: {template: {templateFrom: [{literal: a}]}}}", False),
        ("{data: [{secretKey: token}], target: {creationPolicy: Merge}}", False),
        ("{dataFrom: [{extract: {key: a}}], target: {template: {data: {token: a}}}}", True),
    ],
)
def test_keys_of_external_secrets(spec: str, *, is_known: bool) -> None:
    codes = [finding.partition(" ")[0] for finding in findings([external(spec), asks()])]
    assert codes == (["W578"] if is_known else [])


def test_keys_of_other_secrets() -> None:
    sealed = thing("SealedSecret", "{encryptedData: {token: a}}", "bitnami.com/v1alpha1")
    assert findings([sealed, asks()]) == ["W578 spec.encryptedData"]
    templated = thing("SealedSecret", "{encryptedData: {token: a}, template: {data: {HF_TOKEN: a}}}", "bitnami.com/v1")
    assert findings([templated, asks()]) == []
    plain = "{apiVersion: v1, kind: Secret, metadata: {name: thing, namespace: llm}, stringData: {token: a}}"
    assert findings([plain, asks()]) == ["W578 metadata.name"]
    assert findings([plain, asks(), asks("token").replace("chat", "other")]) == []  # it is of use to one


def test_keys_that_policies_and_gateways_ask() -> None:
    spec = "{type: AzureAPIKey, azureAPIKey: {secretRef: {name: thing}}}"
    policy = thing("BackendSecurityPolicy", spec, "aigateway.envoyproxy.io/v1beta1", "policy")
    assert findings([external("{data: [{secretKey: key}]}"), policy]) == ["W578 spec.data"]
    assert findings([external("{data: [{secretKey: apiKey}]}"), policy]) == []
    listener = "{name: a, port: 443, protocol: HTTPS, tls: {certificateRefs: [{name: thing}]}}"
    gateway = thing("Gateway", f"{{listeners: [{listener}]}}", "gateway.networking.k8s.io/v1", "gateway")
    assert findings([external("{data: [{secretKey: tls.crt}]}"), gateway]) == ["W578 spec.data"]


@pytest.mark.parametrize(
    ("kind", "spec", "key"),
    [
        ("gateway.envoyproxy.io/v1alpha1/SecurityPolicy", "{basicAuth: {users: {name: thing}}}", ".htpasswd"),
        ("gateway.envoyproxy.io/v1alpha1/SecurityPolicy", "{oidc: {clientSecret: {name: thing}}}", "client-secret"),
        ("gateway.envoyproxy.io/v1alpha1/SecurityPolicy", "{apiKeyAuth: {credentialRefs: [{name: thing}]}}", ""),
        ("keda.sh/v1alpha1/TriggerAuthentication", "{secretTargetRef: [{name: thing, key: token}]}", "token"),
    ],
)
def test_keys_that_others_ask(kind: str, spec: str, key: str) -> None:
    version, _, name = kind.rpartition("/")
    asking = thing(name, spec, version, "policy")
    assert findings([external("{data: [{secretKey: any}]}"), asking]) == (["W578 spec.data"] if key else [])
    assert findings([external(f"{{data: [{{secretKey: {key or 'any'}}}]}}"), asking]) == []


def test_a_plain_secret_without_the_key_of_a_policy_is_told_at_the_policy() -> None:
    plain = "{apiVersion: v1, kind: Secret, metadata: {name: thing, namespace: llm}, stringData: {any: a}}"
    spec = "{basicAuth: {users: {name: thing}}}"
    texts = [plain, thing("SecurityPolicy", spec, "gateway.envoyproxy.io/v1alpha1", "policy")]
    assert findings(texts) == []
    view = ObjectView([yaml.safe_load(text) for text in texts], ExternalObjects())
    assert [finding.code for _, finding in validate_graph(view)] == ["E604"]
    triggers = thing("TriggerAuthentication", "{secretTargetRef: [{name: thing, key: token}]}", "keda.sh/v1alpha1", "a")
    assert findings([plain, triggers]) == ["W578 metadata.name"]


def test_credentials_of_registries() -> None:
    pod = workload(pod="imagePullSecrets: [{name: thing}],")
    account = (
        "{apiVersion: v1, kind: ServiceAccount, metadata: {name: a, namespace: llm}, imagePullSecrets: [{name: thing}]}"
    )
    opaque = external("{target: {name: thing}, dataFrom: [{extract: {key: a}}]}")
    assert findings([opaque, pod]) == findings([opaque, account]) == ["W579 spec.target"]
    typed = external("{target: {template: {type: kubernetes.io/dockerconfigjson}}, dataFrom: [{extract: {key: a}}]}")
    assert findings([typed, pod]) == []


def policy(spec: str, name: str = "thing") -> str:
    return thing("NetworkPolicy", spec, "networking.k8s.io/v1", name)


FETCHES = workload("env: [{name: HF_TOKEN, value: a}]")
SERVICE = "{apiVersion: v1, kind: Service, metadata: {name: chat, namespace: llm}, spec: {selector: {app: chat}}}"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([policy("{podSelector: {}, policyTypes: [Egress]}"), FETCHES], ["W577 spec.policyTypes"]),
        ([policy("{podSelector: {}, policyTypes: [Egress]}"), workload()], []),  # nobody knows what it sends
        ([policy("{podSelector: {matchLabels: {app: web}}, policyTypes: [Egress]}"), FETCHES], []),
        ([policy("{podSelector: {}, policyTypes: [Egress], egress: [{}]}"), FETCHES], []),
        # Without types, what has rules for a direction is about that as well.
        ([policy("{podSelector: {}, egress: [{ports: [{port: 443}]}]}"), FETCHES], ["W577 spec.egress"]),
        (
            [policy("{podSelector: {}, policyTypes: [Egress], egress: [{ports: [{port: 443}]}]}"), FETCHES],
            ["W577 spec.egress"],
        ),
        ([policy("{podSelector: {}, policyTypes: [Egress], egress: [{ports: [{port: dns}]}]}"), FETCHES], []),
        (
            [policy("{podSelector: {}, policyTypes: [Egress], egress: [{ports: [{port: 1, endPort: 99}]}]}"), FETCHES],
            [],
        ),
        ([policy("{podSelector: {}, policyTypes: [Egress], egress: [{ports: [{port: 443}]}]}"), workload()], []),
        ([policy("{podSelector: {}}"), FETCHES], []),  # nothing comes in, and no Service leads there
        ([policy("{podSelector: {}}"), FETCHES, SERVICE], ["W577 spec.podSelector"]),
        ([policy("{podSelector: {}, ingress: [{}]}"), FETCHES, SERVICE], []),
        (
            [
                policy("{podSelector: {}, policyTypes: [Egress]}"),
                policy("{podSelector: {}, egress: [{ports: [{port: 53}]}]}", "other"),
                FETCHES,
            ],
            [],
        ),
        (
            [
                policy("{podSelector: {}, policyTypes: [Egress]}"),
                thing("CiliumNetworkPolicy", "{egress: [{}]}", "cilium.io/v2", "other"),
                FETCHES,
            ],
            [],
        ),
    ],
)
def test_policies(texts: Sequence[str], expected: list[str]) -> None:
    assert findings(texts) == expected


LWS = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: chat, namespace: llm, labels: {kueue.x-k8s.io/queue-name: models}}
spec:
  leaderWorkerTemplate:
    size: 1
    workerTemplate:
      metadata: {labels: {app: chat}}
      spec:
        containers:
        - name: web
          ports: [{name: http, containerPort: 8080}]
          resources: {requests: {cpu: 1}, limits: {amd.com/gpu: 1}}
"""
LED = """
apiVersion: v1
kind: Service
metadata: {name: chat-lb, namespace: llm, labels: {app: chat}}
spec: {selector: {leaderworkerset.sigs.k8s.io/name: chat}, ports: [{name: http, port: 80, targetPort: 8080}]}
"""
BACKEND = "spec.rules[0].http.paths[0].backend.service"


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        ("{name: chat-lb, port: {number: 80}}", []),
        ("{name: chat-lb, port: {name: http}}", []),
        ("{name: chat-lb, port: {number: 8080}}", [f"E591 {BACKEND}.port.number"]),
        ("{name: chat-lb, port: {name: web}}", [f"E591 {BACKEND}.port.name"]),
        ("{name: chat, port: {number: 8080}}", [f"E577 {BACKEND}.name"]),
        ("{name: other, port: {number: 8080}}", []),
    ],
)
def test_ingresses(service: str, expected: list[str]) -> None:
    spec = f"{{rules: [{{http: {{paths: [{{backend: {{service: {service}}}}}]}}}}]}}"
    assert findings([thing("Ingress", spec, "networking.k8s.io/v1"), LWS, LED]) == expected


def test_an_ingress_has_a_default() -> None:
    spec = "{defaultBackend: {service: {name: chat, port: {number: 80}}}}"
    ingress = thing("Ingress", spec, "networking.k8s.io/v1")
    assert findings([ingress, LWS]) == ["E577 spec.defaultBackend.service.name"]


def test_a_route_to_the_service_of_lws() -> None:
    spec = "{rules: [{backendRefs: [{name: chat, port: 8080}]}]}"
    bodies = [yaml.safe_load(text) for text in (thing("HTTPRoute", spec, "gateway.networking.k8s.io/v1"), LWS, LED)]
    (finding,) = (finding for _, finding in validate_graph(ObjectView(bodies, ExternalObjects())))
    assert finding.code == "E577"
    assert finding.words["hint"] == "name the Service 'chat-lb'"


@pytest.mark.parametrize(
    ("groups", "queue", "expected"),
    [
        ("[{coveredResources: [cpu, memory]}]", "models", ["W881 spec.resourceGroups[0].coveredResources"]),
        ("[{coveredResources: [cpu]}, {coveredResources: [amd.com/gpu]}]", "models", []),
        ("[{coveredResources: [cpu, memory]}]", "other", []),
        ("[]", "models", []),
    ],
)
def test_queues(groups: str, queue: str, expected: list[str]) -> None:
    cluster_queue = thing("ClusterQueue", f"{{resourceGroups: {groups}}}", "kueue.x-k8s.io/v1beta1", "all")
    local = thing("LocalQueue", "{clusterQueue: all}", "kueue.x-k8s.io/v1beta1", queue)
    assert findings([cluster_queue, local, LWS]) == expected


@pytest.mark.parametrize(
    ("provisioner", "claim", "is_told"),
    [
        ("disk.csi.azure.com", "storageClassName: thing, accessModes: [ReadWriteMany]", True),
        ("rook-ceph.rbd.csi.ceph.com", "storageClassName: thing, accessModes: [ReadWriteMany]", True),
        ("pd.csi.storage.gke.io", "accessModes: [ReadWriteOnce, ReadWriteMany]", True),  # of the default class
        ("pd.csi.storage.gke.io", "storageClassName: other, accessModes: [ReadWriteMany]", False),
        ("pd.csi.storage.gke.io", "storageClassName: thing, accessModes: [ReadOnlyMany]", False),
        ("ebs.csi.aws.com", "storageClassName: thing, volumeMode: Block, accessModes: [ReadWriteMany]", False),
        ("filestore.csi.storage.gke.io", "storageClassName: thing, accessModes: [ReadWriteMany]", False),
    ],
)
def test_storage_classes(provisioner: str, claim: str, *, is_told: bool) -> None:
    annotations = "annotations: {storageclass.kubernetes.io/is-default-class: 'true'}"
    storage_class = f"{{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {{name: thing, {annotations}}}, "
    storage_class += f"provisioner: {provisioner}}}"
    claims = thing("PersistentVolumeClaim", f"{{{claim}}}")
    assert findings([storage_class, claims]) == (["E880 provisioner"] if is_told else [])


@pytest.mark.parametrize(
    ("solvers", "host", "is_told"),
    [
        ("[{http01: {}}]", "'*.llm.example.com'", True),
        ("[{http01: {}}]", "llm.example.com", False),
        ("[{http01: {}}, {dns01: {}}]", "'*.llm.example.com'", False),
    ],
)
def test_issuers_of_gateways(solvers: str, host: str, *, is_told: bool) -> None:
    issuer = thing("ClusterIssuer", f"{{acme: {{solvers: {solvers}}}}}", "cert-manager.io/v1", "le")
    listener = f"{{name: a, hostname: {host}, tls: {{mode: Terminate}}}}"
    gateway = thing("Gateway", f"{{listeners: [{listener}]}}", "gateway.networking.k8s.io/v1")
    gateway = gateway.replace("metadata: {", "metadata: {annotations: {cert-manager.io/cluster-issuer: le}, ")
    assert findings([issuer, gateway]) == (["E578 spec.acme.solvers"] if is_told else [])


def monitor(kind: str, spec: str) -> str:
    return thing(kind, spec, "monitoring.coreos.com/v1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (monitor("ServiceMonitor", "{selector: {matchLabels: {app: chat}}, endpoints: [{port: http}]}"), []),
        (
            monitor("ServiceMonitor", "{selector: {matchLabels: {app: chat}}, endpoints: [{port: a}]}"),
            ["W586 spec.endpoints[0].port"],
        ),
        (monitor("ServiceMonitor", "{selector: {matchLabels: {app: web}}, endpoints: [{port: a}]}"), []),
        (monitor("ServiceMonitor", "{selector: {matchLabels: {app: chat}}, endpoints: [{targetPort: a}]}"), []),
        (
            monitor(
                "ServiceMonitor",
                "{namespaceSelector: {any: true}, selector: {matchLabels: {app: chat}}, endpoints: [{port: a}]}",
            ),
            [],
        ),
        (
            monitor("PodMonitor", "{selector: {matchLabels: {app: chat}}, podMetricsEndpoints: [{port: a}]}"),
            ["W586 spec.podMetricsEndpoints[0].port"],
        ),
        (monitor("PodMonitor", "{selector: {matchLabels: {app: chat}}, podMetricsEndpoints: [{port: http}]}"), []),
    ],
)
def test_monitors(text: str, expected: list[str]) -> None:
    assert findings([text, LWS, LED]) == expected


ODD = """
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: a}, spec: {rules: [null]}}
---
{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: [], spec: 3}
---
{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: [1]}, spec: {data: [3, {secretKey: []}]}}
---
{apiVersion: [v1], kind: LimitRange}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: a}, spec: {limits: [{type: Container, max: {cpu: x}}, 3]}}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: a}, provisioner: []}
---
{kind: LimitRange}
"""
ROUTE = """
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: b, namespace: llm}
spec: {rules: [{backendRefs: [{name: chat, port: 80}, {name: chat-lb, port: 80}]}]}
"""
TREE = """
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec:
  namespace: llm
  passThrough: ["extra/*.yaml"]
  flavors: {h100: {limits: {nvidia.com/gpu: 1}, accelerator: h100-80g}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: chat}
spec: {modelClaim: {modelName: qwen3-8b, inferenceFlavors: [h100]}}
"""


def test_what_is_passed_through_is_judged_beside_what_is_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    """Of what is not valid nothing is said: nobody can look into it."""
    (tmp_path / "extra").mkdir()
    (tmp_path / "llmaz.yaml").write_text(TREE)
    (tmp_path / "extra" / "odd.yaml").write_text(ODD)
    (tmp_path / "extra" / "route.yaml").write_text(ROUTE)
    monkeypatch.chdir(tmp_path)
    done = llmaz("validate")
    assert re.findall(r" (\S+): .*\[(E\d+)\]", done.err) == [
        ("spec.rules[0].backendRefs[0].name", "E577"),
        ("spec.rules[0].backendRefs[1].port", "E591"),
    ]


def budget(name: str, selector: str) -> str:
    return thing("PodDisruptionBudget", f"{{maxUnavailable: 1, selector: {selector}}}", "policy/v1", name)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("{matchLabels: {app: chat}}", ["W576 spec.selector"]),
        ("{}", ["W576 spec.selector"]),  # all pods of the namespace
        ("{matchExpressions: [{key: app, operator: Exists}]}", ["W576 spec.selector"]),
        ("{matchLabels: {app: web}}", []),
        ("{matchExpressions: [{key: app, operator: NotIn, values: [chat]}]}", []),
    ],
)
def test_budgets(selector: str, expected: list[str]) -> None:
    own = budget("chat", "{matchLabels: {app: chat}}")
    assert findings([own, budget("other", selector), workload()]) == expected
    assert findings([budget("other", selector), own, workload()]) == expected  # at one of the two, whatever their order
    rendered = own.replace("name: chat,", "name: zoo, labels: {app.kubernetes.io/managed-by: llmaz-renderer},")
    assert findings([budget("other", selector), rendered, workload()]) == expected  # at the hand-written one


def test_budgets_of_other_namespaces_count_for_their_own_pods() -> None:
    """A tool may put an object without a namespace into either."""
    one = budget("a", "{matchLabels: {leaderworkerset.sigs.k8s.io/name: chat}}")
    other = one.replace("name: a, namespace: llm", "name: b, namespace: prod")
    group = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: chat}
spec: {replicas: 2, leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: web, image: web}]}}}}
"""
    assert findings([one, other, group]) == []
    assert findings([one, other.replace("prod", "llm"), group]) == ["W576 spec.selector"]


def test_a_budget_that_several_files_pass_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    """Each may be of another cluster: of the second one the pods are not taken for those of the first."""
    (tmp_path / "extra").mkdir()
    (tmp_path / "llmaz.yaml").write_text(TREE)
    for app in ("one", "two"):
        own = budget("web", f"{{matchLabels: {{app: {app}}}}}")
        (tmp_path / "extra" / f"{app}.yaml").write_text(f"{workload(name=app)}---\n{own}\n")
    monkeypatch.chdir(tmp_path)
    assert "[E" not in llmaz("validate").err


@pytest.mark.parametrize(("size", "expected"), [(1, []), (2, ["E576", "E929", "W881", "W931"])])
def test_the_template_of_workers_counts_where_there_are_some(size: int, expected: list[str]) -> None:
    """A LeaderWorkerSet has to have the template, also where its groups are of one pod."""
    pod = "spec: {containers: [{name: web, image: web, resources: {requests: {%s}}}]}"
    group = f"""
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: chat, namespace: llm, labels: {{kueue.x-k8s.io/queue-name: models}}}}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: {size}
    leaderTemplate: {{{pod % "cpu: 1, memory: 1Gi"}}}
    workerTemplate: {{{pod % "memory: 9Gi, nvidia.com/gpu: 1"}}}
"""
    queue = "kueue.x-k8s.io/v1beta1"
    sides = [
        limits("{type: Pod, min: {cpu: 1}}"),
        thing("ClusterQueue", "{resourceGroups: [{coveredResources: [cpu, memory]}]}", queue, "all"),
        thing("LocalQueue", "{clusterQueue: all}", queue, "models"),
    ]
    quota = thing("ResourceQuota", "{hard: {cpu: 8, requests.nvidia.com/gpu: 0}}")
    lines = [*findings([group, *sides]), *findings([group, quota], stage=check_rules)]
    assert sorted(line.partition(" ")[0] for line in lines) == expected
