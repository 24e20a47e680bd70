"""What Prometheus reads of a namespace."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from renderer import check
from renderer.build.monitors import pod_monitor
from renderer.diagnostics import Origin, Path
from renderer.plan import MonitorPlan, SharedPlan
from tests.build.conftest import Input

ANNOTATION = "renderer.llmaz.io/metrics-path"


@pytest.fixture
def monitor(source: Input) -> MonitorPlan:
    """The PodMonitor as resolve decides it."""
    settings = Origin(source, ("spec",))
    return MonitorPlan("llmaz-engines", {"release": "stack"}, "30s", settings, settings)


def test_none_where_nothing_has_metrics() -> None:
    assert list(pod_monitor(SharedPlan("llm"))) == []


def test_it_selects_the_leaders_of_all_models(monitor: MonitorPlan) -> None:
    (manifest,) = pod_monitor(SharedPlan("llm", monitor=monitor))
    assert manifest.body["metadata"] == {"name": "llmaz-engines", "namespace": "llm", "labels": {"release": "stack"}}
    assert manifest.body["spec"]["selector"] == {
        "matchLabels": {"leaderworkerset.sigs.k8s.io/worker-index": "0"},
        "matchExpressions": [{"key": "llmaz.io/model-name", "operator": "Exists"}],
    }
    assert list(manifest.body) == ["apiVersion", "kind", "metadata", "spec"]
    assert check.validate_manifests([manifest]) == []


def test_the_annotation_decides_what_is_read(monitor: MonitorPlan) -> None:
    """Prometheus writes every character of an annotation's name that is no letter or digit as `_`."""
    (manifest,) = pod_monitor(SharedPlan("llm", monitor=monitor))
    (endpoint,) = manifest.body["spec"]["podMetricsEndpoints"]
    keep, relabel = endpoint.pop("relabelings")
    assert endpoint == {"port": "http", "interval": "30s"}
    word = "".join(letter if letter.isalnum() else "_" for letter in ANNOTATION)
    assert keep == {
        "action": "keep",
        "sourceLabels": [f"__meta_kubernetes_pod_annotationpresent_{word}"],
        "regex": "true",
    }
    assert relabel == {
        "action": "replace",
        "sourceLabels": [f"__meta_kubernetes_pod_annotation_{word}"],
        "targetLabel": "__metrics_path__",
    }


def test_where_all_pods_answer_each_rank_is_read(monitor: MonitorPlan) -> None:
    """And no pod twice: those pods have another annotation."""
    leaders, groups = pod_monitor(SharedPlan("llm", monitor=monitor, group_monitor=replace(monitor, all_serve=True)))
    assert groups.body["spec"]["selector"] == {
        "matchExpressions": [
            {"key": "leaderworkerset.sigs.k8s.io/name", "operator": "Exists"},
            {"key": "llmaz.io/model-name", "operator": "Exists"},
        ]
    }
    endpoints = groups.body["spec"]["podMetricsEndpoints"]
    assert [endpoint["port"] for endpoint in endpoints] == ["http", *(f"http-{rank}" for rank in range(1, 8))]
    read = leaders.body["spec"]["podMetricsEndpoints"][0]["relabelings"][0]["sourceLabels"]
    for i, endpoint in enumerate(endpoints):
        assert endpoint["relabelings"][0]["sourceLabels"] != read
        assert groups.origin(("spec", "podMetricsEndpoints", i, "interval")).path == ("spec", "interval")
    assert check.validate_manifests([groups]) == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("metadata", "labels", "release"), ("spec", "labels", "release")),
        (("spec", "podMetricsEndpoints", 0, "interval"), ("spec", "interval")),
        (("metadata", "namespace"), ("spec", "metadata", "namespace")),
    ],
)
def test_what_is_wrong_with_it_stands_in_the_configuration(
    path: Path, expected: Path, monitor: MonitorPlan, source: Input
) -> None:
    (manifest,) = pod_monitor(SharedPlan("llm", monitor=monitor))
    assert manifest.origin(path) == Origin(source, expected)
