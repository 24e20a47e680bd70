"""What does not go with a pool: pods among which no picker can choose, and labels and names that it needs."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, quoted, rule
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import list_at
from renderer.plan import Plan
from renderer.resolve import target_versions
from renderer.resolve.gateway import pickers, streaming
from renderer.resolve.gateway.pools import LabelledPods, PickedApp, SteeredPool

_METRICS_EFFECTS = {  # of variables and options that these keys of `engine.metrics` list
    "guardedBy": "puts its metrics behind a key, but the picker has none",
    "turnedOffBy": "turns off its metrics, by which the picker chooses",
}


@rule(of=PickedApp, gate=True)
def several_workloads(picked: PickedApp) -> Iterator[Diagnostic]:
    """An error for an app with several workloads of one role."""
    if len(picked.plans) > 1 and not picked.plans[0].role:
        yield make_diagnostic("E638", picked.mode_origin, name=picked.app.name)


@rule(of=PickedApp, gate=True, after=several_workloads)
def unfit_pods(picked: PickedApp) -> Iterator[Diagnostic]:
    """An error for pods among which a picker cannot choose."""
    if reason := _unfit_reason(picked.answering):
        yield make_diagnostic("E637", picked.mode_origin, name=picked.app.label, why=reason)


def _unfit_reason(plan: Plan) -> str:
    """Why a picker cannot choose among these pods, '' when it can."""
    if not plan.backend:
        return "the metrics of its pods are unknown"
    if not (plan.metrics.get("waiting") and plan.metrics.get("running") and plan.metrics.get("path")):
        return f"no queue metric of '{plan.backend}' is known"
    if plan.name_in_engine != plan.public_name:
        return (
            f"'{plan.backend}' calls the model '{plan.name_in_engine}', and whether requests to a pool can be renamed "
            "from the public name depends on the gateway's version"
        )
    return ""


@rule(of=PickedApp, when=lambda picked: bool(picked.answering.selector))
def selected_pickers(picked: PickedApp) -> Iterator[Diagnostic]:
    """An error for a Deployment's selector that leads to the picker's pods too."""
    plan = picked.answering
    if plan.selector.items() <= {**plan.labels, wellknown.COMPONENT: wellknown.PICKER_COMPONENT}.items():
        origin = picked.app.origin("spec", "workload", "selector")
        yield make_diagnostic("E328", origin, others="of the pool's picker")


@rule(of=PickedApp, after=unfit_pods)
def unreadable_metrics(picked: PickedApp) -> Iterator[Diagnostic]:
    """Errors for variables and options that keep the engine's metrics from a picker."""
    plan = picked.answering
    runner = (plan.leader or plan.worker).containers[0]
    configured_names = [str(entry["name"]) for entry in runner.env] + [arg.partition("=")[0] for arg in runner.args]
    for key, effect in _METRICS_EFFECTS.items():
        names = list_at(plan.metrics, key)
        for name in dict.fromkeys([name for name in configured_names if name in names]):
            yield make_diagnostic("E639", picked.mode_origin, app=picked.app.name, name=name, what=effect)


@rule(of=PickedApp, after=unfit_pods)
def metrics_of_proxy(picked: PickedApp) -> Iterator[Diagnostic]:
    """A warning where a container that answers for the engine has to hand its metrics on, too."""
    plan = picked.answering
    if plan.answering_port:
        yield make_diagnostic("W332", picked.app.origin("spec", "gateway", "port"), path=plan.metrics["path"])


@rule(of=PickedApp, after=unfit_pods)
def unused_ports(picked: PickedApp) -> Iterator[Diagnostic]:
    """Errors where only the first of several ports of a pod would ever get a request."""
    plan, inputs = picked.answering, picked.context.inputs
    if len(plan.pool_ports) < 2:
        return
    instead = "" if plan.role else "; or set gateway.mode to backend, where they share a port"
    ranks, config = len(plan.pool_ports), inputs.config
    if not target_versions.pools_have_several_ports(config):
        version = config.get("targets", "inferenceExtension")
        what = f"an InferencePool of version {version} has one port for all"
        hint = "write targets.inferenceExtension: '1.1' or above if every cluster has it" + instead
        yield make_diagnostic("E349", config.origin("targets", "inferenceExtension"), ranks=ranks, what=what, hint=hint)
    if not picked.picker.reads_all_ports:
        able = [name for name, document in inputs.pickers.items() if pickers.reads_all_ports(document.value["spec"])]
        what = f"the picker '{picked.picker.name}' uses only one of them"
        hint = f"pickers that use all: {quoted(able)}{instead}"
        yield make_diagnostic("E349", picked.settings.at("picker"), ranks=ranks, what=what, hint=hint)


@rule(of=LabelledPods)
def replaced_labels(labelled: LabelledPods) -> Iterator[Diagnostic]:
    """An error for each label of pods that the pool needs with another value."""
    for before, after in zip(labelled.of_app.plans, labelled.plans, strict=True):
        labels, pool_labels = ((plan.leader or plan.worker).labels for plan in (before, after))
        for key in [key for key, value in labels.items() if pool_labels[key] != value]:
            if origin := before.origins().get(("template", "metadata", "labels", key)):
                yield make_diagnostic("E291", Origin(origin.source, origin.path, key=True), name=key)


@rule(of=LabelledPods)
def taken_container_names(labelled: LabelledPods) -> Iterator[Diagnostic]:
    """Errors for containers with the name of the sidecar that answers for the engine."""
    app, plan, sidecar = labelled.of_app.app, labelled.plans[-1], labelled.sidecar
    pod = plan.leader or plan.worker
    for group, containers in (("initContainers", pod.init_containers), ("containers", pod.containers)):
        for i, container in enumerate(containers):
            if sidecar and container.name == sidecar.name:
                name_origin = plan.origins().get(("template", "spec", group, i, "name"))
                yield make_diagnostic("E386", name_origin or app.origin("spec", "disaggregation"), name=sidecar.name)


@rule(of=SteeredPool)
def rewritten_adapters(steered: SteeredPool) -> Iterator[Diagnostic]:
    """Warnings for public names that a picker replaces by adapters', on a Gateway where tokens are counted."""
    inputs, gateway, steering = steered.context.inputs, steered.settings.gateway, steered.steering
    for rewrite in steering.rewrites if steering else ():
        yield from streaming.rewritten_adapter(inputs, gateway, rewrite.model, rewrite.origin)
