"""The OpenModels that a scheduler in the cluster reads."""

from __future__ import annotations

from renderer import check
from renderer.manifests.openmodel import open_model
from renderer.plan import Joint, Model
from renderer.problems import Origin, Path
from tests.manifests.conftest import Input


def model(name: str, source: Input) -> Model:
    made: dict[Path, Origin] = {
        (): Origin(source),
        ("name",): Origin(source, ("metadata", "name")),
        ("spec",): Origin(source, ("spec", name)),
    }
    spec = {"familyName": "blue", "source": {"uri": f"s3://weights/{name}"}, "ownedBy": "llmaz"}
    return Model(name, {"llmaz.io/model-family-name": "blue"}, spec, lambda: made)


def test_none_where_nobody_asks() -> None:
    assert list(open_model(Joint(""))) == []


def test_one_a_model_in_their_order(source: Input) -> None:
    made = list(open_model(Joint("", models=(model("a", source), model("b", source)))))
    assert [each.body for each in made] == [
        {
            "apiVersion": "llmaz.io/v1alpha1",
            "kind": "OpenModel",
            "metadata": {"name": name, "labels": {"llmaz.io/model-family-name": "blue"}},
            "spec": {"familyName": "blue", "source": {"uri": f"s3://weights/{name}"}, "ownedBy": "llmaz"},
        }
        for name in ("a", "b")
    ]
    assert check.manifests(made) == []


def test_each_knows_where_it_comes_from(source: Input) -> None:
    first, second = open_model(Joint("", models=(model("a", source), model("b", source))))
    assert first.origin(("spec", "familyName")) == Origin(source, ("spec", "a", "familyName"))
    assert second.origin(("spec", "familyName")) == Origin(source, ("spec", "b", "familyName"))
    assert second.origin(("metadata", "name")) == Origin(source, ("metadata", "name"))


def test_an_extension_of_ours_would_be_found(source: Input) -> None:
    """The schema is that of llmaz's own CRD."""
    odd = model("a", source)._replace(spec={"familyName": "blue", "source": {}, "facts": {}})
    (problem,) = check.manifests(list(open_model(Joint("", models=(odd,)))))
    assert problem.code == "E301"
