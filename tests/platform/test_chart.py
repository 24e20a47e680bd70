"""charts/llmaz: what it makes for Argo CD, for Flux and for nobody.

A folder beside this file is a value set: values.yaml, and expected.yaml, which is what the true Helm makes of it.
`scripts/tools.sh helm kubeconform` gets the programs. Without them tests are skipped, in CI they fail.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from renderer import __version__
from tests.platform.chart import (
    CHART,
    COMPONENTS,
    ENGINES,
    HERE,
    LOCATION,
    PARTS,
    ROOT,
    SETS,
    VALUES,
    WEBHOOKS,
    Body,
    chart_values,
    helm,
    helm_template,
    parts,
    read_values,
    render,
)
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Golden


# --- what it makes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SETS)
def test_what_a_value_set_makes(name: str, tmp_path: Path, golden: Golden) -> None:
    done = helm_template(tmp_path, HERE / name / "values.yaml")
    assert done.returncode == 0, done.stderr
    # a dashboard is a file of its own, which need not stand here again
    golden(f"platform/{name}/expected.yaml", re.sub(r"(\n  \S+\.json: )\|(\n    .*)+", r"\1'{}'", done.stdout))
    again = helm_template(tmp_path, HERE / name / "values.yaml")
    assert again.stdout == done.stdout


def test_a_packed_chart_makes_the_same(tmp_path: Path) -> None:
    done = helm("package", CHART, home=tmp_path)
    assert done.returncode == 0, done.stderr
    [packed] = tmp_path.glob("llmaz-*.tgz")
    assert packed.name == f"llmaz-{__version__}.tgz"
    values = HERE / "everything" / "values.yaml"
    done = helm("template", "llmaz", packed, "--namespace", "llmaz-system", "--values", values, home=tmp_path)
    assert done.stdout == helm_template(tmp_path, values).stdout


def test_each_folder_is_a_value_set() -> None:
    paths = [path for path in HERE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]
    files = {path.relative_to(HERE).as_posix() for path in paths}
    assert files == {f"{name}/{file}" for name in SETS for file in ("values.yaml", "expected.yaml")}
    assert len(SETS) >= 6


def test_lint(tmp_path: Path) -> None:
    for name in SETS:
        values = HERE / name / "values.yaml"
        done = helm("lint", "--strict", CHART, "--values", values, home=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr


def test_kubeconform(tmp_path: Path) -> None:
    """Every object of every golden has a schema, and nothing is skipped."""
    folders = (ROOT / "renderer/schemas/output", HERE.parent / "data/schemas")
    goldens = sorted(HERE.glob("*/expected.yaml"))
    command: list[str | Path] = [
        tool("kubeconform"),
        "-strict",
        "-summary",
        *(f"-schema-location={folder}{LOCATION}" for folder in folders),
    ]
    done = subprocess.run([*command, *goldens], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Skipped: 0" in done.stdout
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(goldens[0].read_text("utf-8").replace("syncPolicy:", "syncPolicies:"), "utf-8")
    done = subprocess.run([*command, wrong], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert "'syncPolicies' not allowed" in done.stdout


# --- switches -------------------------------------------------------------------------------------------------------


def test_on_by_default() -> None:
    on = {name for name in COMPONENTS if VALUES[name]["enabled"]}
    assert on == {"leaderWorkerSet", "envoyGateway", "envoyAIGateway", "inferenceExtension"}
    assert set(COMPONENTS) == {name for name, value in VALUES.items() if isinstance(value, dict) and "repoURL" in value}


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_is_left_of_what_is_switched_off(engine: str, component: str, tmp_path: Path) -> None:
    whole = read_values(ENGINES[engine])
    its = {f"llmaz-{part['name']}" for part in PARTS if part["component"] == component}
    on = render(tmp_path, whole)
    assert its & {key[3] for key in on}
    off = render(tmp_path, {**whole, component: {**whole.get(component, {}), "enabled": False}})
    assert its & {key[3] for key in off} == set()
    gone = {key for key in on if key not in off}
    crd = {"openmodels.llmaz.io"} if component == "inftyaiScheduler" else set()
    assert {key[3] for key in gone} <= its | crd
    assert crd <= {key[3] for key in gone}
    assert set(off) < set(on)
    remaining = json.dumps(list(parts(off).values()))
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
        remaining = remaining.replace("ai-gateway-helm", "").replace("ai-gateway-crds-helm", "")
    assert re.search(alone, json.dumps(list(parts(on).values())))
    assert re.search(alone, remaining) is None


@pytest.mark.parametrize("component", [name for name in COMPONENTS if "crds" in VALUES[name]])
@pytest.mark.parametrize("engine", ENGINES)
def test_crds_of_somebody_else(engine: str, component: str, tmp_path: Path) -> None:
    """`crds.enabled: false`: no part of them, and the chart brings none either."""
    whole = read_values(ENGINES[engine])
    whole[component] = {**whole.get(component, {}), "crds": {"enabled": False}}
    part_objects = parts(render(tmp_path, whole))
    assert {part["name"] for part in PARTS if part["component"] == component and part.get("crds")} & set(
        part_objects
    ) == set()
    [main] = [part["name"] for part in PARTS if part["component"] == component and not part.get("crds")]
    spec = part_objects[main]["spec"]
    if engine == "flux":
        assert (
            spec["install"]["crds"] == "Skip"
            or not spec["values"].get("crds", {}).get("install", True)
            or (component in ("envoyAIGateway", "certManager"))
        )
    else:
        assert spec["source"]["helm"].get("skipCrds") or component in ("envoyAIGateway", "certManager", "keda")
    if component in ("keda", "certManager"):
        assert set(chart_values(part_objects[main])["crds"].values()) == {False}


# --- Argo CD --------------------------------------------------------------------------------------------------------


def test_applications_are_alike(tmp_path: Path) -> None:
    applications = parts(render(tmp_path, read_values("everything")))
    known = {part["name"]: part for part in PARTS}
    for name, body in applications.items():
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
    applications = parts(render(tmp_path, read_values("everything")))
    seen = {
        name: body["spec"]["ignoreDifferences"]
        for name, body in applications.items()
        if "ignoreDifferences" in body["spec"]
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
        for entry in parts(render(tmp_path, {}))["ai-gateway"]["spec"]["ignoreDifferences"]
        if entry["kind"] == "Secret"
    ]
    assert secret == {
        "kind": "Secret",
        "name": "self-signed-cert-for-mutating-webhook",
        "namespace": "envoy-ai-gateway-system",
        "jsonPointers": ["/data"],
    }
    assert chart_values(applications["ai-gateway"])["controller"]["mutatingWebhook"] == {
        "certManager": {"enable": True}
    }


@pytest.mark.parametrize("values", ["everything", "everything-flux"])
def test_wrong_disaggregated_sets_are_refused(values: str, tmp_path: Path) -> None:
    """By LeaderWorkerSet's own webhook, which its chart leaves out by default."""
    lws = parts(render(tmp_path, read_values(values)))["lws"]
    assert chart_values(lws)["enableDisaggregatedSet"] is True


