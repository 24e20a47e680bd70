"""Who may connect to the pods of a namespace's models."""

from __future__ import annotations

from renderer import check
from renderer.build.network_policy import network_policy
from renderer.diagnostics import Origin
from renderer.plan import NetworkPolicyPlan, SharedPlan
from tests.build.conftest import Input


def test_none_where_nobody_asks_for_one() -> None:
    assert list(network_policy(SharedPlan("llm"))) == []


def test_peers_stand_behind_the_models_and_pickers(source: Input) -> None:
    peer = {"namespaceSelector": {"matchLabels": {"team": "search"}}}
    origin = Origin(source, ("spec",))
    plan = NetworkPolicyPlan("llmaz-engines", {}, ((peer, origin.at("from", 0)),), origin)
    (manifest,) = network_policy(SharedPlan("llm", network_policy=plan))
    (rule,) = manifest.body["spec"]["ingress"]
    assert rule["from"][2:] == [peer]
    assert manifest.origin(("spec", "ingress", 0, "from", 2, "namespaceSelector")).path[:3] == ("spec", "from", 0)
    assert manifest.body["spec"]["policyTypes"] == ["Ingress"]  # without it an API server adds nothing else
    assert list(manifest.body) == ["apiVersion", "kind", "metadata", "spec"]
    assert check.validate_manifests([manifest]) == []
