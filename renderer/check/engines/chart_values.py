"""Containers in the values of a chart, as presets/chart_values.yaml describes them: a chart is not rendered."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct

from renderer import yamlio
from renderer.check.finding import Body
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_text, list_at, map_at, text_at, value_at
from renderer.source.paths import PRESETS

KIND = "HelmRelease"
_GROUP = "helm.toolkit.fluxcd.io/"
_DEEPEST = 30


class ValuesContainer(Struct, frozen=True):
    """A container in the values of a chart, as a container of a pod; and where its fields stand."""

    body: Body
    path: Path  # of the map that holds it
    fields: Mapping[str, Path]  # below `path`, by field of a container


def is_release(value: Body) -> bool:
    """Whether an object gives values to a chart: Flux's HelmRelease."""
    return text_at(value, "kind") == KIND and text_at(value, "apiVersion").startswith(_GROUP)


def containers_in_values(release: Body) -> Iterator[ValuesContainer]:
    """The containers that the values of a HelmRelease hold in a known shape."""
    yield from _containers(map_at(release, "spec", "values"), ("spec", "values"))


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
    with open(os.path.join(PRESETS, "chart_values.yaml"), "rb") as file:
        documents, _ = yamlio.parse("presets/chart_values.yaml", file.read())
    shapes: list[Mapping[str, str]] = documents[0].value["spec"]["shapes"]
    return tuple({key: tuple(path.split(".")) for key, path in shape.items() if key != "chart"} for shape in shapes)
