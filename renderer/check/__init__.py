"""Validates manifests by the rules of the cluster: schemas, CEL, webhooks, and references between objects.

A diagnostic about a rendered manifest points at the input field that caused it; `llmaz check` applies the same rules to
any manifests (`renderer.check.documents`, which a render does not import), and points at their own lines.
"""

from __future__ import annotations

from renderer.check.external_objects import external_objects
from renderer.check.graph import ExternalObjects, declared_objects
from renderer.check.manifests import manifest_validator, validate_manifests
from renderer.check.nulls import without_nulls
from renderer.check.object_rules import precompile_rules, valid_bodies, validate_object
from renderer.check.output_folder import find_blocking_files, find_chart, reporting_write_errors

__all__ = [
    "ExternalObjects",
    "declared_objects",
    "external_objects",
    "find_blocking_files",
    "find_chart",
    "manifest_validator",
    "precompile_rules",
    "reporting_write_errors",
    "valid_bodies",
    "validate_manifests",
    "validate_object",
    "without_nulls",
]
