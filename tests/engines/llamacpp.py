"""The trials of llama.cpp: what its preset renders, run with the build that the preset names."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from tests.apiserver.server import CannotJudge
from tests.engines import installation
from tests.engines.clients import Client
from tests.engines.kubelet import Body, Image, Pod, Unstartable, size_of
from tests.engines.models import Shape, write_gguf, write_projector, write_split_gguf
from tests.engines.rendering import ROOT, Workload, rendered, workload_in
from tests.engines.takeover import taken_over
from tests.engines.trial import (
    CHAT,
    PATIENCE,
    REQUESTS,
    Bench,
    Result,
    Trial,
    chat,
    chatted,
    drained,
    embedded,
    faults,
    full_contexts,
    image_read,
    listed,
    long_chat,
    movement,
    reranked,
    served,
    streamed,
    together,
    unexpected,
)

INPUTS = "tests/engines/inputs/llamacpp"
CHARTS = ROOT / "charts" / "llmaz" / "files"
SERIES = re.compile(r"\bllamacpp:\w+")
DEPRECATED_FIELDS = ("b8929", "b4579")
SLOTS = 4  # without --parallel
MADE_UP = 200  # values for the file of several models
LETTERS = "ab1.,:-_/\\|&*?!%~^<>(){}[]@ \t\"'`#;=$ÄöüßÅ→"
RUNNING = "llamacpp:requests_processing"
LONG = 1024  # tokens of a stream that takes a second
LASTING = 3072  # of one that outlasts what is left of a hook's sleep
MODELS = {
    "small": Shape(),
    # as much memory for a token's cache, and as many tokens to choose from, as the quickstart's model has
    "quickstart": Shape(layers=24, vocabulary=151_936),
}
# As the image has it; one thread, because two pods run side by side, and threads of two servers wait for each other.
ENVIRONMENT = {"LLAMA_ARG_HOST": "0.0.0.0", "LLAMA_ARG_THREADS": "1"}  # noqa: S104

SMALL_CONTEXT = 4096  # MAX-MODEL-LEN of small.yaml


def versions() -> Sequence[str]:
    """The builds whose trials there are, the preset's first."""
    return [installation.preset_version("llamacpp"), *DEPRECATED_FIELDS]


def trials(version: str) -> Mapping[str, Trial]:
    """The trials of a build."""
    return {"older": older} if version in DEPRECATED_FIELDS else TRIALS


def bench(tools: Path, folder: Path, version: str) -> Bench:
    """The engine of that build, with models. CannotJudge when there is none."""
    program = installation.llamacpp(tools, version)
    models = {name: folder / f"{name}.gguf" for name in MODELS}
    for name, shape in MODELS.items():
        write_gguf(models[name], shape)
    return Bench(Image({"/app": program}, ENVIRONMENT), models, folder, version)


def quickstart(bench: Bench) -> Iterator[Result]:
    """The example as it is, from its start to its drain."""
    workload = rendered("chat", "examples/quickstart")
    name = workload.served_name
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        yield from served(pod, client, name)
        yield Result("unknown name is answered", unexpected(client.send(CHAT, chat("nobody"))))
        yield parallel_requests(client, workload)
        yield drained(pod, client, workload, long_chat(name, LASTING))


