"""The parts of `make gateway-test` that need no gateway and no root: what it asks, and that it hears a no."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from tests.apiserver.server import CannotJudge
from tests.engines.trial import Result
from tests.gateway import __main__ as program
from tests.gateway import cases, clients, comparison, conditions, dns, fake_engines, network, pods, programs, trial
from tests.gateway.cases import CASES, NAMES, Public
from tests.gateway.clients import CHAT, COMPLETIONS, EMBEDDINGS, MESSAGES, Answer, Client, chi_square
from tests.gateway.comparison import Row
from tests.gateway.fake_engines import LEAVING, REFUSE, Engine, FakeEngines
from tests.gateway.fakes import Fakes
from tests.gateway.faulty_variants import VARIANTS

T = TypeVar("T")
HOST = "127.0.0.1"
ROOT = Path(__file__).resolve().parents[2]


# ---- shares ----


@pytest.mark.parametrize(
    ("counts", "statistic"),
    [({"a": 900, "b": 100}, 0.0), ({"a": 931, "b": 69}, 10.68), ({"a": 932, "b": 68}, 11.38), ({"a": 1000}, 111.11)],
)
def test_chi_square_of_nine_to_one(counts: dict[str, int], statistic: float) -> None:
    value, limit = chi_square(counts, {"a": 9, "b": 1})
    assert round(value, 2) == statistic
    assert limit == 10.83  # 931 to 69 is still 9 to 1, 932 to 68 is not


def test_what_has_no_weight_may_not_be_counted() -> None:
    assert chi_square({"a": 500, "b": 500, "": 1}, {"a": 1, "b": 1})[0] == float("inf")
    assert round(chi_square({"a": 6, "b": 4}, {"a": 1, "b": 1, "c": 0})[0], 2) == 0.4


def test_shares_of_requests_are_a_question() -> None:
    assert cases.shared("shared", {"a": 90, "b": 10}, {"a": 9, "b": 1}).fault == ""
    assert "chi-square 44.4" in cases.shared("shared", {"a": 70, "b": 30}, {"a": 9, "b": 1}).fault


# ---- conditions ----


def judged(kind: str, within: str = "") -> conditions.Judged:
    return next(entry for entry in conditions.KINDS if (entry.kind, entry.within) == (kind, within))


def condition(kind: str, status: str = "True") -> dict[str, str]:
    return {"type": kind, "status": status, "reason": "Reason", "message": "words"}


def body(**status: Any) -> dict[str, Any]:
    return {"metadata": {"namespace": "llm", "name": "chat"}, "status": status}


def test_good_conditions() -> None:
    route = judged("HTTPRoute", "parents")
    parent = {"conditions": [condition("Accepted"), condition("ResolvedRefs"), condition("RouteRulesOverlap")]}
    assert [*conditions.faults(route, body(parents=[parent]))] == []
    negative = [condition("Accepted"), condition("Conflicted", "False")]
    assert [*conditions.faults(judged("Backend"), body(conditions=negative))] == []


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        ({}, "HTTPRoute llm/chat: nothing in status.parents"),
        ({"parents": [{"conditions": [condition("Accepted")]}]}, "HTTPRoute llm/chat: no condition ResolvedRefs"),
        (
            {"parents": [{"conditions": [condition("Accepted"), condition("ResolvedRefs", "False")]}]},
            "HTTPRoute llm/chat: ResolvedRefs=False Reason: words",
        ),
        (
            {"parents": [{"conditions": [condition("Accepted"), condition("ResolvedRefs"), condition("Conflicted")]}]},
            "HTTPRoute llm/chat: Conflicted=True Reason: words",
        ),
        (
            {"parents": [{"conditions": [condition("NotAccepted", "False")]}]},
            "HTTPRoute llm/chat: NotAccepted=False Reason: words",
        ),
    ],
)
def test_what_conditions_say_against_a_route(status: dict[str, Any], fault: str) -> None:
    assert [*conditions.faults(judged("HTTPRoute", "parents"), body(**status))] == [fault]


def test_a_listener_is_named() -> None:
    listener = {"name": "http", "conditions": [condition("Accepted"), condition("ResolvedRefs")]}
    faults = [*conditions.faults(judged("Gateway", "listeners"), body(listeners=[listener]))]
    assert faults == ["Gateway llm/chat[http]: no condition Programmed"]


# ---- DNS ----


def query(name: str, kind: int = dns.ADDRESS) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return b"\x12\x34" + struct.pack("!HHHHH", 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)


def answered(name: str, kind: int = dns.ADDRESS) -> tuple[int, list[str]]:
    """The code and the addresses of an answer."""
    zone = {"chat-leaders.llm.svc.cluster.local": ["10.88.128.1", "10.88.128.2"], "empty.llm.svc.cluster.local": []}
    data = dns.response(query(name, kind), zone, "10.88.250.1")
    assert data[:2] == b"\x12\x34"
    flags, _, count = struct.unpack_from("!HHH", data, 2)
    records = [data[len(data) - 16 * (count - number) :][:16] for number in range(count)]
    assert all(struct.unpack_from("!I", record, 6) == (dns.TTL,) for record in records)
    return flags & 15, [".".join(map(str, record[12:])) for record in records]


@pytest.mark.parametrize(
    ("name", "code", "addresses"),
    [
        ("chat-leaders.llm.svc.cluster.local", 0, ["10.88.128.1", "10.88.128.2"]),
        ("Chat-Leaders.LLM.svc.cluster.local", 0, ["10.88.128.1", "10.88.128.2"]),
        ("empty.llm.svc.cluster.local", 0, []),
        ("chat-leader.llm.svc.cluster.local", dns.NO_SUCH_NAME, []),
        ("api.example.com.llm.svc.cluster.local", dns.NO_SUCH_NAME, []),
        ("envoy-gateway", dns.NO_SUCH_NAME, []),
        ("api.example.com", 0, ["10.88.250.1"]),
    ],
)
def test_dns(name: str, code: int, addresses: list[str]) -> None:
    assert answered(name) == (code, addresses)


def test_dns_has_no_addresses_of_ipv6() -> None:
    assert answered("api.example.com", 28) == (0, [])


def test_half_a_query_is_none() -> None:
    with pytest.raises((IndexError, struct.error)):
        dns.question(query("api.example.com")[:20])


# ---- fake engines ----


def with_engine(engine: Engine, work: Callable[[FakeEngines, Client], Awaitable[T]]) -> T:
    """What the work returns while the engine stands on this machine."""

    async def run() -> T:
        fakes = FakeEngines()
        await fakes.set({HOST: engine})
        try:
            return await work(fakes, Client((HOST, engine.ports[0])))
        finally:
            await fakes.set({})

    return asyncio.run(run())


@pytest.fixture
def engine() -> Engine:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return Engine("llm/chat-0", (probe.getsockname()[1],), ("chat", "mails-v1"), ("mails-v1",))


def test_an_engine_says_what_it_was_asked(engine: Engine) -> None:
    async def work(_: FakeEngines, client: Client) -> Answer:
        return await asyncio.to_thread(client.ask, "chat", headers={"x-tenant-id": "a", "Authorization": "Bearer b"})

    answer = with_engine(engine, work)
    assert (answer.status, answer.pod, answer.workload, answer.requested_model) == (
        200,
        "llm/chat-0",
        "llm/chat",
        "chat",
    )
    assert answer.witness is not None
    assert (answer.witness["method"], answer.witness["path"]) == ("POST", CHAT)
    assert (answer.witness["authorization"], answer.witness["headers"]) == ("Bearer b", {"x-tenant-id": "a"})
    assert cases.reached(answer, Public(("llm/chat",), "chat"), CHAT, stream=False)
    assert not cases.reached(answer, Public(("llm/other",), "chat"), CHAT, stream=False)
    assert not cases.reached(answer, Public(("llm/chat",), "other"), CHAT, stream=False)
    assert not cases.reached(answer, Public(("llm/chat",), "chat"), COMPLETIONS, stream=False)


@pytest.mark.parametrize("path", [COMPLETIONS, EMBEDDINGS, MESSAGES])
def test_an_engine_has_the_other_apis(engine: Engine, path: str) -> None:
    async def work(_: FakeEngines, client: Client) -> Answer:
        return await asyncio.to_thread(client.ask, "mails-v1", path=path)

    answer = with_engine(engine, work)
    assert (answer.status, answer.requested_model, answer.body["model"]) == (200, "mails-v1", "mails-v1")


def test_an_engine_knows_its_models_only(engine: Engine) -> None:
    async def work(_: FakeEngines, client: Client) -> Answer:
        return await asyncio.to_thread(client.ask, "qwen3-8b")

    answer = with_engine(engine, work)
    assert (answer.status, answer.requested_model) == (404, "qwen3-8b")


def test_a_stream_comes_whole(engine: Engine) -> None:
    async def work(_: FakeEngines, client: Client) -> Answer:
        body = {"model": "chat", "stream": True, "messages": [{"role": "user", "content": "chunks=5 tokens=7"}]}
        body["stream_options"] = {"include_usage": True}
        return await asyncio.to_thread(client.send, "POST", CHAT, json.dumps(body))

    answer = with_engine(engine, work)
    assert answer.whole
    assert answer.text.count("data: ") == 5 + 2  # the tokens, and the end
    assert '"total_tokens": 17' in answer.text
    assert answer.pod == "llm/chat-0"


def test_an_engine_fails_as_it_is_told(engine: Engine) -> None:
    async def work(fakes: FakeEngines, client: Client) -> list[int]:
        statuses = []
        for mode in ("503", REFUSE, LEAVING, "ok"):
            await fakes.set_mode(HOST, mode)
            statuses.append((await asyncio.to_thread(client.ask, "chat")).status)
        return statuses

    assert with_engine(engine, work) == [503, clients.NO_ANSWER, clients.NO_ANSWER, 200]


def test_an_engine_that_leaves_ends_what_it_began(engine: Engine) -> None:
    async def work(fakes: FakeEngines, client: Client) -> Answer:
        begun = asyncio.create_task(
            asyncio.to_thread(client.ask, "chat", stream=True, prompt="sleep=0.2 chunks=3 gap=0.1")
        )
        await asyncio.sleep(0.1)
        await fakes.set_mode(HOST, LEAVING)
        return await begun

    assert with_engine(engine, work).whole


def test_an_engine_looks_as_busy_as_it_is_told(engine: Engine) -> None:
    async def work(fakes: FakeEngines, client: Client) -> str:
        fakes.waiting[HOST] = 50
        fakes.waiting_at[HOST, 1] = 7  # another port's
        return (await asyncio.to_thread(client.send, "GET", "/metrics")).text

    text = with_engine(engine, work)
    assert '# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting{model_name="chat"} 50\n' in text
    assert 'running_lora_adapters="mails-v1"' in text


def test_a_long_body_in_chunks(engine: Engine) -> None:
    head = b"POST /v1/chat HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    request = head + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\nnext"

    async def read() -> tuple[fake_engines.Request | None, bytes]:
        reader = asyncio.StreamReader()
        reader.feed_data(request)
        reader.feed_eof()
        return await fake_engines.read_request(reader), await reader.read()

    seen, rest = asyncio.run(read())
    assert seen is not None
    assert (seen.method, seen.headers["host"], seen.body, rest) == ("POST", "a", b"abcde", b"next")


def test_two_may_change_engines_at_the_same_time(engine: Engine) -> None:
    async def run() -> None:
        fakes = FakeEngines()
        await asyncio.gather(*(fakes.set({HOST: engine}) for _ in range(2)))  # OSError where both open the port
        await fakes.set({})

    asyncio.run(run())


# ---- pods ----


@pytest.mark.parametrize(
    ("words", "names", "adapters"),
    [
        (["vllm", "serve", "/m", "--served-model-name", "a", "b", "--port", "8080"], ["a", "b"], []),
        (
            ["--served-model-name=a", "--lora-modules", "x=/x", '{"name": "y", "path": "/y"}'],
            ["a", "x", "y"],
            ["x", "y"],
        ),
        (["--served-model-name", "a", "--lora-paths", "x=/x", "y=/y"], ["a", "a:x", "a:y"], ["a:x", "a:y"]),
        (["llama-server", "-m", "/m", "--alias", "a", "--port", "8080"], ["a"], []),
        (["serve"], [], []),
    ],
)
def test_what_an_engine_is_told(words: list[str], names: list[str], adapters: list[str]) -> None:
    assert pods.served(words) == (names, adapters)


def lws(**parts: Any) -> dict[str, Any]:
    pod = {
        "containers": [
            {"name": "model-runner", "args": ["--alias", "a"], "ports": [{"name": "http", "containerPort": 80}]}
        ]
    }
    template = {"metadata": {"labels": {"own": "label"}}, "spec": pod}
    metadata = {"namespace": "llm", "name": "chat", "uid": "1"}
    return {"metadata": metadata, "spec": {"leaderWorkerTemplate": {"workerTemplate": template, **parts}}}


def leader(*, ready: bool) -> dict[str, Any]:
    return {**pods.leader(lws(), 1), "status": pods.running("10.88.128.1", ready=ready)}


def test_a_leader_has_the_labels_of_its_group() -> None:
    pod = pods.leader(lws(), 1)
    assert pod["metadata"]["name"] == "chat-1"
    assert pod["metadata"]["labels"] == {
        "own": "label",
        "leaderworkerset.sigs.k8s.io/name": "chat",
        "leaderworkerset.sigs.k8s.io/worker-index": "0",
        "leaderworkerset.sigs.k8s.io/group-index": "1",
    }
    assert pods.engine(pod) == Engine("llm/chat-1", (80,), ("a",))
    own = {"spec": {"containers": [{"name": "model-runner", "ports": [{"containerPort": 81}]}]}}
    assert pods.engine(pods.leader(lws(leaderTemplate=own), 0)).ports == (81,)


def test_workers_are_there_where_they_answer() -> None:
    names = [pod["metadata"]["name"] for pod in pods.group(lws(size=3), 1)]
    assert names == ["chat-1", "chat-1-1", "chat-1-2"]
    *_, last = pods.group(lws(size=3), 1)
    assert last["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/worker-index"] == "2"
    headless = {"spec": {"containers": [{"name": "model-runner"}]}}
    assert len([*pods.group(lws(size=3, leaderTemplate=last, workerTemplate=headless), 1)]) == 1


def service(**spec: Any) -> dict[str, Any]:
    selector = {"leaderworkerset.sigs.k8s.io/name": "chat"}
    ports = [{"name": "http", "port": 8080, "targetPort": "http"}]
    return {"metadata": {"namespace": "llm", "name": "s"}, "spec": {"selector": selector, "ports": ports, **spec}}


@pytest.mark.parametrize(
    ("spec", "selected"),
    [
        ({}, True),
        ({"selector": {"leaderworkerset.sigs.k8s.io/worker-index": "1"}}, False),
        ({"selector": None}, False),
    ],
)
def test_which_pods_a_service_has(spec: dict[str, Any], selected: bool) -> None:
    assert pods.selects(service(**spec), leader(ready=True)) is selected
    assert pods.selects(service(**spec), leader(ready=False)) is selected
    assert not pods.selects(service(**spec), pods.leader(lws(), 1))  # it has no address yet


def test_a_service_leads_to_pods_that_are_ready() -> None:
    assert pods.serves(service(), leader(ready=True))
    assert not pods.serves(service(), leader(ready=False))
    assert pods.serves(service(publishNotReadyAddresses=True), leader(ready=False))


def test_the_slice_of_a_service() -> None:
    labelled = service()
    labelled["metadata"]["labels"] = {"own": "label"}
    body = pods.endpoint_slice(labelled, [leader(ready=True)])
    labels = body["metadata"]["labels"]
    assert (labels["own"], labels["kubernetes.io/service-name"]) == ("label", "s")
    assert [endpoint["addresses"] for endpoint in body["endpoints"]] == [["10.88.128.1"]]
    unready = pods.endpoint_slice(service(), [leader(ready=False)])
    assert [endpoint["conditions"]["ready"] for endpoint in unready["endpoints"]] == [False]
    assert body["ports"] == [{"name": "http", "port": 80, "protocol": "TCP"}]
    assert pods.endpoint_slice(service(), [])["ports"] == []  # of no pod the port is known


def test_variables_of_a_container() -> None:
    pod = {"metadata": {"name": "p", "namespace": "n"}, "spec": {}}
    field = {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    environment = [field, {"name": "URL", "value": "http://$(IP):$(PORT)"}]
    variables = pods.variables(pod, {"env": environment}, "10.88.1.1", {"PORT": "1"})
    assert variables == {"PORT": "1", "HOSTNAME": "p", "IP": "10.88.1.1", "URL": "http://10.88.1.1:1"}


# ---- in which order ----


class Recorded:
    """A cluster that writes down what it is asked, and accepts the routes at the third look."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def applied(self, body: dict[str, Any]) -> Any:
        self.requests.append(body["kind"])
        return SimpleNamespace(message="no" if body["kind"] == "PodMonitor" else "")

    def listed(self, path: str) -> list[dict[str, Any]]:
        self.requests.append(path)
        kind = "Accepted" if self.requests.count(path) == 3 else "NotAccepted"
        return [body(conditions=[condition(kind)])]


