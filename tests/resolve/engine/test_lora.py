"""LoRA adapters that an engine's own options load: which names there are, and who may be asked for by them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
import yaml

from renderer.engines import dialect
from renderer.resolve.engine.lora import loaded_adapters
from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from renderer.input_types import EngineSpec, OptionsSpec
    from tests.conftest import Llmaz

PRESETS = ROOT / "presets" / "backends"
VLLM = {"adapters": {"options": ["--lora-modules"]}, "options": {"underscores": True}}
SGLANG = {"adapters": {"options": ["--lora-paths"], "key": "lora_name"}}


def names(engine: dict[str, Any], args: list[str], served: str = "small") -> tuple[str, ...]:
    """What clients may ask for beside the model itself."""
    rule, read = engine.get("adapters") or {}, {"style": "argparse", **engine.get("options", {})}
    adapters = loaded_adapters(
        cast("EngineSpec", engine),
        dialect.build_style(cast("OptionsSpec", read), [rule.get("options") or []]),
        served,
        args,
    )
    return tuple(adapter.name_in_engine for adapter in adapters)


def of(engine: str) -> dict[str, Any]:
    """What the preset of a backend says of its engine."""
    spec: dict[str, Any] = yaml.safe_load((PRESETS / f"{engine}.yaml").read_text())["spec"]["engine"]
    return spec


# --- the forms of a value


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param(["--lora-modules", "sql=/a/sql"], ("sql",), id="name=path"),
        pytest.param(["--lora-modules", "sql=/a/sql", "law=org/law"], ("sql", "law"), id="several words"),
        pytest.param(["--lora-modules=sql=/a/sql"], ("sql",), id="behind an equals sign"),
        pytest.param(["--lora-modules=sql=/a/sql", "law=/a/law"], ("sql",), id="an equals sign takes one"),
        pytest.param(["--lora-modules", "sql=/a/x=1"], ("sql",), id="an equals sign in the path"),
        pytest.param(["--lora-modules", '{"name": "sql", "path": "/a/sql"}'], ("sql",), id="JSON"),
        pytest.param(['--lora-modules={"name": "sql", "path": "/a=b"}'], ("sql",), id="JSON behind an equals sign"),
        pytest.param(
            ["--lora-modules", '{"name": "sql", "path": "/a", "base_model_name": "small"}', "law=/a/law"],
            ("sql", "law"),
            id="JSON and name=path",
        ),
        pytest.param(["--lora-modules", "sql=/a", "sql=/b"], ("sql",), id="one name twice"),
        pytest.param(["--lora-modules", "sql=/a", "--max-loras", "2"], ("sql",), id="the next option ends it"),
        pytest.param(["--max-loras=2", "--lora-modules", "sql=/a", "-tp", "2"], ("sql",), id="a short option ends it"),
        pytest.param(["--lora-modules", "org/sql:v1.5=/a"], ("org/sql:v1.5",), id="a name of many signs"),
        pytest.param(["--lora-modules", "a=/a", "--lora-modules", "b=/b"], ("b",), id="given twice the last counts"),
        pytest.param(["--lora_modules", "a=/a"], ("a",), id="with underscores"),
        pytest.param(["--lora-mod", "a=/a"], ("a",), id="shortened"),
    ],
)
def test_the_names_that_vllm_loads(args: list[str], expected: tuple[str, ...]) -> None:
    line = ["serve", "/models/small", "--served-model-name", "small", *args]
    assert names(VLLM, line) == expected
    assert names(of("vllm"), line) == expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param(["--lora-paths", "sql=/a/sql", "law=/a/law"], ("sql", "law"), id="name=path"),
        pytest.param(["--lora-paths", "/a/sql", "org/law"], ("/a/sql", "org/law"), id="a path is its own name"),
        pytest.param(["--lora-paths=sql=/a/sql"], ("sql",), id="behind an equals sign"),
        pytest.param(["--lora-paths", '{"lora_name": "sql", "lora_path": "/a", "pinned": true}'], ("sql",), id="JSON"),
        pytest.param(["--lora-paths", "sql=/a/sql", "--max-loras-per-batch", "2"], ("sql",), id="the next ends it"),
    ],
)
def test_the_names_that_sglang_loads(args: list[str], expected: tuple[str, ...]) -> None:
    line = ["--model-path", "/models/small", *args]
    assert names(SGLANG, line) == expected
    assert names(of("sglang"), line) == tuple(f"small:{name}" for name in expected)


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--enable-lora", "--max-loras", "2"],
        ["--lora-modules"],
        ["--lora-modules", "--enable-lora"],
        ["--lora-modules", "=/a/sql"],
        ["--lora-modules", "{not JSON}"],
        ["--lora-modules", '{"path": "/a/sql"}'],
        ["--lora-modules", '{"name": null}'],
        ["--lora-modules-of-another", "sql=/a/sql"],
        ["--lora-paths", "sql=/a/sql"],
        ["sql=/a/sql"],
    ],
)
def test_nothing_is_loaded(args: list[str]) -> None:
    assert names(VLLM, args) == ()


def test_another_option_can_be_named() -> None:
    engine = {"adapters": {"options": ["--lora", "--adapter"]}}
    assert names(engine, ["--lora", "a=/a", "--adapter=b=/b", "--other", "c=/c"]) == ("a", "b")


@pytest.mark.parametrize("engine", [{}, {"adapters": {}}, {"adapters": {"options": []}}, {"adapters": None}])
def test_an_engine_of_no_such_option(engine: dict[str, Any]) -> None:
    assert names(engine, ["--lora-modules", "sql=/a/sql"]) == ()


def test_presets_name_options_of_their_engines() -> None:
    """Of several values, since each is read as one."""
    engines = {path.stem: of(path.stem) for path in PRESETS.glob("*.yaml")}
    named = {name: engine["adapters"]["options"] for name, engine in engines.items() if "adapters" in engine}
    assert named == {"sglang": ["--lora-paths"], "vllm": ["--lora-modules"]}
    for name, listed in named.items():
        lines = (PRESETS / engines[name]["options"]["list"]).read_text().splitlines()
        for option in listed:
            assert [line for line in lines if line in (f"{option} +", f"{option} *")], option


# --- who may be asked for by them


def render(folder: Path, llmaz: Llmaz, target: str, mode: str, args: list[str], **more: Any) -> tuple[int, str]:
    """An InferenceModel with this target over a Playground whose engine gets these arguments."""
    app = {
        "apiVersion": "inference.llmaz.io/v1alpha1",
        "kind": "Playground",
        "metadata": {"name": "chat"},
        "spec": {
            "modelClaim": {"modelName": "qwen3-8b"},
            "backendRuntimeConfig": {"args": args, **more},
            "gateway": {"mode": mode},
        },
    }
    model = {
        "apiVersion": "inference.networking.x-k8s.io/v1alpha2",
        "kind": "InferenceModel",
        "metadata": {"name": "public"},
        "spec": {"modelName": "public", "poolRef": {"name": "chat"}, "targetModels": [{"name": target}]},
    }
    (folder / "in.yaml").write_text(f"{json.dumps(app)}\n---\n{json.dumps(model)}\n")
    done = llmaz("render")
    return done.code, done.err


def read_spec(folder: Path, kind: str) -> dict[str, Any]:
    (path,) = (folder / "rendered").rglob("public.route.yaml")
    (body,) = (manifest for manifest in yaml.safe_load_all(path.read_text()) if manifest["kind"] == kind)
    spec: dict[str, Any] = body["spec"]
    return spec


LORAS = ["--enable-lora", "--lora-modules", "sql=/a/sql", '{"name": "law", "path": "/a/law"}']


@pytest.mark.parametrize("target", ["sql", "law", "qwen3-8b"])
def test_a_pool_is_asked_for_an_adapter(target: str, folder: Path, llmaz: Llmaz) -> None:
    code, err = render(folder, llmaz, target, "pool", LORAS)
    assert code == 0, err
    (rule,) = read_spec(folder, "InferenceModelRewrite")["rules"]
    assert [rewrite_target["modelRewrite"] for rewrite_target in rule["targets"]] == [target]


@pytest.mark.parametrize("target", ["sql", "law", "qwen3-8b"])
def test_a_workload_is_asked_for_an_adapter(target: str, folder: Path, llmaz: Llmaz) -> None:
    code, err = render(folder, llmaz, target, "backend", LORAS)
    assert code == 0, err
    (rule,) = read_spec(folder, "AIGatewayRoute")["rules"]
    assert [(reference["name"], reference["modelNameOverride"]) for reference in rule["backendRefs"]] == [
        ("chat", target)
    ]


@pytest.mark.parametrize(
    ("mode", "args", "known"),
    [
        ("pool", LORAS, "known: law, qwen3-8b, sql"),
        ("backend", LORAS, "known: law, qwen3-8b, sql"),
        ("pool", [], "known: qwen3-8b"),
        ("backend", [], "known: qwen3-8b"),
    ],
)
@pytest.mark.parametrize("target", ["mails", "/adapters/of/mails"])
def test_another_name_is_refused_with_the_known_ones(
    target: str, mode: str, args: list[str], known: str, folder: Path, llmaz: Llmaz
) -> None:
    code, err = render(folder, llmaz, target, mode, args)
    assert code == 2
    where = "in the pool 'chat'" if mode == "pool" else "in this namespace"
    assert f"spec.targetModels[0].name: nothing serves '{target}' {where} [E660]" in err
    assert f"hint: {known}; adapters are claimed with role lora, or loaded by the engine's options" in err


def test_a_name_that_is_nearly_right_is_guessed(folder: Path, llmaz: Llmaz) -> None:
    code, err = render(folder, llmaz, "SQL", "pool", LORAS)
    assert code == 2
    assert "hint: did you mean 'sql'? adapters are claimed" in err


def test_sglang_is_asked_for_model_and_adapter(folder: Path, llmaz: Llmaz) -> None:
    """By the adapter's name alone it would serve the base model."""
    args = ["--lora-paths", "sql=/a/sql"]
    assert render(folder, llmaz, "sql", "pool", args, backendName="sglang")[0] == 2
    code, err = render(folder, llmaz, "qwen3-8b:sql", "pool", args, backendName="sglang")
    assert code == 0, err
    (rule,) = read_spec(folder, "InferenceModelRewrite")["rules"]
    assert [target["modelRewrite"] for target in rule["targets"]] == ["qwen3-8b:sql"]


def test_adapters_of_another_engines_option_are_not_known(folder: Path, llmaz: Llmaz) -> None:
    """SGLang has no --lora-modules, so what stands behind it loads nothing."""
    code, err = render(folder, llmaz, "sql", "pool", ["--lora-modules", "sql=/a/sql"], backendName="sglang")
    assert code == 2
    assert "hint: known: qwen3-8b;" in err
