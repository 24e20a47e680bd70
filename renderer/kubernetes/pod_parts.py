"""Where kinds have pods, and parts of pods: by kind for what is known, by its CRD for any other.

A path is written with dots; `*` stands for each item of a list or value of a map, `**` for any number of levels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, TypeAlias

from msgspec import Struct

from renderer.kubernetes import disaggregated_sets
from renderer.kubernetes.json_values import as_map, map_at, maps_at, text_at

Kind: TypeAlias = tuple[str, str]  # API group and name
Path: TypeAlias = tuple[str | int, ...]
Pattern: TypeAlias = tuple[str, ...]

CONTAINERS: Final = ("containers", "initContainers", "ephemeralContainers")
ACCOUNTS: Final = ("serviceAccountName", "serviceAccount", "taskServiceAccountName")
PRIORITIES: Final = ("priorityClassName", "podPriorityClassName")
_NAMES: Final = frozenset((*CONTAINERS, *ACCOUNTS, *PRIORITIES, "hostNetwork", "hostPID", "securityContext", "image"))
_WILDCARDS: Final = ("*", "**")
_DEEPEST: Final = 64  # levels of a CRD's schema that are looked at

_TEMPLATE: Final = "spec.template.spec"
_LWS: Final = "leaderWorkerTemplate.leaderTemplate.spec {0}leaderWorkerTemplate.workerTemplate.spec"
_PODS: Final[Mapping[str, str]] = {
    "/Pod": "spec",
    "/PodTemplate": "template.spec",
    "/ReplicationController": _TEMPLATE,
    "apps/DaemonSet": _TEMPLATE,
    "apps/Deployment": _TEMPLATE,
    "apps/ReplicaSet": _TEMPLATE,
    "apps/StatefulSet": _TEMPLATE,
    "batch/CronJob": "spec.jobTemplate.spec.template.spec",
    "batch/Job": _TEMPLATE,
    "leaderworkerset.x-k8s.io/LeaderWorkerSet": f"spec.{_LWS.format('spec.')}",
    f"{disaggregated_sets.GROUP}/DisaggregatedSet": f"spec.roles.*.spec.{_LWS.format('spec.roles.*.spec.')}",
    "keda.sh/ScaledJob": "spec.jobTargetRef.template.spec",
}
"""Whole pods, by API group and kind: these kinds have nothing of a pod anywhere else."""

_ARGO: Final = "{0} {0}.templateDefaults {0}.templates.* {0}.**.inline {0}.**.executor {0}.**.artifactGC"
_RAY: Final = "{0}.headGroupSpec.template.spec {0}.workerGroupSpecs.*.template.spec"
_RAY_JOB: Final = f"{_RAY.format('{0}.rayClusterSpec')} {{0}}.submitterPodTemplate.spec"
_KSERVE_LLM: Final = (
    "spec.template spec.worker spec.prefill.template spec.prefill.worker"
    " spec.router.scheduler.template spec.router.scheduler.tokenizer.template"
)
_SPARK: Final = "{0}.driver {0}.executor {0}.batchSchedulerOptions {0}.driver.template.spec {0}.executor.template.spec"
_RUNTIME: Final = "spec spec.workerSpec"
_OME_RUNTIME: Final = (
    "spec spec.workers spec.routerConfig spec.engineConfig spec.engineConfig.leader spec.engineConfig.worker"
    " spec.decoderConfig spec.decoderConfig.leader spec.decoderConfig.worker"
)
_JOBS: Final = "template.spec.replicatedJobs.*.template.spec.template.spec"
_PATCHES: Final = f"runtimePatches.*.trainingRuntimeSpec.{_JOBS}"
_ENVOY: Final = "spec.provider.kubernetes.*.pod spec.provider.kubernetes.*.patch.value.spec.template.spec"
_PARTS: Final[Mapping[str, str]] = {
    # KServe 0.19, config/crd/full
    "serving.kserve.io/InferenceService": (
        "spec.predictor! spec.transformer! spec.explainer! spec.predictor.workerSpec spec.canary.*.predictor!"
        " spec.canary.*.predictor.workerSpec spec.**.logger.storage"
    ),
    "serving.kserve.io/ServingRuntime": _RUNTIME,
    "serving.kserve.io/ClusterServingRuntime": _RUNTIME,
    "serving.kserve.io/LLMInferenceService": _KSERVE_LLM,
    "serving.kserve.io/LLMInferenceServiceConfig": _KSERVE_LLM,
    "serving.kserve.io/InferenceGraph": "spec",
    "serving.kserve.io/LocalModelCache": "spec",
    "serving.kserve.io/LocalModelNamespaceCache": "spec",
    "serving.kserve.io/LocalModelNodeGroup": "",
    "serving.kserve.io/ClusterStorageContainer": "",
    # OME, config/crd/full
    "ome.io/InferenceService": (
        "spec.predictor spec.predictor.workerSpec spec.router spec.engine spec.engine.leader spec.engine.worker"
        " spec.decoder spec.decoder.leader spec.decoder.worker"
    ),
    "ome.io/ServingRuntime": _OME_RUNTIME,
    "ome.io/ClusterServingRuntime": _OME_RUNTIME,
    "ome.io/BenchmarkJob": "spec.podOverride",
    # Argo Workflows, manifests/base/crds/full, and Argo Events, pkg/apis/events
    "argoproj.io/Workflow": _ARGO.format("spec"),
    "argoproj.io/WorkflowTemplate": _ARGO.format("spec"),
    "argoproj.io/ClusterWorkflowTemplate": _ARGO.format("spec"),
    "argoproj.io/CronWorkflow": _ARGO.format("spec.workflowSpec"),
    "argoproj.io/WorkflowTaskSet": "spec.tasks.* spec.**.inline spec.**.executor spec.**.artifactGC",
    "argoproj.io/WorkflowEventBinding": "spec.**.artifactGC",
    "argoproj.io/Sensor": "spec.template",
    "argoproj.io/EventSource": "spec.template",
    # NVIDIA's NIM operator, config/crd/bases
    "apps.nvidia.com/NIMService": "spec",
    "apps.nvidia.com/NIMCache": "spec",
    "apps.nvidia.com/NIMBuild": "spec",
    "apps.nvidia.com/NIMPipeline": "spec.services.*.spec",
    "apps.nvidia.com/NemoCustomizer": "spec",
    "apps.nvidia.com/NemoDatastore": "spec",
    "apps.nvidia.com/NemoEntitystore": "spec",
    "apps.nvidia.com/NemoEvaluator": "spec spec.argoWorkflows",
    "apps.nvidia.com/NemoGuardrail": "spec",
    # KubeRay, helm-chart/kuberay-operator/crds
    "ray.io/RayCluster": _RAY.format("spec"),
    "ray.io/RayService": _RAY.format("spec.rayClusterConfig"),
    "ray.io/RayJob": _RAY_JOB.format("spec"),
    "ray.io/RayCronJob": _RAY_JOB.format("spec.jobTemplate"),
    # Kubeflow Trainer, manifests/base/crds, and Spark operator, config/crd/bases
    "trainer.kubeflow.org/TrainingRuntime": f"spec.{_JOBS}",
    "trainer.kubeflow.org/ClusterTrainingRuntime": f"spec.{_JOBS}",
    "trainer.kubeflow.org/TrainJob": f"spec.{_PATCHES} spec.podTemplateOverrides.*.spec",
    "trainer.kubeflow.org/OptimizationJob": f"spec.trainJobTemplate.spec.{_PATCHES}",
    "sparkoperator.k8s.io/SparkApplication": _SPARK.format("spec"),
    "sparkoperator.k8s.io/ScheduledSparkApplication": _SPARK.format("spec.template"),
    "sparkoperator.k8s.io/SparkConnect": "spec.server.template.spec spec.executor.template.spec",
    # Strimzi, packaging/install/cluster-operator
    "kafka.strimzi.io/Kafka": "spec.*.template.pod",
    "kafka.strimzi.io/KafkaConnect": "spec.template.pod spec.template.buildPod",
    "kafka.strimzi.io/KafkaMirrorMaker2": "spec.template.pod spec.template.buildPod",
    "kafka.strimzi.io/KafkaNodePool": "spec.template.pod",
    "kafka.strimzi.io/KafkaBridge": "spec.template.pod",
    # Tekton, config/300-crds, and Knative, config/core/300-resources
    "tekton.dev/TaskRun": "spec spec.podTemplate",
    "tekton.dev/PipelineRun": (
        "spec spec.podTemplate spec.taskRunTemplate spec.taskRunTemplate.podTemplate spec.taskRunSpecs.*"
        " spec.taskRunSpecs.*.podTemplate spec.taskRunSpecs.*.taskPodTemplate"
    ),
    "tekton.dev/CustomRun": "spec",
    "serving.knative.dev/Service": _TEMPLATE,
    "serving.knative.dev/Configuration": _TEMPLATE,
    "serving.knative.dev/Revision": "spec",
    # vLLM's production stack, operator/config/crd/bases
    "production-stack.vllm.ai/VLLMRouter": "spec",
    "production-stack.vllm.ai/VLLMRuntime": "spec.deploymentConfig",
    "production-stack.vllm.ai/CacheServer": "spec",
    # Prometheus operator, example/prometheus-operator-crd-full, and OpenTelemetry's, config/crd/bases
    "monitoring.coreos.com/Prometheus": "spec",
    "monitoring.coreos.com/PrometheusAgent": "spec",
    "monitoring.coreos.com/Alertmanager": "spec",
    "monitoring.coreos.com/ThanosRuler": "spec",
    "opentelemetry.io/OpenTelemetryCollector": "spec spec.targetAllocator",
    "opentelemetry.io/TargetAllocator": "spec",
    "opentelemetry.io/OpAMPBridge": "spec",
    # Envoy Gateway, whose CRD is among our schemas
    "gateway.envoyproxy.io/EnvoyProxy": _ENVOY,
    "gateway.envoyproxy.io/EnvoyExtensionPolicy": "",
}
"""Maps with fields of pods, by API group and kind. `!`: a whole pod, in which no containers need be written."""

_WORKFLOWS: Final = ("Workflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "CronWorkflow", "WorkflowTaskSet")
_VOLUMES: Final[Mapping[Kind, Path]] = {
    ("", "PersistentVolume"): ("spec",),
    ("serving.kserve.io", "LocalModelNodeGroup"): ("spec", "persistentVolumeSpec"),
}
_PODLESS_GROUPS: Final = frozenset(
    (
        *(
            f"{name}.k8s.io"
            for name in (
                "admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization",
                "certificates", "coordination", "discovery", "events", "flowcontrol.apiserver", "gateway.networking",
                "inference.networking", "internal.apiserver", "metrics", "networking", "node", "rbac.authorization",
                "resource", "scheduling", "snapshot.storage", "storage", "storagemigration",
            )
        ),
        "gateway.networking.x-k8s.io",
        "inference.networking.x-k8s.io",
    )
)  # fmt: skip


class PodPart(Struct, frozen=True):
    """Where a kind has a pod, or a part of one."""

    pattern: Pattern
    is_whole: bool  # a pod, whether or not it has containers


def whole_pods(kind: Kind) -> tuple[PodPart, ...] | None:
    """Where a kind of Kubernetes or of ours has its pods; None for other kinds."""
    return _parts(_PODS.get(f"{kind[0]}/{kind[1]}"))


def pod_parts(kind: Kind) -> tuple[PodPart, ...] | None:
    """Where a kind of others has pods or parts of them; None for a kind that is not known."""
    return _parts(_PARTS.get(f"{kind[0]}/{kind[1]}"))


def yaml_texts(kind: Kind) -> tuple[Pattern, ...]:
    """Where a kind has texts that are the YAML of an object, or of a part of one."""
    is_workflow = kind[0] == "argoproj.io" and kind[1] in _WORKFLOWS
    return (("spec", "**", "podSpecPatch"), ("spec", "**", "resource", "manifest")) if is_workflow else ()


def volume_path(kind: Kind) -> Path | None:
    """Where a kind has the spec of a PersistentVolume."""
    return _VOLUMES.get(kind)


def is_known(kind: Kind) -> bool:
    """Whether it is known where objects of the kind have pods, or that they have none."""
    group, name = kind
    return "." not in group or group in _PODLESS_GROUPS or f"{group}/{name}" in _PODS or f"{group}/{name}" in _PARTS


@cache
def _parts(text: str | None) -> tuple[PodPart, ...] | None:
    if text is None:
        return None
    return tuple(PodPart(tuple(path.rstrip("!").split(".")), path.endswith("!")) for path in text.split())


def find(value: object, pattern: Pattern, path: Path = ()) -> Iterator[tuple[Path, object]]:
    """What stands at a pattern in a value, with its path."""
    for i, part in enumerate(pattern):
        if part in _WILDCARDS:
            yield from _find_any(value, pattern[i:], path)
            return
        if not isinstance(value, dict) or part not in value:
            return
        value, path = value[part], (*path, part)
    yield path, value


def _find_any(value: object, pattern: Pattern, path: Path) -> Iterator[tuple[Path, object]]:
    """What stands at a pattern that begins with a wildcard."""
    rest = pattern[1:]
    if pattern[0] == "**":
        yield from find(value, rest, path)
        rest = pattern
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from find(item, rest, (*path, key))


class DefinedKind(Struct, frozen=True):
    """What a CRD says of the pods in its kind."""

    parts: tuple[PodPart, ...]
    is_open: bool  # it has fields of which it does not say what they hold

    @property
    def may_hold_pods(self) -> bool:
        """Whether objects may have pods or parts of them."""
        return self.is_open or bool(self.parts)


def defined_kinds(bodies: Iterable[Mapping[str, object]]) -> dict[Kind, DefinedKind]:
    """What the CRDs among these objects say, by the kinds that they define."""
    kinds = {}
    for body in bodies:
        if body.get("kind") == "CustomResourceDefinition" and text_at(body, "spec", "group"):
            kind = (text_at(body, "spec", "group"), text_at(body, "spec", "names", "kind"))
            kinds[kind] = _defined_kind(body)
    return kinds


def _defined_kind(body: Mapping[str, object]) -> DefinedKind:
    patterns: dict[Pattern, None] = {}
    is_open = False
    for version in maps_at(body, "spec", "versions"):
        schema = map_at(version, "schema", "openAPIV3Schema")
        fields = as_map(schema.get("properties"))
        rest = {"properties": {name: fields[name] for name in fields if name not in ("metadata", "status")}}
        is_open |= not fields or schema.get("x-kubernetes-preserve-unknown-fields") is True
        for pattern, is_part in _schema_parts(rest, ()):
            is_open |= not is_part
            patterns.update({pattern: None} if is_part else {})
    return DefinedKind(tuple(PodPart(pattern, is_whole=False) for pattern in patterns), is_open)


def _schema_parts(schema: Mapping[str, object], pattern: Pattern) -> Iterator[tuple[Pattern, bool]]:
    """The maps with fields of pods below a schema (True), and those of which it says nothing (False)."""
    fields = as_map(schema.get("properties"))
    if not _NAMES.isdisjoint(fields):
        yield pattern, True
    if schema.get("x-kubernetes-preserve-unknown-fields") is True:
        yield pattern, False
    if len(pattern) < _DEEPEST:
        for name, field in fields.items():
            yield from _schema_parts(as_map(field), (*pattern, name))
        for key in ("items", "additionalProperties"):
            yield from _schema_parts(as_map(schema.get(key)), (*pattern, "*")) if key in schema else ()