def parallel_requests(client: Client, workload: Workload, promised: int = 0) -> Result:
    """Whether as many requests as users send at once end whole, each as long as the stated context allows. `promised`:
    MAX-MODEL-LEN, where the input says it.
    """
    context, fault = stated_context(workload)
    if not context:
        return Result("stated context", fault)
    if promised and context != promised:
        fault = f"the model promises {promised} tokens to each request, the command line {context}"
    result = full_contexts(client, workload.served_name, context, context // 16)
    return result._replace(fault="; ".join(filter(None, (fault, result.fault))))


def stated_context(workload: Workload) -> tuple[int, str]:
    """The tokens that the command line promises to each request, and what is wrong with that promise."""
    own, whole, slots = map(workload.option, ("--kv-unified-per-slot", "--ctx-size", "--parallel"))
    if own:
        return int(own), ""
    if whole and slots:
        return int(whole) // int(slots), ""
    if whole:
        return int(whole), f"nothing states the context of a request: --ctx-size {whole} is for all slots together"
    return 0, "nothing states the context of a request"


def max_model_len(bench: Bench) -> Iterator[Result]:
    """A context that the model's flavor states, which the preset turns into options."""
    workload = bench.rendered("chat", f"{INPUTS}/small.yaml", f"server-{bench.version}")
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        yield parallel_requests(Client(pod.connect), workload, SMALL_CONTEXT)


def memory(bench: Bench) -> Iterator[Result]:
    """The quickstart's memory limit holds the cache of its context, the prompt cache, and what a step takes."""
    workload = rendered("chat", "examples/quickstart")
    stated = workload.main["resources"].get("limits", {}).get("memory")
    if stated is None:
        raise CannotJudge("the quickstart has no memory limit")
    limit = size_of(stated)
    prompts = int(workload.option("--cache-ram") or 8192) << 20
    with bench.pod(workload, bench.weights(workload, "quickstart")) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        lost = faults(together(REQUESTS, lambda _: client.stream(CHAT, long_chat(workload.served_name, 128))))
        peak = pod.peak_memory()
    figures = f"{peak >> 20} MiB, and {prompts >> 20} of prompts, of {limit >> 20} MiB"
    yield Result("memory limit", lost or ("" if peak + prompts < limit else figures), figures)


def autoscaling(bench: Bench) -> Iterator[Result]:
    """Every series that the preset, the dashboards, the PodMonitor and the autoscaler count on."""
    workload = rendered("llamacpp", "tests/cases/elastic-by-queue/input")
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        path = workload.template["metadata"]["annotations"]["renderer.llmaz.io/metrics-path"]
        body = long_chat(workload.served_name, LONG)
        more = 2 * int(workload.option("--parallel") or SLOTS)
        seen = movement(client, path, lambda: together(more, lambda _: client.stream(CHAT, body)))
        for source, names in series_counted_on(workload).items():
            wrong = [fault for name in names if (fault := seen.fault(name))]
            yield Result(f"series of {source}", "; ".join(wrong) or ("" if names else "none"), " ".join(names))
        monitors = [body for body in workload.bodies if body["kind"] == "PodMonitor"]
        ports = {endpoint["port"] for body in monitors for endpoint in body["spec"]["podMetricsEndpoints"]}
        known = {port["name"]: port["containerPort"] for port in pod.main["ports"]}
        monitored = {known.get(port) for port in ports}
        yield Result("PodMonitor's port", "" if monitored == {pod.port} else f"{ports} of {known}")


def series_counted_on(workload: Workload) -> Mapping[str, list[str]]:
    """The names of series, by who counts on them."""
    engine = yaml.safe_load((installation.PRESETS / "llamacpp.yaml").read_text("utf-8"))["spec"]["engine"]
    preset = [name for key, name in engine["metrics"].items() if key in ("running", "waiting", "cache")]
    rules = yaml.safe_load((CHARTS / "adapter-rules.yaml").read_text("utf-8"))["rules"]["custom"]
    served = {rule["name"]["as"]: rule["seriesQuery"].partition("{")[0] for rule in rules}
    goals = [
        metric["pods"]["metric"]["name"]
        for body in workload.bodies
        if body["kind"] == "HorizontalPodAutoscaler" and body["spec"]["scaleTargetRef"]["name"] == workload.name
        for metric in body["spec"]["metrics"]
    ]
    dashboards = "".join(path.read_text("utf-8") for path in sorted((CHARTS / "dashboards").glob("*.json")))
    return {
        "the preset": preset,
        "the autoscaler": [served.get(goal, f"{goal}, of which no rule of the adapter knows,") for goal in goals],
        "the adapter": [name for name in served.values() if SERIES.fullmatch(name)],
        "the dashboards": sorted(set(SERIES.findall(dashboards))),
    }


def api_key(bench: Bench) -> Iterator[Result]:
    """A key from a Secret: who needs it, and that the hook knows it."""
    workload = rendered("guarded", f"{INPUTS}/api-key.yaml")
    name, key = workload.served_name, "a-key-of-a-trial"
    with bench.pod(workload, bench.weights(workload), {"keys": {"chat": key}}) as pod:
        pod.wait_ready(PATIENCE)
        stranger, client = Client(pod.connect), Client(pod.connect, key)
        yield Result("no key: /health", unexpected(stranger.send("/health")))
        yield Result("no key: /metrics is refused", unexpected(stranger.send("/metrics"), 401))
        yield Result("no key: /v1/models is refused", unexpected(stranger.send("/v1/models"), 401))
        yield Result("no key: chat is refused", unexpected(stranger.send(CHAT, chat(name)), 401))
        yield Result("key: /metrics", unexpected(client.send("/metrics")))
        yield Result("key: /v1/models", unexpected(client.send("/v1/models")))
        yield Result("key: chat", chatted(client, name))
        yield drained(pod, client, workload, long_chat(name, LASTING))


def embedding(bench: Bench) -> Iterator[Result]:
    """The model preset for embeddings."""
    workload = rendered("embedding", f"{INPUTS}/embedding.yaml")
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        yield Result("served name", listed(client, workload.served_name))
        yield Result("embeddings", embedded(client, workload.served_name, MODELS["small"].width))


def tasks(bench: Bench) -> Iterator[Result]:
    """Models of the user's for embeddings and for reranking, each with the options of its task. The server goes on to
    answer chats beside them; it reranks with its option alone.
    """
    for name, path in (("vectors", "/v1/embeddings"), ("ranker", "/v1/rerank")):
        workload = rendered(name, f"{INPUTS}/ranker.yaml")
        with bench.pod(workload, bench.weights(workload)) as pod:
            pod.wait_ready(PATIENCE)
            client = Client(pod.connect)
            if name == "vectors":
                yield Result(f"{path} of an own model", embedded(client, name, MODELS["small"].width))
                rerank = {"model": name, "query": "one", "documents": ["two"]}
                yield Result("an embedding model does not rerank", unexpected(client.send("/v1/rerank", rerank), 501))
            else:
                yield Result(f"{path} of an own model", reranked(client, path, name))


def chat_template(bench: Bench) -> Iterator[Result]:
    """A chat template of the tree in place of the model's own: messages become the text that it makes of them."""
    workload = rendered("templated", f"{INPUTS}/chat-template")
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        answer = client.send("/apply-template", {"messages": [{"role": "user", "content": "one\ntwo"}]})
        prompt = answer.body.get("prompt") if answer.status == 200 else unexpected(answer)
        yield Result("the chat template counts", "" if prompt == "Notes of user: one\ntwo.\nAnswer:" else str(prompt))
        yield Result("chat by the template", chatted(client, workload.served_name))


def parts(bench: Bench) -> Iterator[Result]:
    """A model in several files, of which the command line names the first."""
    workload = rendered("split", f"{INPUTS}/parts.yaml")
    repository = bench.new_folder("split")
    (repository / "F16").mkdir()
    write_split_gguf(repository / "F16", "split", MODELS["small"], 3)
    with bench.pod(workload, [("/workspace/models/models--org--split-GGUF", repository)]) as pod:
        pod.wait_ready(PATIENCE)
        yield Result("a model in three parts answers", chatted(Client(pod.connect), workload.served_name))
    (repository / "F16" / "split-00003-of-00003.gguf").unlink()
    with bench.pod(workload, [("/workspace/models/models--org--split-GGUF", repository)]) as pod:
        over = pod.over.wait(PATIENCE)
        status = pod.container.process.returncode if over else 0
        yield Result("without one of them it ends", "" if status > 0 and not pod.ready else f"exit status {status}")


def projector(bench: Bench) -> Iterator[Result]:
    """A model that reads images by a projector beside it in its repository."""
    workload = rendered("sight", f"{INPUTS}/projector.yaml")
    repository = bench.new_folder("sight")
    write_gguf(repository / "sight.gguf", MODELS["small"])
    write_projector(repository / "mmproj-F16.gguf", MODELS["small"].width)
    with bench.pod(workload, [("/workspace/models/models--org--sight-GGUF", repository)]) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        name = workload.served_name
        yield Result("chat without an image", chatted(client, name))
        yield image_read(client, name)
    (repository / "mmproj-F16.gguf").unlink()
    with bench.pod(workload, [("/workspace/models/models--org--sight-GGUF", repository)]) as pod:
        over = pod.over.wait(PATIENCE)
        status = pod.container.process.returncode if over else 0
        yield Result("without the projector it ends", "" if status > 0 and not pod.ready else f"exit status {status}")


def router(bench: Bench) -> Iterator[Result]:
    """Three models behind one server, of which one is in memory at a time, from their start to their drain."""
    workload = rendered("router", f"{INPUTS}/router.yaml")
    names, last = ("blue", "Green:1b-it-q4_K_M", "acme/red"), "red"
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        yield Result("the preloaded model is loaded", "" if loaded(client) == ["blue"] else f"{loaded(client)}")
        for name in names:
            yield Result(f"{name} answers", chatted(client, name))
        yield Result("one model is in memory", "" if loaded(client) == [last] else f"{loaded(client)}")
        metrics = client.send("/metrics?model=blue&autoload=false")
        yield Result("metrics of a model that is not loaded are refused", unexpected(metrics, 400))
        yield Result("and load nothing", "" if loaded(client) == [last] else f"{loaded(client)}")
        yield beside_another(client, "acme/red", "blue")
        yield drained(pod, client, workload, long_chat("Green:1b-it-q4_K_M", LASTING))


def beside_another(client: Client, name: str, other: str) -> Result:
    """Whether a stream comes whole while a model is asked for that takes its place in memory."""
    with ThreadPoolExecutor(1) as threads:
        stream = threads.submit(client.stream, CHAT, long_chat(name, LASTING))
        waited(lambda: client.metrics(f"/metrics?model={name}&autoload=false").get(RUNNING, 0) > 0, PATIENCE)
        begun = time.monotonic()
        fault = "the stream ended before another model was asked for" if stream.done() else chatted(client, other)
        seconds, completion = time.monotonic() - begun, stream.result()
    cut = completion.fault or ("" if completion.tokens == LASTING else f"{completion.tokens} tokens of {LASTING}")
    figures = f"{completion.tokens} tokens, and an answer of the other after {seconds:.0f} s"
    return Result("another model cuts no stream", fault or cut, figures)


def loaded(client: Client) -> list[str]:
    """The sections of the models that are in memory."""
    return [model["id"] for model in client.send("/v1/models").body["data"] if model["status"]["value"] == "loaded"]


def router_faults(bench: Bench) -> Iterator[Result]:
    """One of the router's models has no file, then one that is no model."""
    workload = rendered("router", f"{INPUTS}/router.yaml")
    weights = bench.weights(workload)
    try:
        with bench.pod(workload, weights[:-1]) as pod:
            message = f"the engine starts: {'; '.join(pod.events)}"
    except Unstartable as error:
        message = str(error)
    named = "no file: 'acme/red' " in message
    yield Result("a missing file keeps the engine from its start, and is named", "" if named else message, message)
    broken = bench.new_folder("broken") / "red.gguf"
    broken.write_bytes(b"no model")
    with bench.pod(workload, [*weights[:-1], (weights[-1][0], broken)]) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        refused = client.send(CHAT, chat("acme/red"))
        yield Result("a model that is none is refused", unexpected(refused, 500), refused.text[:100])
        yield Result("the first answers", chatted(client, "blue"))
        yield Result("the second answers", chatted(client, "Green:1b-it-q4_K_M"))
        yield Result("the pod stays ready", "" if pod.ready and not pod.over.is_set() else "; ".join(pod.events))


def model_files(bench: Bench) -> Iterator[Result]:
    """The router reads the file of each golden, and arguments that were made up as they were written."""
    for path in sorted((ROOT / "tests" / "cases").glob("*/expected/**/*.yaml")):
        text = path.read_text("utf-8")
        if "  models.ini: |" in text:
            workload = workload_in(path.stem, text)
            sections = re.findall(r"^    \[([^*\]]+)\]$", text, re.MULTILINE)
            with bench.pod(_server_alone(workload), []) as pod:
                names = [model["id"] for model in _models(pod)]
                question = f"the models of {path.relative_to(ROOT)} are listed"
                yield Result(
                    question, "" if sections and names == sorted(sections) else f"{names}: {pod.tail()}", f"{names}"
                )
    yield made_up_values(bench, MADE_UP)


def made_up_values(bench: Bench, count: int) -> Result:
    """Whether arguments that are not refused come back as they were written."""
    chance = random.Random(58)
    written = {f"m{i}": "".join(chance.choices(LETTERS, k=chance.randint(1, 12))) for i in range(count)}
    path = bench.new_folder("made-up") / "all.yaml"
    path.write_text(_one_server(written), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "renderer", "validate", path], cwd=ROOT, capture_output=True, text=True
    )
    refused = {f"m{number}" for number in re.findall(r"models\[(\d+)\]\S* --grammar .*\[E947\]", done.stderr)}
    accepted = {name: value for name, value in written.items() if name not in refused}
    path.write_text(_one_server(accepted), "utf-8")
    with bench.pod(_server_alone(rendered("made-up", str(path))), []) as pod:
        seen = {model["id"]: model["status"]["args"] for model in _models(pod)}
    differ = [f"{value!r} in {seen.get(name)}" for name, value in accepted.items() if value not in seen.get(name, ())]
    figures = f"{len(accepted)} of {count} come back, {len(refused)} are refused"
    return Result(
        "arguments come back as written", "; ".join(differ[:3]) or ("" if accepted and refused else figures), figures
    )