def applied(bodies: Sequence[Any], monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """What a cluster is asked when these are applied, and what is said to be refused."""
    monkeypatch.setattr(trial, "PAUSE", 0)
    cluster = Recorded()
    stack: Any = SimpleNamespace(cluster=cluster, fakes=SimpleNamespace(engines=SimpleNamespace(engines=range(100))))
    return cluster.requests, trial.Site(stack).apply(bodies)


def test_pools_come_once_the_gateways_of_their_routes_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = program.rendered(ROOT / "examples" / "gateway-pool")
    requests, refused = applied(bodies, monkeypatch)
    kinds = [kind for kind in requests if not kind.startswith("/")]
    assert sorted(kinds) == sorted(["Namespace", "Namespace", *(body["kind"] for body in bodies)])
    assert refused == []
    engines, routes = kinds.index("LeaderWorkerSet"), kinds.index("AIGatewayRoute")
    assert engines < routes < kinds.index("Gateway")
    assert requests[-5:] == ["Gateway", *["/apis/aigateway.envoyproxy.io/v1beta1/aigatewayroutes"] * 3, "InferencePool"]


def test_without_a_pool_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [
        {"kind": kind, "metadata": {"name": "a"}} for kind in ("Gateway", "PodMonitor", "AIGatewayRoute", "Secret")
    ]
    requests, refused = applied(bodies, monkeypatch)
    assert requests == ["Secret", "PodMonitor", "AIGatewayRoute", "Gateway"]
    assert refused == ["PodMonitor a: no"]


# ---- what is asked ----


def test_every_example_with_routes_is_asked() -> None:
    with_routes = {
        path.name
        for path in (ROOT / "examples").iterdir()
        if path.name.startswith("gateway-")
        or any(word in text_of(path) for word in ("ModelRoute", "InferenceModel", "interceptor:"))
    }
    assert with_routes <= {*CASES}
    assert {*NAMES} == {*CASES} - {"gateway-teams", "real-engine"}


def text_of(path: Path) -> str:
    return "".join(file.read_text("utf-8") for file in path.glob("*.yaml"))


def test_what_stands_for_the_interceptor_is_where_the_backend_leads() -> None:
    bodies = program.rendered(ROOT / "examples" / "keda-from-zero")
    (backend,) = (body for body in bodies if body["kind"] == "Backend")
    lws, service = cases.interceptor()
    namespace, name = pods.key_of(service)
    place = backend["spec"]["endpoints"][0]["fqdn"]
    assert place == {"hostname": f"{name}.{namespace}.svc.cluster.local", "port": service["spec"]["ports"][0]["port"]}
    pod = pods.leader({**lws, "metadata": {**lws["metadata"], "uid": "1"}}, 0)
    assert pods.selects(service, {**pod, "status": {"podIP": "10.88.128.1"}})
    assert pods.engine(pod) == Engine(f"{namespace}/{name}-0", (place["port"],))


def test_names_choose_examples_and_variants() -> None:
    assert program.chosen("") == [*CASES, *VARIANTS]
    assert program.chosen("wrong-port,canary") == ["canary", "wrong-port"]
    with pytest.raises(CannotJudge, match=r"no canari; there are quickstart, .*, wrong-port"):
        program.chosen("canari")


@pytest.mark.parametrize("example", dict.fromkeys(variant.example for variant in VARIANTS.values()))
def test_every_variant_changes_its_example(example: str) -> None:
    sound = program.rendered(ROOT / "examples" / example)
    before = json.dumps(sound)
    for name, variant in VARIANTS.items():
        if variant.example == example:
            bodies = json.loads(before)
            variant.change(bodies)
            assert bodies != sound, name


def row(check: str, requests: str, differs: str = "") -> Row:
    return Row("variant", check, "", requests, differs)


@pytest.mark.parametrize(
    ("seen", "good"),
    [
        (row("E591", "503"), True),
        (row("", ""), True),
        (row("", "503"), False),
        (row("W581", ""), False),
        (row("", "503", "not to be seen"), True),
        (row("E591", "503", "not to be seen"), False),
    ],
)
def test_whether_check_and_requests_agree(seen: Row, good: bool) -> None:
    assert (comparison.verdict(seen).fault == "") is good


def test_the_table_of_variants() -> None:
    assert [*comparison.table([row("E591", "503"), row("", "500", "why")])] == [
        "variant  llmaz check  controllers  requests  agree",
        "variant  E591         –            503       yes",
        "variant  –            –            500       no: why",
    ]


@pytest.mark.parametrize(
    ("faults", "lasts"),
    [(lambda ask: "503", True), (lambda ask: "404" if ask < 3 else "", False), (lambda ask: "", False)],
)
def test_a_fault_has_to_last(monkeypatch: pytest.MonkeyPatch, faults: Callable[[int], str], lasts: bool) -> None:
    for name, seconds in (("PAUSE", 0.001), ("LASTING", 0.05), ("PATIENCE", 0.1)):
        monkeypatch.setattr(comparison, name, seconds)
    asks = iter(range(1000))
    assert bool(comparison.lasting(lambda: faults(next(asks)))) is lasts


def test_what_lies_beside_gives_way() -> None:
    own, other = (
        {"kind": "Secret", "metadata": {"namespace": "llm", "name": "a"}, "data": {"key": text}} for text in "xy"
    )
    more = {"kind": "Gateway", "metadata": {"name": "b"}}
    assert comparison.whole([own], [other, more]) == [own, more]


def test_check_is_asked_for_codes() -> None:
    sound = program.rendered(ROOT / "examples" / "gateway-basic")
    assert comparison.checked(sound) == ""
    VARIANTS["wrong-port"].change(sound)
    assert comparison.checked(sound) == "E591"


# ---- how it ends ----


def test_without_root_nothing_is_judged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["gateway"])
    assert program.main() == 2
    assert "cannot judge: " in capsys.readouterr().err


