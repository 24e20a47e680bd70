"""Sound output with one fault each: what `llmaz check`, the controllers and requests say of it.

An example is applied as it is, and all that is asked must be served. Then each of its variants: the objects that it
changes are applied over the sound ones, requests are sent until one is not served as it should be, and the sound
objects come back, until all is served again. `llmaz check` agrees with requests when it warns where they fail and is
silent where they do not; a variant where it does not agree says why.
"""

from __future__ import annotations

import copy
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import yaml

from tests.apiserver.server import Body
from tests.engines.trial import Result
from tests.gateway.cases import (
    CASES,
    KEY_HEADER,
    KEYS,
    MODEL_HEADER,
    NAMES,
    TENANT_HEADER,
    Names,
    outside,
    question,
    reached,
)
from tests.gateway.clients import CHAT, MESSAGES, Client
from tests.gateway.conditions import complaints
from tests.gateway.controllers import CHANNELS
from tests.gateway.fake_engines import OK, REFUSE
from tests.gateway.trial import PAUSE, Site

Bodies: TypeAlias = list[Body]
# Of an example and its public names: '' when what is asked is served as it should be, else what was seen.
Probe: TypeAlias = Callable[[Site, str, Names], str]

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 20.0  # seconds until a fault shows
LASTING = 5.0  # seconds that it has to stay, since what is changed is not there at once
HEALING = 75.0  # seconds until all is served again: two lives of a DNS answer and some
CODE = re.compile(r"\[([EW]\d{3})\]")
COLUMNS = ("variant", "llmaz check", "controllers", "requests", "agree")


class Variant(NamedTuple):
    """A fault. `change`: makes it; `probe`: asks what it harms; `differs`: why `llmaz check` and requests do not say
    the same, '' where they do; `channels`: of Gateway API, in which it is asked; most do not depend on it;
    `renames`: the names that clients have to ask for in the place of the example's.
    """

    example: str
    change: Callable[[Bodies], object]
    probe: Probe
    differs: str = ""
    channels: tuple[str, ...] = CHANNELS[:1]
    renames: Mapping[str, str] = {}


class Row(NamedTuple):
    """What was seen of a variant. Each is '' where nothing is said against it."""

    name: str
    check: str
    controllers: str
    requests: str
    differs: str

    @property
    def agree(self) -> bool:
        return bool(self.check) == bool(self.requests)


class Finding(NamedTuple):
    """A question about a variant or an example. `row`: for the table, where a variant was compared."""

    name: str
    result: Result
    row: Row | None = None


# ---- changes ----


def of(bodies: Sequence[Body], kind: str, name: str = "") -> Body:
    """The spec of the object of that kind, and of that name where there are several."""
    spec: Body = next(
        body["spec"] for body in bodies if body["kind"] == kind and name in ("", body["metadata"]["name"])
    )
    return spec


def rule(bodies: Sequence[Body], name: str) -> Body:
    """The first rule of an AIGatewayRoute."""
    first: Body = of(bodies, "AIGatewayRoute", name)["rules"][0]
    return first


def put(*path: str | int, value: Any) -> Callable[[Body], None]:
    """A change that sets a field, by its path."""

    def change(spec: Body) -> None:
        place: Any = spec
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


def field(kind: str, name: str, *path: str | int, value: Any) -> Callable[[Bodies], None]:
    """A change that sets a field of an object's spec."""
    return lambda bodies: put(*path, value=value)(of(bodies, kind, name))


def dropped(kind: str, name: str, *path: str) -> Callable[[Bodies], None]:
    """A change that takes a field out of an object's spec."""

    def change(bodies: Bodies) -> None:
        place = of(bodies, kind, name)
        for key in path[:-1]:
            place = place[key]
        del place[path[-1]]

    return change


def without(kind: str, name: str) -> Callable[[Bodies], None]:
    """A change that leaves an object out."""

    def change(bodies: Bodies) -> None:
        bodies[:] = [body for body in bodies if (body["kind"], body["metadata"]["name"]) != (kind, name)]

    return change


