"""Keys in values that their chart does not have: of charts whose fields presets/ list, and of charts of the tree whose
values.schema.json closes a map.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from renderer.check.engines.chart_values import chart_folder, find_fields, values_paths
from renderer.diagnostics import Diagnostic, Path, make_diagnostic, meant_name, suggestion
from renderer.kubernetes.json_values import as_map, list_at, map_at, text_at, value_at
from renderer.preset_tables import preset_table
from renderer.source.paths import read_file_inside
from renderer.text.suggestions import closest
from renderer.yamlio import Document, parse

_SIMILAR = 0.85
_DEEPEST = 30
_SCHEMA, _CHART = "values.schema.json", "Chart.yaml"
_VALUES = re.compile(r"values([-_.](?!schema)[\w-]+)*\.ya?ml")
_LISTED = "the chart does nothing with it"
_CLOSED = "the schema of the chart refuses it, and with it the release"
_MORE_KEYS = ("$ref", "$dynamicRef", "patternProperties")  # where a schema may have more keys than its properties
_OF_ALL = ("global", "sops")  # in the values of any chart, and what is taken out before a chart gets them


class TreeChart(Struct, frozen=True):
    """A chart in a folder of the tree, whose values have a schema."""

    folder: str  # absolute
    schema: Mapping[str, object]
    subcharts: Sequence[str]  # names below which values are those of another chart


def misspelt_keys(document: Document) -> Iterator[Diagnostic]:
    """A warning for each key like one that its map has in a chart that presets/ describe, in values that stand in an
    object, as maps, or in a file of their own.
    """
    paths: Sequence[Path] = values_paths(document.value)
    for path in paths or ([()] if "kind" not in as_map(document.value) else ()):
        values = map_at(document.value, *path)
        for place in ((), *((key,) for key in values)):
            for pattern, names in _listed_maps():
                for below in find_fields(value_at(values, *place), pattern):
                    yield from _misspelt(document, (*path, *place, *below), names)


def _misspelt(document: Document, path: Path, names: Sequence[str]) -> Iterator[Diagnostic]:
    for key in as_map(value_at(document.value, *path)):
        if key not in names and (near := closest(str(key), names, _SIMILAR)):
            yield _tell(document, (*path, key), meant_name(str(key), near), _LISTED)


def tree_charts(folders: Sequence[str]) -> Iterator[TreeChart]:
    """Those of the folders with charts whose values have a schema that can be read."""
    for folder in map(os.path.abspath, folders):
        try:
            schema = json.loads(read_file_inside(folder, os.path.join(folder, _SCHEMA)))
            documents, _ = parse(_CHART, read_file_inside(folder, os.path.join(folder, _CHART)))
        except (OSError, ValueError, RecursionError):
            continue
        parts = [part for document in documents for part in list_at(document.value, "dependencies")]
        names = [text_at(part, field) for part in parts for field in ("name", "alias")]
        yield TreeChart(folder, as_map(schema), [*_OF_ALL, *filter(None, names)])


def _value_files(chart: TreeChart) -> Iterator[Document]:
    """The values in files of the folder of a chart: `values.yaml`, `values-prod.yaml`."""
    for name in sorted(os.listdir(chart.folder)):
        if _VALUES.fullmatch(name):
            path = os.path.join(chart.folder, name)
            try:
                yield from parse(os.path.relpath(path), read_file_inside(chart.folder, path))[0]
            except OSError:
                continue


def keys_of_files(chart: TreeChart) -> Iterator[Diagnostic]:
    """A warning for each key that the schema of a chart refuses in files of its folder with values."""
    for document in _value_files(chart):
        yield from _refused(document, (), chart.schema, chart)


def keys_of_release(release: Document, charts: Sequence[TreeChart], top: str) -> Iterator[Diagnostic]:
    """A warning for each key in the values of an object, as maps, that the schema of a chart of the tree refuses.
    `top`: the folder from which objects name charts.
    """
    for path in values_paths(release.value) if charts else ():
        if named := chart_folder(release.value, path):
            folder = os.path.normpath(os.path.join(top, named.lstrip("/")))
            for chart in charts:
                if chart.folder == folder:
                    yield from _refused(release, path, chart.schema, chart)


def _refused(document: Document, path: Path, schema: object, chart: TreeChart, depth: int = 0) -> Iterator[Diagnostic]:
    """A warning for each key below a path that no map of a schema has, where it says that there is no other."""
    value, rules = value_at(document.value, *path), as_map(schema)
    if depth > _DEEPEST or any(field in rules for field in _MORE_KEYS):
        return
    if isinstance(value, list):
        for i in range(len(value)):
            yield from _refused(document, (*path, i), rules.get("items"), chart, depth + 1)
    fields = as_map(rules.get("properties"))
    for key in as_map(value):
        if key in fields:
            yield from _refused(document, (*path, key), fields[key], chart, depth + 1)
        elif rules.get("additionalProperties") is False and not (depth == 0 and key in chart.subcharts):
            yield _tell(document, (*path, key), suggestion(str(key), [*fields]), _CLOSED)


def _tell(document: Document, path: Path, hint: str, effect: str) -> Diagnostic:
    words = {"key": str(path[-1]), "effect": effect, "hint": hint}
    return make_diagnostic("W615", document.origin(*path, key=True), **words)


@cache
def _listed_maps() -> Sequence[tuple[Path, Sequence[str]]]:
    """The maps in values whose keys presets/ list: where they are, and the keys."""
    facts: Mapping[str, Any] = preset_table("production_stack")
    return [(tuple(where.split(".")), [*map_at(facts, *table.split("."))]) for where, table in facts["listed"].items()]
