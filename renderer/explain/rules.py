"""Short descriptions of fields that the renderer decides, and the fields that these are made of.

A row: the steps to a field (`*`: any, `#name`: a list item whose name begins so, `key=value`: one with that value), the
description, and what the field is made of: fields of the same object, or `said` and a key of the plan's origins. A row
applies to the field and all below it; the longest match wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from renderer.diagnostics import Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import text_at


class FieldRule(Struct, frozen=True):
    """A rule that fields are made by."""

    text: str  # of the rule
    of: tuple[Path, ...] = ()  # keys of what the field is made of; the first that exists counts


_NAME, _NAMESPACE = ("metadata", "name"), ("metadata", "namespace")
OWN: Path = ("own",)  # made of no input, though its parent may be
_OWN = "labels by which tools know an app"
_LEADERS = "the leader is the pod 0 of a group"
_REFERENCE = "the object of the same app, by its name"
_HARD = "hardening: the rights that it needs"
_DRIFT = "the API's default, so nothing drifts"
_PORT = "every part of a pod agrees on this port"
_PICKER = "what the picker of a pool needs"
_MOUNT = "weights, files, folders of the engine"
SUM = "what it asks for otherwise, and KV cache in memory"
_COMPONENT = "metadata labels app.kubernetes.io/component"

Row = tuple[str, str] | tuple[str, str, tuple[Path, ...]]

_ANY: tuple[Row, ...] = (
    ("apiVersion", "the API of this kind"),
    ("kind", "the kind that is made of this input"),
    ("metadata name", "its app's name, or the default one", (("name",), ("explain", "name"))),
    (
        "metadata namespace",
        "the default, where none is set",
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
    ("metadata labels llm-d.ai/role", "the part of its pods in a request"),
    ("metadata annotations llmaz.io/config-hash", "changed files restart the pods"),
    ("metadata annotations llmaz.io/inference-service-flavors", "the flavors that count"),
    ("metadata annotations renderer.llmaz.io/metrics-path", "tells the PodMonitor where to look"),
    ("metadata annotations renderer.llmaz.io/rank-metrics-path", "tells the PodMonitor where to look"),
    ("spec schedulerName", "Kubernetes' own, or flavorPolicy's"),
    ("spec automountServiceAccountToken", _HARD),
    ("spec enableServiceLinks", _HARD),
    ("spec securityContext", _HARD),
    ("spec nodeSelector", "the labels of the flavor's nodes"),
    ("spec affinity", "the nodes of all flavors, the best first"),
    ("spec tolerations", "accelerators taint their nodes"),
    ("spec runtimeClassName", "the flavor's runtime class"),
    ("spec terminationGracePeriodSeconds", "the preset's drain, the sleep before it, of workers 20s more"),
    ("spec topologySpreadConstraints", "counts the app's own pods", (_NAME,)),
    (
        "spec topologySpreadConstraints * labelSelector matchLabels leaderworkerset.sigs.k8s.io/name",
        "its own pods",
        (_NAME,),
    ),
    ("spec volumes", _MOUNT),
    ("spec volumes #model-volume", "where loaders put the weights"),
    ("spec volumes #model-volume emptyDir sizeLimit", "twice the weights and 10 GiB, by facts.weightsGiB"),
    ("spec volumes #model-host", "weights on the node"),
    ("spec volumes #model-image", "weights in an image"),
    ("spec volumes #dshm", "shared memory of the engine's processes"),
    ("spec volumes #kv-cache", "files of KV cache that memory has no room for"),
    ("spec volumes #writable", "folders that stay writable, below a read-only root"),
    ("spec volumes #config", "the files of the engine's preset"),
    ("spec volumes #config configMap name", "the ConfigMap of the same app", (_NAME,)),
    ("spec initContainers", "a step before the engine starts"),
    ("spec initContainers * env", "as the runner has it"),
    ("spec initContainers #routing-sidecar", "the picker's: it answers for the engine, and asks for prefill first"),
    ("spec initContainers #routing-sidecar restartPolicy", "starts before the engine, and runs beside it"),
    ("spec initContainers #routing-sidecar ports * protocol", _DRIFT),
    ("spec initContainers #model-loader", "brings weights before the engine starts"),
    ("spec initContainers * image", "repository, version and registry"),
    ("spec initContainers * securityContext", _HARD),
    ("spec initContainers * volumeMounts", _MOUNT),
    ("spec initContainers #model-loader env", "the loader's, for this kind of source"),
    ("spec initContainers #model-loader volumeMounts", "where weights and credentials are"),
    ("spec containers", "what models need, beside the template"),
    ("spec containers #model-runner name", "upstream's name for the engine"),
    ("spec containers #model-runner image", "repository, version and registry"),
    ("spec containers #model-runner args", "what the backend makes of the model"),
    ("spec containers #model-runner env", "the backend's, and credentials"),
    ("spec containers #model-runner env #HOME", "the first folder that the engine may write"),
    ("spec containers #model-runner ports", _PORT, (("explain", "port"),)),
    (
        f"spec containers #model-runner ports * containerPort={wellknown.ENGINE_PORT}",
        "the engine's port behind the picker's sidecar, which has 8080",
    ),
    ("spec containers #model-runner ports #http-", "a port for each rank of data parallelism"),
    ("spec containers #model-runner ports #supervisor", "answers probes for all ranks of the pod"),
    ("spec containers #model-runner ports * protocol", _DRIFT),
    ("spec containers #model-runner resources", "request and limit follow each other"),
    (
        "spec containers #model-runner resources requests ephemeral-storage",
        "weights and a tenth, by facts.weightsGiB",
    ),
    ("spec containers #model-runner startupProbe failureThreshold", "time to load, by the size of the weights"),
    ("spec containers #model-runner volumeMounts", _MOUNT),
    ("spec containers #model-runner volumeMounts #model-volume", "where loaders put the weights"),
    ("spec containers #model-runner volumeMounts #kv-cache", "files of KV cache that memory has no room for"),
    ("spec containers #model-runner volumeMounts #dshm", "shared memory of the engine's processes"),
    ("spec containers * securityContext", _HARD),
)

_APP_DEPLOYMENT = "Deployment of an app"  # a table; a picker's Deployment has another
_SELECTS: tuple[Row, ...] = (
    ("renderer.llmaz.io/workload", "the pods of the app's Deployment", (_NAME, ("name",))),
    ("leaderworkerset.sigs.k8s.io/name", "the pods of the app's LeaderWorkerSet", (_NAME, ("name",))),
    ("disaggregatedset.x-k8s.io/name", "the pods of the app's DisaggregatedSet", (_NAME, ("name",))),
    ("disaggregatedset.x-k8s.io/role", "the pods of this role"),
    ("leaderworkerset.sigs.k8s.io/worker-index", _LEADERS),
)

_KINDS: Mapping[str, tuple[Row, ...]] = {
    "LeaderWorkerSet": (
        ("metadata name", "named like its app; a variant's flavor behind it", (("name",),)),
        ("metadata annotations renderer.llmaz.io/backend", "the CRD's default backend"),
        ("metadata annotations renderer.llmaz.io/engine-version", "what the image's tag says of the engine"),
        ("metadata annotations renderer.llmaz.io/model-revision", "the hub's default branch"),
        ("metadata annotations renderer.llmaz.io/kv-cache-memory", "what the engine keeps outside of its accelerators"),
        ("metadata annotations renderer.llmaz.io/served-model-name", "what clients call the model"),
        ("metadata annotations renderer.llmaz.io/adapters", "what clients call the claimed adapters"),
        ("spec replicas", "1, where no other is set"),
        ("spec startupPolicy", "by the size of a group", (("explain", "size"),)),
        ("spec rolloutStrategy", "one group after the other, no group more"),
        ("spec networkConfig", _DRIFT),
        ("spec leaderWorkerTemplate size", "a pod for each host of a replica", (("explain", "size"),)),
        ("spec leaderWorkerTemplate restartPolicy", "a group lives and dies as one", (("explain", "restartPolicy"),)),
        ("spec leaderWorkerTemplate subGroupPolicy", _DRIFT),
    ),
    "DisaggregatedSet": (
        ("metadata name", "named like its app", (("name",),)),
        ("spec roles * name", "the part of its pods in a request", (("explain", "role"),)),
        ("spec roles * scaling", "an autoscaler sets its replicas"),
    ),
    "Service": (
        ("metadata name", "<app>-lb or <app>-leaders: LeaderWorkerSet makes <app> itself", (("name",), _NAME)),
        ("spec selector", _PICKER),
        ("spec clusterIP", "headless: the gateway sees every leader"),
        *((f"spec selector {steps}", *rest) for steps, *rest in _SELECTS),
        ("spec ports", "the port that the runner listens on"),
        ("spec ports * targetPort", "the port that the runner listens on", (("answering_port",),)),
        ("spec ports * port", "the port that the runner listens on", (("answering_port",),)),
    ),
    "HorizontalPodAutoscaler": (
        ("spec scaleTargetRef", "it scales the app's workload"),
        ("spec scaleTargetRef name", "it scales the app's workload", (_NAME,)),
        ("spec minReplicas", "1 where elasticConfig says no other"),
        ("spec metrics", "CPU, where no metric is set"),
        ("spec behavior", "fits the time that a start takes"),
    ),
    "ScaledObject": (
        ("metadata annotations", "KEDA takes over an HPA of this name"),
        ("spec scaleTargetRef", "it scales the app's LeaderWorkerSet"),
        ("spec scaleTargetRef name", "it scales the app's LeaderWorkerSet", (_NAME,)),
        ("spec pollingInterval", "as often as metrics are read"),
        ("spec cooldownPeriod", "from the last request to no replica"),
        ("spec minReplicaCount", "1 where elasticConfig says no other"),
        ("spec fallback", "without metrics nothing is taken away"),
        ("spec advanced", "of the HPA that KEDA makes"),
        ("spec advanced horizontalPodAutoscalerConfig name", "the name of KEDA's HPA", (_NAME,)),
        ("spec triggers", "queries for the metrics of the engine or the picker"),
    ),
    "InterceptorRoute": (
        ("spec target", "the Service of the leaders"),
        ("spec target service", "the Service of the leaders", (_NAME,)),
        ("spec rules", "requests come with their public name"),
        ("spec scalingMetric", "requests at once that a replica should have"),
        ("spec timeouts", "time to start; the gateway's own timeout ends a request"),
    ),
    "ServiceMonitor": (
        ("metadata name", "one a namespace, over all pickers"),
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
        ("metadata name", "named like the workload whose pods claim by it", (_NAME,)),
        ("spec", "the devices of each pod"),
    ),
    "ConfigMap": (
        ("metadata name", "<app>-config, or the picker's", (_NAME,)),
        ("data", "files beside the command line"),
    ),
    "Backend": (
        ("metadata name", "named like its app", (_NAME,)),
        ("spec type", _DRIFT),
        ("spec endpoints 0 fqdn hostname", "the Service of the leaders, in the cluster's domain", (_NAME,)),
        ("spec endpoints 0 fqdn port", "8080 of a pod, 443 of a provider"),
        ("spec tls", "a provider is asked by TLS", (("spec", "endpoints", 0, "fqdn", "hostname"),)),
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
        ("metadata name", "its app's, or one of routeBuckets", (("name",),)),
        ("spec parentRefs", "the Gateway of the namespace"),
        ("spec parentRefs * group", "the Gateway of the namespace", (OWN,)),
        ("spec parentRefs * kind", "the Gateway of the namespace", (OWN,)),
        ("spec rules * matches * headers * type", "the AI gateway writes the model there", (OWN,)),
        ("spec rules * matches * headers * name", "the AI gateway writes the model there", (OWN,)),
        ("spec hostnames", "the hosts of the Gateway"),
        ("spec llmRequestCosts", "budgets ask to count tokens"),
        ("spec rules * matches", "a rule for each public name"),
        ("spec rules * backendRefs", "all workloads of the app"),
        ("spec rules * backendRefs * weight", "by replicas; 1 where they are scaled", (("replicas",),)),
        ("spec rules * backendRefs * name", "all workloads of the app", (_NAME,)),
        (
            "spec rules * backendRefs * modelNameOverride",
            "what the engine calls the model",
            (("spec", "rules", 0, "matches"),),
        ),
        ("spec rules * timeouts", "600s, where no other is set", (("explain", "request"),)),
        ("spec rules * modelsOwnedBy", "the model's owner, llmaz by default"),
        ("spec rules * modelsCreatedAt", "when the model came to be"),
    ),
    "BackendTrafficPolicy": (
        ("spec targetRefs", "the HTTPRoute of the route's name"),
        ("spec targetRefs * name", "the HTTPRoute of the route's name", (_NAME,)),
        ("spec timeout", "how long a stream may be silent", (("explain", "streamIdle"),)),
        ("spec retry", "again on another backend, on these answers"),
        ("spec rateLimit", "counted in tokens, once a request is answered"),
    ),
    "SecurityPolicy": (
        ("metadata name", "named like its route, or its Gateway", (_NAME,)),
        ("spec targetRefs", "the route, or the Gateway, by its name"),
        ("spec targetRefs * name", "the route, or the Gateway, by its name", (_NAME, ("explain", "name"))),
        ("spec authorization", "everybody else is refused"),
        ("spec apiKeyAuth", "repeats the Gateway's, which it hides", (("explain", "auth"),)),
        ("spec jwt", "repeats the Gateway's, which it hides", (("explain", "auth"),)),
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
        ("spec rules", "requests go on by the names of their targets"),
    ),
    "PersistentVolumeClaim": (
        ("metadata name", "the model's, -weights behind it", (_NAME,)),
        ("metadata annotations", "nothing deletes weights"),
        ("spec", "modelCache of the model, or of RenderConfig"),
    ),
    "Job": (
        ("metadata name", "the model's, and a hash of the pod", (_NAME,)),
        ("spec", "fills the model's cache once"),
    ),
    "Deployment": (("spec", _PICKER), ("spec selector", _PICKER)),
    _APP_DEPLOYMENT: (
        ("metadata name", "named like its app; a variant's flavor behind it", (("name",),)),
        ("metadata annotations renderer.llmaz.io/backend", "the CRD's default backend"),
        ("metadata annotations renderer.llmaz.io/engine-version", "what the image's tag says of the engine"),
        ("metadata annotations renderer.llmaz.io/model-revision", "the hub's default branch"),
        ("metadata annotations renderer.llmaz.io/kv-cache-memory", "what the engine keeps outside of its accelerators"),
        ("metadata annotations renderer.llmaz.io/served-model-name", "what clients call the model"),
        ("metadata annotations renderer.llmaz.io/adapters", "what clients call the claimed adapters"),
        ("spec replicas", "1, where no other is set"),
        ("spec progressDeadlineSeconds", "what a start may take, and five minutes"),
        ("spec selector", "the pods of this Deployment alone"),
        ("spec strategy", "one pod after the other, no pod more"),
        ("spec template metadata labels renderer.llmaz.io/workload", "the pods of this Deployment alone", (("name",),)),
    ),
    "ServiceAccount": (("metadata", _PICKER),),
    "Role": (("rules", "reads pods, its pool, what steers it"),),
    "RoleBinding": (("roleRef", _PICKER), ("subjects", _PICKER)),
    "OpenModel": (
        ("metadata labels llmaz.io/model-family-name", "as upstream's webhook sets it", (("spec", "familyName"),)),
        ("spec source", _DRIFT),
        ("spec ownedBy", _DRIFT),
        ("spec inferenceConfig", "the flavors, with RenderConfig's words"),
    ),
    "PodMonitor": (
        ("metadata name", "one a namespace, over all engines"),
        ("metadata namespace", "every namespace with metrics to read"),
        ("spec selector", "the pods of all models that answer requests"),
        ("spec podMetricsEndpoints", "pods say by annotation where to look"),
    ),
    "NetworkPolicy": (
        ("metadata name", "one a namespace, over all models"),
        ("metadata namespace", "every namespace with models"),
        ("spec podSelector", "the pods of all models"),
        ("spec ingress", "each other, pickers, the gateway's proxies, and whom RenderConfig names"),
        ("spec policyTypes", "pods may connect to whatever they like"),
    ),
    "Gateway": (
        ("metadata annotations", "cert-manager makes the certificate", (("explain", "tls"),)),
        ("spec gatewayClassName", "llmaz-gateway by default", (("explain", "className"),)),
        ("spec infrastructure", "the EnvoyProxy of the same name"),
        (
            "spec infrastructure parametersRef name",
            "the EnvoyProxy of the same name",
            (("explain", "name"),),
        ),
        ("spec listeners", "one a host with TLS, else one for all"),
        ("spec listeners * hostname", "one listener a host", (("explain", "hostnames"),)),
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
        ("spec headers", "clients must not say these themselves"),
    ),
    "ReferenceGrant": (
        ("spec from", "routes there repeat the authentication"),
        ("spec to", "the Secret with the Gateway's keys", (("explain", "auth"),)),
    ),
}
_PODS: Mapping[str, tuple[Path, ...]] = {
    _APP_DEPLOYMENT: (("spec", "template"),),
    "LeaderWorkerSet": (
        ("spec", "leaderWorkerTemplate", "leaderTemplate"),
        ("spec", "leaderWorkerTemplate", "workerTemplate"),
    ),
}


def rule(kind: str, path: Path, body: Mapping[str, object]) -> FieldRule | None:
    """The most specific rule of a field; None without one."""
    best: tuple[int, FieldRule] | None = None
    if kind == "Deployment" and text_at(body, "metadata", "labels", wellknown.COMPONENT) == "inference-server":
        kind = _APP_DEPLOYMENT
    for table, root in (("*", ()), (kind, ()), *(("Pod", root) for root in _PODS.get(kind, ()))):
        if path[: len(root)] != root:
            continue
        below: Any = body
        for part in root:
            below = below[part]
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
