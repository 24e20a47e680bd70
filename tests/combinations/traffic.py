"""What a Gateway makes of rendered objects: by which API each model is asked, who may ask, and what providers get.

The input says what is expected (docs/models.md#tasks, docs/traffic.md,
docs/routing.md#api-keys-and-jwt-who-may-call), and each route of the output is followed to the pods that it leads to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import Any, NamedTuple

from renderer.kubernetes.workloads import selects
from tests.combinations.cluster import all_pods, is_engine

Node = dict[str, Any]
OPENAI = {"name": "OpenAI"}
SCHEMAS: Mapping[str, Node] = {"chat": OPENAI, "embedding": OPENAI, "transcription": OPENAI}
RERANKERS: Mapping[str, Node] = {  # by engine
    "vllm": {"name": "Cohere", "version": "v2"},
    "llamacpp": {"name": "Cohere", "version": "v1"},
}
ANSWERED: Mapping[str, Set[str]] = {  # by schema of a provider, the tasks whose requests it is sent
    "OpenAI": {"chat", "embedding", "transcription"},
    "AzureOpenAI": {"chat", "embedding"},
    "AWSBedrock": {"chat", "embedding"},
    "AWSAnthropic": {"chat"},
    "Anthropic": set(),
    "Cohere": {"reranker"},
}
OPTIONS: Mapping[tuple[str, str], str] = {  # by engine and task; with an engine's version where it is another one
    ("vllm", "embedding"): "--runner pooling",
    ("vllm", "reranker"): "--runner pooling",
    ("vllm", "classifier"): "--runner pooling",
    ("vllm v0.9.2", "embedding"): "--task embed",
    ("vllm v0.9.2", "reranker"): "--task score",
    ("vllm v0.9.2", "classifier"): "--task classify",
    ("sglang", "embedding"): "--is-embedding",
    ("sglang", "classifier"): "--is-embedding",
    ("llamacpp", "embedding"): "--embedding",
    ("llamacpp", "reranker"): "--reranking",
}
TASK_WORDS = ("--runner", "--task", "--is-embedding", "--embedding", "--reranking")
SECRETS: Mapping[str, tuple[str, ...]] = {  # by type of a key, the field of a BackendSecurityPolicy with its Secret
    "APIKey": ("apiKey",),
    "AnthropicAPIKey": ("anthropicAPIKey",),
    "AzureAPIKey": ("azureAPIKey",),
    "AWSCredentials": ("awsCredentials", "credentialsFile"),
}
COUNTED: Mapping[str, Set[str]] = {  # by task, the tokens that the AI gateway finds in an answer
    "chat": {"total", "input", "output"},
    "embedding": {"total", "input"},
    "reranker": set(),
    "transcription": set(),
}
COUNTS = {"total": "TotalToken", "output": "OutputToken"}
TENANT = "x-tenant-id"
TENANTS = "apiKeyAuth", "jwt"  # fields of a SecurityPolicy that ask who calls
MODEL = "x-ai-eg-model"


class App(NamedTuple):
    """A Playground or Service of the input."""

    namespace: str
    name: str
    task: str
    engine: str  # its name and, where one is written, its version; '' of a Service
    mode: str  # backend, pool or off
    allow: tuple[str, ...]

    @property
    def schema(self) -> Node | None:
        """The schema by which the AI gateway asks it; None where it has no path."""
        reranker = RERANKERS.get(self.engine.partition(" ")[0])
        return reranker if self.task == "reranker" else SCHEMAS.get(self.task)


class Target(NamedTuple):
    """A backend of a rule: the apps whose pods it leads to, or a host outside; and the schema by which it is asked."""

    apps: tuple[App, ...]
    schema: Node


class Way(NamedTuple):
    """A rule of an AIGatewayRoute."""

    route: Node
    public_name: str
    targets: Sequence[Target]

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name of the route."""
        return _key(self.route)

    @property
    def apps(self) -> list[App]:
        """The apps that it leads to."""
        return [app for target in self.targets for app in target.apps]


