"""Our judgement of command lines in manifests that others wrote, against what the engines' own parsers said of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.conftest import Llmaz
from tests.paths import TESTS

DATA = yaml.safe_load((TESTS / "data" / "command_lines.yaml").read_text("utf-8"))
IMAGES = {
    "vllm": "vllm/vllm-openai:v{}",
    "sglang": "lmsysorg/sglang:v{}",
}
# What we say differently: lines by engine, with the versions and why.
OTHERWISE: Mapping[tuple[str, str, str], str] = {
    (
        "vllm",
        "0.6.6",
        """vllm serve /mnt/models --kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'""",
    ): "keys inside of JSON are not judged",
    (
        "vllm",
        "0.6.6",
        """vllm serve /mnt/models --limit-mm-per-prompt '{"image":4}'""",
    ): "image=4 before 0.8, read by code of its own",
    **dict.fromkeys(
        [
            ("vllm", version, "vllm serve /mnt/models --hf-overrides max_position_embeddings=65536")
            for version in map(str, DATA["vllm"]["versions"])
            if version not in ("0.6.6", "0.8.5")
        ],
        "a text, which the model's configuration refuses behind the parser",
    ),
    (
        "vllm",
        "0.6.6",
        "vllm serve --model /mnt/models --host 0.0.0.0",
    ): "the model right behind serve; that one is missing is not judged",
}
OF_OPTIONS = re.compile(r"^line\.yaml:(\d+):.*\[E4[34]\d\]$", re.MULTILINE)


def container(line: str, image: str, form: int) -> dict[str, object]:
    """A container that runs the line, in one of the forms that people write."""
    words = shlex.split(line)
    options = {"vllm": 2, "python3": 3}[words[0]]
    forms: tuple[dict[str, object], ...] = (
        {"command": words[:options], "args": words[options:]},
        {"command": words},
        {"command": ["sh", "-c", f"exec {line}"]},
        {"command": ["/bin/bash", "-c"], "args": [f"set -e\nexport HF_HOME=/cache\n{line}\n"]},
    )
    return {"name": "engine", "image": image, **forms[form % len(forms)]}


@pytest.mark.parametrize(
    ("engine", "version"), [(engine, str(version)) for engine in DATA for version in DATA[engine]["versions"]]
)
def test_lines_are_judged_as_by_the_parser(engine: str, version: str, folder: Path, llmaz: Llmaz) -> None:
    number = [*map(str, DATA[engine]["versions"])].index(version)
    lines, texts, first = DATA[engine]["lines"], list[str](), {}
    for i, line in enumerate(lines):
        first[line] = sum(text.count("\n") for text in texts) + 1
        pod = {"containers": [container(line, IMAGES[engine].format(version), i + number)]}
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{i}"}, "spec": pod}
        texts.append(f"---\n{yaml.safe_dump(body)}")
    (folder / "line.yaml").write_text("".join(texts))
    refused = {int(number) for number in OF_OPTIONS.findall(llmaz("check", "line.yaml").err)}
    ends = [*first.values(), sum(text.count("\n") for text in texts) + 2]
    differences = {}
    for i, (line, marks) in enumerate(lines.items()):
        mark = "-" if refused & {*range(ends[i], ends[i + 1])} else "+"
        if mark != marks[number] and (engine, version, line) not in OTHERWISE:
            differences[line] = f"the parser says {marks[number]}, we say {mark}"
    assert differences == {}
