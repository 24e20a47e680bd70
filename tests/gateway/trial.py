"""A set of manifests on the standing gateways: applied, judged by the controllers, asked, taken down again."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from tests.apiserver.server import Body, CannotJudge
from tests.engines.trial import Result
from tests.gateway.clients import Client
from tests.gateway.conditions import AI_GATEWAY, ENVOY_GATEWAY, EXTENSION, GATEWAY_API, complaints
from tests.gateway.controllers import SYSTEM, Stack
from tests.gateway.pods import LWS, READY

T = TypeVar("T")
Trial: TypeAlias = Callable[["Site"], Iterator[Result]]

SETTLING = 90.0  # seconds until every condition is good
SERVING = 60.0  # seconds until Envoy has what the controllers accepted
REMOVING = 60.0
PAUSE = 0.5
# The order of applying: engines and what DNS needs first, since Envoy asks again for a missing name after 30 s only.
FIRST = ("Namespace", "Secret", "ConfigMap", "ServiceAccount", "Role", "RoleBinding", "LeaderWorkerSet", "Service")
# What comes last, in this order. The AI gateway looks at a pool when that or a route of it changes, not when a Gateway
# of another namespace comes: a pool that it looked at before its Gateway would have nothing in its status.
LAST = ("Gateway", "InferencePool")
# What is taken down, in this order: what refers before what is referred to. Envoy Gateway forgets the Deployment of a
# Gateway whose GatewayClass goes first. The HTTPRoutes of AIGatewayRoutes are nobody's without a garbage collector.
REMOVED = (
    f"{AI_GATEWAY}/aigatewayroutes",
    f"{ENVOY_GATEWAY}/securitypolicies",
    f"{ENVOY_GATEWAY}/backendtrafficpolicies",
    f"{ENVOY_GATEWAY}/clienttrafficpolicies",
    f"{AI_GATEWAY}/backendsecuritypolicies",
    f"{AI_GATEWAY}/aiservicebackends",
    f"{GATEWAY_API}/httproutes",
    f"{ENVOY_GATEWAY}/httproutefilters",
    f"{EXTENSION}/inferencepools",
    f"{ENVOY_GATEWAY}/backends",
    f"{GATEWAY_API}/gateways",
    "",  # until here Gateways, then their proxies end
    f"{ENVOY_GATEWAY}/envoyproxies",
    f"{GATEWAY_API}/referencegrants",
    f"{GATEWAY_API}/gatewayclasses",
    "/apis/inference.networking.x-k8s.io/v1alpha2/inferenceobjectives",
    "/apis/inference.networking.x-k8s.io/v1alpha2/inferencemodelrewrites",
    "/apis/keda.sh/v1alpha1/scaledobjects",
    "/apis/http.keda.sh/v1beta1/interceptorroutes",
    "/apis/monitoring.coreos.com/v1/podmonitors",
    "/apis/monitoring.coreos.com/v1/servicemonitors",
    "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets",
    "/apis/apps/v1/deployments",
    "/api/v1/services",
    "/api/v1/secrets",
    "/api/v1/configmaps",
    "/apis/policy/v1/poddisruptionbudgets",
    "/api/v1/serviceaccounts",
    "/apis/rbac.authorization.k8s.io/v1/roles",
    "/apis/rbac.authorization.k8s.io/v1/rolebindings",
    "/apis/discovery.k8s.io/v1/endpointslices",
)
KEPT_NAMESPACES = ("kube-system", "kube-public", "kube-node-lease", SYSTEM)
KEPT_NAMES = ("kubernetes", "default", "kube-root-ca.crt")  # what the cluster itself has in each, or in the default one


def platform() -> Iterator[Body]:
    """A Gateway of the platform's, which takes the routes of every namespace; for inputs that make none."""
    metadata = {"namespace": "llmaz-system", "name": "llmaz-gateway"}
    spec: Body = {"controllerName": "gateway.envoyproxy.io/gatewayclass-controller"}
    yield {**_version("gateway.networking.k8s.io/v1", "GatewayClass"), "metadata": {"name": "platform"}, "spec": spec}
    listener = {"name": "http", "protocol": "HTTP", "port": 80, "allowedRoutes": {"namespaces": {"from": "All"}}}
    spec = {"gatewayClassName": "platform", "listeners": [listener]}
    yield {**_version("gateway.networking.k8s.io/v1", "Gateway"), "metadata": metadata, "spec": spec}
    target = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": metadata["name"]}
    spec = {"targetRefs": [target], "connection": {"bufferLimit": "50Mi"}}
    version = _version("gateway.envoyproxy.io/v1alpha1", "ClientTrafficPolicy")
    yield {**version, "metadata": metadata, "spec": spec}


