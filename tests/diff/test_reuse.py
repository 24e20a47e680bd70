"""What two sides have in common is read and rendered once, and the output is the same as without that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec import Struct

from renderer import load, pipeline
from renderer.api import RenderOptions
from renderer.diff import reuse
from renderer.load.parsing import parse_file
from tests.inputs import gpu_model

if TYPE_CHECKING:
    from collections.abc import Sequence, Set
    from pathlib import Path

    from renderer.api import App, Inputs, ItemKey, TrafficInput
    from renderer.load.environments import Environment
    from renderer.result import Part, RenderResult
    from renderer.source.tree import ReadableFile

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


LOST_NAME = "N676"  # the routes here take the places of the own ones of apps
TREE = {
    "llmaz.yaml": CONFIG.replace("GATEWAY", "{create: true, routeLayout: packed}"),
    "m1.yaml": gpu_model("m1"),
    "m2.yaml": gpu_model("m2"),
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
    "a model": {"m1.yaml": gpu_model("m1").replace("a/b", "a/c")},
    "the owner of a model": {"m2.yaml": gpu_model("m2") + "  ownedBy: them\n"},
    "a model goes": {"m2.yaml": None},
    "a route": {"route.yaml": ROUTE.replace("9", "8")},
    "a route goes": {"route.yaml": None},
    "a route over another app": {"route.yaml": ROUTE.replace("two", "three")},
    "the configuration": {"llmaz.yaml": CONFIG.replace("GATEWAY", "{create: true, dnsTTL: 9}")},
    "a comment": {"b1.yaml": "# said\n" + app("one", "b", "m1")},
    "an object of others": {"x.yaml": OTHERS},
    "a file that is not YAML": {"b1.yaml": "a: ["},
}


def test_a_list_of_options_that_was_learnt_judges_all_anew(folder: Path) -> None:
    config = TREE["llmaz.yaml"].replace("spec: {", "spec: {optionLists: flags, ")
    write(folder, {**TREE, "llmaz.yaml": config})
    (folder / "flags").mkdir()
    name = "flags/vllm-9.0.0.txt"
    write(folder, {name: "learnt 9.0.0\n--port 1\n"})
    assert len(render_sides(folder, {}).unchanged) > 1
    assert render_sides(folder, {name: "learnt 9.0.0\n--port 2\n"}).unchanged == set()


def write(folder: Path, files: dict[str, str | None]) -> None:
    for name, text in files.items():
        if text is None:
            (folder / name).unlink()
        else:
            (folder / name).write_text(text)


class Sides(Struct, frozen=True):
    """A tree before and after a change, each rendered alone, and again with nothing done twice."""

    after: RenderResult
    before: RenderResult
    after_lean: RenderResult
    before_lean: RenderResult
    unchanged: Set[ItemKey]  # the items that are the same on both sides
    models: set[str]  # the models that are not validated again

    @property
    def parts(self) -> Sequence[Part]:
        """What the later side listed only."""
        return self.after_lean.listed_parts


def render_sides(folder: Path, change: dict[str, str | None]) -> Sides:
    """The tree that lies in the folder, and what the change makes of it, which lies there then."""
    options = RenderOptions(texts=True)
    after = pipeline.render(options)
    bases: list[reuse.BaseInputs] = []

    def find_unchanged(inputs: Inputs, parsed_files: reuse.ParsedFiles) -> Set[ItemKey]:  # all is read
        write(folder, change)
        output, [scope] = load.scopes(options)
        bases.append(reuse.read_base(output, scope, inputs, parsed_files))
        return bases[0].unchanged

    with load.read_ahead(options) as opened:
        lean = reuse.render_later(opened, find_unchanged)
    [base] = bases
    return Sides(
        after=after,
        before=pipeline.render(options),
        after_lean=lean,
        before_lean=reuse.render_base(base, options, lean),
        unchanged=base.unchanged,
        models=reuse.unchanged_models(lean.inputs, base.inputs, lean.problems),
    )


def seen(result: RenderResult) -> Any:
    return sorted(set(result.problems)), result.objects, result.states


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
def test_models_that_nobody_looks_at_again(change: str, fine: set[str], folder: Path) -> None:
    write(folder, dict(TREE))
    assert render_sides(folder, CHANGES[change]).models == fine


def test_a_warning_about_a_model_is_said_on_both_sides(folder: Path) -> None:
    write(folder, dict(TREE))
    doubled = gpu_model("m1").replace("[{name: gpu", "[{name: gpu}, {name: gpu")
    write(folder, {"m1.yaml": doubled})
    results = render_sides(folder, {})
    assert {problem.code for problem in results.after.problems} >= {"W207"}
    assert seen(results.after) == seen(results.after_lean) == seen(results.before_lean)


def test_an_error_is_found_in_what_nobody_compares(folder: Path) -> None:
    write(folder, {**TREE, "b2.yaml": app("two", "b", "nobody"), "x.yaml": app("x" * 63, "c", "m1")})
    results = render_sides(folder, CHANGES["an app"])
    assert {key[1:] for key in results.unchanged} >= {("b", "two"), ("c", "x" * 63)}
    assert len({problem.code for problem in results.after.problems if problem.forbids()}) > 1
    assert seen(results.after_lean) == seen(results.after)


def test_only_what_changed_or_was_faulty_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, dict(TREE))
    write(folder, {"m1.yaml": gpu_model("m1").replace("[{name: gpu", "[{name: gpu}, {name: gpu")})
    write(folder, {"b2.yaml": TREE["b2.yaml"].replace("replicas: 2", "replicas: x")})
    parsed: list[str] = []

    def parse_and_note(file: ReadableFile, outside: bool, environment: Environment | None) -> Any:
        parsed.append(file.name)
        return parse_file(file, outside, environment)

    def find_unchanged(inputs: Inputs, parsed_files: reuse.ParsedFiles) -> Set[ItemKey]:
        write(folder, {"a3.yaml": TREE["a3.yaml"] + "# a comment\n"})
        monkeypatch.setattr("renderer.load.input_files.parse_file", parse_and_note)
        reuse.read_base("", load.scope(RenderOptions()), inputs, parsed_files)
        return frozenset()

    with load.read_ahead(RenderOptions()) as opened:
        reuse.render_later(opened, find_unchanged)
    assert parsed == ["a3.yaml", "b2.yaml"]


@pytest.mark.parametrize("layout", ["file", "app", "object"])
@pytest.mark.parametrize("routes", ["packed", "model"])
@pytest.mark.parametrize("change", CHANGES)
def test_what_is_alike_changes_nothing(change: str, routes: str, layout: str, folder: Path) -> None:
    tree = {name: text.replace("routeLayout: packed", f"routeLayout: {routes}") for name, text in TREE.items()}
    config = tree["llmaz.yaml"].rstrip().removesuffix("}") + f", output: {{layout: {layout}, kustomization: true}}}}\n"
    write(folder, {**tree, "llmaz.yaml": config})
    results = render_sides(folder, CHANGES[change])
    assert [problem for problem in results.after.problems if problem.code != LOST_NAME] == []
    assert seen(results.after_lean) == seen(results.after)
    assert seen(results.before_lean) == seen(results.before)
    left = {path for part in results.parts for path, _ in part.states}
    spared = {text for text in results.after.texts if text.path in left}
    assert {text.path for text in spared} == left
    assert spared <= {*results.before.texts}
    assert sorted(results.after_lean.texts) == sorted({*results.after.texts} - spared)
    assert sorted(results.before_lean.texts) == sorted({*results.before.texts} - spared)


@pytest.mark.parametrize(
    ("change", "rerendered"),
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
def test_only_what_may_differ_is_made_again(change: str, rerendered: set[tuple[str, str]], folder: Path) -> None:
    write(folder, dict(TREE))
    results = render_sides(folder, CHANGES[change])
    items: list[App | TrafficInput] = [*results.after.inputs.apps, *results.after.inputs.rendered_traffic]
    assert len(items) == 6
    assert {item.key[1:] for item in items} - {key[1:] for key in results.unchanged} == rerendered
