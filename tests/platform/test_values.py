"""Values of charts/llmaz that work together, upstream's keys among them, and those that it refuses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integrations.test_helm import objects
from tests.platform.chart import (
    CHART,
    HERE,
    PARTS,
    VALUES,
    Body,
    Values,
    chart_values,
    helm,
    helm_template,
    notes,
    parts,
    read_values,
    refused,
    render,
)

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
    manifests = render(tmp_path, values)
    config = chart_values(parts(manifests)["envoy-gateway"])["config"]["envoyGateway"]
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
    assert hooks["translation"] == {
        resource: {"includeAll": True} for resource in ("cluster", "listener", "route", "secret")
    }
    assert chart_values(parts(manifests)["ai-gateway"])["envoyGateway"] == {"namespace": "proxies"}
    [redis] = [key for key in manifests if key[:2] == ("v1", "Service")]
    assert config["rateLimit"]["backend"]["redis"]["url"] == f"{redis[3]}.{redis[2]}.svc.cluster.example:6379"
    url = chart_values(parts(manifests)["open-webui"])["openaiBaseApiUrl"]
    assert url == "http://edge-front.proxies.svc.cluster.example/v1"


def test_the_chat_page_asks_the_service_that_the_gateway_declares(tmp_path: Path) -> None:
    """Also the one that RenderConfig's gateway.create makes: both are called <namespace>-<name>."""
    manifests = render(tmp_path, {"gateway": {"create": True, "namespaces": ["llm"]}, "openWebUI": {"enabled": True}})
    [proxy] = [body for key, body in manifests.items() if key[1] == "EnvoyProxy"]
    service = proxy["spec"]["provider"]["kubernetes"]["envoyService"]["name"]
    url = chart_values(parts(manifests)["open-webui"])["openaiBaseApiUrl"]
    assert url == f"http://{service}.envoy-gateway-system.svc.cluster.local/v1"


def test_the_chat_page_asks_a_gateway_with_a_certificate_by_its_name(tmp_path: Path) -> None:
    gateway = {"tls": {"secretName": "cert"}, "hostnames": ["*.example.com", "llm.example.com"]}
    applications = parts(render(tmp_path, {"gateway": gateway, "openWebUI": {"enabled": True}}))
    assert chart_values(applications["open-webui"])["openaiBaseApiUrl"] == "https://llm.example.com/v1"


@pytest.mark.parametrize(
    ("models", "message", "memory"),
    [(1, 4, 1024), (256, 4, 1024), (300, 5, 1024), (301, 5, 1024), (500, 8, 1575), (1000, 16, 4200), (5000, 79, 5740)],
)
def test_room_for_models(models: int, message: int, memory: int, tmp_path: Path) -> None:
    applications = parts(render(tmp_path, {"maxModels": models}))
    envoy = chart_values(applications["envoy-gateway"])
    assert envoy["config"]["envoyGateway"]["extensionManager"]["maxMessageSize"] == f"{message}Mi"
    assert chart_values(applications["ai-gateway"])["controller"]["maxRecvMsgSize"] == str(message * 2**20)
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
    values = chart_values(parts(render(tmp_path, {"envoyGateway": {"values": own}}))["envoy-gateway"])
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
        part_objects = parts(render(tmp_path, {"engine": engine, "envoyAIGateway": {**own, **pins}}))
        return chart_values(part_objects["ai-gateway"])["controller"].get("mcp", {}).get("sessionEncryption")

    for version in ("v1.2.0", "v1.3.0", "1.3.0", "v2.0.0", "v1.2.0-rc.1"):
        assert seed(version) == {"existingSecret": "mcp-session-seed"}
    assert seed("v1.0.0") is None
    assert seed("v1.1.2") is None
    assert seed("v1.3.0", "flux") is None
    assert seed("v1.3.0", seed="x") == {"seed": "x"}
    assert seed("v1.3.0", existingSecret="mine") == {"existingSecret": "mine"}
    pins = {"version": "v1.3.0", "crds": {"version": "v1.3.0"}}
    expected = "its controller needs the Secret mcp-session-seed in ai, a random text under the key seed"
    assert expected in notes(tmp_path, {"envoyAIGateway": {**pins, "namespace": "ai"}})
    assert "mcp-session-seed" not in notes(tmp_path, {})
    assert "mcp-session-seed" not in notes(tmp_path, {"envoyAIGateway": {**pins, "enabled": False}})


def test_metrics(tmp_path: Path) -> None:
    applications = parts(render(tmp_path, read_values("everything")))
    spec = chart_values(applications["prometheus"])["prometheus"]["prometheusSpec"]
    assert set(spec) == {f"{kind}SelectorNilUsesHelmValues" for kind in ("podMonitor", "serviceMonitor", "rule")}
    assert set(spec.values()) == {False}
    adapter = chart_values(applications["prometheus-adapter"])
    assert adapter["prometheus"] == {"url": "http://prometheus-operated.monitoring.svc.cluster.example", "port": 9090}
    rules = yaml.safe_load((CHART / "files" / "adapter-rules.yaml").read_text("utf-8"))["rules"]
    assert adapter["rules"] == rules
    assert rules["default"] is False


