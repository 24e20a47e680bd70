"""The five steps of a cutover for one dump and one tree."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.api import App, RenderOptions
from renderer.cutover.cluster_dump import (
    GROUPS,
    PLAYGROUND,
    SERVICE,
    ClusterDump,
    LiveModel,
    Name,
    group_of,
    name_of,
)
from renderer.cutover.field_managers import hand_over
from renderer.cutover.gitops_tool import GitopsTool
from renderer.cutover.operator_shutdown import stop_operator
from renderer.cutover.rollout import PodChange, Pods, compare_templates, count_at
from renderer.cutover.script import ScriptLine, Step, command, kubectl, patch, remark, shell
from renderer.diagnostics import Diagnostic, NamedSource, Origin, counted, make_diagnostic
from renderer.diff.objects import ObjectItem, items
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.kubernetes.wellknown import AUTOSCALERS, HPA, LB_SERVICE, LEADER_WORKER_SET
from renderer.kubernetes.workloads import SCALE_TARGETS
from renderer.result import RenderResult
from renderer.text import escapes

CACHED = "activator.llmaz.io/cached-state"  # the selector that the operator's activator has taken away
_WORKLOADS = "leaderworkersets.leaderworkerset.x-k8s.io"
_SCALERS = "horizontalpodautoscalers.autoscaling"
_KINDS = f"{_WORKLOADS},{_SCALERS},services"
_RESOURCES = {PLAYGROUND: "playgrounds.inference.llmaz.io", SERVICE: "services.inference.llmaz.io"}
_DEFINITIONS = (*_RESOURCES.values(), "backendruntimes.inference.llmaz.io", "openmodels.llmaz.io")
_OWNERS = "KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name,OWNERS:.metadata.ownerReferences[*].apiVersion"
_SHOWN_PODS = 6
_SHOWN_FIELDS = 4


class CutoverModel(Struct, frozen=True):
    """A model that the operator runs and the tree renders."""

    name: Name
    live: LiveModel
    app: App | None  # what it is rendered from
    rendered: Mapping[str, object]  # its LeaderWorkerSet
    autoscaler: str  # the kind that scales it in the tree; '' for none
    rollout: PodChange

    @property
    def label(self) -> str:
        """namespace/name."""
        return "/".join(self.name)


class Cutover(Struct, frozen=True):
    """The whole of it."""

    tool: GitopsTool
    models: Sequence[CutoverModel]
    left: Sequence[Name]  # models that stay the operator's
    steps: Sequence[Step]
    problems: Sequence[Diagnostic]


def plan_cutover(dump: ClusterDump, result: RenderResult, tool: GitopsTool, options: RenderOptions) -> Cutover:
    """The steps for a dump, and what the tree renders in the place of what is in it."""
    objects = items(result.texts)
    apps = {(app.namespace, app.name): app for app in result.inputs.apps}
    workloads = {(key.namespace, key.name): item for key, item in objects.items() if key.kind in SCALE_TARGETS}
    scalers = {
        (key.namespace, text_at(item.body, "spec", "scaleTargetRef", "name")): item
        for key, item in reversed(objects.items())  # the first of a target counts
        if key.kind in AUTOSCALERS
    }
    models = [
        _model(name, live, workloads[name], scalers.get(name), apps.get(name))
        for name, live in dump.models.items()
        if _is_set(workloads.get(name))
    ]
    resource_names = {name_of(document) for document in dump.resources if document.value.get("kind") in _RESOURCES}
    left = [name for name in dump.models if not _is_set(workloads.get(name))]
    left += sorted(resource_names - dump.workloads)
    problems = [*_strangers(dump, workloads, apps), *_unreadable_selectors(dump)]
    paths = [*(("--", *options.paths) if options.paths else ())]
    steps = (
        Step(
            "Stop the operator",
            "While it runs it writes its objects back, and a sync would start it again. Once it is stopped, its "
            "webhooks refuse every change of a custom resource.",
            [*stop_operator(dump)],
        ),
        Step(
            "Hold the pods",
            "The rendered templates differ in labels and restartPolicy, so a rollout would restart all pods. A "
            "partition that equals the number of replicas holds all pods until it is lowered.",
            [line for model in models for line in _rollout_lines(model)] or [remark("No model is handed over.")],
        ),
        Step(
            "Hand the fields over",
            f"{tool.title} becomes the manager of the fields that the operator has applied. Otherwise variables and "
            "owner references that only the operator set would stay for ever.",
            [*_hand_over(models, dump, tool)] or [remark("The operator manages no fields any more.")],
        ),
        Step(
            f"Sync with {tool.title}",
            "The apply removes the owner references, and lets the autoscaler of the same name target the workload. "
            "Services for clients, which the operator did not apply, are patched first.",
            [*_mend_services(dump, left), *_sync(tool, options.env)],
        ),
        Step(
            "Check, then delete",
            "As long as an owner reference to a custom resource is left, deleting that resource or its CRD "
            "deletes the live model.",
            [*_check(paths), *_delete(dump, models, left)],
        ),
    )
    return Cutover(tool, models, left, steps, problems)


def _is_set(workload: ObjectItem | None) -> bool:
    return workload is not None and workload.key.kind == LEADER_WORKER_SET


def _model(
    name: Name, live: LiveModel, workload: ObjectItem, scaler: ObjectItem | None, app: App | None
) -> CutoverModel:
    spec = map_at(scaler.body, "spec") if scaler else {}
    most = max(count_at(spec, "maxReplicas"), count_at(spec, "maxReplicaCount"))
    if live.autoscaler:
        most = max(most, count_at(live.autoscaler.value, "spec", "maxReplicas"))
    rollout = compare_templates(name[1], live.workload.value, workload.body, most)
    return CutoverModel(name, live, app, workload.body, scaler.key.kind if scaler else "", rollout)


# ---- what is told of dump and tree ----


def _strangers(
    dump: ClusterDump, workloads: Mapping[Name, ObjectItem], apps: Mapping[Name, App]
) -> Iterator[Diagnostic]:
    """Models that only one of dump and tree has, or that the tree runs otherwise."""
    for name, live in dump.models.items():
        workload, label = workloads.get(name), "/".join(name)
        if workload is None:
            yield make_diagnostic("W980", live.workload.origin("metadata", "name"), name=label)
        elif not _is_set(workload):
            origin = live.workload.origin("metadata", "name")
            yield make_diagnostic("W982", origin, name=label, kind=workload.key.kind)
    for name in workloads:
        if name not in dump.models and name not in dump.workloads:
            app = apps.get(name)
            origin = app.origin("metadata", "name") if app else Origin(NamedSource("/".join(name)))
            yield make_diagnostic("N980", origin, name="/".join(name))
    for document in dump.resources:
        kind, name = document.value.get("kind"), name_of(document)
        if kind in _RESOURCES and name not in dump.workloads:
            yield make_diagnostic("W984", document.origin("metadata", "name"), kind=kind, name="/".join(name))


def _unreadable_selectors(dump: ClusterDump) -> Iterator[Diagnostic]:
    for document in dump.services:
        cached = value_at(document.value, "metadata", "annotations", CACHED)
        if cached is not None and not _selector(cached):
            yield make_diagnostic("W983", Origin(document, ("metadata", "annotations", CACHED)))


# ---- the steps ----


def _rollout_lines(model: CutoverModel) -> Iterator[ScriptLine]:
    rollout = model.rollout
    if not rollout.fields:
        yield remark(f"{model.label}: no pod restarts, since its template does not change.")
    elif not rollout.held_pods.count + rollout.free_pods.count:
        yield remark(f"{model.label}: it runs no pod.")
    else:
        fields = _listed(rollout.fields[:_SHOWN_FIELDS], len(rollout.fields))
        yield remark(f"{model.label}: its template differs in {fields}.")
        if not rollout.free_pods.count:
            yield remark(f"  Its partition of {rollout.partition} holds {_pods(rollout.held_pods)}.")
        else:
            yield remark(f"  RESTARTS as soon as it is synced: {_pods(rollout.free_pods)}.")
            yield from _partition_lines(model)
        yield remark("  After step 5, lower the partition, render, commit and sync: replicas restart from the last one")
        yield remark("  down to the partition, and at 0 all of them.")
    if rollout.rendered_replicas not in (None, rollout.replicas):
        yield remark(f"  The sync sets its replicas from {rollout.replicas} to {rollout.rendered_replicas}.")


def _partition_lines(model: CutoverModel) -> Iterator[ScriptLine]:
    """How the partition that holds all pods is written."""
    app, count = model.app, model.rollout.most_replicas
    spec = f"workload: {{rollout: {{partition: {count}}}}}"
    if app and app.kind == SERVICE:
        spec = f"rolloutStrategy: {{type: RollingUpdate, rollingUpdateConfiguration: {{partition: {count}}}}}"
    file, line, _ = app.origin("spec").place if app else ("", 0, 0)
    place = f" ({file}:{line})" if file else ""
    kind = app.kind if app else PLAYGROUND
    yield remark(f"  To hold them, write this below spec of {kind} {model.label}{place}, and render:")
    yield remark(f"    {spec}")
    if not model.rollout.has_partition:
        yield remark("  The live object shows no partition: that needs LeaderWorkerSet 0.7 or newer.")


def _hand_over(models: Sequence[CutoverModel], dump: ClusterDump, tool: GitopsTool) -> Iterator[ScriptLine]:
    for model in models:
        keeps = value_at(model.rendered, "spec", "replicas") is not None
        if operations := hand_over(model.live.workload.value, tool.manager, keeps_replicas=keeps):
            if not keeps:
                yield remark(
                    f"{model.label}: spec.replicas is left out, since its autoscaler owns it and it would fall to 1."
                )
            yield patch(_WORKLOADS, model.name, operations)
        if model.live.autoscaler and (operations := hand_over(model.live.autoscaler.value, tool.manager)):
            yield patch(_SCALERS, model.name, operations)


def _mend_services(dump: ClusterDump, left: Sequence[Name]) -> Iterator[ScriptLine]:
    names = {*left}
    for document in dump.services:
        namespace, name = name_of(document)
        is_left = (namespace, name.removesuffix(LB_SERVICE)) in names
        if operations := [*([] if is_left else _without_owner(document.value)), *_with_selector(document.value)]:
            yield patch("services", (namespace, name), operations)


def _without_owner(body: object) -> Iterator[dict[str, object]]:
    """The operations that take the owner of a Service away."""
    references = maps_at(body, "metadata", "ownerReferences")
    for index in reversed(range(len(references))):
        if group_of(references[index]) in GROUPS:
            place = f"/metadata/ownerReferences/{index}"
            yield {"op": "test", "path": f"{place}/uid", "value": references[index].get("uid")}
            yield {"op": "remove", "path": place}


def _with_selector(body: object) -> Iterator[dict[str, object]]:
    """The operations that give back the selector that the activator has taken."""
    cached = value_at(body, "metadata", "annotations", CACHED)
    if selector := _selector(cached):
        place = f"/metadata/annotations/{CACHED.replace('/', '~1')}"
        yield {"op": "test", "path": place, "value": cached}
        yield {"op": "add", "path": "/spec/selector", "value": selector}
        yield {"op": "remove", "path": place}


def _selector(cached: object) -> dict[str, str]:
    """The selector in the annotation of the activator; empty where it holds none."""
    try:
        selector = json.loads(cached) if isinstance(cached, str) else None
    except ValueError:
        return {}
    if isinstance(selector, dict) and all(isinstance(value, str) for value in selector.values()):
        return selector
    return {}


def _sync(tool: GitopsTool, environment: str) -> Iterator[ScriptLine]:
    yield remark("Render, commit and push first; run this in the folder of llmaz.yaml. What synced the Playgrounds has")
    yield remark(f"to stay stopped, and must not prune. {tool.remark}")
    for text in tool.start(environment):
        yield shell(text)


def _check(paths: Sequence[str]) -> Iterator[ScriptLine]:
    yield shell(f"kubectl get {_KINDS} -A --show-managed-fields -o yaml > ../after.yaml")
    yield remark("This has to report 0 unexplained:")
    yield command("llmaz", "diff", "--live", "../after.yaml", *paths)
    yield remark("This has to print nothing:")
    yield shell(f"! kubectl get {_KINDS} -A -o {escapes.shell_word(f'custom-columns={_OWNERS}')} | grep -F llmaz.io/")


def _delete(dump: ClusterDump, models: Sequence[CutoverModel], left: Sequence[Name]) -> Iterator[ScriptLine]:
    scaler_kinds = {model.name: model.autoscaler for model in models}
    owners = [(str(document.value.get("kind")), name_of(document)) for document in dump.resources]
    owners = [owner for owner in owners if owner[0] in _RESOURCES]
    if not owners and models:
        yield remark("Its custom resources are not in the dump. Each model has one of these, or both:")
        owners = [(kind, model.name) for kind in _RESOURCES for model in models]
    names = {*left}
    for kind, owner_name in owners:
        if owner_name not in names:
            yield kubectl("delete", _RESOURCES[kind], owner_name, "--cascade=orphan", "--ignore-not-found")
    for document in dump.autoscalers:
        namespace, name = name_of(document)
        if scaler_kinds.get((namespace, name), HPA) != HPA:
            yield remark(
                f"The tree has no HorizontalPodAutoscaler {namespace}/{name}, and the live one scales nothing:"
            )
            yield kubectl("delete", _SCALERS, (namespace, name))
    if left:
        labels = ", ".join("/".join(name) for name in left)
        yield remark(f"The CRDs stay, since deleting them deletes what is not handed over: {labels}.")
        return
    kinds = ",".join(_RESOURCES.values())
    definitions = [name_of(document)[1] for document in dump.definitions] or [*_DEFINITIONS]
    yield remark("Only if no Playground and no Service of llmaz is left in any namespace:")
    delete = shlex.join(("kubectl", "delete", "customresourcedefinitions", *definitions, "--ignore-not-found"))
    yield shell(f'left=$(kubectl get {kinds} -A -o name) && [ -z "$left" ] && {delete}')
    yield remark("Do not uninstall the operator's release or Application if it also installed LeaderWorkerSet: that")
    yield remark("deletes its CRD, and with it every model.")


def _pods(pods: Pods) -> str:
    return f"{counted(pods.count, 'pod')}, {_listed(pods.names(_SHOWN_PODS), pods.count)}"


def _listed(names: Sequence[str], count: int) -> str:
    """The names of the first ones, and how many more there are."""
    more = count - len(names)
    return ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
