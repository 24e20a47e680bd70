"""Quotas of accelerators, which a RenderPolicy sets: what the workloads of a tree come to at the most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from renderer.api import App, Inputs, ItemKey, RenderPolicy, Scope
from renderer.diagnostics import Diagnostic, Origin, listed, make_diagnostic, suggestion
from renderer.fleet.rows import FleetRow
from renderer.plan import Figures, WorkloadAccelerators
from renderer.policy.denial import Denial, denial_diagnostics
from renderer.policy.globs import name_globs
from renderer.policy.judgement import merge_denials

_QUOTAS = "quotas"
_SHOWN = 3  # workloads that a message names


class _Quota(Struct, frozen=True):
    """A quota, by its index in the list of the policy."""

    index: int
    spec: Mapping[str, Any]

    def counts(self, policy: RenderPolicy, namespace: str, accelerators: WorkloadAccelerators) -> bool:
        """Whether the accelerators of a workload count: those of a type or flavor on which it may run. Parts of cards
        count by their flavor alone.
        """
        namespaces = name_globs(policy, _QUOTAS, self.index, "namespaces")
        if namespaces and not namespaces.fit(namespace):
            return False
        if "flavors" in self.spec:
            return not set(self.spec["flavors"]).isdisjoint(accelerators.flavors)
        types = self.spec.get("accelerators")
        return not accelerators.is_part and (types is None or not set(types).isdisjoint(accelerators.types))

    @property
    def what(self) -> str:
        """What it is about, in words."""
        names = self.spec.get("flavors") or self.spec.get("accelerators")
        where = f" in {', '.join(self.spec['namespaces'])}" if "namespaces" in self.spec else ""
        return f"accelerators{f' of {listed(names)}' if names else ''}{where}"


def judge_quotas(scope: Scope, inputs: Inputs, rows: Sequence[FleetRow]) -> list[Diagnostic]:
    """An error for each quota that the workloads exceed with the most replicas, a warning where only a rollout does so,
    each at the line that sets the replicas of the largest part; and errors for types and flavors that nobody has.
    """
    apps = {app.key: app for app in inputs.apps}
    own = [policy for policy in scope.policies if not policy.revision]
    problems = [problem for policy in own for problem in _unknown_names(policy, inputs, rows)]
    return problems + merge_denials(
        denial_diagnostics(policy, _exceeded(policy, apps, rows)) for policy in scope.policies
    )


def _exceeded(policy: RenderPolicy, apps: Mapping[ItemKey, App], rows: Sequence[FleetRow]) -> Iterator[Denial]:
    for index, spec in enumerate(policy.get(_QUOTAS) or ()):
        quota = _Quota(index, spec)
        used_rows = [row for row in rows if row.accelerators.high]
        counted_rows = [row for row in used_rows if quota.counts(policy, row.namespace, row.counted)]
        most, surge = (sum(_amounts(row)[i] for row in counted_rows) for i in (0, 1))
        if surge <= spec["max"]:
            continue
        code, total = ("E807", most) if most > spec["max"] else ("W807", surge)
        amounts = {row: _amounts(row)[code == "W807"] for row in counted_rows}
        largest = sorted(counted_rows, key=lambda row: (-amounts[row], row.namespace, row.name))
        parts = [f"{row.namespace}/{row.name} {amounts[row]:,}" for row in largest[:_SHOWN]]
        if rest := sum(amounts[row] for row in largest[_SHOWN:]):
            parts.append(f"{len(largest) - _SHOWN:,} more {rest:,}")
        words = {"total": f"{total:,}", "most": f"{spec['max']:,}", "what": quota.what, "parts": listed(parts)}
        origin = _replicas_origin(apps[largest[0].kind, largest[0].namespace, largest[0].app])
        yield Denial(code, origin, (_QUOTAS, index, "max"), words)


class CountedQuota(Struct, frozen=True):
    """A quota, and what counts for it."""

    what: str  # it is about, in words
    allowed: int
    numbers: Mapping[tuple[str, str], int]  # of accelerators with the most replicas, by namespace and workload


def counted_accelerators(policy: RenderPolicy, figures: Figures) -> Iterator[CountedQuota]:
    """What counts of these workloads for each quota of a policy."""
    known = [(place, of_place.accelerators) for place, of_place in figures.items() if of_place.accelerators]
    for index, spec in enumerate(policy.get(_QUOTAS) or ()):
        quota = _Quota(index, spec)
        numbers = {place: counted.number for place, counted in known if quota.counts(policy, place[0], counted)}
        yield CountedQuota(quota.what, spec["max"], numbers)


def _amounts(row: FleetRow) -> tuple[int, int]:
    """The accelerators of a workload with the most replicas, and while a rollout replaces them."""
    return row.accelerators.high, row.accelerators.surge


def _replicas_origin(app: App) -> Origin:
    """Where an app says how many replicas it has at most."""
    elastic = app.spec.get("elasticConfig")
    return app.origin("spec", *(("replicas",) if elastic is None else ("elasticConfig", "maxReplicas")))


def _unknown_names(policy: RenderPolicy, inputs: Inputs, rows: Sequence[FleetRow]) -> Iterator[Diagnostic]:
    types = inputs.accelerator_types()
    flavors = {*inputs.config.get("flavors", default={}), *(name for row in rows for name in row.flavors)}
    for model in inputs.models.values():
        flavors.update(flavor["name"] for flavor in (model.spec.get("inferenceConfig") or {}).get("flavors") or ())
    for index, spec in enumerate(policy.get(_QUOTAS) or ()):
        for i, name in enumerate(spec.get("accelerators") or ()):
            if name not in types.by_name:
                origin = policy.origin(_QUOTAS, index, "accelerators", i)
                yield make_diagnostic("E209", origin, name=name, hint=types.hint(name))
        for i, name in enumerate(spec.get("flavors") or ()):
            if name not in flavors:
                origin = policy.origin(_QUOTAS, index, "flavors", i)
                yield make_diagnostic("E808", origin, name=name, hint=suggestion(name, sorted(flavors)))