def test_controllers_start_again_when_the_pools_crd_comes(tmp_path: Path) -> None:
    """Both look for InferencePool's CRD at their start only."""
    for version in ("v1.6.0", "v1.6.2"):
        applications = parts(render(tmp_path, {"inferenceExtension": {"version": version}}))
        mark = {"llmaz.io/inference-extension": version}
        assert chart_values(applications["envoy-gateway"])["deployment"]["pod"]["annotations"] == mark
        assert chart_values(applications["ai-gateway"])["controller"]["podAnnotations"] == mark


# --- upstream's keys ------------------------------------------------------------------------------------------------


def test_upstream_values(tmp_path: Path) -> None:
    values = HERE / "upstream" / "values.yaml"
    applications = parts(render(tmp_path, values))
    assert chart_values(applications["envoy-gateway"])["deployment"]["replicas"] == 2
    assert chart_values(applications["ai-gateway"])["controller"]["logLevel"] == "debug"
    assert chart_values(applications["inftyai-scheduler"])["scheduler"] == {
        "name": "inftyai-scheduler",
        "replicaCount": 2,
    }
    chat = chart_values(applications["open-webui"])
    assert chat["persistence"] == {"enabled": False}
    assert chat["openaiBaseApiUrl"] == "http://llmaz-system-llmaz-gateway.envoy-gateway-system.svc.cluster.local/v1"
    assert [variable["name"] for variable in chat["extraEnvVars"]] == ["WEBUI_NAME", "ENABLE_PERSISTENT_CONFIG"]
    notes_text = notes(tmp_path, values)
    assert "OPENAI_API_KEY was dropped" in notes_text
    assert "openaiBaseApiUrl was dropped" in notes_text
    assert "open-webui is read as openWebUI" in notes_text
    assert "ChangeMe" not in helm_template(tmp_path, values).stdout + notes_text


@pytest.mark.parametrize("alias", ["envoy-gateway", "envoy-ai-gateway", "open-webui", "kube-scheduler"])
def test_an_alias_switches_too(alias: str, tmp_path: Path) -> None:
    part = {"kube-scheduler": "inftyai-scheduler", "envoy-ai-gateway": "ai-gateway"}.get(alias, alias)
    assert part in parts(render(tmp_path, {alias: {"enabled": True}}))
    assert part not in parts(render(tmp_path, {alias: {"enabled": False}}))


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
    done = helm_template(tmp_path, values)
    assert done.returncode == 0, done.stderr
    assert "literal-" not in done.stdout
    got = chart_values(parts(objects(done.stdout))["open-webui"])
    assert got["commonEnvVars"] == [secret]
    assert [variable["name"] for variable in got["extraEnvVars"]] == ["WEBUI_NAME", "ENABLE_PERSISTENT_CONFIG"]
    notes_text = notes(tmp_path, values)
    assert notes_text.count("was dropped") == 6
    assert "literal-" not in notes_text


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
    stderr = helm_template(tmp_path, {component: {"enabled": True, "values": values}}).stderr
    assert (
        re.findall(r"\* \S+?\.values\.(?:grafana\.)?(?:grafana\.ini\.)?(.*) is a secret in plain text", stderr)
        == places
    )
    assert "literal-" not in stderr
    assert not helm_template(tmp_path, {component: {"enabled": False, "values": values}}).stderr


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
    got = chart_values(parts(render(tmp_path, values))["open-webui"])
    assert "0a1b2c3d" not in json.dumps(got)
    assert got["openaiBaseApiUrl"] == "http://llmaz-system-llmaz-gateway.envoy-gateway-system.svc.cluster.local/v1"
    assert "was dropped" in notes(tmp_path, values).replace("were", "was")


def test_variables_are_text(tmp_path: Path) -> None:
    chat = {"extraEnvVars": {"A": 1000000, "B": True, "C": None, "D": 1.5, "E": "x"}}
    applications = parts(render(tmp_path, {"openWebUI": {"enabled": True, "values": chat}}))
    got = {variable["name"]: variable["value"] for variable in chart_values(applications["open-webui"])["extraEnvVars"]}
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
    names = [(at, leaf) for body in render(tmp_path, values).values() for at, leaf in leaves(body) if words.search(at)]
    assert len(names) > 30
    assert [(at, leaf) for at, leaf in names if not isinstance(leaf, str)] == []
    if engine == "flux":
        own = parts(render(tmp_path, values))["own"]["spec"]
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
        "envoyGateway.values.config.envoyGateway.extensionManager is not a map",
    ),
    "a configuration that is text": (
        {"envoyGateway": {"values": {"config": "x"}}},
        "envoyGateway.values.config is not a map",
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
    assert render(tmp_path, values)


def test_a_release_with_a_long_name(tmp_path: Path) -> None:
    for length, good in ((38, True), (39, False)):
        done = helm("template", "x" * length, CHART, home=tmp_path)
        assert (done.returncode == 0) is good
        assert good or "63 characters" in done.stderr
    longest = max(len(part["name"]) for part in PARTS)
    assert 38 + 1 + longest == 63


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    stderr = refused(tmp_path, {"backendRuntime": {}, "nameOverride": "x", "karpenter": {"enabled": True}})
    assert stderr.count("\n  * ") == 3


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
