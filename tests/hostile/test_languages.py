"""Hostile text of inputs in the languages of the output: each finding, from the input to what its reader reads."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.hostile.charts import run
from tests.inputs import CONFIG, backend_runtime, gpu_model, playground
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Llmaz

METRIC = 'x"}) or vector(1) or sum({a="'


def rendered(llmaz: Llmaz, *arguments: str) -> list[dict[str, Any]]:
    """The objects that the program prints."""
    done = llmaz(*(arguments or ("render", "--stdout")))
    assert done.code == 0, done.err
    return [body for body in yaml.safe_load_all(done.out) if body]


def pod(bodies: list[dict[str, Any]]) -> dict[str, Any]:
    """The pod of the one LeaderWorkerSet."""
    [workload] = [body for body in bodies if body["kind"] == "LeaderWorkerSet"]
    pod_spec: dict[str, Any] = workload["spec"]["leaderWorkerTemplate"]["workerTemplate"]["spec"]
    return pod_spec


# --- Helm


def chart_of(llmaz: Llmaz, body: str, *arguments: str) -> list[dict[str, Any]]:
    """What Helm makes of a tree with an object that is passed through."""
    Path("own").mkdir()
    Path("own/it.yaml").write_text(body, "utf-8")
    Path("llmaz.yaml").write_text(f"{CONFIG}{{passThrough: [own/**]}}\n", "utf-8")
    Path("chat.yaml").write_text(playground("chat", "llm", backend="llamacpp"), "utf-8")
    done = llmaz("render", "--to", "helm")
    assert done.code == 0, done.err
    helm = subprocess.run(
        [tool("helm"), "template", "r", "chart", *arguments], capture_output=True, text=True, check=False
    )
    assert helm.returncode == 0, helm.stderr
    return [manifest for manifest in yaml.safe_load_all(helm.stdout) if manifest]


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: x, namespace: llm}}
spec:
  containers: [{{name: c, image: {0}, args: ["a"]}}]
  volumes: [{{name: v, image: {{reference: {0}}}}}]
"""


IMAGES = (
    *('x.y" }}{{ fail "PWN" }}{{ "/z', 'A" {{ lookup "v1" "Secret" "" "" }}/z'),
    *("a.b`{{ `/z", "{{ .Values }}", "a.b\\n/z"),
)


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("registry", ["", "mirror.example"])
def test_an_image_is_no_action(image: str, registry: str, folder: Path, llmaz: Llmaz) -> None:
    flags = ["--set", f"imageRegistry={registry}"] if registry else []
    manifest = next(body for body in chart_of(llmaz, POD.format(json.dumps(image)), *flags) if body["kind"] == "Pod")
    read = [manifest["spec"]["containers"][0]["image"], manifest["spec"]["volumes"][0]["image"]["reference"]]
    is_bare = "/" not in image
    assert read == [f"{registry}/library/{image}" if registry and is_bare else image] * 2


@pytest.mark.parametrize("mark", [r" #llm\x61z:9999#", r" #llm\x61z:0#", r" #llm\x61z:0!#", " #llmaz:0#"])
def test_what_looks_like_a_mark_is_text(mark: str, folder: Path, llmaz: Llmaz) -> None:
    body = f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, namespace: llm}}\ndata: {{a: "{mark}"}}\n'
    [config_map] = [body for body in chart_of(llmaz, body) if body["kind"] == "ConfigMap"]
    assert config_map["data"]["a"] == mark.replace(r"\x61", "a")


def test_every_field_of_every_input(folder: Path) -> None:
    """400 inputs of the 5,000 that the workflow of the week asks about."""
    report = run(str(tool("helm")), 400, seed=1)
    assert report.faults == []
    assert report.refused < 300
    assert report.files > 100


# --- PromQL


def test_a_metric_of_any_name_is_one(folder: Path, llmaz: Llmaz) -> None:
    """In KEDA's query, and in the rules of the adapter."""
    metrics = f"metrics: {{path: /metrics, waiting: {json.dumps(METRIC)}}}, scale: {{metric: waiting, target: 4}}"
    Path("mine.yaml").write_text(backend_runtime(f"{{style: none}}, {metrics}"), "utf-8")
    elastic = "  elasticConfig: {maxReplicas: 3}\n"
    Path("chat.yaml").write_text(playground("chat", "llm", backend="mine") + elastic, "utf-8")
    prometheus = "keda: {prometheus: {serverAddress: 'http://p.m:9090'}}"
    autoscaling = f"autoscaler: keda, metricSource: {{type: prometheus}}, {prometheus}"
    Path("llmaz.yaml").write_text(f"{CONFIG}{{gateway: {{mode: off}}, autoscaling: {{{autoscaling}}}}}\n", "utf-8")
    [scaler] = [body for body in rendered(llmaz) if body["kind"] == "ScaledObject"]
    name = json.dumps(METRIC)
    query = scaler["spec"]["triggers"][0]["metadata"]["query"]
    assert query == f'sum({{__name__={name},namespace="llm",pod=~"chat-[0-9]+"}})'
    [rules] = rendered(llmaz, "presets", "adapter-rules", ".")
    series = [rule["seriesQuery"] for rule in rules["rules"]["custom"]]
    assert f'{{__name__={name},namespace!="",pod!=""}}' in series


