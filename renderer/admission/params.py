"""The objects that a binding gives its policy as `params`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from renderer.admission.matching import CreateRequest
from renderer.admission.records import AdmissionPolicy, Binding, NotJudged
from renderer.admission.resources import ResourceKinds
from renderer.cel.work import Extent, extent_of
from renderer.kubernetes.json_values import as_map, map_at, text_at
from renderer.kubernetes.workloads import selects
from renderer.plan import Body


class Param(Struct, frozen=True):
    """An object that is a param."""

    view: Mapping[str, object]  # the object as the policy sees it
    extent: Extent  # how large it is


class Params:
    """The objects of the tree that may be params, found by apiVersion and kind."""

    def __init__(
        self, bodies: Iterable[Body], kinds: ResourceKinds, param_kinds: Iterable[tuple[str, str] | None]
    ) -> None:
        self._kinds = kinds
        self._params: dict[int, Param] = {}  # by the identity of bodies, which `_bodies` keeps
        self._bodies: dict[tuple[str, str], list[Body]] = {kind: [] for kind in param_kinds if kind}
        for body in bodies:
            kind = (text_at(body, "apiVersion"), text_at(body, "kind"))
            if kind in self._bodies:
                self._bodies[kind].append(body)

    def of(self, policy: AdmissionPolicy, binding: Binding, request: CreateRequest) -> Sequence[Param | None]:
        """The params for a request, or one None where the policy has none. Raises NotJudged where the tree has none."""
        reference = binding.param_ref
        if policy.param_kind is None or reference is None:
            return (None,)
        version, kind = policy.param_kind
        is_namespaced = self._kinds.resource_of({"apiVersion": version, "kind": kind}).is_namespaced is not False
        namespace = (reference.namespace or request.namespace) if is_namespaced else ""
        if is_namespaced and not namespace:
            raise NotJudged(f"the namespace of the param {kind} '{reference.name}'")
        named = reference.name or "by its labels"
        chosen = [
            body
            for body in self._bodies[policy.param_kind]
            if not is_namespaced or text_at(body, "metadata", "namespace") == namespace
            if (text_at(body, "metadata", "name") == reference.name if reference.name else True)
            if selects(reference.selector or {}, as_map(map_at(body, "metadata").get("labels")))
        ]
        if not chosen:
            place = f" in namespace '{namespace}'" if namespace else ""
            raise NotJudged(f"the param {kind} '{named}'{place}, which is not in the tree")
        return [self._param(body) for body in chosen]

    def _param(self, body: Body) -> Param:
        """The param of a body, the same each time."""
        param = self._params.get(id(body))
        if param is None:
            view = self._kinds.view_of(body)
            param = self._params[id(body)] = Param(view, extent_of(view))
        return param