def _one_server(values: Mapping[str, str]) -> str:
    """A tree with a server of so many models, each with a value among its arguments."""
    models = [
        {
            "apiVersion": "llmaz.io/v1alpha1",
            "kind": "OpenModel",
            "metadata": {"name": name},
            "spec": {"familyName": "small", "source": {"uri": f"host:///models/{name}.gguf"}},
        }
        for name in values
    ]
    claims = {"models": [{"name": name, "args": ["--grammar", value]} for name, value in values.items()]}
    app = {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": "made-up"},
        "spec": {"modelClaims": claims, "backendRuntimeConfig": {"backendName": "llamacpp"}},
    }
    return yaml.safe_dump_all([*models, app])


def _server_alone(workload: Workload) -> Workload:
    """The server without the files of its models, and without the step that asks for them."""
    spec, names = dict(workload.spec), ("config", "tmp")
    main = {
        **workload.main,
        "volumeMounts": [mount for mount in workload.main["volumeMounts"] if mount["name"] in names],
    }
    spec |= {"initContainers": [], "containers": [main]}
    spec["volumes"] = [volume for volume in spec["volumes"] if volume["name"] in names]
    return workload._replace(template={**workload.template, "spec": spec})


def _models(pod: Pod) -> Sequence[Body]:
    """The models that a router lists once it answers."""
    client = Client(pod.connect)
    waited(lambda: client.send("/v1/models").status == 200 or pod.over.is_set(), PATIENCE)
    reply = client.send("/v1/models")
    models: Sequence[Body] = reply.body["data"] if reply.status == 200 else ()
    return models


