#!/usr/bin/env python3
"""Renders presets in older versions of their engines, and asks each version's own parser for every command line.

    .venv/bin/python tests/engines/versions.py CACHE          # says what came of it
    .venv/bin/python tests/engines/versions.py CACHE --write  # and writes the table in docs/presets.md

CACHE: where scripts/make_options.py keeps the sources of releases, and the Python that runs their parsers with
stand-ins. llama.cpp's lines are held against its arg.cpp. Over several hosts both lines are asked about, the leader's
and the worker's, with LeaderWorkerSet's variables in them; of prefill and decode each role's. Not collected by pytest.
Exit status 1 where a parser does not take a line.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "presets.md"
VERSIONS = {
    "vllm": ["0.6.6.post1", "0.8.5", "0.9.2", "0.11.0", "0.11.1", "0.18.0", "0.22.0", "0.28.0", "0.33.0"],
    "sglang": ["0.4.3.post2", "0.4.6.post1", "0.5.2", "0.5.5", "0.5.10", "0.5.22", "0.5.23"],
    "llamacpp": ["b4094", "b4579", "b7079", "b8929", "b10809"],
}
OFFLOADS = {
    "KV cache": "kvCacheOffloading: {cpu: 64Gi}",
    "KV cache in files": "kvCacheOffloading: {cpu: 64Gi, evictionPolicy: lru, secondary: [{pvc: kv-cache}]}",
}
HOSTS = {  # what takes two hosts of two accelerators
    "tensor over hosts": "parallelism: {tensor: 4}",
    "pipeline over hosts": "parallelism: {tensor: 2, pipeline: 2}",
    "data over hosts": "parallelism: {data: 4, expert: true}",
    "rank ports": "parallelism: {data: 4, expert: true}",  # behind a pool
}
ROLES = dict.fromkeys(("prefill and decode", "adapters in both roles"), "disaggregation: {prefill: {}, decode: {}}")
MORE = {**OFFLOADS, **HOSTS, **ROLES, "adapters": ""}
POOLS = ("rank ports", *ROLES)  # what only a pool can do
ADAPTED = "modelClaims: {models: [{name: main}, {name: adapter, role: lora}, {name: another, role: lora}]}"
CLAIMS = {
    "speculative": "modelClaims: {models: [{name: main}, {name: draft, role: draft}]}",
    "adapters": ADAPTED,
    "adapters in both roles": ADAPTED,
}
USES = ("default", "speculative", "streaming", "tensor parallel", "skip-loader", *MORE)
MODELS = """
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: {name}}}
spec:
  familyName: small
  source: {source}
  inferenceConfig: {{flavors: [{{name: gpu, limits: {{nvidia.com/gpu: {count}}}, params: {{MAX-MODEL-LEN: "4096"}}}}]}}
---
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: draft}}
spec:
  familyName: small
  source: {draft}
---
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: adapter}}
spec:
  familyName: small
  source: {adapter}
  facts: {{adapter: {{rank: 8}}}}
---
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {{name: another}}
spec:
  familyName: small
  source: {another}
  facts: {{adapter: {{rank: 32}}}}
---
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {{name: app, annotations: {{llmaz.io/skip-model-loader: "{skips}"}}}}
spec:
  {claim}
  gateway: {{mode: "{mode}"}}
  backendRuntimeConfig: {{backendName: {engine}, version: {tag}}}
  {more}
"""


def playground(engine: str, version: str, use: str) -> str:
    """The input for one use of an engine."""
    one = ", filename: m.gguf" if engine == "llamacpp" else ""
    hub = f"{{modelHub: {{modelID: example/%s, revision: v1{one}}}}}"
    streams = use == "streaming"
    return MODELS.format(
        name="main",
        source=f"{{uri: 's3://bucket/main{'.gguf' if one else ''}'}}" if streams else hub % "main",
        draft=(hub % "draft").replace("m.gguf", "d.gguf"),
        adapter=(hub % "adapter").replace("m.gguf", "a.gguf"),
        another=(hub % "another").replace("m.gguf", "b.gguf"),
        count=2 if use in HOSTS or use == "tensor parallel" else 1,
        mode="pool" if use in POOLS else "off",
        skips=str(use in ("streaming", "skip-loader")).lower(),
        claim=CLAIMS.get(use, "modelClaim: {modelName: main}"),
        engine=engine,
        more=MORE.get(use, ""),
        tag=f"server-{version}" if engine == "llamacpp" else f"v{version}",
    )


def rendered(engine: str, version: str, use: str) -> tuple[list[list[str]], str]:
    """The command lines, commands included, of leader and worker or of each role; or nothing, and the code that refuses
    them.
    """
    yaml = __import__("yaml")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "app.yaml").write_text(playground(engine, version, use), "utf-8")
        command = [sys.executable, "-m", "renderer", "render", "--stdout", "app.yaml"]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=folder, env={"PYTHONPATH": str(ROOT)}
        )
    if done.returncode:
        codes = re.findall(r"\[(E\d+)\]", done.stderr)
        return [], ", ".join(dict.fromkeys(codes)) or done.stderr
    agree = __import__("agree")  # beside this file
    bodies = [body for body in yaml.safe_load_all(done.stdout) if body and body["kind"] == "LeaderWorkerSet"]
    if len(bodies) != (2 if use in ROLES else 1):
        raise SystemExit(f"{engine} {version}, {use}: {len(bodies)} LeaderWorkerSets")
    return [line.words for body in bodies for line in agree.container_lines(use, body["spec"])], ""


def parsed(engine: str, sources: Path) -> None:
    """In the engine's own Python: reads lines from standard input, says of each what the parser says."""
    sys.path.insert(0, str(ROOT / "scripts"))
    importlib = __import__("importlib")
    importlib.import_module("stand_ins").install(engine, sources)
    sys.modules["regex"] = re  # with it vLLM takes keys behind dots apart
    lines = json.load(sys.stdin)
    with contextlib.redirect_stdout(sys.stderr):
        parser = importlib.import_module("make_options").PARSERS[engine]()
    verdicts = []
    for line in lines:
        output = io.StringIO()
        try:
            with contextlib.redirect_stderr(output), contextlib.redirect_stdout(output):
                parser.parse_args(line)
            verdicts.append("")
        except SystemExit:
            verdicts.append(output.getvalue().strip().rpartition("\n")[2])
    sys.stdout.write(json.dumps(verdicts))


