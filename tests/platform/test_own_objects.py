"""The objects that charts/llmaz makes by its own templates: as the renderer makes them, known to the engines, and safe.

`scripts/tools.sh helm kubeconform healthlua` gets the programs. Without them tests are skipped, in CI they fail.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import yaml

from renderer import schema_validation, yamlio
from renderer.integrations.gitops import health
from scripts import make_chart_files
from tests.inputs import CONFIG, blue_model, document, playground
from tests.integrations.gitops.test_argocd import lua
from tests.integrations.test_helm import Objects, objects
from tests.paths import ROOT, TESTS
from tests.programs import tool

if TYPE_CHECKING:
    from tests.conftest import Golden, Llmaz, Outcome

CHART = ROOT / "charts" / "llmaz"
FILES = CHART / "files"
DASHBOARDS = sorted((FILES / "dashboards").glob("*.json"))
PRESETS = {
    path.stem: yaml.safe_load(path.read_text("utf-8"))["spec"] for path in (ROOT / "presets/backends").glob("*.yaml")
}
KNOWN: dict[str, dict[str, Any]] = yaml.safe_load((TESTS / "data" / "engine_metrics.yaml").read_text("utf-8"))
LOCATION = '/{{if eq .Group "v1"}}core{{else}}{{.Group}}{{end}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'
# What components are to Argo CD and Flux.
COMPONENTS = {"Application", "HelmRelease", "HelmRepository", "OCIRepository", "GitRepository", "Kustomization"}
Values = Mapping[str, Any]


def helm_template(folder: Path, values: Values, *more: str) -> subprocess.CompletedProcess[str]:
    """`helm template` with these values, as somebody without settings of his own calls it."""
    file = folder / "values-of-a-test.json"
    file.write_text(json.dumps(values), "utf-8")
    command: list[str | Path] = [
        tool("helm"),
        "template",
        "llmaz",
        CHART,
        "--namespace",
        "llmaz-system",
        "--values",
        file,
        *more,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env={"HOME": str(folder)})


def render(folder: Path, values: Values) -> Objects:
    done = helm_template(folder, values)
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def only(manifests: Objects, kind: str, name: str = "") -> dict[str, Any]:
    """The one object of that kind."""
    [body] = [body for key, body in manifests.items() if key[1] == kind and name in ("", key[3])]
    return body


def own(folder: Path, values: Values) -> Objects:
    """What these values add to a chart whose components somebody else installs."""
    plain = render(folder, {"engine": "none"})
    return {key: body for key, body in render(folder, {"engine": "none", **values}).items() if key not in plain}


# --- what is switched off -------------------------------------------------------------------------------------------


def test_nothing_is_there_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert render(tmp_path, {"engine": "none"}) == {}
    for engine in ("argocd", "flux"):
        assert {key[1] for key in render(tmp_path, {"engine": engine})} <= COMPONENTS


# --- the files that say what the renderer says ------------------------------------------------------------------------


def test_the_files_are_made_anew_as_they_are(llmaz: Llmaz) -> None:
    """scripts/make_chart_files.py, after a change of a preset, a check, a dashboard or a CRD."""
    for path, text in make_chart_files.files():
        assert (FILES / path).read_text("utf-8") == text, "run scripts/make_chart_files.py"
    assert {f"{name}.json" for name in [*KNOWN, "fleet"]} == {path.name for path in DASHBOARDS}
    assert (FILES / "adapter-rules.yaml").read_text("utf-8") == llmaz("presets", "adapter-rules").out


def test_the_adapters_rules_are_values_of_its_chart(llmaz: Llmaz) -> None:
    rules = yaml.safe_load((FILES / "adapter-rules.yaml").read_text("utf-8"))["rules"]
    assert rules["default"] is False
    assert len(rules["custom"]) == sum("scale" in spec["engine"] for spec in PRESETS.values())


# --- the Gateway ----------------------------------------------------------------------------------------------------

KEYS = {"apiKeys": {"secretName": "tenants"}}
GATEWAYS: dict[str, tuple[Values, Values]] = {  # RenderConfig's words, and those of the chart where they differ
    "as it comes": ({}, {}),
    "named": (
        {"name": "search", "namespace": "edge", "className": "inner", "serviceType": "LoadBalancer", "replicas": 3},
        {},
    ),
    "TLS by an issuer": ({"hostnames": ["llm.example.com", "*.llm.example.com"], "tls": {"issuer": "letsencrypt"}}, {}),
    "TLS by a Secret": ({"tls": {"secretName": "mine"}}, {}),
    "a host without TLS": ({"hostnames": ["llm.example.com"]}, {}),
    "keys": ({"auth": KEYS}, {"auth": {**KEYS, "namespaces": ["llm"]}}),
    "keys in headers": (
        {"auth": {"apiKeys": {"secretName": "tenants", "headers": ["api-key", "x-key"]}, "tenantHeader": "x-team"}},
        {},
    ),
}
KINDS = ("GatewayClass", "EnvoyProxy", "Gateway", "ClientTrafficPolicy", "SecurityPolicy", "ReferenceGrant")


@pytest.mark.parametrize("name", GATEWAYS)
def test_the_gateway_is_that_of_the_renderer(name: str, folder: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    """Object by object, but for the word who manages it. With API keys the model of llm is for one tenant only."""
    config, chart = GATEWAYS[name]
    allow = "{allow: [search]}" if name == "keys" else "{}"
    body = document("RenderConfig", "config", {"gateway": {"create": True, **config}})
    (folder / "llmaz.yaml").write_text(json.dumps(body))
    (folder / "models.yaml").write_text(
        playground("chat", "llm", "qwen3-8b")
        + f"  gateway: {allow}\n---\n"
        + playground("code", "demo", "qwen2--5-coder-7b")
    )
    done = llmaz("render", "--stdout")
    assert done.code == 0, done.err
    gateway = config.get("name", "llmaz-gateway"), config.get("className", "llmaz-gateway")
    theirs = {key: body for key, body in objects(done.out).items() if key[1] in KINDS and key[3] in gateway}
    ours = own(tmp_path, {"gateway": {"create": True, "namespaces": ["llm", "demo"], **config, **chart}})
    assert ours.keys() == theirs.keys()
    for key, expected in theirs.items():
        labels = ours[key]["metadata"]["labels"]
        assert labels.pop("app.kubernetes.io/managed-by") == "Helm"
        assert expected["metadata"]["labels"].pop("app.kubernetes.io/managed-by") == "llmaz-renderer"
        assert ours[key] == expected
    assert len(theirs) == 4 + ("auth" in config) + (name == "keys")


def test_check_finds_a_gateway_that_both_make(folder: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    """docs/platform.md: what Helm makes of the values beside what is rendered."""
    (folder / "llmaz.yaml").write_text(CONFIG + "{gateway: {create: true}}\n")
    (folder / "chat.yaml").write_text(playground("chat", "llm", "qwen3-8b"))
    assert llmaz("render").code == 0
    (folder / "extra").mkdir()
    for name, create, code in (("redis", False, 0), ("gateway", True, 2)):
        manifests = own(tmp_path, {"gateway": {"create": create, "namespaces": ["llm"]}, "redis": {"enabled": True}})
        (folder / "extra" / "platform.yaml").write_text(
            "---\n".join(json.dumps(manifest) + "\n" for manifest in manifests.values())
        )
        done = llmaz("check", "rendered", "extra")
        assert (name, done.code) == (name, code), done.err
    assert "Gateway 'llmaz-gateway' is already in extra/platform.yaml:" in done.err
    assert "leave one of them out, or give it another name" in done.err


def test_a_gateway_for_the_whole_cluster(tmp_path: Path) -> None:
    """What RenderConfig has no word for, since it knows its namespaces."""
    [listener] = only(own(tmp_path, {"gateway": {"create": True, "namespaces": ["*"]}}), "Gateway")["spec"]["listeners"]
    assert listener["allowedRoutes"] == {"namespaces": {"from": "All"}}


def test_flux_leaves_what_waits_for_its_kind_to_a_release_of_its_own(tmp_path: Path) -> None:
    switches = ("gateway", "redis", "nodePools", "dashboards")
    late = {key: ALL[key] for key in switches}
    first = render(tmp_path, {"engine": "flux", "flux": {"self": {"name": "models"}}, **late})
    assert {key[1] for key in first} <= COMPONENTS
    second = only(first, "HelmRelease", "llmaz-own")["spec"]
    assert render(tmp_path, second["values"]) == own(tmp_path, late)
    manifests = render(tmp_path, {"engine": "argocd", **late})
    for kind in ("Gateway", "GatewayClass", "EnvoyProxy", "ClientTrafficPolicy", "NodePool", "EC2NodeClass"):
        notes = only(manifests, kind)["metadata"]["annotations"]
        assert "SkipDryRunOnMissingResource=true" in notes["argocd.argoproj.io/sync-options"]


def test_argo_cd_makes_the_namespaces_of_own_objects(tmp_path: Path) -> None:
    """All but that of the Application, which CreateNamespace makes, and no two may own. Nothing deletes them."""
    values = {
        **ALL,
        "redis": {"enabled": True, "namespace": "limits"},
        "dashboards": {"enabled": True, "namespace": "eyes"},
    }
    namespaces = {key: body for key, body in render(tmp_path, values).items() if key[1] == "Namespace"}
    assert sorted(key[3] for key in namespaces) == ["eyes", "limits"]
    elsewhere = render(tmp_path, {"redis": {"enabled": True}, "gateway": {**ALL["gateway"], "namespace": "gates"}})
    assert sorted(key[3] for key in elsewhere if key[1] == "Namespace") == ["gates"]
    for body in namespaces.values():
        assert body["metadata"]["annotations"]["argocd.argoproj.io/sync-options"] == "Prune=false,Delete=false"
        assert body["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"] == "-4"
    for other in ({**values, "argocd": {"createNamespaces": False}}, {**values, "engine": "none"}):
        assert "Namespace" not in {key[1] for key in render(tmp_path, other)}


@pytest.mark.parametrize("destination", [{"server": "https://eu.example:6443"}, {"name": "eu"}])
@pytest.mark.parametrize("key", ["gateway", "redis", "nodePools", "dashboards", "inftyaiScheduler"])
def test_own_objects_go_where_the_components_go(key: str, destination: Values, tmp_path: Path) -> None:
    """The Application of the chart itself goes to Argo CD's cluster, so there they would be alone."""
    argocd = {"argocd": {"destination": destination}}
    assert helm_template(tmp_path, argocd).returncode == 0
    done = helm_template(tmp_path, {**argocd, key: ALL[key]})
    assert (done.returncode, done.stdout) == (1, "")
    assert "argocd.destination is another cluster (" in done.stderr
    assert render(tmp_path, {"argocd": {"destination": {"name": "in-cluster"}}, key: ALL[key]})


