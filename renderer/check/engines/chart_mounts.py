"""Mounts in the values of a chart for a container that the values do not have: the chart leaves them out, and says
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from renderer.check.engines.chart_values import values_paths
from renderer.check.finding import Body
from renderer.diagnostics import Diagnostic, Path, make_diagnostic, meant_name
from renderer.kubernetes.json_values import as_map, map_at, text_at, texts_at, value_at
from renderer.preset_tables import preset_table
from renderer.text.suggestions import closest
from renderer.yamlio import Document

_SIMILAR, _SHOWN = 0.7, 3
_LATER = "${"  # a key with it is known later
_MORE_VALUES = (("spec", "valuesFrom"), ("spec", "source", "helm", "valueFiles"))  # that others may have the container


def mounts_of_no_container(release: Document) -> Iterator[Diagnostic]:
    """A warning for each mount of a release whose values have the shape of a known chart. `release`: with its values as
    maps.
    """
    if any(value_at(release.value, *path) for path in _MORE_VALUES):
        return
    for path in values_paths(release.value):
        values = map_at(release.value, *path)
        for shape in _shapes():
            groups = map_at(values, text_at(shape, "controllers"))
            for volume, place in _mount_maps(values, shape) if groups else ():
                yield from _judge(release, shape, groups, volume, (*path, *place))


def _mount_maps(values: Body, shape: Body) -> Iterator[tuple[str, Path]]:
    """The volumes of which mounts name containers, and where these mounts stand."""
    field, volumes = text_at(shape, "volumes"), map_at(values, text_at(shape, "volumes"))
    for volume, body in volumes.items():
        if as_map(body).get("enabled") is not False:
            yield volume, (field, volume, text_at(shape, "mounts"))


def _judge(release: Document, shape: Body, groups: Body, volume: str, place: Path) -> Iterator[Diagnostic]:
    """A warning for each mount at a place whose controller, or container, is none of these groups of containers."""
    for group, containers in as_map(value_at(release.value, *place)).items():
        names = [name for field in texts_at(shape, "containers") for name in map_at(groups, group, field)]
        if group not in groups:
            yield from _tell(release, volume, "controller", [*groups], (*place, group))
            continue
        for name in as_map(containers) if names else ():
            if name not in names:
                yield from _tell(release, volume, "container", names, (*place, group, name))


def _tell(release: Document, volume: str, what: str, names: Sequence[str], path: Path) -> Iterator[Diagnostic]:
    """The warning about the name at the end of a path, which is none of these names."""
    name = str(path[-1])
    if _LATER not in name:
        near_name = closest(name, names, _SIMILAR)
        hint = meant_name(name, near_name) if near_name else f"write {_some_of(names)}, or leave it out"
        words = {"volume": volume, "what": what, "name": name, "hint": hint}
        yield make_diagnostic("W546", release.origin(*path, key=True), **words)


def _some_of(names: Sequence[str]) -> str:
    """The first names, each of which would do."""
    return " or ".join(f"'{name}'" for name in names[:_SHOWN])


@cache
def _shapes() -> Sequence[Body]:
    """The shapes of mounts in presets/chart_values.yaml."""
    return tuple(preset_table("chart_values")["mounts"])