class Traffic:
    """Apps of the input, and what is rendered of it."""

    def __init__(self, inputs: Sequence[Node], documents: Sequence[Node]):
        self.inputs, self.documents = inputs, documents
        self.config: Node = inputs[0]["spec"]
        self.pods = [pods for pods in all_pods(documents) if is_engine(pods)]

    @cached_property
    def apps(self) -> list[App]:
        """All apps of the input."""
        tasks = {
            body["metadata"]["name"]: (body["spec"].get("facts") or {}).get("kind", "chat")
            for body in self.of_input("OpenModel")
        }
        apps: list[App] = []
        for body in (*self.of_input("Playground"), *self.of_input("Service")):
            spec, engine = body["spec"], body["spec"].get("backendRuntimeConfig") or {}
            gateway = spec.get("gateway") or {}
            claimed = [spec["modelClaim"]["modelName"]] if "modelClaim" in spec else []
            claimed += [claim["name"] for claim in (spec.get("modelClaims") or {}).get("models", ())]
            app = App(
                *_key(body, "default"),
                tasks[claimed[0]],
                " ".join(engine[key] for key in ("backendName", "version") if key in engine),
                gateway.get("mode") or self.gateway.get("mode") or "backend",
                tuple(gateway.get("allow") or ()),
            )
            apps.append(app)
        return apps

    @property
    def gateway(self) -> Node:
        """The gateway's settings."""
        settings: Node = self.config.get("gateway") or {}
        return settings

    def of_input(self, kind: str) -> list[Node]:
        """The documents of a kind of the input."""
        return [body for body in self.inputs if body["kind"] == kind]

    def of_kind(self, kind: str) -> list[Node]:
        """The rendered objects of a kind."""
        return [body for body in self.documents if body["kind"] == kind]

    def find(self, kind: str, key: tuple[str, str]) -> Node:
        """A rendered object by its namespace and name; empty where there is none."""
        return next((body for body in self.of_kind(kind) if _key(body) == key), {})

    @cached_property
    def ways(self) -> list[Way]:
        """Each rule, and where it leads to."""
        return [
            Way(route, match["value"], [self.target(_key(route)[0], backend) for backend in rule["backendRefs"]])
            for route in self.of_kind("AIGatewayRoute")
            for rule in route["spec"]["rules"]
            for match in rule["matches"][0]["headers"][:1]
        ]

    def target(self, namespace: str, backend: Node) -> Target:
        """Where a backend of a rule leads to."""
        key = namespace, backend["name"]
        if backend.get("kind") == "InferencePool":
            labels = self.find("InferencePool", key)["spec"]["selector"]["matchLabels"]
            return Target(self.apps_with(namespace, labels), OPENAI)
        backend_spec = self.find("AIServiceBackend", key)["spec"]
        apps: tuple[App, ...] = ()
        for endpoint in self.find("Backend", (namespace, backend_spec["backendRef"]["name"]))["spec"]["endpoints"]:
            host = endpoint["fqdn"]["hostname"]
            service = namespace, host.partition(".")[0]
            if interceptor := self.find("InterceptorRoute", key):
                service = namespace, interceptor["spec"]["target"]["service"]
            if ".svc." in host:
                apps += self.apps_with(namespace, self.find("Service", service)["spec"]["selector"])
        return Target(apps, backend_spec["schema"])

    def apps_with(self, namespace: str, labels: Node) -> tuple[App, ...]:
        """The apps with pods of these labels."""
        names = {
            pods.as_made.labels["app.kubernetes.io/name"]
            for pods in self.pods
            if pods.namespace == namespace and selects({"matchLabels": labels}, pods.as_made.labels)
        }
        return tuple(app for app in self.apps if app.namespace == namespace and app.name in names)

    def policies(self, kind: str, key: tuple[str, str], target: str = "HTTPRoute") -> list[Node]:
        """The specs of the policies on an object, by default on a route."""
        return [
            body["spec"]
            for body in self.of_kind(kind)
            for ref in body["spec"].get("targetRefs") or ()
            if (_key(body)[0], ref["kind"], ref["name"]) == (key[0], target, key[1])
        ]


def _key(body: Node, namespace: str = "") -> tuple[str, str]:
    return body["metadata"].get("namespace", namespace), body["metadata"]["name"]


def faults(inputs: Sequence[Node], documents: Sequence[Node], told_codes: Set[str]) -> Iterator[str]:
    """What is wrong with the traffic of a tree. `told_codes`: what rendering told of the input."""
    traffic = Traffic(inputs, documents)
    yield from asked_otherwise(traffic, told_codes)
    yield from left_open(traffic)
    yield from lost_providers(traffic, told_codes)
    yield from lost_budgets(traffic, told_codes)
    yield from other_tasks(traffic)
    yield from other_cooldowns(traffic)


def asked_otherwise(traffic: Traffic, told_codes: Set[str]) -> Iterator[str]:
    """Apps that no route leads to, or that are asked by another API than that of their model's task."""
    for app in traffic.apps:
        ways = [way for way in traffic.ways if app in way.apps]
        if app.mode == "off" or not app.schema:
            yield from (f"the route {way.route['metadata']['name']} leads to {app.name}" for way in ways)
            if app.mode != "off" and "N677" not in told_codes:
                yield f"nobody says that no route leads to {app.name} ({app.task})"
            left = [kind for kind in ("AIServiceBackend", "Backend", "InferencePool") if traffic.find(kind, app[:2])]
            yield from (f"nobody asks for the {kind} {app.name}" for kind in left)
        elif not ways:
            yield f"no route leads to {app.name}"
    for way in traffic.ways:
        for target in way.targets:
            for app in target.apps:
                if target.schema != app.schema:
                    yield f"{way.public_name} asks {app.name} ({app.task}, {app.engine}) by {target.schema}"
        if len({app.task for app in way.apps}) > 1:
            yield f"{way.public_name} leads to several tasks: {sorted({app.task for app in way.apps})}"


