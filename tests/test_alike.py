"""What two runs have in common is made once, and nothing comes out otherwise for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from renderer import pipeline
from renderer.alike import Known
from renderer.api import Options
from renderer.load.reading import plain

if TYPE_CHECKING:
    from pathlib import Path

    from renderer.load.environments import Environment
    from renderer.tree import Readable

MODEL = """\
apiVersion: llmaz.io/v1alpha1
kind: OpenModel
metadata: {name: NAME}
spec:
  familyName: f
  source: {modelHub: {modelID: a/b}}
  inferenceConfig: {flavors: [{name: gpu, limits: {nvidia.com/gpu: 1}}]}
"""
APP = """\
apiVersion: inference.llmaz.io/v1alpha1
kind: Playground
metadata: {name: NAME, namespace: SPACE}
spec: {modelClaim: {modelName: MODEL}, servedModelName: NAME-SPACE, replicas: 2}
"""
ROUTE = """\
apiVersion: renderer.llmaz.io/v1alpha1
kind: ModelRoute
metadata: {name: route, namespace: a}
spec: {modelName: talk, backends: [{playground: one, weight: 9}, {playground: two}]}
"""
CONFIG = "apiVersion: renderer.llmaz.io/v1alpha1\nkind: RenderConfig\nmetadata: {name: c}\nspec: {gateway: GATEWAY}\n"


OTHERS = "apiVersion: v1\nkind: Secret\nmetadata: {name: tenants, namespace: llmaz-system}\n"


def app(name: str, space: str, model: str) -> str:
    return APP.replace("NAME", name).replace("SPACE", space).replace("MODEL", model)


TREE = {
    "llmaz.yaml": CONFIG.replace("GATEWAY", "{create: true, routeLayout: packed}"),
    "m1.yaml": MODEL.replace("NAME", "m1"),
    "m2.yaml": MODEL.replace("NAME", "m2"),
    "a1.yaml": app("one", "a", "m1"),
    "a2.yaml": app("two", "a", "m2"),
    "a3.yaml": app("three", "a", "m2"),
    "b1.yaml": app("one", "b", "m1"),
    "b2.yaml": app("two", "b", "m2"),
    "route.yaml": ROUTE,
}
CHANGES: dict[str, dict[str, str | None]] = {
    "nothing": {},
    "an app": {"b1.yaml": app("one", "b", "m1").replace("replicas: 2", "replicas: 3")},
    "an app behind a route": {"a1.yaml": app("one", "a", "m1").replace("replicas: 2", "replicas: 3")},
    "an app goes": {"b2.yaml": None},
    "an app comes": {"b3.yaml": app("new", "b", "m2")},
    "an app moves to another file": {"b2.yaml": None, "b9.yaml": app("two", "b", "m2")},
    "an app with another public name": {"b1.yaml": app("one", "b", "m1").replace("one-b", "uno")},
    "a broken app": {"b1.yaml": app("one", "b", "m1").replace("replicas: 2", "replicas: x")},
    "an app of a missing model": {"b1.yaml": app("one", "b", "nobody")},
    "a model": {"m1.yaml": MODEL.replace("NAME", "m1").replace("a/b", "a/c")},
    "the owner of a model": {"m2.yaml": MODEL.replace("NAME", "m2") + "  ownedBy: them\n"},
    "a model goes": {"m2.yaml": None},
    "a route": {"route.yaml": ROUTE.replace("9", "8")},
    "a route goes": {"route.yaml": None},
    "a route over another app": {"route.yaml": ROUTE.replace("two", "three")},
    "the configuration": {"llmaz.yaml": CONFIG.replace("GATEWAY", "{create: true, dnsTTL: 9}")},
    "a comment": {"b1.yaml": "# said\n" + app("one", "b", "m1")},
    "an object of others": {"x.yaml": OTHERS},
    "a file that is no YAML": {"b1.yaml": "a: ["},
}


def write(here: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        if text is None:
            (here / name).unlink()
        else:
            (here / name).write_text(text)


def seen(done: Any) -> Any:
    return sorted(set(done.problems)), sorted(done.texts), done.objects, done.states


@pytest.mark.parametrize(
    ("change", "fine"),
    [
        ("nothing", {"m1", "m2"}),
        ("an app", {"m1", "m2"}),
        ("a model", {"m2"}),
        ("the owner of a model", {"m1"}),
        ("a model goes", {"m1"}),
        ("the configuration", set()),
        ("a broken app", set()),
    ],
)
def test_models_that_nobody_looks_at_again(change: str, fine: set[str], here: Path) -> None:
    write(here, dict(TREE))
    after = pipeline.render(Options(texts=True, records=True))
    write(here, CHANGES[change])
    assert Known(after.inputs, after.records, after.problems).models(pipeline.render(Options()).inputs) == fine


def test_a_warning_about_a_model_is_said_on_both_sides(here: Path) -> None:
    write(here, dict(TREE))
    doubled = MODEL.replace("NAME", "m1").replace("[{name: gpu", "[{name: gpu}, {name: gpu")
    write(here, {"m1.yaml": doubled})
    after = pipeline.render(Options(texts=True, records=True))
    assert {each.code for each in after.problems} >= {"W207"}
    known = pipeline.render(Options(texts=True, known=Known(after.inputs, after.records, after.problems)))
    assert seen(known) == seen(after)


def test_only_what_changed_or_was_faulty_is_read_again(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(here, dict(TREE))
    write(here, {"m1.yaml": MODEL.replace("NAME", "m1").replace("[{name: gpu", "[{name: gpu}, {name: gpu")})
    write(here, {"b2.yaml": TREE["b2.yaml"].replace("replicas: 2", "replicas: x")})
    after = pipeline.render(Options(texts=True, records=True))
    write(here, {"a3.yaml": TREE["a3.yaml"] + "# said\n"})
    read: list[str] = []

    def noted(file: Readable, outside: bool, environment: Environment | None) -> Any:
        read.append(file.name)
        return plain(file, outside, environment)

    monkeypatch.setattr("renderer.load.plain", noted)
    pipeline.render(Options(texts=True, known=Known(after.inputs, after.records, after.problems)))
    assert read == ["a3.yaml", "b2.yaml"]


@pytest.mark.parametrize("layout", ["packed", "model"])
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_known_changes_nothing(change: str, layout: str, here: Path) -> None:
    tree = {name: text.replace("routeLayout: packed", f"routeLayout: {layout}") for name, text in TREE.items()}
    write(here, dict(tree))
    after = pipeline.render(Options(texts=True, records=True))
    assert after.problems == []
    assert len(after.records) == 6
    write(here, CHANGES[change])
    plain = pipeline.render(Options(texts=True))
    known = pipeline.render(Options(texts=True, known=Known(after.inputs, after.records, after.problems)))
    assert seen(known) == seen(plain)


@pytest.mark.parametrize(
    ("change", "made"),
    [
        ("nothing", set()),
        ("a comment", set()),
        ("an app", {("b", "one")}),
        ("an app moves to another file", {("b", "two")}),
        ("an app behind a route", {("a", "one"), ("a", "two"), ("a", "three"), ("a", "route")}),
        ("a model", {("a", "one"), ("a", "two"), ("a", "three"), ("a", "route"), ("b", "one")}),
        ("the configuration", {("a", "one"), ("a", "two"), ("a", "three"), ("a", "route"), ("b", "one"), ("b", "two")}),
    ],
)
def test_only_what_may_differ_is_made_again(change: str, made: set[tuple[str, str]], here: Path) -> None:
    write(here, dict(TREE))
    after = pipeline.render(Options(texts=True, records=True))
    known = Known(after.inputs, after.records, after.problems)
    write(here, CHANGES[change])
    inputs = pipeline.render(Options()).inputs
    alike = known.alike(inputs)
    assert {name[1:] for name in after.records} - {name[1:] for name in alike} == made