# --- Redis ------------------------------------------------------------------------------------------------------------


def test_redis(tmp_path: Path, golden: Golden) -> None:
    manifests = own(tmp_path, {"redis": {"enabled": True}})
    assert {key[1] for key in manifests} == {"Deployment", "NetworkPolicy", "Service"}
    golden("data/platform_own/redis.yaml", written(manifests))
    service, deployment, policy = (only(manifests, kind) for kind in ("Service", "Deployment", "NetworkPolicy"))
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    for selector in (service["spec"]["selector"], policy["spec"]["podSelector"]["matchLabels"]):
        assert selector.items() <= labels.items()
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    assert re.fullmatch(r"docker\.io/library/redis:\d+\.\d+\.\d+-alpine\d+\.\d+", container["image"])


# --- nodes ------------------------------------------------------------------------------------------------------------

TERMS = [{"tags": {"karpenter.sh/discovery": "mine"}}]
NODES: Values = {
    "role": "KarpenterNodeRole-mine",
    "amiAlias": "al2023@v20260801",
    "subnetSelectorTerms": TERMS,
    "securityGroupSelectorTerms": TERMS,
}
POOL: Values = {"name": "l40s", **NODES, "limits": {"nvidia.com/gpu": 16}}


def test_node_pools(tmp_path: Path, golden: Golden) -> None:
    large = {
        "name": "h100",
        "role": "",
        "instanceProfile": "nodes",
        "amiAlias": "bottlerocket@v1.50.0",
        "capacityTypes": ["reserved", "on-demand"],
        "requirements": [
            {"key": "karpenter.k8s.aws/instance-gpu-name", "operator": "In", "values": ["h100"]},
            {"key": "kubernetes.io/arch", "operator": "In", "values": ["arm64"]},
        ],
        "labels": {"gpu": "h100"},
        "volumeSize": "800Gi",
        "volumeThroughput": 1000,
        "instanceStorePolicy": "RAID0",
        "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
        "limits": {"nvidia.com/gpu": 1000000, "cpu": "0.5"},
        "expireAfter": "Never",
        "consolidation": {"policy": "WhenEmptyOrUnderutilized", "after": "1h"},
        "tags": {"team": "search"},
    }
    small = {"name": "l40s", "limits": {"nvidia.com/gpu": 16}}
    manifests = own(tmp_path, {"nodePoolDefaults": NODES, "nodePools": [small, large]})
    golden("data/platform_own/nodepools.yaml", written(manifests))
    assert [key[1:] for key in sorted(manifests)] == [
        ("EC2NodeClass", "", "h100"),
        ("EC2NodeClass", "", "l40s"),
        ("NodePool", "", "h100"),
        ("NodePool", "", "l40s"),
    ]
    for name in ("l40s", "h100"):
        pool, nodes = only(manifests, "NodePool", name), only(manifests, "EC2NodeClass", name)
        assert schema_validation.findings("output/karpenter.sh/nodepool_v1", pool) == []
        assert schema_validation.findings("output/karpenter.k8s.aws/ec2nodeclass_v1", nodes) == []
        reference = pool["spec"]["template"]["spec"]["nodeClassRef"]
        assert reference == {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": name}
        keys = [requirement["key"] for requirement in pool["spec"]["template"]["spec"]["requirements"]]
        assert len(keys) == len(set(keys))


def test_node_pools_are_those_of_llmaz_nodepools(folder: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    """The same words of `karpenter:`, with what that command finds out by itself: name, labels, instances, limits."""
    flavor = {
        "name": "l40s",
        "limits": {"nvidia.com/gpu": 1},
        "nodeSelector": {"gpu": "l40s"},
        "params": {"INSTANCE-TYPE": "g6e.xlarge"},
    }
    model = blue_model(flavor)
    (folder / "models.yaml").write_text(f"{json.dumps(model)}\n---\n" + playground("chat", "llm", "blue"))
    settings: tuple[Values, ...] = (
        {},
        {"taints": []},
        {
            "amiAlias": "bottlerocket@v1.50.0",
            "capacityTypes": ["spot", "on-demand"],
            "architectures": ["amd64", "arm64"],
            "requirements": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["eu-1a"]}],
            "volumeSize": "500Gi",
            "volumeThroughput": 500,
            "instanceStorePolicy": "RAID0",
            "limits": {"cpu": 100},
            "expireAfter": "300h",
            "consolidation": {"policy": "WhenEmptyOrUnderutilized", "after": "5m"},
            "tags": {"team": "search"},
        },
    )
    for more in settings:
        karpenter = {**NODES, **more}
        config = document("RenderConfig", "config", {"karpenter": karpenter})
        (folder / "llmaz.yaml").write_text(json.dumps(config))
        done = llmaz("nodepools")
        assert done.code == 0, done.err
        theirs = objects(done.out)
        pool = only(theirs, "NodePool")
        template = pool["spec"]["template"]
        found_out = {
            "name": pool["metadata"]["name"],
            "labels": template["metadata"]["labels"],
            "limits": pool["spec"]["limits"],
            "requirements": template["spec"]["requirements"],
        }
        ours = own(tmp_path, {"nodePoolDefaults": karpenter, "nodePools": [found_out]})
        assert {key: body["spec"] for key, body in ours.items()} == {key: body["spec"] for key, body in theirs.items()}