def test_elsewhere_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(CannotJudge, match="namespaces of Linux"):
        programs.required(Path("/nowhere"))


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None if name in ("bwrap", "redis-check-rdb") else name)
    with pytest.raises(CannotJudge, match="apt-get install --no-install-recommends bubblewrap redis-tools"):
        programs.required(tmp_path)
    with pytest.raises(CannotJudge, match="bubblewrap redis-tools"):
        programs.required_machine()
    monkeypatch.setattr(shutil, "which", lambda name: name)
    programs.required_machine()
    with pytest.raises(CannotJudge, match=r"not built: scripts/tools\.sh etcd kube-apiserver ai-gateway-controller"):
        programs.required(tmp_path)


def test_a_question_holds_or_says_what_was_seen() -> None:
    assert cases.question("a", True, "b", "c") == Result("a", "", "c")
    assert cases.question("a", "", "b") == Result("a", "b")
    assert cases.question("a", None).fault == "not so"


ENCLOSED = """
import subprocess, sys, time
from tests.engines.namespaces import enclosed, leave_network
from tests.gateway import network

def work(folder):
    leave_network()
    network.create()
    pod = network.PodNetwork("10.88.1.1")
    subprocess.Popen([*pod.entry, "sleep", "4321"], start_new_session=True)
    subprocess.run(["ip", "address", "show", "pods"], check=True)
    print("stands", flush=True)
    time.sleep(600)

sys.exit(enclosed(work))
"""