# --- What Kubernetes fills into arguments and variables


def test_a_served_name_shows_no_secret(folder: Path, llmaz: Llmaz) -> None:
    """The engine answers to the name that the route matches, not to a token of its environment."""
    name = "$(HF_TOKEN)"
    served = f"  servedModelName: {name}\n"
    Path("chat.yaml").write_text(playground("chat", "llm", backend="llamacpp") + served, "utf-8")
    bodies = rendered(llmaz)
    args = pod(bodies)["containers"][0]["args"]
    assert args[args.index("--alias") + 1] == "$$(HF_TOKEN)"
    [route] = [body for body in bodies if body["kind"] == "AIGatewayRoute"]
    assert route["spec"]["rules"][0]["matches"][0]["headers"][0]["value"] == name


def test_a_revision_is_no_variable_of_a_loader(folder: Path, llmaz: Llmaz) -> None:
    Path("model.yaml").write_text(
        gpu_model("blue").replace("{modelID: a/b}", "{modelID: a/b, revision: 'x$(HF_TOKEN)$$y'}"), "utf-8"
    )
    Path("chat.yaml").write_text(playground("chat", "llm", model="blue", backend="vllm"), "utf-8")
    [loader] = pod(rendered(llmaz))["initContainers"]
    [revision] = [entry["value"] for entry in loader["env"] if entry["name"] == "REVISION"]
    assert revision == "x$$(HF_TOKEN)$$$y"


# --- JSON and YAML inside of options and files

FOLDER = '/weights/a"b # d'


def with_draft(llmaz: Llmaz, backend: str, version: str = "") -> list[dict[str, Any]]:
    """A Playground whose draft model lies in an odd folder of the node."""
    draft = gpu_model("draft").replace("{modelHub: {modelID: a/b}}", "{uri: " + json.dumps(f"host://{FOLDER}") + "}")
    Path("models.yaml").write_text(f"{gpu_model('blue')}---\n{draft}", "utf-8")
    chat = playground("chat", "llm", backend=backend).replace(
        "modelClaim: {modelName: qwen3-0--6b-gguf}",
        "modelClaims: {models: [{name: blue}, {name: draft, role: draft}]}",
    )
    if version:
        chat = chat.replace(f"backendName: {backend}", f"backendName: {backend}, version: {version}")
    Path("chat.yaml").write_text(chat, "utf-8")
    return rendered(llmaz)


def test_a_folder_in_json(folder: Path, llmaz: Llmaz) -> None:
    args = pod(with_draft(llmaz, "vllm", "v0.8.5"))["containers"][0]["args"]
    assert json.loads(args[args.index("--speculative-config") + 1])["model"] == FOLDER


def test_a_folder_in_yaml(folder: Path, llmaz: Llmaz) -> None:
    [config] = [body for body in with_draft(llmaz, "tensorrt-llm") if body["kind"] == "ConfigMap"]
    options = yaml.safe_load(config["data"]["options.yaml"])
    assert options["speculative_config"]["speculative_model_dir"] == FOLDER


# --- Go templates and globs of an ApplicationSet


def test_an_application_set_has_no_action_of_ours(folder: Path, llmaz: Llmaz) -> None:
    Path("chat.yaml").write_text(playground("chat", "llm", backend="llamacpp"), "utf-8")
    flags = ("--repo-url", 'https://git.example/{{fail"x"}}', "--revision", "{{.x}}", "--path", "a*/[b]")
    bodies = rendered(llmaz, "argocd", "applicationset", *flags)
    [body] = [body for body in bodies if body["kind"] == "ApplicationSet"]
    source = body["spec"]["template"]["spec"]["source"]
    assert source["repoURL"] == 'https://git.example/{{`{{`}}fail"x"}}'
    assert source["targetRevision"] == "{{`{{`}}.x}}"
    [generator] = [part["git"] for part in body["spec"]["generators"]]
    assert (generator["repoURL"], generator["revision"]) == (flags[1], flags[3])  # these are none
    assert generator["directories"][0] == {"path": r"a\*/\[b\]/*"}


def test_flux_substitutes_nothing(folder: Path, llmaz: Llmaz) -> None:
    """`${NAME}` is filled in where `postBuild` asks for it."""
    Path("chat.yaml").write_text(playground("chat", "llm", backend="llamacpp"), "utf-8")
    bodies = rendered(llmaz, "flux", "kustomization", "--repo-url", "https://git.example/a", "--path", "${A}")
    assert [body["spec"]["path"] for body in bodies if body["kind"] == "Kustomization"] == ["./${A}"]
    assert "postBuild" not in json.dumps(bodies)
