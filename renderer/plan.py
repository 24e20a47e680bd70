"""The records between `resolve`, `build` and `check`: plans and manifests. All are frozen; nothing here reads, decides
or prints.

Parts that the API takes unchanged (environment entries, probes, volumes, …) are plain maps with the API's field names;
a map that many manifests contain is a `yamlio.SharedMap`. The origin of a value stands beside it. `origins()` returns
those of fields that no record has a place for, by path; it is called only when an origin is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from renderer.diagnostics import Located, Origin, Path
from renderer.kubernetes import wellknown
from renderer.kubernetes.api_record import ApiRecord

if TYPE_CHECKING:
    from decimal import Decimal

    from renderer.fit.verdict import FitVerdict

Body = Mapping[str, object]
FieldOrigins: TypeAlias = Callable[[], Mapping[Path, Origin]]  # by path in the record, worked out when it is called


class Port(Struct, frozen=True):
    """The port that the runner listens on, and that its Services have."""

    name: str
    number: int


class Container(ApiRecord, frozen=True):
    """A container; empty fields are not written."""

    name: str
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[Body, ...] = ()
    ports: tuple[Body, ...] = ()
    resources: Body = {}
    startup_probe: Body = {}
    readiness_probe: Body = {}
    liveness_probe: Body = {}
    lifecycle: Body = {}
    security_context: Body = {}
    volume_mounts: tuple[Body, ...] = ()
    rest: Body = {}  # further fields of a hand-written container


class Pod(ApiRecord, frozen=True, kw_only=True):
    """A pod template: three fields of its metadata, and its spec. Fields that are None or empty are not written."""

    metadata: Body = {}  # further fields of its metadata
    labels: Body = {}
    annotations: Body = {}
    scheduler_name: str = ""
    automount_service_account_token: bool | None = None
    enable_service_links: bool | None = None
    rest: Body = {}  # further fields of the pod spec
    node_selector: Body = {}
    tolerations: tuple[Body, ...] = ()
    termination_grace_period_seconds: int | None = None
    security_context: Body = {}
    affinity: Body = {}
    init_containers: tuple[Container, ...] = ()
    containers: tuple[Container, ...] = ()
    volumes: tuple[Body, ...] = ()


class Setting(Struct, frozen=True):
    """An option of a command line."""

    option: str  # as the engine names it
    value: str  # '' for an option without one
    origin: Origin

    @property
    def text(self) -> str:
        """The option with its value."""
        return f"{self.option} {self.value}" if self.value else self.option


class Role(Struct, frozen=True):
    """The part of a workload whose pods share the work with those of another one."""

    name: str  # prefill or decode
    connector: str  # how KV cache is handed over
    tensor: int  # the parallel size
    tensor_rule: str  # what holds for the sizes of both roles
    tensor_origin: Origin | None  # the argument that says its own size, None where none does
    pipeline: int  # the parallel size
    pipeline_rule: str  # what holds for the sizes of both roles
    pipeline_origin: Origin  # where its own size is said
    vendor: str  # of its accelerators
    vendor_origin: Origin  # where they are chosen
    layout: Mapping[str, Setting]  # what both have to have alike, by option; of a flag and its negation by the flag


class ClientService(Struct, frozen=True):
    """The Service that an app asks for, beside those that every workload has."""

    name: str
    port: int  # 0 for that of the container
    type: str
    labels: Body
    annotations: Body
    of_leaders: bool = True  # in an app of several workloads it leads to their leaders alone


class DeviceTemplate(Struct, frozen=True):
    """A ResourceClaimTemplate with one request for devices, in the API's words."""

    name: str
    request: Body
    origin: Origin  # of the claim in RenderConfig's flavors


class Rollout(ApiRecord, frozen=True, kw_only=True):
    """The rolling update of a LeaderWorkerSet."""

    partition: int | None = None  # groups with a lower index are not updated; None for versions without that field
    max_unavailable: int | str = 1  # groups that may be unavailable, a number or a percentage
    max_surge: int | str = 0  # groups that may run beside, a number or a percentage


class ScaleTrigger(Struct, frozen=True):
    """What one layer scales on."""

    spec: Body  # metrics and behavior, as in autoscaling/v2
    origin: Origin
    of_engine: bool = False  # the queue metric of `engine.scale`, from which the spec is made


class KedaTrigger(Struct, frozen=True):
    """A trigger of a ScaledObject."""

    body: Body
    origin: Origin  # of what it scales on
    prometheus: Located | None = None  # the settings of the one that it asks, None where it asks none


class Cooldown(Struct, frozen=True):
    """How long a workload that may have no replica keeps its last one."""

    seconds: int  # after its last request
    origin: Origin


