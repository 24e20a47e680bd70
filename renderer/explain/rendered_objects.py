"""Renders objects with their origins on demand: as few apps as possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer import build, load, resolve
from renderer.api import App, Inputs, RenderOptions, TrafficInput
from renderer.build.lws import lws
from renderer.diagnostics import Diagnostic, Origin, Path, has_errors, naming_file
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.plan import Manifest, Plan, TrafficPlan

Item = App | TrafficInput


class RenderedObject(Struct, frozen=True):
    """A rendered object."""

    manifest: Manifest
    owner: str  # the app that it is made for, in words
    item: Item | None  # None for shared objects
    plan: Plan | TrafficPlan | None
    plan_origins: Mapping[Path, Origin]  # those that its plan recorded
    # The LeaderWorkerSets that the controller of a DisaggregatedSet makes of its roles.
    roles: tuple[RenderedObject, ...] = ()

    @property
    def body(self) -> dict[str, Any]:
        """The object."""
        return self.manifest.body

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, namespace ('' for the cluster's objects) and name."""
        metadata = self.body["metadata"]
        return self.body["kind"], metadata.get("namespace", ""), metadata["name"]

    @property
    def is_workload(self) -> bool:
        """Whether it runs the pods of its app."""
        return isinstance(self.plan, Plan) and (self.key[0], self.key[2]) == (self.plan.kind, self.plan.name)

    def __str__(self) -> str:
        return "/".join(filter(None, self.key))


class ExplainRun:
    """One run: the inputs, and the plans made so far."""

    def __init__(self, options: RenderOptions) -> None:
        """Raises RenderError for bad options."""
        self.inputs: Inputs
        scope = load.scope(options)
        self.inputs, self.problems = load.inputs(scope)
        self.context = resolve.run_context(self.inputs)
        problems = [*scope.problems, *self.context.problems]
        self.wrong = [problem for problem in problems if problem.forbids()]  # errors that make all answers unreliable
        self.refused: list[Diagnostic] = []  # errors of items that did not render
        self._plans_by_item: dict[int, tuple[Plan | TrafficPlan, ...]] = {}

    @property
    def items(self) -> list[Item]:
        """The items that are rendered into objects."""
        return [*self.inputs.apps, *self.inputs.rendered_traffic]

    def render_items(self, items: Iterable[Item]) -> list[RenderedObject]:
        """The objects of some items; their errors are added to `refused`."""
        return [rendered for item in items for rendered in self._render(item)]

    def _render(self, item: Item) -> list[RenderedObject]:
        owner = f"{item.kind} {item.namespace}/{item.label}"
        objects = []
        for plan in self._plans(item):
            plan_origins = plan.origins() if isinstance(plan, Plan) else {}
            for manifest in build.build_manifests((plan,)):
                is_set = manifest.body["kind"] == disaggregated_sets.KIND
                roles = _roles(owner, item, plan) if is_set and isinstance(plan, Plan) else ()
                objects.append(RenderedObject(manifest, owner, item, plan, plan_origins, roles))
        return objects

    def _plans(self, item: Item) -> Sequence[Plan | TrafficPlan]:
        plans = self._plans_by_item.get(id(item))
        if plans is None:
            with naming_file(item.document.name):
                plans, problems = resolve.plan(self.context, item)
            self._plans_by_item[id(item)] = plans
            if has_errors(problems):
                self.refused += [problem for problem in problems if problem.forbids()]
        return plans

    def shared(self) -> list[RenderedObject]:
        """The objects that apps share; plans all apps."""
        needs = {need for item in self.items for need in resolve.shared_needs(self._plans(item))}
        joints, _ = resolve.shared_plans(self.context, needs)
        objects = []
        for joint in joints:
            owner = f"the apps of namespace {joint.namespace}" if joint.namespace else "all apps"
            objects += [RenderedObject(manifest, owner, None, None, {}) for manifest in build.build_shared(joint)]
        return objects

    def route_of(self, namespace: str, model: str) -> Mapping[Path, Origin]:
        """The origins of a public name's rule in a packed route."""
        for item in self.items:
            for plan in self._plans(item) if item.namespace == namespace else ():
                if plan.route and plan.route.packed_route and plan.route.model == model:
                    return plan.route.origins()
        return {}


def _roles(owner: str, item: Item, plan: Plan) -> tuple[RenderedObject, ...]:
    """The LeaderWorkerSets of a DisaggregatedSet's roles, as they would be without it."""
    plans = [replace(role, kind=wellknown.LEADER_WORKER_SET) for role in (plan, plan.partner) if role]
    return tuple([RenderedObject(lws(role)[0], owner, item, role, role.origins()) for role in plans])
