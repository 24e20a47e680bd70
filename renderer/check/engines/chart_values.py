"""Containers in the values of a chart, as presets/chart_values.yaml describes them: a chart is not rendered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from msgspec import Struct

from renderer.check.finding import Body
from renderer.diagnostics import Diagnostic, Path
from renderer.kubernetes.json_values import as_text, list_at, map_at, text_at, value_at
from renderer.preset_tables import preset_table
from renderer.yamlio import Document, read_nested_texts

_NAME = "chart_values"
_DEEPEST = 30
_TEMPLATE = "{{"
_SLASH = "/"  # in a chart that lies in a folder
_EACH = "*"  # in a path: each item of a list


class ValuesContainer(Struct, frozen=True):
    """A container in the values of a chart, as a container of a pod; and where its fields stand."""

    body: Body
    path: Path  # of the map that holds it
    fields: Mapping[str, Path]  # below `path`, by field of a container


class _ReleaseKind(Struct, frozen=True):
    """A kind whose objects give values to a chart, with paths in them."""

    values: Sequence[Path]
    chart: Sequence[Path]
    folder: Sequence[Path]


def is_release(value: Body) -> bool:
    """Whether an object gives values to a chart or names one, such as Flux's HelmRelease."""
    kind = _release_kind(value)
    return kind is not None and any(True for path in (*kind.values, *kind.chart) for _ in find_fields(value, path))


def values_paths(release: Body) -> Sequence[Path]:
    """Where an object has values of a chart, as maps or as texts; nothing for an object that gives none."""
    kind = _release_kind(release)
    by_parent: dict[Path, Path] = {}
    for pattern in kind.values if kind else ():
        for path in find_fields(release, pattern):
            by_parent.setdefault(path[:-1], path)
    return [*by_parent.values()]


def chart_folder(release: Body, values: Path) -> str:
    """The folder of the chart to which an object gives the values at a path, as it names it; '' where it names none."""
    kind = _release_kind(release)
    for pattern in kind.folder if kind else ():
        for path in find_fields(release, pattern):
            is_of_all = not any(isinstance(part, int) for part in path)
            folder = text_at(release, *path)
            if (is_of_all or values[: len(path) - 1] == path[:-1]) and _SLASH in folder:
                return folder
    return ""


def read_values(release: Document) -> tuple[Document, list[Diagnostic]]:
    """The object with its values as maps, and the problems of texts that are not YAML; of texts with template
    expressions nothing is said, since they are YAML only when these are filled in.
    """
    paths = values_paths(release.value)
    document, problems = read_nested_texts(release, paths)
    is_template = any(_TEMPLATE in str(value_at(release.value, *path)) for path in paths) if problems else False
    return document, [] if is_template else problems


def containers_in_values(release: Body) -> Iterator[ValuesContainer]:
    """The containers that the values in an object hold in a known shape; they are maps by now."""
    for path in values_paths(release):
        yield from _containers(value_at(release, *path), path)


def _release_kind(value: Body) -> _ReleaseKind | None:
    return _release_kinds().get((text_at(value, "kind"), text_at(value, "apiVersion").partition("/")[0]))


def find_fields(value: object, pattern: Path, path: Path = ()) -> Iterator[Path]:
    """The paths of the fields that a path with `*` leads to."""
    if not pattern:
        yield path
    elif pattern[0] == _EACH:
        for i, item in enumerate(value if isinstance(value, list) else ()):
            yield from find_fields(item, pattern[1:], (*path, i))
    elif isinstance(value, dict) and value.get(pattern[0]) is not None:
        yield from find_fields(value[pattern[0]], pattern[1:], (*path, pattern[0]))


def _containers(value: object, path: Path) -> Iterator[ValuesContainer]:
    if len(path) > _DEEPEST:
        return
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if isinstance(value, dict) and (container := _container(value, path)):
        yield container
        return
    for key, item in items:
        if isinstance(item, (dict, list)):
            yield from _containers(item, (*path, key))


def _container(values: Mapping[str, Any], path: Path) -> ValuesContainer | None:
    for shape in _shapes():
        repository = value_at(values, *shape["repository"])
        if not isinstance(repository, str) or not repository or not _says_more(values, shape):
            continue
        tag, digest = (as_text(value_at(values, *shape[key])) if key in shape else "" for key in ("tag", "digest"))
        image = f"{repository}{f':{tag}' if tag else ''}{f'@{digest}' if digest else ''}"
        body = {
            "name": str(path[-1]),
            "image": image,
            **{key: list_at(values, *shape[key]) for key in ("command", "args", "env") if key in shape},
            "resources": {"limits": map_at(values, *shape["limits"]) if "limits" in shape else {}},
        }
        return ValuesContainer(body, path, {key: shape[key] for key in ("command", "args", "env") if key in shape})
    return None


def _says_more(values: Mapping[str, Any], shape: Mapping[str, Path]) -> bool:
    """Whether the map has more of a shape than an image."""
    if "given" in shape and value_at(values, *shape["given"]) is None:
        return False
    return any(key in shape and value_at(values, *shape[key]) is not None for key in ("tag", "command", "args"))


@cache
def _shapes() -> tuple[Mapping[str, Path], ...]:
    """The shapes of presets/chart_values.yaml, each with the paths of its fields."""
    return tuple(
        {key: _as_path(path) for key, path in shape.items() if key != "chart"}
        for shape in preset_table(_NAME)["shapes"]
    )


@cache
def _release_kinds() -> Mapping[tuple[str, str], _ReleaseKind]:
    """The kinds of presets/chart_values.yaml that give values to a chart, by kind and group."""
    return {
        (release["kind"], release["group"]): _ReleaseKind(
            *([_as_path(path) for path in release.get(field, ())] for field in ("values", "chart", "folder"))
        )
        for release in preset_table(_NAME)["releases"]
    }


def _as_path(text: str) -> Path:
    return tuple(text.split("."))
