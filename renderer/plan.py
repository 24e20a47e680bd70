"""What we decided, and what we made of it. Everything is frozen; nothing here reads, decides or prints.

Leaves that the API takes as they are (environment entries, probes, volumes, …) are plain maps in the API's own words;
a map that stands in many manifests is a `yamlio.Shared`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from renderer.problems import Origin, Path
from renderer.records import NamedTuple, quick
from renderer.yamlio import Filled

Body = Mapping[str, Any]


class Port(NamedTuple):
    """A port of the engine, and so of the Service before it."""

    name: str
    number: int


class Container(NamedTuple):
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


class Pod(NamedTuple):
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


class Rollout(NamedTuple):
    """How an update walks over the groups: how many may be down, how many more may run, each a number or a
    percentage. `partition`: groups below it stay as they are; None for a LeaderWorkerSet that does not know it.
    """

    max_unavailable: int | str = 1
    max_surge: int | str = 0
    partition: int | None = 0


class Scaler(NamedTuple):
    """An autoscaler: bounds in groups, metrics and behavior in the words of autoscaling/v2."""

    min_replicas: int
    max_replicas: int
    metrics: tuple[Body, ...]
    behavior: Body = {}


class Wanted(NamedTuple):
    """An object that an app needs and others may need too, as plain as it passes from process to process.

    `namespace` is empty for the cluster's objects; `fact`: what this app adds to the object, if anything.
    """

    kind: str
    namespace: str
    name: str
    fact: str = ""


class Target(NamedTuple):
    """Where a route sends requests: the backend of a workload or provider, its share of its priority, and what it
    calls the model; or a pool, which gets the public name and all requests.
    """

    name: str
    weight: int
    model: str
    priority: int = 0
    pool: bool = False


class Limit(NamedTuple):
    """A budget for each value of a header: tokens of a kind, as the AI gateway calls it, in a unit of time."""

    header: str
    tokens: int
    unit: str
    kind: str


class Route(NamedTuple):
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
    targets: tuple[Target, ...]
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
    limits: tuple[Limit, ...] = ()


class Provider(NamedTuple):
    """An API outside of the cluster. `speaks`: the schema of an AIServiceBackend; `auth`: type, Secret and region."""

    name: str
    namespace: str
    labels: Body
    speaks: Body
    hostname: str
    port: int
    auth: tuple[str, str, str]
    origins: Callable[[], Mapping[Path, Origin]]


class Steering(NamedTuple):
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


class Pool(NamedTuple):
    """A pool over a workload's leaders, and who picks one of them. `config`: the files that the picker reads;
    `groups`: the API groups of what steers it; `pod_labels`, `annotations`: of its pod; `more`: fields of that pod,
    which RenderConfig gives it as any other.
    """

    name: str
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


class Packed(NamedTuple):
    """Several routes of a namespace in one object. `rules`: public name, targets, longest request, owner and time of
    each; `origins()` as a Plan's.
    """

    name: str
    namespace: str
    gateway: tuple[str, str]
    hostnames: tuple[str, ...]
    rules: tuple[tuple[str, tuple[Target, ...], str, str, str], ...]
    origins: Callable[[], Mapping[Path, Origin]]


class Gate(NamedTuple):
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


class Plan(NamedTuple):
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
    shared: tuple[Wanted, ...] = ()
    app: str = ""
    model: str = ""
    serves: str = ""
    called: str = ""
    host: str = ""
    backend: str = ""
    metrics: Body = {}
    adapters: tuple[str, ...] = ()
    pool: Pool | None = None
    route: Route | None = None


class Way(NamedTuple):
    """A ModelRoute or InferenceModel, everything decided: what leads one public name to several apps. `app`: what its
    file is called; `leans`: the objects of apps that it names, by kind, namespace and name; no `route` for a name that
    is only kept.
    """

    app: str
    namespace: str
    file: str
    leans: tuple[tuple[str, str, str], ...] = ()
    shared: tuple[Wanted, ...] = ()
    providers: tuple[Provider, ...] = ()
    steering: Steering | None = None
    route: Route | None = None


# For those of every app:
new_container, new_pod, new_plan, new_route = quick(Container), quick(Pod), quick(Plan), quick(Route)
new_target, new_wanted = quick(Target), quick(Wanted)


def config_name(app: str) -> str:
    """The name of an app's ConfigMap."""
    return f"{app}-config"


class Monitor(NamedTuple):
    """What Prometheus reads of a namespace: the PodMonitor's labels and how often; `origins()` as a Plan's."""

    name: str
    labels: Body
    interval: str
    origins: Callable[[], Mapping[Path, Origin]]


class Model(NamedTuple):
    """A model as the cluster gets to know it: upstream's fields only; `origins()` as a Plan's."""

    name: str
    labels: Body
    spec: Body
    origins: Callable[[], Mapping[Path, Origin]]


class Joint(NamedTuple):
    """What apps share of one namespace, or of the cluster (`namespace` is empty), everything decided: one file.

    `part`: which file of the namespace; `classes`: one Gateway of each class that we make.
    """

    namespace: str
    part: str = "shared"
    models: tuple[Model, ...] = ()
    monitor: Monitor | None = None
    classes: tuple[Gate, ...] = ()
    gates: tuple[Gate, ...] = ()
    routes: Packed | None = None


class Manifest(NamedTuple):
    """One object in reading order; `origins()`: by field path, what made it. Nobody asks while nothing is wrong.
    `filled`: the form that the body is, if any.
    """

    body: dict[str, Any]
    origins: Callable[[], Mapping[Path, Origin]]
    filled: Filled | None = None

    def origin(self, path: Path) -> Origin:
        """What made the field, else its parent; below a known field the same steps are taken in its source."""
        origins = self.origins()
        for length in range(len(path), -1, -1):
            if found := origins.get(path[:length]):
                return found.at(*path[length:])
        raise LookupError(f"a manifest without an origin: {self.body.get('kind')}")


def named(plan: Plan) -> dict[Path, Origin]:
    """Origins of an object of which the app gave no more than the name."""
    made = plan.origins()
    return {(): made[()], ("metadata", "name"): made["name",], ("metadata", "namespace"): made["namespace",]}


def of_route(plan: Plan) -> Body:
    """The labels of what leads to a workload: its route's, where they are the same: the text of that map is kept."""
    made = {**plan.labels, "app.kubernetes.io/component": "route"}
    return plan.route.labels if plan.route and plan.route.labels == made else made
