"""What to write in place of a value of another form, in manifests of any kind."""

from __future__ import annotations

from typing import Any

import pytest

from renderer import schema_validation
from renderer.check.object_rules import validate_object
from tests.check.test_check import changed

SCALED: dict[str, Any] = {
    "apiVersion": "keda.sh/v1alpha1",
    "kind": "ScaledObject",
    "metadata": {"name": "chat", "namespace": "llm"},
    "spec": {
        "scaleTargetRef": {"name": "chat"},
        "triggers": [{"type": "prometheus", "metadata": {"serverAddress": "http://p", "query": "q", "threshold": "1"}}],
    },
}
RULE: dict[str, Any] = {
    "apiVersion": "monitoring.coreos.com/v1",
    "kind": "PrometheusRule",
    "metadata": {"name": "queue", "namespace": "llm"},
    "spec": {"groups": [{"name": "queue", "rules": [{"alert": "Queue", "expr": "up == 0"}]}]},
}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "chat"},
    "spec": {"containers": [{"name": "a", "image": "a:1"}]},
}
# An object, a field, what is written there, and the hint.
FORMS: list[tuple[dict[str, Any], str, Any, str]] = [
    (SCALED, "spec.pollingInterval", "10s", "write pollingInterval: 10"),
    (SCALED, "spec.cooldownPeriod", "5m", "write cooldownPeriod: 300"),
    (SCALED, "spec.maxReplicaCount", "4", "write 4 without quotes"),
    (RULE, "spec.groups.0.rules.0.for", 5, "write a duration such as 5m"),
    (RULE, "spec.groups.0.rules.0.for", "5", "write a duration such as 5m"),
    (RULE, "spec.groups.0.rules.0.for", "5 minutes", "write for: 5m"),
    (POD, "spec.terminationGracePeriodSeconds", "2m", "write terminationGracePeriodSeconds: 120"),
    (POD, "spec.hostIPC", "true", "write hostIPC: true"),
]


@pytest.mark.parametrize(("body", "field", "value", "hint"), FORMS)
def test_a_value_of_another_form(body: dict[str, Any], field: str, value: object, hint: str) -> None:
    assert list(validate_object(body)) == []
    findings = list(validate_object(changed(body, {field: value})))
    assert len(findings) == 1
    words = schema_validation.message_words(findings[0], str(value))
    assert (words.get("hint") or f"write {words['means']}") == hint
