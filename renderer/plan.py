"""The records between `resolve`, `build` and `check`: plans and manifests. All are frozen; nothing here reads, decides
or prints.

Parts that the API takes unchanged (environment entries, probes, volumes, …) are plain maps with the API's field names;
a map that many manifests contain is a `yamlio.SharedMap`. `origins()` of a plan returns the origins of its fields, by
path in the plan; it is called only when an origin is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from renderer import disaggregated_sets, wellknown
from renderer.diagnostics import Origin, Path

Body = Mapping[str, object]


class Port(Struct, frozen=True):
    """The port that the runner listens on, and that its Services have."""

    name: str
    number: int


class Container(Struct, frozen=True):
    """One container; empty fields are not written. `rest`: further fields of a hand-written container."""

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
    security: Body = {}
    mounts: tuple[Body, ...] = ()
    rest: Body = {}


class Pod(Struct, frozen=True):
    """One pod template; fields that are None or empty are not written. `rest`: further fields of the pod spec;
    `metadata`: further fields of its metadata.
    """

    labels: Body
    annotations: Body
    scheduler_name: str
    containers: tuple[Container, ...]
    init_containers: tuple[Container, ...] = ()
    volumes: tuple[Body, ...] = ()
    node_selector: Body = {}
    affinity: Body = {}
    tolerations: tuple[Body, ...] = ()
    grace_seconds: int | None = None
    security: Body = {}
    mounts_token: bool | None = None
    service_links: bool | None = None
    metadata: Body = {}
    rest: Body = {}


class Setting(Struct, frozen=True):
    """An option of a command line as the engine names it, what it is given, '' for nothing, and where."""

    option: str
    value: str
    origin: Origin

    @property
    def text(self) -> str:
        """The option with its value."""
        return f"{self.option} {self.value}" if self.value else self.option


class Role(Struct, frozen=True):
    """The part of a workload whose pods share the work with those of another one: `prefill` or `decode`. `connector`:
    how KV cache is handed over; `tensor`, `pipeline`: the parallel sizes, `tensor_rule`, `pipeline_rule`: what holds
    for those of both; `tensor_origin`: the argument that says its own, None where none does; `pipeline_origin`: where
    its own is said; `vendor`, `vendor_origin`: of its accelerators, and where they are chosen; `layout`: by option, of
    a flag and its negation by the flag, what both have to have alike.
    """

    name: str
    connector: str
    tensor: int
    tensor_rule: str
    tensor_origin: Origin | None
    pipeline: int
    pipeline_rule: str
    pipeline_origin: Origin
    vendor: str
    vendor_origin: Origin
    layout: Mapping[str, Setting]


class ClientService(Struct, frozen=True):
    """The Service that an app asks for, beside those that every workload has. `port`: 0 for that of the container;
    `of_leaders`: in an app of several workloads it leads to their leaders alone.
    """

    name: str
    port: int
    type: str
    labels: Body
    annotations: Body
    of_leaders: bool = True


class DeviceTemplate(Struct, frozen=True):
    """A ResourceClaimTemplate with one request for devices, in the API's words."""

    name: str
    request: Body


class Rollout(Struct, frozen=True):
    """The rolling update of a LeaderWorkerSet: how many groups may be unavailable, and how many more may run, each a
    number or a percentage. `partition`: groups with a lower index are not updated; None for versions of
    LeaderWorkerSet without that field.
    """

    max_unavailable: int | str = 1
    max_surge: int | str = 0
    partition: int | None = 0


class Scaler(Struct, frozen=True):
    """An autoscaler: bounds in groups; metrics and behavior as in autoscaling/v2. `triggers`: of KEDA, which then takes
    the place of the HPA; `picker_queue_seconds`: how long the pool's picker holds requests, 0 where it holds none;
    `wake_seconds`: how long a start from zero may take, 0 where there always is a replica; `owner`: kind and name of
    an autoscaler that somebody else has written, '' for one that is rendered.
    """

    min_replicas: int
    max_replicas: int
    metrics: tuple[Body, ...]
    behavior: Body = {}
    triggers: tuple[Body, ...] = ()
    picker_queue_seconds: int = 0
    wake_seconds: int = 0
    owner: str = ""


class Interceptor(Struct, frozen=True):
    """The interceptor of KEDA's http-add-on before a workload that may have no replica. `host` and `port`: of its
    Service; `models`: the public names by which it knows requests for this workload; `seconds`: how long a start may
    take; `concurrency`: requests at once that a replica should have.
    """

    host: str
    port: int
    models: tuple[str, ...]
    seconds: int
    concurrency: int


class SharedNeed(Struct, frozen=True, order=True):
    """An object that several apps may need, in plain types, since processes exchange these records.

    `namespace`: '' for cluster-scoped objects; `fact`: what this app contributes to the object, '' for nothing.
    """

    kind: str
    namespace: str
    name: str
    fact: str = ""


