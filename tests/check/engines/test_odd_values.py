"""No value in a manifest that runs an engine, or stands beside one, ends the program by a fault."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from renderer import yamlio
from renderer.api import RenderConfig
from renderer.check import ExternalObjects
from renderer.check.engines import engine_containers, explain_engine, explanation_text, validate_engines
from renderer.load.index import engine_catalog
from renderer.yamlio import parse
from tests.paths import TESTS

ODD: tuple[Any, ...] = (
    None,
    [],
    {},
    "",
    "x",
    0,
    -1.5,
    True,
    [None],
    [[]],
    [{}],
    {"a": None},
    ["x"],
    {"containers": [1]},
)
SETS = (
    "E430-engines-in-manifests/manifests.yaml",
    "E431-engines-in-values-of-charts/releases.yaml",
    "W250-a-name-that-no-engine-serves/manifests.yaml",
    "W429-an-engine-that-nothing-wakes/manifests.yaml",
    "W451-engines-that-nobody-reaches/manifests.yaml",
    "W452-a-probe-that-ends-a-loading-engine/manifests.yaml",
    "W309-users-of-engines/manifests.yaml",
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of each value in a document."""
    yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(item, (*path, key))


@pytest.mark.parametrize("name", SETS)
def test_any_value_at_any_place(name: str) -> None:
    empty, _ = parse("llmaz.yaml", b"{}")
    catalog = engine_catalog(RenderConfig({}, empty[0], {}))
    text = (TESTS / "errors" / name).read_bytes()
    documents, _ = yamlio.parse("a.yaml", text)
    wholes = [copy.deepcopy(document.value) for document in documents]
    count = 0
    for i, whole in enumerate(wholes):
        for path in places(whole):
            for odd in ODD:
                value = copy.deepcopy(whole)
                if path:
                    holder = value
                    for step in path[:-1]:
                        holder = holder[step]
                    holder[path[-1]] = odd
                else:
                    value = odd
                changed = [
                    type(document)(document._file, document.index, value if n == i else other)
                    for n, (document, other) in enumerate(zip(documents, wholes, strict=True))
                ]
                for problem in validate_engines(changed, catalog, ExternalObjects()):
                    assert problem.line > 0
                for document in changed:
                    for container in engine_containers(document, catalog):
                        assert explanation_text(explain_engine(container, catalog, changed))
                count += 1
    assert count > 300
