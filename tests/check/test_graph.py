"""The proof of the chain: sets that real controllers route pass, and each change that they are silent about is found.

The sets and the changes are in chain/, see its README.md.
"""

from __future__ import annotations

import copy
import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
import yaml

from renderer.api import RenderConfig
from renderer.check import graph
from renderer.check.graph.listener_admission import hostnames_overlap
from renderer.diagnostics import NamedSource
from renderer.kubernetes.workloads import selects
from tests.inputs import CONFIG
from tests.paths import TESTS

if TYPE_CHECKING:
    from renderer.input_types import RenderConfigSpec
    from tests.conftest import Golden, Llmaz

HERE = TESTS / "data" / "chain"
SAMPLES = sorted(path.name for path in (HERE / "samples").iterdir())
VARIANTS = sorted(path.name for path in (HERE / "variants").iterdir())
GONE = "gone"


def sample(name: str) -> list[dict[str, Any]]:
    """The objects of a sample."""
    files = sorted((HERE / "samples" / name).glob("*.yaml"))
    return [document for file in files for document in yaml.safe_load_all(file.read_text("utf-8"))]


def called(body: dict[str, Any]) -> str:
    return f"{body['kind']}/{body['metadata'].get('namespace', '')}/{body['metadata']['name']}"


def put(body: Any, path: str, value: Any) -> None:
    """Puts the value at a path such as `spec.rules.0`, or takes away what is there."""
    *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    for step in parents:
        body = body[step]
    if value == GONE:
        del body[last]
    elif isinstance(body, list) and last == len(body):
        body.append(value)
    else:
        body[last] = value


def spelt(value: Any) -> Any:
    """A value with its long words written out."""
    if isinstance(value, dict) and set(value) == {"repeat", "times"}:
        return value["repeat"] * value["times"]
    if isinstance(value, dict):
        return {key: spelt(inner) for key, inner in value.items()}
    return value


def many(route: dict[str, Any], routes: int = 1, rules: int = 1, models: int = 10**6) -> list[dict[str, Any]]:
    """A route again and again, the first under its own name, with so many rules."""
    copies = []
    for i in range(routes):
        copied = copy.deepcopy(route)
        copied["metadata"]["name"] += f"-{i:04}" if i else ""
        (rule,) = copied["spec"]["rules"]
        copied["spec"]["rules"] = [copy.deepcopy(rule) for _ in range(rules)]
        for r, copied_rule in enumerate(copied["spec"]["rules"]):
            copied_rule["matches"][0]["headers"][0]["value"] = f"model-{(i * rules + r) % models}"
        copies.append(copied)
    return copies


def varied(variant: dict[str, Any]) -> list[dict[str, Any]]:
    """The objects of a variant."""
    bodies = {called(body): body for body in sample(variant["sample"])}
    for name in variant.get("remove", ()):
        del bodies[name]
    for name, changes in variant.get("change", {}).items():
        for path, value in changes.items():
            put(bodies[name], path, spelt(value))
    objects = [*bodies.values(), *variant.get("add", ())]
    if repeat := dict(variant.get("repeat", {})):
        name = repeat.pop("of")
        objects = [body for body in objects if called(body) != name] + many(bodies[name], **repeat)
    return objects


@pytest.mark.parametrize("name", SAMPLES)
def test_what_routes_passes(name: str, llmaz: Llmaz) -> None:
    done = llmaz("check", "--strict", HERE / "samples" / name)
    assert done.code == 0, done.err
    assert re.findall(r"\[[EW]\d+\]", done.err) == []
    assert f"{len(sample(name))} objects checked, 0 errors" in done.err


@pytest.mark.parametrize("name", VARIANTS)
def test_variant(name: str, folder: Path, llmaz: Llmaz, golden: Golden) -> None:
    variant = yaml.safe_load((HERE / "variants" / name / "variant.yaml").read_text("utf-8"))
    (folder / "set.yaml").write_text(
        yaml.dump_all(varied(variant), Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True), "utf-8"
    )
    external = [part for pattern in variant.get("external", ()) for part in ("--external", pattern)]
    done = llmaz("check", "-v", *external, "set.yaml")
    codes = sorted(set(re.findall(r"\[([EW]\d+)\]$", done.err, re.MULTILINE)))
    assert codes == sorted(variant["finds"]), done.err
    assert done.code == (2 if any(code.startswith("E") for code in codes) else 0)
    golden(f"data/chain/variants/{name}/stderr.txt", re.sub(r"(.)\1{200,}", r"\1…\1", done.err))


def test_every_sample_is_varied() -> None:
    read = [yaml.safe_load((HERE / "variants" / name / "variant.yaml").read_text("utf-8")) for name in VARIANTS]
    assert sorted({variant["sample"] for variant in read}) == SAMPLES


# --- what the command line and llmaz.yaml say

