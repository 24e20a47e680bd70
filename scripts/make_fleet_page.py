#!/usr/bin/env python3
"""Writes a made-up fleet of so many workloads, its page and its figures: `make_fleet_page.py 1000 build/fleet` makes
build/fleet/fleet.html and build/fleet/fleet.json, which scripts/browse_fleet.mjs opens and compares.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SOURCE_URL: Final = "https://git.example/platform/models/blob/main/{file}#L{line}"
OWNERS: Final = ("search", "assistants", "support", "translation", "research", "ads", "fraud", "legal", "billing",
                 "maps", "mail", "docs", "video", "speech", "")  # fmt: skip
PRODUCTS: Final = ("chat", "summaries", "rerank", "drafts", "triage", "extract", "agents", "code")
RUNS: Final = (  # model, flavor, replicas at least and at most
    ("qwen3-8b", "h100", 1, 4),
    ("qwen3-0--6b", "l4", 2, 2),
    ("qwen3-0--6b", "l4-spot", 0, 3),
    ("qwen3-8b", "a100", 2, 6),
    ("qwen3-32b", "h100", 1, 2),
    ("qwen3-0--6b", "t4", 1, 1),
    ("qwen3-0--6b", "slice", 1, 2),
)
CONFIG: Final = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: RenderConfig
metadata: {name: config}
spec:
  namespace: llm
  fleet: {ownerLabel: team, currency: USD, perHour: {h100-80g: "2.40", a100-80g: "1.35", l4-24g: "0.70"}}
  flavors:
    h100: {limits: {nvidia.com/gpu: 1}, accelerator: h100-80g}
    a100: {limits: {nvidia.com/gpu: 1}, accelerator: a100-80g}
    l4: {limits: {nvidia.com/gpu: 1}, accelerator: l4-24g}
    l4-spot: {limits: {nvidia.com/gpu: 1}, accelerator: l4-24g, perHour: "0.215"}
    t4: {limits: {nvidia.com/gpu: 1}, accelerator: t4-16g}
    slice: {limits: {nvidia.com/mig-3g.40gb: 1}, accelerator: h100-80g}
  autoscaling:
    autoscaler: keda
    metricSource: {type: prometheus}
    keda:
      prometheus: {serverAddress: "http://prometheus:9090"}
      interceptor: {service: keda-add-ons-http-interceptor-proxy, namespace: keda}
  gateway: {mode: backend, hostnames: [models.example.com]}
"""


def owner_of(i: int) -> str:
    """Who owns a workload: the first owners have more."""
    return OWNERS[(i * 7 + i // 11) % len(OWNERS) * (i * 5 % 7) // 6]


def playground(i: int) -> str:
    """The file of one workload."""
    model, flavor, low, high = RUNS[i % len(RUNS)]
    owner = owner_of(i)
    name = f"{PRODUCTS[i % len(PRODUCTS)]}-{i:04}"
    scale = f"replicas: {low}" if low == high else f"elasticConfig: {{minReplicas: {low}, maxReplicas: {high}}}"
    labels = f", labels: {{team: {owner}}}" if owner else ""
    return f"""\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: {name}, namespace: {owner or "llm"}{labels}}}
spec:
  servedModelName: {name}
  modelClaim: {{modelName: {model}, inferenceFlavors: [{flavor}]}}
  {scale}
"""


def files(count: int) -> Iterator[tuple[str, str]]:
    """The files of the input, by path."""
    yield "llmaz.yaml", CONFIG
    for i in range(count):
        yield f"models/{owner_of(i) or 'shared'}/{i:04}.yaml", playground(i)


def make_page(count: int, folder: Path) -> None:
    """Writes input, page and figures into the folder."""
    for name, text in files(count):
        path = folder / "input" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    llmaz = [sys.executable, "-m", "renderer", "fleet"]  # installed in .venv, so it is found from any folder
    page = ["--html", "../fleet.html", "--source-url", SOURCE_URL]
    subprocess.run([*llmaz, *page], cwd=folder / "input", check=True)
    figures = subprocess.run(
        [*llmaz, "--format", "json"], cwd=folder / "input", check=True, text=True, stdout=subprocess.PIPE
    ).stdout
    (folder / "fleet.json").write_text(figures, "utf-8")


def main() -> None:
    make_page(int(sys.argv[1]), Path(sys.argv[2]).resolve())


if __name__ == "__main__":
    main()
