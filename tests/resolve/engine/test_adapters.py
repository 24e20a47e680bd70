"""LoRA adapters of a claim: the options that load them, their numbers and ranks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Llmaz


def adapter(name: str, rank: int | None = 16, **spec: Any) -> dict[str, Any]:
    facts = {} if rank is None else {"facts": {"adapter": {"rank": rank}}}
    source = {"modelHub": {"modelID": f"example/{name}"}}
    body = {"familyName": "qwen3", "source": source, **facts, **spec}
    return {"apiVersion": "llmaz.io/v1alpha1", "kind": "OpenModel", "metadata": {"name": name}, "spec": body}


def playground(adapters: list[str], engine: str = "vllm", **config: Any) -> dict[str, Any]:
    models = [{"name": "qwen3-8b"}, *({"name": name, "role": "lora"} for name in adapters)]
    config = {"backendName": engine, **config}
    return {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": "chat"},
        "spec": {"modelClaims": {"models": models}, "backendRuntimeConfig": config},
    }


def line(folder: Path, llmaz: Llmaz, objects: list[dict[str, Any]]) -> list[str]:
    """What the command line of the engine holds for adapters."""
    (folder / "in.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    done = llmaz("render")
    assert done.code == 0, done.err
    bodies = yaml.safe_load_all((folder / "rendered" / "default" / "chat.yaml").read_text())
    (workload,) = (body for body in bodies if body["kind"] == "LeaderWorkerSet")
    pod = workload["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    args: list[str] = pod["containers"][0]["args"]
    return args[args.index("--enable-lora") :]


def numbers(folder: Path, llmaz: Llmaz, adapters: list[dict[str, Any]], engine: str, *args: str) -> dict[str, str]:
    """The numbers that the engine is given, by option."""
    names = [body["metadata"]["name"] for body in adapters]
    words = line(folder, llmaz, [*adapters, playground(names, engine, args=[*args])])
    return {word: words[i + 1] for i, word in enumerate(words) if word.startswith("--max-l") or "cpu" in word}


@pytest.mark.parametrize(
    ("ranks", "written"),
    [
        ([1], "1"),
        ([2], "8"),
        ([8], "8"),
        ([9, 8], "16"),
        ([16, 17], "32"),
        ([257], "320"),
        ([512], "512"),
        ([None], None),
        ([None, 8], None),
        ([None, 16], None),
        ([None, 20], "32"),
    ],
)
def test_a_rank_is_rounded_up(ranks: list[int | None], written: str | None, folder: Path, llmaz: Llmaz) -> None:
    """Where one is unknown, the engine's own limit stays, unless another asks for more."""
    adapters = [adapter(f"a{i}", rank) for i, rank in enumerate(ranks)]
    assert numbers(folder, llmaz, adapters, "vllm").get("--max-lora-rank") == written


@pytest.mark.parametrize(
    ("args", "batch", "loaded"),
    [
        ([], "2", "2"),
        (["--max-loras", "1"], "1", "2"),
        (["--max-loras", "5"], "5", "5"),
        (["--max-cpu-loras", "2"], "2", "2"),
        (["--max-cpu-loras", "9"], "2", "9"),
        (["--max-loras", "1", "--max-cpu-loras", "3"], "1", "3"),
    ],
)
def test_numbers_for_vllm(args: list[str], batch: str, loaded: str, folder: Path, llmaz: Llmaz) -> None:
    """It refuses to hold fewer than a batch may have."""
    options = numbers(folder, llmaz, [adapter("a"), adapter("b")], "vllm", *args)
    assert (options["--max-loras"], options["--max-cpu-loras"]) == (batch, loaded)


@pytest.mark.parametrize(
    ("args", "batch", "loaded"),
    [
        ([], "3", "3"),
        (["--max-loras-per-batch", "1"], "1", "2"),
        (["--max-loaded-loras", "2"], "2", "2"),
        (["--max-loaded-loras", "7"], "3", "7"),
    ],
)
def test_numbers_for_sglang(args: list[str], batch: str, loaded: str, folder: Path, llmaz: Llmaz) -> None:
    """Requests for the model itself count as one, and the rank it finds out itself."""
    options = numbers(folder, llmaz, [adapter("a", 64), adapter("b", None)], "sglang", *args)
    assert options == {"--max-loras-per-batch": batch, "--max-loaded-loras": loaded}


def test_adapters_lie_where_their_sources_say(folder: Path, llmaz: Llmaz) -> None:
    adapters = [
        adapter("hub"),
        adapter("store", source={"uri": "s3://bucket/store"}, servedModelName="acme/store"),
        adapter("node", source={"uri": "host:///models/node"}),
        adapter("claim", source={"uri": "pvc://claim/of/mails"}),
    ]
    words = line(folder, llmaz, [*adapters, playground(["store", "hub", "node", "claim"])])
    start = words.index("--lora-modules") + 1
    assert words[start : start + 4] == [
        "acme/store=/workspace/models/models--store",
        "hub=/workspace/models/models--example--hub",
        "node=/models/node",
        "claim=/workspace/models/models--mails",
    ]


def test_an_engine_that_loads_by_itself_gets_the_repository(folder: Path, llmaz: Llmaz) -> None:
    app = playground(["a"])
    app["metadata"]["annotations"] = {"llmaz.io/skip-model-loader": "true"}
    words = line(folder, llmaz, [adapter("a"), app])
    assert words[words.index("--lora-modules") + 1] == "a=example/a"


def test_an_adapter_beside_a_draft_model(folder: Path, llmaz: Llmaz) -> None:
    """It is not taken for the draft, wherever it stands."""
    app = playground([])
    models = [{"name": "a", "role": "lora"}, {"name": "qwen3-8b"}, {"name": "qwen3-0--6b", "role": "draft"}]
    app["spec"]["modelClaims"]["models"] = models
    words = line(folder, llmaz, [adapter("a"), app])
    assert "a=/workspace/models/models--example--a" in words
    text = (folder / "rendered" / "default" / "chat.yaml").read_text()
    assert "- --speculative-config.model\n              - /workspace/models/models--Qwen--Qwen3-0.6B\n" in text


def test_an_old_version_that_asks_otherwise_is_refused(folder: Path, llmaz: Llmaz) -> None:
    objects = [adapter("a"), playground(["a"], "sglang", version="v0.5.3")]
    (folder / "in.yaml").write_text("\n---\n".join(map(json.dumps, objects)))
    done = llmaz("render")
    assert done.code == 2
    assert "cannot select an adapter by the model of a request [E444]" in done.err
    assert "use version 0.5.4" in done.err
