"""The rendered objects that may be meant, and what is known of who made them: as few apps are rendered as possible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from renderer import expand, load, resolve
from renderer.api import App, Inputs, Options, Traffic
from renderer.plan import Manifest, Plan, Way
from renderer.problems import Origin, Path, Problem, at_hand, failing
from renderer.records import NamedTuple

Item = App | Traffic


class Made(NamedTuple):
    """A rendered object. `owner`: what it is made for, as people say it; `item`: None for what apps share; `told`: what
    the plan knows of its fields.
    """

    manifest: Manifest
    owner: str
    item: Item | None
    plan: Plan | Way | None
    told: Mapping[Path, Origin]

    @property
    def body(self) -> dict[str, Any]:
        """The object."""
        return self.manifest.body

    @property
    def key(self) -> tuple[str, str, str]:
        """Kind, namespace ('' for the cluster's objects) and name."""
        metadata = self.body["metadata"]
        return self.body["kind"], metadata.get("namespace", ""), metadata["name"]

    def __str__(self) -> str:
        return "/".join(filter(None, self.key))


class House:
    """One run: what was read, and what of it has been rendered."""

    def __init__(self, options: Options) -> None:
        """Raises RenderError for bad options."""
        self.inputs: Inputs
        scope = load.scope(options)
        self.inputs, self.problems = load.inputs(scope)
        self.memo = resolve.memo(self.inputs)
        self.wrong = [*scope.problems, *self.memo.problems]  # with these nothing is certain
        self.refused: list[Problem] = []  # of items that were asked for and do not render
        self._planned: dict[int, tuple[Plan | Way, ...]] = {}

    @property
    def items(self) -> list[Item]:
        """Everything that makes objects of its own."""
        return [*self.inputs.apps, *self.inputs.ways]

    def made(self, items: Iterable[Item]) -> list[Made]:
        """The objects of some items; what is wrong with these is noted."""
        return [each for item in items for each in self._of(item)]

    def _of(self, item: Item) -> list[Made]:
        owner = f"{item.kind} {item.namespace}/{item.label}"
        made = []
        for plan in self._plans(item):
            told = plan.origins() if isinstance(plan, Plan) else {}
            made += [Made(each, owner, item, plan, told) for each in expand.manifests((plan,))]
        return made

    def _plans(self, item: Item) -> Sequence[Plan | Way]:
        known = self._planned.get(id(item))
        if known is None:
            with at_hand(item.document.name):
                known, found = resolve.plan(self.memo, item)
            self._planned[id(item)] = known
            if failing(found):
                self.refused += [each for each in found if each.forbids()]
        return known

    def shared(self) -> list[Made]:
        """What apps share; all of them are asked for it."""
        wanted = {each for item in self.items for each in resolve.needs(self._plans(item))}
        joints, _ = resolve.joints(self.memo, wanted)
        made = []
        for joint in joints:
            owner = f"the apps of namespace {joint.namespace}" if joint.namespace else "all apps"
            made += [Made(each, owner, None, None, {}) for each in expand.shared(joint)]
        return made

    def route_of(self, namespace: str, model: str) -> Mapping[Path, Origin]:
        """Who makes the rule of a public name in a packed route."""
        for item in self.items:
            for plan in self._plans(item) if item.namespace == namespace else ():
                if plan.route and plan.route.packed and plan.route.model == model:
                    return plan.route.origins()
        return {}