def weightless(bodies: Bodies) -> None:
    for backend in rule(bodies, "chat")["backendRefs"]:
        backend["weight"] = 0


def one_priority(bodies: Bodies) -> None:
    for backend in rule(bodies, "chat")["backendRefs"]:
        del backend["priority"]


def renamed(name: str, public: str) -> Callable[[Bodies], None]:
    """A change of what clients have to ask for."""
    return lambda bodies: put("matches", 0, "headers", 0, "value", value=public)(rule(bodies, name))


def counts_another_key(bodies: Bodies) -> None:
    for limit in of(bodies, "BackendTrafficPolicy", "chat")["rateLimit"]["global"]["rules"]:
        limit["cost"]["response"]["metadata"]["key"] = "llm_total_tokens"


def watches_no_pods(bodies: Bodies) -> None:
    role = next(body for body in bodies if (body["kind"], body["metadata"]["name"]) == ("Role", "chat-epp"))
    role["rules"][0]["verbs"] = ["get", "list"]
    template = of(bodies, "Deployment", "chat-epp")["template"]  # a picker that runs keeps what it sees
    template["metadata"]["annotations"]["gateway-test/started"] = "again"


def idle(seconds: int) -> Callable[[Bodies], None]:
    """A change that ends what is silent for so long, as `gateway.timeouts.streamIdle` renders it."""

    def change(bodies: Bodies) -> None:
        target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": "chat"}
        bodies.append(
            {
                "apiVersion": "gateway.envoyproxy.io/v1alpha1",
                "kind": "BackendTrafficPolicy",
                "metadata": {"namespace": "demo", "name": "chat"},
                "spec": {"targetRefs": [target], "timeout": {"http": {"streamIdleTimeout": f"{seconds}s"}}},
            }
        )

    return change


def authorizes_only(route: str) -> Callable[[Bodies], None]:
    """A change that lets every tenant call one model, by a policy that does not repeat the authentication."""

    def change(bodies: Bodies) -> None:
        principal = {"headers": [{"name": TENANT_HEADER, "values": sorted(KEYS)}]}
        authorization = {"defaultAction": "Deny", "rules": [{"action": "Allow", "principal": principal}]}
        target = {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "name": route}
        bodies.append(
            {
                "apiVersion": "gateway.envoyproxy.io/v1alpha1",
                "kind": "SecurityPolicy",
                "metadata": {"namespace": "llm", "name": route},
                "spec": {"targetRefs": [target], "authorization": authorization},
            }
        )

    return change


def another_entry(bodies: Bodies) -> None:
    """The provider's Secret is in the set, and its key under a name that nobody reads."""
    metadata = {"namespace": "llm", "name": "provider-key"}
    bodies.append({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"key": "key"}})


def provider(**fields: Any) -> Callable[[Bodies], None]:
    """A change of the provider's AIServiceBackend."""
    return lambda bodies: of(bodies, "AIServiceBackend", "chat-api-example-com").update(fields)


# ---- probes ----


def client_of(site: Site, example: str) -> Client:
    """A client that may call everything in an example."""
    research = {KEY_HEADER: KEYS["research"]}
    if example == "gateway-auth":
        return site.client(port=10443, host="llm.example.com", tls=True, headers=research)
    return site.client(headers=research if example == "token-limits" else None)


def served(site: Site, example: str, names: Names) -> str:
    """Whether each public name of the example reaches its workload under the engine's name, three times."""
    client = client_of(site, example)
    for name, public in names.items():
        for _ in range(3):
            answer = client.ask(name)
            if not reached(answer, public, CHAT, stream=False):
                return f"{name}: {answer}"
    return ""


def hosted(site: Site, example: str, names: Names) -> str:
    """Whether each public name is served at the host that one route of a variant names, too."""
    client = client_of(site, example)
    for name in names:
        for host in ("", "llm.example.org"):
            answer = client.ask(name, host=host)
            if answer.status != 200:
                return f"{name} at {host or 'any host'}: {answer}"
    return ""


