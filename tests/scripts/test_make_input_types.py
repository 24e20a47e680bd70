"""`scripts/make_input_types.py`: no class that code imports is renamed in silence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scripts import make_input_types

Properties = Mapping[str, Any]

TEXT = {"type": "string"}
AUTH = {"type": "object", "properties": {"secretName": TEXT}}
OTHER = {"type": "object", "properties": {"audience": TEXT}}
FIRST: Properties = {"name": TEXT}
SECOND: Properties = {"auth": AUTH, "routes": {"type": "array", "items": {"type": "object", "properties": {"a": TEXT}}}}


def write_schemas(renderer: Path, first: Properties, second: Properties) -> None:
    for kind, properties in (("first", first), ("second", second)):
        schema = {"properties": {"spec": {"type": "object", "properties": properties}}}
        (renderer / "schemas" / "input" / f"{kind}.json").write_text(json.dumps(schema))


def let_code_import(renderer: Path, *names: str) -> None:
    lines = "\n".join(f"    from renderer.input_types import {name}" for name in names)
    (renderer / "code.py").write_text(f"if TYPE_CHECKING:\n{lines}\n")


@pytest.fixture
def renderer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package with two kinds, their types, and code that imports these."""
    package = tmp_path / "renderer"
    (package / "schemas" / "input").mkdir(parents=True)
    monkeypatch.setattr(make_input_types, "RENDERER", package)
    monkeypatch.setattr(make_input_types, "TARGET", package / "input_types.pyi")
    monkeypatch.setattr(make_input_types, "SPECS", {"FirstSpec": ["first"], "SecondSpec": ["second"]})
    monkeypatch.setattr(make_input_types, "NAMES", {})
    monkeypatch.setattr("sys.argv", ["make_input_types.py"])
    write_schemas(package, FIRST, SECOND)
    make_input_types.main()
    let_code_import(package, "AuthSpec", "RouteSpec")
    return package


def class_names(renderer: Path) -> set[str]:
    return set(make_input_types.classes_of((renderer / "input_types.pyi").read_text()))


def test_a_key_that_takes_no_name(renderer: Path) -> None:
    write_schemas(renderer, {**FIRST, "limits": OTHER}, SECOND)
    make_input_types.main()
    assert class_names(renderer) == {"FirstSpec", "LimitsSpec", "SecondSpec", "AuthSpec", "RouteSpec"}


@pytest.mark.parametrize(
    ("first", "advice", "entry", "name"),
    [
        pytest.param(
            {**FIRST, "auth": OTHER},
            "would be SecondAuthSpec: give `FirstSpec.auth`, which would be AuthSpec, a name of its own in NAMES",
            "FirstSpec.auth",
            "FirstAuthSpec",
            id="another of that name comes first",
        ),
        pytest.param(
            {**FIRST, "login": AUTH},
            'would be LoginSpec: say "FirstSpec.login": "AuthSpec" in NAMES',
            "FirstSpec.login",
            "AuthSpec",
            id="another of that shape comes first",
        ),
    ],
)
def test_a_key_that_would_rename_a_class(
    first: Properties, advice: str, entry: str, name: str, renderer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (renderer / "input_types.pyi").read_text()
    write_schemas(renderer, first, SECOND)
    with pytest.raises(SystemExit) as end:
        make_input_types.main()
    head, fault = str(end.value).split("\n")
    assert head == "renderer/input_types.pyi is left as it is:"
    assert fault.startswith(f"the class of SecondSpec.auth is AuthSpec, which code imports, and {advice} of scripts/")
    assert (renderer / "input_types.pyi").read_text() == before
    monkeypatch.setattr(make_input_types, "NAMES", {entry: name})  # what it advises
    make_input_types.main()
    assert {name, "AuthSpec"} <= class_names(renderer)
    assert "    auth: AuthSpec\n" in (renderer / "input_types.pyi").read_text()


def test_a_new_name_that_the_code_imports_already(renderer: Path) -> None:
    write_schemas(renderer, {**FIRST, "auth": OTHER}, SECOND)
    let_code_import(renderer, "SecondAuthSpec", "RouteSpec")
    make_input_types.main()
    assert {"AuthSpec", "SecondAuthSpec"} <= class_names(renderer)


def test_a_class_that_would_be_gone(renderer: Path) -> None:
    write_schemas(renderer, FIRST, {"auth": AUTH})
    with pytest.raises(SystemExit, match=r"RouteSpec, the class of SecondSpec\.routes, would be gone"):
        make_input_types.main()
    let_code_import(renderer, "AuthSpec")
    make_input_types.main()
    assert "RouteSpec" not in class_names(renderer)


def test_two_classes_of_one_name(renderer: Path) -> None:
    first = {
        key: {"type": "object", "properties": {"a": {"type": "object", "properties": {"limits": limits}}}}
        for key in "xyz"
        for limits in [{"type": "object", "properties": {key: TEXT}}]
    }
    write_schemas(renderer, first, SECOND)
    with pytest.raises(
        SystemExit, match=r"two classes would be called ALimitsSpec: give `ASpec\.limits` a name of its"
    ):
        make_input_types.main()
