"""Which Gateway the models of a namespace are reached through, and what RenderConfig says of it (routing.md, Keys)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from renderer.api import Config
from renderer.plan import Body, Gate
from renderer.problems import Findings, Origin

TENANT = "x-tenant-id"
MODEL = "x-ai-eg-model"  # what the AI gateway calls the model of a request
MANY_WITH_KEYS = 250  # models, above which API keys may fill the message (routing.md, Who may call)
MANY_ROUTES = 300  # above, Envoy Gateway's memory grows with the square (gateway-proof.md, 5)
_DEFAULTS: Mapping[str, Any] = {
    "mode": "backend",
    "name": "llmaz-gateway",
    "namespace": "llmaz-system",
    "create": False,
    "className": "llmaz-gateway",
    "serviceType": "ClusterIP",
    "replicas": 2,
    "hostnames": (),
    "timeouts": {},
    "clusterDomain": "cluster.local",
    "dnsTTL": 30,
    "routeLayout": "model",
    "routeBuckets": 8,
}
_MOST = {"model": 1200, "packed": 1400}  # rules on one Gateway, below the 4 MiB of one message (gateway-proof.md, 4)
REQUEST = "300s"
# What belongs to the Gateway itself, so that two namespaces which name one Gateway must say the same of it.
_GATE_KEYS = ("create", "className", "serviceType", "replicas", "hostnames", "tls", "auth", "maxModels", "routeLayout")


class Door(NamedTuple):
    """What one namespace's models are reached through. `at`: where a key of it stands."""

    namespace: str
    said: Mapping[str, Any]
    config: Config

    def get(self, key: str) -> Any:
        """The namespace's own value, else the general one, else the default."""
        return self.said.get(key, _DEFAULTS.get(key))

    def at(self, *path: str | int, key: bool = False) -> Origin:
        """Where the key stands in RenderConfig."""
        own: tuple[str, ...] = ("gateway", "perNamespace", self.namespace)
        if path and path[0] in self.config.get(*own, default={}):
            return self.config.origin(*own, *path, key=key)
        return self.config.origin("gateway", *path, key=key)

    @property
    def gateway(self) -> tuple[str, str]:
        """Namespace and name of the Gateway."""
        return str(self.get("namespace")), str(self.get("name"))

    @property
    def auth(self) -> Mapping[str, Any]:
        """How the Gateway knows who calls; empty when it does not ask."""
        return self.get("auth") or {}

    @property
    def tenant(self) -> str:
        """The header that holds who calls, once the Gateway has asked."""
        return str(self.auth.get("tenantHeader", TENANT))

    @property
    def most(self) -> int:
        """How many rules it may hold."""
        return int(self.get("maxModels") or _MOST[self.get("routeLayout")])


def door(config: Config, namespace: str) -> Door:
    """The door of a namespace: `gateway` under `gateway.perNamespace.<namespace>`, key by key."""
    general = config.get("gateway", default={})
    own = config.get("gateway", "perNamespace", namespace, default={})
    said = {key: value for key, value in {**general, **own}.items() if key != "perNamespace"}
    return Door(namespace, said, config)


def doors(config: Config) -> Iterator[Door]:
    """Every door that RenderConfig names, the general one ('' as its namespace) first."""
    yield door(config, "")
    for namespace in sorted(config.get("gateway", "perNamespace", default={})):
        yield door(config, namespace)


def gates(config: Config, found: Findings) -> dict[tuple[str, str], Door]:
    """The Gateways that RenderConfig names, by namespace and name; two that say different things of one are an
    error.
    """
    made: dict[tuple[str, str], Door] = {}
    for each in doors(config):
        first = made.setdefault(each.gateway, each)
        for key in _GATE_KEYS:
            if first.get(key) != each.get(key):
                found.add("E620", each.at(key), key=key, name="/".join(each.gateway), namespace=each.namespace)
    for each in made.values():
        if each.get("create") and "issuer" in (each.get("tls") or {}) and not each.get("hostnames"):
            found.add("E629", each.at("tls", "issuer", key=True), name="/".join(each.gateway))
    _auth(made, found)
    return made


def _auth(gates: Mapping[tuple[str, str], Door], found: Findings) -> None:
    for each in gates.values():
        auth = each.auth
        if auth and not (auth.get("apiKeys") or auth.get("jwt")):
            found.add("E621", each.at("auth", key=True))
        for i, provider in enumerate(auth.get("jwt") or ()):
            claims = provider.get("claimToHeaders") or ()
            if each.tenant not in [claim.get("header") for claim in claims]:
                found.add("E622", each.at("auth", "jwt", i), header=each.tenant)


def policy(door: Door, *, across: bool) -> Body:
    """The Gateway's authentication as a SecurityPolicy has it; `across`: named from another namespace."""
    made: dict[str, Any] = {}
    if keys := door.auth.get("apiKeys"):
        reference = {"group": "", "kind": "Secret", "name": keys["secretName"]}
        if across:
            reference["namespace"] = door.gateway[0]
        made["apiKeyAuth"] = {
            "credentialRefs": [reference],
            "extractFrom": [{"headers": list(keys.get("headers") or ("x-api-key",))}],
            "forwardClientIDHeader": door.tenant,
            "sanitize": True,
        }
    if providers := door.auth.get("jwt"):
        made["jwt"] = {"providers": providers}
    return made


def gate(door: Door, namespaces: tuple[str, ...], granted: tuple[str, ...]) -> Gate:
    """A Gateway that we make. `namespaces`: of the routes on it; `granted`: of those that repeat its
    authentication.
    """
    namespace, name = door.gateway
    removed = [MODEL, *([door.tenant] if door.auth else [TENANT])]
    return Gate(
        name=name,
        namespace=namespace,
        class_name=door.get("className"),
        service_type=door.get("serviceType"),
        replicas=door.get("replicas"),
        hostnames=tuple(door.get("hostnames")),
        tls=door.get("tls") or {},
        routes_from=namespaces,
        removed_headers=tuple(removed),
        authentication=policy(door, across=False),
        secret=(door.auth.get("apiKeys") or {}).get("secretName", ""),
        granted=tuple(each for each in granted if each != namespace),
        origins=lambda: {(): door.at()},
    )
