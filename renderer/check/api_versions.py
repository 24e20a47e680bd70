"""Fields and values of manifests that are too new for the versions that RenderConfig targets."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.diagnostics import Finding
from renderer.kubernetes import component_versions


def validate_api_versions(
    targets: component_versions.TargetVersions, too_new_schema: component_versions.TooNewSchema, body: Body
) -> Iterator[Finding]:
    for too_new in component_versions.too_new(too_new_schema.node, body):
        path, value = too_new.path, too_new.value
        field_or_value = value or too_new.field
        what = f"'{field_or_value}'" if field_or_value else f"{body['kind']} of {body['apiVersion']}"
        for key, required in too_new.needs.items():
            if key == component_versions.GATE:
                newest = component_versions.components()["kubernetes"].newest
                yield Finding("W700", path, {"what": what, "gate": required, "newest": newest}, key=not value)
                continue
            words = {
                "what": what,
                "name": component_versions.components()[key].title,
                "needed": required,
                "target": key,
            }
            yield Finding("E700", path, {**words, "said": targets.versions[key]}, key=not value)
