"""The parts of `make engine-test` that need no engine and no root: what it asks, and that it hears a no."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from scripts.release_sources import LLAMACPP
from tests.apiserver.server import CannotJudge
from tests.engines import __main__ as program
from tests.engines import (
    checkpoints,
    clients,
    cpu_groups,
    groups,
    installation,
    kubelet,
    llamacpp,
    models,
    rendering,
    rendezvous,
    trial,
    vllm,
    vllm_groups,
)
from tests.engines.clients import Completion
from tests.engines.kubelet import Image, Place, Pod, Unstartable
from tests.engines.trial import Bench, Movement, Result, faults

NOWHERE = Bench(Image({}), {}, Path("/nowhere"), "1.0")
PLACE = Place("10.88.1.1")


# ---- models ----


class Reader:
    """Reads a GGUF file as its specification says."""

    def __init__(self, content: bytes) -> None:
        self.content, self.place = content, 0

    def take(self, form: str) -> Any:
        [value] = struct.unpack_from(f"<{form}", self.content, self.place)
        self.place += struct.calcsize(f"<{form}")
        return value

    def string(self) -> str:
        size = self.take("Q")
        self.place += size
        return self.content[self.place - size : self.place].decode()

    def value(self, kind: int) -> Any:
        if kind == 8:
            return self.string()
        if kind == 9:
            kind, count = self.take("I"), self.take("Q")
            return [self.value(kind) for _ in range(count)]
        return self.take({4: "I", 5: "i", 6: "f", 7: "?"}[kind])


def test_a_model_is_a_gguf_file(tmp_path: Path) -> None:
    shape = models.Shape(width=64, layers=1, vocabulary=300)
    models.write_gguf(tmp_path / "a.gguf", shape)
    models.write_gguf(tmp_path / "b.gguf", shape)
    content = (tmp_path / "a.gguf").read_bytes()
    assert content == (tmp_path / "b.gguf").read_bytes()
    file = Reader(content)
    assert [file.take("c") for _ in range(4)] == [b"G", b"G", b"U", b"F"]
    assert file.take("I") == 3
    tensors, count = file.take("Q"), file.take("Q")
    values = {file.string(): file.value(file.take("I")) for _ in range(count)}
    assert values["general.architecture"] == "llama"
    assert values["tokenizer.ggml.add_bos_token"] is False
    assert len(set(values["tokenizer.ggml.tokens"])) == len(values["tokenizer.ggml.token_type"]) == 300
    end = 0
    for _ in range(tensors):
        name = file.string()
        elements = 1
        for _ in range(file.take("I")):
            elements *= file.take("Q")
        kind, offset = file.take("I"), file.take("Q")
        assert offset == end + -end % models.ALIGNMENT, name
        end = offset + elements * (4 if kind == models.F32 else 2)
    start = file.place + -file.place % models.ALIGNMENT
    assert len(content) == start + end + -end % models.ALIGNMENT
    weights = struct.unpack_from("<1000e", content, start)
    assert all(1 / 64 <= abs(weight) < 1 / 32 for weight in weights)
    assert min(weights) < 0 < max(weights)


def test_bytes_are_spelt_as_byte_level_bpe_does() -> None:
    tokens = models.byte_tokens()
    assert len(set(tokens)) == 256
    assert (tokens[ord(" ")], tokens[ord("\n")], tokens[ord("a")], tokens[173]) == ("Ġ", "Ċ", "a", "Ń")


# ---- clients ----


@pytest.mark.parametrize(
    ("events", "completion"),
    [
        (
            [
                'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": null}]}',
                "",
                'data: {"choices": [{"delta": {}, "finish_reason": "length"}], "timings": {"draft_n": 3}}',
                'data: {"choices": [], "usage": {"completion_tokens": 8}}',
                "data: [DONE]",
            ],
            Completion("", "length", 8, {"draft_n": 3}),
        ),
        (["data: [DONE]"], Completion("done without a reason")),
        (['data: {"choices": [{"finish_reason": null}]}'], Completion("cut: the stream ended before [DONE]")),
        (['error: {"code": 500}'], Completion('error: {"code": 500}')),
        (['data: {"error": {"code": 500}}', "data: [DONE]"], Completion("error: {'code': 500}")),
    ],
)
def test_what_became_of_a_stream(events: Sequence[str], completion: Completion) -> None:
    assert clients.completion(f"{event}\n" for event in events) == completion


def test_metrics_are_summed_by_name() -> None:
    page = """\
