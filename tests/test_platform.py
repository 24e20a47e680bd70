"""charts/llmaz: what it makes for Argo CD, for Flux and for nobody, what it refuses, and that nothing in it moves.

A folder of tests/platform is a value set: values.yaml, and expected.yaml, which is what the true Helm makes of it.
`scripts/tools.sh helm kubeconform` gets the programs. Without them tests are skipped, in CI they fail.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from renderer import __version__
from scripts import make_chart_docs
from tests.test_go_judges import tool
from tests.test_helm import Objects, objects

if TYPE_CHECKING:
    from tests.conftest import Golden

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CHART = ROOT / "charts" / "llmaz"
SETS = sorted(path.parent.name for path in (HERE / "platform").glob("*/values.yaml"))
VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
PARTS: list[dict[str, Any]] = yaml.safe_load((CHART / "files" / "parts.yaml").read_text("utf-8"))
COMPONENTS = list(dict.fromkeys(part["component"] for part in PARTS))
ENGINES = {"argocd": "everything", "flux": "everything-flux"}
LOCATION = '/{{if eq .Group "v1"}}core{{else}}{{.Group}}{{end}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'
WEBHOOKS = {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"}
Values = Mapping[str, Any]
Body = dict[str, Any]


def helm(*args: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """The pinned Helm, as somebody without settings of his own calls it."""
    return subprocess.run(
        [tool("helm"), *args], capture_output=True, text=True, check=False, cwd=home, env={"HOME": str(home)}
    )


def told(folder: Path, values: Values | Path, *more: str) -> subprocess.CompletedProcess[str]:
    """`helm template` with these values."""
    file = folder / "values-of-a-test.json"
    if isinstance(values, Path):
        file = values
    else:
        file.write_text(json.dumps(values), "utf-8")
    return helm("template", "llmaz", CHART, "--namespace", "llmaz-system", "--values", file, *more, home=folder)


def made(folder: Path, values: Values | Path) -> Objects:
    done = told(folder, values)
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def given(name: str) -> Body:
    """The values of a set."""
    values: Body = yaml.safe_load((HERE / "platform" / name / "values.yaml").read_text("utf-8"))
    return values


def parts(found: Objects) -> dict[str, Body]:
    """Applications, or HelmReleases and Kustomizations, by the name of the part."""
    kinds = ("Application", "HelmRelease", "Kustomization")
    return {key[3].removeprefix("llmaz-"): body for key, body in found.items() if key[1] in kinds}


def chart_values(body: Body) -> Body:
    """What a part's chart gets."""
    spec = body["spec"]
    values: Body = spec["source"]["helm"].get("valuesObject", {}) if body["kind"] == "Application" else spec["values"]
    return values


def refused(folder: Path, values: Values) -> str:
    done = told(folder, values)
    assert done.returncode != 0, done.stdout[:500]
    assert done.stdout == ""
    return done.stderr


