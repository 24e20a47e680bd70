"""Each entry of presets/foreign_words.yaml: the hint that comes of it, followed word for word."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from renderer import foreign_words
from renderer.cli.commands import cli
from renderer.preset_tables import preset_table
from tests.conftest import Llmaz
from tests.hint_text import filled, merge
from tests.paths import ROOT, TESTS

CASES: Mapping[str, list[dict[str, Any]]] = yaml.safe_load((TESTS / "data" / "foreign_words.yaml").read_text("utf-8"))


def hub(name: str) -> dict[str, Any]:
    return {"modelHub": {"modelID": f"org/{name}", "revision": "v1"}}


GPU: dict[str, Any] = {"inferenceConfig": {"flavors": [{"name": "gpu", "limits": {"nvidia.com/gpu": 1}}]}}
ADAPTER: dict[str, Any] = {"facts": {"adapter": {"rank": 16}}}
TWO: dict[str, Any] = {"inferenceConfig": {"flavors": [{"name": "gpu", "limits": {"nvidia.com/gpu": 2}}]}}
VERSIONS = {
    "OpenModel": "llmaz.io/v1alpha1",
    "Playground": "inference.llmaz.io/v1alpha1",
    "BackendRuntime": "inference.llmaz.io/v1alpha1",
    "InferenceModel": "inference.networking.x-k8s.io/v1alpha2",
}
USUAL: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("RenderConfig", "config"): {
        "gateway": {"mode": "backend", "hostnames": ["llm.example.com"]},
        "autoscaling": {"metricSource": {"type": "prometheusAdapter"}},
    },
    **{
        ("OpenModel", name): {"familyName": "blue", "source": hub(name), **fields}
        for name, fields in (("blue", GPU), ("two", TWO), ("small", GPU), ("tuned", ADAPTER), ("terse", ADAPTER))
    },
    ("Playground", "chat"): {"modelClaim": {"modelName": "blue"}},
}
MORE: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("ModelRoute", "route"): {"modelName": "chat", "backends": [{"playground": "chat"}]},
    ("InferenceModel", "route"): {"modelName": "chat", "poolRef": {"name": "chat"}},
    ("RenderPolicy", "policy"): {},
    ("BackendRuntime", "mine"): {
        "image": "vllm/vllm-openai",
        "version": "v0.33.0",
        "command": ["vllm", "serve"],
        "recommendedConfigs": [{"name": "default", "args": ["{{ ModelPath }}", "--port", "{{ Port }}"]}],
        "engine": {"options": {"style": "argparse", "list": "flags/vllm.txt", "version": r"^v?(\d+\.\d+\.\d+)"}},
    },
}
TENANTS = {"gateway": {"hostnames": ["llm.example.com"], "auth": {"apiKeys": {"secretName": "tenants"}}}}
HINT = re.compile(
    r"write (?P<fields>.+?)(?: in place of (?P<instead>\w+(?: and \w+)*))?(?: in spec(?: of (?P<of>[\w ]+))?)?(?:; .*)?"
)
Objects = dict[tuple[str, str], dict[str, Any]]


def objects_of(kind: str, model: str = "") -> tuple[Objects, dict[str, Any]]:
    """The objects of a tree, and the spec of the one that a case is about."""
    objects: Objects = {identity: copy.deepcopy(dict(spec)) for identity, spec in USUAL.items()}
    identity = next(identity for identity in (*USUAL, *MORE) if identity[0] == kind)
    if identity in MORE:
        objects[identity] = copy.deepcopy(dict(MORE[identity]))
    if kind == "ModelRoute":
        objects["RenderConfig", "config"] = copy.deepcopy(TENANTS)
    if model:
        objects["Playground", "chat"]["modelClaim"] = {"modelName": model}
    return objects, objects[identity]


def findings(objects: Objects, folder: Path, llmaz: Llmaz) -> list[dict[str, Any]]:
    """The errors and warnings about a tree with these objects."""
    texts: dict[str, list[str]] = {"llmaz.yaml": [], "llmaz-policy.yaml": [], "all.yaml": []}
    files = {"RenderConfig": "llmaz.yaml", "RenderPolicy": "llmaz-policy.yaml"}
    for (kind, name), spec in objects.items():
        version = VERSIONS.get(kind, "renderer.llmaz.io/v1alpha1")
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
        texts[files.get(kind, "all.yaml")].append(yaml.safe_dump(body))
    for name, documents in texts.items():
        (folder / name).unlink(missing_ok=True)
        if documents:
            (folder / name).write_text("---\n".join(documents), "utf-8")
    problems: list[dict[str, Any]] = json.loads(llmaz("validate", "--format", "json").out)
    return [finding for finding in problems if finding["severity"] != "note"]


def parent_of(spec: Any, path: list[str]) -> Any:
    """What holds the last part of a path; maps that are not there are made."""
    for part in path[:-1]:
        spec = spec[int(part)] if part.isdigit() else spec.setdefault(part, {})
    return spec


def follow(case: Mapping[str, Any], objects: Objects, spec: dict[str, Any], path: list[str]) -> None:
    """Does what the hint of a case says."""
    parent = parent_of(spec, path)
    written = parent.pop(path[-1])
    if "followed" in case:
        spec.pop(case.get("without", ""), None)
        merge(spec, case["followed"])
        merge(objects["Playground", "chat"], case.get("playground", {}))
        if "playground" in case:
            objects["Playground", "chat"].pop("modelClaim")
        return
    match = HINT.fullmatch(case["hint"])
    assert match, case["hint"]
    fields = filled(yaml.safe_load(f"{{{match['fields']}}}"), written[case["stands"]] if "stands" in case else written)
    for key in (match["instead"] or "").split(" and "):
        parent.pop(key, None)
    if match["of"]:
        kind = match["of"].split()[-1]
        if kind == "ModelRoute":
            objects["RenderConfig", "config"] = copy.deepcopy(TENANTS)
            objects["ModelRoute", "route"] = copy.deepcopy(dict(MORE["ModelRoute", "route"]))
        if kind == "OpenModel" and "source" in fields:
            del objects["OpenModel", "blue"]["source"]
        merge(next(item for (other, _), item in objects.items() if other == kind), fields)
    else:
        merge(spec if re.search(r" in spec(;|$)", case["hint"]) else parent, fields)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def name_of(case: Mapping[str, Any]) -> str:
    return f"{case['kind']} {case.get('at', case['key'])}: {str(case['value'])[:30]}"


@pytest.mark.parametrize("case", CASES["keys"], ids=name_of)
def test_a_field_of_others(case: dict[str, Any], tree: Path, llmaz: Llmaz) -> None:
    objects, spec = objects_of(case["kind"], case.get("model", ""))
    if "replicas" in case:
        objects["Playground", "chat"]["replicas"] = case["replicas"]
    merge(spec, case.get("beside", {}))
    if "followed" not in case or "." not in case["key"]:
        spec.pop(case.get("without", ""), None)
    path = str(case.get("at", case["key"])).split(".")
    parent_of(spec, case["key"].split("."))[case["key"].split(".")[-1]] = copy.deepcopy(case["value"])
    problems = findings(objects, tree, llmaz)
    assert case["hint"] in [finding["hint"] for finding in problems]
    follow(case, objects, spec, path)
    # A word beside it that is no field either has its own hint, which leads to the same.
    assert findings(objects, tree, llmaz) == []


@pytest.mark.parametrize("case", CASES["schemes"], ids=lambda case: str(case["uri"]))
def test_a_scheme_of_others(case: dict[str, Any], tree: Path, llmaz: Llmaz) -> None:
    objects, spec = objects_of("OpenModel")
    objects["Playground", "chat"]["backendRuntimeConfig"] = {"backendName": case.get("backend", "vllm")}
    if "backend" in case:
        del spec["inferenceConfig"]
    merge(objects["RenderConfig", "config"], case.get("config", {}))
    spec["source"] = {"uri": case["uri"]}
    assert [finding["hint"] for finding in findings(objects, tree, llmaz)] == [case["hint"]]
    match = HINT.fullmatch(case["hint"])
    spec["source"] = case.get("followed") or yaml.safe_load(f"{{{match['fields'] if match else ''}}}")
    assert findings(objects, tree, llmaz) == []


def test_every_entry_has_a_case() -> None:
    """Fields of older releases, whose hints are in words alone, are in test_older_fields.py and tests/errors."""
    shown = {re.sub(r"\.\d+", "", str(case.get("at", case["key"]))) for case in CASES["keys"]}
    shown |= {re.sub(r"^(\w+)\.\w+\.", r"\1.*.", key) for key in shown}
    goldens = "".join(path.read_text("utf-8") for path in (TESTS / "errors").glob("*/stderr.txt"))
    goldens += (TESTS / "load" / "test_older_fields.py").read_text("utf-8")
    for (kind, key), entries in foreign_words._keys().items():
        for entry in entries:
            text = entry.hint.partition("$")[0]
            assert key in shown or (text and text in goldens), f"{kind} {key}"


def test_every_scheme_has_a_case() -> None:
    addresses = [str(case["uri"]) for case in CASES["schemes"]]
    for scheme in foreign_words._schemes():
        starts = [f"{name}:" for name in scheme.names] or [scheme.prefix]
        assert any(address.lower().startswith(tuple(starts)) for address in addresses), scheme


@pytest.mark.parametrize("backend", ["vllm", "sglang", "tensorrt-llm"])
def test_what_a_metric_of_shares_aims_at(backend: str) -> None:
    metrics = yaml.safe_load((ROOT / "presets" / "backends" / f"{backend}.yaml").read_text("utf-8"))["spec"]["engine"][
        "metrics"
    ]
    path = ("spec", "elasticConfig", "scaleTrigger", "hpa", "metrics", 0, "pods", "target")
    for role in {"running", "waiting", "kvUsage"} & {*metrics}:
        pods = {"metric": {"name": metrics[role]}, "target": {"type": "Utilization"}}
        value = {"spec": {"elasticConfig": {"scaleTrigger": {"hpa": {"metrics": [{"pods": pods}]}}}}}
        hint = foreign_words.missing_hint("Playground", "input/playground", value, path, "averageValue")
        assert hint.startswith('write averageValue: "0.8";' if role == "kvUsage" else "write averageValue: 5;"), role


@pytest.mark.parametrize(
    ("kind", "ours"),
    [("Model", "OpenModel"), ("InferenceService", "Playground"), ("ServingRuntime", "BackendRuntime")],
)
def test_a_kind_of_others(kind: str, ours: str, tree: Path, llmaz: Llmaz) -> None:
    version = VERSIONS[ours]
    (tree / "all.yaml").write_text(f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{}}\n")
    problems = json.loads(llmaz("validate", "--format", "json").out)
    assert f"write kind: {ours}" in [finding["hint"] for finding in problems]


@pytest.mark.parametrize(("args", "hint"), [
    (["render", "-f", "a.yaml"], "name files and folders as they are: llmaz render chat.yaml"),
    (["routes", "-n", "llm"], "metadata.namespace of an object says it"),
    (["render", "--dry-run"], "llmaz validate writes nothing, llmaz render --stdout prints"),
    (["diff", "--kubeconfig", "a"], "llmaz asks no cluster"),
    (["render", "-R"], "folders are read with all that is below them"),
])  # fmt: skip
def test_an_option_of_others(args: list[str], hint: str, llmaz: Llmaz) -> None:
    done = llmaz(*args)
    assert (done.code, done.out) == (2, "")
    assert f"No such option '{args[1]}': {hint}" in done.err


@pytest.mark.parametrize("word", [word for row in preset_table("foreign_words")["commands"] for word in row["words"]])
def test_a_command_of_others(word: str, llmaz: Llmaz) -> None:
    """What it leads to is a command of ours, with options that it has."""
    done = llmaz(word)
    assert (done.code, done.out) == (2, "")
    hint = done.err.rpartition(f"No such command '{word}': ")[2].strip()
    named = re.findall(r"llmaz ((?:--)?[a-z]+(?: --?[a-z-]+| list| show| vendor)*)", hint)
    assert named or hint.startswith("a newer llmaz")
    for line in named:
        command, *rest = [part for part in line.split() if part not in ("does", "writes", "deletes")]
        if command.startswith("--"):
            assert llmaz(command).code == 0
        elif command not in ("changes", "asks", "is"):
            shown = llmaz(command, *(part for part in rest if not part.startswith("-")), "--help")
            assert shown.code == 0, shown.err
            assert all(option in shown.out for option in rest if option.startswith("--"))
    assert word not in cli.list_commands(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("word", "command"),
    [("rendr", "render"), ("dif", "diff"), ("expl", "explain"), ("preset", "presets"), ("valdate", "validate")],
)
def test_a_misspelt_command(word: str, command: str, llmaz: Llmaz) -> None:
    assert f"No such command '{word}': did you mean '{command}'?" in llmaz(word).err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["presets", "search"], "llmaz presets list does that"),
        (["presets", "lst"], "did you mean 'list'?"),
        (["argocd", "apps"], "known: application, "),
        (["flux", "source"], "known: kustomization"),
    ],
)
def test_an_unknown_command_of_a_group(words: list[str], hint: str, llmaz: Llmaz) -> None:
    done = llmaz(*words)
    assert (done.code, done.out) == (2, "")
    assert f"No such command '{words[1]}': {hint}" in done.err


def test_an_unknown_command_lists_all(llmaz: Llmaz) -> None:
    assert f"known: {', '.join(sorted(cli.list_commands(None)))}" in llmaz("nonesuch").err  # type: ignore[arg-type]