def speculative(bench: Bench) -> Iterator[Result]:
    """Drafts are accepted; and a server that hangs is ended."""
    workload = rendered("on-llamacpp", "tests/cases/speculative-decoding/input", "--set", "gateway.mode=off")
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        completion = Client(pod.connect).stream(CHAT, {**long_chat(workload.served_name, 64), "temperature": 0})
        drafts, accepted = (completion.timings.get(key, 0) for key in ("draft_n", "draft_n_accepted"))
        wrong = completion.fault or ("" if accepted else f"{drafts} drafts, {accepted} accepted")
        yield Result("drafts are accepted", wrong, f"{accepted} of {drafts}")
        yield hung(pod, workload)


def hung(pod: Pod, workload: Workload) -> Result:
    """Whether a server that no longer answers becomes unready, and is ended by its liveness probe."""
    begun = time.monotonic()
    pod.suspend()
    wrong = []
    if not waited(lambda: not pod.ready, PATIENCE):
        wrong.append("it stays ready")
    unready = time.monotonic() - begun
    if not waited(pod.terminating.is_set, 2 * PATIENCE):
        return Result("hung server is ended", "; ".join([*wrong, "liveness does not end it"]))
    dead = time.monotonic() - begun
    if not waited(lambda: any("SIGTERM" in event for event in pod.events), workload.hook_sleep + 20):
        wrong.append(f"the hook waits for a dead server: {'; '.join(pod.events)}")
    pod.resume()  # SIGTERM waits for it; kubelet would go on to SIGKILL
    end = pod.end()
    if end.status:
        wrong.append(f"exit status {end.status}")
    figures = f"unready after {unready:.0f} s, terminated after {dead:.0f} s, hook {end.hook:.0f} s"
    return Result("hung server is ended", "; ".join(wrong), figures)