def left_open(traffic: Traffic) -> Iterator[str]:
    """Models that somebody may ask who is not asked for a name, or is not one of those who may."""
    auth = traffic.gateway.get("auth") or {}
    auth_keys = [key for key in ("apiKeys", "jwt") if auth.get(key)]
    if auth_keys and traffic.gateway.get("create") and traffic.ways:
        (gateway,) = traffic.of_kind("Gateway")
        policies = traffic.policies("SecurityPolicy", _key(gateway), "Gateway")
        if [_who_calls(policy, auth) for policy in policies] != [auth_keys]:
            yield f"the Gateway does not ask for {auth_keys}: {policies}"
        for policy in traffic.policies("ClientTrafficPolicy", _key(gateway), "Gateway"):
            removed = policy["headers"]["earlyRequestHeaders"]["remove"]
            yield from (f"clients may say {name} themselves" for name in {TENANT, MODEL} - {*removed})
    for way in traffic.ways:
        allowed_names = {name for app in way.apps for name in app.allow}
        policies = traffic.policies("SecurityPolicy", way.key)
        if allowed_names and len(policies) != 1:
            yield f"{way.public_name} is for {sorted(allowed_names)} alone, and its route has {len(policies)} policies"
        for policy in policies:
            if _who_calls(policy, auth) != auth_keys:
                yield f"{way.public_name} takes the place of the Gateway's policy, and does not ask for {auth_keys}"
            rules = policy["authorization"]["rules"]
            name_headers = [header for rule in rules for header in rule["principal"]["headers"]]
            if policy["authorization"]["defaultAction"] != "Deny" or {header["name"] for header in name_headers} != {
                TENANT
            }:
                yield f"{way.public_name} lets in others: {policy['authorization']}"
            if {value for header in name_headers for value in header["values"]} != allowed_names:
                yield f"{way.public_name} is for {name_headers}, and its apps for {sorted(allowed_names)}"


def _who_calls(policy: Node, auth: Node) -> list[str]:
    """Which of the keys of `auth` a SecurityPolicy asks for, with the Secret or the providers that it says."""
    auth_keys = []
    keys = policy.get("apiKeyAuth") or {}
    if keys and [ref["name"] for ref in keys["credentialRefs"]] == [auth.get("apiKeys", {}).get("secretName")]:
        auth_keys.append("apiKeys")
    providers = (policy.get("jwt") or {}).get("providers") or ()
    rendered_providers = [
        (provider["issuer"], provider["remoteJWKS"]["uri"], provider["claimToHeaders"]) for provider in providers
    ]
    if rendered_providers and rendered_providers == [
        (entry["issuer"], entry["remoteJWKS"]["uri"], entry["claimToHeaders"]) for entry in auth["jwt"]
    ]:
        auth_keys.append("jwt")
    return auth_keys


def lost_providers(traffic: Traffic, told_codes: Set[str]) -> Iterator[str]:
    """Providers that no request falls back to, that get no key, or that are asked by an API which they have not."""
    for body in traffic.of_input("ModelRoute"):
        namespace, name = _key(body, "default")
        route = traffic.find("AIGatewayRoute", (namespace, name))
        for backend in body["spec"]["backends"] if route else ():
            provider = backend.get("provider")
            if not provider:
                continue
            where = f"{name}: {provider['hostname']}"
            refs = [
                ref
                for ref in route["spec"]["rules"][0]["backendRefs"]
                if (ref["modelNameOverride"], ref["priority"]) == (provider["modelName"], backend["priority"])
            ]
            if len(refs) != 1:
                yield f"{where} is not in the route"
                continue
            key = namespace, refs[0]["name"]
            backend_spec = traffic.find("AIServiceBackend", key)["spec"]
            if backend_spec["schema"] != {
                "name": provider["schema"],
                **{k: provider[k] for k in ("version",) if k in provider},
            }:
                yield f"{where} is asked by {backend_spec['schema']}"
            host = traffic.find("Backend", (namespace, backend_spec["backendRef"]["name"]))["spec"]
            if [(end["fqdn"]["hostname"], end["fqdn"]["port"]) for end in host["endpoints"]] != [
                (provider["hostname"], 443)
            ]:
                yield f"{where} is asked at {host['endpoints']}"
            if (host.get("tls") or {}).get("sni") != provider["hostname"]:
                yield f"{where} is asked without TLS"
            yield from (f"{where}: {fault}" for fault in _lost_key(traffic, key, provider["auth"]))
            tasks = {app.task for way in traffic.ways if way.key == (namespace, name) for app in way.apps}
            if (tasks - ANSWERED[provider["schema"]]) and "W272" not in told_codes:
                yield f"{where} does not answer for {sorted(tasks)}, and nobody says so"
        priorities = {backend.get("priority", 0) for backend in body["spec"]["backends"]}
        retries = [policy.get("retry") or {} for policy in traffic.policies("BackendTrafficPolicy", (namespace, name))]
        if route and len(priorities) > 1 and not any(retry.get("numRetries", 0) >= 1 for retry in retries):
            yield f"{name}: nothing falls back"


