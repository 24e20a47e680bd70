"""How many replicas an app has, as Helm's values say it: in its workloads, autoscalers, budgets and its route."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from renderer.chart.actions import Actions
from renderer.records import NamedTuple

_LEADERS = {"leaderworkerset.sigs.k8s.io/worker-index": "0"}
Body = dict[str, Any]


class Piece(NamedTuple):
    """One object. `path`: of the plain file that it stands in; `when`: the action that decides whether it is there."""

    path: str
    body: Any
    when: str = ""


def app_of(path: str) -> str:
    """`<namespace>/<app>` of a rendered file of any layout; '' for files that are no app's."""
    namespace, _, rest = path.partition("/")
    name = rest.partition("/")[0].removesuffix(".yaml")
    return f"{namespace}/{name}" if rest and not namespace.startswith("_") and not name.startswith("_") else ""


def variable(app: str, made: Mapping[str, int]) -> str:
    """The head of an app's file: what the actions below lean on, and what no schema can say of its values."""
    lead = '{{- $app := index .Values.apps "' + app + '" }}\n'
    if "maxReplicas" in made:
        wrong = f'{{{{ fail "apps.{app}: maxReplicas is below minReplicas" }}}}'
        lead += "{{- if lt (int $app.maxReplicas) (int $app.minReplicas) }}" + wrong + "{{ end }}\n"
    return lead


def values(bodies: Sequence[Body]) -> dict[str, int]:
    """What can be set for an app of these objects: replicas, or the bounds of its autoscaler; nothing for a route."""
    for body in bodies:
        if body["kind"] == "HorizontalPodAutoscaler":
            return {key: body["spec"][key] for key in ("minReplicas", "maxReplicas")}
    for body in bodies:
        if body["kind"] == "LeaderWorkerSet" and "replicas" in body["spec"]:
            return {"replicas": body["spec"]["replicas"]}
    return {}


def scaled(pieces: Sequence[Piece], made: Mapping[str, int], actions: Actions) -> Iterator[Piece]:
    """The objects of an app with marks for its values. Every workload gets a budget, which is there from two replicas
    on.
    """
    sets = {piece.body["metadata"]["name"]: piece for piece in pieces if piece.body["kind"] == "LeaderWorkerSet"}
    budgets = {piece.body["metadata"]["name"] for piece in pieces if piece.body["kind"] == "PodDisruptionBudget"}
    low = "minReplicas" if "minReplicas" in made else "replicas"
    when = f"ge (int $app.{low}) 2"
    after: dict[int, str] = {}  # behind its Services stands the budget that is not there yet
    for name in sets.keys() - budgets:
        own = [("LeaderWorkerSet", name), ("Service", f"{name}-lb"), ("Service", f"{name}-leaders")]
        at = max(i for i, piece in enumerate(pieces) if (piece.body["kind"], piece.body["metadata"]["name"]) in own)
        after[at] = name
    for i, piece in enumerate(pieces):
        body, kind = piece.body, piece.body["kind"]
        if kind == "LeaderWorkerSet" and "replicas" in made:
            yield piece._replace(body=_with(body, {"replicas": actions.number("{{ int $app.replicas }}")}))
        elif kind == "HorizontalPodAutoscaler":
            fields = {key: actions.number("{{ int $app." + key + " }}") for key in made}
            yield piece._replace(body=_with(body, fields))
        elif kind == "PodDisruptionBudget" and body["metadata"]["name"] in sets:
            yield piece._replace(when=when)
        elif kind == "AIGatewayRoute" and "replicas" in made:
            yield piece._replace(body=_route(body, dict.fromkeys(sets, ("$app", made["replicas"])), actions))
        else:
            yield piece
        if i in after:
            yield _budget(sets[after[i]], when)


def _with(body: Body, fields: Mapping[str, Any]) -> Body:
    """The object with other values of fields that it has, in their places."""
    return {**body, "spec": {**body["spec"], **fields}}


def packed(body: Body, apps: Mapping[str, tuple[str, int]], actions: Actions) -> Body:
    """A route that several apps share. `apps`: by workload, its app and replicas."""
    return _route(
        body, {name: (f'(index .Values.apps "{app}")', count) for name, (app, count) in apps.items()}, actions
    )


def _route(body: Body, behind: Mapping[str, tuple[str, int]], actions: Actions) -> Body:
    """The variants of an app share its requests by their replicas, alike where there are none. `behind`: by workload,
    the values of its app and its replicas.
    """
    rules = []
    for rule in body["spec"]["rules"]:
        to = rule["backendRefs"]
        found = {None if "kind" in each else behind.get(each["name"]) for each in to}  # a pool is no workload
        one = found.pop() if len(found) == 1 else None
        if one and len(to) > 1 and all(each["weight"] == (one[1] or 1) for each in to):
            weight = actions.number("{{ or (int " + one[0] + ".replicas) 1 }}")
            rule = {**rule, "backendRefs": [{**each, "weight": weight} for each in to]}
        rules.append(rule)
    return _with(body, {"rules": rules})


def _budget(workload: Piece, when: str) -> Piece:
    """As render makes it from two replicas on."""
    metadata = workload.body["metadata"]
    name = metadata["name"]
    selector = {"leaderworkerset.sigs.k8s.io/name": name, **_LEADERS}
    path = re.sub(
        r"[^/]*/leaderworkerset-(?=[^/]*$)",
        lambda found: found[0].replace("leaderworkerset", "poddisruptionbudget"),
        workload.path,
    )
    return Piece(
        path,
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {key: metadata[key] for key in ("name", "namespace", "labels") if key in metadata},
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": selector}},
        },
        when,
    )