def waited(condition: Callable[[], bool], timeout: float) -> bool:
    """Whether the condition came true in time."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def restricted(bench: Bench) -> Iterator[Result]:
    """The quickstart under `hardening: restricted`."""
    options = ("--set", "hardening=restricted", "--set", "gateway.mode=off")
    workload = rendered("chat", "examples/quickstart", *options)
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        fields = {field: pod.status(field) for field in ("Uid", "Gid", "CapEff", "CapBnd", "NoNewPrivs")}
        expected = {"Uid": "\t".join(["65532"] * 4), "Gid": "\t".join(["65532"] * 4)}
        expected |= {"CapEff": "0" * 16, "CapBnd": "0" * 16, "NoNewPrivs": "1"}
        wrong = [f"{field} {value}" for field, value in fields.items() if value != expected[field]]
        yield Result("user 65532, no capabilities", "; ".join(wrong))
        writable = [path for path in ("/app", "/etc", "/") if not pod.execute(["touch", f"{path}/file"], 5)]
        yield Result("read-only root", f"writable: {', '.join(writable)}" if writable else "")
        yield Result("chat", chatted(Client(pod.connect), workload.served_name))
        end = pod.end()
        yield Result("end", f"exit status {end.status}" if end.status else "", f"{end.whole:.0f} s")


def missing_model(bench: Bench) -> Iterator[Result]:
    """A loader that puts nothing: the program ends, and was never started in kubelet's sense."""
    workload = rendered("chat", "examples/quickstart")
    with bench.pod(workload, []) as pod:
        over = pod.over.wait(PATIENCE)
        status = pod.container.process.returncode if over else 0
        wrong = [] if over and status > 0 else [f"the program goes on, or ends with {status}"]
        if pod.started or pod.ready:
            wrong.append("a probe succeeded")
        yield Result("missing model", "; ".join(wrong), f"exit status {status}")


