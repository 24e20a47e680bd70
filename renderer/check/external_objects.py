"""Objects that rendered ones may refer to, and that are not rendered."""

from __future__ import annotations

from msgspec.structs import replace

from renderer import schema_validation
from renderer.api import Inputs
from renderer.check.finding import Body
from renderer.check.graph import (
    ExternalObjects,
    Key,
    declared_objects,
    known_objects,
)
from renderer.check.nulls import without_nulls
from renderer.check.object_rules import object_key, validate_object
from renderer.kubernetes import component_versions


def external_objects(inputs: Inputs) -> ExternalObjects:
    """The objects that rendered ones may refer to: those that RenderConfig declares, and valid gateway objects of
    others in the tree, except in the namespaces of Gateways that we create. Target versions have defaults.
    """
    targets = component_versions.target_versions(inputs.config.get("targets") or {})
    external = replace(declared_objects(inputs.config), targets=targets)
    if not inputs.foreign_objects:
        return external
    own_namespaces = (
        {namespace for namespace, _ in external.gateways} if inputs.config.get("gateway", "create") else set()
    )
    bodies: list[Body] = []
    broken: set[Key] = set()
    for body in inputs.foreign_objects:
        if (key := object_key(body)) and key[1] not in own_namespaces:
            if not schema_validation.has_schema(schema_validation.name_of(body["apiVersion"], body["kind"])):
                continue
            body = without_nulls(body)
            if any(finding.code.startswith("E") for finding in validate_object(body)):
                broken.add(key)  # it exists, but rules cannot look into it
            else:
                bodies.append(body)
    return replace(known_objects(bodies, external), present=frozenset(broken))