class RouteTarget(Struct, frozen=True):
    """A route backend: the AIServiceBackend of a workload or provider, its weight within its priority, and the name
    that it knows the model by; or a pool, which gets all requests, under the public name.
    """

    name: str
    weight: int
    model: str
    priority: int = 0
    pool: bool = False


class TokenLimit(Struct, frozen=True):
    """A budget for each value of a header: tokens of a kind (the AI gateway's name for it) in a unit of time."""

    header: str
    tokens: int
    unit: str
    kind: str


class Adapter(Struct, frozen=True):
    """A LoRA adapter that an engine loads. `name`: its public name; `asked`: by what name requests ask the engine for
    it; `model`: its OpenModel, '' where the engine's options load it.
    """

    name: str
    asked: str
    model: str = ""


class RouteName(Struct, frozen=True):
    """One more public name of a route, and where it leads."""

    model: str
    targets: tuple[RouteTarget, ...]


class RoutePlan(Struct, frozen=True):
    """The route of one public name from a Gateway to one or more apps. `gateway`: namespace and name; durations as in
    Gateway API; `allowed_tenants`: those that may call, all when empty; `authentication`: of the Gateway, as fields of
    a SecurityPolicy; `packed_route`: the name of the route that holds its rule together with others, '' when it has
    one of its own; `retries`: how often a failed request is repeated; `others`: of the app's adapters.
    """

    name: str
    namespace: str
    labels: Body
    model: str
    gateway: tuple[str, str]
    hostnames: tuple[str, ...]
    targets: tuple[RouteTarget, ...]
    request_timeout: str
    owned_by: str
    origins: Callable[[], Mapping[Path, Origin]]
    stream_idle_timeout: str = ""
    created_at: str = ""
    allowed_tenants: tuple[str, ...] = ()
    tenant_header: str = ""
    authentication: Body = {}
    packed_route: str = ""
    retries: int = 0
    limits: tuple[TokenLimit, ...] = ()
    others: tuple[RouteName, ...] = ()

    @property
    def public_names(self) -> tuple[str, ...]:
        """All names that the route leads."""
        return (self.model, *(name.model for name in self.others))


class ProviderPlan(Struct, frozen=True):
    """A provider. `schema`: of its AIServiceBackend; `auth`: the type, the name of the Secret, the region."""

    name: str
    namespace: str
    labels: Body
    schema: Mapping[str, str]
    hostname: str
    port: int
    auth: tuple[str, str, str]
    origins: Callable[[], Mapping[Path, Origin]]


class Rewrite(Struct, frozen=True):
    """The model names that replace a public name in a pool, with their weights: on all of them or on none."""

    model: str
    targets: tuple[tuple[str, int | None], ...]


class Steering(Struct, frozen=True):
    """What the picker of a pool is configured with for public names: the priority of their requests, None for none of
    their own, and the model names that replace them. `group`: the API group of these objects.
    """

    name: str
    namespace: str
    labels: Body
    group: str
    pool: str
    priority: int | None
    rewrites: tuple[Rewrite, ...]
    origins: Callable[[], Mapping[Path, Origin]]


class PoolPlan(Struct, frozen=True):
    """The pool of a workload's leaders, and its picker. `name` to `security` are the picker's; `origin`: of its preset;
    `config`: the data of its ConfigMap; `watched_groups`: of the objects that steer it; `pod_fields`: further fields of
    its pod spec, from RenderConfig.
    """

    name: str
    origin: Origin
    labels: Body
    image: str
    args: tuple[str, ...]
    pod_labels: Body
    pod_annotations: Body
    config: Body
    watched_groups: tuple[str, ...]
    resources: Body
    pod_security: Body
    security: Body
    pod_fields: Body = {}


class PackedRule(Struct, frozen=True):
    """The rule of one public name in a packed route. `owned_by`, `created_at`: as the gateway lists the model."""

    model: str
    targets: tuple[RouteTarget, ...]
    request_timeout: str
    owned_by: str
    created_at: str


class PackedRoute(Struct, frozen=True):
    """One AIGatewayRoute for several public names of a namespace, with a rule for each."""

    name: str
    namespace: str
    labels: Body
    gateway: tuple[str, str]
    hostnames: tuple[str, ...]
    rules: tuple[PackedRule, ...]
    origins: Callable[[], Mapping[Path, Origin]]


class GatewayPlan(Struct, frozen=True):
    """A Gateway that we create, and what belongs to it. `route_namespaces`: of the routes on it; `granted_namespaces`:
    those whose SecurityPolicies may refer to `secret`; `grant_version`: of ReferenceGrant.
    """

    name: str
    namespace: str
    class_name: str
    service_type: str
    replicas: int
    hostnames: tuple[str, ...]
    tls: Body
    route_namespaces: tuple[str, ...]
    removed_headers: tuple[str, ...]
    authentication: Body
    secret: str
    granted_namespaces: tuple[str, ...]
    origins: Callable[[], Mapping[Path, Origin]]
    grant_version: str = "v1"


