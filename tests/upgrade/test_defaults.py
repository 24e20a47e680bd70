"""Defaults that moved, of options that command lines leave out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import inputs
from tests.upgrade.test_places import answer, app, in_version, written

if TYPE_CHECKING:
    from tests.conftest import Llmaz

# As the parsers of both versions say (scripts/make_defaults.py); --log-config-file, which went from None to argparse's
# SUPPRESS, is not among them.
MOVED = {
    "--allowed-origins": ('["*"]', "[]"),
    "--cp-kv-cache-interleave-size": ("1", "decided at start"),
    "--dcp-comm-backend": ("ag_rs", "decided at start"),
    "--disable-cascade-attn": ("true", "decided at start"),
    "--mamba-cache-mode": ("none", "decided at start"),
}
SETS = (
    "--allowed-origins=[\"https://a.example\"]",
    "--cp-kv-cache-interleave-size=1",
    "--dcp_comm_backend=ag_rs",
    "--no-disable-cascade-attn",
    "--mamba-cache-mode=none",
)  # fmt: skip


def moved(llmaz: Llmaz, target: str = "vllm=0.33.0") -> dict[str, dict[str, tuple[str, str]]]:
    """By workload and option, the defaults on both sides."""
    workloads: dict[str, dict[str, tuple[str, str]]] = {}
    for environment in answer(llmaz, target)["environments"]:
        for default in environment["movedDefaults"]:
            of_workload = workloads.setdefault(default["workload"], {})
            of_workload[default["option"]] = default["before"], default["after"]
    return workloads


def test_an_app_that_leaves_them_out(folder: Path, llmaz: Llmaz) -> None:
    written(folder, chat=app("chat", in_version("v0.26.0")))
    assert moved(llmaz) == {"llm/chat": MOVED}


def test_an_app_that_sets_them(folder: Path, llmaz: Llmaz) -> None:
    args = ", ".join(f"'{word}'" for word in SETS)
    written(folder, chat=app("chat", in_version("v0.26.0", more=f", args: [{args}]")))
    assert moved(llmaz) == {}


def test_an_app_that_sets_one(folder: Path, llmaz: Llmaz) -> None:
    written(folder, chat=app("chat", in_version("v0.26.0", more=f", args: [{SETS[2]}]")))
    assert moved(llmaz)["llm/chat"].keys() == MOVED.keys() - {"--dcp-comm-backend"}


def test_an_app_that_breaks(folder: Path, llmaz: Llmaz) -> None:
    """Nothing is rendered of it in the new version; its defaults move all the same."""
    more = f", args: [{SETS[2]}, --calculate-kv-scales]"
    written(folder, chat=app("chat", in_version("v0.26.0", more=more)))
    assert moved(llmaz)["llm/chat"].keys() == MOVED.keys() - {"--dcp-comm-backend"}


def test_a_service(folder: Path, llmaz: Llmaz) -> None:
    service = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Service
metadata: {name: own, namespace: llm}
spec:
  modelClaims: {models: [{name: qwen3-8b}]}
  gateway: {mode: "off"}
  workloadTemplate:
    workerTemplate:
      spec:
        containers:
          - name: model-runner
            image: vllm/vllm-openai:v0.26.0
            command: [vllm, serve, /m, --mamba-cache-mode, none]
"""
    written(folder, own=service)
    assert moved(llmaz)["llm/own"].keys() == MOVED.keys() - {"--mamba-cache-mode"}


def test_what_does_not_change_its_version(folder: Path, llmaz: Llmaz) -> None:
    written(folder, chat=app("chat", ""), same=app("same", in_version("v0.33.0")))
    written(folder, other=app("other", in_version("server-b8929", "llamacpp"), inputs.PRESET))
    assert moved(llmaz) == {}


def test_an_engine_whose_defaults_nobody_knows(folder: Path, llmaz: Llmaz) -> None:
    written(folder, other=app("other", in_version("server-b8929", "llamacpp"), inputs.PRESET))
    assert moved(llmaz, "llamacpp=b11434") == {}


def test_of_each_environment(folder: Path, llmaz: Llmaz) -> None:
    config = f"{inputs.CONFIG}\n  environments: {{dev: {{}}, prod: {{playgrounds: {{chat: null}}}}}}\n"
    written(folder, llmaz=config, chat=app("chat", in_version("v0.26.0")))
    environments = answer(llmaz, "vllm=0.33.0")["environments"]
    assert [(it["environment"], len(it["movedDefaults"])) for it in environments] == [("dev", 5), ("prod", 0)]


def test_texts_name_them(folder: Path, llmaz: Llmaz) -> None:
    written(folder, **{name: app(name, in_version("v0.26.0")) for name in ("one", "two")})
    done = llmaz("upgrade", "vllm=0.33.0")
    assert '  --allowed-origins ["*"] → []: llm/one, llm/two\n' in done.out
    assert "nothing breaks · 5 defaults moved\n" in done.out
    markdown = llmaz("upgrade", "vllm=0.33.0", "--format", "markdown").out
    values = "<code>&#91;&#34;&#42;&#34;&#93;</code> → <code>&#91;&#93;</code>"
    assert f"**Defaults that moved**\n\n* `--allowed-origins` {values}: `llm/one, llm/two`\n" in markdown


@pytest.mark.parametrize(("count", "is_whole"), [(3, True), (12, False)])
def test_the_text_of_a_pull_request_has_an_end(count: int, is_whole: bool, folder: Path, llmaz: Llmaz) -> None:
    names = [f"a{i:02d}-{'x' * 40}" for i in range(40)]
    environments = ", ".join(f"e{i:02d}: {{}}" for i in range(count))
    written(folder, llmaz=f"{inputs.CONFIG}\n  environments: {{{environments}}}\n")
    written(folder, **{name: app(name, in_version("v0.26.0")) for name in names})
    text = llmaz("upgrade", "vllm=0.33.0", "--format", "markdown").out
    assert 40_000 < len(text) <= 65_536
    end = "\nThe rest is not shown, since a pull request's text has an end: `llmaz upgrade` shows all.\n"
    assert text.endswith(end) is not is_whole
    assert (text.count("### llmaz `e") == count) is is_whole


def test_names_in_markdown_are_code(folder: Path, llmaz: Llmaz) -> None:
    """A file may be called as markup, and a value may be some."""
    name = "a<b>`|@c"
    value = "<img src=x> `|@all"
    written(folder, **{name: app("one", in_version("v0.10.0", more=f", args: ['--guided-decoding-backend={value}']"))})
    done = llmaz("upgrade", "vllm=0.33.0", "--format", "markdown")
    assert "<img" not in done.out
    assert "<b>" not in done.out
    assert "`a" not in done.out