def streamed(site: Site, example: str, names: Names) -> str:
    """Whether each public name has streams, three times."""
    client = client_of(site, example)
    for name, public in names.items():
        for _ in range(3):
            answer = client.ask(name, stream=True)
            if not reached(answer, public, CHAT, stream=True):
                return f"{name}, streamed: {answer}"
    return ""


def patient(site: Site, example: str, names: Names) -> str:
    """Whether an answer that takes four seconds comes, in one piece and streamed."""
    client = client_of(site, example)
    for stream in (False, True):
        answer = client.ask(next(iter(names)), prompt="sleep=4", stream=stream)
        if not (answer.whole if stream else answer.status == 200):
            return f"{'streamed' if stream else 'not streamed'}: {answer}"
    return ""


def rights(site: Site, _: str, __: Names) -> str:
    """Whether tenants may call what they may, others not, and forged headers change nothing."""
    client = site.client(port=10443, host="llm.example.com", tls=True)
    guest, search = {KEY_HEADER: KEYS["guest"]}, {KEY_HEADER: KEYS["search"]}
    forged = {TENANT_HEADER: "search", "x-tenant": "search"}
    for who, headers, model, status in (
        ("search", search, "chat", 200),
        ("search", search, "large", 200),
        ("guest", guest, "chat", 200),
        ("guest", guest, "large", 403),
        ("nobody", {}, "chat", 401),
        ("nobody", {}, "large", 401),
        ("guest with forged headers", {**guest, **forged, MODEL_HEADER: "chat"}, "large", 403),
        ("nobody with forged headers", {**forged, MODEL_HEADER: "large"}, "large", 401),
    ):
        answer = client.ask(model, headers=headers)
        if answer.status != status:
            return f"{who} asks for {model}: {answer.status} instead of {status}"
    return ""


def falls_back(mode: str) -> Probe:
    """Whether the provider answers as it should where the replicas answer so, and only then."""

    def probe(site: Site, example: str, __: Names) -> str:
        client = client_of(site, example)
        well = [client.ask("chat") for _ in range(6)]
        if wrong := [str(answer) for answer in well if answer.workload != "llm/chat" or answer.asked != "qwen3-8b"]:
            return f"replicas are well: {wrong[0]}"
        site.set_mode("llm", "chat", mode)
        try:
            for _ in range(6):
                answer = client.ask("chat")
                if not outside(answer):
                    return f"replicas {f'answer {mode}' if mode.isdigit() else mode}: {answer}"
        finally:
            site.set_mode("llm", "chat", OK)
        return ""

    probe.__doc__ = falls_back.__doc__
    return probe


def messages(site: Site, example: str, _: Names) -> str:
    """Whether the provider answers requests of Anthropic's API where no replica does."""
    client = client_of(site, example)
    site.set_mode("llm", "chat", "503")
    try:
        answer = client.ask("chat", path=MESSAGES)
        return "" if answer.status == 200 else f"{MESSAGES}: {answer}"
    finally:
        site.set_mode("llm", "chat", OK)


def budgeted(site: Site, example: str, __: Names) -> str:
    """Whether a budget that is spent ends."""
    client = client_of(site, example)
    site.stack.forget_counts()
    statuses = []
    for _ in range(5):
        statuses.append(client.ask("chat", prompt="tokens=60000").status)
        time.sleep(PAUSE)
    site.stack.forget_counts()
    return "" if statuses[:2] == [200, 200] and statuses[-1] == 429 else f"5 requests of 60000 tokens: {statuses}"


# ---- the variants ----

