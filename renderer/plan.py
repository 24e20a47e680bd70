"""What we decided, and what we made of it. Everything is frozen; nothing here reads, decides or prints.

Leaves that the API takes as they are (environment entries, probes, volumes, …) are plain maps in the API's own words;
a map that stands in many manifests is a `yamlio.Shared`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from renderer.diagnostics import Origin, Path

Body = Mapping[str, Any]


class Port(Struct, frozen=True):
    """A port of the engine, and so of the Service before it."""

    name: str
    number: int


class Container(Struct, frozen=True):
    """One container; an empty field is not written. `rest`: what a hand-written container says beside these."""

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
    """One pod template; None or empty is not written. `rest`: other fields of a hand-written pod spec, `metadata` of
    its metadata.
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


class Rollout(Struct, frozen=True):
    """How an update walks over the groups: how many may be down, how many more may run, each a number or a
    percentage. `partition`: groups below it stay as they are; None for a LeaderWorkerSet that does not know it.
    """

    max_unavailable: int | str = 1
    max_surge: int | str = 0
    partition: int | None = 0


class Scaler(Struct, frozen=True):
    """An autoscaler: bounds in groups, metrics and behavior in the words of autoscaling/v2."""

    min_replicas: int
    max_replicas: int
    metrics: tuple[Body, ...]
    behavior: Body = {}


class SharedNeed(Struct, frozen=True, order=True):
    """An object that an app needs and others may need too, as plain as it passes from process to process.

    `namespace` is empty for the cluster's objects; `fact`: what this app adds to the object, if anything.
    """

    kind: str
    namespace: str
    name: str
    fact: str = ""


class RouteTarget(Struct, frozen=True):
    """Where a route sends requests: the backend of a workload or provider, its share of its priority, and what it
    calls the model; or a pool, which gets the public name and all requests.
    """

    name: str
    weight: int
    model: str
    priority: int = 0
    pool: bool = False


class TokenLimit(Struct, frozen=True):
    """A budget for each value of a header: tokens of a kind, as the AI gateway calls it, in a unit of time."""

    header: str
    tokens: int
    unit: str
    kind: str


class RoutePlan(Struct, frozen=True):
    """What leads from a Gateway to an app, or to several: one public name. `gateway`: namespace and name; durations as
    Gateway API writes them; `allowed`: the tenants that may call, all when empty; `authentication`: what the Gateway
    asks for; `packed`: the object that holds its rule together with others, empty when it has one of its own;
    `retries`: how often a request that failed is sent again.
    """

    name: str
    namespace: str
    labels: Body
    model: str
    gateway: tuple[str, str]
    hostnames: tuple[str, ...]
    targets: tuple[RouteTarget, ...]
    request: str
    owned_by: str
    origins: Callable[[], Mapping[Path, Origin]]
    stream_idle: str = ""
    created_at: str = ""
    allowed: tuple[str, ...] = ()
    tenant: str = ""
    authentication: Body = {}
    packed: str = ""
    retries: int = 0
    limits: tuple[TokenLimit, ...] = ()


class ProviderPlan(Struct, frozen=True):
    """An API outside of the cluster. `speaks`: the schema of an AIServiceBackend; `auth`: type, Secret and region."""

    name: str
    namespace: str
    labels: Body
    speaks: Body
    hostname: str
    port: int
    auth: tuple[str, str, str]
    origins: Callable[[], Mapping[Path, Origin]]


class Steering(Struct, frozen=True):
    """What the picker of a pool is told of a public name: how urgent it is, and by which names its requests go on,
    with their shares. `group`: the API group of these objects.
    """

    name: str
    namespace: str
    labels: Body
    group: str
    pool: str
    model: str
    priority: int
    names: tuple[tuple[str, int | None], ...]
    origins: Callable[[], Mapping[Path, Origin]]


class PoolPlan(Struct, frozen=True):
    """A pool over a workload's leaders, and who picks one of them. `origin`: of the picker's preset; `config`: the
    files that the picker reads; `groups`: the API groups of what steers it; `pod_labels`, `annotations`: of its pod;
    `more`: fields of that pod, which RenderConfig gives it as any other.
    """

    name: str
    origin: Origin
    labels: Body
    image: str
    args: tuple[str, ...]
    pod_labels: Body
    annotations: Body
    config: Body
    groups: tuple[str, ...]
    resources: Body
    pod_security: Body
    security: Body
    more: Body = {}


class PackedRule(Struct, frozen=True):
    """The rule of one public name in a packed route: where it sends requests, how long one may take, and what the
    gateway lists of the model.
    """

    model: str
    targets: tuple[RouteTarget, ...]
    request: str
    owned_by: str
    created_at: str


