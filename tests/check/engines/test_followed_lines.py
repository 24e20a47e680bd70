"""Every hint about a command line that names what to write is followed word for word; then nothing is said any more."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from renderer.engines.option_rules import _UNCERTAIN
from tests.conftest import Llmaz

VLLM, SGLANG = "vllm/vllm-openai:v{}", "lmsysorg/sglang:v{}"
LLAMACPP, TGI = "ghcr.io/ggml-org/llama.cpp:server-b11434", "ghcr.io/huggingface/text-generation-inference:3.3.7"
TRTLLM = "nvcr.io/nvidia/tensorrt-llm/release:1.2.1"
LAUNCH, SERVE = ["python3", "-m", "sglang.launch_server"], ["vllm", "serve"]
MODULE = ["python3", "-m", "vllm.entrypoints.openai.api_server"]
NEWER = "use that version or a newer one"

Line = tuple[str, Sequence[str], Sequence[str]]


def vllm(*args: str, version: str = "0.24.0", command: Sequence[str] = ()) -> Line:
    return VLLM.format(version), command, args


VLLM_IMAGE = vllm()[0]


def sglang(*args: str, version: str = "0.5.10", command: Sequence[str] = LAUNCH) -> Line:
    return SGLANG.format(version), command, args


GPU = {"resources": {"limits": {"example.com/gpu": 1}}}  # that no rule counts
# By code, lines of which each has a fault with that code: image, command and arguments.
FAULTS: Mapping[str, Sequence[Line]] = {
    "E430": [
        vllm("org/blue", "--max-modell-len", "8192"),
        vllm("org/blue", "--no-prefix-caching"),
        vllm("org/blue", "--enable-metrics"),
        vllm("org/blue", "--ctx-size", "4096"),
        vllm("org/blue", "--mem-fraction-static", "0.8"),
        vllm("org/blue", "--disable-radix-cache"),
        vllm("org/blue", "--n-gpu-layers", "99"),
        vllm("org/blue", "-ngl", "99"),
        vllm("org/blue", "-max-model-len", "8192"),
        vllm("org/blue", "--shutdown-timeout", "60", version="0.11.1"),
        sglang("--model-path", "org/blue", "--context-lenght", "4096"),
        sglang("--model-path", "org/blue", "--max-model-len", "8192"),
        sglang("--model-path", "org/blue", "--enable-prefix-caching"),
        (LLAMACPP, (), ["-m", "/m.gguf", "--max-model-len=4096"]),
        (LLAMACPP, (), ["-m", "/m.gguf", "--ctx-size=4096"]),
        (LLAMACPP, (), ["-m", "/m.gguf", "-c 4096"]),
        (TGI, (), ["--model-id", "org/blue", "--max-model-len", "4096"]),
        (LLAMACPP, (), ["-m", "/m.gguf", "-np2"]),
        (TGI, (), ["--model-id", "org/blue", "--num-shards", "1"]),
    ],
    "E431": [
        vllm("org/blue", "--task", "embed"),
        vllm("org/blue", "--swap-space", "4"),
        vllm("org/blue", "--disable-log-requests", version="0.18.0"),
        vllm("org/blue", "--guided-decoding-backend", "auto"),
        sglang("--model-path", "org/blue", "--enable-ep-moe"),
        (LLAMACPP, (), ["-m", "/m.gguf", "--draft-max", "16"]),
        (LLAMACPP, (), ["-m", "/m.gguf", "--mlock"]),
        vllm("org/blue", "--speculative-model", "org/small", version="0.10.2"),
    ],
    "E432": [
        vllm("org/blue", "--enable-p"),
        sglang("--model-path", "org/blue", "--disable-c"),
        sglang("--model-path", "org/blue", "--tokenizer", "org/green"),
    ],
    "E433": [
        vllm("org/blue", "--max-model-len"),
        vllm("org/blue", "--kv-cache-dtype", "--enforce-eager"),
        vllm("org/blue", "--served-model-name"),
        sglang("--model-path", "org/blue", "--tool-call-parser"),
    ],
    "E434": [(TGI, (), ["--model-id", "org/blue", "--quantize", "awq", "--quantize=eetq"])],
    "W434": [
        vllm("org/blue", "--max-num-seqs", "8", "--max-num-seqs=16"),
        sglang("--model-path", "org/blue", "--tp-size", "1", "--port", "30000", "--tp", "1"),
        (LLAMACPP, (), ["-m", "/m.gguf", "-c", "4096", "--ctx-size", "8192"]),
    ],
    "E435": [vllm("org/blue", "--enforce-eager=true"), sglang("--model-path", "org/blue", "--trust-remote-code=1")],
    "E436": [(TGI, (), ["--model-id", "org/blue", "--otlp-service-name", "blue and green"])],
    "E437": [
        vllm("org/blue", "--dtype auto", "--max-model-len 8192"),
        vllm("org/blue", "--enforce-eager", "true"),
        vllm("org/blue", "dtype", "auto"),
        vllm("org/blue", "--max-model-len: 8192"),
        vllm("org/blue", "\N{EN DASH}\N{EN DASH}dtype", "auto"),
        vllm("--model", "org/blue", "--port 8000", command=MODULE),
        sglang("--port", "8000", "org/blue"),
        sglang("--model-path", "org/blue", "--port 8000"),
        (LLAMACPP, (), ["/m.gguf", "-c", "4096"]),
        (TGI, (), ["--port", "8080", "org/blue"]),
    ],
    "W439": [
        vllm("org/blue", "--served-model-name", "blue", "--dtype auto"),
        (LLAMACPP, (), ["-m", "/m.gguf", "--alias", "--ctx-size"]),
    ],
    "E440": [
        vllm("org/blue", "--dtype", "bf16"),
        vllm("org/blue", "--kv-cache-dtype", '"auto"'),
        vllm("org/blue", "--tool-call-parser", "hermez", "--enable-auto-tool-choice"),
        vllm("org/blue", "--load-format=safetensor"),
        vllm("org/blue", "--max-model-len", "32,768"),
        sglang("--model-path", "org/blue", "--tool-call-parser", "hermez"),
    ],
    "E441": [
        vllm("org/blue", "--speculative-config", '\'{"method": "mtp", "num_speculative_tokens": 2}\''),
        vllm("org/blue", "--speculative-config", "{'method': 'mtp', 'num_speculative_tokens': 2}"),
        vllm("org/blue", "--compilation-config", "{mode: 3}"),
        vllm("org/blue", "--cudagraph-capture-sizes", "1,2,4,8"),
        vllm("org/blue", "--cudagraph-capture-sizes", "[1, 2, 4]"),
        vllm("org/blue", "--max-num-seqs", "'64'"),
        sglang("--model-path", "org/blue", "--cuda-graph-bs", "1 2 4"),
        sglang("--model-path", "org/blue", "--tp-size", '"2"'),
        vllm("org/blue", "--gpu-memory-utilization", "90"),
        vllm("org/blue", "--gpu-memory-utilization=95%"),
        vllm("org/blue", "--gpu-memory-utilization", "0,9"),
        vllm("org/blue", "--max-num-seqs", "2.0"),
        vllm("org/blue", "--max-num-seqs", "0.9"),
        vllm("org/blue", "--max-num-seqs", "1k"),
        vllm("org/blue", "--max-num-batched-tokens", "32,768"),
        vllm("org/blue", "--kv-cache-memory-bytes", "16GiB"),
        vllm("org/blue", "--cpu-offload-gb", "4GiB"),
        vllm("org/blue", "--limit-mm-per-prompt", "image=2,video=1"),
        vllm("org/blue", "--limit-mm-per-prompt", "image: 2"),
        vllm("org/blue", "--allowed-origins", "*"),
        vllm("org/blue", "--allowed-methods", "GET, POST"),
        vllm("org/blue", "--structured-outputs-config", "xgrammar", version="0.25.0"),
        sglang("--model-path", "org/blue", "--mem-fraction-static", "90%"),
        sglang("--model-path", "org/blue", "--chunked-prefill-size", "4k"),
    ],
    "E477": [
        vllm("org/blue", "--compilation-config", '{"cudagraph_mod": "FULL"}'),
        vllm("org/blue", "--compilation-config.pass_config.fuse_allreduce_rm", "true"),
        vllm("org/blue", '--kv-transfer-config={"kv_connector": "NixlConnector", "kv_rol": "kv_both"}'),
        vllm("org/blue", "--kv-transfer-config", '{"kv_connector": "NixlConnector", "elsewhere": 1}'),
        vllm("org/blue", "--attention-config", '{"backend": "FLASH_ATTN", "use_cudnn_prefill": true}'),
        vllm("org/blue", "--attention-config", '{"hisparse_config": {}, "backend": "FLASH_ATTN"}', version="0.25.0"),
        vllm("org/blue", "--attention-config.hisparse_config", "{}", version="0.25.0"),
    ],
    "E478": [
        vllm("org/blue", "--structured-outputs-config.backend", "xgrammer"),
        vllm("org/blue", "--kv-transfer-config", '{"kv_connector": "NixlConnector", "kv_role": "kv_bth"}'),
    ],
    "W442": [(LLAMACPP, (), ["-m", "/m.gguf", "-c", value]) for value in ("8k", "32,768", "8192 tokens")],
    "E443": [
        vllm("org/blue", "--enable-auto-tool-choice"),
        vllm("org/blue", "--enable-reasoning", version="0.8.5"),
        vllm("org/blue", "--lora-modules", "blue=/blue"),
        vllm("org/blue", "--enable-eplb", "--tensor-parallel-size=1"),
        vllm("org/blue", "--ssl-keyfile", "/tls/tls.key"),
        sglang("--model-path", "org/blue", "--export-metrics-to-file"),
        sglang("--model-path", "org/blue", "--ssl-certfile=/tls/tls.crt"),
        (TGI, (), ["--model-id", "org/blue", "--ngrok"]),
    ],
    "W468": [
        vllm("org/blue", "--tool-call-parser", "hermes"),
        vllm("--model", "org/blue", "--lora-modules", "blue=/blue", version="0.6.4"),
        vllm("org/blue", "--max-loras", "4", "--max-lora-rank=64"),
        sglang("--model-path", "org/blue", "--speculative-draft-model-path", "org/small"),
        sglang("--model-path", "org/blue", "--bucket-time-to-first-token", "0.1", "1"),
        sglang("--model-path", "org/blue", "--eplb-rebalance-num-iterations", "500"),
        (LLAMACPP, (), ["-m", "/m.gguf", "--ssl-key-file", "/tls/tls.key"]),
        (TGI, (), ["--model-id", "org/blue", "--otlp-service-name", "blue"]),
    ],
    "E465": [
        vllm("serve", "org/blue"),
        vllm("vllm serve", "org/blue"),
        vllm("vllm", "serve", "org/blue", version="0.8.5"),
        vllm("serve", "org/blue", version="0.10.2"),
        vllm("serve", "org/blue", command=SERVE),
        (LLAMACPP, (), ["llama-server", "-m", "/m.gguf"]),
        (TGI, (), ["text-generation-launcher", "--model-id", "org/blue"]),
    ],
    "E466": [
        vllm("org/blue", "--port", "8000", version="0.9.2"),
        vllm("org/blue", version="0.11.0"),
        vllm("--port", "8200", "org/blue", command=MODULE),
        vllm("--model", "org/blue", version="0.9.2", command=SERVE),
        vllm("--port", "8000", "--model", "org/blue", version="0.6.0", command=SERVE),
        vllm("--port", "8200", "org/blue", "--served-model-name", "blue"),
        vllm("sh", "-c", "vllm serve org/blue"),
        sglang("org/blue", "--port", "8000"),
        sglang("--model", "org/blue", command=["sglang", "serve"]),
        (LLAMACPP, (), ["sh", "-c", "/app/llama-server -m /m.gguf"]),
    ],
    "E467": [
        vllm("--served-model-name", "blue", "org/blue", version="0.15.0"),
        vllm("--served-model-name", "blue", "org/blue"),
        vllm("--served-model-name", "blue", "org/blue", version="0.8.5"),
        vllm("--max-model-len", "8192"),
        vllm("--max-model-len", "8192", version="0.7.3", command=SERVE),
        sglang("--port", "8000"),
        (TGI, (), ["--port", "8080"]),
    ],
    "W467": [(TRTLLM, ["trtllm-serve"], ["--port", "8000"])],
}
# The same of a version that is newer than all lists, of which nothing is certain.
UNCERTAIN: Mapping[str, Sequence[Line]] = {
    _UNCERTAIN[code]: [(VLLM.format("0.99.0"), command, args) for image, command, args in lines if image == VLLM_IMAGE]
    for code, lines in FAULTS.items()
    if code in _UNCERTAIN
}

Args = list[str]
Follow = Callable[[Args, int, "re.Match[str]"], Args]


def values_end(args: Args, index: int) -> int:
    """The index behind the values of an option."""
    return next((i for i in range(index + 1, len(args)) if args[i][:1] == "-"), len(args))


def rename(args: Args, index: int, match: re.Match[str]) -> Args:
    _, glued, value = args[index].partition("=")
    if match[1][:1] != "-" and glued:  # a value
        return [*args[:index], args[index].partition("=")[0] + glued + match[1], *args[index + 1 :]]
    if args[index][:1] != "-":  # a value, or an option without its dashes
        return [*args[:index], match[1], *args[index + 1 :]]
    return [*args[:index], match[1] + glued + value, *args[index + 1 :]]


def replace_option(args: Args, index: int, match: re.Match[str]) -> Args:
    words = match[1].split(" ")
    if len(words) > 1 or args[index][:2] != "--":
        return [*args[:index], *words, *args[values_end(args, index) :]]
    return rename(args, index, match)


def leave_out(args: Args, index: int, match: re.Match[str]) -> Args:
    return [*args[:index], *args[values_end(args, index) :]]


def quoted(text: str) -> Args:
    return re.findall(r"'([^']*)'", text)


def items(args: Args, index: int, match: re.Match[str]) -> Args:
    return [*args[:index], *quoted(match[1]), *args[index + 1 :]]


def in_front(args: Args, index: int, match: re.Match[str]) -> Args:
    """The model in front; not where it stands, nor behind an option that is to go."""
    model, option = match[1], match[2]
    rest = [arg for arg in args if arg not in (model, option)]
    return [model, *rest]


def keep_last(args: Args, index: int, message: str) -> Args:
    """Without the first of two options."""
    number = re.search(r"first at index (\d+)", message)
    assert number, message
    return leave_out(args, int(number[1]), number)


def change_json(args: Args, index: int, message: str, hint: str) -> Args:
    """The JSON of an option with another key or value in place of the one that the message is about."""
    wrong = quoted(message)[1].rpartition(".")[2]
    if instead := re.match(r"(?:.*; )?(?:did you mean '|write |known: )([\w-]+)", hint):
        return [*args[:index], *(arg.replace(wrong, instead[1]) for arg in args[index:])]
    assert "leave it out" in hint, hint
    if args[index][:1] == "-" and "{" not in args[index]:
        return [*args[:index], *args[values_end(args, index) :]]
    whole = json.loads(args[index])
    return [*args[:index], json.dumps({key: whole[key] for key in whole if key != wrong}), *args[index + 1 :]]


def add_key(args: Args, index: int, match: re.Match[str]) -> Args:
    """The JSON of an option with one more key."""
    place = next(i for i, arg in enumerate(args) if i >= index and arg.startswith("{"))
    whole = {**json.loads(args[place]), match[1]: KEYS[match[1]]}
    return [*args[:place], json.dumps(whole), *args[place + 1 :]]


KEYS: Mapping[str, object] = {"kv_role": "kv_both", "num_speculative_tokens": 3}
VALUES = {
    "--reasoning-parser": ["deepseek_r1"],
    "--tool-call-parser": ["hermes"],
    "--ssl-certfile": ["/tls/tls.crt"],
    "--ssl-keyfile": ["/tls/tls.key"],
    "--ssl-cert-file": ["/tls/tls.crt"],
    "--export-metrics-to-file-dir": ["/metrics"],
    "--ngrok-authtoken": ["$(TOKEN)"],
    "--ngrok-edge": ["edge"],
    "--otlp-endpoint": ["http://traces:4317"],
    "--speculative-algorithm": ["EAGLE"],
}
FORMS: Sequence[tuple[str, Follow]] = [
    (r"did you mean '(\S+)'(?: or '\S+')?\?", rename),
    (r"write a whole number, such as '(\d+)'", rename),
    (r"write '([\[{].*[\]}])'", lambda a, i, m: [*a[:i], m[1], *a[i + 1 :]]),
    (r"add (\w+) to its JSON, or leave it out", add_key),
    (
        r"the option is '(\S+)': write its value as the next item of the list",
        lambda a, i, m: [*a[:i], m[1], a[i][len(m[1]) :].lstrip("= "), *a[i + 1 :]],
    ),
    (r"an option of [^;]+; \S+'s is '(\S+)'(?:, .*)?", rename),
    (r"an option of .*: leave it out(?:; .*)?", leave_out),
    (r"use (--?[^;]+) instead(?:;.*)?", replace_option),
    (
        r"leave '([^']+)' out, and write (.*) in place of '([^']+)'",
        lambda a, i, m: [word for arg in a[len(m[1].split()) :] for word in (quoted(m[2]) if arg == m[3] else [arg])],
    ),
    (r"leave '([^']+)' out", lambda a, i, m: a[1:] if a[0] == m[1] else a[len(m[1].split()) :]),
    (r"leave out what follows '='", lambda a, i, m: [*a[:i], a[i].partition("=")[0], *a[i + 1 :]]),
    (r"leave out the (.) at both ends of the value: .*", lambda a, i, m: [*a[:i], a[i].strip(m[1]), *a[i + 1 :]]),
    (r"leave it out: an option names the model", lambda a, i, m: [*a[:i], *a[i + 1 :]]),
    (r"leave it out: --\S+ takes no value", lambda a, i, m: [*a[:i], *a[i + 1 :]]),
    (r"keep one of them", leave_out),
    (r"write it without spaces .*", lambda a, i, m: [*a[:i], a[i].replace(" ", "-"), *a[i + 1 :]]),
    (rf"(?:.*: {NEWER}, or )?leave it out(?:[;:].*)?", leave_out),
    (r"it may be (\S+?)(?:, .*)?", rename),
    (r"write (?:one of )?'([^']+)'.* as the next item of the list", lambda a, i, m: [*a[: i + 1], m[1], *a[i + 1 :]]),
    (r"write it as the next item of the list", lambda a, i, m: [*a[: i + 1], "4096", *a[i + 1 :]]),
    (r"write a value between the two", lambda a, i, m: [*a[: i + 1], "blue", *a[i + 1 :], "4096"]),
    (r"write ('.*') as (?:two|separate) items of the list", items),
    (r"if it is the model, write ('.*') as two items of the list", items),
    (r"write ('.*') in place of it", items),
    (r"write (--\S+) in place of (--\S+)", rename),
    (r"write '(\S+)' in front of all options(?:, without (\S+))?", in_front),
    (r"write (the model) in front of all options", lambda a, i, m: ["org/blue", *a]),
    (r"add (\S+) with the model", lambda a, i, m: [*a, m[1], "org/blue"]),
    (r"write it as JSON: .*", lambda a, i, m: [*a[:i], json.dumps(yaml.safe_load(a[i])), *a[i + 1 :]]),
    (r"it accepts (?:one of )?'([^']+)'.*", rename),
    (r"write the number itself", lambda a, i, m: [*a[:i], re.sub(r"\D", "", a[i]), *a[i + 1 :]]),
    (
        r"write (.+) beside it, or leave it out",
        lambda a, i, m: [*a, *(word for option in m[1].split(" and ") for word in (option, *VALUES.get(option, ())))],
    ),
]


def follow(container: Mapping[str, Any], finding: Mapping[str, Any]) -> dict[str, Any]:
    """The container after what a hint says."""
    number = re.search(r"\.args\[(\d+)\]$", finding["field"])
    assert number, finding
    args, hint = list(container["args"]), finding["hint"]
    if match := re.fullmatch(r"write '(\S+)' and what follows it under command, not under args", hint):
        return {**{key: value for key, value in container.items() if key != "args"}, "command": args}
    if hint == "the last one counts":
        return {**container, "args": keep_last(args, int(number[1]), finding["message"])}
    if finding["code"] in ("E477", "E478", "W477", "W478"):
        return {**container, "args": change_json(args, int(number[1]), finding["message"], hint)}
    for form, change in FORMS:
        if match := re.fullmatch(form, hint):
            return {**container, "args": change(args, int(number[1]), match)}
    raise AssertionError(f"no test can follow: {finding} of {container}")


def pod(name: str, container: Mapping[str, Any]) -> str:
    body = {"metadata": {"name": name, "namespace": "llm"}, "spec": {"containers": [{"name": "engine", **container}]}}
    return yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", **body})


def told(llmaz: Llmaz, containers: Mapping[str, Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What check says of each container."""
    for name, container in containers.items():
        Path(f"{name}.yaml").write_text(pod(name, container))
    findings: dict[str, list[dict[str, Any]]] = {name: [] for name in containers}
    for finding in json.loads(llmaz("check", ".", "--strict", "--format", "json").out):
        if finding["severity"] != "note":
            findings[Path(finding["file"]).stem].append(finding)
    return findings


