#!/usr/bin/env python3
"""Measures llmaz against plain file I/O, helm and kustomize, in one run on one machine: `make bench`.

Corpora of 10, 1,000 and 10,000 models (a file with an OpenModel and a Playground each, half of them elastic, one and
four accelerators, 20 namespaces with a Gateway each), rendered with all checks and routes on; and one more of 1,000, of
which 300 are in pool mode and 100 reached by ModelRoutes, each over two of them and a provider. The 1,000 are rendered
once more under a RenderPolicy, in turns with runs without one, and once more with a warning in every other file (the
loud corpus), in turns with the quiet one; `llmaz fleet` sums them, and `llmaz upgrade` upgrades every tenth, of which
every tenth breaks and is mended. Deployments with a Service each are adopted, 500 and 3,000 of them. Every figure is a
median; targets are ratios within this run. Inputs are in memory, and whatever writes gets a folder that never was: some
file systems look at each file that was deleted in the last minutes before they make a new one. helm renders the same
manifests from one chart over one values file (compared object by object); kustomize builds them as resources. Exit
status 0 whatever the figures are: they are for reading.

`--against COMMIT` compares with an older commit instead: it is checked out and installed below build/, and both render
the same corpora in turns.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from renderer import schema_validation, yamlio

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "bench"
LLMAZ = [str(Path(sys.executable).with_name("llmaz"))]
# As installed programs run: with their bytecode on disk.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
SIZES = (10, 1_000, 10_000)
_OLD = itertools.count()
NAMESPACES = 20


class Model(NamedTuple):
    """What differs between the models of a corpus."""

    app: str
    namespace: str
    model: str
    repo: str
    revision: str
    length: str
    memory: str
    gpus: int
    elastic: bool
    replicas: int
    reached: str = "route"  # by a route of its own, a "pool", or a ModelRoute "over" this and another one
    other: str = ""


def numbered_model(i: int, mixed: bool = False) -> Model:
    reached = ("pool" if i % 10 < 3 else "over" if i % 10 == 5 else "route") if mixed else "route"
    return Model(
        reached=reached,
        other=f"chat-{(i + NAMESPACES) % 1_000:05d}" if reached == "over" else "",
        app=f"chat-{i:05d}",
        namespace=f"team-{i % NAMESPACES:02d}",
        model=f"qwen3-{i:05d}",
        repo=f"org-{i % 97:02d}/Qwen3-{i:05d}-Instruct",
        revision=f"r{i % 13:02d}",
        length=str(4096 * (1 + i % 16)),
        memory=f"{24 + i % 61}Gi",
        gpus=4 if i % 3 == 0 else 1,
        elastic=i % 2 == 0,
        replicas=2 + i % 5,
    )


def source(model: Model) -> str:
    scale = (
        f"""  elasticConfig:
    minReplicas: 2
    maxReplicas: {model.replicas + 1}
    scaleTrigger:
      hpa:
        metrics:
          - type: Pods
            pods:
              metric: {{name: vllm_num_requests_waiting}}
              target: {{type: AverageValue, averageValue: 5}}
"""
        if model.elastic
        else f"  replicas: {model.replicas}\n"
    )
    return f"""apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata:
  name: {model.model}