SCHEMA_OF_INPUT = "the schema is judged at its line in the input, by llmaz render (W272)"
TWO_BLANKS = "qwen2.5  coder"
CHAT_PROVIDER = "chat-api-example-com"
LEADERS = "leaderworkerset.sigs.k8s.io"
VARIANTS: Mapping[str, Variant] = {
    "wrong-port": Variant(
        "gateway-basic", field("Backend", "chat", "endpoints", 0, "fqdn", "port", value=8000), served
    ),
    "wrong-host": Variant(
        "gateway-basic",
        field("Backend", "chat", "endpoints", 0, "fqdn", "hostname", value="chat-leader.demo.svc.cluster.local"),
        served,
    ),
    "wrong-gateway": Variant(
        "gateway-basic", field("AIGatewayRoute", "chat", "parentRefs", 0, "name", value="llmaz-gatway"), served
    ),
    "wrong-override": Variant(
        "gateway-basic",
        lambda bodies: put("backendRefs", 0, "modelNameOverride", value="qwen2")(rule(bodies, "chat")),
        served,
    ),
    "same-name": Variant("gateway-basic", renamed("coder", "qwen2-0.5b"), served),
    "workers-selected": Variant(
        "gateway-basic", field("Service", "chat-leaders", "selector", f"{LEADERS}/worker-index", value="1"), served
    ),
    "other-hostname": Variant(
        "gateway-basic", field("AIGatewayRoute", "chat", "hostnames", value=["llm.example.org"]), hosted
    ),
    "no-backends": Variant("gateway-basic", lambda bodies: rule(bodies, "chat").pop("backendRefs"), served),
    "backend-missing": Variant("gateway-basic", without("Backend", "chat"), served),
    "idle-2s": Variant(
        "gateway-basic", idle(2), patient, "streamIdle is judged at its line in the input, by llmaz render (W271)"
    ),
    "idle-120s": Variant("gateway-basic", idle(120), patient),
    "two-blanks-in-a-name": Variant(
        "gateway-basic", renamed("coder", TWO_BLANKS), served, renames={"qwen2.5-coder": TWO_BLANKS}
    ),
    "two-blanks-refused": Variant(
        "gateway-basic",
        renamed("coder", TWO_BLANKS),
        served,
        "the name is judged at its line in the input, by llmaz render (W270)",
        ("experimental",),
        {"qwen2.5-coder": TWO_BLANKS},
    ),
    "closed-listener": Variant(
        "gateway-auth",
        field(
            "Gateway",
            "llmaz-gateway",
            *("listeners", 0, "allowedRoutes", "namespaces", "selector", "matchExpressions", 0, "values"),
            value=["other"],
        ),
        rights,
    ),
    "only-authorization": Variant(
        "gateway-auth",
        dropped("SecurityPolicy", "large", "apiKeyAuth"),
        rights,
        "the route that sorts first, chat, asks every request for its key, until somebody adds one before it",
    ),
    "only-authorization-first": Variant("gateway-auth", authorizes_only("chat"), rights),
    "no-grant": Variant("gateway-auth", lambda bodies: without("ReferenceGrant", grant(bodies))(bodies), rights),
    "policy-elsewhere": Variant(
        "gateway-auth", field("SecurityPolicy", "large", "targetRefs", 0, "name", value="larg"), rights
    ),
    "header-nobody-sets": Variant(
        "gateway-auth",
        field(
            "SecurityPolicy",
            "large",
            *("authorization", "rules", 0, "principal", "headers", 0, "name"),
            value="x-tenant",
        ),
        rights,
    ),
    "headers-not-removed": Variant("gateway-auth", dropped("ClientTrafficPolicy", "llmaz-gateway", "headers"), rights),
    "all-weights-0": Variant("canary", weightless, served),
    "no-retries": Variant("fallback-external", without("BackendTrafficPolicy", "chat"), falls_back(REFUSE)),
    "provider-without-tls": Variant("fallback-external", dropped("Backend", CHAT_PROVIDER, "tls"), falls_back("503")),
    "provider-without-sni": Variant(
        "fallback-external", dropped("Backend", CHAT_PROVIDER, "tls", "sni"), falls_back("503")
    ),
    "zone-aware": Variant(
        "fallback-external",
        field(
            "BackendTrafficPolicy",
            "chat",
            "loadBalancer",
            value={"type": "LeastRequest", "zoneAware": {"preferLocal": {"minEndpointsThreshold": 1}}},
        ),
        falls_back("503"),
    ),
    "one-priority": Variant(
        "fallback-external",
        one_priority,
        falls_back("503"),
        "half of the requests go to the provider, which may be what is meant",
    ),
    "key-under-another-name": Variant("fallback-external", another_entry, falls_back("503")),
    "provider-anthropic": Variant(
        "fallback-external", provider(schema={"name": "Anthropic"}), falls_back("503"), SCHEMA_OF_INPUT
    ),
    "provider-cohere": Variant(
        "fallback-external",
        provider(schema={"name": "Cohere", "version": "v2"}),
        falls_back("503"),
        SCHEMA_OF_INPUT,
    ),
    "provider-anthropic-messages": Variant("fallback-external", provider(schema={"name": "Anthropic"}), messages),
    "counts-another-key": Variant("token-limits", counts_another_key, budgeted),
    "picker-port": Variant(
        "gateway-pool", field("InferencePool", "chat", "endpointPickerRef", "port", "number", value=9003), served
    ),
    "picker-watches-no-pods": Variant(
        "gateway-pool", watches_no_pods, served, "what a picker may do is not judged: Roles of others count as well"
    ),
    "pool-selects-nothing": Variant(
        "gateway-pool",
        field("InferencePool", "chat", "selector", "matchLabels", f"{LEADERS}/name", value="chat2"),
        served,
    ),
    "pool-port": Variant(
        "gateway-pool", field("InferencePool", "chat", "targetPorts", value=[{"number": 8081}]), served
    ),
    "tokens-counted-beside-a-pool": Variant(
        "model-split",
        field(
            "AIGatewayRoute",
            "summaries",
            "llmRequestCosts",
            value=[{"metadataKey": "llm_total_token", "type": "TotalToken"}],
        ),
        streamed,
    ),
    "adapter-nobody-has": Variant(
        "model-split",
        lambda bodies: put("rules", 0, "targets", 0, "modelRewrite", value="mails-v9")(
            of(bodies, "InferenceModelRewrite", "mails")
        ),
        served,
    ),
}


