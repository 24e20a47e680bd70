"""Karpenter's NodePool: what its controller refuses, and neither schema nor CEL rules of the CRD say."""

from __future__ import annotations

import re
from collections.abc import Iterator

from renderer.check.finding import Body, Finding
from renderer.problems import guess, quoted

_KNOWN = {
    "karpenter.sh/capacity-type": ("on-demand", "spot", "reserved"),
    "karpenter.k8s.aws/instance-tenancy": ("default", "dedicated"),
}
_VALUE = r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"  # as text: few runs need it
_MEANS = "a label's value: at most 63 letters, digits, '-', '_' and '.', a letter or digit first and last"


def pool_rules(body: Body) -> Iterator[Finding]:
    """Requirements have values that a label can have, and that Karpenter knows; no taint is there twice."""
    inside = ("spec", "template", "spec")
    spec = body["spec"]["template"]["spec"]
    for i, each in enumerate(spec.get("requirements") or ()):
        known = _KNOWN.get(each["key"], ()) if each["operator"] == "In" else ()
        for j, value in enumerate(each.get("values") or ()):
            path = (*inside, "requirements", i, "values", j)
            if not re.fullmatch(_VALUE, value):
                yield "E306", path, {"value": value, "means": _MEANS}
            elif known and value not in known:
                yield "E304", path, {"value": value, "allowed": quoted(known), "hint": guess(value, known)}
    seen = set()
    for key in ("taints", "startupTaints"):
        for i, each in enumerate(spec.get(key) or ()):
            if (each["key"], each["effect"]) in seen:
                yield "E571", (*inside, key, i), {"what": f"the taint '{each['key']}' with {each['effect']}"}
            seen.add((each["key"], each["effect"]))