class Scaler(Struct, frozen=True):
    """An autoscaler."""

    min_replicas: int  # in groups
    max_replicas: int  # in groups
    metrics: tuple[Body, ...]  # as in autoscaling/v2
    behavior: Body = {}  # as in autoscaling/v2
    layers: tuple[ScaleTrigger, ...] = ()  # that say metrics and behavior, the winner last; none for our defaults
    triggers: tuple[KedaTrigger, ...] = ()  # of KEDA, which then takes the place of the HPA
    picker_queue_seconds: int = 0  # how long the pool's picker holds requests, 0 where it holds none
    wake_seconds: int = 0  # how long a start from zero may take, 0 where there always is a replica
    cooldown: Cooldown | None = None  # None where there always is a replica
    owner: str = ""  # kind and name of an autoscaler that somebody else has written, '' for one that is rendered


class Interceptor(Struct, frozen=True):
    """The interceptor of KEDA's http-add-on before a workload that may have no replica."""

    host: str  # of its Service
    port: int  # of its Service
    models: tuple[str, ...]  # the public names by which it knows requests for this workload
    seconds: int  # how long a start may take
    concurrency: int  # requests at once that a replica should have


class RouteTarget(Struct, frozen=True, order=True):
    """A route backend: the AIServiceBackend of a workload or provider; or a pool, which gets all requests, under the
    public name.
    """

    name: str
    weight: int  # within its priority
    model: str  # the name that it knows the model by
    priority: int = 0
    pool: bool = False


class ModelNeed(Struct, frozen=True, order=True):
    """The need of an OpenModel object in the cluster."""

    name: str
    lent_flavors: tuple[str, ...] = ()  # that RenderConfig's catalog lends it


class CacheNeed(Struct, frozen=True, order=True):
    """The need of a claim with the weights of a model, which a Job fills."""

    namespace: str
    model: str


class MonitorNeed(Struct, frozen=True, order=True):
    """The need of a PodMonitor that reads the engines of a namespace."""

    namespace: str
    name: str


class PickerMonitorNeed(Struct, frozen=True, order=True):
    """The need of the ServiceMonitor that reads the pickers of a namespace."""

    namespace: str


class NetworkPolicyNeed(Struct, frozen=True, order=True):
    """The need of a NetworkPolicy over the models of a namespace."""

    namespace: str


class GatewayNeed(Struct, frozen=True, order=True):
    """The need of a Gateway that we create."""

    gateway: tuple[str, str]  # namespace and name
    namespace: str  # of a route on it


class GrantNeed(Struct, frozen=True, order=True):
    """The need of a ReferenceGrant for the Secret of a Gateway that we create."""

    gateway: tuple[str, str]  # namespace and name
    namespace: str  # of a route that repeats the Gateway's authentication


class PackedRule(Struct, frozen=True, order=True):
    """The rule of one public name, which a route of several names is to have."""

    namespace: str
    route: str  # the name of the packed route
    model: str
    targets: tuple[RouteTarget, ...]
    request_timeout: str
    owned_by: str  # as the gateway lists the model
    created_at: str  # likewise


class NameClaim(Struct, frozen=True, order=True):
    """The claim of a public name on a Gateway, where it has one owner on each host. Apps sort first."""

    gateway: tuple[str, str]  # namespace and name
    namespace: str  # of the owner
    kind: str  # of the owner where that is a ModelRoute or InferenceModel, '' for an app
    name: str  # of the owner
    object: str  # the name of the route that is made for this claim alone, '' for none
    hostnames: tuple[str, ...]  # empty for all hosts of the Gateway
    model: str

    @property
    def owner(self) -> tuple[str, str, str]:
        """Namespace, kind and name of what claims the public name."""
        return self.namespace, self.kind, self.name


class RewriteClaim(Struct, frozen=True, order=True):
    """The claim of an InferenceModelRewrite, and of what a picker makes of a public name in a pool. Apps sort first."""

    kind: str  # of the owner where that is a ModelRoute or InferenceModel, '' for an app
    owner: str
    pool: str
    model: str
    namespace: str
    name: str  # of the InferenceModelRewrite
    shares: tuple[tuple[str, int], ...]  # the names that replace it with their weights, 0 for none

    @property
    def owner_key(self) -> tuple[str, str, str]:
        """Namespace, kind and name of what makes the rewrite."""
        return self.namespace, self.kind, self.owner


class UnroutedModel(Struct, frozen=True, order=True):
    """The want of a route to a model, since the AI gateway has no path for its task."""

    namespace: str
    app: str
    task: str
    services: tuple[str, ...]  # where clients reach it


