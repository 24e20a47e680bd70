"""The examples that have routes: what lies beside what is rendered of each, and what clients must get.

Which name leads where is written down, not worked out: it is what a reader of the example expects.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Event, Thread, Timer
from typing import NamedTuple

from tests.apiserver.server import Body
from tests.engines.rendering import Workload
from tests.engines.trial import Result
from tests.gateway import real_engines
from tests.gateway.clients import (
    CHAT,
    COMPLETIONS,
    EMBEDDINGS,
    MODELS,
    PROVIDER,
    RERANK,
    Answer,
    Client,
    chi_square,
    counted,
    many,
)
from tests.gateway.dns import TTL
from tests.gateway.fake_engines import LEAVING, OK, PROMPT_TOKENS, REFUSE
from tests.gateway.pods import LWS
from tests.gateway.trial import PAUSE, SERVING, Site, Trial, platform, secret
from tests.paths import TESTS

MODEL_HEADER, TENANT_HEADER, KEY_HEADER = "x-ai-eg-model", "x-tenant-id", "x-api-key"
KEYS = {"research": "key-of-research", "search": "key-of-search", "guest": "key-of-guest"}
PROVIDER_KEY = "key-of-provider"
UNKNOWN = "no-such-model"
SHARES = 1000  # requests that weights are judged by
LEFT_DNS = 2.5 * TTL  # seconds until nobody may send to an address that left DNS
INTERCEPTOR = ("keda", "keda-add-ons-http-interceptor-proxy")  # namespace and name that keda-from-zero says
SEEN = 5.0  # seconds until controllers have looked at what was applied, if they do
BUSY = 4  # requests that wait in an engine: with 5 in most of them a picker with flow control holds the next itself
STARTING = 5.0  # seconds that a replica of a pool that had none takes


class Public(NamedTuple):
    """What a public name leads to. `workloads`: namespace/name of each that may answer; `engine`: the name that it is
    asked for, '' where there are several.
    """

    workloads: tuple[str, ...]
    engine: str = ""
    owner: str = "llmaz"


Names = Mapping[str, Public]

# What a reader of an example expects; gateway-teams has two Gateways.
NAMES: Mapping[str, Names] = {
    "quickstart": {"qwen2.5-0.5b": Public(("demo/chat",), "qwen2.5-0.5b")},
    "gateway-basic": {
        "qwen2-0.5b": Public(("demo/chat",), "qwen2-0.5b", "qwen"),
        "qwen2.5-coder": Public(("demo/coder",), "qwen2.5-coder", "qwen"),
    },
    "gateway-auth": {"chat": Public(("llm/chat",), "chat"), "large": Public(("llm/large",), "large")},
    "canary": {"chat": Public(("llm/chat", "llm/chat-next"))},
    "fallback-external": {"chat": Public(("llm/chat",), "qwen3-8b")},
    "token-limits": {"chat": Public(("llm/chat",), "qwen3-8b")},
    "model-split": {
        "qwen3-8b-base": Public(("split-pool/base",), "qwen3-8b-base"),
        "mails": Public(("split-pool/base",)),
        "summaries": Public(("split-backends/summary", "split-backends/summary-next")),
        "qwen3-8b": Public(("split-backends/summary",), "qwen3-8b"),
        "granite-4.1-8b": Public(("split-backends/summary-next",), "granite-4.1-8b"),
    },
    "adapters": {
        "qwen3-8b": Public(("llm/qwen",), "qwen3-8b"),
        "acme/mails": Public(("llm/qwen",), "acme/mails"),
        "sql": Public(("llm/qwen",)),
        "qwen3-8b-pooled": Public(("pooled/qwen",), "qwen3-8b-pooled"),
        "poems": Public(("pooled/qwen",), "qwen3-8b-pooled:poems"),
        "sql-pooled": Public(("pooled/qwen",)),
    },
    "several-models": {
        "qwen3-4b-instruct-gguf": Public(("llm/router",), "qwen3-4b-instruct-gguf"),
        "qwen3-0.6b-gguf": Public(("llm/router",), "qwen3-0.6b-gguf"),
        "qwen3-embedding-0.6b-gguf": Public(("llm/router",), "qwen3-embedding-0.6b-gguf"),
        "gemma-3-4b": Public(("llm/small",), "gemma3:4b"),
        "nomic-embed-text": Public(("llm/small",), "nomic-embed-text:v1.5"),
    },
    "gateway-pool": {
        "qwen3-8b": Public(("llm/chat",), "qwen3-8b"),
        "chat-nightly": Public(("llm/chat",), "qwen3-8b"),
        "bge-m3": Public(("llm/embed",), "bge-m3"),
    },
    "tasks-of-models": {
        name: Public((f"default/{name}",), name)
        for name in (
            *("ears", "ollama-vectors", "ranker", "ranker-old", "small-ranker", "small-vectors"),
            *("vectors", "vectors-old", "vectors-sglang"),
        )
    },
    "wide-experts-pool": {
        "deepseek-r1": Public(("llm/r1", "llm/r1-0"), "deepseek-r1"),  # its leader, and the workers of its group
        "deepseek-r1-tensors": Public(("llm/r1-tensors", "llm/r1-tensors-0"), "deepseek-r1-tensors"),
    },
    "keda-from-zero": {
        "qwen3-32b": Public(("llm/pooled",), "qwen3-32b"),
        "qwen3-0.6b-gguf": Public(("/".join(INTERCEPTOR),), "qwen3-0.6b-gguf"),
    },
}


class Case(NamedTuple):
    """An example. `beside`: what its author has in the cluster besides what is rendered."""

    ask: Trial
    beside: Callable[[Site], Sequence[Body]]


def question(text: str, holds: object, seen: object = "", figures: str = "") -> Result:
    """A question that holds or not. `seen`: what is said when it does not."""
    return Result(text, "" if holds else f"{seen}" or "not so", figures)


# ---- what holds for every Gateway ----


def named(client: Client, names: Names, headers: Mapping[str, str] | None = None) -> Iterator[Result]:
    """Each public name is served, and no other: chat, completions, streams, /v1/models; forged headers do nothing."""
    first, begun, waiting = next(iter(names)), time.monotonic(), list(names)  # each has a way of its own to get ready
    while waiting and time.monotonic() < begun + SERVING:
        if client.ask(waiting[0], headers=headers).status == 200:
            waiting.pop(0)
        else:
            time.sleep(PAUSE)
    took = f"{time.monotonic() - begun:.1f} s after all was accepted"
    yield question("all public names are served", not waiting, f"not {', '.join(waiting)}", took)
    for name, public in names.items():
        for path, stream in ((CHAT, False), (CHAT, True), (COMPLETIONS, False)):
            answer = client.ask(name, path=path, stream=stream, headers=headers)
            kind = f"{path}{', streamed,' if stream else ''}"
            yield question(
                f"{name}: {kind} reaches {' or '.join(public.workloads)}", reached(answer, public, path, stream), answer
            )
    unknown = client.ask(UNKNOWN, headers=headers)
    yield question("an unknown name is 404", unknown.status == 404, unknown)
    nameless = client.send("POST", CHAT, "{}", headers=headers)
    yield question("a request without a model is refused", 400 <= nameless.status < 500, nameless)
    forged = client.ask(first, headers={**(headers or {}), MODEL_HEADER: UNKNOWN})
    yield question(f"a client's own {MODEL_HEADER} changes nothing", forged.status == 200, forged)
    yield listed(client, names, headers)


def reached(answer: Answer, public: Public, path: str, stream: bool) -> bool:
    """Whether a server of that name answered, asked as it wants to be."""
    saw = answer.witness
    return (
        answer.status == 200
        and saw is not None
        and answer.workload in public.workloads
        and public.engine in ("", answer.requested_model)
        and (saw["method"], saw["path"]) == ("POST", path)
        and (not stream or answer.whole)
    )


def listed(client: Client, names: Names, headers: Mapping[str, str] | None) -> Result:
    """Whether /v1/models lists each name once and no other, with its owner and a time."""
    answer = client.send("GET", MODELS, headers=headers)
    data: Sequence[Body] = answer.body.get("data", ()) if answer.status == 200 else ()
    seen = sorted((model["id"], model.get("owned_by")) for model in data)
    expected = sorted((name, public.owner) for name, public in names.items())
    timed = all(isinstance(model.get("created"), int) and model["created"] > 0 for model in data)
    return question(f"{MODELS} lists {len(names)} names", seen == expected and timed, seen or answer)


def shared(what: str, counts: Mapping[object, int], weights: Mapping[object, int]) -> Result:
    """Whether counts are shares by these weights."""
    statistic, limit = chi_square(counts, weights)
    seen = ", ".join(
        f"{'/'.join(map(str, key)) if isinstance(key, tuple) else key} {count}" for key, count in counts.items()
    )
    return question(
        what, statistic < limit, f"{seen}: chi-square {statistic:.1f} > {limit}", f"{seen}; chi-square {statistic:.2f}"
    )


# ---- the examples ----


def quickstart(site: Site) -> Iterator[Result]:
    yield from named(site.client(), NAMES["quickstart"])


def late(site: Site, client: Client, namespace: str, workload: str, name: str) -> Result:
    """How long a new route answers 503 where DNS was empty when Envoy looked first."""
    leaders = site.leaders(namespace, workload)
    metadata = {"namespace": namespace, "name": workload}
    route = {"apiVersion": "aigateway.envoyproxy.io/v1beta1", "kind": "AIGatewayRoute", "metadata": metadata}
    live = site.stack.cluster.live(route)
    site.set_ready(leaders, ready=False)
    site.delete(route)
    site.delete({**route, "apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute"})
    site.until(lambda: client.ask(name).status == 404, SERVING)
    site.apply([{**route, "spec": live["spec"]}])
    first = site.until(lambda: (answer := client.ask(name)).status not in (404, 500) and answer, SERVING)
    site.set_ready(leaders, ready=True)
    begun = time.monotonic()
    served = site.until(lambda: client.ask(name).status == 200, LEFT_DNS)
    figures = f"{first.status if first else 404} at first, 200 {time.monotonic() - begun:.0f} s after they are in DNS"
    return question(
        "replicas that were not in DNS at Envoy's first look are asked once they are", served, figures, figures
    )


def gateway_basic(site: Site) -> Iterator[Result]:
    client = site.client()
    yield from named(client, NAMES["gateway-basic"])
    pods = counted(many(200, lambda _: client.ask("qwen2-0.5b")), lambda answer: answer.pod)
    spread = pods.keys() == {"demo/chat-0", "demo/chat-1"} and min(pods.values()) > 60
    yield question(
        "200 requests are spread over both replicas", spread, dict(pods), " + ".join(map(str, pods.values()))
    )
    long = client.ask("qwen2-0.5b", prompt="x" * 5_000_000)
    yield question("a prompt of 5 MB passes", long.status == 200, long)
    yield late(site, client, "demo", "coder", "qwen2.5-coder")
    yield from drained(site, client, "demo", "chat", "qwen2-0.5b")


def drained(site: Site, client: Client, namespace: str, workload: str, name: str) -> Iterator[Result]:
    """Whether a replica ends and loses no request: it leaves DNS at once, its hook sleeps, then it takes no more."""
    leaving = site.leaders(namespace, workload)[-1]
    address = leaving["status"]["podIP"]
    sleep = Workload(workload, name, "", leaving, ()).hook_sleep
    over = Event()
    seen: list[tuple[float, Answer, bool]] = []

    def work(stream: bool) -> None:
        while not over.is_set():
            begun = time.monotonic()
            answer = client.ask(name, prompt="sleep=0.2 chunks=8 gap=0.25", stream=stream)
            seen.append((begun, answer, answer.whole if stream else answer.status == 200))

    workers = [Thread(target=work, args=(number % 2 == 0,), daemon=True) for number in range(6)]
    for worker in workers:
        worker.start()
    time.sleep(3)
    left = time.monotonic()
    site.set_ready([leaving], ready=False)
    time.sleep(sleep)
    site.stack.fakes.set_mode(address, LEAVING)
    time.sleep(6)
    over.set()
    for worker in workers:
        worker.join()
    lost = [str(answer) for _, answer, whole in seen if not whole]
    last = max(
        (begun for begun, answer, _ in seen if answer.witness and answer.witness["address"] == address), default=left
    )
    figures = f"{len(seen)} requests; the last to it {last - left:.0f} s after it left DNS, its hook sleeps {sleep} s"
    yield question(
        "a replica ends and no request is lost", not lost, f"{len(lost)} of {len(seen)} lost: {lost[:3]}", figures
    )
    yield question("nobody sends to it once its hook is over", last - left < sleep, figures)


def gateway_auth(site: Site) -> Iterator[Result]:
    client = site.client(port=10443, host="llm.example.com", tls=True)
    yield from named(client, NAMES["gateway-auth"], {KEY_HEADER: KEYS["research"]})
    for tenant, key in KEYS.items():
        answer = client.ask("chat", headers={KEY_HEADER: key})
        headers = answer.witness["headers"] if answer.witness else {}
        yield question(f"{tenant} may call chat, whose engine is told so", headers.get(TENANT_HEADER) == tenant, answer)
        yield question(
            f"the key of {tenant} goes no further", answer.status == 200 and KEY_HEADER not in headers, headers
        )
        status, large = (403 if tenant == "guest" else 200), client.ask("large", headers={KEY_HEADER: key})
        yield question(f"{tenant} calls large: {status}", large.status == status, large)
    for name in ("chat", "large", UNKNOWN):
        for headers in ({}, {KEY_HEADER: "wrong"}):
            answer = client.ask(name, headers=headers)
            how = "a wrong key" if headers else "no key"
            yield question(f"{name} with {how} is 401", answer.status == 401, answer)
    for forged, status in (
        ({KEY_HEADER: KEYS["guest"], TENANT_HEADER: "research"}, 403),
        ({KEY_HEADER: KEYS["guest"], MODEL_HEADER: "chat"}, 403),
        ({TENANT_HEADER: "research", MODEL_HEADER: "chat"}, 401),
    ):
        answer = client.ask("large", headers=forged)
        yield question(f"forged {', '.join(forged)}: {status}", answer.status == status, answer)
    models = client.send("GET", MODELS)
    yield question(f"{MODELS} without a key is 401", models.status == 401, models)
    plain = site.client(port=10080).ask("chat")
    yield question("nothing answers on port 80", plain.status == -1, plain)


def gateway_teams(site: Site) -> Iterator[Result]:
    support = site.client(host="llm.example.com")
    yield from named(support, {"chat": Public(("support/chat",), "chat")})
    search = site.client("search", "search-gateway", host="search.example.com")
    yield from named(search, {"chat": Public(("search/chat",), "chat")})
    for client, host in ((support, "search.example.com"), (search, "llm.example.com"), (support, "10.0.0.1")):
        answer = client.ask("chat", host=host)
        yield question(f"another host, {host}, is 404", answer.status == 404, answer)
    for client in (support, search):
        answer = client.ask("qwen3-0.6b")
        yield question("batch/nightly has no route", answer.status == 404, answer)
    late, patient = many(2, lambda number: (search, support)[number].ask("chat", prompt="sleep=62", timeout=75))
    ended = late.status == 504 and 58 < late.seconds < 64
    yield question(
        "an answer of 62 s ends at search's 60 s", ended, f"{late} after {late.seconds:.1f} s", f"{late.seconds:.1f} s"
    )
    yield question("and passes at the other Gateway's 300 s", patient.status == 200, patient)


def canary(site: Site) -> Iterator[Result]:
    client = site.client()
    yield from named(client, NAMES["canary"])
    answers = many(SHARES, lambda _: client.ask("chat"))
    counts = counted(answers, lambda answer: (answer.workload, answer.requested_model))
    weights: Mapping[object, int] = {("llm/chat", "qwen3-32b"): 9, ("llm/chat-next", "qwen3-32b-fp8"): 1}
    yield shared(f"{SHARES} requests are shared 9 to 1, each engine by its own name", counts, weights)
    yield question(
        "an answer carries the engine's model name",
        {answer.body.get("model") for answer in answers} == {"qwen3-32b", "qwen3-32b-fp8"},
        {answer.body.get("model") for answer in answers},
    )
    for name in ("qwen3-32b", "qwen3-32b-fp8"):
        answer = client.ask(name)
        yield question(f"{name} has no route of its own", answer.status == 404, answer)


def fallback_external(site: Site) -> Iterator[Result]:
    client = site.client()
    yield from named(client, NAMES["fallback-external"])
    for mode in ("503", "500", "502", REFUSE):
        site.set_mode("llm", "chat", mode)
        time.sleep(PAUSE)
        answers = many(30, lambda number: client.ask("chat", stream=number % 3 == 0))
        lost = [str(answer) for answer in answers if not outside(answer)]
        what = "refuse connections" if mode == REFUSE else f"answer {mode}"
        yield question(
            f"replicas {what}: all 30 requests go to the provider, by TLS, under its name, with its key",
            not lost,
            lost[:3],
        )
    for status in (429, 400, 404):
        site.set_mode("llm", "chat", str(status))
        answer = client.ask("chat")
        yield question(f"an answer of {status} is not tried again", answer.status == status, answer)
    site.set_mode("llm", "chat", OK)
    answers = many(20, lambda _: client.ask("chat"))
    lost = [str(answer) for answer in answers if answer.workload != "llm/chat"]
    yield question("replicas that are well again are asked", not lost, lost[:3])
    yield from half(site, client)
    leaders = site.leaders("llm", "chat")
    site.set_ready(leaders, ready=False)
    begun = time.monotonic()
    gone = site.until(lambda: outside(client.ask("chat")), LEFT_DNS)
    figures = f"{time.monotonic() - begun:.0f} s after they left DNS"
    yield question("replicas that left DNS, though they answer: the provider is asked", gone, figures, figures)
    answers = many(30, lambda _: client.ask("chat"))
    lost = [str(answer) for answer in answers if not outside(answer)]
    yield question("and all 30 requests go there", not lost, lost[:3])
    site.set_ready(leaders, ready=True)


def outside(answer: Answer) -> bool:
    """Whether the provider of the example answered, asked as it wants to be."""
    saw = answer.witness
    if answer.status != 200 or saw is None:
        return False
    request = (saw["pod"], saw["requested_model"], saw["authorization"], saw["host"], saw["tls"])
    return request == (PROVIDER, "qwen/qwen3-8b", f"Bearer {PROVIDER_KEY}", "api.example.com", True)


def half(site: Site, client: Client) -> Iterator[Result]:
    """One of two replicas fails: where do its requests go?"""
    failing, *_ = site.leaders("llm", "chat")
    site.stack.fakes.set_mode(failing["status"]["podIP"], "503")
    time.sleep(PAUSE)
    counts = counted(many(60, lambda _: client.ask("chat")), lambda answer: f"{answer.status} {answer.workload}")
    served = counts.keys() <= {"200 llm/chat", f"200 {PROVIDER}"}
    figures = ", ".join(f"{key} {count}" for key, count in sorted(counts.items(), key=str))
    yield question("one of two replicas answers 503: 60 requests are served", served, figures, figures)
    site.set_mode("llm", "chat", OK)


def token_limits(site: Site) -> Iterator[Result]:
    client = site.client()
    yield from named(client, NAMES["token-limits"], {KEY_HEADER: KEYS["guest"]})
    time.sleep(SEEN)  # Envoy learns of the counter after it has the route
    stream = client.ask("chat", stream=True, headers={KEY_HEADER: KEYS["guest"]})
    yield question(
        "a stream is asked for its tokens",
        stream.witness and stream.witness["usage"] and '"usage"' in stream.text,
        stream,
    )
    yield from spent(client, "chat", 100_000, 30_000)


def spent(client: Client, name: str, budget: int, tokens: int) -> Iterator[Result]:
    """Whether a tenant's budget ends after as many requests of so many output tokens as fit, and nobody else's does."""
    own, other = {KEY_HEADER: KEYS["research"]}, {KEY_HEADER: KEYS["search"]}
    needed = -(-budget // (tokens + PROMPT_TOKENS))
    statuses = []
    for number in range(needed + 2):
        statuses.append(client.ask(name, prompt=f"tokens={tokens}", stream=number % 2 == 1, headers=own).status)
        time.sleep(PAUSE)
    expected = [200] * needed + [429, 429]
    figures = f"{needed} requests of {tokens + PROMPT_TOKENS} tokens"
    yield question(f"a budget of {budget} tokens ends when it is spent", statuses == expected, statuses, figures)
    answer = client.ask(name, headers=other)
    yield question("another tenant has a budget of its own", answer.status == 200, answer)


def model_split(site: Site) -> Iterator[Result]:
    client = site.client()
    yield from named(client, NAMES["model-split"])
    counts = counted(many(SHARES, lambda _: client.ask("summaries")), lambda answer: answer.requested_model)
    yield shared(f"{SHARES} requests for summaries are shared 90 to 10", counts, {"qwen3-8b": 90, "granite-4.1-8b": 10})
    answers = many(SHARES, lambda number: client.ask("mails", prompt=f"mail {number}"))
    counts = counted(answers, lambda answer: answer.requested_model)
    yield shared(
        f"{SHARES} requests for mails are shared 90 to 10 over adapters", counts, {"mails-v1": 90, "mails-v2": 10}
    )
    models = {answer.body.get("model") for answer in answers}
    yield question("an answer from a pool carries the public name", models == {"mails"}, models)


def _rows(client: Client, name: str) -> list[Answer]:
    return many(SHARES, lambda number: client.ask(name, prompt=f"row {number}"))


def adapters(site: Site) -> Iterator[Result]:
    client = site.client()
    yield from named(client, NAMES["adapters"])
    for name, prefix in (("sql", ""), ("sql-pooled", "qwen3-8b-pooled:")):
        answers = _rows(client, name)
        counts = counted(answers, lambda answer: answer.requested_model)
        weights: Mapping[object, int] = {f"{prefix}sql-v1": 90, f"{prefix}sql-v2": 10}
        yield shared(f"{SHARES} requests for {name} are shared 90 to 10 over adapters", counts, weights)
    for name in ("sql-v1", "sql-v2", "mails"):
        answer = client.ask(name)
        yield question(f"{name} is no public name", answer.status == 404, answer)


def several_models(site: Site) -> Iterator[Result]:
    """Each name of a server of several models asks it for its own model, on every path of its task."""
    client, names = site.client(), NAMES["several-models"]
    yield from named(client, names)
    for name in ("qwen3-embedding-0.6b-gguf", "nomic-embed-text"):
        answer = client.ask(name, path=EMBEDDINGS)
        yield question(f"{name}: embeddings", reached(answer, names[name], EMBEDDINGS, False), answer)


def _first_served(site: Site, client: Client, name: str, path: str) -> Answer:
    """The first good answer to a name on a path; the last one where there is none."""
    site.until(lambda: client.ask(name, path=path).status == 200, SERVING)
    return client.ask(name, path=path)


def tasks_of_models(site: Site) -> Iterator[Result]:
    """Embeddings and reranking, each on the path of its task alone; the engine is asked on its own path."""
    client = site.client()
    names = NAMES["tasks-of-models"]
    paths_by_name = {"vectors": (EMBEDDINGS, EMBEDDINGS), "small-vectors": (EMBEDDINGS, EMBEDDINGS)}
    paths_by_name |= {"ranker": (RERANK, "/v2/rerank"), "small-ranker": (RERANK, "/v1/rerank")}
    for name, (path, engine_path) in paths_by_name.items():
        answer = _first_served(site, client, name, path)
        is_asked = answer.witness is not None and answer.witness["path"] == engine_path
        holds = is_asked and answer.workload in names[name].workloads and answer.requested_model == name
        yield question(f"{name}: {path} reaches {engine_path} of its engine", holds, answer)
        other = client.ask(name, path=RERANK if path == EMBEDDINGS else CHAT)
        yield question(f"{name}: another task is refused", other.status == 500, other)
    yield listed(client, names, None)


def real_engine(site: Site) -> Iterator[Result]:
    """A chat, an embedding and ranks of a real engine through the gateway, and which of their tokens a budget counts:
    the gateway reads those of ranks from `meta.tokens`, which engines do not send.
    """
    text = "one word after another, " * 4  # a token a byte: more than the budget
    chat = {"messages": [{"role": "user", "content": text}], "max_tokens": 8}
    bodies: Mapping[str, tuple[str, Body, str]] = {
        "budgeted-chat": (CHAT, chat, "choices"),
        "budgeted-vectors": (EMBEDDINGS, {"input": text}, "data"),
        "budgeted-ranker": (RERANK, {"query": text, "documents": ["one", "another"]}, "results"),
    }
    with real_engines.running(site, "llm", ("chat", "vectors", "ranker")):
        client = site.client()
        for name, (path, body, key) in bodies.items():
            text = json.dumps({"model": name, **body})
            ask = partial(client.send, "POST", path, text)
            other, own = ({KEY_HEADER: KEYS[tenant]} for tenant in ("guest", "research"))
            site.until(lambda ask=ask, other=other: ask(headers=other).status == 200, SERVING)  # type: ignore[misc]
            time.sleep(SEEN)  # Envoy learns of the counter after it has the route
            first = ask(headers=own)
            tokens = (first.body.get("usage") or {}).get("total_tokens")
            answered = first.status == 200 and first.body.get(key)
            yield question(f"{name}: a real engine answers", answered, first, f"{tokens} tokens")
            time.sleep(SEEN)
            second, is_counted = ask(headers=own), path != RERANK
            what = "are counted: the budget is spent" if is_counted else "are not counted (W680)"
            yield question(f"{name}: its tokens {what}", second.status == (429 if is_counted else 200), second)


def gateway_pool(site: Site) -> Iterator[Result]:
    client = site.client()
    yield from named(client, NAMES["gateway-pool"])
    vectors = client.ask("bge-m3", path=EMBEDDINGS)
    yield question(
        "bge-m3: embeddings reach llm/embed",
        reached(vectors, NAMES["gateway-pool"]["bge-m3"], EMBEDDINGS, False),
        vectors,
    )
    leaders = site.leaders("llm", "chat")
    site.set_waiting(leaders, 50)
    site.set_waiting([leaders[1]], 0)
    time.sleep(2)
    pods = counted(
        many(60, lambda number: client.ask("qwen3-8b", prompt=f"prompt {number}")), lambda answer: answer.pod
    )
    yield question(
        "the picker picks the idle replica", pods["llm/chat-1"] >= 57, dict(pods), f"{pods['llm/chat-1']} of 60"
    )
    site.set_waiting(leaders, 0)
    time.sleep(2)
    pods = counted(
        many(120, lambda number: client.ask("qwen3-8b", prompt=f"prompt {number}")), lambda answer: answer.pod
    )
    used = {f"llm/chat-{number}" for number in range(4)}
    yield question(
        "and all four when all are idle", pods.keys() == used, dict(pods), " + ".join(map(str, pods.values()))
    )
    site.set_waiting(leaders, 5000)
    time.sleep(2)
    for header, status in (({"x-gateway-inference-objective": "nightly"}, 429), ({}, 200)):
        answer = client.ask("chat-nightly" if header else "qwen3-8b", headers=header)
        who = "a sheddable request" if header else "any other"
        yield question(f"all are full: {who} is answered {status}", answer.status == status, answer)
    site.set_waiting(leaders, 0)
    yield early(site)


def early(site: Site) -> Result:
    """What the status of a pool says that is there before its Gateway: the limit that docs/pools.md tells."""
    cluster, (pool, route, gateway) = site.stack.cluster, _early(site)

    def parents() -> list[str]:
        status = cluster.live(pool).get("status") or {}
        return [parent["parentRef"]["name"] for parent in status.get("parents", ())]

    refused = [*site.apply([pool]), *site.apply([route])]
    site.until(lambda: cluster.live({**route, "apiVersion": gateway["apiVersion"], "kind": "HTTPRoute"}), SERVING)
    time.sleep(SEEN)
    refused += site.apply([gateway])
    time.sleep(SEEN)
    before = parents()
    route["spec"]["rules"][0]["timeouts"] = {"request": "61s"}
    refused += site.apply([route])
    after = site.until(parents, SERVING)
    figures = f"status.parents has {before} after {SEEN:.0f} s, {after} after that"
    return question(
        "a pool that is there before a Gateway of another namespace names it only once a route changes",
        (refused, before, after) == ([], [], ["early"]),
        refused or figures,
        figures,
    )


def _early(site: Site) -> tuple[Body, Body, Body]:
    """A pool and a route like two of gateway-pool, and a Gateway for them in another namespace.

    That is of a class that nobody has: the AI gateway does not look at classes, and no Envoy comes.
    """
    chat, early = ({"namespace": "llm", "name": name} for name in ("chat", "early"))

    def like_chat(version: str, kind: str) -> Body:
        head = {"apiVersion": version, "kind": kind}
        return {**head, "metadata": early, "spec": site.stack.cluster.live({**head, "metadata": chat})["spec"]}

    pool = like_chat("inference.networking.k8s.io/v1", "InferencePool")
    route = like_chat("aigateway.envoyproxy.io/v1beta1", "AIGatewayRoute")
    route["spec"]["parentRefs"][0]["name"] = early["name"]
    route["spec"]["rules"][0]["backendRefs"][0]["name"] = early["name"]
    gateway = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "Gateway",
        "metadata": {**early, "namespace": "llmaz-system"},
        "spec": {"gatewayClassName": "nobody", "listeners": [{"name": "http", "protocol": "HTTP", "port": 80}]},
    }
    return pool, route, gateway


def wide_experts_pool(site: Site) -> Iterator[Result]:
    client = site.client()
    yield from named(client, NAMES["wide-experts-pool"])
    ranks = counted(
        many(SHARES, lambda number: client.ask("deepseek-r1", prompt=f"prompt {number}")),
        lambda answer: (answer.pod, answer.witness["port"] if answer.witness else 0),
    )
    pods = ("llm/r1-0", "llm/r1-0-1", "llm/r1-0-2", "llm/r1-0-3")
    expected = {(pod, port) for pod in pods for port in range(8080, 8088)}
    figures = f"{len(ranks)} ranks, {min(ranks.values())} to {max(ranks.values())} requests each"
    yield question(f"{SHARES} requests reach all 8 ranks of all 4 pods", ranks.keys() == expected, dict(ranks), figures)
    group = site.leaders("llm", "r1")
    site.set_waiting(group, BUSY)
    site.stack.fakes.set_waiting(group[2]["status"]["podIP"], 0, 8083)
    time.sleep(2)
    ranks = counted(
        many(60, lambda number: client.ask("deepseek-r1", prompt=f"prompt {number}")),
        lambda answer: (answer.pod, answer.witness["port"] if answer.witness else 0),
    )
    idle = ranks["llm/r1-0-2", 8083]
    yield question("the picker picks the idle rank of a worker", idle >= 57, dict(ranks), f"{idle} of 60")
    site.set_waiting(group, 0)
    site.set_ready([group[3]], ready=False)
    time.sleep(2)
    left = counted(
        many(SHARES, lambda number: client.ask("deepseek-r1", prompt=f"prompt {number}")), lambda answer: answer.pod
    )
    yield question("a worker that is not ready gets no request", left.keys() == {*pods[:3]}, dict(left))
    site.set_ready([group[3]], ready=True)
    one = counted(
        many(200, lambda number: client.ask("deepseek-r1-tensors", prompt=f"prompt {number}")),
        lambda answer: (answer.pod, answer.witness["port"] if answer.witness else 0),
    )
    both = {("llm/r1-tensors-0", 8080), ("llm/r1-tensors-0-1", 8080)}
    yield question("of one rank a pod, both pods are asked", one.keys() == both, dict(one))


def keda_from_zero(site: Site) -> Iterator[Result]:
    client = site.client()
    yield from named(client, NAMES["keda-from-zero"])
    yield from intercepted(client, "qwen3-0.6b-gguf")
    metadata = {"namespace": "llm", "name": "small"}
    route = {"apiVersion": "aigateway.envoyproxy.io/v1beta1", "kind": "AIGatewayRoute", "metadata": metadata}
    spec = site.stack.cluster.live(route)["spec"]
    spec["rules"][0]["matches"][0]["headers"][0]["value"] = "helper"
    refused = site.apply([{**route, "metadata": {**metadata, "name": "helper"}, "spec": spec}])
    yield question("a public name that is not the engine's has a route", not refused, refused)
    site.until(lambda: client.ask("helper").status == 200, SERVING)
    yield from intercepted(client, "helper")
    yield from await_first_replica(site, client)


def intercepted(client: Client, name: str) -> Iterator[Result]:
    """Whether requests come to the interceptor with their public name in a header, and its answers back."""
    for path, stream, headers in (
        (CHAT, False, {}),
        (CHAT, True, {}),
        (COMPLETIONS, False, {}),
        (CHAT, False, {MODEL_HEADER: UNKNOWN}),
    ):
        answer = client.ask(name, path=path, stream=stream, headers=headers)
        seen = answer.witness["headers"].get(MODEL_HEADER, "") if answer.witness else ""
        public = Public(("/".join(INTERCEPTOR),), "qwen3-0.6b-gguf")
        kind = f"{path}{', streamed,' if stream else ''}{' with a forged header' if headers else ''}"
        yield question(
            f"{name}: {kind} reaches the interceptor with {MODEL_HEADER}: {name}",
            reached(answer, public, path, stream) and seen == name,
            f"{answer}, {MODEL_HEADER}: {seen!r}",
        )


def await_first_replica(site: Site, client: Client) -> Iterator[Result]:
    """Whether a request waits for the first replica of a pool, and the picker says so."""
    metadata = {"namespace": "llm", "name": "pooled"}
    path = site.stack.cluster.path(
        {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata}
    )

    def scale(replicas: int) -> None:
        change = json.dumps({"spec": {"replicas": replicas}})
        site.stack.cluster.client("PATCH", path, change, "application/merge-patch+json")

    def start() -> None:
        lengths.append(queue_length(site, "llm/pooled-epp"))
        scale(1)

    lengths: list[float] = []
    scale(0)
    site.until(lambda: not site.leaders("llm", "pooled"), SERVING)
    time.sleep(2)  # the picker learns of it
    later = Timer(STARTING, start)
    later.start()
    answer = client.ask("qwen3-32b", timeout=SERVING)
    later.join()
    waited = reached(answer, NAMES["keda-from-zero"]["qwen3-32b"], CHAT, stream=False) and answer.seconds >= STARTING
    figures = f"{answer.seconds:.1f} s, the replica after {STARTING:.0f} s"
    yield question(
        "a pool has no replica: a request waits for the first one", waited, f"{answer} after {figures}", figures
    )
    yield question("and is in the queue that ScaledObjects ask for", lengths == [1.0], lengths)


def queue_length(site: Site, picker: str) -> float:
    """How many requests a picker says wait in its flow control; -1 where it says nothing."""
    series = "inference_extension_flow_control_queue_size{"
    answer = Client((site.stack.kubelet.pods[picker].network.address, 9090)).send("GET", "/metrics")
    values = [float(text.rpartition(" ")[2]) for text in answer.text.splitlines() if text.startswith(series)]
    return sum(values) if values else -1.0


def _nothing(_: Site) -> Sequence[Body]:
    return ()


def _platform(_: Site) -> Sequence[Body]:
    return [*platform()]


def _tenants(_: Site) -> Sequence[Body]:
    return [secret("llmaz-system", "tenants", KEYS)]


def _certified(site: Site) -> Sequence[Body]:
    certificate, key = site.stack.authority.issue("front", "DNS:llm.example.com")
    entries = {"tls.crt": certificate.read_bytes(), "tls.key": key.read_bytes()}
    return [*_tenants(site), secret("llmaz-system", "llmaz-gateway-tls", entries)]


def _provider(_: Site) -> Sequence[Body]:
    return [*platform(), secret("llm", "provider-key", {"apiKey": PROVIDER_KEY})]


def _interceptor(_: Site) -> Sequence[Body]:
    return [*platform(), *interceptor()]


def interceptor() -> Iterator[Body]:
    """What stands for the interceptor of KEDA's http-add-on: an engine of any name that answers itself."""
    namespace, name = INTERCEPTOR
    metadata = {"namespace": namespace, "name": name}
    container = {"name": "interceptor", "image": "interceptor", "ports": [{"containerPort": 8080}]}
    template = {"size": 1, "workerTemplate": {"spec": {"containers": [container]}}}
    yield {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": metadata,
        "spec": {"replicas": 1, "leaderWorkerTemplate": template},
    }
    spec = {"selector": {f"{LWS}/name": name}, "ports": [{"name": "http", "port": 8080}]}
    # Envoy goes to the address that DNS has, and ClusterIPs lead nowhere: DNS has the pod's.
    yield {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


CASES: Mapping[str, Case] = {
    "quickstart": Case(quickstart, _platform),
    "gateway-basic": Case(gateway_basic, _platform),
    "gateway-auth": Case(gateway_auth, _certified),
    "gateway-teams": Case(gateway_teams, _nothing),
    "canary": Case(canary, _platform),
    "fallback-external": Case(fallback_external, _provider),
    "token-limits": Case(token_limits, _tenants),
    "model-split": Case(model_split, _platform),
    "adapters": Case(adapters, _platform),
    "several-models": Case(several_models, _platform),
    "gateway-pool": Case(gateway_pool, _nothing),
    "wide-experts-pool": Case(wide_experts_pool, _platform),
    "keda-from-zero": Case(keda_from_zero, _interceptor),
    "tasks-of-models": Case(tasks_of_models, _platform),
    "real-engine": Case(real_engine, _tenants),
}

# Where those lie that are no examples.
FOLDERS: Mapping[str, Path] = {
    **{name: TESTS / "cases" / name / "input" for name in ("wide-experts-pool", "tasks-of-models")},
    "real-engine": TESTS / "gateway" / "inputs" / "real-engine",
}