# HELP llamacpp:requests_processing Number of requests processing.
# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing 3
vllm:running{engine="0",model_name="a} b"} 1.5
vllm:running{engine="1",model_name="a"} 2e0
with_a_time 7 1763880000000
"""
    assert clients.series(page) == {"llamacpp:requests_processing": 3, "vllm:running": 3.5, "with_a_time": 7}


def no_connection(timeout: float) -> Any:
    raise ConnectionRefusedError("refused")


def test_no_connection_is_no_answer() -> None:
    client = clients.Client(no_connection)
    assert client.send("/health") == (0, "refused")
    assert client.stream("/v1/completions", {}).fault == "not sent: refused"
    assert client.metrics("/metrics") == {}


def test_lost_streams_are_counted() -> None:
    lost, whole = Completion("cut"), Completion("", "stop")
    assert faults([whole, lost, lost]) == "2 of 3 lost: cut"
    assert faults([whole]) == ""


def test_callers_end_with_a_stream_that_has_just_begun() -> None:
    begun: list[float] = []

    class Slow(clients.Client):
        def stream(self, path: str, body: Mapping[str, Any]) -> Completion:
            begun.append(time.monotonic())
            time.sleep(0.2)
            return Completion("", "stop")

    start = time.monotonic()
    calling = trial.Callers([Slow(no_connection)] * 2, {})
    calling.stop_after(0.3)
    calling.wait()
    assert len(calling.completions) == len(begun) > 2
    assert max(begun) >= start + 0.3
    assert calling.last_end >= start + 0.5


def test_a_series_has_to_be_there_and_to_rise() -> None:
    seen = Movement({"a": 0, "b": 0}, {"a": 1, "b": 0, "c": 1})
    assert [seen.fault(name) for name in "abc"] == ["", "b stays at 0", "c is not there"]


# ---- kubelet ----


@pytest.mark.parametrize(("text", "size"), [("3Gi", 3 << 30), ("512Mi", 512 << 20), ("1G", 10**9), ("1500m", 1)])
def test_quantities(text: str, size: int) -> None:
    assert kubelet.size_of(text) == size


def test_references_are_expanded() -> None:
    assert kubelet.expanded("$(A)-$(B)-$$(A)-$A", {"A": "1"}) == "1-$(B)-$(A)-$A"


def test_variables_come_from_secrets() -> None:
    secret = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "keys", "key": "chat"}}}
    optional = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "token", "optional": True}}}
    container = {"env": [secret, optional, {"name": "URL", "value": "x?$(KEY)"}]}
    assert kubelet.environment(container, {"keys": {"chat": "k"}}, {}) == {"KEY": "k", "URL": "x?k"}
    with pytest.raises(Unstartable, match="variable KEY: no chat in Secret keys"):
        kubelet.environment(container, {}, {})


def test_variables_come_from_fields_of_the_pod() -> None:
    def container(path: str) -> kubelet.Body:
        return {"env": [{"name": "HOST", "valueFrom": {"fieldRef": {"fieldPath": path}}}]}

    fields = {"status.podIP": PLACE.address}
    assert kubelet.environment(container("status.podIP"), {}, fields) == {"HOST": "10.88.1.1"}
    with pytest.raises(CannotJudge, match="variable HOST: neither from a Secret nor a known field of the pod"):
        kubelet.environment(container("spec.nodeName"), {}, fields)


def test_privileges_are_those_of_the_security_context() -> None:
    spec = {"securityContext": {"fsGroup": 5, "runAsUser": 6}}
    container = {
        "securityContext": {
            "runAsUser": 7,
            "runAsGroup": 8,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]},
        }
    }
    words = kubelet.privileges(kubelet.security_of(spec, container))
    assert " ".join(words) == (
        "setpriv --reuid=7 --regid=8 --groups=5 --inh-caps=-all --no-new-privs --bounding-set=-all,+net_bind_service"
    )
    assert "--clear-groups" in (words := kubelet.privileges({}))
    assert "--no-new-privs" not in words
    assert "+chown" in words[-1]
    assert "+sys_admin" not in words[-1]


class Probed(Pod):
    """Its probes answer what the test says, and the last answer from then on; its end is only noted."""

    def __init__(self, probes: dict[str, Any], answers: dict[str, list[bool]]) -> None:
        fast = {f"{kind}Probe": {"periodSeconds": 0.01, "exec": kind, **probe} for kind, probe in probes.items()}
        spec = {"containers": [{"name": "model-runner", **fast}]}
        super().__init__("a-0", spec, Image({}), [], {}, Path("/nowhere"), PLACE)
        self.answers = answers
        self.probe_calls: list[str] = []

    def _healthy(self, probe: kubelet.Body) -> bool:
        kind = probe["exec"]
        self.probe_calls.append(kind)
        left = self.answers[kind]
        if len(left) > 1:
            return left.pop(0)
        if kind != "liveness":
            self.over.set()
        return left[0]

    def _terminate(self) -> kubelet.End:
        self.terminating.set()
        self.over.set()
        return kubelet.End(0, 0, 0)


def test_the_startup_probe_comes_first() -> None:
    pod = Probed(
        {"startup": {"failureThreshold": 9}, "liveness": {}}, {"startup": [False, True, True], "liveness": [False]}
    )
    pod._supervise()
    assert pod.probe_calls[:2] == ["startup", "startup"]
    assert pod.probe_calls[2:] == ["liveness"] * 3  # its default threshold
    assert pod.started
    assert (pod.failures["startup"], pod.failures["liveness"]) == (0, 3)


def test_a_startup_that_fails_too_often_ends_the_pod() -> None:
    pod = Probed({"startup": {"failureThreshold": 2}, "liveness": {}}, {"startup": [False] * 9, "liveness": [True]})
    pod._supervise()
    assert pod.over.wait(5)
    assert pod.probe_calls == ["startup", "startup"]
    assert not pod.started


def test_failures_count_in_a_row() -> None:
    pod = Probed({"liveness": {"failureThreshold": 2}}, {"liveness": [False, True, False, True, True, False, False]})
    pod._supervise()
    assert len(pod.probe_calls) == 7
    assert pod.failures["liveness"] == 2


def test_readiness_goes_after_its_threshold() -> None:
    pod = Probed({"readiness": {"failureThreshold": 2}}, {"readiness": [True, False, True, False, False]})
    states = []
    note = pod._healthy

    def noted(probe: kubelet.Body) -> bool:
        states.append(pod.ready)
        return note(probe)

    pod._healthy = noted  # type: ignore[method-assign]
    pod._readiness()
    assert states == [False, True, True, True, True]
    assert not pod.ready


def pod_of(folder: Path, **spec: Any) -> Pod:
    return Pod("a-0", {"containers": [{"name": "model-runner"}], **spec}, Image({}), [], {}, folder, PLACE)


def test_what_kubelet_here_does_not_know_is_not_judged(tmp_path: Path) -> None:
    with (
        pytest.raises(CannotJudge, match="volume w: neither an emptyDir nor of a ConfigMap"),
        pod_of(tmp_path / "a", volumes=[{"name": "w", "hostPath": {"path": "/"}}]),
    ):
        pass
    probe = {"name": "model-runner", "livenessProbe": {"tcpSocket": {"port": 1}}}
    with pytest.raises(CannotJudge, match="its liveness probe is neither"), pod_of(tmp_path / "b", containers=[probe]):
        pass
    spec = {"containers": [{"name": "model-runner"}]}
    more = Pod("a-0", spec, Image({}), [("/workspace/models/a", tmp_path)], {}, tmp_path / "c", PLACE)
    with pytest.raises(CannotJudge, match="there are more files than loaders"), more:
        pass


def test_a_container_that_may_not_be_root(tmp_path: Path) -> None:
    pod = pod_of(tmp_path, containers=[{"name": "model-runner", "securityContext": {"runAsNonRoot": True}}])
    with pytest.raises(Unstartable, match="runAsNonRoot, and the user is root"):
        pod._privileges(pod.main, Image({}))


class Accompanied(Pod):
    """Its containers are programs of this machine that end by SIGTERM, the engine by itself."""

    def _start(self, container: kubelet.Body, command: Sequence[str], image: Image) -> kubelet.Container:
        self._note(f"{container['name']} starts: {' '.join(command)}")
        lasts = "sleep 0.2" if container["name"] == "model-runner" else "sleep 60"
        process = subprocess.Popen(["sh", "-c", f"{lasts} & wait $!"])
        while not Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text():
            time.sleep(0.01)
        return kubelet.Container(process)


def test_a_sidecar_is_there_before_the_engine_and_after_it(tmp_path: Path) -> None:
    sidecars = [{"name": name, "restartPolicy": "Always", "args": ["--port=1"]} for name in ("one", "two", "strange")]
    spec = {"initContainers": sidecars, "containers": [{"name": "model-runner", "command": ["serve"]}]}
    images = {name: Image({}, entry=[f"/app/{name}"]) for name in ("one", "two")}
    pod = Accompanied("a-0", spec, Image({}), [], {}, tmp_path / "pod", PLACE, images)
    pod.__dict__["network"] = type("Network", (), {"remove": lambda self: None})()
    with pod:
        assert [*pod.sidecars] == ["one", "two"]
        pod.end()
        assert all(sidecar.process.poll() == 143 for sidecar in pod.sidecars.values())
    events = [event.partition(" s ")[2] for event in pod.events]
    assert events[:3] == ["one starts: /app/one --port=1", "two starts: /app/two --port=1", "left out: sidecar strange"]
    assert events.index("model-runner starts: serve") > 2
    ends = ["sidecar two: exit status 143", "sidecar one: exit status 143"]
    assert events[-2:] == ends
    assert any(event.startswith("exit status") for event in events[:-2])


# ---- groups ----


def two_hosts(**more: Any) -> kubelet.Body:
    """A LeaderWorkerSet of two hosts whose containers name what LeaderWorkerSet tells them."""
    args = ["$(LWS_WORKER_INDEX)", "$(LWS_GROUP_SIZE)", "$(LWS_LEADER_ADDRESS):1"]
    own = [{"name": "LWS_GROUP_SIZE", "value": "9"}, {"name": "RANK", "value": "r$(LWS_WORKER_INDEX)"}]
    worker = {"name": "model-runner", "command": ["run"], "args": args, "env": own}
    spec = {"containers": [worker], "initContainers": [{"name": "first"}]}
    templates = {"size": 2, "workerTemplate": {"spec": spec}, **more.pop("templates", {})}
    return {"metadata": {"name": "chat", "namespace": "llm"}, "spec": {"leaderWorkerTemplate": templates, **more}}


def test_variables_are_filled_as_leaderworkerset_does(tmp_path: Path) -> None:
    body = two_hosts()
    hosts = list(groups.members(body))
    assert [(host.name, host.subdomain) for host in hosts] == [("chat-0", "chat.llm"), ("chat-0-1", "chat.llm")]
    pods = [Pod(host.name, host.spec, Image({}), [], {}, tmp_path, PLACE) for host in hosts]
    assert [pod._command(pod.main, Image({})) for pod in pods] == [
        ["run", "0", "2", "chat-0.chat.llm:1"],
        ["run", "1", "2", "chat-0.chat.llm:1"],
    ]
    assert kubelet.environment(pods[1].main, {}, {})["RANK"] == "r1"
    assert [entry["name"] for entry in hosts[1].spec["initContainers"][0]["env"]] == [
        "LWS_LEADER_ADDRESS",
        "LWS_GROUP_SIZE",
        "LWS_WORKER_INDEX",
    ]
    pods[1].set_variable("LWS_WORKER_INDEX", "7")
    assert pods[1]._command(pods[1].main, Image({}))[1] == "7"
    assert body == two_hosts()


def test_a_leader_may_have_a_template_and_a_subdomain_of_its_own() -> None:
    leader = {"spec": {"containers": [{"name": "model-runner", "command": ["lead"]}]}}
    body = two_hosts(templates={"leaderTemplate": leader}, networkConfig={"subdomainPolicy": "UniquePerReplica"})
    hosts = list(groups.members(body))
    assert [host.spec["containers"][0]["command"] for host in hosts] == [["lead"], ["run"]]
    assert {host.subdomain for host in hosts} == {"chat-0.llm"}
    assert hosts[1].spec["containers"][0]["env"][0]["value"] == "chat-0.chat-0.llm"


def test_pods_of_a_group_know_the_addresses_of_each_other() -> None:
    workload = rendering.Workload("chat", "chat", "1.0", {}, [], two_hosts())
    first, second = NOWHERE.group(workload, []).pods
    names = {"chat-0.chat.llm": first.place.address, "chat-0-1.chat.llm": second.place.address}
    assert first.place.names == second.place.names == names
    assert first.place.address != second.place.address


def test_a_group_is_not_ready_without_one_of_its_pods() -> None:
    pods = [pod_of(Path("/nowhere")), pod_of(Path("/nowhere"))]
    for pod in pods:
        pod.log = Path(os.devnull)
    pods[0].ready = True
    with pytest.raises(Unstartable, match="not ready after 0 s: a-0: "):
        groups.Group(pods).wait_ready(0)
    pods[1].over.set()
    with pytest.raises(Unstartable, match="a-0 ended too early"):
        groups.Group(pods).wait_ready(5)
    pods[1].ready = True
    groups.Group(pods).wait_ready(5)


def test_a_worker_needs_no_probes() -> None:
    pod = pod_of(Path("/nowhere"))
    pod._supervise()
    assert pod.started
    assert not pod._exhausted("liveness")


LINE = "serve --nnodes 2 --node-rank {} --dist-init-addr 127.0.0.1:{} --host 127.0.0.1 --port 0 --served-model-name m"


def test_ranks_meet() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    leader, worker = (rendezvous.read_line(LINE.format(rank, port).split()) for rank in (0, 1))
    with ThreadPoolExecutor(1) as threads:
        links = threads.submit(rendezvous.meet, leader)
        own = rendezvous.join(worker)
        assert [*links.result()] == [1]
        work = rendezvous.Work(links.result())
        token = threads.submit(work.token)
        assert own.recv(1) == b"?"
        own.close()
        with pytest.raises(OSError, match=r"a rank is gone|reset|Broken pipe"):
            token.result()
        links.result()[1].close()


@pytest.mark.parametrize("rank", ["2", "-1"])
def test_a_rank_of_nobody(rank: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        rendezvous.read_line(LINE.format(rank, 1).split())
    assert f"rank {rank} of 2" in capsys.readouterr().err


def test_two_workers_of_one_rank() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    line = rendezvous.read_line(LINE.format(1, port).split())
    with ThreadPoolExecutor(2) as threads:
        meeting = threads.submit(rendezvous.meet, line._replace(nodes=3, rank=0))
        links = [threads.submit(rendezvous.join, line) for _ in range(2)]
        with pytest.raises(SystemExit, match="rank 1 is there twice"):
            meeting.result()
        for link in links:
            link.result().close()


def test_an_engine_has_the_ports_that_are_named_after_http() -> None:
    ports = [("http", 8080), ("http-1", 8081), ("supervisor", 8090)]
    main = {"name": "model-runner", "ports": [{"name": name, "containerPort": port} for name, port in ports]}
    serving, headless = pod_of(Path("/nowhere"), containers=[main]), pod_of(Path("/nowhere"))
    assert [port for _, port in vllm_groups.listeners(groups.Group([serving, headless]))] == [8080, 8081]


class Answering(clients.Client):
    """Answers what the test says."""

    def __init__(self, text: str, status: int = 200) -> None:
        body = {"usage": {"prompt_tokens": 100}, "choices": [{"text": text}]}
        self.reply = clients.Reply(status, json.dumps(body))

    def send(self, path: str, body: object = None) -> clients.Reply:
        return self.reply


@pytest.mark.parametrize(
    ("tokens", "amount", "text", "status", "wrong"),
    [
        (99, 4096, "a", 200, ["", ""]),
        (98, 4096, "a", 200, ["98 of 100 prompt tokens, 4096 bytes", ""]),
        (100, 0, "a", 200, ["100 of 100 prompt tokens, 0 bytes", ""]),
        (100, 1, "b", 200, ["", "['b', 'a']"]),
        (0, 0, "a", 500, ["500 instead of 200: ", "['a']"]),
    ],
)
def test_a_cache_that_stays_where_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tokens: int, amount: int, text: str, status: int, wrong: list[str]
) -> None:
    pages = iter([{"external_kv_transfer": 7.0}, {"external_kv_transfer": 7.0 + tokens, "bytes": amount}])
    monkeypatch.setattr(vllm_groups, "fetched", lambda decode: next(pages))
    monkeypatch.setattr(vllm_groups, "Client", lambda connect: Answering("a"))
    pod = pod_of(tmp_path)
    results = list(vllm_groups.handed_over("here", Answering(text, status), pod, pod, "small"))
    assert [bool(result.fault) for result in results] == [bool(fault) for fault in wrong]
    assert all(result.fault.startswith(fault) for result, fault in zip(results, wrong, strict=True))


def test_a_sidecar_whose_program_is_not_at_hand_is_not_asked(tmp_path: Path) -> None:
    sidecar = {"name": "routing-sidecar", "ports": [{"containerPort": 8080}]}
    pod = pod_of(tmp_path, initContainers=[{"name": "model-loader"}, sidecar])
    assert vllm_groups.routing(pod) is None
    assert vllm.sidecars(tmp_path) == {}
    (tmp_path / "engines").mkdir()
    program = tmp_path / "engines" / "pd-sidecar"
    program.touch()
    [(name, image)] = vllm.sidecars(tmp_path).items()
    assert (name, image.files) == (sidecar["name"], {image.entry[0]: program})


def test_a_mixture_of_experts_has_their_weights(tmp_path: Path) -> None:
    checkpoints.write_checkpoint(tmp_path / "m", models.Shape(layers=1, experts=4))
    content = (tmp_path / "m" / "model.safetensors").read_bytes()
    header = json.loads(content[8 : 8 + struct.unpack_from("<Q", content)[0]])
    experts = {name for name in header if ".experts." in name}
    assert len(experts) == 4 * 3
    assert header["model.layers.0.block_sparse_moe.gate.weight"]["shape"] == [4, 128]
    assert not any(".mlp." in name for name in header)


def test_the_plugin_is_one(tmp_path: Path) -> None:
    cpu_groups.write_plugin(tmp_path / "plugin")
    [own] = importlib.metadata.distributions(path=[str(tmp_path / "plugin")])
    [entry] = own.entry_points
    assert (entry.group, entry.value) == ("vllm.general_plugins", "cpu_groups:register")


# ---- what is missing ----


def test_without_root_nothing_is_judged(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(sys, "argv", ["engines"])
    assert program.main() == 2
    assert "cannot judge: pods need" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="pods need Linux, and that is what is said elsewhere")
def test_without_a_tool_nothing_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None if name in ("ip", "setpriv") else name)
    with pytest.raises(CannotJudge, match="not on the PATH: ip, setpriv"):
        kubelet.required_tools()


def test_without_a_compiler_nothing_is_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "cmake" else name)
    with pytest.raises(CannotJudge, match="llamacpp b11434 is not built, and not on the PATH: cmake"):
        installation.llamacpp(tmp_path, "b11434")


def test_a_build_without_a_source() -> None:
    with pytest.raises(CannotJudge, match=r"llamacpp b1: scripts/release_sources\.py knows no source"):
        installation.llamacpp(Path("/nowhere"), "b1")


def test_a_build_that_fails_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(installation, "_fetched", lambda package, number, work: work)
    monkeypatch.setattr(subprocess, "run", fails)
    with pytest.raises(CannotJudge, match="cmake -S failed with 1:\nno compiler"):
        installation.llamacpp(tmp_path, "b11434")
    assert list((tmp_path / "engines").iterdir()) == []


def fails(command: Sequence[str], *, stdout: Any, **_: Any) -> subprocess.CompletedProcess[bytes]:
    stdout.write(b"no compiler\n")
    return subprocess.CompletedProcess(command, 1)


def test_what_is_built_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "engines" / "llamacpp-b11434"
    folder.mkdir(parents=True)
    assert installation.llamacpp(tmp_path, "b11434") == folder


def test_there_is_a_source_of_the_preset_version() -> None:
    assert installation.preset_version("llamacpp") in LLAMACPP


# ---- trials ----


def test_trials_by_name() -> None:
    build = installation.preset_version("llamacpp")

    def chosen(text: str, *names: str) -> dict[str, list[str]]:
        return {f"{choice.engine} {choice.version}": [*choice.trials] for choice in program.choices(text, names)}

    assert chosen("llamacpp", "memory", "quickstart") == {f"llamacpp {build}": ["quickstart", "memory"]}
    assert chosen("llamacpp") == {f"llamacpp {build}": [*llamacpp.TRIALS]}
    assert chosen("llamacpp@b8929") == {"llamacpp b8929": ["older"]}
    assert [*chosen("vllm@all")] == [f"vllm {version}" for version in vllm.VERSIONS]
    with pytest.raises(CannotJudge, match=f"llamacpp {build} has no trial drains; it has speculative, "):
        chosen("llamacpp", "drains", "memory")
    with pytest.raises(CannotJudge, match="no trials for tgi; there are some for llamacpp"):
        chosen("tgi")
    with pytest.raises(CannotJudge, match=r"no trials for vllm 0\.7\.3; there are some for 0\.32\.0"):
        chosen("vllm@0.7.3")


def test_a_trial_that_does_not_start_is_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    def trial(bench: Bench) -> Iterator[Result]:
        yield Result("first", "", "7 s")
        raise Unstartable("not ready\nafter 60 s")

    assert [result.fault for result in program.run(NOWHERE, "a", trial)] == ["", "not ready\nafter 60 s"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[-1] for line in lines] == ["a: first: ok (7 s)", "a: start: WRONG: not ready after 60 s"]


@pytest.mark.parametrize(
    ("args", "context", "fault"),
    [
        ("--parallel 4 --kv-unified-per-slot 8192", 8192, ""),
        ("--ctx-size 8192 --parallel 4", 2048, ""),
        ("--ctx-size 4096 --ctx-size 8192", 8192, "--ctx-size 8192 is for all slots together"),
        ("--parallel 4", 0, "nothing states the context"),
    ],
)
def test_the_context_that_is_stated(args: str, context: int, fault: str) -> None:
    template = {"spec": {"containers": [{"name": "model-runner", "args": args.split()}]}}
    tokens, words = llamacpp.stated_context(rendering.Workload("a", "a", "1.0", template, []))
    assert (tokens, bool(words)) == (context, bool(fault))
    assert fault in words


def test_a_hook_without_a_sleep() -> None:
    def workload(**main: Any) -> rendering.Workload:
        return rendering.Workload("a", "a", "1.0", {"spec": {"containers": [{"name": "model-runner", **main}]}}, [])

    hook = {"preStop": {"exec": {"command": ["/bin/sh", "-c", "sleep 35\nend=1"]}}}
    assert workload(lifecycle=hook).hook_sleep == 35
    assert workload().hook_sleep == 0


def test_every_input_is_rendered() -> None:
    elastic = rendering.rendered("llamacpp", "tests/cases/elastic-by-queue/input")
    counted = llamacpp.series_counted_on(elastic)
    assert counted["the autoscaler"] == counted["the adapter"] == ["llamacpp:requests_deferred"]
    assert {*counted["the preset"]} < {*counted["the dashboards"]}
    draft = rendering.rendered("on-llamacpp", "tests/cases/speculative-decoding/input", "--set", "gateway.mode=off")
    assert sorted(draft.weights) == ["/workspace/models/big-Q4_K_M.gguf", "/workspace/models/small-Q8_0.gguf"]
    assert rendering.rendered("guarded", f"{llamacpp.INPUTS}/api-key.yaml").hook_sleep == 10
    assert rendering.rendered("embedding", f"{llamacpp.INPUTS}/embedding.yaml").option("--pooling") == "last"
    with pytest.raises(CannotJudge, match="no workload nobody is rendered"):
        rendering.rendered("nobody", "examples/quickstart")