class HeldName(Struct, frozen=True, order=True):
    """The claim of a public name by which the interceptor knows one workload of the cluster."""

    model: str
    app: str  # namespace/name


SharedNeed: TypeAlias = (
    ModelNeed
    | CacheNeed
    | MonitorNeed
    | PickerMonitorNeed
    | NetworkPolicyNeed
    | GatewayNeed
    | GrantNeed
    | PackedRule
    | NameClaim
    | RewriteClaim
    | HeldName
    | UnroutedModel
)
"""What an app contributes to what several apps share, in plain types, since processes exchange these records."""


class TokenLimit(Struct, frozen=True):
    """A budget of tokens for each value of a header."""

    header: str
    tokens: int
    unit: str  # of time
    kind: str  # of tokens, the AI gateway's name for it


class NamedModel(Struct, frozen=True):
    """A model of a server beside its first one, with a name of its own: an adapter, or one of several main models."""

    name: str  # its public name
    name_in_engine: str  # by which requests ask the engine for it
    model: str = ""  # its OpenModel, '' where the engine's options load it
    task: str = ""  # of a main model, '' for an adapter


class RouteName(Struct, frozen=True):
    """One more public name of a route, and where it leads."""

    model: str
    targets: tuple[RouteTarget, ...]
    origin: Origin
    owned_by: str = ""  # as the gateway lists the model, '' for the owner of the route's first model


class RoutePlan(Struct, frozen=True):
    """The route of one public name from a Gateway to one or more apps."""

    name: str
    namespace: str
    labels: Body
    model: str
    model_origin: Origin
    gateway: tuple[str, str]  # namespace and name
    hostnames: tuple[str, ...]
    targets: tuple[RouteTarget, ...]
    request_timeout: str  # as in Gateway API
    owned_by: str  # as the gateway lists the model
    origins: FieldOrigins  # by path in the route and its policies, where it has one rule
    stream_idle_timeout: str = ""  # as in Gateway API
    created_at: str = ""  # as the gateway lists the model
    allowed_tenants: tuple[str, ...] = ()  # those that may call, all when empty
    tenant_header: str = ""
    authentication: Body = {}  # of the Gateway, as fields of a SecurityPolicy
    packed_route: str = ""  # the name of the route that holds its rule with others, '' when it has its own
    retries: int = 0  # how often a failed request is repeated
    limits: tuple[TokenLimit, ...] = ()
    others: tuple[RouteName, ...] = ()  # of the app's adapters

    @property
    def public_names(self) -> tuple[str, ...]:
        """All names that the route leads."""
        return (self.model, *(name.model for name in self.others))


class ProviderPlan(Struct, frozen=True):
    """A provider."""

    name: str
    namespace: str
    labels: Body
    schema: Mapping[str, str]  # of its AIServiceBackend
    hostname: str
    port: int
    auth: tuple[str, str, str]  # the type, the name of the Secret, the region
    item: Origin  # of the ModelRoute
    origin: Origin  # of the provider in it


class Rewrite(Struct, frozen=True):
    """The model names that replace a public name in a pool."""

    model: str
    targets: tuple[tuple[str, int | None], ...]  # names with their weights: on all of them or on none
    origin: Origin  # of the public name
    target_origins: tuple[Origin, ...]  # of each of `targets`


class Steering(Struct, frozen=True):
    """What the picker of a pool is configured with for public names."""

    name: str
    namespace: str
    labels: Body
    group: str  # the API group of these objects
    pool: str  # its name
    priority: int | None  # of their requests, None for none of their own
    rewrites: tuple[Rewrite, ...]  # the model names that replace them
    item: Origin  # of the input that asks for it
    pool_origin: Origin
    rewrites_origin: Origin  # of all rewrites


class PoolPlan(Struct, frozen=True):
    """The pool of a workload's leaders, and its picker, whose fields these are."""

    name: str
    origin: Origin  # of the picker's preset
    labels: Body
    image: str
    args: tuple[str, ...]
    pod_labels: Body
    pod_annotations: Body
    config: Body  # the data of its ConfigMap
    watched_groups: tuple[str, ...]  # API groups of the objects that steer it
    resources: Body
    pod_security: Body
    security: Body
    disruption_budget: Body  # the spec of its PodDisruptionBudget, less the selector
    pod_fields: Body = {}  # further fields of its pod spec, from RenderConfig


class PackedRoute(Struct, frozen=True):
    """One AIGatewayRoute for several public names of a namespace, with a rule for each."""

    name: str
    namespace: str
    labels: Body
    gateway: tuple[str, str]  # namespace and name
    hostnames: tuple[str, ...]
    rules: tuple[PackedRule, ...]
    origin: Origin