def test_crds_lie_in_one_application(tmp_path: Path) -> None:
    """Under Argo CD, which would prune them: the charts that carry some are told to leave them out."""
    applications = parts(render(tmp_path, read_values("everything")))
    for name in ("lws", "envoy-gateway", "prometheus", "karpenter"):
        assert applications[name]["spec"]["source"]["helm"]["skipCrds"] is True
    for name in ("keda", "cert-manager", "prometheus", "envoy-gateway"):
        assert set(chart_values(applications[name])["crds"].values()) == {False}


# --- Flux -----------------------------------------------------------------------------------------------------------


def test_releases_and_their_sources(tmp_path: Path) -> None:
    manifests = render(tmp_path, read_values("everything-flux"))
    names = {(key[1], key[3]) for key in manifests}
    for body in parts(manifests).values():
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
        name: body["spec"]["install"].get("crds")
        for name, body in parts(manifests).items()
        if "install" in body["spec"]
    }
    assert {name for name, value in crds.items() if value == "Skip"} == {"envoy-gateway", "karpenter"}
    assert {value for name, value in crds.items() if name not in ("envoy-gateway", "karpenter", "own")} == {
        "CreateReplace"
    }


def test_flux_keeps_crds_that_are_templates(tmp_path: Path) -> None:
    """Helm deletes them with the release, and every object of their kinds."""
    releases = parts(render(tmp_path, read_values("everything-flux")))
    patched = {name for name, body in releases.items() if "postRenderers" in body["spec"]}
    assert patched == {"ai-gateway-crds", "karpenter-crds", "keda"}
    for name in patched:
        [patch] = releases[name]["spec"]["postRenderers"][0]["kustomize"]["patches"]
        annotations = yaml.safe_load(patch["patch"])["metadata"]["annotations"]
        assert annotations == {"helm.sh/resource-policy": "keep"}


