"""Which Gateway the models of a namespace are reached through, and what RenderConfig says of it (routing.md, Keys)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from renderer import schema, since, tokens
from renderer.api import Config
from renderer.plan import Body, Gate
from renderer.problems import Findings, Origin
from renderer.records import Record
from renderer.resolve import targets
from renderer.template import shared

TENANT = "x-tenant-id"
_KEY = "x-api-key"  # the header that holds an API key where nobody says another
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
    "picker": "llm-d",
    "dnsTTL": 30,
    "routeLayout": "model",
    "routeBuckets": 8,
}
_MOST = {"model": 1200, "packed": 1400}  # rules on one Gateway, below the 4 MiB of one message (gateway-proof.md, 4)
REQUEST = "300s"
_LONGEST = 63  # characters of a Service's name
_POLICY = "output/gateway.envoyproxy.io/securitypolicy_v1alpha1"
_MAKING = ("className", "serviceType", "replicas", "tls")  # of a Gateway that we make, and of no other
# What belongs to the Gateway itself, so that two namespaces which name one Gateway must say the same of it.
_GATE_KEYS = ("create", "className", "serviceType", "replicas", "hostnames", "tls", "auth", "maxModels", "routeLayout")


class Door(Record):
    """What one namespace's models are reached through. `said`: with the defaults of what nobody says; `gateway`:
    namespace and name; `auth`: how the Gateway knows who calls, empty when it does not ask; `tenant`: the header that
    holds who calls, once it has asked; `answered`: the seconds for which a DNS answer holds; `created`: we make it.
    """

    namespace: str
    said: Mapping[str, Any]
    config: Config
    gateway: tuple[str, str]
    auth: Mapping[str, Any]
    tenant: str
    mode: str
    answered: int
    hostnames: tuple[str, ...]
    timeouts: Mapping[str, str]
    created: bool
    policies: dict[bool, Body]  # a memory of its authentication, by whether it is named from elsewhere

    def get(self, key: str) -> Any:
        """The namespace's own value, else the general one, else the default."""
        return self.said.get(key)

    def at(self, *path: str | int, key: bool = False) -> Origin:
        """Where the key stands in RenderConfig."""
        own: tuple[str, ...] = ("gateway", "perNamespace", self.namespace)
        if path and path[0] in self.config.get(*own, default={}):
            return self.config.origin(*own, *path, key=key)
        return self.config.origin("gateway", *path, key=key)

    @property
    def most(self) -> int:
        """How many rules it may hold."""
        return int(self.get("maxModels") or _MOST[self.get("routeLayout")])


def door(config: Config, namespace: str) -> Door:
    """The door of a namespace: `gateway` under `gateway.perNamespace.<namespace>`, key by key."""
    general = config.get("gateway", default={})
    own = config.get("gateway", "perNamespace", namespace, default={})
    said = {key: value for key, value in {**_DEFAULTS, **general, **own}.items() if key != "perNamespace"}
    auth = said.get("auth") or {}
    gateway = str(said["namespace"]), str(said["name"])
    return Door(
        namespace=namespace,
        said=said,
        config=config,
        gateway=gateway,
        auth=auth,
        tenant=str(auth.get("tenantHeader", TENANT)),
        mode=str(said["mode"]),
        answered=int(said["dnsTTL"]),
        hostnames=tuple(said["hostnames"]),
        timeouts=said["timeouts"] or {},
        created=bool(said["create"]),
        policies={},
    )


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
    proxies: dict[str, Door] = {}
    for each in doors(config):
        first, name = made.setdefault(each.gateway, each), "/".join(each.gateway)
        for key in _GATE_KEYS:
            if _said(first, key) != _said(each, key):
                found.add("E620", each.at(key), key=key, name=name, namespace=each.namespace)
        proxy = "-".join(each.gateway)
        if first is each and each.created:
            other = proxies.setdefault(proxy, each)
            if len(proxy) > _LONGEST or not proxy[0].isalpha() or other is not each:
                found.add("E634", each.at("name"), name=name, proxy=proxy)
    for key, code in (("auth", "E621"), ("tls", "E630")):
        if config.get("gateway", key) == {}:  # a namespace may say so, to have none
            found.add(code, config.origin("gateway", key, key=True))
    for each in made.values():
        if each.created and "issuer" in (each.get("tls") or {}) and not each.hostnames:
            found.add("E629", each.at("tls", "issuer", key=True), name="/".join(each.gateway))
    _auth(made, found)
    _idle(config, found)
    return made


def _idle(config: Config, found: Findings) -> None:
    """A note on what is said of Gateways that somebody else makes."""
    general, *several = doors(config)
    for key in _MAKING:
        heard = general.created
        for each in several:
            own = config.get("gateway", "perNamespace", each.namespace, default={})
            heard = heard or (each.created and key not in own)
            if key in own and not each.created:
                found.add("N589", each.at(key, key=True), key=key, name="/".join(each.gateway))
        if key in config.get("gateway", default={}) and not heard:
            found.add("N589", general.at(key, key=True), key=key, name="/".join(general.gateway))