def secret(namespace: str, name: str, entries: Mapping[str, str | bytes]) -> Body:
    """A Secret."""
    data = {
        key: base64.b64encode(value if isinstance(value, bytes) else value.encode()).decode()
        for key, value in entries.items()
    }
    kind = {"type": "kubernetes.io/tls"} if "tls.key" in entries else {}
    return {**_version("v1", "Secret"), "metadata": {"namespace": namespace, "name": name}, **kind, "data": data}


def _version(version: str, kind: str) -> Body:
    return {"apiVersion": version, "kind": kind}


class Site:
    """The stack with one set of manifests on it."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack

    # ---- up and down ----

    def apply(self, bodies: Sequence[Body]) -> list[str]:
        """Applies them; returns what the API server refuses, in its own words."""
        namespaces = sorted({body["metadata"].get("namespace", "") for body in bodies} - {""})
        spaces = [{**_version("v1", "Namespace"), "metadata": {"name": name}} for name in namespaces]
        gateways, pools = ([body for body in bodies if body["kind"] == kind] for kind in LAST)
        refused = self._applied([*spaces, *(body for body in bodies if body["kind"] in FIRST)])
        self._await_engines(bodies)
        refused += self._applied([*(body for body in bodies if body["kind"] not in (*FIRST, *LAST)), *gateways])
        if pools:
            self._await_routes()
            refused += self._applied(pools)
        return refused

    def _applied(self, bodies: Iterable[Body]) -> list[str]:
        """Applies them in their order; what is refused."""
        return [
            f"{body['kind']} {body['metadata']['name']}: {message}"
            for body in bodies
            if (message := self.stack.cluster.applied(body).message)
        ]

    def _await_engines(self, bodies: Sequence[Body]) -> None:
        """Returns when every replica has its engine; the provider is there besides."""
        replicas = sum(body["spec"].get("replicas", 1) for body in bodies if body["kind"] == "LeaderWorkerSet")
        self.until(lambda: len(self.stack.fakes.engines.engines) > replicas, SERVING)

    def _await_routes(self) -> None:
        """Returns when the AI gateway has accepted all routes, which it does once it knows their Gateways."""
        self.until(lambda: not complaints(self.stack.cluster, "AIGatewayRoute"), SETTLING)

    def settle(self, patience: float = SETTLING) -> list[str]:
        """Waits until all conditions are good; what is not when patience is over."""
        return self.stack.cluster.settled(lambda: complaints(self.stack.cluster), patience)

    def clear(self) -> None:
        """Takes down all that `apply` brought, and what controllers made of it. Raises CannotJudge when it stays."""
        for path in REMOVED:
            if not path:
                proxies = [
                    key for key in self.stack.kubelet.pods if key.startswith(f"{SYSTEM}/envoy-") and self.proxies
                ]
                if not self.until(lambda: not self.proxies, REMOVING):
                    raise CannotJudge(f"proxies stay: {', '.join(proxies)}")
                continue
            for body in self.stack.cluster.listed(path):
                self._delete(path, body["metadata"])
        self.until(lambda: len(self.stack.fakes.engines.engines) <= 1, REMOVING)

    def delete(self, body: Body) -> None:
        """Takes one object away, and the HTTPRoute that the AI gateway made of it."""
        self.stack.cluster.client("DELETE", self.stack.cluster.path(body))
        if body["kind"] == "AIGatewayRoute":
            http_route = {**body, "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute"}
            self.stack.cluster.client("DELETE", self.stack.cluster.path(http_route))

    def _delete(self, path: str, metadata: Body) -> None:
        namespace = metadata.get("namespace", "")
        if metadata["name"] in KEPT_NAMES:
            return
        if namespace in KEPT_NAMESPACES and not path.endswith(("httproutes", "httproutefilters")):
            return
        root, _, plural = path.rpartition("/")
        place = f"{root}/namespaces/{namespace}/{plural}" if namespace else path
        self.stack.cluster.client("DELETE", f"{place}/{metadata['name']}")

    @property
    def proxies(self) -> dict[tuple[str, str], str]:
        """The address of the Envoy of each Gateway that is ready with its external processor, by namespace and name."""
        label = "gateway.envoyproxy.io/owning-gateway-"
        addresses = {}
        for pod in [*self.stack.kubelet.pods.values()]:
            labels = pod.body["metadata"].get("labels", {})
            if f"{label}name" in labels:
                address = pod.network.address if pod.ready and "ai-gateway-extproc" in pod.containers else ""
                addresses[labels[f"{label}namespace"], labels[f"{label}name"]] = address
        return addresses

    # ---- asking ----

    def client(
        self,
        namespace: str = "llmaz-system",
        gateway: str = "llmaz-gateway",
        *,
        port: int = 10080,
        host: str = "",
        headers: Mapping[str, str] | None = None,
        tls: bool = False,
    ) -> Client:
        """A client of a Gateway's Envoy, which listens for port 80 at 10080. Raises CannotJudge when there is none."""
        address = self.until(lambda: self.proxies.get((namespace, gateway)), SETTLING)
        if not address:
            raise CannotJudge(f"no Envoy of {namespace}/{gateway} gets ready: {self.stack.kubelet.events[-3:]}")
        authority = self.stack.authority.certificate if tls else None
        return Client((address, port), host=host, headers=headers, authority=authority)

    def until(self, seen: Callable[[], T], patience: float) -> T:
        """What `seen` returns once it is true, or when patience is over."""
        end = time.monotonic() + patience
        while not (value := seen()) and time.monotonic() < end:
            time.sleep(PAUSE)
        return value

    def until_not(self, fault: Callable[[], str], patience: float) -> str:
        """'' as soon as there is no fault, else the one that there is when patience is over."""
        end = time.monotonic() + patience
        while (seen := fault()) and time.monotonic() < end:
            time.sleep(PAUSE)
        return seen

    # ---- engines ----

    def leaders(self, namespace: str, workload: str) -> list[Body]:
        """The leader pods of a workload, by name."""
        query = f"{LWS}/name={workload}"
        pods = self.stack.cluster.listed(f"/api/v1/namespaces/{namespace}/pods", labelSelector=query)
        return sorted(
            ({**pod, "kind": "Pod", "apiVersion": "v1"} for pod in pods), key=lambda pod: str(pod["metadata"]["name"])
        )

    def set_mode(self, namespace: str, workload: str, mode: str) -> None:
        """How all engines of a workload answer."""
        for pod in self.leaders(namespace, workload):
            self.stack.fakes.set_mode(pod["status"]["podIP"], mode)

    def set_waiting(self, pods: Iterable[Body], requests: int) -> None:
        """How many requests the engines of these pods say are waiting."""
        for pod in pods:
            self.stack.fakes.set_waiting(pod["status"]["podIP"], requests)

    def set_ready(self, pods: Iterable[Body], *, ready: bool) -> None:
        """Whether these pods are ready, and so in DNS. Returns once DNS has it."""
        condition = READY if ready else {**READY, "status": "False"}
        for pod in pods:
            self.stack.kubelet.set_status(pod, {"conditions": [condition]})
