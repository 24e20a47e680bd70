"""Replaces replicas by references to Helm's values: in workloads, autoscalers, disruption budgets and routes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from renderer.integrations.helm.actions import ActionNumber
from renderer.kubernetes import disaggregated_sets, wellknown, workloads
from renderer.kubernetes.json_values import as_map, as_maps, as_text, text_at
from renderer.kubernetes.workloads import pod_selector
from renderer.text import escapes

_OWN_LABELS = tuple(wellknown.own_labels("name", "component"))  # that all objects of an app have
_LEADERS = {wellknown.WORKER_INDEX: "0"}
_BOUNDS = {  # of an autoscaler: the fields of its spec, the lower first
    "HorizontalPodAutoscaler": ("minReplicas", "maxReplicas"),
    "ScaledObject": ("minReplicaCount", "maxReplicaCount"),
}
_ROLES = (wellknown.PREFILL, wellknown.DECODE)
Body = dict[str, Any]
AppValues = Mapping[str, Mapping[str, int]]  # by role, '' where an app has none: replicas, or minReplicas, maxReplicas


class ChartObject(Struct, frozen=True):
    """An object of the chart."""

    path: str  # of its rendered file
    body: Any
    when: str = ""  # the condition of an `if` around it, or ''


class _Replicas(Struct, frozen=True):
    """Replicas that values count: of a workload, or of a role of a DisaggregatedSet."""

    piece: ChartObject  # the object that runs them
    name: str  # of their budget and autoscaler
    size: int  # pods of a replica
    selector: Mapping[str, object]  # the labels of those pods


def app_name(path: str) -> str:
    """`<namespace>/<app>` of a rendered file in any layout; '' for files that belong to no single app."""
    namespace, _, rest = path.partition("/")
    name = rest.partition("/")[0].removesuffix(".yaml")
    return f"{namespace}/{name}" if rest and not namespace.startswith("_") and not name.startswith("_") else ""


def app_header(app: str, app_values: AppValues) -> str:
    """The first lines of an app's template: the variable $app, and a check of bounds that the schema cannot express."""
    lead = f"{{{{- $app := index .Values.apps {escapes.go_string(app)} }}}}\n"
    for role, counts in app_values.items():
        if "maxReplicas" in counts:
            variable, key = (f"$app.{role}", f"{app}.{role}") if role else ("$app", app)
            is_below = f"lt (int {variable}.maxReplicas) (int {variable}.minReplicas)"
            failure = f"fail {escapes.go_string(f'apps.{key}: maxReplicas is below minReplicas')}"
            lead += f"{{{{- if {is_below} }}}}{{{{ {failure} }}}}{{{{ end }}}}\n"
    return lead


def default_values(bodies: Sequence[Body]) -> AppValues:
    """The default values of an app: replicas, or the bounds of its autoscaler; {} for an app without workloads.

    By role for prefill and decode, which are scaled apart, without one that somebody else's autoscaler owns; else one
    entry, ''. A DisaggregatedSet has values for the roles that an autoscaler of ours scales.
    """
    roles = [_role(body["metadata"]["name"]) for body in bodies if is_workload(body)]
    if sorted(roles) != sorted(_ROLES) and not any(_is_set(body) for body in bodies):
        return {"": counts} if (counts := _default_counts(bodies)) else {}
    by_role = {
        role: _default_counts([body for body in bodies if _role(body["metadata"]["name"]) == role]) for role in _ROLES
    }
    return {role: counts for role, counts in by_role.items() if counts}


def _default_counts(bodies: Sequence[Body]) -> dict[str, int]:
    """The default values of workloads that are scaled alike."""
    for body in bodies:
        if body["kind"] in _BOUNDS:
            counts = _counts(body, _BOUNDS[body["kind"]])
            return dict(zip(("minReplicas", "maxReplicas"), counts.values(), strict=True))
    for body in bodies:
        if is_workload(body) and (counts := _counts(body, ("replicas",))):
            return counts
    return {}


def _role(name: str) -> str:
    """The role that the name of an object ends with, or ''."""
    return next((role for role in _ROLES if name.endswith(f"-{role}")), "")


def _is_set(body: Body) -> bool:
    """Whether the object is a DisaggregatedSet."""
    return text_at(body, "kind") == disaggregated_sets.KIND


def is_workload(body: Body) -> bool:
    """Whether the object runs the pods of an app: a LeaderWorkerSet, or a Deployment that is no picker's."""
    if body["kind"] != wellknown.DEPLOYMENT:
        return text_at(body, "kind") == wellknown.LEADER_WORKER_SET
    return text_at(body, "metadata", "labels", wellknown.COMPONENT) == "inference-server"


def _counts(body: Body, fields: Iterable[str]) -> dict[str, int]:
    """Those of the fields that the object's spec has."""
    spec = as_map(body["spec"])
    return {field: count for field in fields if isinstance(count := spec.get(field), int)}


