"""Files of several models that pods mount from ConfigMaps: how they are read, and where their faults are told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from renderer.engines.models_file import read_models

if TYPE_CHECKING:
    from tests.conftest import Llmaz

POD = """---
apiVersion: v1
kind: Pod
metadata: {{name: chat, namespace: llm, labels: {{app: chat}}}}
spec:
  containers:
    - name: engine
      image: {image}
      args: [--host, 0.0.0.0{args}]
      env: [{env}]
      readinessProbe: {{httpGet: {{path: /health, port: 8080}}}}
      volumeMounts: [{mounts}]
  volumes:
    - {{name: config, configMap: {{name: chat{items}}}}}
    - {{name: models, persistentVolumeClaim: {{claimName: models}}}}
"""
USUAL: Mapping[str, str] = {
    "image": "ghcr.io/ggml-org/llama.cpp:server-b11434",
    "args": ", --models-preset, /etc/models/models.ini",
    "env": "",
    "mounts": "{name: config, mountPath: /etc/models}, {name: models, mountPath: /models}",
    "items": "",
}
CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: chat, namespace: llm}\ndata:\n  models.ini: "
BLOCK = "|\n    [chat]\n    model = /models/chat.gguf\n    ctx-sise = 4096  # a comment\n"


def told(llmaz: Llmaz, tmp_path: Path, text: str, **fields: str) -> list[str]:
    """Line, column and code of what is told of a pod with this file of models."""
    file = tmp_path / "all.yaml"
    file.write_text(CONFIG_MAP + text + POD.format(**{**USUAL, **fields}))
    done = llmaz("check", "--strict", str(file))
    assert "Traceback" not in done.err
    return [" ".join(match) for match in re.findall(r"all\.yaml:(\d+:\d+): .*\[(\w\d{3})\]$", done.err, re.MULTILINE)]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"args": "", "env": "{name: LLAMA_ARG_MODELS_PRESET, value: /etc/models/models.ini}"},
        {"args": ", --models-preset, $(FILE)", "env": "{name: FILE, value: /etc/models/models.ini}"},
        {"mounts": "{name: config, mountPath: /etc/models/models.ini, subPath: models.ini}"},
        {"args": ", --models-preset, /etc/models/a.ini", "items": ", items: [{key: models.ini, path: a.ini}]"},
    ],
)
def test_a_file_is_found_wherever_it_is_mounted(llmaz: Llmaz, tmp_path: Path, fields: Mapping[str, str]) -> None:
    assert "8:5 E430" in told(llmaz, tmp_path, BLOCK, **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"args": ", --models-preset, /etc/models/models.ini, --model, /models/chat.gguf"},
        {"env": "{name: LLAMA_ARG_HF_REPO, value: org/chat}"},
        {"args": ", --models-preset, /elsewhere/models.ini"},
        {"args": ", --models-preset, /models/models.ini"},
    ],
)
def test_a_file_that_the_server_does_not_read_is_not_judged(
    llmaz: Llmaz, tmp_path: Path, fields: Mapping[str, str]
) -> None:
    assert told(llmaz, tmp_path, BLOCK, **fields) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (BLOCK, "8:5"),
        ("|2\n      \n    [chat]\n    ctx-sise = 4096\n", "8:5"),
        ("|-\n      # first\n      [chat]\n      ctx-sise = 4096", "8:7"),
        ('"[chat]\\nctx-sise = 4096\\n"\n', "5:15"),
        (">\n    [chat]\n\n    ctx-sise = 4096\n", "5:15"),
    ],
)
def test_places_are_those_of_the_lines_in_the_block(llmaz: Llmaz, tmp_path: Path, text: str, place: str) -> None:
    assert f"{place} E430" in told(llmaz, tmp_path, text if text.endswith("\n") else f"{text}\n")


@pytest.mark.parametrize(
    ("lines", "codes"),
    [
        (["c = 4096", "t = 4", "flash-attn = on", "jinja = 1", "no-warmup = true", "stop-timeout = 5"], []),
        (["LLAMA_ARG_CTX_SIZE = 4096", "dedup-cache-models = 1", "load-on-startup = enabled"], []),
        (["ctx_size = 4096"], ["E430"]),
        (["mlock = true"], ["E431"]),
        (["parallel = four"], ["E441"]),
        (["ctx-size = 16k"], ["W442"]),
        (["jinja = yes"], ["W442"]),
        (["load-on-startup = yes"], ["W442"]),
        (["pooling = middle"], ["E440"]),
        (["chat-template-kwargs = {'a': 1}"], ["E441"]),
        (["api-key = one"], ["W933"]),
        (["jinja = true", "no-jinja = true"], ["W933"]),
        (["c = 4096", "c = 8192"], ["W933"]),
        (["alias = chat"], []),
    ],
)
def test_keys_are_judged_as_options(llmaz: Llmaz, tmp_path: Path, lines: list[str], codes: list[str]) -> None:
    text = "".join(f"    {line}\n" for line in ["[chat]", "model = /models/chat.gguf", *lines])
    assert [line.split()[1] for line in told(llmaz, tmp_path, f"|\n{text}")] == codes


def test_what_all_share_is_told_once(llmaz: Llmaz, tmp_path: Path) -> None:
    text = "|\n    [*]\n    ctx-sise = 1\n    [a]\n    model = /models/a.gguf\n    [b]\n    model = /models/b.gguf\n"
    assert told(llmaz, tmp_path, text) == ["7:5 E430"]


def test_a_server_without_arguments_reads_no_file(llmaz: Llmaz, tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(
        POD.format(**USUAL).replace("      args: [--host, 0.0.0.0, --models-preset", "      args: []  # [")
    )
    assert llmaz("check", "--strict", str(tmp_path)).code == 0


def test_an_option_of_the_command_line_that_says_the_same_is_not_told(llmaz: Llmaz, tmp_path: Path) -> None:
    text = "|\n    [chat]\n    model = /models/chat.gguf\n    ctx-size = 4096\n"
    args = USUAL["args"]
    assert told(llmaz, tmp_path, text, args=f"{args}, -c, '4096'") == []
    assert told(llmaz, tmp_path, text, args=f"{args}, -c, '8192'") == ["8:5 W933"]


def test_options_of_an_unknown_version_are_not_judged(llmaz: Llmaz, tmp_path: Path) -> None:
    text = "|\n    [chat]\n    model = /models/chat.gguf\n    ctx-sise = 4096\n    c = 1\n    c = 2\n"
    assert told(llmaz, tmp_path, text, image="ghcr.io/ggml-org/llama.cpp:server") == ["9:5 W933"]


POOL = """---
apiVersion: inference.networking.k8s.io/v1
kind: InferencePool
metadata: {{name: chat, namespace: llm}}
spec:
  selector: {{matchLabels: {{app: chat}}}}
  targetPorts: [{{number: 8080}}]
  endpointPickerRef: {{name: picker, port: {{number: 9002}}}}
