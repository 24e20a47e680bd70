"""Roles and their bindings: rules for one object beside the schema (Kubernetes, pkg/apis/rbac/validation)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.kind_rules import object_rules
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import as_text, maps_at

# As text: few runs need it, and re keeps what it has compiled.
_SUBDOMAIN = r"(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"


@object_rules.about("output/rbac.authorization.k8s.io/role_v1")
def validate_role(body: Body) -> Iterator[Finding]:
    """Findings about the rules of a Role: each must name resources and their API groups."""
    for i, rule in enumerate(maps_at(body, "rules")):
        path: Path = ("rules", i)
        if rule.get("nonResourceURLs"):
            yield Finding(
                "E543", (*path, "nonResourceURLs"), {"what": "a Role cannot grant access to URLs; a ClusterRole can"}
            )
            continue
        for key in ("apiGroups", "resources"):
            if not rule.get(key):
                yield Finding("E543", (*path, key) if key in rule else path, {"what": f"the rule names no {key}"})


@object_rules.about("output/rbac.authorization.k8s.io/rolebinding_v1")
def validate_role_binding(body: Body) -> Iterator[Finding]:
    """Findings about the subjects of a RoleBinding: names that a ServiceAccount can have, and no API group."""
    for i, subject in enumerate(maps_at(body, "subjects")):
        if subject["kind"] == "ServiceAccount":
            if not re.fullmatch(_SUBDOMAIN, as_text(subject["name"])):
                what = f"no ServiceAccount can be called '{subject['name']}'"
                yield Finding("E543", ("subjects", i, "name"), {"what": what})
            if subject.get("apiGroup"):
                yield Finding("E543", ("subjects", i, "apiGroup"), {"what": "the API group of a ServiceAccount is ''"})