# --- dashboards -------------------------------------------------------------------------------------------------------


@functools.cache
def dashboard(path: Path) -> dict[str, Any]:
    body = json.loads(path.read_text("utf-8"))
    assert isinstance(body, dict)
    return body


def expressions(body: Mapping[str, Any]) -> Iterator[str]:
    """What a dashboard asks Prometheus, its choices too."""
    for panel in body["panels"]:
        for target in panel["targets"]:
            yield target["expr"]
    for variable in body["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"]["query"]


def find_series(expression: str) -> list[str]:
    """Names of series in an expression: words before a selector, and those that are alternatives of `__name__`."""
    either = [name for names in re.findall(r'__name__=~"([^"]+)"', expression) for name in names.split("|")]
    return either + re.findall(r"([A-Za-z_:][\w:]*)\{", expression)


def kinds(engine: str) -> dict[str, str]:
    """Names of all series of an engine, and what each is."""
    facts = KNOWN[engine]
    series = {name: kind for kind in ("counter", "gauge") for name in facts.get(kind, ())}
    for name in facts.get("histogram", ()):
        series.update({f"{name}_{end}": "histogram" for end in ("bucket", "sum", "count")})
    return series


def test_what_we_know_of_metrics_is_of_the_versions_that_run() -> None:
    """A preset of another version: look at its metrics again, then write it into tests/data/engine_metrics.yaml."""
    assert KNOWN
    for engine, facts in KNOWN.items():
        assert facts["version"] == PRESETS[engine]["version"]
        metrics = PRESETS[engine]["engine"]["metrics"]
        roles = ("running", "waiting", "kvUsage", "adapters", "cacheInfo", "cacheBlockSize", "cacheBlocks")
        assert {metrics[role] for role in roles if role in metrics} <= kinds(engine).keys()


