"""The files that an engine reads."""

from __future__ import annotations

from msgspec.structs import replace

from renderer.build.configmap import config_map
from renderer.diagnostics import Origin
from renderer.plan import Plan
from tests.build.conftest import Input


def test_none_without_files(plan: Plan) -> None:
    assert list(config_map(plan)) == []


def test_the_files_by_name(plan: Plan) -> None:
    (manifest,) = config_map(replace(plan, config={"b.yaml": "b: 1\n", "a.yaml": "a: 1\n"}))
    assert manifest.body == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "chat-config", "namespace": "llm", "labels": plan.labels},
        "data": {"b.yaml": "b: 1\n", "a.yaml": "a: 1\n"},
    }
    assert list(manifest.body) == ["apiVersion", "kind", "metadata", "data"]


def test_what_is_wrong_with_it_stands_where_the_app_is_named(plan: Plan, source: Input) -> None:
    (manifest,) = config_map(replace(plan, config={"a.yaml": "a: 1\n"}))
    assert manifest.origin(("metadata", "name")) == Origin(source, ("metadata", "name"))
    assert manifest.origin(("data", "a.yaml")).source is source