def test_each_hint_is_followed(folder: Path, llmaz: Llmaz) -> None:
    containers: dict[str, dict[str, Any]] = {}
    codes = {}
    for code, lines in (*FAULTS.items(), *UNCERTAIN.items()):
        for image, command, args in lines:
            name = f"{code.lower()}-{len(containers)}"
            containers[name] = {
                "image": image,
                "args": list(args),
                **GPU,
                **({"command": list(command)} if command else {}),
            }
            codes[name] = code
    first = told(llmaz, containers)
    assert {
        name: codes[name] for name, findings in first.items() if codes[name] not in {f["code"] for f in findings}
    } == {}
    followed, left = containers, first
    for _ in range(3):  # a line may have as many faults
        followed = {
            name: follow(container, left[name][-1]) if left[name] else container for name, container in followed.items()
        }
        left = told(llmaz, followed)
    assert {
        name: (followed[name], [f["message"] for f in findings]) for name, findings in left.items() if findings
    } == {}


# Codes about command lines that this page does not have, and why.
ELSEWHERE: Mapping[str, str] = {
    "E445": "a preset's own options: test_followed_hints.py",
}


@pytest.mark.parametrize("code", sorted(_UNCERTAIN))
def test_each_code_about_lines_is_here(code: str) -> None:
    assert (code in FAULTS) != (code in ELSEWHERE)