def older(bench: Bench) -> Iterator[Result]:
    """What is rendered for an older build."""
    workload = bench.rendered("chat", f"{INPUTS}/small.yaml", f"server-{bench.version}")
    name = workload.served_name
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        client = Client(pod.connect)
        yield from served(pod, client, name)
        yield parallel_requests(client, workload, SMALL_CONTEXT)
        slots = int(workload.option("--parallel") or SLOTS)
        seen = movement(
            client, "/metrics", lambda: together(2 * slots, lambda _: client.stream(CHAT, long_chat(name, LONG)))
        )
        for series in ("llamacpp:requests_processing", "llamacpp:requests_deferred"):
            yield Result(f"series {series}", seen.fault(series))
        yield drained(pod, client, workload, long_chat(name, LASTING))
    workload = bench.rendered("speculative", f"{INPUTS}/small.yaml", f"server-{bench.version}")
    with bench.pod(workload, bench.weights(workload)) as pod:
        pod.wait_ready(PATIENCE)
        yield Result("speculative decoding answers", streamed(Client(pod.connect), workload.served_name))


# The longest first: two run side by side.
TRIALS: Mapping[str, Trial] = {
    "speculative": speculative,
    "quickstart": quickstart,
    "takeover": taken_over,
    "api-key": api_key,
    "memory": memory,
    "max-model-len": max_model_len,
    "autoscaling": autoscaling,
    "restricted": restricted,
    "embedding": embedding,
    "tasks": tasks,
    "missing-model": missing_model,
    "parts": parts,
    "projector": projector,
    "router": router,
    "router-faults": router_faults,
    "model-files": model_files,
    "chat-template": chat_template,
}