class PackedRoute(Struct, frozen=True):
    """Several routes of a namespace in one object, a rule each; `origins()` as a Plan's."""

    name: str
    namespace: str
    gateway: tuple[str, str]
    hostnames: tuple[str, ...]
    rules: tuple[PackedRule, ...]
    origins: Callable[[], Mapping[Path, Origin]]


class GatewayPlan(Struct, frozen=True):
    """A Gateway that we make, and what belongs to it. `routes_from`: the namespaces of its routes; `granted`: those
    that may read `secret`; `grants`: the version of ReferenceGrant that says so; `origins()` as a Plan's.
    """

    name: str
    namespace: str
    class_name: str
    service_type: str
    replicas: int
    hostnames: tuple[str, ...]
    tls: Body
    routes_from: tuple[str, ...]
    removed_headers: tuple[str, ...]
    authentication: Body
    secret: str
    granted: tuple[str, ...]
    origins: Callable[[], Mapping[Path, Origin]]
    grants: str = "v1"


class Plan(Struct, frozen=True):
    """One workload of a Playground or Service, everything decided. `config`: files by name; `shared`: what it needs
    together with others; `app`: whose workload it is; `model`: the OpenModel; `serves`: the public name; `called`: how
    the engine calls the model; `host`: where the gateway finds its leaders, empty when no route leads there; `backend`
    and `metrics`: of its BackendRuntime, as far as known; `adapters`: by which names more can be asked for; `pool`: in
    pool mode; `route`: stands with the last workload of an app. `origins()`: by field of this plan, what made it.
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
    disruptable: bool
    origins: Callable[[], Mapping[Path, Origin]]
    leader: Pod | None = None
    sub_groups: Body = {}
    scaler: Scaler | None = None
    config: Mapping[str, str] = {}
    shared: tuple[SharedNeed, ...] = ()
    app: str = ""
    model: str = ""
    serves: str = ""
    called: str = ""
    host: str = ""
    backend: str = ""
    metrics: Body = {}
    adapters: tuple[str, ...] = ()
    pool: PoolPlan | None = None
    route: RoutePlan | None = None


class TrafficPlan(Struct, frozen=True):
    """A ModelRoute or InferenceModel, everything decided: what leads one public name to several apps. `app`: what its
    file is called; `leans`: the objects of apps that it names, by kind, namespace and name; no `route` for a name that
    is only kept.
    """

    app: str
    namespace: str
    file: str
    leans: tuple[tuple[str, str, str], ...] = ()
    shared: tuple[SharedNeed, ...] = ()
    providers: tuple[ProviderPlan, ...] = ()
    steering: Steering | None = None
    route: RoutePlan | None = None


# For those of every app:


def config_name(app: str) -> str:
    """The name of an app's ConfigMap."""
    return f"{app}-config"


class MonitorPlan(Struct, frozen=True):
    """What Prometheus reads of a namespace: the PodMonitor's labels and how often; `origins()` as a Plan's."""

    name: str
    labels: Body
    interval: str
    origins: Callable[[], Mapping[Path, Origin]]


class ModelPlan(Struct, frozen=True):
    """A model as the cluster gets to know it: upstream's fields only; `origins()` as a Plan's."""

    name: str
    labels: Body
    spec: Body
    origins: Callable[[], Mapping[Path, Origin]]


class SharedPlan(Struct, frozen=True):
    """What apps share of one namespace, or of the cluster (`namespace` is empty), everything decided: one file.

    `part`: which file of the namespace; `classes`: one Gateway of each class that we make.
    """

    namespace: str
    part: str = "shared"
    models: tuple[ModelPlan, ...] = ()
    monitor: MonitorPlan | None = None
    classes: tuple[GatewayPlan, ...] = ()
    gates: tuple[GatewayPlan, ...] = ()
    routes: PackedRoute | None = None


class Manifest(Struct, frozen=True):
    """One object in reading order; `origins()`: by field path, what made it (docs/design/delivery.md#origins). Nobody
    asks while nothing is wrong.
    """

    body: dict[str, Any]
    origins: Callable[[], Mapping[Path, Origin]]

    def origin(self, path: Path) -> Origin:
        """What made the field, else its parent; below a known field the same steps are taken in its source."""
        origins = self.origins()
        for length in range(len(path), -1, -1):
            if origin := origins.get(path[:length]):
                return origin.at(*path[length:])
        raise LookupError(f"a manifest without an origin: {self.body.get('kind')}")


def named(plan: Plan) -> dict[Path, Origin]:
    """Origins of an object of which the app gave no more than the name."""
    origins = plan.origins()
    return {(): origins[()], ("metadata", "name"): origins["name",], ("metadata", "namespace"): origins["namespace",]}


def of_route(plan: Plan) -> Body:
    """The labels of what leads to a workload: its route's, where they are the same: the text of that map is kept."""
    labels = {**plan.labels, "app.kubernetes.io/component": "route"}
    return plan.route.labels if plan.route and plan.route.labels == labels else labels