def refer_to_replicas(
    pieces: Sequence[ChartObject], app_values: AppValues, budget: Mapping[str, object]
) -> Iterator[ChartObject]:
    """The objects of an app with actions for its values. Every workload that has some gets a disruption budget, which
    the template includes from two replicas on. `budget`: its spec, less the selector.
    """
    counted = {
        replicas.name: replicas
        for piece in pieces
        for replicas in _replicas_of(piece)
        if _values_of(replicas.name, app_values)[1]
    }
    budgets = {piece.body["metadata"]["name"] for piece in pieces if piece.body["kind"] == "PodDisruptionBudget"}
    budget_positions: dict[int, list[_Replicas]] = {}  # position of the last Service → those that have no budget yet
    for name in sorted(counted.keys() - budgets):
        maker = counted[name].piece.body
        maker_name = maker["metadata"]["name"]
        objects = [
            (maker["kind"], maker_name),
            ("Service", maker_name + wellknown.LB_SERVICE),
            ("Service", maker_name + wellknown.LEADERS_SERVICE),
        ]
        position = max(
            i for i, piece in enumerate(pieces) if (piece.body["kind"], piece.body["metadata"]["name"]) in objects
        )
        budget_positions.setdefault(position, []).append(counted[name])
    for i, piece in enumerate(pieces):
        body, kind = piece.body, piece.body["kind"]
        variable, counts = _values_of(body["metadata"]["name"], app_values)
        if is_workload(body) and "replicas" in counts:
            count = ActionNumber(f"{{{{ int {variable}.replicas }}}}")
            yield replace(piece, body=_with_spec(body, {"replicas": count}))
        elif kind in _BOUNDS:
            bounds = (ActionNumber(f"{{{{ int {variable}.{key} }}}}") for key in counts)
            fields: dict[str, object] = dict(zip(_BOUNDS[kind], bounds, strict=True))
            if "fallback" in body["spec"]:
                least = ActionNumber(f"{{{{ max 1 (int {variable}.minReplicas) }}}}")
                fields["fallback"] = {**body["spec"]["fallback"], "replicas": least}
            yield replace(piece, body=_with_spec(body, fields))
        elif kind == "PodDisruptionBudget" and body["metadata"]["name"] in counted:
            yield replace(piece, when=_two_replicas(counted[body["metadata"]["name"]], app_values))
        elif kind == "AIGatewayRoute" and "replicas" in counts:
            yield replace(piece, body=_route(body, dict.fromkeys(counted, ("$app", counts["replicas"]))))
        else:
            yield piece
        for replicas in budget_positions.get(i, ()):
            yield _budget(replicas, budget, _two_replicas(replicas, app_values))


def _replicas_of(piece: ChartObject) -> Iterator[_Replicas]:
    """The replicas that an object runs, as far as values may count them."""
    body = piece.body
    for replica in workloads.replicas(body) if _is_set(body) or is_workload(body) else ():
        role, selector = replica.set_role, pod_selector(body, replica)
        if role is None or role.external:
            is_leader = replica.size == 1 and body["kind"] != wellknown.DEPLOYMENT
            name = role.scaler if role else body["metadata"]["name"]
            yield _Replicas(piece, name, replica.size, {**selector, **_LEADERS} if is_leader else selector)


def _values_of(name: str, app_values: AppValues) -> tuple[str, Mapping[str, int]]:
    """The template expression of the values by which an object of the app of this name goes, and their defaults; {} for
    what the roles of the app share.
    """
    if "" in app_values:
        return "$app", app_values[""]
    role = _role(name)
    return f"$app.{role}", app_values.get(role, {})


def _two_replicas(replicas: _Replicas, app_values: AppValues) -> str:
    """The condition of the disruption budget, as `llmaz render` has it: two replicas always run; of groups of several
    hosts they may.
    """
    bound = "minReplicas" if replicas.size == 1 else "maxReplicas"
    variable, counts = _values_of(replicas.name, app_values)
    return f"ge (int {variable}.{bound if bound in counts else 'replicas'}) 2"


def _with_spec(body: Body, fields: Mapping[str, object]) -> Body:
    """A copy of the object with other values of fields of its spec; the order of fields stays."""
    return {**body, "spec": {**as_map(body["spec"]), **fields}}


def refer_from_shared_route(body: Body, apps: Mapping[str, tuple[str, int]]) -> Body:
    """A route that several apps share, with actions. `apps`: by workload, its app and replicas."""
    return _route(
        body,
        {name: (f"(index .Values.apps {escapes.go_string(app)})", count) for name, (app, count) in apps.items()},
    )


def _route(body: Body, apps: Mapping[str, tuple[str, int]]) -> Body:
    """The route with actions for weights: variants of an app share its requests by their replicas, equally if that is
    0.

    `apps`: by workload, the template expression of its app's values, and its replicas.
    """
    rules = []
    for rule in as_maps(as_map(body["spec"])["rules"]):
        backends = as_maps(rule["backendRefs"])
        owners = {
            None if "kind" in backend else apps.get(as_text(backend["name"])) for backend in backends
        }  # a pool is not a workload
        owner = owners.pop() if len(owners) == 1 else None
        if owner and len(backends) > 1 and all(backend["weight"] == (owner[1] or 1) for backend in backends):
            weight = ActionNumber("{{ or (int " + owner[0] + ".replicas) 1 }}")
            rule = {**rule, "backendRefs": [{**backend, "weight": weight} for backend in backends]}
        rules.append(rule)
    return _with_spec(body, {"rules": rules})


def _budget(replicas: _Replicas, budget: Mapping[str, object], condition: str) -> ChartObject:
    """The disruption budget that `llmaz render` makes for two or more replicas."""
    maker, path = replicas.piece.body, replicas.piece.path
    metadata = maker["metadata"]
    folder, _, file = path.rpartition("/")
    if "/" in folder and file == f"{maker['kind'].lower()}-{metadata['name']}.yaml":  # a file for each object
        path = f"{folder}/poddisruptionbudget-{replicas.name}.yaml"
    # Less those that spec.workload gives the workload alone.
    labels = {key: value for key, value in as_map(metadata.get("labels")).items() if key in _OWN_LABELS}
    budget_metadata = {"namespace": metadata["namespace"]} if "namespace" in metadata else {}
    budget_metadata |= {"labels": labels} if labels else {}
    return ChartObject(
        path,
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": replicas.name, **budget_metadata},
            "spec": {**budget, "selector": {"matchLabels": replicas.selector}},
        },
        condition,
    )