def ask_parser(engine: str, version: str, lines: Sequence[list[str]], cache: Path) -> list[str]:
    """What a version's own parser has against each line, less its command; '' for nothing."""
    sources = cache / engine / version
    if engine == "llamacpp":
        return [find_fault(line[1:], sources) for line in lines]
    starts = {"vllm": ["vllm", "serve"]}.get(engine)
    bare = []
    for line in lines:
        known = [["sglang", "serve"], ["python3", "-m", "sglang.launch_server"]] if starts is None else [starts]
        start = next((start for start in known if line[: len(start)] == start), None)
        if start is None or (start == ["sglang", "serve"] and not (sources / "sglang" / "cli" / "serve.py").exists()):
            raise SystemExit(f"{engine} {version}: there is no {' '.join(line[:3])}")
        bare.append(line[len(start) :])
    python = cache / "env" / "bin" / "python"
    done = subprocess.run(
        [python, __file__, "--parse", engine, str(sources)],
        input=json.dumps(bare),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{engine} {version}: {done.stderr[-2000:]}")
    verdicts: list[str] = json.loads(done.stdout.strip().rpartition("\n")[2])
    return verdicts


def find_fault(line: Sequence[str], sources: Path) -> str:
    """What arg.cpp has against a line of llama-server."""
    sys.path.insert(0, str(ROOT / "scripts"))
    options: Any = __import__("make_options").llamacpp_options(sources)
    arity = {name: option for option in options for name in option.names}
    i = 0
    while i < len(line):
        option = arity.get(line[i])
        if option is None:
            return f"unknown: {line[i]}"
        values = line[i + 1 : i + 1 + int(option.arity)]
        if len(values) < int(option.arity):
            return f"{line[i]} needs a value"
        if option.choices and not set(values) <= set(option.choices):
            return f"{line[i]}: {values[0]} is none of {', '.join(option.choices)}"
        i += 1 + len(values)
    return ""


def table(cache: Path, wrong: list[str]) -> Iterator[str]:
    """A row for each version: what came of each use."""
    yield f"| engine | {' | '.join(USES)} |"
    yield "|---" * (1 + len(USES)) + "|"
    for engine, versions in VERSIONS.items():
        for version in versions:
            outcomes = {use: rendered(engine, version, use) for use in USES}
            lines = [line for lines, _ in outcomes.values() for line in lines]
            verdicts = iter(ask_parser(engine, version, lines, cache))
            cells = []
            for use, (its_lines, code) in outcomes.items():
                objections = {line: verdict for line in map(" ".join, its_lines) if (verdict := next(verdicts))}
                wrong += [f"{engine} {version}, {use}: {verdict}\n    {line}" for line, verdict in objections.items()]
                codes = ", ".join(f"[{one}](errors.md#{one.lower()})" for one in code.split(", "))
                refused = next(iter(objections.values()), codes)
                cells.append("taken" if its_lines and not objections else refused)
            yield f"| {engine} {version} | {' | '.join(cells)} |"


def main(cache: str, *words: str) -> int:
    """The table, and whether any line was not taken."""
    wrong: list[str] = []
    text = "\n".join(table(Path(cache), wrong))
    sys.stdout.write(f"{text}\n")
    if "--write" in words:
        page = PAGE.read_text("utf-8")
        between = r"(<!-- versions tried -->\n).*?(<!-- /versions tried -->)"
        page = re.sub(between, lambda match: f"{match[1]}{text}\n{match[2]}", page, flags=re.DOTALL)
        PAGE.write_text(page, "utf-8")
    sys.stderr.write("".join(f"{fault}\n" for fault in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--parse"]:
        parsed(sys.argv[2], Path(sys.argv[3]))
    elif len(sys.argv) < 2:
        raise SystemExit(__doc__)
    else:
        sys.exit(main(*sys.argv[1:]))