def test_flux_makes_own_objects_by_a_second_release(tmp_path: Path) -> None:
    """What the second release gets makes what Argo CD has in the first."""
    moved = {"envoyGateway": {"namespace": "proxies"}}
    whole = {**read_values("everything-flux"), **moved, "redis": {"enabled": True, "from": "proxies"}}
    flux = render(tmp_path, whole)
    kinds = {key[1] for key in flux}
    assert not kinds & {"Gateway", "NodePool", "Deployment", "ConfigMap"}
    second = render(tmp_path, chart_values(parts(flux)["own"]))
    argo = render(tmp_path, {**whole, "engine": "argocd"})
    own = {key for key in argo if key[1] not in ("Application", "CustomResourceDefinition", "Namespace")}
    assert own == set(second)


@pytest.mark.parametrize(
    ("own", "needed"),
    [
        ({"redis": {"enabled": True}}, set()),
        ({"gateway": {"create": True, "namespaces": ["llm"]}}, {"envoy-gateway"}),
        ({"dashboards": {"enabled": True}}, set()),
        ({"dashboards": {"enabled": True, "namespace": "monitoring"}}, {"prometheus"}),
        ({"nodePools": read_values("everything-flux")["nodePools"]}, {"karpenter"}),
    ],
)
def test_the_second_release_waits_for_no_more_than_it_needs(own: Body, needed: set[str], tmp_path: Path) -> None:
    """A Prometheus that lacks its Secret holds up no Gateway."""
    off = {key: {**read_values("everything-flux").get(key, {}), "enabled": False} for key in ("redis", "dashboards")}
    base = {**read_values("everything-flux"), **off, "nodePools": [], "gateway": {"create": False}}
    release_spec = parts(render(tmp_path, {**base, **own}))["own"]["spec"]
    assert {dependency["name"].removeprefix("llmaz-") for dependency in release_spec.get("dependsOn", [])} == needed


def test_a_chart_in_a_git_repository(tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    lws = {"repoURL": "https://git.example/lws.git", "path": "charts/lws", "version": commit}
    chart_source = parts(render(tmp_path, {"leaderWorkerSet": lws}))["lws"]["spec"]["source"]
    assert (chart_source["path"], chart_source["targetRevision"]) == ("charts/lws", commit)
    assert "chart" not in chart_source
    assert "tag" not in chart_source["helm"]["valuesObject"]["image"]["manager"]
    flux = render(tmp_path, {"engine": "flux", "leaderWorkerSet": lws})
    assert parts(flux)["lws"]["spec"]["chart"]["spec"] == {
        "chart": "./charts/lws",
        "reconcileStrategy": "Revision",
        "sourceRef": {"kind": "GitRepository", "name": "llmaz-lws"},
    }
    [source] = [body for key, body in flux.items() if (key[1], key[3]) == ("GitRepository", "llmaz-lws")]
    assert source["spec"]["ref"] == {"commit": commit}