class GatewayPlan(Struct, frozen=True):
    """A Gateway that we create, and what belongs to it."""

    name: str
    namespace: str
    class_name: str
    service_type: str
    replicas: int
    hostnames: tuple[str, ...]
    tls: Body
    route_namespaces: tuple[str, ...]  # of the routes on it
    removed_headers: tuple[str, ...]
    authentication: Body
    secret: str  # with the API keys
    granted_namespaces: tuple[str, ...]  # those whose SecurityPolicies may refer to `secret`
    origins: FieldOrigins
    grant_version: str = "v1"  # of ReferenceGrant


class Plan(Struct, frozen=True):
    """The plan of one workload of a Playground or Service."""

    name: str
    namespace: str
    file: str  # the input's path
    labels: Body
    annotations: Body
    replicas: int | None  # None where an autoscaler sets them
    size: int  # pods of a replica
    startup_policy: str
    restart_policy: str
    rollout: Rollout
    worker: Pod
    port: Port
    disruption_budget: Body  # the spec of its PodDisruptionBudget, less the selector; empty for none
    origin: Origin  # of the input
    origins: FieldOrigins  # of its fields, beside those whose key in the input every plan knows
    leader: Pod | None = None
    all_serve: bool = False  # every pod of a replica answers requests, else its leader alone
    sub_groups: Body = {}
    scaler: Scaler | None = None
    config: Mapping[str, str] = {}  # the data of its ConfigMap
    shared: tuple[SharedNeed, ...] = ()  # what it shares with other apps
    app: str = ""  # the name of the app
    model: str = ""  # the name of the OpenModel
    public_name: str = ""
    name_in_engine: str = ""  # the model name that the engine knows
    task: str = ""  # of the model
    task_origin: Origin | None = None  # where it is said, None where nobody does
    schema: Mapping[str, str] = {}  # of its AIServiceBackend, empty where the AI gateway has no path for its task
    host: str = ""  # the host name of its leaders, '' when no route leads there
    backend: str = ""  # its BackendRuntime, '' where none is known
    metrics: Body = {}  # of its BackendRuntime
    named_models: tuple[NamedModel, ...] = ()
    pool: PoolPlan | None = None  # in pool mode
    steering: Steering | None = None  # of its picker, for adapters
    interceptor: Interceptor | None = None  # where one holds requests
    route: RoutePlan | None = None  # only in the last workload of an app
    service: ClientService | None = None  # only in the last workload of an app
    kind: str = wellknown.LEADER_WORKER_SET  # of the workload
    progress_deadline: int | None = None  # of a Deployment, in seconds, None for Kubernetes' own
    workload_labels: Body = {}  # of the workload alone, beside `labels`
    selector: Body = {}  # of a Deployment and of the Services over its pods, {} for that of the own labels
    claim_templates: tuple[Body, ...] = ()  # PersistentVolumeClaims of each pod
    devices: DeviceTemplate | None = None  # what each pod claims
    set_fields: Body = {}  # further fields of a LeaderWorkerSet's spec
    template_fields: Body = {}  # further fields of its template
    answering_port: Port | None = None  # of the container that answers for the engine, if one does
    rank_ports: tuple[Port, ...] = ()  # of the data parallel ranks of a pod, where each has its own, `port` first
    role: Role | None = None  # where prefill and decode are two workloads
    partner: Plan | None = None  # in the first of these where both are one object, the other one
    fit: FitVerdict | None = None  # whether it fits on its accelerators, where that is known
    monitor: ModelsMonitor | None = None  # of several models with metrics of their own
    load_seconds: int = 0  # how long a request may wait for its model, 0 where each that was loaded stays in memory
    context_length: int = 0  # the tokens of its longest request, for a ModelRoute over it; 0 where nobody knows

    @property
    def replica_bounds(self) -> tuple[int, int]:
        """The fewest and the most replicas, the same without an autoscaler."""
        fixed = self.replicas or 0
        return (self.scaler.min_replicas, self.scaler.max_replicas) if self.scaler else (fixed, fixed)

    @property
    def shared_name(self) -> str:
        """The name of what both roles have in common, such as their pool; else that of the workload."""
        return self.app if self.role else self.name

    @property
    def request_port(self) -> Port:
        """The port to which requests of clients and of the gateway go."""
        return self.answering_port or self.port

    @property
    def pool_ports(self) -> tuple[Port, ...]:
        """The ports of a pod among which the picker of a pool chooses."""
        return (self.answering_port,) if self.answering_port else self.rank_ports or (self.port,)