LONE = """
apiVersion: aigateway.envoyproxy.io/v1beta1
kind: AIServiceBackend
metadata: {name: chat, namespace: llm}
spec: {schema: {name: OpenAI}, backendRef: {group: gateway.envoyproxy.io, kind: Backend, name: chat}}
---
apiVersion: aigateway.envoyproxy.io/v1beta1
kind: BackendSecurityPolicy
metadata: {name: chat, namespace: llm}
spec:
  targetRefs: [{group: aigateway.envoyproxy.io, kind: AIServiceBackend, name: chat}]
  type: APIKey
  apiKey: {secretRef: {name: key}}
"""
EXTERNAL = CONFIG + "{external: [%s]}\n"


def test_what_is_declared_is_met(folder: Path, llmaz: Llmaz) -> None:
    (folder / "set.yaml").write_text(LONE, "utf-8")
    done = llmaz("check", "set.yaml")
    assert done.code == 2
    assert "external: Backend/llm/chat" in done.err
    assert llmaz("check", "set.yaml", "--external", "Backend/llm/chat").code == 0
    assert llmaz("check", "set.yaml", "--external", "Backend/*/c*").code == 0
    assert llmaz("check", "set.yaml", "--external", "Backend/chat").code == 2
    assert llmaz("check", "--per-object", "set.yaml").code == 0
    (folder / "llmaz.yaml").write_text(EXTERNAL % "Backend/llm/*", "utf-8")
    assert llmaz("check", "set.yaml").code == 0
    (folder / "llmaz.yaml").write_text(EXTERNAL % "Backend", "utf-8")
    done = llmaz("check", "set.yaml", "--external", "Backend/llm/chat")
    assert done.code == 2
    assert "llmaz.yaml:4:19: spec.external[0]: 'Backend' is not a valid value [E306]" in done.err


def test_a_pattern_that_is_none(folder: Path, llmaz: Llmaz) -> None:
    (folder / "set.yaml").write_text(LONE, "utf-8")
    for pattern in ("Backend", "Backend/", "Backend/a/b/c"):
        done = llmaz("check", "set.yaml", "--external", pattern)
        assert done.code == 2
        assert f"'{pattern}' is not a KIND/NAMESPACE/NAME, nor KIND/NAME" in done.err


def test_notes_never_fail(folder: Path, llmaz: Llmaz) -> None:
    (folder / "set.yaml").write_text(LONE, "utf-8")
    arguments = ("check", "--strict", "--external", "Backend/llm/chat", "set.yaml")
    done = llmaz(*arguments)
    assert done.code == 0
    assert "set.yaml:13:30: note: spec.apiKey.secretRef.name: the Secret 'key' of namespace 'llm'" in done.err
    assert [problem["severity"] for problem in json.loads(llmaz(*arguments, "--format", "json").out)] == ["note"]
    assert llmaz(*arguments, "--format", "github").out.startswith("::notice file=set.yaml,line=13,")
    (result,) = json.loads(llmaz(*arguments, "--format", "sarif").out)["runs"][0]["results"]
    assert result["level"] == "note"


def test_warnings_are_errors_where_asked(folder: Path, llmaz: Llmaz) -> None:
    variant = yaml.safe_load((HERE / "variants" / "picker-fails-open" / "variant.yaml").read_text("utf-8"))
    (folder / "set.yaml").write_text(yaml.safe_dump_all(varied(variant)), "utf-8")
    assert llmaz("check", "set.yaml").code == 0
    assert llmaz("check", "--strict", "set.yaml").code == 2


# --- parts


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("a.example.com", "a.example.com", True),
        ("a.example.com", "b.example.com", False),
        ("*.example.com", "a.example.com", True),
        ("*.example.com", "a.b.example.com", True),
        ("*.example.com", "example.com", False),
        ("*.example.com", "*.b.example.com", True),
        ("*.example.com", "*.example.org", False),
    ],
)
def test_hosts_meet(one: str, other: str, expected: bool) -> None:
    assert hostnames_overlap(one, other) is expected
    assert hostnames_overlap(other, one) is expected


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ({}, True),
        ({"matchLabels": {"a": "1"}}, True),
        ({"matchLabels": {"a": "2"}}, False),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1", "2"]}]}, False),
        ({"matchExpressions": [{"key": "b", "operator": "NotIn", "values": ["1"]}]}, True),
        ({"matchExpressions": [{"key": "a", "operator": "Exists"}]}, True),
        ({"matchExpressions": [{"key": "b", "operator": "Exists"}]}, False),
        ({"matchExpressions": [{"key": "b", "operator": "DoesNotExist"}]}, True),
    ],
)
def test_selectors(selector: dict[str, Any], expected: bool) -> None:
    assert selects(selector, {"a": "1"}) is expected


def configured(**spec: Any) -> RenderConfig:
    return RenderConfig(cast("RenderConfigSpec", spec), NamedSource("llmaz.yaml"))


def test_what_the_configuration_declares() -> None:
    external = graph.declared_objects(configured(external=["Secret/llm/*"]), ["GatewayClass/envoy"])
    assert external.declared("Secret", "llm", "token")
    assert not external.declared("Secret", "other", "token")
    assert external.declared("GatewayClass", "", "envoy")
    assert not external.declared("GatewayClass", "", "envoy2")
    assert not external.declared("Service", "llm", "envoy")
    assert external.declared("Gateway", "llmaz-system", "llmaz-gateway")
    assert not external.declared("Gateway", "llm", "llmaz-gateway")