def grant(bodies: Sequence[Body]) -> str:
    """The name of the one ReferenceGrant."""
    return next(str(body["metadata"]["name"]) for body in bodies if body["kind"] == "ReferenceGrant")


# ---- asking ----


def asked(names: Sequence[str], site: Site, channel: str, render: Callable[[str], Bodies]) -> Iterator[Finding]:
    """What comes of the variants of these names, each example's sound output first. `render`: an example's output."""
    chosen = {name: VARIANTS[name] for name in names if channel in VARIANTS[name].channels}
    for example in dict.fromkeys(variant.example for variant in chosen.values()):
        own = {name: variant for name, variant in chosen.items() if variant.example == example}
        sound = render(example)
        site.clear()
        beside = CASES[example].beside(site)
        refused = site.apply([*beside, *sound])
        wrong = [*refused, *site.settle()]
        yield Finding(example, question("as it is: all conditions are good", not wrong, wrong[:3]))
        codes = checked(whole(sound, beside))
        yield Finding(example, question("as it is: llmaz check says nothing against it", not codes, codes))
        for probe in dict.fromkeys(variant.probe for variant in own.values()):
            fault = healed(site, example, probe)
            yield Finding(example, question(f"as it is: {shown(probe)}", not fault, fault))
        for name, variant in own.items():
            row = compared(name, variant, sound, beside, site)
            yield Finding(name, verdict(row), row)
            fault = healed(site, example, variant.probe)
            yield Finding(name, question("without the fault all is served again", not fault, fault))