def _lost_key(traffic: Traffic, backend: tuple[str, str], auth: Node) -> Iterator[str]:
    policies = traffic.policies("BackendSecurityPolicy", backend, "AIServiceBackend")
    if [policy["type"] for policy in policies] != [auth["type"]]:
        yield f"its keys are of {[policy['type'] for policy in policies]}"
        return
    holder = policies[0]
    for field in SECRETS[auth["type"]]:
        holder = holder[field]
    if holder["secretRef"]["name"] != auth["secretName"]:
        yield f"it gets the key of {holder}"
    if policies[0].get("awsCredentials", {}).get("region") != auth.get("region"):
        yield f"its region is lost: {policies[0]}"


def lost_budgets(traffic: Traffic, told_codes: Set[str]) -> Iterator[str]:
    """Budgets of tokens that nobody counts, and nobody says so."""
    uncounted = False
    for body in traffic.of_input("ModelRoute"):
        key = _key(body, "default")
        route, limits = traffic.find("AIGatewayRoute", key), body["spec"].get("tokenLimits") or ()
        if not route or not limits:
            continue
        tasks = {app.task for way in traffic.ways if way.key == key for app in way.apps}
        counts = {limit.get("count", "total") for limit in limits}
        uncounted |= any(counts - COUNTED.get(task, set()) for task in tasks)
        costs = {cost["metadataKey"]: cost["type"] for cost in route["spec"].get("llmRequestCosts") or ()}
        rules = [
            (
                rule["limit"]["requests"],
                rule["limit"]["unit"],
                costs.get(rule["cost"]["response"]["metadata"]["key"]),
                [(header["name"], header["type"]) for header in rule["clientSelectors"][0]["headers"]],
            )
            for policy in traffic.policies("BackendTrafficPolicy", key)
            for rule in (policy.get("rateLimit") or {}).get("global", {}).get("rules", ())
        ]
        budgets = [
            (limit["tokens"], limit["interval"], COUNTS[limit.get("count", "total")], [(TENANT, "Distinct")])
            for limit in limits
        ]
        if rules != budgets:
            yield f"{key[1]} has the budgets {rules}"
    if uncounted != ("W680" in told_codes):
        yield f"{'nobody' if uncounted else 'somebody'} says that a budget is never spent"


def other_tasks(traffic: Traffic) -> Iterator[str]:
    """Engines with the options of another task than their model's."""
    apps = {app[:2]: app for app in traffic.apps if app.engine}
    for pods in traffic.pods:
        app = apps.get((pods.namespace, pods.as_made.labels.get("app.kubernetes.io/name", "")))
        for container in pods.spec["containers"] if app else ():
            if app and container["name"] == "model-runner":
                expected = OPTIONS.get(
                    (app.engine, app.task), OPTIONS.get((app.engine.partition(" ")[0], app.task), "")
                )
                if _task_options(container) != expected:
                    yield f"the {pods} has {_task_options(container) or 'no option'} for {app.task}"


def _task_options(container: Node) -> str:
    """The options that say a task, with their values."""
    words = " ".join(map(str, (*(container.get("command") or ()), *(container.get("args") or ())))).split()
    with_values = {"--runner", "--task"}
    task_options: Iterable[str] = (
        " ".join(words[i : i + 1 + (word in with_values)]) for i, word in enumerate(words) if word in TASK_WORDS
    )
    return " ".join(task_options)


def other_cooldowns(traffic: Traffic) -> Iterator[str]:
    """Scalers that wait another time than is written before they take the last replica away."""
    seconds = (traffic.config.get("autoscaling") or {}).get("keda", {}).get("cooldown")
    for scaler in traffic.of_kind("ScaledObject"):
        spec = scaler["spec"]
        if seconds and spec["minReplicaCount"] == 0 and spec.get("cooldownPeriod") != seconds:
            yield f"{scaler['metadata']['name']} waits {spec.get('cooldownPeriod')} s, and not {seconds}"