def _said(door: Door, key: str) -> Any:
    """What a door says, nothing and an empty thing being the same."""
    value = door.most if key == "maxModels" else door.get(key)
    return list(value) if isinstance(value, tuple) and value else value or None


def _auth(gates: Mapping[tuple[str, str], Door], found: Findings) -> None:
    for each in gates.values():
        auth = each.auth
        if auth and not (auth.get("apiKeys") or auth.get("jwt")):
            found.add("E621", each.at("auth", key=True))
        if auth.get("apiKeys") and auth.get("jwt"):
            found.add("E635", each.at("auth", "jwt", key=True))
        tenant, keys = each.tenant.lower(), (auth.get("apiKeys") or {}).get("headers") or ()
        for i, header in enumerate(keys):
            if header.lower() in (MODEL, "host", tenant):
                found.add("E632", each.at("auth", "apiKeys", "headers", i), header=header, other=_KEY)
        fine = _providers(each, found)
        if tenant in (MODEL, "host", *(_read(auth) if fine else ())):
            found.add("E632", each.at("auth", "tenantHeader"), header=each.tenant, other=TENANT)
        if fine:
            for path, why, hint in tokens.refused(auth.get("jwt") or ()):
                words = {"what": f"SecurityPolicy of {'/'.join(each.gateway)}", "why": why, "hint": hint}
                found.add("E611", each.at("auth", "jwt", *path), effect="every request is answered with 500", **words)
            for i, provider in enumerate(auth.get("jwt") or ()):
                claims = provider.get("claimToHeaders") or ()
                if tenant not in [claim["header"].lower() for claim in claims]:
                    found.add("E622", each.at("auth", "jwt", i), header=each.tenant)


def _read(auth: Mapping[str, Any]) -> Iterator[str]:
    """The headers in which clients say who they are, of API keys only the one that nobody names."""
    if "headers" not in (auth.get("apiKeys") or {"headers": ()}):
        yield _KEY
    for provider in auth.get("jwt") or ():
        where = provider.get("extractFrom")
        yield from (each["name"].lower() for each in where.get("headers") or ()) if where else ("authorization",)


def _providers(door: Door, found: Findings) -> bool:
    """Whether the JWT providers are such as a SecurityPolicy takes."""
    providers = door.auth.get("jwt") or ()
    target = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "x"}
    body = {
        "apiVersion": "gateway.envoyproxy.io/v1alpha1",
        "kind": "SecurityPolicy",
        "metadata": {"name": "x"},
        "spec": {"targetRefs": [target], "jwt": {"providers": list(providers)}},
    }
    if not providers or schema.valid(_POLICY, body):
        return True
    for wrong in schema.findings(_POLICY, body):
        at = door.at("auth", "jwt", *wrong.path[3:])  # as check says it of the policy
        found.add(wrong.code, at, **schema.words(wrong, None))
    return False


def _filled(node: Any, value: Any, late: since.Node) -> Any:
    """The value with the defaults of its schema: what stands in lists must be written out (drift.md). `late`: what is
    too new for the target, and so no default there.
    """
    if isinstance(value, dict):
        known = node.get("properties") or {}
        made = {key: _filled(known.get(key) or {}, item, late.get(key, {})) for key, item in value.items()}
        defaults = {key: each["default"] for key, each in known.items() if "default" in each}
        return {**{key: each for key, each in defaults.items() if "!" not in late.get(key, {})}, **made}
    if isinstance(value, list):
        return [_filled(node.get("items") or {}, item, late.get("[]", {})) for item in value]
    return value


def policy(door: Door, *, across: bool) -> Body:
    """The Gateway's authentication as a SecurityPolicy has it; `across`: named from another namespace."""
    if across not in door.policies:
        door.policies[across] = shared(_policy(door, across))
    return door.policies[across]


def _policy(door: Door, across: bool) -> Body:
    made: dict[str, Any] = {}
    if keys := door.auth.get("apiKeys"):
        reference = {"group": "", "kind": "Secret", "name": keys["secretName"]}
        if across:
            reference["namespace"] = door.gateway[0]
        made["apiKeyAuth"] = {
            "credentialRefs": [reference],
            "extractFrom": [{"headers": list(keys.get("headers") or (_KEY,))}],
            "forwardClientIDHeader": door.tenant,
            "sanitize": True,
        }
    if providers := door.auth.get("jwt"):
        node = schema.read(_POLICY)["properties"]["spec"]["properties"]["jwt"]["properties"]["providers"]
        late = targets.late(door.config, _POLICY, "spec", "jwt", "providers")
        made["jwt"] = {"providers": _filled(node, providers, late)}
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
        hostnames=door.hostnames,
        tls=door.get("tls") or {},
        routes_from=namespaces,
        removed_headers=tuple(removed),
        authentication=policy(door, across=False),
        secret=(door.auth.get("apiKeys") or {}).get("secretName", ""),
        granted=tuple(each for each in granted if each != namespace),
        grants=targets.grants(door.config),
        origins=lambda: {
            (): door.at(),
            ("spec", "apiKeyAuth"): door.at("auth", "apiKeys"),
            ("spec", "jwt", "providers"): door.at("auth", "jwt"),
            **{("said", key): door.at(key) for key in (*_DEFAULTS, "tls", "auth")},
        },
    )