class WorkloadAccelerators(Struct, frozen=True):
    """The accelerators of a workload with the most replicas, and what they may be."""

    number: int
    flavors: tuple[str, ...]  # on which it may run
    types: tuple[str, ...]  # of the accelerators there, where they are known
    is_part: bool  # it has parts of cards


class WorkloadFigures(Struct, frozen=True):
    """What is known of a workload beside its objects."""

    fit: FitVerdict | None = None  # whether its model fits on its accelerators
    hour: Decimal | None = None  # the price of an hour with the most replicas
    unpriced: bool = False  # it has accelerators without a price, and others have one
    accelerators: WorkloadAccelerators | None = None  # None where nobody counted them


Figures: TypeAlias = Mapping[tuple[str, str], WorkloadFigures]
"""By namespace and name of the workload."""


class TrafficPlan(Struct, frozen=True):
    """The plan of a ModelRoute or InferenceModel."""

    app: str  # the name of its file
    namespace: str
    file: str
    references: tuple[tuple[str, str, str], ...] = ()  # kind, namespace and name of objects of apps
    shared: tuple[SharedNeed, ...] = ()
    providers: tuple[ProviderPlan, ...] = ()
    steering: Steering | None = None
    route: RoutePlan | None = None  # None for a public name that is only reserved


class MonitorPlan(Struct, frozen=True):
    """A PodMonitor of a namespace's engines, or the ServiceMonitor of its pickers."""

    name: str
    labels: Body
    interval: str  # between two scrapes
    origin: Origin  # of the source of metrics
    settings: Located  # of labels and interval
    kind: str = wellknown.LEADER_WORKER_SET  # of the workloads whose pods it reads
    all_serve: bool = False  # of replicas in which every pod answers requests


class ModelEndpoint(Struct, frozen=True):
    """Where the metrics of one of several models of a server are."""

    params: Body  # of the query
    name: str  # its public name
    origin: Origin  # of the model in the claim


class ModelsMonitor(Struct, frozen=True):
    """The PodMonitor of a server with several models, of which each has metrics of its own."""

    settings: MonitorPlan
    path: str
    model_param: str  # of the query, that names the model
    endpoints: tuple[ModelEndpoint, ...]


class NetworkPolicyPlan(Struct, frozen=True):
    """The NetworkPolicy over the pods of a namespace's models."""

    name: str
    labels: Body
    peers: tuple[tuple[Body, Origin], ...]  # who may connect, beside the models of the namespace and its pickers
    origin: Origin


class ModelPlan(Struct, frozen=True):
    """An OpenModel object: only the fields of upstream's CRD."""

    name: str
    labels: Body
    spec: Body
    origin: Origin  # of the document


class CachePlan(Struct, frozen=True):
    """The claim that holds the weights of a model, and the Job that fills it."""

    claim: str
    claim_spec: Body  # {} for a claim that somebody else makes
    job: str
    namespace: str
    labels: Body
    template: Body  # of the Job's pod
    size: str  # of the weights in GiB, '' where unknown
    origin: Origin  # of the weights
    claim_origin: Origin


class SharedPlan(Struct, frozen=True):
    """One file of objects that apps share."""

    namespace: str  # '' for cluster-scoped objects
    part: str = "shared"  # which file of the namespace
    models: tuple[ModelPlan, ...] = ()
    monitor: MonitorPlan | None = None
    picker_monitor: MonitorPlan | None = None
    deployment_monitor: MonitorPlan | None = None
    group_monitor: MonitorPlan | None = None
    network_policy: NetworkPolicyPlan | None = None
    gateway_classes: tuple[GatewayPlan, ...] = ()  # one Gateway for each GatewayClass
    gateways: tuple[GatewayPlan, ...] = ()
    packed_route: PackedRoute | None = None
    cache: CachePlan | None = None


class Manifest(Struct, frozen=True):
    """One object."""

    body: dict[str, Any]  # its keys are in reading order
    origins: FieldOrigins  # by path of a field (docs/design/delivery.md#origins)

    @property
    def field_origins(self) -> Mapping[Path, Origin]:
        """What `origins()` returns, worked out once for several findings about the object."""
        return _cached_origins(self.origins)

    def origin(self, path: Path) -> Origin:
        """The origin of the field, else of the nearest parent that has one, followed by the remaining steps."""
        origins = self.field_origins
        for length in range(len(path), -1, -1):
            if origin := origins.get(path[:length]):
                return origin.at(*path[length:])
        raise LookupError(f"a manifest without an origin: {self.body.get('kind')}")


@lru_cache(maxsize=16)
def _cached_origins(origins: FieldOrigins) -> Mapping[Path, Origin]:
    return origins()
