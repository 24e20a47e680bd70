"""The steps by which what `llmaz adopt` wrote takes the place of workloads that somebody else made, without a moment at
which a Service of clients leads to no ready pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from renderer.api import Scope
from renderer.cutover.gitops_tool import GitopsTool
from renderer.cutover.script import ScriptLine, Step, command, kubectl, patch, remark, shell
from renderer.diagnostics import Diagnostic, NamedSource, Origin, counted, make_diagnostic
from renderer.diff.live.takeovers import (
    LATER,
    Replacement,
    find_takeovers,
    moving_services,
    name_of,
    rendered_bodies,
)
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, number_at, text_at
from renderer.kubernetes.rollouts import bound_count
from renderer.kubernetes.workloads import (
    WORKLOADS,
    is_rendered,
    kind_of,
    made_pods,
    owner_names,
    pod_template,
    pod_templates,
    scale_target,
    selects,
)
from renderer.kubernetes.workloads import (
    replicas as replicas_of,
)
from renderer.result import RenderResult
from renderer.yamlio import Document

Body = Mapping[str, Any]
_TIMEOUT: Final = "--timeout=1h"
_SELECTED: Final = {"NetworkPolicy": ("podSelector",), "PodMonitor": ("selector",)}
"""By kind, where an object says which pods it is about, whoever made these."""


class TakeoverPlan(Struct, frozen=True):
    """What takes the place of what, and the steps."""

    tool: GitopsTool
    moves: Sequence[Replacement]  # workloads with another name
    updates: Sequence[Replacement]  # workloads that keep their name
    steps: Sequence[Step]


def find_takeover_plan(
    documents: Sequence[Document],
    result: RenderResult,
    dumps: Sequence[str],
    tool: GitopsTool,
    scope: Scope,
) -> tuple[TakeoverPlan | None, list[Diagnostic]]:
    """The steps for a dump without llmaz's operator; None, and why, where what is rendered takes the place of nothing
    in it.
    """
    live = [document.value for document in documents if isinstance(document.value, dict)]
    rendered = rendered_bodies(result.texts)
    later = [document.value for document in moving_services(scope.tree.files)]
    moves = find_takeovers(live, rendered, later)
    new = {(kind_of(body), name_of(body)): body for body in rendered if kind_of(body) in WORKLOADS}
    updates = [
        Replacement(body, new[kind_of(body), name_of(body)], ())
        for body in live
        if (kind_of(body), name_of(body)) in new and not is_rendered(body)
    ]
    if not moves and not updates:
        return None, [make_diagnostic("E981", Origin(NamedSource(path))) for path in dumps]
    return plan_takeover(live, moves, updates, tool, scope.options.env), []


def plan_takeover(
    live: Sequence[Body],
    moves: Sequence[Replacement],
    updates: Sequence[Replacement],
    tool: GitopsTool,
    environment: str,
) -> TakeoverPlan:
    """The steps for the objects of a dump."""
    services = {name_of(body): body for body in live if kind_of(body) == ("", "Service")}
    later = [service for move in moves for service in move.services if name_of(service) in services]
    moved = [(services[name_of(service)], service) for service in later]
    steps = [
        Step(
            "Apply what is rendered beside what runs" if moves else "Apply what is rendered",
            f"Nothing of {LATER}/ is in a commit yet, so clients still ask the pods that run."
            if moves
            else "The Services of clients lead to old and new pods while the rollout goes on.",
            [*_needs(moves, updates), *_strangers(live, moves), *_sync(tool, environment)],
        ),
        Step(
            "Wait until the new pods are ready",
            "They load their weights. Nothing has changed for clients until now, and deleting what is new leads back."
            if moves
            else "Reverting the commit leads back, by a rollout too.",
            [_wait(workload.rendered) for workload in (*moves, *updates)],
        ),
    ]
    if moves:
        steps += [
            Step(
                "Move the Services of clients",
                f"Each in one request. In the same minute, commit the text of {LATER}/ in the place of the Service's "
                "file, so that what applies it keeps it.",
                [*_move(moved), *_other_services(live, moves)]
                or [remark("No Service of clients is among the files: let it select the new pods.")],
            ),
            Step(
                "Check, then delete what ran before",
                "Requests that were sent before the move, and connections that clients keep open, are still with the "
                "old pods. Wait for the longest answer: an engine without a hook cuts it at its end. Autoscalers "
                "first, since they would scale to nothing that is there. What a tool applies from git goes by a "
                "commit that takes its file away.",
                [*_check(moved), *_delete(live, moves)],
            ),
        ]
    return TakeoverPlan(tool, moves, updates, steps)


def _needs(moves: Sequence[Replacement], updates: Sequence[Replacement]) -> Iterator[ScriptLine]:
    for move in moves:
        more = _amount(move.rendered, _replicas(move.running))
        yield remark(f"{_title(move.running)} → {_title(move.rendered)}: {more} more until step 4.")
    for update in updates:
        rollout = map_at(update.rendered, "spec", "strategy", "rollingUpdate")
        replicas = _replicas(update.rendered if "replicas" in update.rendered["spec"] else update.running)
        surge = bound_count(rollout.get("maxSurge", "25%"), replicas, up=True)
        gone = bound_count(rollout.get("maxUnavailable", "25%"), replicas, up=False) or int(not surge)
        more = f"{_amount(update.rendered, surge)} more" if surge else "no pod more"
        answering = max(replicas - gone, 0)
        yield remark(
            f"{_title(update.rendered)} keeps its name: {more} during the rollout, {answering} of "
            f"{counted(replicas, 'replica')} answering."
        )
        if not answering:
            yield remark(
                "  AN OUTAGE: write workload.rollout: {maxSurge: 1, maxUnavailable: 0} where a pod more has room."
            )


def _amount(body: Body, replicas: int) -> str:
    """So many replicas of a workload as pods, and their accelerators."""
    pods = replicas * sum(replica.size for replica in replicas_of(body))
    limits: dict[str, int] = {}
    for container in maps_at(pod_template(body), "spec", "containers"):
        for name, amount in map_at(container, "resources", "limits").items():
            if "/" in name and (number := str(amount)).isdecimal():
                limits[name] = limits.get(name, 0) + int(number)
    amounts = [f"{pods * amount:,} {name}" for name, amount in limits.items() if amount]
    return counted(pods, "pod") + (f" with {' and '.join(amounts)}" if amounts else "")


def _replicas(body: Body) -> int:
    return int(number_at(body, "spec", "replicas", default=1))


def _strangers(live: Sequence[Body], moves: Sequence[Replacement]) -> Iterator[ScriptLine]:
    """What selects the old pods by labels that the new ones do not have."""
    paths = ((body, _SELECTED.get(kind_of(body)[1])) for body in live)
    selectors = [(body, map_at(body, "spec", *path)) for body, path in paths if path]
    for body, move, takes_new in _selections(selectors, moves):
        if not takes_new:
            yield remark(
                f"{text_at(body, 'kind')} {'/'.join(name_of(body))} is about the old pods alone: let it select "
                f"those of {name_of(move.rendered)[1]} too before step 3."
            )


def _selections(
    selectors: Iterable[tuple[Body, Body]], moves: Sequence[Replacement]
) -> Iterator[tuple[Body, Replacement, bool]]:
    """The objects whose selectors take old pods, with what takes the place of these, and whether they take the new pods
    too. `selectors`: objects, each with its selector; an empty one is not asked.
    """
    sides = [(move, _labels(move.running), _labels(move.rendered)) for move in moves]
    for body, selector in selectors:
        for move, old, new in sides if selector else ():
            is_near = name_of(body)[0] == name_of(move.running)[0]
            if is_near and any(selects(selector, labels) for labels in old):
                yield body, move, any(selects(selector, labels) for labels in new)


def _labels(workload: Body) -> list[Mapping[str, object]]:
    return [pods.labels for pods in made_pods(workload)]


def _sync(tool: GitopsTool, environment: str) -> Iterator[ScriptLine]:
    yield remark(f"Render, commit and push first; run this in the folder of llmaz.yaml. {tool.remark}")
    for text in tool.start(environment):
        yield shell(text)


def _wait(body: Body) -> ScriptLine:
    if kind_of(body)[1] == wellknown.LEADER_WORKER_SET:
        return kubectl("wait", _resource(body), name_of(body), "--for=condition=Available", _TIMEOUT)
    namespace, name = name_of(body)
    return command("kubectl", "rollout", "status", f"{_resource(body)}/{name}", "-n", namespace, _TIMEOUT)


def _move(moved: Sequence[tuple[Body, Body]]) -> Iterator[ScriptLine]:
    for service, later in moved:
        there, back = [*_changes(service, later)], [*_changes(later, service)]
        yield patch("services", name_of(service), there)
        yield remark(f"Back: {patch('services', name_of(service), back).text}")


def _other_services(live: Sequence[Body], moves: Sequence[Replacement]) -> Iterator[ScriptLine]:
    """What is to be done about Services of the old pods that no commit moves."""
    services = [(body, map_at(body, "spec", "selector")) for body in live if kind_of(body) == ("", "Service")]
    selectors = [(body, {"matchLabels": labels}) for body, labels in services if labels]
    for service, move, takes_new in _selections(selectors, moves):
        if name_of(service) in [name_of(later) for later in move.services]:
            continue
        own = f"{name_of(move.rendered)[1]}{wellknown.LB_SERVICE}"
        if owners := owner_names(service):
            yield remark(
                f"{_title(service)} is made by {owners[0]}, and goes away with it: let its clients ask {own} before "
                "step 4."
            )
        elif not takes_new:
            yield remark(f"{_title(service)} leads to the old pods alone: let it select what {own} selects.")


def _changes(service: Body, other: Body) -> Iterator[dict[str, object]]:
    """The operations that make a Service lead where another one does."""
    yield {"op": "replace", "path": "/spec/selector", "value": map_at(other, "spec", "selector")}
    targets = {port.get("port"): port.get("targetPort", port.get("port")) for port in maps_at(other, "spec", "ports")}
    for i, port in enumerate(maps_at(service, "spec", "ports")):
        target = targets.get(port.get("port"))
        if target is not None and target != port.get("targetPort", port.get("port")):
            yield {"op": "add", "path": f"/spec/ports/{i}/targetPort", "value": target}


def _check(moved: Sequence[tuple[Body, Body]]) -> Iterator[ScriptLine]:
    for service, _ in moved:
        namespace, name = name_of(service)
        label = f"kubernetes.io/service-name={name}"
        words = ("kubectl", "get", "endpointslices", "-n", namespace, "-l", label, "-o", "wide")
        yield command(*words)


def _delete(live: Sequence[Body], moves: Sequence[Replacement]) -> Iterator[ScriptLine]:
    old = {(kind_of(move.running)[1], name_of(move.running)) for move in moves}
    for body in live:
        if kind_of(body)[1] in wellknown.AUTOSCALERS:
            _, kind, name = scale_target(body)
            if (kind, (name_of(body)[0], name)) in old:
                yield kubectl("delete", _resource(body), name_of(body))
    for move in moves:
        if owners := owner_names(move.running):
            yield remark(f"{_title(move.running)} is made by {owners[0]}, which makes it anew: delete that instead.")
        else:
            yield kubectl("delete", _resource(move.running), name_of(move.running))
        for claim in sorted({*_claims(move.running)} - {*_claims(move.rendered)}):
            yield remark(f"  The claim {claim} of its pods stays, and costs until somebody deletes it.")


def _claims(body: Body) -> Iterator[str]:
    for template in pod_templates(body):
        for volume in maps_at(template.body, "spec", "volumes"):
            if claim := text_at(volume, "persistentVolumeClaim", "claimName"):
                yield claim


def _resource(body: Body) -> str:
    group, kind = kind_of(body)
    return f"{kind.lower()}s.{group}" if group else f"{kind.lower()}s"


def _title(body: Body) -> str:
    return f"{text_at(body, 'kind')} {'/'.join(name_of(body))}"
