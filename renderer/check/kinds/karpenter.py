"""Karpenter's NodePool: rules of its controller beside the schema and the CEL rules of the CRD."""

from __future__ import annotations

import re
from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.kind_rules import object_rules
from renderer.diagnostics import Finding, quoted, suggestion
from renderer.kubernetes.json_values import as_text, map_at, maps_at, texts_at

KNOWN_VALUES = {
    "karpenter.sh/capacity-type": ("on-demand", "spot", "reserved"),
    "karpenter.k8s.aws/instance-tenancy": ("default", "dedicated"),
}
"""All values of labels that Karpenter gives nodes, for those of few values."""
_LABEL_VALUE = r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"  # as text: few runs need it
_LABEL_VALUE_RULE = "a label's value: at most 63 letters, digits, '-', '_' and '.', a letter or digit first and last"


@object_rules.about("output/karpenter.sh/nodepool_v1")
def validate_node_pool(body: Body) -> Iterator[Finding]:
    """Findings about a NodePool: requirements with values that no label can have or that Karpenter does not know, and
    duplicate taints.
    """
    base_path = ("spec", "template", "spec")
    spec = map_at(body, "spec", "template", "spec")
    for i, requirement in enumerate(maps_at(spec, "requirements")):
        known_values = KNOWN_VALUES.get(as_text(requirement["key"]), ()) if requirement["operator"] == "In" else ()
        for j, value in enumerate(texts_at(requirement, "values")):
            path = (*base_path, "requirements", i, "values", j)
            if not re.fullmatch(_LABEL_VALUE, value):
                yield Finding("E306", path, {"value": value, "noun": "value", "means": _LABEL_VALUE_RULE})
            elif known_values and value not in known_values:
                yield Finding(
                    "E304",
                    path,
                    {"value": value, "allowed": quoted(known_values), "hint": suggestion(value, known_values)},
                )
    taints = set()
    for key in ("taints", "startupTaints"):
        for i, taint in enumerate(maps_at(spec, key)):
            if (taint["key"], taint["effect"]) in taints:
                yield Finding(
                    "E571", (*base_path, key, i), {"what": f"the taint '{taint['key']}' with {taint['effect']}"}
                )
            taints.add((taint["key"], taint["effect"]))