def test_the_gateways_that_the_configuration_names() -> None:
    teams = {"a": {"name": "gw-a"}, "b": {"name": "gw-b", "maxModels": 5000}}
    external = graph.declared_objects(
        configured(gateway={"namespace": "infra", "routeLayout": "packed", "perNamespace": teams})
    )
    assert external.gateways == {("infra", "llmaz-gateway"), ("infra", "gw-a"), ("infra", "gw-b")}
    assert external.limits == {("infra", "llmaz-gateway"): 1400, ("infra", "gw-a"): 1400, ("infra", "gw-b"): 5000}
    assert external.domain == "cluster.local"


def test_a_raised_limit_counts() -> None:
    (route,) = [body for body in sample("1-backend") if called(body) == "AIGatewayRoute/llm/qwen3-8b"]
    facts = graph.route_matches(graph.ObjectView(many(route, routes=1201), graph.ExternalObjects()))
    place = ("llmaz-system", "llmaz-gateway")
    assert [finding.code for _, finding in graph.find_route_conflicts(facts, graph.ExternalObjects())] == ["E606"]
    assert [
        finding.code for _, finding in graph.find_route_conflicts(facts, graph.ExternalObjects(limits={place: 1201}))
    ] == ["W582"]
    assert [finding.code for _, finding in graph.find_route_conflicts(facts[:300], graph.ExternalObjects())] == []


def test_routes_on_two_listeners_do_not_meet() -> None:
    (route,) = [body for body in sample("1-backend") if called(body) == "AIGatewayRoute/llm/qwen3-8b"]
    other = copy.deepcopy(route)
    other["metadata"]["name"] = "other"

    def codes(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
        route["spec"]["parentRefs"][0].update(first)
        other["spec"]["parentRefs"][0].update(second)
        facts = graph.route_matches(graph.ObjectView([route, other], graph.ExternalObjects()))
        return [finding.code for _, finding in graph.find_route_conflicts(facts, graph.ExternalObjects())]

    assert codes({}, {}) == ["E585"]
    assert codes({"sectionName": "http"}, {}) == ["E585"]
    assert codes({}, {"sectionName": "https"}) == []
    other["spec"]["hostnames"] = ["a.example.com"]
    assert codes({}, {}) == []
    assert codes({}, {"sectionName": "http"}) == ["E584"]


def test_what_is_known_beside_a_set() -> None:
    """An app's own objects are judged with those of the tree at hand, which are not judged themselves."""
    bodies = sample("5-auth-limits")
    own = [body for body in bodies if body["metadata"].get("namespace") == "llm"]
    rest = [body for body in bodies if body["metadata"].get("namespace") != "llm"]
    rest[1]["spec"]["controllerName"] = "x"
    around = graph.known_objects(rest, graph.ExternalObjects())
    assert {finding.code for _, finding in graph.validate_graph(graph.ObjectView(own, around))} == {"N581"}
    gateway = next(body for body in rest if body["kind"] == "SecurityPolicy")
    gateway["spec"]["apiKeyAuth"]["sanitize"] = False
    around = graph.known_objects(rest, graph.ExternalObjects())
    assert {finding.code for _, finding in graph.validate_graph(graph.ObjectView(own, around))} == {"N581", "E601"}


def test_objects_without_a_namespace_go_together() -> None:
    bodies = sample("1-backend")
    for body in bodies:
        if body["metadata"].get("namespace") == "llm":
            del body["metadata"]["namespace"]
    assert {finding.code for _, finding in graph.validate_whole_graph(bodies, graph.ExternalObjects())} == {"N581"}


def test_the_chain_is_quick() -> None:
    """Loose on purpose: a walk that grows with the square takes minutes."""
    bodies = sample("1-backend")
    service, backend, ai, route = (body for body in bodies if body["metadata"]["name"].startswith("qwen"))
    platform = [body for body in bodies if body["metadata"].get("namespace") != "llm"]
    objects = list(platform)
    for i in range(5000):
        four = copy.deepcopy([service, backend, ai, route])
        for body in four:
            body["metadata"]["name"] = body["metadata"]["name"].replace("qwen3-8b", f"m{i}")
        four[0]["spec"]["selector"]["leaderworkerset.sigs.k8s.io/name"] = f"m{i}"
        four[1]["spec"]["endpoints"][0]["fqdn"]["hostname"] = f"m{i}-leaders.llm.svc.cluster.local"
        four[2]["spec"]["backendRef"]["name"] = f"m{i}"
        four[3]["spec"]["rules"][0]["backendRefs"][0]["name"] = f"m{i}"
        four[3]["spec"]["rules"][0]["matches"][0]["headers"][0]["value"] = f"m{i}"
        objects += four
    start = time.perf_counter()
    findings = list(
        graph.validate_whole_graph(objects, graph.ExternalObjects(limits={("llmaz-system", "llmaz-gateway"): 10**6}))
    )
    assert time.perf_counter() - start < 5
    assert {finding.code for _, finding in findings} == {"N581", "W582"}