def lasting(probe: Callable[[], str]) -> str:
    """The fault that is there for LASTING seconds on end, '' where none is within PATIENCE."""
    begun, since = time.monotonic(), None
    while True:
        fault, now = probe(), time.monotonic()
        since = (since or now) if fault else None
        if since is not None and now - since >= LASTING:
            return fault
        if since is None and now - begun > PATIENCE:
            return ""
        time.sleep(PAUSE)


def healed(site: Site, example: str, probe: Probe) -> str:
    """'' as soon as the probe has nothing to say, else what it says in the end."""
    return site.until_not(lambda: probe(site, example, NAMES[example]), HEALING)


def compared(name: str, variant: Variant, sound: Bodies, beside: Sequence[Body], site: Site) -> Row:
    """Brings the fault, sees what is said and served, and takes the fault away."""
    bodies = copy.deepcopy(sound)
    variant.change(bodies)
    names = {variant.renames.get(name, name): public for name, public in NAMES[variant.example].items()}
    changed = [body for body in bodies if body not in sound]
    gone = [body for body in sound if identity(body) not in {identity(other) for other in bodies}]
    added = [body for body in changed if identity(body) not in {identity(other) for other in sound}]
    codes = checked(whole(bodies, beside))
    refused = [message for body in changed if (message := site.stack.cluster.applied(body).message)]
    for body in gone:
        site.delete(body)
    try:
        fault = "" if refused else lasting(lambda: variant.probe(site, variant.example, names))
        said = "; ".join([*(f"refused: {message}" for message in refused), *complaints(site.stack.cluster)])
    finally:
        own = {identity(body): body for body in [*beside, *sound]}
        for body in added:
            site.delete(body)
        for body in [*changed, *gone]:
            if identity(body) in own:
                site.stack.cluster.applied(own[identity(body)])
    return Row(name, codes, said, "refused by the API server" if refused else fault, variant.differs)


def identity(body: Body) -> tuple[str, str, str]:
    metadata = body["metadata"]
    return body["kind"], metadata.get("namespace", ""), metadata["name"]


def whole(bodies: Sequence[Body], beside: Sequence[Body]) -> Bodies:
    """The set with what lies beside it, which gives way where both have an object."""
    own = {identity(body) for body in bodies}
    return [*bodies, *(body for body in beside if identity(body) not in own)]


def checked(bodies: Sequence[Body]) -> str:
    """The codes of errors and warnings that `llmaz check` has for a set of manifests; notes do not count."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "all.yaml").write_text(yaml.safe_dump_all(bodies, sort_keys=False), "utf-8")
        command = [sys.executable, "-m", "renderer", "check", folder]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return " ".join(dict.fromkeys(CODE.findall(done.stdout + done.stderr)))


def verdict(row: Row) -> Result:
    """Whether `llmaz check` and requests agree, or a reason says why not."""
    seen = f"llmaz check: {row.check or 'silent'}; requests: {row.requests or 'served'}"
    if row.agree:
        stale = "they agree, so the reason why not has to go: " + row.differs if row.differs else ""
        return Result("llmaz check and requests agree", stale and f"{stale}; {seen}", seen)
    if row.differs:
        return Result(f"llmaz check and requests differ: {row.differs}", "", seen)
    return Result("llmaz check and requests agree", seen)


def shown(probe: Probe) -> str:
    """What a probe asks, in its own words."""
    return " ".join((probe.__doc__ or probe.__qualname__).split()).rstrip(".").lower()


def table(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as lines with columns."""
    cells = [
        (row.name, row.check or "–", row.controllers[:60] or "–", row.requests[:60] or "served", _agreement(row))
        for row in rows
    ]
    widths = [max(len(line[column]) for line in [COLUMNS, *cells]) for column in range(len(COLUMNS))]
    for line in [COLUMNS, *cells]:
        yield "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()


def _agreement(row: Row) -> str:
    return "yes" if row.agree else f"no: {row.differs}" if row.differs else "NO"
