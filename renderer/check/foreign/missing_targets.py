"""Foreign objects that refer to one of ours that is not there: misspelt, or gone with its input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from msgspec.structs import replace

from renderer import schema_validation
from renderer.api import Inputs
from renderer.check import validate_object
from renderer.check.finding import Finding, IndexedFinding
from renderer.check.foreign.objects import ForeignObject, RenderedObjects
from renderer.check.graph import RULES, ObjectView, declared_objects, validate_graph
from renderer.check.graph.view import ExternalObjects, Key
from renderer.diagnostics import Path
from renderer.suggestions import closest
from renderer.wellknown import LB_SERVICE, LEADERS_SERVICE, PICKER

_CODE = "W265"
_OWN_KINDS = ("AIGatewayRoute", "AIServiceBackend", "Backend", "InferencePool", "LeaderWorkerSet")
"""Kinds of which a namespace with apps has hardly any others than ours."""
_SUFFIXES = (LB_SERVICE, LEADERS_SERVICE, PICKER)
_MADE = {"AIGatewayRoute": "HTTPRoute", "LeaderWorkerSet": "Service"}  # by controllers, under the same name
_SIMILAR, _SIMILAR_TO_OWN = 0.85, 0.6  # names, in general and of our own kinds


def find_missing_targets(
    objects: Sequence[ForeignObject], rendered: RenderedObjects, inputs: Inputs
) -> Iterator[IndexedFinding]:
    """The findings of the graph's rules that an object does not exist, as far as it could only be one of ours."""
    judged = [i for i, foreign in enumerate(objects) if _is_judged(foreign)]
    if not judged:
        return
    present = {foreign.key for foreign in objects} | set(rendered.objects)
    present |= {(_MADE[kind], namespace, name) for kind, namespace, name in present if kind in _MADE}
    external = replace(declared_objects(inputs.config), present=frozenset(present))
    words = frozenset(name for file in inputs.foreign_files for name in file.names)
    view = _TargetView(objects, judged, external, rendered, words, inputs.disabled_names)
    for finding in validate_graph(view):
        if finding.code == _CODE:
            yield replace(finding, index=judged[finding.index])


def _is_judged(foreign: ForeignObject) -> bool:
    """Whether a rule looks for what the object refers to, and its schema says that the rule can."""
    if foreign.key[0] not in RULES:
        return False
    name = schema_validation.name_of(foreign.body["apiVersion"], foreign.kind)
    return schema_validation.has_schema(name) and not any(validate_object(foreign.body))


class _TargetView(ObjectView):
    """A view that finds fault only with what is missing among the rendered objects."""

    __slots__ = ("_disabled", "_others", "_rendered")

    def __init__(
        self,
        objects: Sequence[ForeignObject],
        judged: Sequence[int],
        external: ExternalObjects,
        rendered: RenderedObjects,
        others: Set[bytes],
        disabled: Set[str],
    ) -> None:
        super().__init__([objects[i].body for i in judged], external)
        self._rendered, self._others, self._disabled = rendered, others, disabled

    def missing(self, kind: str, namespace: str, name: str, path: Path, hint: str = "") -> Finding:
        """The finding W265 where the object can only be one of ours; else one that is nobody's concern."""
        near = self._similar(kind, namespace, name)
        if not (near or self._is_gone(kind, namespace, name)) or name.encode() in self._others:
            return "", path, {}
        declare = f"if it exists elsewhere, declare it under external of RenderConfig: {kind}/{namespace}/{name}"
        words = {"kind": kind, "name": name, "where": f" in namespace '{namespace}'"}
        return _CODE, path, {**words, "hint": f"{near}; {declare}" if near else declare}

    def _similar(self, kind: str, namespace: str, name: str) -> str:
        """A hint that names the rendered object that was meant; '' where none was."""
        kinds = (kind, "AIGatewayRoute") if kind == "HTTPRoute" else (kind,)
        keys = [key for key in self._rendered.objects if key[0] in kinds]
        cutoff = _SIMILAR_TO_OWN if self._is_own(kind, name) else _SIMILAR
        if word := closest(name, [key[2] for key in keys if key[1] == namespace], cutoff):
            return f"there is '{word}'"
        spaces = [key[1] for key in keys if key[2] == name] if namespace in self._rendered.namespaces else ()
        return f"there is one in namespace '{min(spaces)}'" if spaces and self._is_own(kind, name) else ""

    def _is_gone(self, kind: str, namespace: str, name: str) -> bool:
        """Whether it can only have been rendered of an input that is gone."""
        keys: Sequence[Key] = [key for key in self._rendered.objects if key[:2] == (kind, namespace)]
        left_out = any(name == app or name.startswith(f"{app}-") for app in self._disabled)
        return bool(keys) and self._is_own(kind, name) and not left_out

    def _is_own(self, kind: str, name: str) -> bool:
        return kind in _OWN_KINDS or (kind == "Service" and name.endswith(_SUFFIXES))
