"""A server that somebody else runs is taken over while clients ask: `llmaz adopt`, and the steps of `llmaz cutover`.

Both pods run the engine itself. In the place of a Service, connections go to pods that are ready, by the selector that
it has: that of the source, and once the new pod is ready, that of the file in `later/`.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from tests.apiserver.server import CannotJudge
from tests.engines.clients import Client, Completion
from tests.engines.kubelet import MAIN, Body, Pod
from tests.engines.rendering import Workload, workload_in
from tests.engines.trial import PATIENCE, Bench, Callers, Result, faults, long_chat
from tests.paths import ROOT

ANSWER = 512  # tokens of a stream
CALLERS = 4
MOMENT = 2.0  # seconds in which several streams end
WEIGHTS = "/workspace/models/small.gguf"
SOURCE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: chat, namespace: llm}}
spec:
  replicas: 1
  selector: {{matchLabels: {{app: chat}}}}
  template:
    metadata: {{labels: {{app: chat}}}}
    spec:
      containers:
        - name: server
          image: ghcr.io/ggml-org/llama.cpp:server-{build}
          args: [--hf-repo, org/small, --hf-file, small.gguf, --alias, chat, --port, "8000", --ctx-size, "8192"]
          ports: [{{name: http, containerPort: 8000}}]
          readinessProbe: {{httpGet: {{path: /health, port: 8000}}, periodSeconds: 1}}
---
apiVersion: v1
kind: Service
metadata: {{name: chat, namespace: llm}}
spec:
  selector: {{app: chat}}
  ports: [{{name: http, port: 80, targetPort: 8000}}]
"""


class ServiceProxy:
    """What stands for a Service: it leads each connection to a pod of its selector that is ready, in turn."""

    def __init__(self, selector: Mapping[str, str]) -> None:
        self.selector = selector
        self.pods: list[tuple[Mapping[str, str], Pod]] = []
        self._turn = 0

    def connect(self, timeout: float) -> socket.socket:
        """A connection to the next pod. OSError where none is ready."""
        ready = [
            pod
            for labels, pod in self.pods
            if self.selector.items() <= labels.items() and pod.ready and not pod.terminating.is_set()
        ]
        if not ready:
            raise ConnectionRefusedError("no endpoint is ready")
        self._turn += 1
        return ready[self._turn % len(ready)].connect(timeout)


def taken_over(bench: Bench) -> Iterator[Result]:
    """The old pod ends after the Service has moved and the last answer from it has ended: no request fails. Ended at
    once, it cuts answers.
    """
    folder = bench.new_folder("takeover")
    (folder / "running.yaml").write_text(SOURCE.format(build=bench.version))
    run(folder, "adopt", "running.yaml", "-o", "tree")
    workload = workload_in("chat-llmaz", run(folder, "render", "--stdout", "tree"))
    script = run(folder, "cutover", "running.yaml", "--", "tree")
    order = [script.find(words) for words in ("kubectl rollout status", "kubectl patch services", "kubectl delete")]
    yield Result("steps", "" if sorted(order) == order and order[0] > 0 else script)
    (later,) = (yaml.safe_load(path.read_text("utf-8")) for path in (folder / "tree" / "later").glob("*.yaml"))
    source, service = yaml.safe_load_all((folder / "running.yaml").read_text("utf-8"))
    selectors = service["spec"]["selector"], later["spec"]["selector"]
    move = take_over(bench, source, workload, selectors, wait=2 * MOMENT)  # the longest answer has ended then
    wrong = [faults(move.completions), "" if move.before else "no stream went to the old pod"]
    figures = f"{len(move.completions)} streams, {move.before} before the new pod was ready"
    yield Result("no request fails", "; ".join(filter(None, wrong)), figures)
    hasty = take_over(bench, source, workload, selectors, wait=0)
    cut = faults(hasty.completions)
    yield Result("without the wait answers are cut", "" if cut else "none is", cut)


class Move(NamedTuple):
    """What clients got. `before`: how many streams had ended when the new pod was ready."""

    completions: Sequence[Completion]
    before: int


def take_over(
    bench: Bench, source: Body, workload: Workload, selectors: Sequence[Mapping[str, str]], *, wait: float
) -> Move:
    """Moves the Service from one selector to the other when the new pod is ready, and so many seconds later ends the
    old pod, while clients ask all the time.
    """
    proxy = ServiceProxy(selectors[0])
    with bench.pod(source_workload(source), [(WEIGHTS, bench.models["small"])]) as old_pod:
        old_pod.wait_ready(PATIENCE)
        proxy.pods.append((source["spec"]["template"]["metadata"]["labels"], old_pod))
        calling = Callers([Client(proxy.connect)] * CALLERS, long_chat("chat", ANSWER))
        with bench.pod(workload, bench.weights(workload)) as new_pod:
            proxy.pods.append((workload.template["metadata"]["labels"], new_pod))
            new_pod.wait_ready(PATIENCE)
            before = len(calling.completions)
            time.sleep(MOMENT)
            proxy.selector = selectors[1]
            time.sleep(wait)
            old_pod.end()
            time.sleep(MOMENT)
            calling.stop_after(0)
            calling.wait()
    return Move(calling.completions, before)


def source_workload(deployment: Body) -> Workload:
    """The pod of the source with the file of the model in it, which it would load from a hub."""
    template = yaml.safe_load(yaml.safe_dump(deployment["spec"]["template"]))
    spec = template["spec"]
    (container,) = spec["containers"]
    args: Sequence[str] = container["args"]
    if args[:4] != ["--hf-repo", "org/small", "--hf-file", "small.gguf"]:
        raise CannotJudge(f"the source has other options: {args}")
    mount = {"name": "models", "mountPath": str(Path(WEIGHTS).parent)}
    command = ["/app/llama-server", "--model", WEIGHTS, *args[4:]]
    container |= {"name": MAIN, "command": command, "args": [], "volumeMounts": [mount]}
    spec["volumes"] = [{"name": "models", "emptyDir": {}}]
    spec["initContainers"] = [{"name": "model-loader", "image": "loader", "volumeMounts": [mount]}]
    return Workload("chat", "chat", "", template, [])


def run(folder: Path, *words: str) -> str:
    """What `llmaz` prints in the folder. CannotJudge when it fails."""
    command = [sys.executable, "-m", "renderer", *words]
    around = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True)
    if done.returncode:
        raise CannotJudge(f"llmaz {' '.join(words)}: {done.stderr}")
    return done.stdout
