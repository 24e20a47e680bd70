"""Foreign objects that refer to one of ours that is not there: misspelt, or gone with its input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from msgspec.structs import replace

from renderer import schema_validation
from renderer.api import Inputs
from renderer.check import valid_bodies
from renderer.check.finding import Body, IndexedFinding
from renderer.check.foreign.objects import CREATED_KINDS, ForeignObject, OwnObjects
from renderer.check.graph import ObjectView, declared_objects, reference_rules, validate_graph
from renderer.check.graph.view import ExternalObjects, Key
from renderer.diagnostics import Finding, Path, quoted
from renderer.kubernetes import disaggregated_sets
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.wellknown import LB_SERVICE, LEADERS_SERVICE, PICKER
from renderer.text.suggestions import closest

_CODE = "W265"
_OWN_KINDS = (
    "AIGatewayRoute",
    "AIServiceBackend",
    "Backend",
    disaggregated_sets.ROLE_SCALER,
    "InferencePool",
    "LeaderWorkerSet",
)
"""Kinds of which a namespace with apps has hardly any others than ours."""
_SUFFIXES = (LB_SERVICE, LEADERS_SERVICE, PICKER)
_SIMILAR, _SIMILAR_TO_OWN = 0.85, 0.6  # names, in general and of our own kinds


def judged_objects(objects: Sequence[ForeignObject]) -> list[ForeignObject]:
    """The objects that rules of the graph can judge: there are some for their kind, and its schema finds them valid."""
    return valid_objects([foreign for foreign in objects if foreign.key[0] in reference_rules])


def valid_objects(objects: Sequence[ForeignObject]) -> list[ForeignObject]:
    """The objects that the schemas of their kinds find valid."""
    by_schema: dict[str, list[ForeignObject]] = {}
    for foreign in objects:
        name = schema_validation.name_of(text_at(foreign.body, "apiVersion"), foreign.kind)
        by_schema.setdefault(name, []).append(foreign)
    valid: set[int] = set()
    for name, same_kind in by_schema.items():
        if schema_validation.has_schema(name):
            valid.update(map(id, valid_bodies(name, [foreign.body for foreign in same_kind], None)))
    return [foreign for foreign in objects if id(foreign.body) in valid]


def find_missing_targets(
    judged: Sequence[ForeignObject], foreign: Set[Key], own: OwnObjects, inputs: Inputs
) -> Iterator[IndexedFinding]:
    """The findings of the graph's rules that an object does not exist, as far as it could only be one of ours.
    `foreign`: all foreign objects.
    """
    if not judged:
        return
    present = {*foreign, *own.objects}
    present |= {(created, *key[1:]) for key in present for created in CREATED_KINDS.get(key[0], ())}
    # Of a rendered DisaggregatedSet all roles are known; of another one any may be there.
    present -= {key for key, rendered in own.objects.items() if rendered.role_scalers}
    present |= {*own.role_scalers}
    external = replace(declared_objects(inputs.config), present=frozenset(present))
    view = _TargetView([object_.body for object_ in judged], external, own, inputs)
    for index, finding in validate_graph(view, reference_rules):
        if finding.code == _CODE:
            yield index, finding


class _TargetView(ObjectView):
    """A view that finds fault only with what is missing among the rendered objects."""

    __slots__ = ("_disabled", "_names", "_namespaces", "_others")

    def __init__(self, bodies: Sequence[Body], external: ExternalObjects, own: OwnObjects, inputs: Inputs) -> None:
        super().__init__(bodies, external)
        self._disabled = inputs.disabled_names
        self._others = {name for file in inputs.foreign_files for name in file.names}
        self._names: dict[tuple[str, str], list[str]] = {}  # by kind and namespace
        self._namespaces: dict[tuple[str, str], list[str]] = {}  # by kind and name
        for kind, namespace, name in (*own.objects, *own.role_scalers):
            for alias in (kind, "HTTPRoute") if kind == "AIGatewayRoute" else (kind,):
                self._names.setdefault((alias, namespace), []).append(name)
                self._namespaces.setdefault((alias, name), []).append(namespace)

    def missing(self, kind: str, namespace: str, name: str, path: Path, hint: str = "") -> Finding:
        """The finding W265 where the object can only be one of ours; else one that is nobody's concern."""
        if self._is_disabled(name) or name.encode() in self._others:
            return Finding("", path, {})
        is_own = kind in _OWN_KINDS or (kind == "Service" and name.endswith(_SUFFIXES))
        near = self._role_scalers(kind, namespace, name, path) or self._without_route(kind, namespace, name)
        near = near or self._similar(kind, namespace, name, _SIMILAR_TO_OWN if is_own else _SIMILAR)
        if not near and is_own and (spaces := self._namespaces.get((kind, name))):
            near = f"there is one in namespace '{min(spaces)}'"
        is_gone = is_own and (kind, namespace) in self._names
        if not (near or is_gone):
            return Finding("", path, {})
        declare = f"if '{name}' exists elsewhere, add {kind}/{namespace}/{name} to external of RenderConfig"
        words = {"kind": kind, "name": name, "where": f" in namespace '{namespace}'"}
        return Finding(_CODE, path, {**words, "hint": f"{near}; {declare}" if near else declare})

    def _role_scalers(self, kind: str, namespace: str, name: str, path: Path) -> str:
        """A hint that names what autoscalers target in the DisaggregatedSet that was meant; '' where none was."""
        names = self._names.get((disaggregated_sets.ROLE_SCALER, namespace), ())
        if kind == "LeaderWorkerSet" and name in names and "scaleTargetRef" in path:
            scaler = disaggregated_sets.ROLE_SCALER
            return f"target the {scaler} of that name: apiVersion: {disaggregated_sets.GROUP}/v1, kind: {scaler}"
        sets = {name, name.rpartition("-")[0]} if kind == disaggregated_sets.ROLE_SCALER else ()
        roles = [other for other in names if other.rpartition("-")[0] in sets]
        return f"there are {quoted(roles)}" if roles else ""

    def _without_route(self, kind: str, namespace: str, name: str) -> str:
        """A hint that names the Service of a model that no route of ours leads to, so that it has nothing for one; ''
        for another name.
        """
        app = name.removesuffix(LEADERS_SERVICE)
        is_of_route = kind in ("AIServiceBackend", "Backend") if app == name else kind == "Service"
        service = app + LB_SERVICE
        has_service = is_of_route and service in self._names.get(("Service", namespace), ())
        return f"no route is rendered for '{app}', lead to its Service '{service}'" if has_service else ""

    def _similar(self, kind: str, namespace: str, name: str, cutoff: float) -> str:
        """A hint that names the rendered object that was meant; '' where none was."""
        near_name = closest(name, self._names.get((kind, namespace), ()), cutoff)
        return f"there is '{near_name}'" if near_name else ""

    def _is_disabled(self, name: str) -> bool:
        """Whether an input that the environment deletes would be rendered to an object of this name."""
        return any(name == app or name.startswith(f"{app}-") for app in self._disabled)