---
apiVersion: aigateway.envoyproxy.io/v1beta1
kind: AIGatewayRoute
metadata: {{name: chat, namespace: llm}}
spec:
  rules:
    - matches: [{{headers: [{{name: x-ai-eg-model, value: {name}}}]}}]
      backendRefs: [{{group: inference.networking.k8s.io, kind: InferencePool, name: chat}}]
"""
MONITOR = """---
apiVersion: monitoring.coreos.com/v1
kind: {kind}
metadata: {{name: chat, namespace: {namespace}}}
spec:
  selector: {{matchLabels: {{app: {app}}}}}
  {selected}
  {endpoints}: [{{port: http{params}}}]
---
apiVersion: v1
kind: Service
metadata: {{name: chat, namespace: llm, labels: {{app: served}}}}
spec: {{selector: {{app: chat}}, ports: [{{name: http, port: 8080}}]}}
"""
PLAIN: Mapping[str, str] = {
    "kind": "PodMonitor",
    "namespace": "llm",
    "app": "chat",
    "selected": "attachMetadata: {node: false}",
    "endpoints": "podMetricsEndpoints",
    "params": "",
}
SERVICES = {"kind": "ServiceMonitor", "app": "served", "endpoints": "endpoints"}
ONE = "|\n    [chat:8b]\n    model = /models/chat.gguf\n    alias = chat, talk\n"


def codes_beside(llmaz: Llmaz, tmp_path: Path, text: str, beside: str, **fields: str) -> list[str]:
    """The codes about the file of models and its scrapes where other objects stand beside the pod."""
    (tmp_path / "beside.yaml").write_text(beside.removeprefix("---\n"))
    (tmp_path / "all.yaml").write_text(CONFIG_MAP + text + POD.format(**{**USUAL, **fields}))
    done = llmaz("check", "--strict", str(tmp_path))
    return re.findall(r"\[(W250|W93\d)\]$", done.err, re.MULTILINE)


@pytest.mark.parametrize(("name", "codes"), [("chat", []), ("talk", []), ("chat:8B", []), ("chat:8b", ["W250"])])
def test_a_route_asks_for_a_name_of_the_file(llmaz: Llmaz, tmp_path: Path, name: str, codes: list[str]) -> None:
    told_codes = codes_beside(llmaz, tmp_path, ONE, POOL.format(name=f"'{name}'"))
    assert [code for code in told_codes if code == "W250"] == codes


@pytest.mark.parametrize(
    ("monitor", "codes"),
    [
        ({}, ["W935"]),
        ({"params": ", params: {model: [chat]}"}, ["W935"]),
        ({"params": ", params: {model: [chat], autoload: ['false']}"}, []),
        ({"params": ", path: '/metrics?model=chat&autoload=false'"}, []),
        ({"params": ", path: /health"}, []),
        ({"app": "other"}, []),
        ({"namespace": "monitoring"}, []),
        ({"namespace": "monitoring", "selected": "namespaceSelector: {any: true}"}, ["W935"]),
        ({"namespace": "monitoring", "selected": "namespaceSelector: {matchNames: [llm]}"}, ["W935"]),
        (SERVICES, ["W935"]),
        ({**SERVICES, "app": "chat"}, []),
    ],
)
def test_scrapes_name_a_model_and_load_none(
    llmaz: Llmaz, tmp_path: Path, monitor: Mapping[str, str], codes: list[str]
) -> None:
    text = ONE.replace("chat:8b", "blue")
    assert codes_beside(llmaz, tmp_path, text, MONITOR.format(**{**PLAIN, **monitor})) == codes


def test_a_server_that_loads_nothing_for_a_request_is_scraped_by_name(llmaz: Llmaz, tmp_path: Path) -> None:
    monitor = MONITOR.format(**{**PLAIN, "params": ", params: {model: [chat]}"})
    args = f"{USUAL['args']}, --no-models-autoload"
    assert codes_beside(llmaz, tmp_path, ONE.replace("chat:8b", "blue"), monitor, args=args) == []


@pytest.mark.parametrize(
    ("image", "args", "codes"),
    [
        ("b10229", ", --models-max, '1'", ["W936"]),
        ("b10229", ", --models-max, '2'", []),
        ("b10229", ", --models-max, '0'", []),
        ("b10229", "", []),
        ("b10566", ", --models-max, '1'", []),
    ],
)
def test_a_version_that_ends_models_which_answer(
    llmaz: Llmaz, tmp_path: Path, image: str, args: str, codes: list[str]
) -> None:
    text = "|\n    [a]\n    model = /models/a.gguf\n    [b]\n    model = /models/b.gguf\n"
    fields = {"image": f"ghcr.io/ggml-org/llama.cpp:server-{image}", "args": USUAL["args"] + args}
    assert [line.split()[1] for line in told(llmaz, tmp_path, text, **fields)] == codes


# As the server of b11434 reads them.
@pytest.mark.parametrize(
    ("text", "model", "pairs"),
    [
        ("[m:latest]", "m:LATEST", []),
        ("[gemma3:27b-it-q4_K_M]", "gemma3:Q4_K_M", []),
        ("[org/x-GGUF:UD-Q8_K_XL]", "org/x-GGUF:Q8_K_XL", []),
        ("[ a ] ; of all", "a ", []),
        ("[a]\nx=1;2", "a", [("x", "1")]),
        ("[a]\r\nx = a b \t# c\r\n  ; d", "a", [("x", "a b")]),
        ("[a]\nx =\nversion = 1", "a", [("x", "")]),
        ('x.y-z_1 = {"a": 1}', "default", [("x.y-z_1", '{"a": 1}')]),
    ],
)
def test_a_file_is_read_as_the_server_reads_it(text: str, model: str, pairs: list[tuple[str, str]]) -> None:
    [section] = read_models(text).sections
    assert section.model == model
    assert [(pair.key, pair.value) for pair in section.pairs] == pairs


@pytest.mark.parametrize("line", ["  x = 1", "\t[a]", "--x = 1", "x", "1x = 1", "[a", "[a] b", "[]", "= 1"])
def test_lines_that_the_server_refuses(line: str) -> None:
    assert [*read_models(f"[b]\n{line}\n").unread] == [2]
