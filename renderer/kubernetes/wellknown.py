"""What several rooms agree on: the keys of labels and annotations, suffixes of names, ports and headers."""

from __future__ import annotations

from typing import Final

# Labels, and the annotations that the operator knows too.
NAME = "app.kubernetes.io/name"
COMPONENT = "app.kubernetes.io/component"
PART_OF = "app.kubernetes.io/part-of"
MANAGED_BY = "app.kubernetes.io/managed-by"
MODEL_NAME = "llmaz.io/model-name"
MODEL_FAMILY = "llmaz.io/model-family-name"
FLAVORS = "llmaz.io/inference-service-flavors"
# Labels that LeaderWorkerSet writes on the pods of its groups.
GROUPS = "leaderworkerset.sigs.k8s.io/name"
WORKER_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"  # "0" on leaders

# Annotations of the renderer's own.
OWN_PREFIX = "renderer.llmaz.io/"
BACKEND = OWN_PREFIX + "backend"
ACCELERATOR = OWN_PREFIX + "accelerator"  # of pods: the resource, where only RenderConfig says that it is one
ENGINE_VERSION = OWN_PREFIX + "engine-version"
MODEL_REVISION = OWN_PREFIX + "model-revision"
WEIGHTS_SIZE = OWN_PREFIX + "weights-gib"  # of what a Job loads, where the model's facts say it
KV_CACHE_MEMORY = OWN_PREFIX + "kv-cache-memory"  # what a pod keeps outside of its accelerators
SERVED_MODEL_NAME = OWN_PREFIX + "served-model-name"
MODELS = OWN_PREFIX + "models"  # the public names of its main models, where it has several
ADAPTERS = OWN_PREFIX + "adapters"  # the public names of the adapters that it loads
PICKER_CONFIG = OWN_PREFIX + "config"  # the hash of a picker's configuration
WORKLOAD = OWN_PREFIX + "workload"  # a label: on the pods of Deployments, their Deployment
METRICS_PATH = OWN_PREFIX + "metrics-path"
RANK_METRICS_PATH = OWN_PREFIX + "rank-metrics-path"  # of pods of replicas in which every pod answers requests
KUEUE = "kueue.x-k8s.io"
QUEUE_NAME, QUEUE_PRIORITY = f"{KUEUE}/queue-name", f"{KUEUE}/priority-class"  # labels of what Kueue lets wait
TRANSFERS_HPA = "scaledobject.keda.sh/transfer-hpa-ownership"  # KEDA takes over an HPA of the named name

# Suffixes of the names of an app's objects.
LB_SERVICE = "-lb"
LEADERS_SERVICE = "-leaders"
CONFIG_MAP = "-config"
PICKER = "-epp"

LEADER_WORKER_SET, DEPLOYMENT = "LeaderWorkerSet", "Deployment"  # what runs pods
HPA, SCALED_OBJECT = "HorizontalPodAutoscaler", "ScaledObject"  # what writes `replicas` of those
AUTOSCALERS = (HPA, SCALED_OBJECT)
RUNNER = "model-runner"  # the container that serves the model, of a hand-written template too
PORT = 8080  # of args, probes, drain and Services (docs/design/contract.md#names-in-the-pod)
ENGINE_PORT = 8200  # of an engine behind a picker's sidecar, which has PORT
PREFILL: Final = "prefill"
DECODE: Final = "decode"
RANK_PORTS = ("http", *(f"http-{rank}" for rank in range(1, 8)))
"""The names of the ports of a pod's data parallel ranks, from PORT on; a pool has at most eight."""
MODEL_HEADER = "x-ai-eg-model"  # in which the AI gateway puts the model of a request
MODEL_PATHS = ("/v1", "/cohere", "/anthropic")  # below which the AI gateway serves models, by its own settings
TENANT_HEADER = "x-tenant-id"  # in which the Gateway puts who calls, where RenderConfig names no other
PICKER_CONTAINER = "epp"
PICKER_COMPONENT = "endpoint-picker"
POOL_GROUP = "inference.networking.k8s.io"
ENVOY_CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller"  # of GatewayClasses that Envoy Gateway serves

CLUSTER_SCOPED: Final = frozenset(
    {
        "APIService", "CSIDriver", "CSINode", "CertificateSigningRequest", "ClusterIssuer", "ClusterQueue",
        "ClusterRole",
        "ClusterRoleBinding", "ClusterTriggerAuthentication", "Cohort", "CustomResourceDefinition", "DeviceClass",
        "EC2NodeClass", "FlowSchema", "GatewayClass", "IngressClass", "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "Namespace", "Node", "NodeClaim", "NodePool",
        "OpenModel", "PersistentVolume", "PriorityClass", "PriorityLevelConfiguration", "ResourceFlavor",
        "ResourceSlice",
        "RuntimeClass", "StorageClass", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration", "VolumeAttachment", "VolumeAttributesClass", "WorkloadPriorityClass",
    }
)  # fmt: skip
"""Kinds that lie in no namespace."""


def own_labels(name: str, component: str) -> dict[str, str]:
    """The labels of an object that the renderer makes."""
    labels = {NAME: name} if name else {}
    labels |= {COMPONENT: component} if component else {}
    return {**labels, PART_OF: "llmaz", MANAGED_BY: "llmaz-renderer"}
