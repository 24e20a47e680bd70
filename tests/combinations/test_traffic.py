"""What is told of traffic that goes another way than the input says: each judgement of `traffic.py` finds its fault."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.combinations import rows, traffic
from tests.combinations.covering import USUAL

Node = dict[str, Any]
Change = Callable[[Node], object]
ROUTED: Mapping[str, str] = {**USUAL, "gateway": "backend"}
RERANKER = {"task": "reranker", "provider": "same API", "tenants": "one by tokens", "gateway": "created"}
PROVIDER = {"provider": "AWSBedrock", "budget": "tokens", "tenants": "one"}
TO_ZERO = {"scale": "zero", "cooldown": "long", "task": "embedding"}
NEIGHBOUR = {"task": "classifier", "neighbour": "embedding"}


class Fault(NamedTuple):
    """A change of the rendered objects of a kind and name, and words of what is told of them."""

    row: Mapping[str, str]
    kind: str
    name: str
    change: Change
    words: str


def _set(*path: str | int, value: object) -> Change:
    def change(body: Node) -> None:
        holder: Any = body["spec"]
        for key in path[:-1]:
            holder = holder[key]
        if value is None:
            del holder[path[-1]]
        else:
            holder[path[-1]] = value

    return change


def _into(kind: str) -> Change:
    return lambda body: body.update({"kind": kind})


ALLOWED = ("authorization", "rules", 0, "principal", "headers", 0)
FIRST_RULE = ("rateLimit", "global", "rules", 0)
ARGS = ("leaderWorkerTemplate", "workerTemplate", "spec", "containers", 0, "args")
FAULTS: Mapping[str, Fault] = {
    "no version": Fault(
        RERANKER, "AIServiceBackend", "app", _set("schema", "version", value=None), "asks app (reranker"
    ),
    "another schema": Fault(TO_ZERO, "AIServiceBackend", "app", _set("schema", "name", value="Cohere"), "by {'name'"),
    "no route": Fault(TO_ZERO, "AIGatewayRoute", "app", _into("HTTPRoute"), "no route leads to app"),
    "a route too many": Fault(
        NEIGHBOUR, "Service", "other-leaders", _set("selector", value={"app.kubernetes.io/name": "app"}), "leads to app"
    ),
    "a backend too many": Fault(
        NEIGHBOUR, "LeaderWorkerSet", "app", _into("Backend"), "nobody asks for the Backend app"
    ),
    "several tasks": Fault(
        {"neighbour": "embedding"}, "Service", "other-leaders", _set("selector", value={}), "leads to several tasks"
    ),
    "no key asked for": Fault(
        RERANKER, "SecurityPolicy", "public", _set("jwt", value=None), "does not ask for ['jwt']"
    ),
    "another issuer": Fault(
        RERANKER, "SecurityPolicy", "public", _set("jwt", "providers", 0, "issuer", value="https://x"), "['jwt']"
    ),
    "the Gateway asks nobody": Fault(
        RERANKER, "SecurityPolicy", "llmaz-gateway", _set("jwt", value=None), "the Gateway"
    ),
    "another Secret": Fault(
        PROVIDER, "SecurityPolicy", "public", _set("apiKeyAuth", "credentialRefs", 0, "name", value="x"), "['apiKeys']"
    ),
    "tenants say their name": Fault(
        RERANKER,
        "ClientTrafficPolicy",
        "llmaz-gateway",
        _set("headers", "earlyRequestHeaders", "remove", 1, value="x-other"),
        "clients may say x-tenant-id themselves",
    ),
    "open": Fault(RERANKER, "SecurityPolicy", "public", _set("targetRefs", 0, "name", value="x"), "0 policies"),
    "open to others": Fault(
        RERANKER, "SecurityPolicy", "public", _set("authorization", "defaultAction", value="Allow"), "lets in"
    ),
    "for another": Fault(RERANKER, "SecurityPolicy", "public", _set(*ALLOWED, "values", value=["x"]), "its apps for"),
    "by another header": Fault(
        RERANKER, "SecurityPolicy", "public", _set(*ALLOWED, "name", value="x"), "lets in others"
    ),
    "no fallback": Fault(PROVIDER, "BackendTrafficPolicy", "public", _set("retry", value=None), "nothing falls back"),
    "another provider's model": Fault(
        PROVIDER,
        "AIGatewayRoute",
        "public",
        _set("rules", 0, "backendRefs", 1, "modelNameOverride", value="x"),
        "is not in the route",
    ),
    "a provider by another API": Fault(
        RERANKER, "AIServiceBackend", "public-api-cohere-com", _set("schema", "version", value="v1"), "is asked by"
    ),
    "another host": Fault(
        PROVIDER,
        "Backend",
        "public-bedrock-example",
        _set("endpoints", 0, "fqdn", "hostname", value="x.example"),
        "is asked at",
    ),
    "no TLS": Fault(PROVIDER, "Backend", "public-bedrock-example", _set("tls", value=None), "without TLS"),
    "no key": Fault(PROVIDER, "BackendSecurityPolicy", "public-bedrock-example", _into("Secret"), "its keys are of []"),
    "another key": Fault(
        PROVIDER,
        "BackendSecurityPolicy",
        "public-bedrock-example",
        _set("awsCredentials", "credentialsFile", "secretRef", "name", value="x"),
        "it gets the key",
    ),
    "no region": Fault(
        PROVIDER,
        "BackendSecurityPolicy",
        "public-bedrock-example",
        _set("awsCredentials", "region", value="x"),
        "its region is lost",
    ),
    "another budget": Fault(
        PROVIDER, "BackendTrafficPolicy", "public", _set(*FIRST_RULE, "limit", "requests", value=1), "has the budgets"
    ),
    "nothing counted": Fault(
        PROVIDER, "AIGatewayRoute", "public", _set("llmRequestCosts", value=[]), "has the budgets"
    ),
    "no option": Fault(RERANKER, "LeaderWorkerSet", "app", _set(*ARGS, value=[]), "no option for reranker"),
    "another time": Fault(
        TO_ZERO, "ScaledObject", "app", _set("cooldownPeriod", value=300), "app waits 300 s, and not 900"
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_traffic_that_goes_another_way_is_found(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    rendered = rows.render({**ROUTED, **fault.row}, tmp_path)
    documents = copy.deepcopy(rendered.documents)
    told_codes = {problem.code for problem in rendered.problems}
    assert list(traffic.faults(rendered.inputs, documents, told_codes)) == []
    (body,) = [body for body in documents if (body["kind"], body["metadata"]["name"]) == (fault.kind, fault.name)]
    fault.change(body)
    faults = list(traffic.faults(rendered.inputs, documents, told_codes))
    assert any(fault.words in told_fault for told_fault in faults), faults


@pytest.mark.parametrize(
    ("row", "code", "words"),
    [
        (NEIGHBOUR, "N677", "nobody says that no route leads to app (classifier)"),
        ({"task": "reranker", "budget": "tokens"}, "W680", "nobody says that a budget is never spent"),
        ({"provider": "Anthropic"}, "W272", "does not answer for ['chat'], and nobody says so"),
    ],
)
def test_what_nobody_says_is_found(row: Mapping[str, str], code: str, words: str, tmp_path: Path) -> None:
    rendered = rows.render({**ROUTED, **row}, tmp_path)
    assert code in {problem.code for problem in rendered.problems}
    faults = list(traffic.faults(rendered.inputs, rendered.documents, set()))
    assert any(words in told_fault for told_fault in faults), faults


@pytest.mark.parametrize("neighbour", ["embedding", "reranker", "classifier"])
def test_no_name_leads_to_several_tasks(neighbour: str, tmp_path: Path) -> None:
    assert rows.render({**ROUTED, "traffic": "split", "neighbour": "chat"}, tmp_path).documents
    refused = rows.render({**ROUTED, "traffic": "split", "neighbour": neighbour}, tmp_path)
    assert refused.documents == []
    assert {problem.code for problem in refused.problems} & {"E678", "E679"}
