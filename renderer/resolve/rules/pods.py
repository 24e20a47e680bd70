"""What does not go with the pod as a podTemplate makes it."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, Path, make_diagnostic
from renderer.kubernetes.json_values import map_at
from renderer.resolve import flavors
from renderer.resolve.pod import pod_template
from renderer.resolve.pod.loaders import VOLUME
from renderer.resolve.workload.claimed import hardening_origin
from renderer.resolve.workload.planned_pod import PlannedPod, image_security


def root_user(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for an image without a user of its own where pods are restricted."""
    base = planned.run.base
    if base.hardening == "restricted" and "user" not in image_security(planned.run):
        yield make_diagnostic("W204", hardening_origin(base.context, base.app))


def changed_accelerators(planned: PlannedPod) -> Iterator[Diagnostic]:
    """A warning for a podTemplate that changes the number of accelerators, on which the command line depends."""
    inputs, origin = planned.run.base.context.inputs, planned.app.origin("spec", "podTemplate")
    if planned.pod is planned.generated or not planned.run.engine.templated:
        return
    index, runner = pod_template.runner_patch(planned.app.spec)
    before, after = (map_at(pod.containers[0].resources, "limits") for pod in (planned.generated, planned.pod))
    for name in {**before, **after}:
        if before.get(name) != after.get(name) and flavors.accelerates(inputs, name):
            path: Path = ("spec", "containers", index, "resources")
            path = (*path, "limits", name) if name in map_at(runner, "resources", "limits") else path
            yield make_diagnostic("W212", origin.at(*path), name=name)


def risky_patch(planned: PlannedPod) -> Iterator[Diagnostic]:
    """What a podTemplate changes that something else relies on."""
    base, template = planned.run.base, planned.app.spec.get("podTemplate")
    if template:
        origin, paths = (
            planned.app.origin("spec", "podTemplate"),
            [source.path for _, source, _ in base.pod_needs.loads],
        )
        restricted = base.hardening == "restricted"
        yield from pod_template.risks(planned.generated, planned.pod, template, paths, restricted, origin)
        if base.pod_needs.claim_templates and any(volume["name"] == VOLUME for volume in planned.pod.volumes):
            yield make_diagnostic("E318", origin.at("spec", "volumes"), name=VOLUME)