spec:
  familyName: qwen3
  source:
    modelHub:
      modelID: {model.repo}
      revision: {model.revision}
  inferenceConfig:
    flavors:
      - name: a100
        limits: {{nvidia.com/gpu: {model.gpus}}}
        nodeSelector: {{gpu.example.com/type: a100}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata:
  name: {model.app}
  namespace: {model.namespace}
spec:
  modelClaim:
    modelName: {model.model}
  backendRuntimeConfig:
    backendName: vllm
    args: [--max-model-len, "{model.length}"]
    envs:
      - {{name: VLLM_LOGGING_LEVEL, value: INFO}}
    resources:
      requests: {{cpu: 8, memory: {model.memory}}}
      limits: {{cpu: 8, memory: {model.memory}}}
{scale}{"  gateway: {mode: pool}" if model.reached == "pool" else ""}
"""


def model_route(model: Model) -> str:
    return f"""apiVersion: renderer.llmaz.io/v1alpha1
kind: ModelRoute
metadata:
  name: to-{model.app}
  namespace: {model.namespace}
spec:
  modelName: public-{model.app}
  backends:
    - {{playground: {model.app}, weight: 90}}
    - {{playground: {model.other}, weight: 10}}
    - provider:
        schema: OpenAI
        hostname: api.example.com
        modelName: large
        auth: {{type: APIKey, secretName: provider-key}}
      priority: 1
"""


def config() -> str:
    """RenderConfig: routes for all, each namespace on a Gateway of its own."""
    names = [f"team-{i:02d}" for i in range(NAMESPACES)] + ["zznamespace"]
    spread = "".join(f"      {name}: {{name: gw-{name}}}\n" for name in names)
    return f"""apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {{name: config}}
spec:
  gateway:
    mode: backend
    perNamespace:
{spread}"""


def policy() -> str:
    """RenderPolicy: the keys of docs/policy.md, with values that allow the corpus."""
    folders = "".join(
        f"    - {{path: 'team-{i:02d}/**', namespaces: [team-{i:02d}, 'team-{i:02d}-*']}}\n" for i in range(NAMESPACES)
    )
    return f"""apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderPolicy
metadata: {{name: policy}}
spec:
  folders:
{folders}    - {{path: "platform/**", namespaces: ["*"]}}
  definitions: {{models: ["team-*/**"], backends: ["platform/**"], presetNames: ["platform/**"]}}
  publicNames: [{{namespaces: ["team-*"], names: ["qwen3-*"]}}]
  images: {{registries: [ghcr.io/org, docker.io]}}
  providers: {{hosts: [api.openai.com]}}
  weights: {{sources: ["hf://org-*/*", "s3://models/*"], hostPaths: [/data/models]}}
  pods:
    serviceAccounts: [default, "team-*"]
    priorityClasses: ["team-*"]
    hostNetwork: false
    hostPID: false
    privileged: false
    runAsRoot: false
  passThrough: {{kinds: [ConfigMap, apps/Deployment]}}
  config: {{output: ["."], passThrough: ["."], external: ["."]}}
  admission: [platform/admission.yaml]
"""


def admission() -> str:
    """The two ValidatingAdmissionPolicies of docs/policy.md, with limits that allow the corpus."""
    containers = "object.spec.leaderWorkerTemplate.workerTemplate.spec.containers"
    memory = "!has(c.resources.requests) || !('memory' in c.resources.requests)"
    memory += " || quantity(c.resources.requests.memory).compareTo(quantity('64Ti')) <= 0"
    expressions = {"replicas": "object.spec.replicas <= 100000", "memory": f"{containers}.all(c, {memory})"}
    return "---\n".join(
        f"""apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  matchConstraints:
    resourceRules:
      - apiGroups: [leaderworkerset.x-k8s.io]
        apiVersions: [v1]
        operations: [CREATE, UPDATE]
        resources: [leaderworkersets]
  validations:
    - expression: >-
        {expression}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec: {{policyName: {name}, validationActions: [Deny]}}
"""
        for name, expression in expressions.items()
    )


def judged(size: int, lines: list[Line]) -> None:
    """Renders a corpus without and with a policy in turns, and adds the ratios to `lines`."""
    inputs, out = WORK / f"in-{size}", f"out-{size}"
    (inputs / "platform").mkdir(exist_ok=True)
    (inputs / "platform" / "admission.yaml").write_text(admission())
    costs: dict[str, list[Cost]] = {"": [], policy(): []}
    for _ in range(11):
        for text, samples in costs.items():
            fresh(out, inputs)
            (inputs / "llmaz-policy.yaml").write_text(text) if text else None
            samples.append(cost([*LLMAZ, "render", inputs.name, "-o", out]))
            (inputs / "llmaz-policy.yaml").unlink(missing_ok=True)
    without, within = (
        Cost(*(statistics.median(column) for column in zip(*samples, strict=True))) for samples in costs.values()
    )
    row(size, "no policy", Timing(without.wall, without.cpu))
    row(size, "policy", Timing(within.wall, within.cpu))
    lines.append(_most(f"{size:,} fresh with a policy / without", within.wall / without.wall, 1.15))
    lines.append(_most(f"{size:,} fresh with a policy / without, user CPU", within.user / without.user, 1.15))


def loud(size: int, lines: list[Line]) -> None:
    """Renders a corpus without and with a warning in every other file in turns, and adds the ratio to `lines`.

    The warning is W202: replicas have no effect where an autoscaler owns their number.
    """
    inputs, warned, out = WORK / f"in-{size}", WORK / f"loud-{size}", f"out-{size}"
    fresh(warned.name)
    shutil.copytree(inputs, warned)
    for path in warned.glob("team-*/*.yaml"):
        path.write_text(path.read_text().replace("  elasticConfig:", "  replicas: 2\n  elasticConfig:"))
    warnings = run(*LLMAZ, "render", warned.name, "-o", out).count("[W202]")
    if warnings != size // 2:
        sys.exit(f"bench: {warnings} warnings about the loud corpus of {size:,} models")
    costs: dict[Path, list[Cost]] = {inputs: [], warned: []}
    for _ in range(11):
        for folder, samples in costs.items():
            fresh(out, folder)
            samples.append(cost([*LLMAZ, "render", folder.name, "-o", out]))
    quiet_cpu, loud_cpu = (statistics.median(sample.cpu for sample in samples) for samples in costs.values())
    for what, samples, cpu in zip(("quiet", "loud"), costs.values(), (quiet_cpu, loud_cpu), strict=True):
        row(size, what, Timing(statistics.median(sample.wall for sample in samples), cpu))
    lines.append(_most(f"{size:,} fresh, half with a warning / none, CPU", loud_cpu / quiet_cpu, 1.15))


def upgraded(size: int, new: float, lines: list[Line]) -> None:
    """Upgrades the engine of every tenth model, and adds the ratio to a fresh render, which takes `new` seconds, to
    `lines`. Of these models every tenth has an option that ends and is replaced.
    """
    folder = WORK / f"upgraded-{size}"
    fresh(folder.name)
    shutil.copytree(WORK / f"in-{size}", folder)
    for i, path in enumerate(sorted(folder.glob("team-*/*.yaml"))[::10]):
        tag, more = ("v0.26.0", "") if i % 10 else ("v0.10.0", "--guided-decoding-backend=auto, ")
        text = path.read_text().replace("backendName: vllm\n", f"backendName: vllm\n    version: {tag}\n", 1)
        path.write_text(text.replace("args: [", f"args: [{more}", 1))
    command = f"{LLMAZ[0]} upgrade vllm=0.33.0 {folder.name} || [ $? = 1 ]"  # 1: something breaks, as is meant
    report = WORK / "upgrade.txt"
    run("sh", "-c", command, into=report)
    expected = f"{size // 10:,} places · {size // 100:,} breaks, {size // 100:,} mended"
    if expected not in report.read_text():
        sys.exit(f"bench: not '{expected}': {report.read_text()[:200]}")
    wall = row(size, "upgrade", timed(lambda: run("sh", "-c", command), 5))
    lines.append(_most(f"llmaz upgrade of every tenth of {size:,} / {size:,} fresh", wall / new, 3))


FACTS = """\
  facts:
    weightsGiB: 15.3
    contextLength: 131072
    attention: {layers: 36, heads: 32, kvHeads: 8, headDim: 128}
"""


def fits(size: int, lines: list[Line]) -> None:
    """Renders a corpus whose models have facts, without and with the type of their accelerators, by which it is worked
    out whether they fit, in turns, and adds the ratio to `lines`.
    """
    flavors = {"no type": "- name: a100\n", "type": "- name: a100\n        accelerator: a100-80g\n"}
    costs: dict[str, list[Cost]] = {name: [] for name in flavors}
    for name, flavor in flavors.items():
        fresh(f"fit-{name}")
        shutil.copytree(WORK / f"in-{size}", WORK / f"fit-{name}")
        for path in (WORK / f"fit-{name}").glob("team-*/*.yaml"):
            path.write_text(path.read_text().replace("---\n", f"{FACTS}---\n", 1).replace("- name: a100\n", flavor))
    for _ in range(15):
        for name, samples in costs.items():
            fresh("out-fit", WORK / f"fit-{name}")
            samples.append(cost([*LLMAZ, "render", f"fit-{name}", "-o", "out-fit"]))
    cpu = {name: statistics.median(sample.cpu for sample in samples) for name, samples in costs.items()}
    for name, samples in costs.items():
        row(size, name, Timing(statistics.median(sample.wall for sample in samples), cpu[name]))
    lines.append(_most(f"{size:,} fresh, asked whether they fit / not, CPU", cpu["type"] / cpu["no type"], 1.03))


DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: app-{i}, namespace: team-{team}}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: app-{i}}}}}
  template:
    metadata: {{labels: {{app: app-{i}}}}}
    spec:
      enableServiceLinks: false
      containers:
        - name: engine
          image: {image}
          args: [--model=org/model-{i}, --served-model-name, model-{i}, --max-model-len, "{length}", -tp=2]
          ports: [{{name: http, containerPort: 8000}}]
          resources: {{limits: {{nvidia.com/gpu: 2, memory: 64Gi}}, requests: {{cpu: "4", memory: 64Gi}}}}
          volumeMounts: [{{name: shm, mountPath: /dev/shm}}]
          lifecycle: {{preStop: {{sleep: {{seconds: 5}}}}}}
      volumes: [{{name: shm, emptyDir: {{medium: Memory}}}}]
"""


def engines(size: int, lines: list[Line]) -> None:
    """Checks Deployments that run an engine, of ten versions, and the same with an image that runs none, in turns, and
    adds the ratio to `lines`.
    """
    images = {"engine": "vllm/vllm-openai:v0.{minor}.0", "no engine": "registry.example/own:v0.{minor}.0"}
    costs: dict[str, list[Cost]] = {name: [] for name in images}
    for name, image in images.items():
        fresh(f"check-{name}")
        (WORK / f"check-{name}").mkdir()
        for i in range(size):
            text = DEPLOYMENT.format(i=i, team=i % NAMESPACES, length=4096 + i, image=image.format(minor=20 + i % 10))
            (WORK / f"check-{name}" / f"app-{i}.yaml").write_text(text)
    for _ in range(11):
        for name, samples in costs.items():
            samples.append(cost([*LLMAZ, "check", f"check-{name}"]))
    cpu = {name: statistics.median(sample.cpu for sample in samples) for name, samples in costs.items()}
    for name, samples in costs.items():
        row(size, name, Timing(statistics.median(sample.wall for sample in samples), cpu[name]))
    lines.append(
        _most(f"check of {size:,} Deployments with an engine / without, CPU", cpu["engine"] / cpu["no engine"], 2)
    )


SERVICE = """\
---
apiVersion: v1
kind: Service
metadata: {{name: app-{i}, namespace: team-{team}}}
spec: {{selector: {{app: app-{i}}}, ports: [{{name: http, port: 80, targetPort: 8000}}]}}
"""


def adopted(few: int, many: int, lines: list[Line]) -> None:
    """Adopts Deployments that run an engine with a Service each, few and many of them in turns, and adds to `lines` how
    the time grows, and how long the report of many is.
    """
    commands: dict[int, list[str]] = {}
    for size in (few, many):
        texts = []
        for i in range(size):
            place = {"i": i, "team": i % NAMESPACES}
            deployment = DEPLOYMENT.format(**place, length=4096 + i, image="vllm/vllm-openai:v0.33.0")
            texts.append(deployment + SERVICE.format(**place))
        (WORK / f"adopt-{size}.yaml").write_text("---\n".join(texts))
        commands[size] = [*LLMAZ, "adopt", f"adopt-{size}.yaml", "-o", f"adopted-{size}"]
    costs: dict[int, list[Cost]] = {few: [], many: []}
    for _ in range(3):
        for size, samples in costs.items():
            fresh(f"adopted-{size}")
            samples.append(cost(commands[size]))
    for size, samples in costs.items():
        wall, cpu = (statistics.median(getattr(sample, name) for sample in samples) for name in ("wall", "cpu"))
        row(size, "adopt", Timing(wall, cpu))
    user = {size: statistics.median(sample.user for sample in samples) for size, samples in costs.items()}
    lines.append(_most(f"adopt of {many:,} Deployments / {few:,}, user CPU", user[many] / user[few], many / few * 1.1))
    fresh(f"adopted-{many}")
    report = WORK / "adopt.txt"
    length = (len(run(*commands[many], into=report).encode()) + report.stat().st_size) / 1e6
    lines.append(Line(f"text of adopt of {many:,} Deployments, MB", length, "<= 1", length <= 1))


def corpus(size: int, mixed: bool = False) -> Path:
    folder = WORK / f"in-{size}"
    fresh(folder.name)
    folder.mkdir(parents=True)
    (folder / "llmaz.yaml").write_text(config())
    for i in range(size):
        model = numbered_model(i, mixed)
        path = folder / model.namespace / f"{model.app}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source(model) + (f"---\n{model_route(model)}" if model.other else ""))
    return folder


class Timing(NamedTuple):
    wall: float
    cpu: float


def timed(action: Callable[[], object], runs: int, before: Callable[[], object] = lambda: None) -> Timing:
    """Median wall time and median CPU time (ours and our children's) of an action, in seconds."""
    walls, cpus = [], []
    for _ in range(runs):
        before()
        start, used = time.perf_counter(), sum(os.times()[:4])
        action()
        walls.append(time.perf_counter() - start)
        cpus.append(sum(os.times()[:4]) - used)
    return Timing(statistics.median(walls), statistics.median(cpus))


def run(*command: str, cwd: Path | None = None, into: Path | None = None) -> str:
    """What the command prints on standard error, which is read while it runs: a pipe that is full would stop it."""
    with open(into or os.devnull, "wb") as out:
        done = subprocess.run(
            command, cwd=cwd or WORK, stdout=out, stderr=subprocess.PIPE, text=True, check=False, env=ENVIRONMENT
        )
    if done.returncode:
        sys.exit(f"bench: {' '.join(command)} ended with exit status {done.returncode}:\n{done.stderr[-2_000:]}")
    return done.stderr


def render(size: int) -> None:
    run(*LLMAZ, "render", f"in-{size}", "-o", f"out-{size}")


def fresh(folder: str, beside: Path | None = None) -> None:
    """Moves a folder away, and has what lies in another one in memory."""
    if (WORK / folder).exists():
        (WORK / folder).rename(WORK / f"old-{next(_OLD)}")
    os.sync()
    for path in beside.rglob("*.yaml") if beside else ():
        path.read_bytes()


def files(folder: Path) -> list[tuple[str, bytes]]:
    return [(str(path.relative_to(folder)), path.read_bytes()) for path in sorted(folder.rglob("*.yaml"))]


def plain_write(content: list[tuple[str, bytes]], folder: Path) -> None:
    folders = set()
    for name, data in content:
        path = f"{folder}/{name}"
        if (parent := os.path.dirname(path)) not in folders:
            os.makedirs(parent, exist_ok=True)
            folders.add(parent)
        with open(path, "wb") as file:
            file.write(data)


def plain_read(folder: Path, names: list[str]) -> int:
    total = 0
    for name in names:
        with open(f"{folder}/{name}", "rb") as file:
            total += len(file.read())
    return total


def _maps(value: Any) -> Iterator[str]:
    """Every map in it that is not empty, as text."""
    if isinstance(value, dict) and value:
        yield json.dumps(value)
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _maps(child)


def _interned(value: Any, often: Mapping[str, int], known: dict[str, yamlio.SharedMap]) -> Any:
    """The value, each map that occurs more than once being one whose text is kept, as where the renderer shares it."""
    if isinstance(value, list):
        return [_interned(child, often, known) for child in value]
    if not isinstance(value, dict) or not value:
        return value
    interned, text = {key: _interned(child, often, known) for key, child in value.items()}, json.dumps(value)
    return known.setdefault(text, yamlio.SharedMap(interned)) if often[text] > 1 else interned


def floor(size: int) -> tuple[Callable[[], None], Callable[[], None]]:
    """What no renderer of ours can do without, on two processes that are there already: the inputs read and held
    against their schemas, the finished objects held against theirs, put into YAML and written. Nothing is decided. The
    second function makes ready for the first.
    """
    paths = [path for path in sorted((WORK / f"in-{size}").rglob("*.yaml")) if path.name != "llmaz.yaml"]
    parsed = {
        name: [yaml.load(part, Loader=yaml.CSafeLoader) for part in data.decode().split("\n---\n")]
        for name, data in files(WORK / f"out-{size}")
    }
    often = Counter(text for bodies in parsed.values() for body in bodies for text in _maps(body))
    known: dict[str, yamlio.SharedMap] = {}
    outputs = [(f"{WORK}/floor/{name}", _interned(bodies, often, known)) for name, bodies in parsed.items()]

    def ready() -> None:
        fresh("floor", WORK / f"in-{size}")
        for path, _ in outputs:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        for shared_map in known.values():
            shared_map.texts.clear()

    def half(first: int) -> None:
        for source in paths[first::2]:
            for document in yamlio.parse(str(source), source.read_bytes())[0]:
                schema_validation.is_valid(f"input/{document.value['kind'].lower()}", document.value)
        for path, bodies in outputs[first::2]:
            for body in bodies:
                group, _, version = body["apiVersion"].rpartition("/")
                schema_validation.is_valid(f"output/{group or 'core'}/{body['kind'].lower()}_{version}", body)
            with open(path, "wb") as file:
                file.write("---\n".join(map(yamlio.dump, bodies)).encode())

    def run() -> None:
        child = os.fork()
        if not child:
            half(1)
            os._exit(0)
        half(0)
        os.waitpid(child, 0)

    return run, ready


def peak_memory(size: int) -> float:
    """The most memory that the program and its workers hold together, in MB (proportional set size, polled)."""
    process = subprocess.Popen(
        [*LLMAZ, "render", f"in-{size}", "-o", f"out-{size}"], cwd=WORK, stderr=subprocess.DEVNULL
    )
    peak = 0.0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.is_set():
            peak = max(peak, sum(_pss(pid) for pid in _tree(process.pid)))
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    process.wait()
    done.set()
    watcher.join()
    return peak / 1000


def _tree(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(descendant for child in children for descendant in _tree(int(child)))]


def _pss(pid: int) -> float:
    try:
        match = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    except OSError:
        return 0.0
    return float(match[1]) * 1.024 if match else 0.0


# Stand-ins that survive rendering, and what a chart writes in their place.
_STANDS = {
    "zzapp": "{{ .app }}",
    "zzother": "{{ .other }}",
    "zzsecond": '{{ .other | replace "chat" "qwen3" }}',
    "zznamespace": "{{ .namespace }}",
    "zzmodel": "{{ .model }}",
    "zzorg/zzrepo": "{{ .repo }}",
    "zzorg--zzrepo": '{{ .repo | replace "/" "--" }}',
    "zzrevision": "{{ .revision }}",
    '"77777"': "{{ .length | quote }}",
    "77777Gi": "{{ .memory }}",
    "777": "{{ .replicas }}",
}


def shaped(text: str, beside: list[str], condition: str) -> str:
    """What is rendered of these stand-ins, with others beside them in the tree, as a part of a template."""
    folder = WORK / "shape"
    fresh(folder.name)
    folder.mkdir()
    (folder / "llmaz.yaml").write_text(config())
    (folder / "shape.yaml").write_text(text)
    (folder / "beside.yaml").write_text("---\n".join(beside))
    command = [*LLMAZ, "render", str(folder / "shape.yaml"), "--stdout"]
    rendered = subprocess.run(command, capture_output=True, text=True, check=True, cwd=WORK).stdout
    rendered = "\n".join(line for line in rendered.splitlines() if not line.startswith("#"))
    for stand, instead in _STANDS.items():
        rendered = rendered.replace(stand, instead)
    return f"{{{{- if {condition} }}}}\n---\n{rendered}\n{{{{- end }}}}"


def chart(size: int, mixed: bool = False) -> Path:
    """One chart whose one template loops over a values file; the template is our own output with stand-ins replaced."""
    folder = WORK / "chart"
    fresh(folder.name)
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: bench\nversion: 0.1.0\n")
    stand = Model(
        app="zzapp",
        namespace="zznamespace",
        model="zzmodel",
        repo="zzorg/zzrepo",
        revision="zzrevision",
        length="77777",
        memory="77777Gi",
        gpus=1,
        elastic=False,
        replicas=777,
    )
    route, other = stand._replace(other="zzother"), stand._replace(app="zzother", model="zzsecond")
    parts = []
    ways = ("route", "pool", "over") if mixed else ("route",)
    for gpus, elastic, reached in itertools.product((1, 4), (True, False), ways):
        shape = stand._replace(gpus=gpus, elastic=elastic, reached=reached, replicas=776 if elastic else 777)
        words = f'(eq (int .gpus) {gpus}) (eq .elastic {str(elastic).lower()}) (eq .reached "{reached}")'
        beside = [model_route(route), source(other)] if reached == "over" else []
        parts.append(shaped(source(shape), beside, f"and {words}"))
    if mixed:
        parts.append(shaped(model_route(route), [source(stand), source(other)], '(eq .reached "over")'))
    (folder / "templates" / "all.yaml").write_text(
        "{{- range .Values.models }}\n" + "\n".join(parts) + "\n{{- end }}\n"
    )
    values = []
    for i in range(size):
        entry = numbered_model(i, mixed)._asdict()
        values.append({**entry, "replicas": entry["replicas"] + 1 if entry["elastic"] else entry["replicas"]})
    (folder / "values.yaml").write_text(yaml.dump({"models": values}, Dumper=yaml.CSafeDumper))
    return folder


def objects(text: str) -> dict[tuple[str, str, str], Any]:
    docs = [doc for doc in yaml.load_all(text, Loader=yaml.CSafeLoader) if doc]
    return {(doc["kind"], doc["metadata"]["namespace"], doc["metadata"]["name"]): doc for doc in docs}


def same_as_helm(helm: str, size: int, mixed: bool = False) -> None:
    chart(size, mixed)
    theirs = objects(
        subprocess.run(
            [helm, "template", "bench", "chart"], cwd=WORK, capture_output=True, text=True, check=True
        ).stdout
    )
    ours = objects("\n---\n".join(path.read_text() for path in (WORK / f"out-{size}").rglob("*.yaml")))
    if theirs != ours:
        different = [key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
        sys.exit(f"bench: helm's manifests are not ours: {sorted(different)[:3]}")


def kustomization(size: int) -> Path:
    folder = WORK / "kustomize"
    fresh(folder.name)
    shutil.copytree(WORK / f"out-{size}", folder)
    resources = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.yaml"))
    (folder / "kustomization.yaml").write_text(yaml.dump({"resources": resources}))
    return folder


def changed(size: int) -> None:
    """The corpus in two commits, of which the second changes one model."""
    folder, model = corpus(size), numbered_model(7)
    who = ("-c", "user.name=bench", "-c", "user.email=bench@example.com")
    run("git", "init", "-q", cwd=folder)
    for text in (source(model), source(model).replace("value: INFO", "value: DEBUG")):
        (folder / model.namespace / f"{model.app}.yaml").write_text(text)
        run("git", "add", "-A", cwd=folder)
        run("git", *who, "commit", "-q", "-m", "bench", cwd=folder)


class Line(NamedTuple):
    what: str
    ratio: float
    target: str
    met: bool


def row(size: int, what: str, timing: Timing) -> float:
    """Prints a line of the table; the wall time, in seconds."""
    print(f"{size:>8,}  {what:<10} {timing.wall:8.3f} {timing.cpu:8.3f} {timing.wall / size * 1e6:9.0f}", flush=True)
    return timing.wall


def measured(size: int, helm: str, kustomize: str, lines: list[Line], mixed: bool = False) -> float:
    """Renders a corpus beside its peers, adds the ratios to `lines`; the wall time of a fresh run, in seconds."""
    inputs, out = corpus(size, mixed), f"out-{size}"
    runs = {10: 15, 1_000: 9}.get(size, 5)
    fresh(out)
    render(size)
    what = "1,000 mixed" if mixed else f"{size:,}"
    new = row(size, "mixed" if mixed else "fresh", timed(lambda: render(size), runs, lambda: fresh(out, inputs)))
    unchanged = row(size, "unchanged", timed(lambda: render(size), runs))
    content, copy = files(WORK / out), WORK / "copy"
    names = [name for name, _ in content]
    write = row(size, "write", timed(lambda: plain_write(content, copy), runs, lambda: fresh("copy")))
    read = row(size, "read", timed(lambda: plain_read(copy, names), runs))
    if size == 1_000 and not mixed:
        run_floor, ready = floor(size)
        row(size, "floor", timed(run_floor, runs, ready))
        summed = row(size, "fleet", timed(lambda: run(*LLMAZ, "fleet", str(inputs), "--format", "json"), runs))
        lines.append(_most(f"llmaz fleet / {what} fresh", summed / new, 1))
        upgraded(size, new, lines)
        loud(size, lines)
        judged(size, lines)
        engines(size, lines)
        adopted(500, 3_000, lines)
        fits(size, lines)
    if size == 10_000:
        print(f"{'':>10}fresh / plain write {new / write:.2f}, unchanged / plain read {unchanged / read:.2f}")
        print(f"{'':>10}{len(content):,} files, {sum(len(data) for _, data in content) / 1e6:.1f} MB")
        return new
    if size == 10 or mixed:
        same_as_helm(helm, size, mixed)
    chart(size, mixed)
    peer = row(size, "helm", timed(lambda: run(helm, "template", "bench", "chart"), runs))
    if size == 10:
        lines.append(_most("10 fresh / helm template", new / peer, 2))
        return new
    lines.append(_least(f"helm template / {what} fresh", peer / new, 2.5))
    if kustomize:
        kustomization(size)
        peer = row(size, "kustomize", timed(lambda: run(kustomize, "build", "kustomize"), 1))
        lines.append(_least(f"kustomize build / {what} fresh", peer / new, 100))
    if not mixed:
        changed(size)
        two = row(size, "diff", timed(lambda: run(*LLMAZ, "diff", "HEAD~1", cwd=WORK / f"in-{size}"), runs))
        lines.append(_most(f"llmaz diff HEAD~1, one of {what} changed / {what} fresh", two / new, 1))
    return new


class Cost(NamedTuple):
    """What one run took, in seconds; `cpu` of all its processes."""

    wall: float
    cpu: float
    user: float  # the part of `cpu` that is outside of the kernel


def cost(command: Sequence[str]) -> Cost:
    """What a command takes, with what it starts."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run(*command)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return Cost(wall, user + system, user)


def installed(commit: str) -> list[str]:
    """The program of a commit, in a checkout and an environment of its own."""
    folder = WORK.with_name(f"against-{commit}")
    if not folder.exists():
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files_of_commit:
            files_of_commit.extractall(folder, filter="fully_trusted")  # noqa: S202 - our own
    python = folder / ".venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--editable", folder], check=True)
    return [str(python.with_name("llmaz"))]


def compare(commit: str, sizes: Sequence[int]) -> None:
    """Prints what a run costs beside one of the commit: minima of rounds in which both take turns."""
    programs = {commit: installed(commit), "now": LLMAZ}
    print(f"{'models':>8}  {'':<10} {'wall s':>8} {'CPU s':>8} {'CPU ratio':>9} {'target':>7}")
    for size in (0, *sizes):
        if size:
            corpus(size)
        costs: dict[str, list[Cost]] = {name: [] for name in programs}
        for round_ in range({0: 20, 10: 15}.get(size, 5) + 1):  # the first writes bytecode, and does not count
            for number, (name, program) in enumerate(programs.items()):
                if size:
                    fresh(f"out-{number}", WORK / f"in-{size}")
                sample = cost(
                    [*program, "render", f"in-{size}", "-o", f"out-{number}"] if size else [*program, "--version"]
                )
                costs[name] += [sample] if round_ else []
        least = {name: Cost(*map(min, zip(*all_, strict=True))) for name, all_ in costs.items()}
        what, bound = f"{size:,}" if size else "--version", 1.35 if size else 1.6
        for name, best in least.items():
            ratio = best.cpu / least[commit].cpu
            target = f"<= {bound:g}{'' if ratio <= bound else '   missed'}" if name == "now" else ""
            print(f"{what:>9}  {name[:9]:<9} {best.wall:8.3f} {best.cpu:8.3f} {ratio:9.3f} {target:>7}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out 10,000 models and kustomize")
    parser.add_argument("--against", metavar="COMMIT", help="compare with this commit only, in turns")
    options = parser.parse_args()
    sizes = SIZES[:2] if options.quick else SIZES
    helm, kustomize = (str(ROOT / ".tools" / name) for name in ("helm", "kustomize"))
    before = WORK.with_name("bench-before")
    if WORK.exists():
        shutil.rmtree(before, ignore_errors=True)
        WORK.rename(before)
    WORK.mkdir(parents=True)
    if options.against:
        compare(options.against, sizes)
        for path in (before, WORK):
            shutil.rmtree(path, ignore_errors=True)
        return
    lines: list[Line] = []
    at_new: dict[int, float] = {}
    print(f"{'models':>8}  {'':<10} {'wall s':>8} {'CPU s':>8} {'µs/model':>9}")
    for size in sizes:
        at_new[size] = measured(size, helm, "" if options.quick else kustomize, lines)
        if size == 1_000:
            measured(size, helm, "" if options.quick else kustomize, lines, mixed=True)
    if 10_000 in at_new:
        lines.append(_most("10,000 fresh / 1,000 fresh", at_new[10_000] / at_new[1_000], 11))
        memory = peak_memory(10_000)
        lines.append(Line("peak memory at 10,000, MB", memory, "<= 400", memory <= 400))
    version = timed(lambda: run(*LLMAZ, "--version"), 25)
    nothing = timed(lambda: run(sys.executable, "-c", "pass"), 25)
    print(f"{'':>10}llmaz --version {version.wall * 1000:.0f} ms, python -c pass {nothing.wall * 1000:.0f} ms")
    lines.append(_most("llmaz --version / python -c pass", version.wall / nothing.wall, 4.5))
    print(f"\n{'ratio':<58} {'measured':>9} {'target':>8}")
    for line in lines:
        print(f"{line.what:<58} {line.ratio:9.2f} {line.target:>8}{'' if line.met else '   missed'}")
    shutil.rmtree(before, ignore_errors=True)
    for path in WORK.glob("old-*"):
        shutil.rmtree(path)


def _most(what: str, ratio: float, bound: float) -> Line:
    return Line(what, ratio, f"<= {bound:g}", ratio <= bound)


def _least(what: str, ratio: float, bound: float) -> Line:
    return Line(what, ratio, f">= {bound:g}", ratio >= bound)


if __name__ == "__main__":
    main()
