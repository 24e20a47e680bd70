"""The versions of components that RenderConfig names in targets: known ones, and such as work together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from renderer.api import RenderConfig, minor
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic
from renderer.kubernetes import component_versions


def target_problems(origin: Origin, key: str, value: str) -> Iterator[Diagnostic]:
    """An error for a target version outside the known range."""
    component = component_versions.components()[key]
    have = component_versions.version_numbers(value)
    if key == "kubernetes" and minor(value) < 30:
        yield make_diagnostic("E133", origin, value=value)
    elif have < component_versions.version_numbers(component.oldest):
        yield make_diagnostic("E701", origin, name=component.title, value=value, oldest=component.oldest)
    elif have > component_versions.version_numbers(component.newest):
        yield make_diagnostic("E702", origin, name=component.title, value=value, newest=component.newest)


def unsupported_targets(config: RenderConfig, targets: Mapping[str, str]) -> Iterator[Diagnostic]:
    """Warnings for targets of RenderConfig that do not work with the other targets, set or default."""
    components = component_versions.components()
    versions = component_versions.target_versions(targets).versions
    for key, value in targets.items():
        for other_key, needed in component_versions.unmet_dependencies(key, versions):
            words = {
                "name": components[key].title,
                "value": value,
                "other": components[other_key].title,
                "target": other_key,
            }
            other_version = versions[other_key]
            yield make_diagnostic(
                "W703", config.origin("targets", key), **words, needed=needed, said=other_version, key=key
            )
