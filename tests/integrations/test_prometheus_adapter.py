"""The rules that feed autoscalers: `llmaz presets adapter-rules`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer import load
from tests.inputs import CONFIG, playground

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz

RUNTIME = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: BackendRuntime
metadata: {{name: {name}}}
spec:
  image: registry.example/own
  version: v1
  recommendedConfigs:
    - {{name: default, args: [serve]}}
  engine:
    options: {{style: argparse, list: none}}
    metrics: {{path: /metrics, waiting: "{metric}"}}
    scale: {{metric: waiting, target: "4"}}
"""


def names(text: str) -> list[str]:
    """Under which names the adapter serves what."""
    return [rule["name"]["as"] for rule in yaml.safe_load(text)["rules"]["custom"]]


def scaled() -> dict[str, dict[str, Any]]:
    """`spec.engine` of each preset that says what to scale on."""
    engines = {name: load.preset(f"backends/{name}").value["spec"]["engine"] for name in load.preset_names("backends")}
    return {name: engine for name, engine in engines.items() if "scale" in engine}


def test_a_values_file(llmaz: Llmaz) -> None:
    done = llmaz("presets", "adapter-rules")
    assert (done.code, done.err) == (0, "")
    values = yaml.safe_load(done.out)
    assert list(values) == ["rules"]
    assert values["rules"]["default"] is False
    metrics = sorted({engine["metrics"][engine["scale"]["metric"]] for engine in scaled().values()})
    assert values["rules"]["custom"] == [
        {
            "seriesQuery": f'{metric}{{namespace!="",pod!=""}}',
            "resources": {"overrides": {"namespace": {"resource": "namespace"}, "pod": {"resource": "pod"}}},
            "name": {"as": metric.replace(":", "_")},
            "metricsQuery": "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)",
        }
        for metric in metrics
    ]


def test_the_rules_of_the_presets(llmaz: Llmaz, golden: Golden) -> None:
    golden("data/adapter-rules.yaml", llmaz("presets", "adapter-rules").out)


def test_backends_of_the_tree_count_too(folder: Path, llmaz: Llmaz) -> None:
    (folder / "own.yaml").write_text(RUNTIME.format(name="own", metric="own:waiting"))
    alone, both = llmaz("presets", "adapter-rules"), llmaz("presets", "adapter-rules", ".")
    assert (both.code, both.err) == (0, "")
    assert names(both.out) == sorted([*names(alone.out), "own_waiting"])
    assert list(folder.iterdir()) == [folder / "own.yaml"]  # nothing is written


def test_a_preset_that_is_overridden_is_gone(folder: Path, llmaz: Llmaz) -> None:
    name, engine = next(iter(scaled().items()))
    (folder / "own.yaml").write_text(RUNTIME.format(name=name, metric="own:waiting"))
    metrics = names(llmaz("presets", "adapter-rules", "own.yaml").out)
    assert "own_waiting" in metrics
    assert engine["metrics"][engine["scale"]["metric"]].replace(":", "_") not in metrics


def test_a_path_that_is_not_there(folder: Path, llmaz: Llmaz) -> None:
    done = llmaz("presets", "adapter-rules", "nowhere")
    assert (done.code, done.out) == (2, "")
    assert "[E122]" in done.err


def test_a_tree_without_backends_is_no_mistake(folder: Path, llmaz: Llmaz) -> None:
    assert llmaz("presets", "adapter-rules", ".") == llmaz("presets", "adapter-rules")


@pytest.mark.parametrize("name", scaled())
def test_what_a_preset_scales_on_can_be_read(name: str) -> None:
    engine = scaled()[name]
    assert engine["metrics"]["path"].startswith("/")
    assert engine["scale"]["metric"] in engine["metrics"]


def test_autoscalers_use_these_names(folder: Path, llmaz: Llmaz) -> None:
    """What an HPA asks for is what the rules serve."""
    (folder / "llmaz.yaml").write_text(
        f"{CONFIG}{{autoscaling: {{metricSource: {{type: prometheusAdapter}}}}, gateway: {{mode: off}}}}\n"
    )
    for name, engine in scaled().items():
        formats = engine["formats"]
        model = "qwen3-0--6b" if "safetensors" in formats else "qwen3-0--6b-gguf"
        (folder / f"{name}.yaml").write_text(
            playground(name, model=model, backend=name) + "  elasticConfig: {maxReplicas: 2}\n"
        )
    done = llmaz("render", "--stdout")
    assert done.code == 0, done.err
    scalers = [body for body in yaml.safe_load_all(done.out) if body["kind"] == "HorizontalPodAutoscaler"]
    metrics = {scaler["spec"]["metrics"][0]["pods"]["metric"]["name"] for scaler in scalers}
    assert len(scalers) == len(scaled())
    assert metrics == set(names(llmaz("presets", "adapter-rules").out))