@pytest.mark.parametrize("path", DASHBOARDS, ids=lambda path: path.stem)
def test_a_dashboard_asks_for_known_series_only(path: Path) -> None:
    known = (
        kinds(path.stem)
        if path.stem in KNOWN
        else {name: kind for engine in KNOWN for name, kind in kinds(engine).items()}
    )
    if path.stem == "fleet":
        known["up"] = "gauge"  # Prometheus' own
        roles = [preset["engine"].get("metrics", {}) for preset in PRESETS.values()]
        known.update(
            {
                metrics[role]: "gauge"
                for metrics in roles
                for role in ("running", "waiting", "kvUsage")
                if role in metrics
            }
        )
    series = [name for expression in expressions(dashboard(path)) for name in find_series(expression)]
    assert len(series) >= len(dashboard(path)["panels"])
    assert set(series) <= known.keys()
    for expression in expressions(dashboard(path)):
        for name in find_series(expression):
            rated = re.search(rf"rate\({re.escape(name)}{{[^}}]*}}\[\$__rate_interval\]\)", expression)
            assert bool(rated) == (known[name] in ("counter", "histogram")), expression
            assert ("histogram_quantile" in expression) == (known[name] == "histogram"), expression


@pytest.mark.parametrize("engine", KNOWN)
def test_a_dashboard_shows_what_its_preset_knows(engine: str) -> None:
    metrics = PRESETS[engine]["engine"]["metrics"]
    shown = {
        name
        for expression in expressions(dashboard(FILES / f"dashboards/{engine}.json"))
        for name in find_series(expression)
    }
    assert {metrics[role] for role in ("running", "waiting", "kvUsage") if role in metrics} <= shown
    fleet = {
        name
        for expression in expressions(dashboard(FILES / "dashboards/fleet.json"))
        for name in find_series(expression)
    }
    assert {metrics[role] for role in ("running", "waiting", "kvUsage") if role in metrics} <= fleet


