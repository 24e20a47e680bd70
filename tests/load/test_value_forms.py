"""A value in another form than the schema wants: the hint, followed, gives a valid tree that means the same."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import Llmaz
from tests.hint_text import filled
from tests.test_foreign_words import findings, objects_of, parent_of

KEY = "hf_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"
GPU = {"nvidia.com/gpu": 1}
POD = "podTemplate.spec"
# Kind, field, what is written there, and what is meant by it.
FORMS: list[tuple[str, str, object, object]] = [
    ("Playground", "replicas", "1k", 1000),
    ("Playground", "replicas", "1,000", 1000),
    ("OpenModel", "facts.contextLength", "32k", 32768),
    ("OpenModel", "facts.contextLength", "131,072", 131072),
    ("Playground", f"{POD}.terminationGracePeriodSeconds", "10m", 600),
    ("RenderConfig", "gateway.dnsTTL", "1m", 60),
    ("OpenModel", "facts.contextLength", "1m", 1048576),
    ("OpenModel", "facts.weightsGiB", "15GB", 14),
    ("OpenModel", "facts.weightsGiB", "15Gi", 15),
    ("OpenModel", "facts.weightsGiB", "2048 MiB", 2),
    ("OpenModel", "facts.weightsGiB", "500MB", 0.466),
    ("Playground", f"{POD}.hostIPC", "true", True),
    ("Playground", f"{POD}.hostIPC", "no", False),
    ("RenderConfig", "gateway.create", "yes", True),
    ("RenderPolicy", "pods.privileged", "false", False),
    ("Playground", "gateway.timeouts.request", 30, "30s"),
    ("Playground", "gateway.timeouts.request", "5 minutes", "5m"),
    ("Playground", "gateway.timeouts.request", "1d", "24h"),
    ("Playground", "gateway.timeouts.request", "5m 30s", "5m30s"),
    ("ModelRoute", "timeouts.request", "1.5h", "1h30m"),
    ("ModelRoute", "timeouts.streamIdle", "300sec", "5m"),
    ("RenderConfig", "gateway.hostnames.0", "https://llm.example.com/v1", "llm.example.com"),
    ("RenderConfig", "gateway.hostnames.0", "LLM.example.com:443", "llm.example.com"),
    ("RenderConfig", "targets.kubernetes", "v1.33.2", "1.33"),
    ("RenderConfig", "gateway.name", ["edge"], "edge"),
    ("RenderConfig", "gateway", "edge", {"name": "edge"}),
    ("RenderConfig", "gateway.hostnames", "a.example, b.example", ["a.example", "b.example"]),
    ("Playground", "backendRuntimeConfig.envs", {"A": "b"}, [{"name": "A", "value": "b"}]),
    ("Playground", "backendRuntimeConfig.envs", {"C": 1}, [{"name": "C", "value": "1"}]),
    ("Playground", "backendRuntimeConfig.envs.0", "A=b", {"name": "A", "value": "b"}),
    ("Playground", f"{POD}.imagePullSecrets", "regcred", [{"name": "regcred"}]),
    ("Playground", f"{POD}.tolerations", {"key": "gpu", "operator": "Exists"}, [{"key": "gpu", "operator": "Exists"}]),
    ("Playground", f"{POD}.nodeSelector", [{"a": "b"}, {"c": "d"}], {"a": "b", "c": "d"}),
    ("Playground", f"{POD}.nodeSelector", "a=b", {"a": "b"}),
    ("Playground", "podTemplate.metadata.annotations", ["a=b"], {"a": "b"}),
    ("RenderConfig", "environments", ["prod"], {"prod": {}}),
    ("RenderConfig", "images.mirrors", ["docker.io=registry.example"], {"docker.io": "registry.example"}),
    ("RenderConfig", "flavors", [{"name": "big", "limits": GPU}], {"big": {"limits": GPU}}),
    ("ModelRoute", "backends", "chat", [{"playground": "chat"}]),
    ("ModelRoute", "backends", {"playground": "chat"}, [{"playground": "chat"}]),
    ("ModelRoute", "backends.0", "chat", {"playground": "chat"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "field", "written", "meant_value"), FORMS)
def test_a_value_in_another_form(
    kind: str,
    field: str,
    written: Any,
    meant_value: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    llmaz: Llmaz,
) -> None:
    monkeypatch.chdir(tmp_path)
    objects, spec = objects_of(kind)
    *_, last = path = field.split(".")
    if last.isdigit():
        parent_of(spec, path[:-1])[path[-2]] = [None]
    parent, key = parent_of(spec, path), int(last) if last.isdigit() else last
    parent[key] = copy.deepcopy(written)
    hints = [re.fullmatch(r"write (.*)", finding["hint"]) for finding in findings(objects, tmp_path, llmaz)]
    hint = next(match[1] for match in hints if match).removeprefix("a list: ")
    text = yaml.safe_load(hint if hint[0] in "{[" or ": " not in hint else f"{{{hint}}}")
    stands = written
    if isinstance(written, list) and isinstance(written[0], dict):
        stands = {name: value for name, value in written[0].items() if name != "name"}
    value = filled(text, stands)
    value = value[last] if isinstance(value, dict) and [*value] == [last] else value
    assert value == meant_value
    parent[key] = value
    assert findings(objects, tmp_path, llmaz) == []


def test_secrets_are_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    monkeypatch.chdir(tmp_path)
    for field in ("env", "envs"):
        objects, spec = objects_of("Playground")
        spec.update(
            {"env": {"HF_TOKEN": KEY}} if field == "env" else {"backendRuntimeConfig": {"envs": {"HF_TOKEN": KEY}}}
        )
        problems = findings(objects, tmp_path, llmaz)
        assert ["envs: [{name: HF_TOKEN, value: …}]" in finding["hint"] for finding in problems] == [True]
        assert KEY not in str(problems)


@pytest.mark.parametrize(
    ("field", "written"),
    [
        ("replicas", "many"),
        ("replicas", "50%"),
        ("replicas", "2m"),
        ("gateway.timeouts.request", "soon"),
        ("service", "web"),
        ("service", [{"name": "web"}, 80]),
    ],
)
def test_what_nobody_can_tell(
    field: str, written: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    monkeypatch.chdir(tmp_path)
    objects, spec = objects_of("Playground")
    path = field.split(".")
    parent_of(spec, path)[path[-1]] = written
    hints = [finding["hint"] for finding in findings(objects, tmp_path, llmaz)]
    assert hints in ([""], ["write a duration such as 300s"], ["write service: {name: web}"])


def test_an_address_without_its_scheme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz) -> None:
    monkeypatch.chdir(tmp_path)
    objects, spec = objects_of("RenderConfig")
    prometheus = {"serverAddress": "prom.monitoring:9090"}
    spec["autoscaling"] = {"autoscaler": "keda", "keda": {"prometheus": prometheus}}
    hints = [finding["hint"] for finding in findings(objects, tmp_path, llmaz)]
    assert hints == ["write serverAddress: http://prom.monitoring:9090"]
    prometheus["serverAddress"] = "http://prom.monitoring:9090"
    assert findings(objects, tmp_path, llmaz) == []


@pytest.mark.parametrize(("written", "seconds"), [("5m", 300), ("5 minutes", 300), ("1h30m", 5400)])
def test_a_duration_in_a_field_of_seconds(
    written: str, seconds: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, llmaz: Llmaz
) -> None:
    monkeypatch.chdir(tmp_path)
    objects, spec = objects_of("RenderConfig")
    spec["autoscaling"] = {"autoscaler": "keda", "keda": {"cooldown": written}}
    hints = [finding["hint"] for finding in findings(objects, tmp_path, llmaz)]
    assert f"write cooldown: {seconds}" in hints
