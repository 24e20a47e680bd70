"""What users and presets write, by kind. Made by `make schemas` from the input schemas; do not edit."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

class ConfigMapSpec(TypedDict, total=False):
    key: str
    name: str

class ChatTemplateSpec(TypedDict, total=False):
    configMap: ConfigMapSpec
    file: str

class EnvVar(TypedDict, total=False):
    name: str
    value: str
    valueFrom: Mapping[str, object]

class ResourcesSpec(TypedDict, total=False):
    limits: Mapping[str, str | float]
    requests: Mapping[str, str | float]

class ModelVersionSpec(TypedDict, total=False):
    args: Mapping[str, str | Sequence[str]]
    since: str
    until: str

class ModelEngineSpec(TypedDict, total=False):
    args: Sequence[str]
    chatTemplate: ChatTemplateSpec
    envs: Sequence[EnvVar]
    maxModelLen: int
    resources: ResourcesSpec
    versions: Sequence[ModelVersionSpec]

class AdapterSpec(TypedDict, total=False):
    base: str
    rank: int

class RecurrentSpec(TypedDict, total=False):
    convKernel: int
    keyDim: int
    keyHeads: int
    layers: int
    valueDim: int
    valueHeads: int

class AttentionSpec(TypedDict, total=False):
    fullLayers: int
    globalHeadDim: int
    globalKVHeads: int
    headDim: int
    heads: int
    hiddenSize: int
    indexDim: int
    indexLayers: int
    kvHeads: int
    latentDim: int
    layers: int
    recurrent: RecurrentSpec
    ropeDim: int
    slidingWindow: int
    valueDim: int

class MeasuredSpec(TypedDict, total=False):
    accelerator: str
    backend: str
    kvTokens: int
    tensor: int
    version: str

class FactsSpec(TypedDict, total=False):
    activeParameters: str | float
    adapter: AdapterSpec
    architecture: str
    attention: AttentionSpec
    contextLength: int
    gated: bool
    kind: str
    kvBytesPerToken: int
    licence: str
    measured: Sequence[MeasuredSpec]
    parameters: str | float
    precision: str
    quantization: str
    source: str
    weightsGiB: float

class FlavorSpec(TypedDict, total=False):
    accelerator: str
    limits: Mapping[str, str | float]
    name: str
    nodeSelector: Mapping[str, str]
    params: Mapping[str, str]

class InferenceConfigSpec(TypedDict, total=False):
    flavors: Sequence[FlavorSpec]

class HostPathSpec(TypedDict, total=False):
    path: str

class PerPodSpec(TypedDict, total=False):
    size: str | float
    storageClassName: str

class PvcSpec(TypedDict, total=False):
    accessModes: Sequence[str]
    claimName: str
    size: str | float
    storageClassName: str

class ModelCacheSpec(TypedDict, total=False):
    hostPath: HostPathSpec
    perPod: PerPodSpec
    pvc: PvcSpec

class ModelHubSpec(TypedDict, total=False):
    allowPatterns: Sequence[str]
    filename: str
    ignorePatterns: Sequence[str]
    modelID: str
    name: Literal["Huggingface", "ModelScope"]
    revision: str

class SourceSpec(TypedDict, total=False):
    modelHub: ModelHubSpec
    projector: str
    uri: str

class OpenModelSpec(TypedDict, total=False):
    createdAt: str
    engines: Mapping[str, ModelEngineSpec]
    facts: FactsSpec
    familyName: str
    inferenceConfig: InferenceConfigSpec
    modelCache: ModelCacheSpec
    ownedBy: str
    servedModelName: str
    source: SourceSpec

class AbsentSpec(TypedDict, total=False):
    images: Sequence[str]
    install: str
    name: str
    options: Mapping[str, Sequence[str]]
    scripts: Sequence[str]
    since: str
    until: str

class BatchSpec(TypedDict, total=False):
    more: int
    option: str

class HeldSpec(TypedDict, total=False):
    option: str

class RankSpec(TypedDict, total=False):
    default: int
    option: str
    values: Sequence[int]

class AdaptersSpec(TypedDict, total=False):
    asked: str
    batch: BatchSpec
    enable: Sequence[str]
    held: HeldSpec
    key: str
    options: Sequence[str]
    rank: RankSpec

class EngineChatTemplateSpec(TypedDict, total=False):
    options: Sequence[str]
    tasks: Sequence[str]

class DerivedSpec(TypedDict, total=False):
    args: Sequence[str]
    envs: Sequence[EnvVar]
    group: str
    kvCacheInSharedMemory: bool
    sharedMemory: str | float
    since: str
    until: str
    when: str

class PortSpec(TypedDict, total=False):
    name: str
    port: int
    role: Literal["decode", "prefill"]

class DisaggregationSpec(TypedDict, total=False):
    accelerators: Sequence[str]
    connector: str
    options: Sequence[str]
    pipeline: Literal["decodeEqualOrNone", "none"]
    ports: Sequence[PortSpec]
    sameOptions: Sequence[str]
    tensor: Literal["equal", "prefillAtMostDecode"]

class DrainSpec(TypedDict, total=False):
    gracePeriodSeconds: int
    option: str
    seconds: int

class FileSpec(TypedDict, total=False):
    content: str
    path: str
    when: str

class InitContainerSpec(TypedDict, total=False):
    args: Sequence[str]
    command: Sequence[str]
    image: str
    name: str
    when: str

class KvCacheOffloadingSpec(TypedDict, total=False):
    accelerators: Sequence[str]
    evictionPolicies: Sequence[str]
    mostTiers: int
    multipliedBy: Sequence[str]
    options: Sequence[str]
    tier: str

class BatchedTokensSpec(TypedDict, total=False):
    default: int
    option: str

class FractionSpec(TypedDict, total=False):
    default: float
    option: str

class SpeculationSpec(TypedDict, total=False):
    layers: Mapping[str, int]
    method: str
    tokens: str

class ValueTypeSpec(TypedDict, total=False):
    option: str
    values: Mapping[str, str]

class MemorySpec(TypedDict, total=False):
    batchedTokens: BatchedTokensSpec
    budget: Literal["freeFraction", "restFraction", "totalFraction", "wholeContext"]
    decodeContext: str
    fraction: FractionSpec
    offload: Literal["automatic", "none"]
    offloadOptions: Sequence[str]
    sizeOptions: Sequence[str]
    speculation: SpeculationSpec
    valueType: ValueTypeSpec
    withoutPrefixCaching: Sequence[str]

class MetricsSpec(TypedDict, total=False):
    adapters: str
    cacheBlockSize: str
    cacheBlocks: str
    cacheInfo: str
    guardedBy: Sequence[str]
    kvUsage: str
    modelLabel: str
    path: str
    running: str
    turnedOffBy: Sequence[str]
    waiting: str

class ModelsFileSpec(TypedDict, total=False):
    args: Sequence[str]
    lists: Sequence[str]
    path: str
    preload: str
    server: Sequence[str]

class ModelsMetricsSpec(TypedDict, total=False):
    model: str
    params: Mapping[str, str]

class ModelsSpec(TypedDict, total=False):
    defaultTag: str
    file: ModelsFileSpec
    lifecycle: Mapping[str, object]
    livenessProbe: Mapping[str, object]
    metrics: ModelsMetricsSpec
    readinessProbe: Mapping[str, object]
    startupProbe: Mapping[str, object]
    takes: Sequence[str]

class WorkerSpec(TypedDict, total=False):
    args: Sequence[str]
    lifecycle: Mapping[str, object]
    without: Sequence[str]

class MultiHostSpec(TypedDict, total=False):
    command: Sequence[str]
    livenessProbe: Mapping[str, object]
    readinessProbe: Mapping[str, object]
    serves: Literal["all", "leader"]
    startupProbe: Mapping[str, object]
    supervisorPort: int
    when: str
    worker: WorkerSpec

class NamesSpec(TypedDict, total=False):
    architectures: str
    keys: str
    metrics: str
    prefix: str
    variables: str

class HelpSpec(TypedDict, total=False):
    command: str
    hidden: Sequence[str]
    json: str
    partial: str
    removed: str
    usage: Sequence[str]

class ReservedSpec(TypedDict, total=False):
    options: Sequence[str]
    values: Sequence[str]
    warns: bool
    why: str

class SharedSpec(TypedDict, total=False):
    among: str
    instead: str
    options: Sequence[str]

class OptionsSpec(TypedDict, total=False):
    aliases: Mapping[str, str]
    dotted: bool
    duplicates: Literal["error", "last"]
    files: Sequence[str]
    groups: Mapping[str, Sequence[str]]
    help: HelpSpec
    idleWithout: Mapping[str, Sequence[str]]
    list: str
    plugins: Mapping[str, Sequence[str]]
    releases: Mapping[str, str]
    removed: str
    renamed: Mapping[str, str]
    requires: Mapping[str, Sequence[str]]
    reserved: Sequence[ReservedSpec]
    runsCode: Sequence[str]
    shared: SharedSpec
    shares: Mapping[str, Sequence[str]]
    splits: bool
    style: Literal["argparse", "clap", "click", "exact", "none"]
    uncertain: bool
    uncounted: Sequence[str]
    underscores: bool
    version: str

class ScaleSpec(TypedDict, total=False):
    behavior: Mapping[str, object]
    metric: Literal["kvUsage", "running", "waiting"]
    target: str | float

class SecuritySpec(TypedDict, total=False):
    anyUser: bool
    fsGroup: int
    group: int
    readOnlyRoot: bool
    user: int
    writable: Sequence[str]

class StartupSpec(TypedDict, total=False):
    perGiB: float
    seconds: int

class StreamSpec(TypedDict, total=False):
    formats: Sequence[str]
    schemes: Sequence[str]

class VariantSpec(TypedDict, total=False):
    accelerator: str
    image: str
    security: SecuritySpec
    unflavored: bool
    version: str

class VersionAdaptersSpec(TypedDict, total=False):
    asked: str
    enable: Sequence[str]
    held: HeldSpec
    rank: RankSpec

class VersionMetricsSpec(TypedDict, total=False):
    adapters: str
    cacheBlockSize: str
    cacheBlocks: str
    cacheInfo: str
    kvUsage: str
    path: str
    running: str
    waiting: str

class NoteSpec(TypedDict, total=False):
    what: str
    when: str

class VersionOptionsSpec(TypedDict, total=False):
    aliases: Mapping[str, str]
    dotted: bool
    duplicates: Literal["error", "last"]
    idleWithout: Mapping[str, Sequence[str]]
    requires: Mapping[str, Sequence[str]]
    underscores: bool

class VersionSpec(TypedDict, total=False):
    adapters: VersionAdaptersSpec
    args: Mapping[str, str | Sequence[str]]
    command: Sequence[str]
    derived: Sequence[DerivedSpec]
    drain: DrainSpec
    envs: Mapping[str, str]
    lifecycle: Mapping[str, object]
    livenessProbe: Mapping[str, object]
    memory: MemorySpec
    metrics: VersionMetricsSpec
    notes: Sequence[NoteSpec]
    options: VersionOptionsSpec
    readinessProbe: Mapping[str, object]
    refuse: Sequence[NoteSpec]
    since: str
    startupProbe: Mapping[str, object]
    until: str

class VolumeSpec(TypedDict, total=False):
    mountPath: str
    name: str

class EngineSpec(TypedDict, total=False):
    absent: Sequence[AbsentSpec]
    adapters: AdaptersSpec
    chatTemplate: EngineChatTemplateSpec
    derived: Sequence[DerivedSpec]
    disaggregation: DisaggregationSpec
    dividesHeads: bool
    drain: DrainSpec
    files: Sequence[FileSpec]
    formats: Sequence[str]
    hubs: Sequence[str]
    initContainers: Sequence[InitContainerSpec]
    interfaceVariables: Sequence[str]
    kvCacheOffloading: KvCacheOffloadingSpec
    memory: MemorySpec
    metrics: MetricsSpec
    models: ModelsSpec
    multiHost: Sequence[MultiHostSpec]
    names: NamesSpec
    notice: str
    oneFile: Sequence[str]
    options: OptionsSpec
    parts: Sequence[str]
    projector: Sequence[str]
    rerankVersion: str
    scale: ScaleSpec
    security: SecuritySpec
    servedName: str
    sources: Sequence[str]
    startup: StartupSpec
    stream: StreamSpec
    tasks: Sequence[str]
    unsupported: Mapping[str, str]
    variants: Sequence[VariantSpec]
    versions: Sequence[VersionSpec]
    volumes: Sequence[VolumeSpec]

class ScaleTriggerSpec(TypedDict, total=False):
    hpa: Mapping[str, object]

class RecommendedConfigSpec(TypedDict, total=False):
    args: Sequence[str]
    name: str
    resources: ResourcesSpec
    scaleTrigger: ScaleTriggerSpec
    sharedMemorySize: str | float

class BackendRuntimeSpec(TypedDict, total=False):
    command: Sequence[str]
    engine: EngineSpec
    envs: Sequence[EnvVar]
    image: str
    lifecycle: Mapping[str, object]
    livenessProbe: Mapping[str, object]
    readinessProbe: Mapping[str, object]
    recommendedConfigs: Sequence[RecommendedConfigSpec]
    startupProbe: Mapping[str, object]
    version: str

class BackendRuntimeConfigSpec(TypedDict, total=False):
    args: Sequence[str]
    backendName: str
    configName: str
    envs: Sequence[EnvVar]
    resources: ResourcesSpec
    sharedMemorySize: str | float
    version: str

class ElasticConfigSpec(TypedDict, total=False):
    maxReplicas: int
    minReplicas: int
    scaleTrigger: ScaleTriggerSpec

class ParallelismSpec(TypedDict, total=False):
    data: int
    expert: bool
    hosts: int
    pipeline: int
    tensor: int

class DecodeSpec(TypedDict, total=False):
    args: Sequence[str]
    elasticConfig: ElasticConfigSpec
    envs: Sequence[EnvVar]
    inferenceFlavors: Sequence[str]
    parallelism: ParallelismSpec
    podTemplate: Mapping[str, object]
    replicas: int
    resources: ResourcesSpec
    sharedMemorySize: str | float

class AppDisaggregationSpec(TypedDict, total=False):
    decode: DecodeSpec
    kind: Literal["DisaggregatedSet", "LeaderWorkerSet"]
    prefill: DecodeSpec

class TimeoutsSpec(TypedDict, total=False):
    request: str
    streamIdle: str

class GatewaySpec(TypedDict, total=False):
    allow: Sequence[str]
    mode: Literal["backend", "off", "pool"]
    port: int
    timeouts: TimeoutsSpec

class SecondarySpec(TypedDict, total=False):
    emptyDir: str | float
    path: str
    pvc: str

class AppKvCacheOffloadingSpec(TypedDict, total=False):
    cpu: str | float
    evictionPolicy: str
    secondary: Sequence[SecondarySpec]

class ModelClaimSpec(TypedDict, total=False):
    inferenceFlavors: Sequence[str]
    modelName: str

class ModelSpec(TypedDict, total=False):
    args: Sequence[str]
    name: str
    preload: bool
    role: Literal["draft", "lora", "main"]

class ModelClaimsSpec(TypedDict, total=False):
    inferenceFlavors: Sequence[str]
    loaded: int
    models: Sequence[ModelSpec]

class ServiceSpec(TypedDict, total=False):
    annotations: Mapping[str, str]
    enginePort: int
    labels: Mapping[str, str]
    name: str
    port: int
    type: Literal["ClusterIP", "LoadBalancer", "NodePort"]

class RolloutSpec(TypedDict, total=False):
    maxSurge: int | str
    maxUnavailable: int | str
    partition: int

class WorkloadSpec(TypedDict, total=False):
    annotations: Mapping[str, str]
    exclusiveTopology: str
    kind: Literal["Deployment", "LeaderWorkerSet"]
    labels: Mapping[str, str]
    leaderEnvs: Sequence[EnvVar]
    priorityClass: str
    queue: str
    rollout: RolloutSpec
    selector: Mapping[str, str]
    volumeClaimTemplates: Sequence[Mapping[str, object]]
    workerEnvs: Sequence[EnvVar]

class ModelClaimsModelSpec(TypedDict, total=False):
    name: str
    role: Literal["draft", "lora", "main"]

class AppModelClaimsSpec(TypedDict, total=False):
    inferenceFlavors: Sequence[str]
    models: Sequence[ModelClaimsModelSpec]

class NetworkConfigSpec(TypedDict, total=False):
    subdomainPolicy: Literal["Shared", "UniquePerReplica"]

class RolloutStrategySpec(TypedDict, total=False):
    rollingUpdateConfiguration: RolloutSpec
    type: Literal["RollingUpdate"]

class AppServiceSpec(TypedDict, total=False):
    annotations: Mapping[str, str]
    labels: Mapping[str, str]
    name: str
    port: int
    type: Literal["ClusterIP", "LoadBalancer", "NodePort"]

class AppWorkloadSpec(TypedDict, total=False):
    annotations: Mapping[str, str]
    exclusiveTopology: str
    kind: Literal["Deployment", "LeaderWorkerSet"]
    labels: Mapping[str, str]
    priorityClass: str
    queue: str
    selector: Mapping[str, str]

class PersistentVolumeClaimRetentionPolicySpec(TypedDict, total=False):
    whenDeleted: Literal["Delete", "Retain"]
    whenScaled: Literal["Delete", "Retain"]

class SubGroupPolicySpec(TypedDict, total=False):
    subGroupPolicyType: Literal["LeaderExcluded", "LeaderWorker"]
    subGroupSize: int

class WorkloadTemplateSpec(TypedDict, total=False):
    leaderTemplate: Mapping[str, object]
    maxGroupRestarts: int
    persistentVolumeClaimRetentionPolicy: PersistentVolumeClaimRetentionPolicySpec
    restartPolicy: Literal["Default", "None", "RecreateGroupAfterStart", "RecreateGroupOnPodRestart"]
    size: int
    subGroupPolicy: SubGroupPolicySpec
    volumeClaimTemplates: Sequence[Mapping[str, object]]
    workerTemplate: Mapping[str, object]

class AppSpec(TypedDict, total=False):
    backendRuntimeConfig: BackendRuntimeConfigSpec
    chatTemplate: ChatTemplateSpec
    disaggregation: AppDisaggregationSpec
    elasticConfig: ElasticConfigSpec
    flavorPolicy: Literal["affinity", "auto", "first", "inftyai", "variants"]
    gateway: GatewaySpec
    groupIdentity: Literal["Hash", "Ordinal"]
    groupReplacementPolicy: Literal["Immediate", "PostTermination"]
    hardening: Literal["default", "off", "openshift", "restricted"]
    kvCacheOffloading: AppKvCacheOffloadingSpec
    modelClaim: ModelClaimSpec
    modelClaims: ModelClaimsSpec | AppModelClaimsSpec
    networkConfig: NetworkConfigSpec
    parallelism: ParallelismSpec
    podTemplate: Mapping[str, object]
    replicas: int
    rolloutStrategy: RolloutStrategySpec
    scheduling: Mapping[str, object]
    servedModelName: str
    service: ServiceSpec | AppServiceSpec
    startupPolicy: Literal["LeaderCreated", "LeaderReady"]
    workload: WorkloadSpec | AppWorkloadSpec
    workloadTemplate: WorkloadTemplateSpec

class AuthSpec(TypedDict, total=False):
    region: str
    secretName: str
    type: Literal["APIKey", "AWSCredentials", "AnthropicAPIKey", "AzureAPIKey"]

class ProviderSpec(TypedDict, total=False):
    auth: AuthSpec
    hostname: str
    modelName: str
    port: int
    prefix: str
    schema: Literal["AWSAnthropic", "AWSBedrock", "Anthropic", "AzureOpenAI", "Cohere", "OpenAI"]
    version: str

class BackendSpec(TypedDict, total=False):
    adapter: str
    model: str
    playground: str
    priority: int
    provider: ProviderSpec
    service: str
    weight: int

class TrafficGatewaySpec(TypedDict, total=False):
    allow: Sequence[str]

class RetriesSpec(TypedDict, total=False):
    attempts: int

class PerSpec(TypedDict, total=False):
    header: str

class TokenLimitSpec(TypedDict, total=False):
    count: Literal["cachedInput", "input", "output", "reasoning", "total"]
    interval: Literal["Day", "Hour", "Minute", "Month", "Second", "Year"]
    per: Literal["tenant"] | PerSpec
    tokens: int

class PoolRefSpec(TypedDict, total=False):
    group: str
    kind: str
    name: str

class TargetModelSpec(TypedDict, total=False):
    name: str
    weight: int

class TrafficSpec(TypedDict, total=False):
    backends: Sequence[BackendSpec]
    criticality: Literal["Critical", "Sheddable", "Standard"]
    gateway: TrafficGatewaySpec
    hostnames: Sequence[str]
    modelName: str
    poolRef: PoolRefSpec
    retries: RetriesSpec
    targetModels: Sequence[TargetModelSpec]
    timeouts: TimeoutsSpec
    tokenLimits: Sequence[TokenLimitSpec]

class LoaderSpec(TypedDict, total=False):
    args: Sequence[object]
    command: Sequence[str]
    image: str
    sources: Sequence[object]
    version: str

class ProfileSpec(TypedDict, total=False):
    name: str
    plugins: Sequence[Mapping[str, object]]

class SidecarSpec(TypedDict, total=False):
    args: Sequence[str]
    image: str
    rankArgs: Sequence[str]
    resources: ResourcesSpec
    security: Mapping[str, object]
    version: str

class PickerDisaggregationSpec(TypedDict, total=False):
    plugins: Sequence[Mapping[str, object]]
    profiles: Sequence[ProfileSpec]
    roleLabel: str
    sidecar: SidecarSpec

class FlowControlScaleSpec(TypedDict, total=False):
    metric: str
    name: str
    target: str

class FlowControlSpec(TypedDict, total=False):
    config: Mapping[str, object]
    scale: Sequence[FlowControlScaleSpec]

class PickerSpec(TypedDict, total=False):
    apiGroup: str
    args: Sequence[str]
    config: Mapping[str, object]
    disaggregation: PickerDisaggregationSpec
    engineLabel: str
    flowControl: FlowControlSpec
    image: str
    reads: Sequence[str]
    targetPorts: Literal["all", "first"]
    version: str

class AcceleratorSpec(TypedDict, total=False):
    count: Literal["none", "one", "tp"]
    vendor: Literal["amd", "ascend", "gaudi", "intel", "nvidia", "tpu"]

class InterceptorSpec(TypedDict, total=False):
    concurrency: int
    namespace: str
    port: int
    scaler: str
    service: str

class AuthenticationRefSpec(TypedDict, total=False):
    kind: Literal["ClusterTriggerAuthentication", "TriggerAuthentication"]
    name: str

class PrometheusSpec(TypedDict, total=False):
    authModes: Sequence[str]
    authenticationRef: AuthenticationRefSpec
    serverAddress: str

class KedaSpec(TypedDict, total=False):
    cooldown: int
    interceptor: InterceptorSpec
    prometheus: PrometheusSpec

class PodMonitorSpec(TypedDict, total=False):
    interval: str
    labels: Mapping[str, str]

class MetricSourceSpec(TypedDict, total=False):
    podMonitor: PodMonitorSpec
    type: Literal["none", "prometheus", "prometheusAdapter"]

class AutoscalingSpec(TypedDict, total=False):
    autoscaler: Literal["hpa", "keda"]
    keda: KedaSpec
    metricSource: MetricSourceSpec

EnvironmentSpec = TypedDict(
    "EnvironmentSpec",
    {
        "config": Mapping[str, object],
        "from": str,
        "models": Mapping[str, Mapping[str, object] | None],
        "playgrounds": Mapping[str, Mapping[str, object] | None],
        "routes": Mapping[str, Mapping[str, object] | None],
        "services": Mapping[str, Mapping[str, object] | None],
    },
    total=False,
)

class ClaimsSpec(TypedDict, total=False):
    count: int
    deviceClassName: str
    selectors: Sequence[str]

ParamsSpec = TypedDict(
    "ParamsSpec",
    {
        "INSTANCE-TYPE": str,
    },
    total=False,
)

class RenderConfigFlavorSpec(TypedDict, total=False):
    accelerator: str
    annotations: Mapping[str, str]
    capabilities: Sequence[str]
    claims: ClaimsSpec
    env: Sequence[EnvVar]
    hostNetwork: bool
    limits: Mapping[str, str | float]
    nodeSelector: Mapping[str, str]
    params: ParamsSpec
    perHour: str | float
    runtimeClassName: str
    tolerations: Sequence[Mapping[str, object]]

class FleetSpec(TypedDict, total=False):
    currency: str
    ownerLabel: str
    perHour: Mapping[str, str | float]

class ApiKeysSpec(TypedDict, total=False):
    headers: Sequence[str]
    secretName: str

class GatewayAuthSpec(TypedDict, total=False):
    apiKeys: ApiKeysSpec
    jwt: Sequence[Mapping[str, object]]
    tenantHeader: str

class TlsSpec(TypedDict, total=False):
    issuer: str
    secretName: str

class NamespaceGatewaySpec(TypedDict, total=False):
    auth: GatewayAuthSpec
    className: str
    clusterDomain: str
    create: bool
    dnsTTL: int
    hostnames: Sequence[str]
    maxModels: int
    mode: Literal["backend", "off", "pool"]
    name: str
    namespace: str
    picker: str
    replicas: int
    routeBuckets: int
    routeLayout: Literal["model", "packed"]
    serviceType: Literal["ClusterIP", "LoadBalancer", "NodePort"]
    timeouts: TimeoutsSpec
    tls: TlsSpec

class RenderConfigGatewaySpec(TypedDict, total=False):
    auth: GatewayAuthSpec
    className: str
    clusterDomain: str
    create: bool
    dnsTTL: int
    hostnames: Sequence[str]
    maxModels: int
    mode: Literal["backend", "off", "pool"]
    name: str
    namespace: str
    perNamespace: Mapping[str, NamespaceGatewaySpec]
    picker: str
    replicas: int
    routeBuckets: int
    routeLayout: Literal["model", "packed"]
    serviceType: Literal["ClusterIP", "LoadBalancer", "NodePort"]
    timeouts: TimeoutsSpec
    tls: TlsSpec

class ImagesSpec(TypedDict, total=False):
    digests: Mapping[str, str]
    mirrors: Mapping[str, str]

class CapacityReservationSelectorTermSpec(TypedDict, total=False):
    id: str
    tags: Mapping[str, str]

class ConsolidationSpec(TypedDict, total=False):
    after: str
    policy: Literal["Balanced", "WhenEmpty", "WhenEmptyOrUnderutilized"]

class RequirementSpec(TypedDict, total=False):
    key: str
    operator: Literal["DoesNotExist", "Exists", "Gt", "Gte", "In", "Lt", "Lte", "NotIn"]
    values: Sequence[str]

class SecurityGroupSelectorTermSpec(TypedDict, total=False):
    id: str
    name: str
    tags: Mapping[str, str]

class TaintSpec(TypedDict, total=False):
    effect: Literal["NoExecute", "NoSchedule", "PreferNoSchedule"]
    key: str
    value: str

class FlavorKarpenterSpec(TypedDict, total=False):
    amiAlias: str
    architectures: Sequence[str]
    capacityReservationSelectorTerms: Sequence[CapacityReservationSelectorTermSpec]
    capacityTypes: Sequence[str]
    consolidation: ConsolidationSpec
    expireAfter: str
    instanceProfile: str
    instanceStorePolicy: Literal["RAID0"]
    limits: Mapping[str, str | float]
    requirements: Sequence[RequirementSpec]
    role: str
    securityGroupSelectorTerms: Sequence[SecurityGroupSelectorTermSpec]
    subnetSelectorTerms: Sequence[CapacityReservationSelectorTermSpec]
    tags: Mapping[str, str]
    taints: Sequence[TaintSpec]
    volumeSize: str
    volumeThroughput: int

class KarpenterSpec(TypedDict, total=False):
    amiAlias: str
    architectures: Sequence[str]
    capacityReservationSelectorTerms: Sequence[CapacityReservationSelectorTermSpec]
    capacityTypes: Sequence[str]
    consolidation: ConsolidationSpec
    expireAfter: str
    instanceProfile: str
    instanceStorePolicy: Literal["RAID0"]
    limits: Mapping[str, str | float]
    namePrefix: str
    perFlavor: Mapping[str, FlavorKarpenterSpec]
    requirements: Sequence[RequirementSpec]
    role: str
    securityGroupSelectorTerms: Sequence[SecurityGroupSelectorTermSpec]
    subnetSelectorTerms: Sequence[CapacityReservationSelectorTermSpec]
    tags: Mapping[str, str]
    taints: Sequence[TaintSpec]
    volumeSize: str
    volumeThroughput: int

class HubLoaderSpec(TypedDict, total=False):
    env: Sequence[EnvVar]
    image: str
    resources: ResourcesSpec
    version: str

class StoreLoaderSpec(TypedDict, total=False):
    anonymous: bool
    endpoint: str
    env: Sequence[EnvVar]
    image: str
    region: str
    resources: ResourcesSpec
    version: str

class LoadersSpec(TypedDict, total=False):
    hub: HubLoaderSpec
    oci: HostPathSpec
    store: StoreLoaderSpec

class ChartSpec(TypedDict, total=False):
    name: str
    version: str

class OutputSpec(TypedDict, total=False):
    chart: ChartSpec
    dir: str
    foreign: Sequence[str]
    kustomization: bool
    layout: Literal["app", "file", "object"]
    plainSecrets: Sequence[str]

class CaBundleSpec(TypedDict, total=False):
    configMap: str
    key: str
    secret: str

class ImagePullSecretSpec(TypedDict, total=False):
    name: str

IpBlockSpec = TypedDict(
    "IpBlockSpec",
    {
        "cidr": str,
        "except": Sequence[str],
    },
    total=False,
)

class MatchExpressionSpec(TypedDict, total=False):
    key: str
    operator: Literal["DoesNotExist", "Exists", "In", "NotIn"]
    values: Sequence[str]

class NamespaceSelectorSpec(TypedDict, total=False):
    matchExpressions: Sequence[MatchExpressionSpec]
    matchLabels: Mapping[str, str]

class FromSpec(TypedDict, total=False):
    ipBlock: IpBlockSpec
    namespaceSelector: NamespaceSelectorSpec
    podSelector: NamespaceSelectorSpec

NetworkPolicySpec = TypedDict(
    "NetworkPolicySpec",
    {
        "from": Sequence[FromSpec],
    },
    total=False,
)

class PodsSpec(TypedDict, total=False):
    annotations: Mapping[str, str]
    caBundle: CaBundleSpec
    env: Sequence[EnvVar]
    imagePullSecrets: Sequence[ImagePullSecretSpec]
    labels: Mapping[str, str]
    listenAddress: Literal["0.0.0.0", "::"]
    networkPolicy: bool | NetworkPolicySpec
    priorityClassName: str
    serviceAccountName: str
    tolerations: Sequence[Mapping[str, object]]
    topologySpreadConstraints: Sequence[Mapping[str, object]]

GCSSecretSpec = TypedDict(
    "GCSSecretSpec",
    {
        "as": Literal["hmac", "keyFile"],
        "name": str,
    },
    total=False,
)

class SecretsHubLoaderSpec(TypedDict, total=False):
    key: str
    name: str
    optional: bool

class SecretsSpec(TypedDict, total=False):
    aws: str
    gcs: GCSSecretSpec
    hub: str | SecretsHubLoaderSpec
    oss: str

class TargetsSpec(TypedDict, total=False):
    aiGateway: str
    envoyGateway: str
    gatewayAPI: str
    gatewayAPIChannel: Literal["experimental", "standard"]
    inferenceExtension: str
    kubernetes: str
    leaderWorkerSet: str

class RenderConfigSpec(TypedDict, total=False):
    accelerators: Mapping[str, AcceleratorSpec]
    autoscaling: AutoscalingSpec
    backend: str
    environments: Mapping[str, EnvironmentSpec | None]
    external: Sequence[str]
    flavorPolicy: Literal["affinity", "auto", "first", "inftyai", "variants"]
    flavors: Mapping[str, RenderConfigFlavorSpec]
    fleet: FleetSpec
    gateway: RenderConfigGatewaySpec
    hardening: Literal["default", "off", "openshift", "restricted"]
    ignore: Sequence[str]
    images: ImagesSpec
    karpenter: KarpenterSpec
    loaders: LoadersSpec
    modelCache: ModelCacheSpec
    namespace: str
    optionLists: str
    output: OutputSpec
    passThrough: Sequence[str]
    pods: PodsSpec
    schedulerName: str
    secrets: SecretsSpec
    targets: TargetsSpec

class ConfigSpec(TypedDict, total=False):
    external: Sequence[str]
    output: Sequence[str]
    passThrough: Sequence[str]

class DefinitionsSpec(TypedDict, total=False):
    backends: Sequence[str]
    models: Sequence[str]
    presetNames: Sequence[str]

class FolderSpec(TypedDict, total=False):
    namespaces: Sequence[str]
    path: str

class RenderPolicyImagesSpec(TypedDict, total=False):
    registries: Sequence[str]

class NamespaceSpec(TypedDict, total=False):
    labels: Mapping[str, str]

class PassThroughSpec(TypedDict, total=False):
    kinds: Sequence[str]

class RenderPolicyPodsSpec(TypedDict, total=False):
    hostNetwork: bool
    hostPID: bool
    priorityClasses: Sequence[str]
    privileged: bool
    runAsRoot: bool
    serviceAccounts: Sequence[str]

class ProvidersSpec(TypedDict, total=False):
    hosts: Sequence[str]

class PublicNameSpec(TypedDict, total=False):
    names: Sequence[str]
    namespaces: Sequence[str]

class QuotaSpec(TypedDict, total=False):
    accelerators: Sequence[str]
    flavors: Sequence[str]
    max: int
    namespaces: Sequence[str]

class WeightsSpec(TypedDict, total=False):
    hostPaths: Sequence[str]
    licences: Sequence[str]
    revisions: Literal["commits"]
    sources: Sequence[str]

class RenderPolicySpec(TypedDict, total=False):
    admission: Sequence[str]
    config: ConfigSpec
    definitions: DefinitionsSpec
    folders: Sequence[FolderSpec]
    images: RenderPolicyImagesSpec
    namespaces: Mapping[str, NamespaceSpec]
    passThrough: PassThroughSpec
    pods: RenderPolicyPodsSpec
    providers: ProvidersSpec
    publicNames: Sequence[PublicNameSpec]
    quotas: Sequence[QuotaSpec]
    weights: WeightsSpec