def notes(folder: Path, values: Values | Path) -> str:
    """What Helm says after an installation."""
    file = folder / "values-of-notes.json"
    file.write_text(json.dumps(dict(values)) if not isinstance(values, Path) else values.read_text("utf-8"), "utf-8")
    done = helm("install", "llmaz", CHART, "--dry-run=client", "--values", file, home=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("NOTES:")[2]


# --- what it makes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_what_a_value_set_makes(name: str, tmp_path: Path, golden: Golden) -> None:
    done = told(tmp_path, HERE / "platform" / name / "values.yaml")
    assert done.returncode == 0, done.stderr
    # a dashboard is a file of its own, which need not stand here again
    golden(f"platform/{name}/expected.yaml", re.sub(r"(\n  \S+\.json: )\|(\n    .*)+", r"\1'{}'", done.stdout))
    again = told(tmp_path, HERE / "platform" / name / "values.yaml")
    assert again.stdout == done.stdout


def test_a_packed_chart_makes_the_same(tmp_path: Path) -> None:
    done = helm("package", CHART, home=tmp_path)
    assert done.returncode == 0, done.stderr
    [packed] = tmp_path.glob("llmaz-*.tgz")
    assert packed.name == f"llmaz-{__version__}.tgz"
    values = HERE / "platform" / "everything" / "values.yaml"
    done = helm("template", "llmaz", packed, "--namespace", "llmaz-system", "--values", values, home=tmp_path)
    assert done.stdout == told(tmp_path, values).stdout


def test_each_folder_is_a_value_set() -> None:
    files = {
        path.relative_to(HERE / "platform").as_posix() for path in (HERE / "platform").rglob("*") if path.is_file()
    }
    assert files == {f"{name}/{file}" for name in SETS for file in ("values.yaml", "expected.yaml")}
    assert len(SETS) >= 6


def test_lint(tmp_path: Path) -> None:
    for name in SETS:
        values = HERE / "platform" / name / "values.yaml"
        done = helm("lint", "--strict", CHART, "--values", values, home=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def test_kubeconform(tmp_path: Path) -> None:
    """Every object of every golden has a schema, and nothing is skipped."""
    folders = (ROOT / "renderer/schemas/output", HERE / "data/schemas")
    goldens = sorted((HERE / "platform").glob("*/expected.yaml"))
    command: list[str | Path] = [
        tool("kubeconform"),
        "-strict",
        "-summary",
        *(f"-schema-location={each}{LOCATION}" for each in folders),
    ]
    done = subprocess.run([*command, *goldens], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Skipped: 0" in done.stdout
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(goldens[0].read_text("utf-8").replace("syncPolicy:", "syncPolicies:"), "utf-8")
    done = subprocess.run([*command, wrong], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode != 0


# --- switches -------------------------------------------------------------------------------------------------------


def test_on_by_default() -> None:
    on = {name for name in COMPONENTS if VALUES[name]["enabled"]}
    assert on == {"leaderWorkerSet", "envoyGateway", "envoyAIGateway", "inferenceExtension"}
    assert set(COMPONENTS) == {name for name, value in VALUES.items() if isinstance(value, dict) and "repoURL" in value}


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_left_of_what_is_switched_off(engine: str, component: str, tmp_path: Path) -> None:
    whole = given(ENGINES[engine])
    its = {f"llmaz-{part['name']}" for part in PARTS if part["component"] == component}
    on = made(tmp_path, whole)
    assert its & {key[3] for key in on}
    off = made(tmp_path, {**whole, component: {**whole.get(component, {}), "enabled": False}})
    assert its & {key[3] for key in off} == set()
    gone = {key for key in on if key not in off}
    crd = {"openmodels.llmaz.io"} if component == "inftyaiScheduler" else set()
    assert {key[3] for key in gone} <= its | crd
    assert crd <= {key[3] for key in gone}
    assert set(off) < set(on)
    said = json.dumps(list(parts(off).values()))
    alone = {
        "keda": "keda",
        "karpenter": r"karpenter(?!\.sh|\.k8s|Node)",
        "leaderWorkerSet": r"\blws\b",
        "gpuOperator": "gpu-operator",
        "inferenceExtension": "inference-extension|llm-d",
        "certManager": r"cert-manager(?!\.io)|certManager",
        "openWebUI": "webui",
        "inftyaiScheduler": "inftyai-scheduler",
        "prometheusAdapter": "prometheus-adapter|seriesQuery",
        "prometheus": "kube-prometheus-stack|grafana-admin",
        "envoyAIGateway": "ai-gateway-helm|extensionManager",
        "envoyGateway": 'gateway-helm"|gateway-crds-helm"|backendResources',
    }[component]
    if component == "envoyGateway":
        said = said.replace("ai-gateway-helm", "").replace("ai-gateway-crds-helm", "")
    assert re.search(alone, json.dumps(list(parts(on).values())))
    assert re.search(alone, said) is None


@pytest.mark.parametrize("component", [name for name in COMPONENTS if "crds" in VALUES[name]])
@pytest.mark.parametrize("engine", ENGINES)
def test_crds_of_somebody_else(engine: str, component: str, tmp_path: Path) -> None:
    """`crds.enabled: false`: no part of them, and the chart brings none either."""
    whole = given(ENGINES[engine])
    whole[component] = {**whole.get(component, {}), "crds": {"enabled": False}}
    found = parts(made(tmp_path, whole))
    assert {part["name"] for part in PARTS if part["component"] == component and part.get("crds")} & set(found) == set()
    [main] = [part["name"] for part in PARTS if part["component"] == component and not part.get("crds")]
    spec = found[main]["spec"]
    if engine == "flux":
        assert (
            spec["install"]["crds"] == "Skip"
            or not spec["values"].get("crds", {}).get("install", True)
            or (component in ("envoyAIGateway", "certManager"))
        )
    else:
        assert spec["source"]["helm"].get("skipCrds") or component in ("envoyAIGateway", "certManager", "keda")
    if component in ("keda", "certManager"):
        assert set(chart_values(found[main])["crds"].values()) == {False}


# --- Argo CD --------------------------------------------------------------------------------------------------------


def test_applications_are_alike(tmp_path: Path) -> None:
    found = parts(made(tmp_path, given("everything")))
    known = {part["name"]: part for part in PARTS}
    for name, body in found.items():
        spec, policy = body["spec"], body["spec"]["syncPolicy"]
        assert body["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == str(known[name]["wave"])
        assert {"ServerSideApply=true", "SkipDryRunOnMissingResource=true"} <= set(policy["syncOptions"])
        assert policy["retry"]["limit"] > 0
        assert policy["automated"]["selfHeal"] is True
        assert ("RespectIgnoreDifferences=true" in policy["syncOptions"]) == ("ignoreDifferences" in spec)
        assert not spec["source"]["repoURL"].startswith("oci://")
        assert ("CreateNamespace=true" in policy["syncOptions"]) == ("namespace" in spec["destination"])
        lasting = bool(known[name].get("crds") or known[name].get("holdsCrds"))
        assert policy["automated"]["prune"] is not lasting
        assert ("finalizers" in body["metadata"]) is not lasting  # CRDs stay when their Application goes


def test_waves_are_in_the_order_of_what_needs_what() -> None:
    waves = {part["name"]: part["wave"] for part in PARTS}
    for part in PARTS:
        if part.get("crds"):
            assert part["wave"] == -3, part
        for other in part.get("after", []):
            assert waves[other] < part["wave"], part
    order = ("lws", "cert-manager", "ai-gateway", "envoy-gateway", "open-webui")
    assert [waves[name] for name in order] == [-2, -2, -1, 0, 2]
    assert [part["wave"] for part in PARTS] == sorted(part["wave"] for part in PARTS)


def test_what_argo_cd_is_to_ignore(tmp_path: Path) -> None:
    """A caBundle that a controller writes; and the AI gateway's certificate, which its chart makes anew each time."""
    found = parts(made(tmp_path, given("everything")))
    seen = {
        name: body["spec"]["ignoreDifferences"] for name, body in found.items() if "ignoreDifferences" in body["spec"]
    }
    assert set(seen) == {"lws", "ai-gateway", "keda", "prometheus-adapter"}
    for entries in seen.values():
        for entry in entries:
            if entry["kind"] in WEBHOOKS:
                assert entry["group"] == "admissionregistration.k8s.io"
                assert entry["jqPathExpressions"] == [".webhooks[]?.clientConfig.caBundle"]
            else:
                assert (entry["kind"], entry["jsonPointers"]) == ("APIService", ["/spec/caBundle"])
    [secret] = [
        entry
        for entry in parts(made(tmp_path, {}))["ai-gateway"]["spec"]["ignoreDifferences"]
        if entry["kind"] == "Secret"
    ]
    assert secret == {
        "kind": "Secret",
        "name": "self-signed-cert-for-mutating-webhook",
        "namespace": "envoy-ai-gateway-system",
        "jsonPointers": ["/data"],
    }
    assert chart_values(found["ai-gateway"])["controller"]["mutatingWebhook"] == {"certManager": {"enable": True}}


def test_crds_lie_in_one_application(tmp_path: Path) -> None:
    """Under Argo CD, which would prune them: the charts that carry some are told to leave them out."""
    found = parts(made(tmp_path, given("everything")))
    for name in ("lws", "envoy-gateway", "prometheus", "karpenter"):
        assert found[name]["spec"]["source"]["helm"]["skipCrds"] is True
    for name in ("keda", "cert-manager", "prometheus", "envoy-gateway"):
        assert set(chart_values(found[name])["crds"].values()) == {False}


# --- Flux -----------------------------------------------------------------------------------------------------------


def test_releases_and_their_sources(tmp_path: Path) -> None:
    found = made(tmp_path, given("everything-flux"))
    names = {(key[1], key[3]) for key in found}
    for body in parts(found).values():
        spec = body["spec"]
        if body["kind"] == "Kustomization":
            assert spec["prune"] is False
            assert (spec["sourceRef"]["kind"], spec["sourceRef"]["name"]) in names
            continue
        if body["metadata"]["name"] == "llmaz-own":
            assert spec["chart"]["spec"]["sourceRef"] == {
                "kind": "GitRepository",
                "name": "platform",
                "namespace": "flux-system",
            }
            continue
        source = spec.get("chartRef") or spec["chart"]["spec"]["sourceRef"]
        assert (source["kind"], source["name"]) in names
        assert spec["install"]["crds"] == spec["upgrade"]["crds"]
        assert spec["install"]["createNamespace"] is True
        for other in spec.get("dependsOn", []):
            assert ("HelmRelease", other["name"]) in names
    crds = {
        name: body["spec"]["install"].get("crds") for name, body in parts(found).items() if "install" in body["spec"]
    }
    assert {name for name, value in crds.items() if value == "Skip"} == {"envoy-gateway", "karpenter"}
    assert {value for name, value in crds.items() if name not in ("envoy-gateway", "karpenter", "own")} == {
        "CreateReplace"
    }


def test_flux_keeps_crds_that_are_templates(tmp_path: Path) -> None:
    """Helm deletes them with the release, and every object of their kinds."""
    found = parts(made(tmp_path, given("everything-flux")))
    kept = {name for name, body in found.items() if "postRenderers" in body["spec"]}
    assert kept == {"ai-gateway-crds", "karpenter-crds", "keda"}
    for name in kept:
        [patch] = found[name]["spec"]["postRenderers"][0]["kustomize"]["patches"]
        annotations = yaml.safe_load(patch["patch"])["metadata"]["annotations"]
        assert annotations == {"helm.sh/resource-policy": "keep"}


def test_flux_makes_own_objects_by_a_second_release(tmp_path: Path) -> None:
    """What the second release gets makes what Argo CD has in the first."""
    moved = {"envoyGateway": {"namespace": "proxies"}}
    whole = {**given("everything-flux"), **moved, "redis": {"enabled": True, "from": "proxies"}}
    flux = made(tmp_path, whole)
    kinds = {key[1] for key in flux}
    assert not kinds & {"Gateway", "NodePool", "Deployment", "ConfigMap"}
    second = made(tmp_path, chart_values(parts(flux)["own"]))
    argo = made(tmp_path, {**whole, "engine": "argocd"})
    own = {key for key in argo if key[1] not in ("Application", "CustomResourceDefinition", "Namespace")}
    assert own == set(second)


@pytest.mark.parametrize(
    ("own", "needed"),
    [
        ({"redis": {"enabled": True}}, set()),
        ({"gateway": {"create": True, "namespaces": ["llm"]}}, {"envoy-gateway"}),
        ({"dashboards": {"enabled": True}}, set()),
        ({"dashboards": {"enabled": True, "namespace": "monitoring"}}, {"prometheus"}),
        ({"nodePools": given("everything-flux")["nodePools"]}, {"karpenter"}),
    ],
)
def test_the_second_release_waits_for_no_more_than_it_needs(own: Body, needed: set[str], tmp_path: Path) -> None:
    """A Prometheus that lacks its Secret holds up no Gateway."""
    off = {key: {**given("everything-flux").get(key, {}), "enabled": False} for key in ("redis", "dashboards")}
    base = {**given("everything-flux"), **off, "nodePools": [], "gateway": {"create": False}}
    found = parts(made(tmp_path, {**base, **own}))["own"]["spec"]
    assert {each["name"].removeprefix("llmaz-") for each in found.get("dependsOn", [])} == needed


def test_a_chart_in_a_git_repository(tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    lws = {"repoURL": "https://git.example/lws.git", "path": "charts/lws", "version": commit}
    found = parts(made(tmp_path, {"leaderWorkerSet": lws}))["lws"]["spec"]["source"]
    assert (found["path"], found["targetRevision"]) == ("charts/lws", commit)
    assert "chart" not in found
    assert "tag" not in found["helm"]["valuesObject"]["image"]["manager"]
    flux = made(tmp_path, {"engine": "flux", "leaderWorkerSet": lws})
    assert parts(flux)["lws"]["spec"]["chart"]["spec"] == {
        "chart": "./charts/lws",
        "reconcileStrategy": "Revision",
        "sourceRef": {"kind": "GitRepository", "name": "llmaz-lws"},
    }
    [source] = [body for key, body in flux.items() if (key[1], key[3]) == ("GitRepository", "llmaz-lws")]
    assert source["spec"]["ref"] == {"commit": commit}


# --- values that work together --------------------------------------------------------------------------------------


def test_the_gateways_know_each_other(tmp_path: Path) -> None:
    values = {
        "clusterDomain": "cluster.example",
        "envoyAIGateway": {"namespace": "ai"},
        "envoyGateway": {"namespace": "proxies"},
        "openWebUI": {"enabled": True},
        "redis": {"enabled": True, "from": "proxies"},
        "gateway": {"name": "front", "namespace": "edge"},
    }
    found = made(tmp_path, values)
    config = chart_values(parts(found)["envoy-gateway"])["config"]["envoyGateway"]
    assert config["extensionManager"]["service"]["fqdn"] == {
        "hostname": "ai-gateway-controller.ai.svc.cluster.example",
        "port": 1063,
    }
    assert config["extensionApis"] == {"enableBackend": True}
    assert config["extensionManager"]["backendResources"] == [
        {"group": "inference.networking.k8s.io", "kind": "InferencePool", "version": "v1"}
    ]
    hooks = config["extensionManager"]["hooks"]["xdsTranslator"]
    assert hooks["post"] == ["Translation", "Cluster", "Route"]
    assert hooks["translation"] == {each: {"includeAll": True} for each in ("cluster", "listener", "route", "secret")}
    assert chart_values(parts(found)["ai-gateway"])["envoyGateway"] == {"namespace": "proxies"}
    [redis] = [key for key in found if key[:2] == ("v1", "Service")]
    assert config["rateLimit"]["backend"]["redis"]["url"] == f"{redis[3]}.{redis[2]}.svc.cluster.example:6379"
    url = chart_values(parts(found)["open-webui"])["openaiBaseApiUrl"]
    assert url == "http://edge-front.proxies.svc.cluster.example/v1"


def test_the_chat_page_asks_the_service_that_the_gateway_declares(tmp_path: Path) -> None:
    """Also the one that RenderConfig's gateway.create makes: both are called <namespace>-<name>."""
    found = made(tmp_path, {"gateway": {"create": True, "namespaces": ["llm"]}, "openWebUI": {"enabled": True}})
    [proxy] = [body for key, body in found.items() if key[1] == "EnvoyProxy"]
    service = proxy["spec"]["provider"]["kubernetes"]["envoyService"]["name"]
    url = chart_values(parts(found)["open-webui"])["openaiBaseApiUrl"]
    assert url == f"http://{service}.envoy-gateway-system.svc.cluster.local/v1"


def test_the_chat_page_asks_a_gateway_with_a_certificate_by_its_name(tmp_path: Path) -> None:
    gateway = {"tls": {"secretName": "cert"}, "hostnames": ["*.example.com", "llm.example.com"]}
    found = parts(made(tmp_path, {"gateway": gateway, "openWebUI": {"enabled": True}}))
    assert chart_values(found["open-webui"])["openaiBaseApiUrl"] == "https://llm.example.com/v1"


@pytest.mark.parametrize(
    ("models", "message", "memory"),
    [(1, 4, 1024), (256, 4, 1024), (300, 5, 1024), (301, 5, 1024), (500, 8, 1575), (1000, 16, 4200), (5000, 79, 5740)],
)
def test_room_for_models(models: int, message: int, memory: int, tmp_path: Path) -> None:
    found = parts(made(tmp_path, {"maxModels": models}))
    envoy = chart_values(found["envoy-gateway"])
    assert envoy["config"]["envoyGateway"]["extensionManager"]["maxMessageSize"] == f"{message}Mi"
    assert chart_values(found["ai-gateway"])["controller"]["maxRecvMsgSize"] == str(message * 2**20)
    assert envoy["deployment"]["envoyGateway"]["resources"]["limits"]["memory"] == f"{memory}Mi"
    # measured: reference values of a thousand models with a route each
    assert models != 1000 or (message > 3.4 + 1.6 and memory > 2747)


def test_own_values_win(tmp_path: Path) -> None:
    own = {
        "config": {
            "envoyGateway": {"extensionApis": {"enableBackend": False}, "logging": {"level": {"default": "warn"}}}
        },
        "deployment": {"envoyGateway": {"resources": {"limits": {"memory": "9Gi"}}}},
    }
    values = chart_values(parts(made(tmp_path, {"envoyGateway": {"values": own}}))["envoy-gateway"])
    config = values["config"]["envoyGateway"]
    assert config["extensionApis"] == {"enableBackend": False}
    assert config["logging"] == {"level": {"default": "warn"}}
    assert "extensionManager" in config
    assert values["deployment"]["envoyGateway"]["resources"] == {"limits": {"memory": "9Gi"}}


def test_the_seed_of_mcp_sessions_stays(tmp_path: Path) -> None:
    """From 1.2 on the AI gateway's chart makes a random one at every rendering, unless it is told of a Secret. Helm
    itself, which Flux asks too, finds the one that is there.
    """

    def seed(version: str, engine: str = "argocd", **encryption: str) -> Any:
        own = {"values": {"controller": {"mcp": {"sessionEncryption": encryption}}}} if encryption else {}
        pins = {"version": version, "crds": {"version": version}}
        found = parts(made(tmp_path, {"engine": engine, "envoyAIGateway": {**own, **pins}}))
        return chart_values(found["ai-gateway"])["controller"].get("mcp", {}).get("sessionEncryption")

    for version in ("v1.2.0", "v1.3.0", "1.3.0", "v2.0.0", "v1.2.0-rc.1"):
        assert seed(version) == {"existingSecret": "mcp-session-seed"}
    assert seed("v1.0.0") is None
    assert seed("v1.1.2") is None
    assert seed("v1.3.0", "flux") is None
    assert seed("v1.3.0", seed="x") == {"seed": "x"}
    assert seed("v1.3.0", existingSecret="mine") == {"existingSecret": "mine"}
    pins = {"version": "v1.3.0", "crds": {"version": "v1.3.0"}}
    wanted = "its controller needs the Secret mcp-session-seed in ai, a random text under the key seed"
    assert wanted in notes(tmp_path, {"envoyAIGateway": {**pins, "namespace": "ai"}})
    assert "mcp-session-seed" not in notes(tmp_path, {})
    assert "mcp-session-seed" not in notes(tmp_path, {"envoyAIGateway": {**pins, "enabled": False}})


def test_metrics(tmp_path: Path) -> None:
    found = parts(made(tmp_path, given("everything")))
    spec = chart_values(found["prometheus"])["prometheus"]["prometheusSpec"]
    assert set(spec) == {f"{each}SelectorNilUsesHelmValues" for each in ("podMonitor", "serviceMonitor", "rule")}
    assert set(spec.values()) == {False}
    adapter = chart_values(found["prometheus-adapter"])
    assert adapter["prometheus"] == {"url": "http://prometheus-operated.monitoring.svc.cluster.example", "port": 9090}
    rules = yaml.safe_load((CHART / "files" / "adapter-rules.yaml").read_text("utf-8"))["rules"]
    assert adapter["rules"] == rules
    assert rules["default"] is False


def test_controllers_start_again_when_the_pools_crd_comes(tmp_path: Path) -> None:
    """Both look for InferencePool's CRD at their start only."""
    for version in ("v1.6.0", "v1.6.2"):
        found = parts(made(tmp_path, {"inferenceExtension": {"version": version}}))
        mark = {"llmaz.io/inference-extension": version}
        assert chart_values(found["envoy-gateway"])["deployment"]["pod"]["annotations"] == mark
        assert chart_values(found["ai-gateway"])["controller"]["podAnnotations"] == mark


# --- upstream's keys ------------------------------------------------------------------------------------------------


def test_upstream_values(tmp_path: Path) -> None:
    values = HERE / "platform" / "upstream" / "values.yaml"
    found = parts(made(tmp_path, values))
    assert chart_values(found["envoy-gateway"])["deployment"]["replicas"] == 2
    assert chart_values(found["ai-gateway"])["controller"]["logLevel"] == "debug"
    assert chart_values(found["inftyai-scheduler"])["scheduler"] == {"name": "inftyai-scheduler", "replicaCount": 2}
    chat = chart_values(found["open-webui"])
    assert chat["persistence"] == {"enabled": False}
    assert chat["openaiBaseApiUrl"] == "http://llmaz-system-llmaz-gateway.envoy-gateway-system.svc.cluster.local/v1"
    assert [each["name"] for each in chat["extraEnvVars"]] == ["WEBUI_NAME", "ENABLE_PERSISTENT_CONFIG"]
    said = notes(tmp_path, values)
    assert "OPENAI_API_KEY was dropped" in said
    assert "openaiBaseApiUrl was dropped" in said
    assert "open-webui is read as openWebUI" in said
    assert "ChangeMe" not in told(tmp_path, values).stdout + said


@pytest.mark.parametrize("alias", ["envoy-gateway", "envoy-ai-gateway", "open-webui", "kube-scheduler"])
def test_an_alias_switches_too(alias: str, tmp_path: Path) -> None:
    part = {"kube-scheduler": "inftyai-scheduler", "envoy-ai-gateway": "ai-gateway"}.get(alias, alias)
    assert part in parts(made(tmp_path, {alias: {"enabled": True}}))
    assert part not in parts(made(tmp_path, {alias: {"enabled": False}}))


def test_literal_keys_are_dropped(tmp_path: Path) -> None:
    secret = {"name": "OPENAI_API_KEY", "valueFrom": {"secretKeyRef": {"name": "chat", "key": "key"}}}
    chat = {
        "openaiApiKey": "literal-1",
        "openaiApiKeys": ["literal-2"],
        "extraEnvVars": {
            "OPENAI_API_KEY": "literal-3",
            "WEBUI_NAME": "Chat",
            "OPENAI_API_KEYS": {"value": "literal-4"},
        },
        "commonEnvVars": [{"name": "WEBUI_SECRET_KEY", "value": "literal-5"}, secret],
    }
    values = {
        "openWebUI": {"enabled": True, "values": chat},
        "prometheus": {"enabled": True, "values": {"grafana": {"adminPassword": "literal-6"}}},
    }
    done = told(tmp_path, values)
    assert done.returncode == 0, done.stderr
    assert "literal-" not in done.stdout
    got = chart_values(parts(objects(done.stdout))["open-webui"])
    assert got["commonEnvVars"] == [secret]
    assert [each["name"] for each in got["extraEnvVars"]] == ["WEBUI_NAME", "ENABLE_PERSISTENT_CONFIG"]
    said = notes(tmp_path, values)
    assert said.count("was dropped") == 6
    assert "literal-" not in said


@pytest.mark.parametrize(
    ("component", "values", "places"),
    [
        ("openWebUI", {"sso": {"google": {"clientSecret": "literal-1"}}}, ["sso.google.clientSecret"]),
        ("openWebUI", {"databaseUrl": "postgres://me:literal-1@db/chat"}, ["databaseUrl"]),
        ("openWebUI", {"databaseUrl": "postgres://me:$(PASSWORD)@db/chat", "redisUrl": "redis://me@db"}, []),
        ("openWebUI", {"auth": {"password": "", "passwordKey": "password", "existingSecret": "literal-1"}}, []),
        ("prometheus", {"grafana": {"grafana.ini": {"smtp": {"password": "literal-1"}}}}, ["smtp.password"]),
        ("prometheus", {"grafana": {"grafana.ini": {"smtp": {"password": "$__file{/etc/mail}"}}}}, []),
        ("prometheus", {"grafana": {"env": {"GF_MAIL_TOKEN": "literal-1", "GF_MODE": "b"}}}, ["env.GF_MAIL_TOKEN"]),
        (
            "keda",
            {"env": [{"name": "A_SECRET", "value": "literal-1"}, {"name": "B", "value": "c"}]},
            ["env[0], of A_SECRET"],
        ),
        ("keda", {"env": [{"name": "A_SECRET", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]}, []),
    ],
)
def test_other_literals_are_refused(component: str, values: Values, places: list[str], tmp_path: Path) -> None:
    """Nobody knows what would take their place. What they hold is not said."""
    said = told(tmp_path, {component: {"enabled": True, "values": values}}).stderr
    assert (
        re.findall(r"\* \S+?\.values\.(?:grafana\.)?(?:grafana\.ini\.)?(.*) is a secret in plain text", said) == places
    )
    assert "literal-" not in said
    assert not told(tmp_path, {component: {"enabled": False, "values": values}}).stderr


@pytest.mark.parametrize(
    "chat",
    [
        {"openaiBaseApiUrl": "http://envoy-default-llm-0a1b2c3d.envoy-gateway-system/v1"},
        {"openaiBaseApiUrl": "http://envoy-default-llm-0a1b2c3d"},
        {"openaiBaseApiUrls": ["http://envoy-default-llm-0a1b2c3d"]},
        {"extraEnvVars": [{"name": "OPENAI_API_BASE_URL", "value": "http://envoy-default-llm-0a1b2c3d:80/v1"}]},
        {"commonEnvVars": {"OPENAI_API_BASE_URLS": "http://a/v1;http://envoy-default-llm-0a1b2c3d/v1"}},
    ],
)
def test_addresses_with_a_hash_are_dropped(chat: Values, tmp_path: Path) -> None:
    values = {"openWebUI": {"enabled": True, "values": chat}}
    got = chart_values(parts(made(tmp_path, values))["open-webui"])
    assert "0a1b2c3d" not in json.dumps(got)
    assert got["openaiBaseApiUrl"] == "http://llmaz-system-llmaz-gateway.envoy-gateway-system.svc.cluster.local/v1"
    assert "was dropped" in notes(tmp_path, values).replace("were", "was")


def test_variables_are_text(tmp_path: Path) -> None:
    chat = {"extraEnvVars": {"A": 1000000, "B": True, "C": None, "D": 1.5, "E": "x"}}
    found = parts(made(tmp_path, {"openWebUI": {"enabled": True, "values": chat}}))
    got = {each["name"]: each["value"] for each in chart_values(found["open-webui"])["extraEnvVars"]}
    assert got == {"A": "1000000", "B": "true", "C": "", "D": "1.5", "E": "x", "ENABLE_PERSISTENT_CONFIG": "False"}


@pytest.mark.parametrize("engine", ["argocd", "flux"])
def test_names_that_yaml_reads_as_something_else(engine: str, tmp_path: Path) -> None:
    """They stay text, as kubeconform would say too."""
    values = {
        "engine": engine,
        "argocd": {"namespace": "0x1f", "project": "1e3", "destination": {"server": "https://a:"}},
        "flux": {"namespace": "123", "self": {"name": "1", "namespace": "2", "chart": "./a #b"}},
        "keda": {"enabled": True, "namespace": "on", "chart": "off"},
        "openWebUI": {"enabled": True, "namespace": "1", "repoURL": "https://git.example/a:", "path": "1.5"},
        "clusterDomain": "1.5",
        "redis": {"enabled": engine == "flux"},
        "gateway": {"namespace": "3"},
        "envoyGateway": {"namespace": "envoy-gateway-system"},
    }

    def leaves(node: Any, *path: str) -> Iterator[tuple[str, Any]]:
        if isinstance(node, dict):
            for key, value in node.items():
                yield from leaves(value, *path, key)
        elif isinstance(node, list):
            for value in node:
                yield from leaves(value, *path)
        else:
            yield ".".join(path), node

    words = re.compile(r"(^|\.)(namespace|project|server|chart|path|url|repoURL|targetNamespace|\w*ClusterDomain)$")
    found = [(at, leaf) for body in made(tmp_path, values).values() for at, leaf in leaves(body) if words.search(at)]
    assert len(found) > 30
    assert [(at, leaf) for at, leaf in found if not isinstance(leaf, str)] == []
    if engine == "flux":
        own = parts(made(tmp_path, values))["own"]["spec"]
        assert (own["chart"]["spec"]["chart"], own["targetNamespace"]) == ("./a #b", "3")


# --- what it refuses ------------------------------------------------------------------------------------------------

WRONG: dict[str, tuple[Values, str]] = {
    "an unknown key": ({"openWebui": {"enabled": True}}, "additional properties 'openWebui' not allowed"),
    "an unknown key of a component": ({"keda": {"enable": True}}, "additional properties 'enable' not allowed"),
    "an unknown engine": ({"engine": "argo"}, "at '/engine'"),
    "a floating version": ({"keda": {"version": "v0.0.0-latest"}}, "at '/keda/version'"),
    "a range": ({"keda": {"version": "^2.21.0"}}, "at '/keda/version'"),
    "a branch": ({"inferenceExtension": {"version": "main"}}, "at '/inferenceExtension/version'"),
    "a version that YAML takes for a number": ({"keda": {"version": 2.21}}, "at '/keda/version': got number"),
    "a switch that is a word": ({"keda": {"enabled": "yes"}}, "at '/keda/enabled': got string, want boolean"),
    "no address": ({"keda": {"repoURL": "kedacore.github.io"}}, "at '/keda/repoURL'"),
    "too few models": ({"maxModels": 0}, "at '/maxModels'"),
    "a path that climbs": ({"inferenceExtension": {"path": "../crd"}}, "at '/inferenceExtension/path'"),
    "both names": (
        {"open-webui": {"enabled": True}, "openWebUI": {"values": {"replicaCount": 2}}},
        "open-webui and openWebUI are both given, and are the same component",
    ),
    "a component that is emptied": ({"keda": None}, "at '': missing property 'keda'"),
    "values that are emptied": ({"gateway": {"tls": None}}, "at '/gateway': missing property 'tls'"),
    "a commit of a registry": (
        {"keda": {"enabled": True, "version": "0123456789abcdef0123456789abcdef01234567"}},
        "keda: 0123456789abcdef0123456789abcdef01234567 is a commit, and keda of",
    ),
    "a password": ({"keda": {"repoURL": "https://me:word@git.example/x"}}, "at '/keda/repoURL'"),
    "a password of ssh": ({"keda": {"repoURL": "ssh://me:word@git.example/x"}}, "at '/keda/repoURL'"),
    "a token": ({"keda": {"repoURL": "https://token@git.example/x"}}, "at '/keda/repoURL'"),
    "a token, of CRDs": ({"keda": {"crds": {"repoURL": "https://token@git.example/x"}}}, "at '/keda/crds/repoURL'"),
    "git without a lock": ({"keda": {"repoURL": "git://git.example/x"}}, "at '/keda/repoURL'"),
    "a chart of a git repository": (
        {"keda": {"enabled": True, "repoURL": "ssh://git@git.example/x"}},
        "keda: ssh://git@git.example/x is a git repository: write path",
    ),
    "ssh for Flux, which has no key": (
        {"engine": "flux", "keda": {"enabled": True, "repoURL": "ssh://git@git.example/x", "path": "chart"}},
        "keda: Flux reads ssh://git@git.example/x with a Secret only",
    ),
    "upstream's engines": (
        {"backendRuntime": {"enabled": True}},
        "backendRuntime is a key of llmaz's own chart: engines",
    ),
    "upstream's operator": (
        {"controllerManager": {"replicas": 1}},
        "controllerManager is a key of llmaz's own chart: no",
    ),
    "upstream's domain": (
        {"kubernetesClusterDomain": "x"},
        "kubernetesClusterDomain is a key of llmaz's own chart: write",
    ),
    "upstream's LWS": (
        {"leaderWorkerSet": {"controller": {"replicas": 1}}},
        "write leaderWorkerSet.values.replicaCount",
    ),
    "no cluster name": ({"karpenter": {"enabled": True}}, "karpenter.values.settings.clusterName"),
    "merged backends": (
        {"envoyGateway": {"values": {"config": {"envoyGateway": {"envoyProxy": {"mergeBackends": {"type": "x"}}}}}}},
        "mergeBackends: with it requests pass the AI gateway by",
    ),
    "merged backends, since {} means yes": (
        {"envoyGateway": {"values": {"config": {"envoyGateway": {"envoyProxy": {"mergeBackends": {}}}}}}},
        "mergeBackends: with it requests pass the AI gateway by",
    ),
    "the extension that is emptied": (
        {"envoyGateway": {"values": {"config": {"envoyGateway": {"extensionManager": None}}}}},
        "envoyGateway.values.config.envoyGateway.extensionManager is no map",
    ),
    "a configuration that is text": (
        {"envoyGateway": {"values": {"config": "x"}}},
        "envoyGateway.values.config is no map",
    ),
    "CRDs that stay behind": (
        {"leaderWorkerSet": {"version": "0.10.0"}},
        "leaderWorkerSet.crds.version is v0.9.0, and leaderWorkerSet.version is 0.10.0",
    ),
    "CRDs that stay behind, with Flux": (
        {"engine": "flux", "envoyGateway": {"version": "v2.0.0"}},
        "envoyGateway.crds.version is v1.9.1, and envoyGateway.version is v2.0.0",
    ),
    "a token in a query": ({"keda": {"repoURL": "https://git.example/x?token=y"}}, "at '/keda/repoURL'"),
    "variables that are text": (
        {"openWebUI": {"enabled": True, "values": {"extraEnvVars": "A=b"}}},
        'openWebUI.values.extraEnvVars: "A=b" is no {name, value}',
    ),
    "a variable that is text": (
        {"openWebUI": {"enabled": True, "values": {"commonEnvVars": [{"name": "A", "value": "b"}, "C=d"]}}},
        'openWebUI.values.commonEnvVars: "C=d" is no {name, value}',
    ),
    "settings that are emptied": (
        {"karpenter": {"enabled": True, "values": {"settings": None}}},
        "karpenter.values.settings.clusterName",
    ),
    "a chart that has a path in a Helm repository": (
        {"engine": "flux", "redis": {"enabled": True}, "flux": {"self": {"kind": "HelmRepository", "name": "llmaz"}}},
        "flux.self.chart is ./platform/llmaz, and in a HelmRepository a chart has a name",
    ),
    "a chat page without a name to ask": (
        {
            "openWebUI": {"enabled": True},
            "gateway": {"create": True, "namespaces": ["a"], "hostnames": ["*.b.c"], "tls": {"secretName": "cert"}},
        },
        "gateway.tls leaves the Gateway with HTTPS only",
    ),
    "a folder of a registry": (
        {"leaderWorkerSet": {"path": "charts/lws"}},
        "leaderWorkerSet: oci://registry.k8s.io/lws/charts is no git repository",
    ),
    "Flux without a source of this chart": (
        {"engine": "flux", "redis": {"enabled": True}},
        "flux.self.name is missing: a second HelmRelease of this chart",
    ),
    "a Redis that lets others in": (
        {"redis": {"enabled": True, "from": "elsewhere"}},
        "redis.from is elsewhere, and the rate limit service runs in Envoy Gateway's namespace",
    ),
    "a key that nobody reads": (
        {"openWebUI": {"enabled": True}, "gateway": {"auth": {"apiKeys": {"secretName": "tenants"}}}},
        "Open WebUI sends its key as Authorization",
    ),
    "own objects in another cluster": (
        {"argocd": {"destination": {"name": "gpu"}}, "redis": {"enabled": True}},
        "argocd.destination is another cluster (gpu)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused(case: str, tmp_path: Path) -> None:
    values, text = WRONG[case]
    assert text in refused(tmp_path, values)


@pytest.mark.parametrize(
    "values",
    [
        {"leaderWorkerSet": {"version": "0.9.4"}},
        {"leaderWorkerSet": {"version": "0.10.0", "crds": {"version": "v0.10.0"}}},
        {"leaderWorkerSet": {"version": "0.10.0", "crds": {"enabled": False}}},
        {"envoyGateway": {"crds": {"version": "v1.10.0"}}},
        {"engine": "flux", "leaderWorkerSet": {"version": "0.10.0"}},
    ],
)
def test_crds_may_be_ahead(values: Values, tmp_path: Path) -> None:
    """Or somebody else's, or, with Flux, those in the chart."""
    assert made(tmp_path, values)


def test_a_release_with_a_long_name(tmp_path: Path) -> None:
    for length, good in ((38, True), (39, False)):
        done = helm("template", "x" * length, CHART, home=tmp_path)
        assert (done.returncode == 0) is good
        assert good or "63 characters" in done.stderr
    longest = max(len(part["name"]) for part in PARTS)
    assert 38 + 1 + longest == 63


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    said = refused(tmp_path, {"backendRuntime": {}, "nameOverride": "x", "karpenter": {"enabled": True}})
    assert said.count("\n  * ") == 3


def test_every_key_of_the_values_is_in_the_schema_and_the_other_way_round() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    gone = {"backendRuntime", "controllerManager", "metricsService", "webhookService", "fullnameOverride"}
    gone |= {"nameOverride", "kubernetesClusterDomain", "global"}
    aliases = {"envoy-gateway", "envoy-ai-gateway", "open-webui", "kube-scheduler"}
    assert set(schema["properties"]) == set(VALUES) | gone | aliases

    def walk(node: Body, values: Body, at: str) -> Iterator[str]:
        while "$ref" in node:
            node = schema["definitions"][node["$ref"].rpartition("/")[2]]
        for key, value in values.items():
            if key in node.get("properties", {}):
                if key not in [*node.get("required", []), "chart"]:
                    yield f"{at}.{key} may be null"
                if isinstance(value, dict):
                    yield from walk(node["properties"][key], value, f"{at}.{key}")
            elif node.get("additionalProperties") is False:
                yield f"{at}.{key}"

    assert list(walk(schema, VALUES, "")) == []


# --- nothing moves, nothing is secret -------------------------------------------------------------------------------

FLOATING = re.compile(
    r"""\b(?!HEAD:)[\w/.-]+:(?:latest|main|master|nightly)\b(?=["'\s]|$)"""
    r"""|\b(?:targetRevision|tag|version|branch|ref|revision):\s*["']?(?:latest|main|master|HEAD|\*|[\^~<>=]\s?v?\d)"""
    r"""|(?<!ubuntu)-latest\b""",
    re.MULTILINE,
)
SECRET = re.compile(
    r"sk-[A-Za-z0-9]{16,}|hf_[A-Za-z0-9]{16,}|AKIA[0-9A-Z]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|ChangeMe|0p3n-w3bu"
    r"|PRIVATE KEY"
    r"""|\b(?:adminPassword|openaiApiKey|apiKey|OPENAI_API_KEY|HF_TOKEN)["']?:\s*["']?[A-Za-z0-9]"""
)
HASHED = re.compile(r"\benvoy-[a-z0-9-]+-[0-9a-f]{8}\b")
# Not ours to pin: a branch that Argo CD or Flux follows is how GitOps works, and a model's owner may name a branch.
MOVES = {
    "docs/argocd.md": ["targetRevision: HEAD"],
    "docs/flux.md": ["branch: main"],
    "docs/flavors.md": ["revision: main"],
    "docs/diff.md": ["revision: main"],
}


@functools.cache
def published() -> dict[str, str]:
    """Every text file that people copy from."""
    folders = ("charts", "examples", "presets", "docs")
    files = (path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.is_file())
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in files}


def found(pattern: re.Pattern[str]) -> dict[str, list[str]]:
    every = {path: [match[0].strip() for match in pattern.finditer(text)] for path, text in published().items()}
    return {path: matches for path, matches in every.items() if matches}


def test_nothing_floats() -> None:
    left = {
        path: [each for each in texts if each not in MOVES.get(path, [])] for path, texts in found(FLOATING).items()
    }
    assert {path: texts for path, texts in left.items() if texts} == {}
    assert all(set(texts) <= set(found(FLOATING).get(path, [])) for path, texts in MOVES.items())


def test_no_literal_secret() -> None:
    assert found(SECRET) == {}


def test_no_service_name_with_a_hash() -> None:
    assert found(HASHED) == {}


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (FLOATING, "image: docker.io/library/redis:latest"),
        (FLOATING, "targetRevision: HEAD"),
        (FLOATING, "version: ^1.2.3"),
        (FLOATING, "version: v0.0.0-latest"),
        (SECRET, "adminPassword: prom-operator"),
        (SECRET, "value: ChangeMe"),
        (HASHED, "http://envoy-default-eg-e41e7b31.envoy-gateway-system/v1"),
    ],
)
def test_what_those_look_for_is_found(pattern: re.Pattern[str], text: str) -> None:
    assert pattern.search(text)


def test_every_pin_is_exact() -> None:
    pin = re.compile(r"(v?\d+\.\d+\.\d+([-+][0-9A-Za-z.+-]+)?|[0-9a-f]{40})")

    def versions(node: Any) -> Iterator[str]:
        for key, value in node.items() if isinstance(node, dict) else ():
            if key == "version":
                yield value
            yield from versions(value)

    pins = list(versions(VALUES))
    assert len(pins) >= len(COMPONENTS)
    assert [each for each in pins if not pin.fullmatch(each)] == []
    assert VALUES["envoyGateway"]["version"] == VALUES["envoyGateway"]["crds"]["version"]
    assert VALUES["envoyAIGateway"]["version"] == VALUES["envoyAIGateway"]["crds"]["version"]
    assert VALUES["karpenter"]["version"] == VALUES["karpenter"]["crds"]["version"]
    assert "v" + VALUES["leaderWorkerSet"]["version"] == VALUES["leaderWorkerSet"]["crds"]["version"]
    assert VALUES["certManager"]["version"] == VALUES["certManager"]["crds"]["version"]


# --- what it says of itself -----------------------------------------------------------------------------------------


def test_the_tables_and_defaults_are_those_of_the_values() -> None:
    for path, text in make_chart_docs.made().items():
        assert path.read_text("utf-8") == text, "run scripts/make_chart_docs.py"


def test_every_value_is_in_the_table() -> None:
    rows = {row.path for row in make_chart_docs.rows((CHART / "values.yaml").read_text("utf-8"))}

    def leaves(node: Any, at: str) -> Iterator[str]:
        if at in rows:
            return
        if isinstance(node, dict) and node:
            for key, value in node.items():
                yield from leaves(value, f"{at}.{key}" if at else key)
        else:
            yield at

    assert list(leaves(VALUES, "")) == []


def test_a_value_without_words_is_found() -> None:
    with pytest.raises(ValueError, match=r"values.yaml:4: a.c has no comment"):
        list(make_chart_docs.rows("a:\n  # -- B.\n  b: 1\n  c: 2\n"))


@pytest.mark.parametrize("engine", ["argocd", "flux", "none"])
def test_notes(engine: str, tmp_path: Path) -> None:
    said = notes(tmp_path, {"engine": engine})
    kept = "kubectl annotate crd leaderworkersets.leaderworkerset.x-k8s.io helm.sh/resource-policy=keep\n"
    assert kept in said
    assert kept not in notes(tmp_path, {"engine": engine, "leaderWorkerSet": {"enabled": False}})
    if engine == "none":
        assert "helm upgrade --install lws oci://registry.k8s.io/lws/charts/lws --version 0.9.0" in said
        crds = "--version 0.9.0 --untar && kubectl apply --server-side --force-conflicts -f lws/crds\n"
        assert f"helm pull oci://registry.k8s.io/lws/charts/lws {crds}helm upgrade --install lws" in said
        assert "extensionManager:" in said
        assert said.index("kubectl apply") < said.index("install ai-gateway ") < said.index("install envoy-gateway ")
    else:
        assert "* lws 0.9.0 in lws-system" in said


# --- docs/platform.md -------------------------------------------------------------------------------------------------


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    """They run on the files of the page, and no value set of it is refused; test_docs.py cannot ask Helm."""
    page = (ROOT / "docs" / "platform.md").read_text("utf-8")
    files = re.findall(r"^<!-- file: (\S+) -->\n```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(files) == 5
    for path, text in files:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    (tmp_path / "charts").symlink_to(ROOT / "charts")
    commands = re.findall(r"^```sh\n(helm .*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(commands) == 5
    for command in commands:
        done = helm(*shlex.split(command)[1:], home=tmp_path)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    location = f"-schema-location={HERE / 'data/schemas'}{LOCATION}"
    judged: list[str | Path] = [tool("kubeconform"), "-strict", location, tmp_path / "bootstrap" / "argocd.yaml"]
    done = subprocess.run(judged, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_page_says_the_numbers_of_the_templates(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "platform.md").read_text("utf-8")
    envoy = chart_values(parts(made(tmp_path, {"maxModels": 1000}))["envoy-gateway"])
    memory = envoy["deployment"]["envoyGateway"]["resources"]["limits"]["memory"]
    assert f"{int(memory.removesuffix('Mi')):,} MiB at 1,000" in page
    waves = {int(wave) for wave in re.findall(r"^\| (-?\d) \|", page, re.MULTILINE)}
    assert waves == {part["wave"] for part in PARTS} | {1}