def test_the_goal_is_that_of_the_autoscaler() -> None:
    for path in DASHBOARDS:
        target = PRESETS.get(path.stem, {}).get("engine", {}).get("scale", {}).get("target")
        lines = [
            step["value"]
            for panel in dashboard(path)["panels"]
            for step in panel["fieldConfig"]["defaults"]["thresholds"]["steps"][1:]
        ]
        assert lines == ([float(target)] if target else [])


def test_dashboards_are_such_as_grafana_takes() -> None:
    bodies = [dashboard(path) for path in DASHBOARDS]
    assert len({body["uid"] for body in bodies}) == len({body["title"] for body in bodies}) == len(bodies)
    for body in bodies:
        assert len(body["uid"]) <= 40
        names = [variable["name"] for variable in body["templating"]["list"]]
        used = {name for text in expressions(body) for name in re.findall(r"\$([a-z]\w*)", text)}
        assert used <= set(names)
        assert set(names) == used | {"datasource"}
        places: set[tuple[int, int]] = set()
        for panel in body["panels"]:
            place = panel["gridPos"]
            cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
            assert not cells & places
            assert place["x"] + place["w"] <= 24
            places |= cells
            assert [target["refId"] for target in panel["targets"]] == list("ABC")[: len(panel["targets"])]
        assert [panel["id"] for panel in body["panels"]] == list(range(1, len(body["panels"]) + 1))


def test_the_fleet_is_found_by_the_monitor_that_is_rendered(folder: Path, llmaz: Llmaz) -> None:
    """The job of a series is called `<namespace>/<PodMonitor>`."""
    (folder / "models.yaml").write_text(playground("chat", "llm", "qwen3-8b"))
    done = llmaz("render", "--stdout", "--set", "autoscaling.metricSource.type=prometheusAdapter")
    assert done.code == 0, done.err
    monitor = only(objects(done.out), "PodMonitor")["metadata"]
    assert re.fullmatch(make_chart_files.JOB, f"{monitor['namespace']}/{monitor['name']}")


def test_the_page_names_every_dashboard() -> None:
    page = (ROOT / "docs" / "platform.md").read_text("utf-8")
    [line] = re.findall(r"^\| `dashboards\.enabled` \|.*$", page, re.MULTILINE)
    assert {path.stem for path in DASHBOARDS} == set(re.findall(r"`([\w-]+)`", line))


