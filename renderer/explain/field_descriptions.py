"""Short descriptions of fields that the renderer decides, and the fields that these are made of.

A row: the steps to a field (`*`: any, `#name`: a list item whose name begins so, `key=value`: one with that value), the
description, and what the field is made of: fields of the same object, keys of the plan's origins, or fields of the app,
after `INPUT`. A row applies to the field and all below it; the longest match wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from renderer.diagnostics import Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.workloads import pod_templates


class FieldRule(Struct, frozen=True):
    """A rule that fields are made by."""

    text: str  # of the rule
    of: tuple[Path, ...] = ()  # keys of what the field is made of; the first that exists counts


_NAME, _NAMESPACE = ("metadata", "name"), ("metadata", "namespace")
INPUT = "input"  # before a path in the app that the object is made for
_APP_NAME: Path = (INPUT, "metadata", "name")
_REPLICAS: Path = (INPUT, "spec", "replicas")
_ANSWERING_PORT: Path = (INPUT, "spec", "gateway", "port")
OWN: Path = ("own",)  # made of no input, though its parent may be
_OWN = "the recommended labels of Kubernetes"
_LEADERS = "the leader is the pod 0 of a group"
_REFERENCE = "the object of the same app, by its name"
_HARD = "hardening: no more rights than needed"
_DRIFT = "the API's default, written to avoid drift"
_PORT = "the same port in the whole pod"
_PICKER = "needed by the endpoint picker of a pool"
_MOUNT = "weights, files, folders of the engine"
SUM = "the usual request, plus KV cache in memory"
_COMPONENT = "metadata labels app.kubernetes.io/component"

Row = tuple[str, str] | tuple[str, str, tuple[Path, ...]]

_ANY: tuple[Row, ...] = (
    ("apiVersion", "the API of this kind"),
    ("kind", "the kind that is made of this input"),
    ("metadata name", "the app's name, or the default name", (_APP_NAME, ("explain", "name"))),
    (
        "metadata namespace",
        "the default namespace, where none is set",
        (_NAMESPACE, ("explain", "namespace")),
    ),
    ("metadata labels", _OWN),
    ("metadata labels app.kubernetes.io/name", "its name", (_NAME, ("explain", "name"))),
)

_POD: tuple[Row, ...] = (
    ("metadata labels", _OWN),
    ("metadata labels app.kubernetes.io/name", "the app's name", (_NAME,)),
    ("metadata labels llmaz.io/model-name", "which model the pods serve"),
    ("metadata labels llmaz.io/model-family-name", "which family of models the pods serve"),
    ("metadata labels inference.networking.k8s.io/engine-type", "tells the picker the engine's metrics"),
    ("metadata labels llm-d.ai/engine-type", "tells the picker the engine's metrics"),
    ("metadata labels llm-d.ai/role", "prefill or decode: what the pods do"),
    ("metadata annotations llmaz.io/config-hash", "changed files restart the pods"),
    ("metadata annotations llmaz.io/inference-service-flavors", "the flavors in effect"),
    ("metadata annotations renderer.llmaz.io/metrics-path", "tells the PodMonitor where to look"),
    ("metadata annotations renderer.llmaz.io/rank-metrics-path", "tells the PodMonitor where to look"),
    ("spec schedulerName", "Kubernetes' own, or flavorPolicy's"),
    ("spec automountServiceAccountToken", _HARD),
    ("spec enableServiceLinks", _HARD),
    ("spec securityContext", _HARD),
    ("spec nodeSelector", "the labels of the flavor's nodes"),
    ("spec affinity", "the nodes of all flavors, the best first"),
    ("spec tolerations", "nodes with accelerators have taints"),
    ("spec runtimeClassName", "the flavor's runtime class"),
    ("spec terminationGracePeriodSeconds", "drain of the preset and the sleep before it; 20s more for workers"),
    ("spec topologySpreadConstraints", "counts the app's own pods", (_NAME,)),
    (
        "spec topologySpreadConstraints * labelSelector matchLabels leaderworkerset.sigs.k8s.io/name",
        "its own pods",
        (_NAME,),
    ),
    ("spec volumes", _MOUNT),
    ("spec volumes #model-volume", "where loaders put the weights"),
    ("spec volumes #model-volume emptyDir sizeLimit", "twice facts.weightsGiB, plus 10 GiB"),
    ("spec volumes #model-host", "weights on the node"),
    ("spec volumes #model-image", "weights in an image"),
    ("spec volumes #dshm", "shared memory of the engine's processes"),
    ("spec volumes #kv-cache", "KV cache offloaded to files"),
    ("spec volumes #writable", "writable folders under a read-only root"),
    ("spec volumes #config", "the files of the engine's preset"),
    ("spec volumes #config configMap name", "the ConfigMap of the same app", (_NAME,)),
    ("spec initContainers", "a step before the engine starts"),
    ("spec initContainers * env", "the same as in model-runner"),
    (
        "spec initContainers #routing-sidecar",
        "the picker's: receives requests for the engine, and requests prefill first",
    ),
    ("spec initContainers #routing-sidecar restartPolicy", "starts before the engine, and runs beside it"),
    ("spec initContainers #routing-sidecar ports * protocol", _DRIFT),
    ("spec initContainers #model-loader", "loads the weights before the engine starts"),
    ("spec initContainers * image", "repository, version and registry"),
    ("spec initContainers * securityContext", _HARD),
    ("spec initContainers * volumeMounts", _MOUNT),
    ("spec initContainers #model-loader env", "variables of the loader for this kind of source"),
    ("spec initContainers #model-loader volumeMounts", "where weights and credentials are"),
    ("spec containers", "what the model needs, added to the template"),
    ("spec containers #model-runner name", "the llmaz operator's name for the engine"),
    ("spec containers #model-runner image", "repository, version and registry"),
    ("spec containers #model-runner args", "the backend's arguments for the model"),
    ("spec containers #model-runner env", "variables of the backend, and credentials"),
    ("spec containers #model-runner env #HOME", "the first folder that the engine may write"),
    ("spec containers #model-runner ports", _PORT, (("explain", "port"),)),
    (
        f"spec containers #model-runner ports * containerPort={wellknown.ENGINE_PORT}",
        "the engine's port; the picker's sidecar has 8080",
    ),
    ("spec containers #model-runner ports #http-", "a port for each rank of data parallelism"),
    ("spec containers #model-runner ports #supervisor", "answers probes for all ranks of the pod"),
    ("spec containers #model-runner ports * protocol", _DRIFT),
    ("spec containers #model-runner resources", "request and limit are derived from each other"),
    (
        "spec containers #model-runner resources requests ephemeral-storage",
        "weights of facts plus 10%",
    ),
    ("spec containers #model-runner startupProbe failureThreshold", "time to load, by the size of the weights"),
    ("spec containers #model-runner volumeMounts", _MOUNT),
    ("spec containers #model-runner volumeMounts #model-volume", "where loaders put the weights"),
    ("spec containers #model-runner volumeMounts #kv-cache", "KV cache offloaded to files"),
    ("spec containers #model-runner volumeMounts #dshm", "shared memory of the engine's processes"),
    ("spec containers * securityContext", _HARD),
)

_APP_DEPLOYMENT = "Deployment of an app"  # a table; a picker's Deployment has another
_SELECTS: tuple[Row, ...] = (
    ("renderer.llmaz.io/workload", "the pods of the app's Deployment", (_NAME, _APP_NAME)),
    ("leaderworkerset.sigs.k8s.io/name", "the pods of the app's LeaderWorkerSet", (_NAME, _APP_NAME)),
    ("disaggregatedset.x-k8s.io/name", "the pods of the app's DisaggregatedSet", (_NAME, _APP_NAME)),
    ("disaggregatedset.x-k8s.io/role", "the pods of this role"),
    ("leaderworkerset.sigs.k8s.io/worker-index", _LEADERS),
)

_KINDS: Mapping[str, tuple[Row, ...]] = {
    "LeaderWorkerSet": (
        ("metadata name", "the app's name, plus the flavor of a variant", (_APP_NAME,)),
        ("metadata annotations renderer.llmaz.io/backend", "the CRD's default backend"),
        ("metadata annotations renderer.llmaz.io/engine-version", "the engine's version, by the tag of the image"),
        ("metadata annotations renderer.llmaz.io/model-revision", "the hub's default branch"),
        ("metadata annotations renderer.llmaz.io/kv-cache-memory", "KV cache outside of the accelerators' memory"),
        ("metadata annotations renderer.llmaz.io/served-model-name", "the name by which clients request the model"),
        ("metadata annotations renderer.llmaz.io/adapters", "the names by which clients request the adapters"),
        ("spec replicas", "the default, 1"),
        ("spec startupPolicy", "by the size of a group", (("explain", "size"),)),
        ("spec rolloutStrategy", "one group at a time, without a surge"),
        ("spec networkConfig", _DRIFT),
        ("spec leaderWorkerTemplate size", "a pod for each host of a replica", (("explain", "size"),)),
        (
            "spec leaderWorkerTemplate restartPolicy",
            "a failed pod restarts its whole group",
            (("explain", "restartPolicy"),),
        ),
        ("spec leaderWorkerTemplate subGroupPolicy", _DRIFT),
    ),
    "DisaggregatedSet": (
        ("metadata name", "the app's name", (_APP_NAME,)),
        ("spec roles * name", "prefill or decode: what the pods do", (("explain", "role"),)),
        ("spec roles * scaling", "an autoscaler sets its replicas"),
    ),
    "Service": (
        ("metadata name", "<app>-lb or <app>-leaders: LeaderWorkerSet creates <app> itself", (_APP_NAME, _NAME)),
        ("spec selector", _PICKER),
        ("spec clusterIP", "headless: the gateway sees every leader"),
        *((f"spec selector {steps}", *rest) for steps, *rest in _SELECTS),
        ("spec ports", "the port that the runner listens on"),
        ("spec ports * targetPort", "the port that the runner listens on", (_ANSWERING_PORT,)),
        ("spec ports * port", "the port that the runner listens on", (_ANSWERING_PORT,)),
    ),
    "HorizontalPodAutoscaler": (
        ("spec scaleTargetRef", "it scales the app's workload"),
        ("spec scaleTargetRef name", "it scales the app's workload", (_NAME,)),
        ("spec minReplicas", "the default, 1"),
        ("spec metrics", "CPU, where no trigger is set"),
        ("spec behavior", "suits the time that a start takes"),
    ),
    "ScaledObject": (
        ("metadata annotations", "KEDA takes over an HPA of this name"),
        ("spec scaleTargetRef", "it scales the app's LeaderWorkerSet"),
        ("spec scaleTargetRef name", "it scales the app's LeaderWorkerSet", (_NAME,)),
        ("spec pollingInterval", "as often as metrics are read"),
        ("spec cooldownPeriod", "from the last request to zero replicas"),
        ("spec minReplicaCount", "the default, 1"),
        ("spec fallback", "without metrics, no replica is removed"),
        ("spec advanced", "settings of the HPA that KEDA creates"),
        ("spec advanced horizontalPodAutoscalerConfig name", "the name of KEDA's HPA", (_NAME,)),
        ("spec triggers", "queries for the metrics of the engine or the picker"),
    ),
    "InterceptorRoute": (
        ("spec target", "the Service of the leaders"),
        ("spec target service", "the Service of the leaders", (_NAME,)),
        ("spec rules", "requests are matched by their public name"),
        ("spec scalingMetric", "concurrent requests per replica"),
        ("spec timeouts", "time to start; the gateway's own timeout ends a request"),
    ),
    "ServiceMonitor": (
        ("metadata name", "one per namespace, for all pickers"),
        ("metadata namespace", "every namespace with metrics to read"),
        ("spec selector", "the pickers of all pools"),
        ("spec endpoints", "the port of a picker's metrics"),
    ),
    "PodDisruptionBudget": (
        ("spec maxUnavailable", "never two replicas at once"),
        *((f"spec selector matchLabels {steps}", *rest) for steps, *rest in _SELECTS),
        ("spec selector", _PICKER),
    ),
    "ResourceClaimTemplate": (
        ("metadata name", "the name of the workload whose pods use it", (_NAME,)),
        ("spec", "the devices of each pod"),
    ),
    "ConfigMap": (
        ("metadata name", "<app>-config, or the picker's", (_NAME,)),
        ("data", "files beside the command line"),
    ),
    "Backend": (
        ("metadata name", "the app's name", (_NAME,)),
        ("spec type", _DRIFT),
        ("spec endpoints 0 fqdn hostname", "the Service of the leaders, in the cluster's domain", (_NAME,)),
        ("spec endpoints 0 fqdn port", "8080 of a pod, 443 of a provider"),
        ("spec tls", "providers are called with TLS", (("spec", "endpoints", 0, "fqdn", "hostname"),)),
    ),
    "AIServiceBackend": (
        ("spec schema", "engines speak OpenAI's API"),
        ("spec backendRef", _REFERENCE),
        ("spec backendRef name", _REFERENCE, (_NAME,)),
    ),
    "BackendSecurityPolicy": (
        ("spec targetRefs", _REFERENCE),
        ("spec targetRefs * name", _REFERENCE, (_NAME,)),
    ),
    "AIGatewayRoute": (
        ("metadata name", "the app's name, or one of routeBuckets", (_APP_NAME,)),
        ("spec parentRefs", "the Gateway of the namespace"),
        ("spec parentRefs * group", "the Gateway of the namespace", (OWN,)),
        ("spec parentRefs * kind", "the Gateway of the namespace", (OWN,)),
        ("spec rules * matches * headers * type", "the AI gateway puts the model's name there", (OWN,)),
        ("spec rules * matches * headers * name", "the AI gateway puts the model's name there", (OWN,)),
        ("spec hostnames", "the hosts of the Gateway"),
        ("spec llmRequestCosts", "token budgets need token counts"),
        ("spec rules * matches", "a rule for each public name"),
        ("spec rules * backendRefs", "all workloads of the app"),
        (
            "spec rules * backendRefs * weight",
            "by replicas; 1 where an autoscaler sets them",
            (_REPLICAS,),
        ),
        ("spec rules * backendRefs * name", "all workloads of the app", (_NAME,)),
        (
            "spec rules * backendRefs * modelNameOverride",
            "the engine's name for the model",
            (("spec", "rules", 0, "matches"),),
        ),
        ("spec rules * timeouts", "the default, 600s", (("explain", "request"),)),
        ("spec rules * modelsOwnedBy", "the model's owner, llmaz by default"),
        ("spec rules * modelsCreatedAt", "when the model was created"),
    ),
    "BackendTrafficPolicy": (
        ("spec targetRefs", "the HTTPRoute of the route's name"),
        ("spec targetRefs * name", "the HTTPRoute of the route's name", (_NAME,)),
        ("spec timeout", "how long a stream may be silent", (("explain", "streamIdle"),)),
        ("spec retry", "retried on another backend, on these responses"),
        ("spec rateLimit", "counted in tokens, after the response"),
    ),
    "SecurityPolicy": (
        ("metadata name", "the name of its route, or of its Gateway", (_NAME,)),
        ("spec targetRefs", "the route, or the Gateway, by its name"),
        ("spec targetRefs * name", "the route, or the Gateway, by its name", (_NAME, ("explain", "name"))),
        ("spec authorization", "everybody else is refused"),
        ("spec apiKeyAuth", "repeats the Gateway's, which it would override", (("explain", "auth"),)),
        ("spec jwt", "repeats the Gateway's, which it would override", (("explain", "auth"),)),
    ),
    "InferencePool": (
        *((f"spec selector matchLabels {steps}", *rest) for steps, *rest in _SELECTS),
        ("spec targetPorts", "the port 8080, and one for each further rank"),
        ("spec endpointPickerRef", "the picker of the same app"),
        ("spec endpointPickerRef name", "the picker of the same app", (_NAME,)),
    ),
    "InferenceObjective": (
        ("spec poolRef", "the pool that poolRef names"),
        ("spec priority", "by criticality: Critical, Standard, Sheddable"),
    ),
    "InferenceModelRewrite": (
        ("spec poolRef", "the pool that poolRef names"),
        ("spec rules", "requests get the names of their targets"),
    ),
    "PersistentVolumeClaim": (
        ("metadata name", "the model's name, plus -weights", (_NAME,)),
        ("metadata annotations", "protects the weights from deletion"),
        ("spec", "modelCache of the model, or of RenderConfig"),
    ),
    "Job": (
        ("metadata name", "the model's name, plus a hash of the pod", (_NAME,)),
        ("spec", "fills the model's cache once"),
    ),
    "Deployment": (("spec", _PICKER), ("spec selector", _PICKER)),
    _APP_DEPLOYMENT: (
        ("metadata name", "the app's name, plus the flavor of a variant", (_APP_NAME,)),
        ("metadata annotations renderer.llmaz.io/backend", "the CRD's default backend"),
        ("metadata annotations renderer.llmaz.io/engine-version", "the engine's version, by the tag of the image"),
        ("metadata annotations renderer.llmaz.io/model-revision", "the hub's default branch"),
        ("metadata annotations renderer.llmaz.io/kv-cache-memory", "KV cache outside of the accelerators' memory"),
        ("metadata annotations renderer.llmaz.io/served-model-name", "the name by which clients request the model"),
        ("metadata annotations renderer.llmaz.io/adapters", "the names by which clients request the adapters"),
        ("spec replicas", "the default, 1"),
        ("spec progressDeadlineSeconds", "the longest start, plus five minutes"),
        ("spec selector", "the pods of this Deployment alone"),
        ("spec strategy", "one pod at a time, without a surge"),
        (
            "spec template metadata labels renderer.llmaz.io/workload",
            "the pods of this Deployment alone",
            (_APP_NAME,),
        ),
    ),
    "ServiceAccount": (("metadata", _PICKER),),
    "Role": (("rules", "read access to pods, the pool and its settings"),),
    "RoleBinding": (("roleRef", _PICKER), ("subjects", _PICKER)),
    "OpenModel": (
        (
            "metadata labels llmaz.io/model-family-name",
            "as the llmaz operator's webhook sets it",
            (("spec", "familyName"),),
        ),
        ("spec source", _DRIFT),
        ("spec ownedBy", _DRIFT),
        ("spec inferenceConfig", "the flavors, completed by RenderConfig"),
    ),
    "PodMonitor": (
        ("metadata name", "one per namespace, for all engines"),
        ("metadata namespace", "every namespace with metrics to read"),
        ("spec selector", "the pods of models that answer requests"),
        ("spec podMetricsEndpoints", "annotations of the pods say where to look"),
        ("spec podMetricsEndpoints * path", "an endpoint for each of several models"),
        ("spec podMetricsEndpoints * params", "a scrape loads no model"),
        ("spec podMetricsEndpoints * relabelings * targetLabel", "the series of several models are alike but for it"),
    ),
    "NetworkPolicy": (
        ("metadata name", "one per namespace, for all models"),
        ("metadata namespace", "every namespace with models"),
        ("spec podSelector", "the pods of all models"),
        ("spec ingress", "models, pickers, the gateway's proxies, and the sources in RenderConfig"),
        ("spec policyTypes", "connections from pods are not restricted"),
    ),
    "Gateway": (
        ("metadata annotations", "cert-manager creates the certificate", (("explain", "tls"),)),
        ("spec gatewayClassName", "llmaz-gateway by default", (("explain", "className"),)),
        ("spec infrastructure", "the EnvoyProxy of the same name"),
        (
            "spec infrastructure parametersRef name",
            "the EnvoyProxy of the same name",
            (("explain", "name"),),
        ),
        ("spec listeners", "one per host with TLS, else one for all"),
        ("spec listeners * hostname", "one listener per host", (("explain", "hostnames"),)),
        ("spec listeners * tls", "its certificate", (("explain", "tls"),)),
        ("spec listeners * allowedRoutes", "the namespaces whose models it leads to"),
    ),
    "GatewayClass": (
        ("metadata name", "llmaz-gateway by default", (("explain", "className"),)),
        ("metadata labels app.kubernetes.io/name", "its own name", (("explain", "className"),)),
        ("spec controllerName", "Envoy Gateway"),
    ),
    "EnvoyProxy": (
        ("spec provider", "proxies in the cluster"),
        (
            "spec provider kubernetes envoyDeployment replicas",
            "2 by default",
            (("explain", "replicas"),),
        ),
        (
            "spec provider kubernetes envoyService type",
            "ClusterIP by default",
            (("explain", "serviceType"),),
        ),
        (
            "spec provider kubernetes envoyService name",
            "a name without a hash: <namespace>-<Gateway>",
            (("explain", "name"),),
        ),
    ),
    "ClientTrafficPolicy": (
        ("spec targetRefs", "the Gateway of the same name"),
        ("spec targetRefs * name", "the Gateway of the same name", (("explain", "name"),)),
        ("spec connection", "long prompts need a larger buffer"),
        ("spec headers", "headers that clients must not set"),
    ),
    "ReferenceGrant": (
        ("spec from", "routes there repeat the authentication"),
        ("spec to", "the Secret with the Gateway's keys", (("explain", "auth"),)),
    ),
}


def rule(kind: str, path: Path, body: Mapping[str, object]) -> FieldRule | None:
    """The most specific rule of a field; None without one."""
    best: tuple[int, FieldRule] | None = None
    if kind == "Deployment" and text_at(body, "metadata", "labels", wellknown.COMPONENT) == "inference-server":
        kind = _APP_DEPLOYMENT
    tables: list[tuple[str, Path, Any]] = [("*", (), body), (kind, (), body)]
    if kind in (_APP_DEPLOYMENT, wellknown.LEADER_WORKER_SET):
        tables += [("Pod", template.path, template.body) for template in pod_templates(body)]
    for table, root, below in tables:
        if path[: len(root)] != root:
            continue
        deepest = _deepest(_tree(table), path[len(root) :], below)
        if deepest and (best is None or deepest[0] + len(root) >= best[0]):
            best = deepest[0] + len(root), deepest[1]
    return best[1] if best else None


class _Node:
    """A node of the trie of rows."""

    def __init__(self) -> None:
        self.rule: FieldRule | None = None
        self.below: dict[str, _Node] = {}


@lru_cache(maxsize=64)
def _tree(table: str) -> _Node:
    top = _Node()
    for row in _rows(table):
        node = top
        for step in row[0].split(" "):
            node = node.below.setdefault(step, _Node())
        node.rule = FieldRule(row[1], row[2] if len(row) > 2 else ())
    return top


def _rows(table: str) -> tuple[Row, ...]:
    return {"*": _ANY, "Pod": _POD}.get(table) or _KINDS.get(table, ())


def _deepest(node: _Node, path: Path, body: Any, depth: int = 0) -> tuple[int, FieldRule] | None:
    """The deepest rule along the path, and its depth; among equals one without `*`."""
    best = (depth, node.rule) if node.rule else None
    if len(path) == depth:
        return best
    part = path[depth]
    inside = body[part]
    name = str(inside.get("name", "")) if isinstance(inside, Mapping) else ""
    for step, below in node.below.items():
        if step in ("*", str(part), f"{part}={inside}") or (step[0] == "#" and name.startswith(step[1:])):
            deeper = _deepest(below, path, inside, depth + 1)
            if deeper and (best is None or deeper[0] > best[0] or (deeper[0] == best[0] and step != "*")):
                best = deeper
    return best


def all_rules() -> Iterator[tuple[str, str]]:
    """The kind (`Pod`: pod templates, `*`: all kinds) and text of each rule."""
    for table in ("*", "Pod", *_KINDS):
        for row in _rows(table):
            yield table, row[1]
