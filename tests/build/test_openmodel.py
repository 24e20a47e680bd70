"""The OpenModels that a scheduler in the cluster reads."""

from __future__ import annotations

from msgspec.structs import replace

from renderer import check
from renderer.build.openmodel import open_model
from renderer.diagnostics import Origin
from renderer.plan import ModelPlan, SharedPlan
from tests.build.conftest import Input


def model(name: str, source: Input) -> ModelPlan:
    spec = {"familyName": "blue", "source": {"uri": f"s3://weights/{name}"}, "ownedBy": "llmaz"}
    return ModelPlan(name, {"llmaz.io/model-family-name": "blue"}, spec, Origin(source, (name,)))


def test_none_where_nobody_asks() -> None:
    assert list(open_model(SharedPlan(""))) == []


def test_one_a_model_in_their_order(source: Input) -> None:
    manifests = list(open_model(SharedPlan("", models=(model("a", source), model("b", source)))))
    assert [manifest.body for manifest in manifests] == [
        {
            "apiVersion": "llmaz.io/v1alpha1",
            "kind": "OpenModel",
            "metadata": {"name": name, "labels": {"llmaz.io/model-family-name": "blue"}},
            "spec": {"familyName": "blue", "source": {"uri": f"s3://weights/{name}"}, "ownedBy": "llmaz"},
        }
        for name in ("a", "b")
    ]
    assert check.validate_manifests(manifests) == []


def test_each_knows_where_it_comes_from(source: Input) -> None:
    first, second = open_model(SharedPlan("", models=(model("a", source), model("b", source))))
    assert first.origin(("spec", "familyName")) == Origin(source, ("a", "spec", "familyName"))
    assert second.origin(("spec", "familyName")) == Origin(source, ("b", "spec", "familyName"))
    assert second.origin(("metadata", "name")) == Origin(source, ("b", "metadata", "name"))


def test_an_extension_of_ours_would_be_found(source: Input) -> None:
    """The schema is that of llmaz's own CRD."""
    odd = replace(model("a", source), spec={"familyName": "blue", "source": {}, "facts": {}})
    (problem,) = check.validate_manifests(list(open_model(SharedPlan("", models=(odd,)))))
    assert problem.code == "E301"