class Plan(Struct, frozen=True):
    """The plan of one workload of a Playground or Service. `config`: the data of its ConfigMap; `shared`: the objects
    that it shares with other apps; `app`: the name of the app; `model`: the name of the OpenModel; `name_in_engine`:
    the model name that the engine knows; `host`: the host name of its leaders, '' when no route leads there; `backend`
    and `metrics`: of its BackendRuntime, where known; `all_serve`: every pod of a replica answers requests, else its
    leader alone; `pool`: in pool mode; `steering`: of its picker, for adapters; `interceptor`: where one holds
    requests; `route`, `service`: only in the last workload of an app; `answering_port`: of the container that answers
    for the engine, None where the engine itself does; `kind`: of the workload; `progress_deadline`: of a Deployment, in
    seconds, None for Kubernetes' own; `workload_labels`: of the workload alone, beside `labels`; `claim_templates`:
    PersistentVolumeClaims of each pod; `devices`: what each pod claims; `set_fields`,
    `template_fields`: further fields of a LeaderWorkerSet's spec and of its template; `rank_ports`: of the data
    parallel ranks of a pod, `port` first, where each has a port of its own; `role`: where prefill and decode are two
    workloads; `partner`: in the first of these where both are one object, the other one.
    """

    name: str
    namespace: str
    file: str
    labels: Body
    annotations: Body
    replicas: int | None
    size: int
    startup_policy: str
    restart_policy: str
    rollout: Rollout
    worker: Pod
    port: Port
    disruption_budget: bool
    origins: Callable[[], Mapping[Path, Origin]]
    leader: Pod | None = None
    all_serve: bool = False
    sub_groups: Body = {}
    scaler: Scaler | None = None
    config: Mapping[str, str] = {}
    shared: tuple[SharedNeed, ...] = ()
    app: str = ""
    model: str = ""
    public_name: str = ""
    name_in_engine: str = ""
    host: str = ""
    backend: str = ""
    metrics: Body = {}
    adapters: tuple[Adapter, ...] = ()
    pool: PoolPlan | None = None
    steering: Steering | None = None
    interceptor: Interceptor | None = None
    route: RoutePlan | None = None
    service: ClientService | None = None
    kind: str = wellknown.LEADER_WORKER_SET
    progress_deadline: int | None = None
    workload_labels: Body = {}
    claim_templates: tuple[Body, ...] = ()
    devices: DeviceTemplate | None = None
    set_fields: Body = {}
    template_fields: Body = {}
    answering_port: Port | None = None
    rank_ports: tuple[Port, ...] = ()
    role: Role | None = None
    partner: Plan | None = None

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


class TrafficPlan(Struct, frozen=True):
    """The plan of a ModelRoute or InferenceModel. `app`: the name of its file; `references`: the objects of apps that
    it refers to, by kind, namespace and name; `route`: None for a public name that is only reserved.
    """

    app: str
    namespace: str
    file: str
    references: tuple[tuple[str, str, str], ...] = ()
    shared: tuple[SharedNeed, ...] = ()
    providers: tuple[ProviderPlan, ...] = ()
    steering: Steering | None = None
    route: RoutePlan | None = None


def config_name(app: str) -> str:
    """The name of an app's ConfigMap."""
    return app + wellknown.CONFIG_MAP


class MonitorPlan(Struct, frozen=True):
    """A PodMonitor of a namespace's engines, or the ServiceMonitor of its pickers. `interval`: between two scrapes;
    `kind`: of the workloads whose pods it reads; `all_serve`: of replicas in which every pod answers requests.
    """

    name: str
    labels: Body
    interval: str
    origins: Callable[[], Mapping[Path, Origin]]
    kind: str = wellknown.LEADER_WORKER_SET
    all_serve: bool = False


class ModelPlan(Struct, frozen=True):
    """An OpenModel object: only the fields of upstream's CRD."""

    name: str
    labels: Body
    spec: Body
    origins: Callable[[], Mapping[Path, Origin]]


class CachePlan(Struct, frozen=True):
    """The claim that holds the weights of a model, and the Job that fills it. `claim_spec`: {} for a claim that
    somebody else makes; `template`: of the Job's pod; `size`: of the weights in GiB, '' where unknown.
    """

    claim: str
    claim_spec: Body
    job: str
    namespace: str
    labels: Body
    template: Body
    size: str
    origins: Callable[[], Mapping[Path, Origin]]