def test_dashboards_reach_the_sidecar(tmp_path: Path) -> None:
    config_maps = own(
        tmp_path, {"dashboards": {"enabled": True, "namespace": "monitoring", "annotations": {"folder": "llmaz"}}}
    )
    assert {key[1:3] for key in config_maps} == {("ConfigMap", "monitoring")}
    shown = {}
    for body in config_maps.values():
        assert body["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert body["metadata"]["annotations"] == {"folder": "llmaz"}
        shown.update(body["data"])
    assert {name: json.loads(text) for name, text in shown.items()} == {
        path.name: dashboard(path) for path in DASHBOARDS
    }


# --- Argo CD's health checks ------------------------------------------------------------------------------------------


def test_argo_cd_gets_what_llmaz_argocd_health_prints(tmp_path: Path, golden: Golden) -> None:
    manifests = own(tmp_path, {"argocd": {"health": {"enabled": True}}})
    patch = yaml.safe_load(only(manifests, "ConfigMap")["data"]["patch.yaml"])
    assert patch["data"].pop("resource.customizations.health.argoproj.io_Application") == application()
    assert patch == {"data": health.data()}
    shown = {key: {**body, "data": "…"} if key[1] == "ConfigMap" else body for key, body in manifests.items()}
    golden("data/platform_own/argocd-health.yaml", written(shown))


def test_argocd_cm_stays_whose_it_is(tmp_path: Path) -> None:
    """No object is called so; one Role may patch it, and nothing else."""
    for engine in ("argocd", "none"):
        manifests = render(tmp_path, {"engine": engine, "argocd": {"namespace": "gitops", "health": {"enabled": True}}})
        assert not [key for key in manifests if key[3] == "argocd-cm"]
        [rule] = only(manifests, "Role")["rules"]
        assert (rule["resourceNames"], rule["verbs"]) == (["argocd-cm"], ["get", "patch"])
        job = only(manifests, "Job")
        notes = job["metadata"]["annotations"]
        hooks = [key for key in notes if key.endswith(("/hook", "/hook-delete-policy"))]
        assert {key.partition("/")[0] for key in hooks} == {"argocd.argoproj.io" if engine == "argocd" else "helm.sh"}
        assert {key[2] for key in manifests if key[3] == "llmaz-argocd-health"} == {"gitops"}
        [container] = job["spec"]["template"]["spec"]["containers"]
        assert container["args"][0] == "--namespace=gitops"
        assert re.fullmatch(r"registry\.k8s\.io/kubectl:v\d+\.\d+\.\d+", container["image"])


def test_the_check_of_applications_may_stay_out(tmp_path: Path) -> None:
    manifests = own(tmp_path, {"argocd": {"health": {"enabled": True, "applications": False}}})
    assert yaml.safe_load(only(manifests, "ConfigMap")["data"]["patch.yaml"]) == {"data": health.data()}


def application() -> str:
    return (FILES / "application.lua").read_text("utf-8")


def test_an_application_is_as_healthy_as_it_says() -> None:
    body: dict[str, Any] = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": {"name": "a"}}
    statuses: list[dict[str, Any]] = [
        {},
        {"status": {}},
        {"status": {"health": {}}},
        {"status": {"health": {"status": "Healthy"}}},
        {"status": {"health": {"status": "Degraded", "message": "one Pod is not"}}},
    ]
    assert lua(FILES / "application.lua", [{**body, **status} for status in statuses]) == [
        *[{"status": "Progressing", "message": "not compared yet"}] * 3,
        {"status": "Healthy"},
        {"status": "Degraded", "message": "one Pod is not"},
    ]


# --- OpenModel's CRD --------------------------------------------------------------------------------------------------


def test_openmodels_kind_comes_with_its_scheduler(tmp_path: Path) -> None:
    """The same fields as in the CRD that our schemas are made of, and no word that an API server does not know."""
    manifests = own(tmp_path, {"inftyaiScheduler": {"enabled": True}})
    crd = only(manifests, "CustomResourceDefinition")
    assert crd["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    source = yaml.safe_load((ROOT / "scripts/input-crds/llmaz.io_openmodels.yaml").read_text("utf-8"))
    assert "x-core-type" not in json.dumps(crd)
    assert crd["spec"] == make_chart_files.structural(source)["spec"]
    assert crd["metadata"]["name"] == source["metadata"]["name"]
    assert list(fields(crd["spec"])) == list(fields(source["spec"]))


def test_an_input_crd_becomes_one_that_a_server_takes() -> None:
    schema = make_chart_files.structural(
        {"limits": {"type": "object", "x-core-type": "v1/ResourceList"}, "c": [{"x-core-type": "a"}]}
    )
    assert schema["limits"]["additionalProperties"]["x-kubernetes-int-or-string"] is True
    assert schema["c"] == [{"x-kubernetes-preserve-unknown-fields": True}]
    assert "x-core-type" not in str(schema)


def test_the_crd_may_be_somebody_elses(tmp_path: Path) -> None:
    manifests = own(tmp_path, {"inftyaiScheduler": {"enabled": True, "openModelCRD": False}})
    assert manifests == {}


def test_argo_cd_never_prunes_openmodels_kind(tmp_path: Path) -> None:
    crd = only(render(tmp_path, {"inftyaiScheduler": {"enabled": True}}), "CustomResourceDefinition")
    options = crd["metadata"]["annotations"]["argocd.argoproj.io/sync-options"].split(",")
    assert {"Prune=false", "Delete=false"} <= set(options)


def fields(node: Any, path: str = "") -> Iterator[str]:
    """The paths of all properties of a schema, in order."""
    if isinstance(node, list):
        for item in node:
            yield from fields(item, path)
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "properties":
                for name, inner in value.items():
                    yield f"{path}.{name}"
                    yield from fields(inner, f"{path}.{name}")
            else:
                yield from fields(value, path)


# --- schemas of what Argo CD and Flux read ----------------------------------------------------------------------------

SCHEMAS = sorted((TESTS / "data" / "schemas").glob("*/*.json"))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_schemas_are_strict(path: Path) -> None:
    """They know the kind by its path, and no field that its CRD does not know."""
    whole = json.loads(path.read_text("utf-8"))
    jsonschema.Draft7Validator.check_schema(whole)
    kind, _, version = path.stem.partition("_")
    assert whole["properties"]["kind"]["const"].lower() == kind
    assert whole["properties"]["apiVersion"]["const"] == f"{path.parent.name}/{version}"
    body = {
        "apiVersion": whole["properties"]["apiVersion"]["const"],
        "kind": whole["properties"]["kind"]["const"],
        "metadata": {"name": "a", "nmae": "b"},
        "spec": {"intervall": "1m"},
        "sepc": {},
    }
    messages = {error.message for error in jsonschema.Draft7Validator(whole).iter_errors(body)}
    for key in ("nmae", "intervall", "sepc"):
        assert any(f"'{key}' was unexpected" in message for message in messages)


def test_there_is_a_schema_of_each_kind_that_brings_a_component() -> None:
    schema_kinds = {json.loads(path.read_text("utf-8"))["properties"]["kind"]["const"] for path in SCHEMAS}
    assert schema_kinds >= COMPONENTS


# --- all of it --------------------------------------------------------------------------------------------------------

ALL: Values = {
    "gateway": {"create": True, "namespaces": ["llm"], "auth": {**KEYS, "namespaces": ["llm"]}},
    "redis": {"enabled": True},
    "nodePools": [POOL],
    "dashboards": {"enabled": True},
    "argocd": {"health": {"enabled": True}},
    "inftyaiScheduler": {"enabled": True},
}


@pytest.mark.parametrize("engine", ["argocd", "none"])
def test_kubeconform_and_check_know_every_object(engine: str, folder: Path, tmp_path: Path, llmaz: Llmaz) -> None:
    done = helm_template(tmp_path, {"engine": engine, **ALL})
    assert done.returncode == 0, done.stderr
    (folder / "own.yaml").write_text(done.stdout, "utf-8")
    folders = [ROOT / "renderer" / "schemas" / "output", TESTS / "data" / "schemas"]
    command: list[str | Path] = [
        tool("kubeconform"),
        "-strict",
        *(f"-schema-location={schema_folder}{LOCATION}" for schema_folder in folders),
        "own.yaml",
    ]
    judged = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (judged.returncode, judged.stdout) == (0, "")
    checked: Outcome = llmaz("check", "own.yaml")
    assert checked.code == 0, checked.err


@pytest.mark.parametrize("values", [{"gateway": {"create": True}}, {"nodePools": [{"name": "a"}]}])
def test_flux_hears_at_once_what_is_wrong_with_own_objects(values: Values, tmp_path: Path) -> None:
    """Not from the second release, in the cluster."""
    messages = {helm_template(tmp_path, {**values, "engine": "none"}).stderr}
    messages.add(helm_template(tmp_path, {**values, "engine": "flux", "flux": {"self": {"name": "platform"}}}).stderr)
    assert len(messages) == 1
    assert "execution error" in messages.pop()


def test_names_that_yaml_reads_as_something_else(tmp_path: Path) -> None:
    """They stay text, wherever they stand."""
    gateway = {"create": True, "name": "1e3", "namespace": "true", "className": "null", "namespaces": ["08", "y"]}
    auth = {"apiKeys": {"secretName": "1", "headers": ["0x1"]}, "tenantHeader": "off", "namespaces": ["1e1"]}
    values = {
        "gateway": {**gateway, "auth": auth, "tls": {"secretName": "12"}},
        "redis": {"enabled": True, "name": "no", "namespace": "1e4", "from": "5"},
        "envoyGateway": {"namespace": "5"},
        "dashboards": {"enabled": True, "namespace": "7", "labels": {"a": "1"}, "annotations": {"b": "true"}},
        "nodePools": [{**POOL, "name": "2", "labels": {"c": "1"}, "tags": {"d": "2"}, "role": "1e5"}],
        "argocd": {"namespace": "3", "health": {"enabled": True}},
    }
    manifests = own(tmp_path, values)
    ours = {"1e3", "true", "null", "no", "1e4", "7", "2", "3", ""}
    assert {part for key in manifests for part in key[2:]} - ours == {
        "llmaz-argocd-health",
        *(f"llmaz-dashboard-{path.stem}" for path in DASHBOARDS),
    }
    for key, body in manifests.items():
        group = key[0].rpartition("/")[0] or "core"
        assert schema_validation.findings(f"output/{group}/{key[1].lower()}_{key[0].rpartition('/')[2]}", body) == [], (
            key
        )


WRONG: list[tuple[Values, str]] = [
    ({"gateway": {"create": True}}, "gateway.namespaces is empty: name the namespaces of your models"),
    ({"gateway": {"create": True, "namespaces": ["*", "llm"]}}, '"*" is all of the cluster, so it stands alone'),
    ({"gateway": {"create": True, "namespaces": ["Llm"]}}, "does not match pattern"),
    ({"gateway": {"create": True, "namespaces": ["a"], "namespace": "1a"}}, "a letter first"),
    ({"gateway": {"create": True, "namespaces": ["a"], "name": "g" * 60}}, "at most 63 characters"),
    ({"gateway": {"create": True, "namespaces": ["a"], "tls": {"issuer": "le"}}}, "gateway.hostnames, which are empty"),
    (
        {
            "gateway": {
                "create": True,
                "namespaces": ["a"],
                "hostnames": ["a.b"],
                "tls": {"issuer": "l", "secretName": "s"},
            }
        },
        "say one of them",
    ),
    (
        {"gateway": {"create": True, "namespaces": ["a"], "auth": {"apiKeys": {"headers": ["X-Tenant-ID"]}}}},
        "X-Tenant-ID has another meaning",
    ),
    ({"gateway": {"create": True, "namespaces": ["a"], "auth": {"tenantHeader": "Host"}}}, "Host has another meaning"),
    (
        {"gateway": {"create": True, "namespaces": ["a"], "auth": {"jwt": []}}},
        "additional properties 'jwt' not allowed",
    ),
    ({"gateway": {"serviceType": "ExternalName"}}, "serviceType"),
    ({"gateway": {"replicas": 0}}, "replicas"),
    ({"redis": {"enabled": True, "image": "redis"}}, "redis/image"),
    ({"redis": {"enabled": True, "image": "redis:alpine"}}, "redis/image"),
    ({"redis": {"enabled": True, "image": "redis:latest-2"}}, "redis/image"),
    ({"redis": {"password": "x"}}, "additional properties 'password' not allowed"),
    ({"dashboards": {"enabled": True, "labels": {"a": 1}}}, "got number, want string"),
    ({"argocd": {"health": {"enabled": True, "image": "kubectl:latest"}}}, "health/image"),
    ({"engine": "flux", "argocd": {"health": {"enabled": True}}}, "patches Argo CD, and engine is flux"),
    ({"nodePools": [{"name": "a"}]}, "nodePools[0] (a): say either role or instanceProfile"),
    ({"nodePools": [{**POOL, "instanceProfile": "p"}]}, "nodePools[0] (l40s): say either role or instanceProfile"),
    ({"nodePools": [{**POOL, "amiAlias": "al2023@latest"}]}, "amiAlias"),
    ({"nodePools": [{"name": "a", "role": "r", "amiAlias": "al2023@v1"}]}, "(a): subnetSelectorTerms is missing"),
    ({"nodePools": [{**NODES, "name": "a"}]}, "(a): limits is missing, here and in nodePoolDefaults"),
    ({"nodePools": [POOL, POOL]}, "nodePools[1] (l40s): two pools have this name"),
    ({"nodePools": [{**POOL, "gpu": 1}]}, "additional properties 'gpu' not allowed"),
    ({"nodePools": [{**POOL, "subnetSelectorTerms": [{"tags": {"a": "b"}, "id": "subnet-1"}]}]}, "maxProperties"),
    ({"nodePools": [{**POOL, "subnetSelectorTerms": [{"name": "a"}]}]}, "'not' failed"),
    ({"nodePools": [{**POOL, "securityGroupSelectorTerms": [{"id": "subnet-1"}]}]}, "does not match pattern '^sg-'"),
    ({"nodePools": [{**POOL, "limits": {"cpu": "lots"}}]}, "limits/cpu': 'lots' does not match"),
    ({"nodePools": [{**POOL, "limits": {"cpu": 1e21}}]}, "limits/cpu': maximum"),
    ({"nodePools": [{**POOL, "limits": {"cpu": -1}}]}, "limits/cpu': minimum"),
    ({"nodePools": [{**POOL, "requirements": [{"key": "a/b", "operator": "In"}]}]}, "missing property 'values'"),
    (
        {"nodePools": [{**POOL, "requirements": [{"key": "a/b", "operator": "Exists", "values": ["c"]}]}]},
        "maxItems: got 1, want 0",
    ),
    (
        {"nodePools": [{**POOL, "requirements": [{"key": "a/b", "operator": "Gt", "values": ["many"]}]}]},
        "values/0': 'many' does not match",
    ),
    ({"nodePools": [{**POOL, "labels": {"karpenter.sh/pool": "a"}}]}, "labels/karpenter.sh~1pool"),
    ({"nodePools": [{**POOL, "tags": {"kubernetes.io/cluster/a": "owned"}}]}, "tags/kubernetes.io~1cluster~1a"),
    ({"nodePools": [NODES]}, "name"),
    ({"nodePoolDefaults": {"name": "a"}}, "nodePoolDefaults"),
]


@pytest.mark.parametrize(("values", "message"), WRONG, ids=[message for _, message in WRONG])
def test_wrong_values(values: Values, message: str, tmp_path: Path) -> None:
    done = helm_template(tmp_path, {"engine": "none", **values})
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr
    assert "nil pointer" not in done.stderr


def written(manifests: Objects) -> str:
    """A golden of these objects, in the order of their identities."""
    return "---\n".join(yamlio.dump(manifests[key]) for key in sorted(manifests))
