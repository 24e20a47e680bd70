"""DisaggregatedSets: their pods, as selectors see them, and the targets that they have for autoscalers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from renderer.check.finding import Body
from renderer.check.graph.pods import numbers_slices
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import EXISTS, ObjectView
from renderer.diagnostics import Finding, Path
from renderer.kubernetes import disaggregated_sets
from renderer.kubernetes.disaggregated_sets import APP, REVISION, ROLE, SET, SLICE, SetRole, set_roles, slice_count
from renderer.kubernetes.json_values import as_text, map_at, text_at
from renderer.kubernetes.wellknown import GROUPS, WORKER_INDEX
from renderer.kubernetes.workloads import CONTROLLER_LABELS, WORKLOADS, api_version, made_pods, replicas, selects

_REVISED = "after the next change of a pod template it has another value"


def validate_role_selector(
    view: ObjectView, body: Body, namespace: str, name: str, path: tuple[str, ...]
) -> Iterator[Finding]:
    """A finding where the selector at `path` of an object names a DisaggregatedSet of the set, and labels that none of
    its pods has, or none after the next change.
    """
    selector = map_at(body, *path)
    if SET not in selector:
        return
    workload = as_text(selector[SET])
    disaggregated = view.find(disaggregated_sets.KIND, namespace, workload)
    if not disaggregated:
        return
    if fault := _selector_fault(view, disaggregated, selector):
        label, why = fault
        words = {"kind": body["kind"], "name": name, "workload": workload, "label": f"{label}: {selector[label]}"}
        yield Finding("E393", (*path, label), {**words, "why": why})


def validate_child_selector(
    view: ObjectView, body: Body, namespace: str, name: str, path: tuple[str, ...]
) -> Iterator[Finding]:
    """A finding where the selector at `path` names a LeaderWorkerSet that a DisaggregatedSet of the set makes."""
    child = text_at(body, *path, GROUPS)
    if owner := set_of_child(view, namespace, child):
        words = {"kind": body["kind"], "name": name, "workload": owner, "label": f"{GROUPS}: {child}"}
        yield Finding("E393", (*path, GROUPS), {**words, "why": _REVISED})


@reference_rules.about("PodDisruptionBudget.policy")
def validate_budget_selector(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """The same of a PodDisruptionBudget."""
    yield from validate_role_selector(view, body, namespace, name, ("spec", "selector", "matchLabels"))


def _selector_fault(view: ObjectView, body: Body, selector: Mapping[str, object]) -> tuple[str, str] | None:
    """The label by which a selector takes no pod of the set, and why."""
    if REVISION in selector:
        return REVISION, _REVISED
    sizes = {role.name: replica.size for replica in replicas(body) if (role := replica.set_role)}
    if ROLE in selector and selector[ROLE] not in sizes:
        return ROLE, f"its roles are {', '.join(sizes)}"
    index = as_text(selector.get(WORKER_INDEX, "0"))
    largest = max((size for name, size in sizes.items() if selector.get(ROLE, name) == name), default=0)
    if WORKER_INDEX in selector and (not index.isdecimal() or int(index) >= largest):
        return WORKER_INDEX, "its groups have no such pod"
    own_labels = {key: value for key, value in selector.items() if not key.startswith(CONTROLLER_LABELS)}
    pods = [role_pods.labels for role_pods in made_pods(body, numbers_slices=numbers_slices(view))]
    if any(selects({"matchLabels": own_labels}, labels) for labels in pods):
        return None
    of_role = [labels for labels in pods if selector.get(ROLE, labels[ROLE]) == labels[ROLE]]
    lacking = (key for key, value in own_labels.items() if not any(labels.get(key) == value for labels in of_role))
    label = next(lacking, next(iter(own_labels)))
    if label == SLICE:
        count = slice_count(body)
        return label, f"its last one is {count - 1}" if True in numbers_slices(view) else "LeaderWorkerSet 0.9 has none"
    if label == APP and of_role:
        return label, f"the controller writes {of_role[-1][APP]}"
    return label, "no pod template of it has this label"


def set_of_child(view: ObjectView, namespace: str, name: str) -> str:
    """The DisaggregatedSet whose controller makes LeaderWorkerSets of such a name; '' where there is none."""
    for other_namespace, owner, body in view.all(disaggregated_sets.KIND):
        if other_namespace == namespace and name.startswith(f"{owner}-"):
            roles = "|".join(re.escape(role.name) for role in set_roles(body))
            if re.fullmatch(rf"{re.escape(owner)}-(?:\d+-)?[0-9a-f]{{8}}-(?:{roles})", name):
                return owner
    return ""


def validate_scale_target(view: ObjectView, kind: str, namespace: str, name: str) -> Iterator[Finding]:
    """A finding where an autoscaler's target, which is not an object of the set, is a DisaggregatedSet or made of one,
    or is missing.
    """
    path: Path = ("spec", "scaleTargetRef")
    if kind == disaggregated_sets.ROLE_SCALER and (scaled := _scaled_role(view, namespace, name)):
        if not scaled.external:
            what = f"the role '{scaled.name}': it sets its replicas itself"
            yield _no_target((*path, "name"), what, name)
    elif kind == "LeaderWorkerSet" and (owner := set_of_child(view, namespace, name)):
        what = f"'{name}' for long: the DisaggregatedSet '{owner}' gives it another name at the next change"
        yield _no_target((*path, "name"), what, f"{owner}-<role>")
    elif kind != disaggregated_sets.ROLE_SCALER or not _may_be_made(view, namespace, name):
        yield view.missing(kind, namespace, name, (*path, "name"), _other_kind_hint(view, namespace, name))


def _other_kind_hint(view: ObjectView, namespace: str, name: str) -> str:
    """The workload of that name which the target may mean, such as the LeaderWorkerSet in place of a chart's
    Deployment; '' where there is none.
    """
    for (group, kind), workload in WORKLOADS.items():
        if workload.is_scalable and view.find(kind, namespace, name):
            return f"there is a {kind} '{name}': write apiVersion: {api_version((group, kind))} and kind: {kind}"
    return ""


def validate_whole_target(name: str) -> Iterator[Finding]:
    """The finding that an autoscaler targets a DisaggregatedSet itself."""
    yield _no_target(("spec", "scaleTargetRef", "kind"), "a DisaggregatedSet as a whole", f"{name}-<role>")


def _scaled_role(view: ObjectView, namespace: str, scaler: str) -> SetRole | None:
    """The role of a DisaggregatedSet whose target for autoscalers has this name."""
    for other_namespace, _, body in view.all(disaggregated_sets.KIND):
        for role in set_roles(body):
            if role.scaler == scaler and other_namespace == namespace:
                return role
    return None


def _may_be_made(view: ObjectView, namespace: str, scaler: str) -> bool:
    """Whether a DisaggregatedSet that cannot be looked into may have a target of this name for autoscalers."""
    names = scaler.split("-")
    owners = ("-".join(names[:length]) for length in range(1, len(names)))
    return any(view.find(disaggregated_sets.KIND, namespace, owner) == EXISTS for owner in owners)


def _no_target(path: Path, what: str, scaler: str) -> Finding:
    hint = (
        "write scaling: {mode: External} into the role (LeaderWorkerSet 0.10 and newer), and target the "
        f"{disaggregated_sets.ROLE_SCALER} '{scaler}'"
    )
    return Finding("E392", path, {"what": what, "hint": hint})