class SharedPlan(Struct, frozen=True):
    """One file of objects that apps share: of a namespace, or cluster-scoped where `namespace` is ''.

    `part`: which file of the namespace; `gateway_classes`: one Gateway for each GatewayClass.
    """

    namespace: str
    part: str = "shared"
    models: tuple[ModelPlan, ...] = ()
    monitor: MonitorPlan | None = None
    picker_monitor: MonitorPlan | None = None
    deployment_monitor: MonitorPlan | None = None
    group_monitor: MonitorPlan | None = None
    gateway_classes: tuple[GatewayPlan, ...] = ()
    gateways: tuple[GatewayPlan, ...] = ()
    packed_route: PackedRoute | None = None
    cache: CachePlan | None = None


class Manifest(Struct, frozen=True):
    """One object, its keys in reading order; `origins()`: by path of a field (docs/design/delivery.md#origins)."""

    body: dict[str, Any]
    origins: Callable[[], Mapping[Path, Origin]]

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
def _cached_origins(origins: Callable[[], Mapping[Path, Origin]]) -> Mapping[Path, Origin]:
    return origins()


WORKLOAD_VERSIONS = {wellknown.LEADER_WORKER_SET: "leaderworkerset.x-k8s.io/v1", wellknown.DEPLOYMENT: "apps/v1"}


_MAX_RULES = 15  # of an AIGatewayRoute; the AI gateway adds a sixteenth
_MAX_MATCHES = 64  # of a rule of the HTTPRoute that it makes
_MAX_ROUTE_MATCHES = 127  # of that HTTPRoute, beside the one that the AI gateway adds


class RouteObject(Struct, frozen=True):
    """An AIGatewayRoute of a route. `rules`: the public names of each, which lead to the same targets."""

    name: str
    rules: tuple[tuple[RouteName, ...], ...]


def route_objects(route: RoutePlan) -> list[RouteObject]:
    """The AIGatewayRoutes that hold the names of a route: one, or as many as the limits of the API ask for. A pool's
    names share a rule.
    """
    names = (RouteName(route.model, route.targets), *route.others)
    pool = route.targets[0].pool
    most, rule_size = (_MAX_ROUTE_MATCHES, _MAX_MATCHES) if pool else (_MAX_RULES, 1)
    objects = []
    for i, start in enumerate(range(0, len(names), most)):
        part = names[start : start + most]
        rules = tuple([part[first : first + rule_size] for first in range(0, len(part), rule_size)])
        objects.append(RouteObject(f"{route.name}-{i + 1}" if i else route.name, rules))
    return objects


def scale_target(plan: Plan) -> Body:
    """The reference of an autoscaler to the workload."""
    if plan.kind == disaggregated_sets.KIND:
        version, kind = f"{disaggregated_sets.GROUP}/v1", disaggregated_sets.ROLE_SCALER
        return {"apiVersion": version, "kind": kind, "name": plan.name}
    return {"apiVersion": WORKLOAD_VERSIONS[plan.kind], "kind": plan.kind, "name": plan.name}


def name_origins(plan: Plan) -> dict[Path, Origin]:
    """The origins of an object in which only the name and the namespace come from the app."""
    origins = plan.origins()
    return {(): origins[()], ("metadata", "name"): origins["name",], ("metadata", "namespace"): origins["namespace",]}


def route_labels(plan: Plan) -> Body:
    """The labels of the objects between a route and a workload: the route's own map where it is equal, since its text
    is cached.
    """
    labels = {**plan.labels, wellknown.COMPONENT: "route"}
    return plan.route.labels if plan.route and plan.route.labels == labels else labels


def app_selector(plan: Plan, *, of_leaders: bool = True) -> Body:
    """The labels that select the pods of all workloads of an app that answer requests."""
    labels = {key: plan.labels[key] for key in (wellknown.NAME, wellknown.COMPONENT)}
    if plan.kind == wellknown.DEPLOYMENT or not of_leaders:
        return labels
    return {**labels, wellknown.WORKER_INDEX: "0"}


def serving_selector(plan: Plan) -> Body:
    """The labels that select the pods of a workload that answer requests."""
    if plan.kind == wellknown.DEPLOYMENT:
        return {**app_selector(plan), wellknown.WORKLOAD: plan.name}
    if plan.all_serve:
        return group_selector(plan)
    return {**group_selector(plan), wellknown.WORKER_INDEX: "0"}


def group_selector(plan: Plan) -> Body:
    """The labels that select all pods of a LeaderWorkerSet, or of a role of a DisaggregatedSet: of that one the name of
    its LeaderWorkerSet changes with every pod template.
    """
    if plan.role and plan.kind == disaggregated_sets.KIND:
        return {disaggregated_sets.SET: plan.shared_name, disaggregated_sets.ROLE: plan.role.name}
    return {wellknown.GROUPS: plan.name}