def sleeping(word: str) -> list[str]:
    """The processes of this machine that have the word on their command line."""
    lines = (path / "cmdline" for path in Path("/proc").glob("[0-9]*"))
    pids = []
    for line in lines:
        try:
            if word.encode() in line.read_bytes().split(b"\0"):
                pids.append(line.parent.name)
        except OSError:
            continue
    return pids


@pytest.fixture
def namespaces() -> None:
    """Skips where a machine gives no namespaces: `make gateway-test` says so there."""
    able = sys.platform == "linux" and os.geteuid() == 0 and shutil.which("ip") is not None
    if not able or subprocess.run(["unshare", "--net", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("namespaces need Linux, root and iproute2")


BRIDGED = """
import subprocess, sys
from tests.engines.namespaces import enclosed, leave_network
from tests.gateway import network

def work(folder):
    leave_network()
    network.create()
    for number in range(4):
        subprocess.run(["ip", "-o", "link", "show", network.BRIDGE], check=True)
        pod = network.PodNetwork(f"10.88.1.{number}")
        subprocess.run(["ip", "-o", "link", "show", network.BRIDGE], check=True)
        if number % 2:
            pod.remove()
    return 0

sys.exit(enclosed(work))
"""


@pytest.mark.usefixtures("namespaces")
def test_pods_come_and_go_and_the_bridge_keeps_its_address() -> None:
    command = [sys.executable, "-c", BRIDGED]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.partition("link/ether ")[2].split()[0] for line in lines] == [network.BRIDGE_ADDRESS] * 8


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_whoever_ends_it_ends_everything(number: signal.Signals, tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # SIGKILL leaves an empty folder there
    command = [sys.executable, "-c", ENCLOSED]
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment)
    assert run.stdout is not None
    with run.stdout:
        lines = iter(run.stdout.readline, "")
        assert "stands\n" in lines
        assert len(sleeping("4321")) == 1
        run.send_signal(number)
        run.wait(20)
        end = time.monotonic() + 20
        while sleeping("4321") and time.monotonic() < end:
            time.sleep(0.05)
    assert sleeping("4321") == []
    assert not Path("/run/netns").exists() or [*Path("/run/netns").iterdir()] == []


def test_fakes_stand_at_one_place_one_after_the_other() -> None:
    """Each channel of Gateway API has a stack of its own, at the same addresses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        place = probe.getsockname()
    for _ in range(2):
        with (
            Fakes(place, ssl.create_default_context()),
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other,
            pytest.raises(OSError, match="in use"),
        ):
            other.bind(place)
