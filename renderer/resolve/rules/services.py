"""What does not go with a Service: its sizes, and what its pods say besides what the models need."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.kubernetes.json_values import map_at, maps_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import containers
from renderer.resolve import names
from renderer.resolve.kube import images
from renderer.resolve.pod.loaders import VOLUME
from renderer.resolve.pod.needs import added_volumes
from renderer.resolve.rules import groups
from renderer.resolve.workload.handwritten_pod import TemplatePod
from renderer.resolve.workload.written_app import WrittenService


@rule(of=WrittenService)
def invalid_sizes(written: WrittenService) -> Iterator[Diagnostic]:
    """Errors for a replica without a pod, and for less than no replicas."""
    if written.size < 1:
        yield make_diagnostic("E285", written.origin.at("size"), value=written.size)
    if written.count < 0:
        yield make_diagnostic("E270", written.app.origin("spec", "replicas"), value=written.count)


@rule(of=WrittenService)
def invalid_names(written: WrittenService) -> Iterator[Diagnostic]:
    """Errors for names that Kubernetes does not take, or that another workload has."""
    yield from names.invalid_app_names(written.app, written.size, written.count)
    if written.size > 1:
        yield from groups.taken_worker_sets(written.context, written.app, written.count)


@rule(of=TemplatePod)
def missing_runner(pod: TemplatePod) -> Iterator[Diagnostic]:
    """An error for workers without a runner, a warning for such a leader."""
    if not any(container.get("name") == RUNNER for container in maps_at(pod.template, "spec", "containers")):
        # Upstream's webhook requires a runner in the worker only, so a leader without one works there.
        code = "W208" if pod.key == "leaderTemplate" else "E286"
        yield make_diagnostic(code, pod.origin.at("spec", "containers"), key=pod.key)


@rule(of=TemplatePod)
def invalid_images(pod: TemplatePod) -> Iterator[Diagnostic]:
    """An error for each image, of a container or of a volume, that is not a reference."""
    for path, container in containers(map_at(pod.template, "spec")):
        if "image" in container:
            yield from images.invalid_image(str(container["image"]), "image", pod.origin.at("spec", *path, "image"))
    yield from images.invalid_volumes(maps_at(pod.template, "spec", "volumes"), pod.origin.at("spec", "volumes"))


@rule(of=TemplatePod)
def taken_volumes(pod: TemplatePod) -> Iterator[Diagnostic]:
    """An error for each volume whose name one of those has that the models need."""
    own_names = [volume["name"] for volume in maps_at(pod.template, "spec", "volumes")]
    for volume in added_volumes(pod.base.pod_needs):
        name = volume["name"]
        if name in own_names and name != VOLUME:  # model-volume may be the template's own
            yield make_diagnostic("E287", pod.origin.at("spec", "volumes", own_names.index(name), "name"), name=name)


@rule(of=TemplatePod)
def lost_affinity(pod: TemplatePod) -> Iterator[Diagnostic]:
    """A warning where the template has an affinity for nodes, so that the flavors' is lost."""
    affinity = map_at(pod.template, "spec", "affinity")
    if pod.base.pod_needs.placement.node_affinity and "nodeAffinity" in affinity:
        yield make_diagnostic("W205", pod.origin.at("spec", "affinity"))


@rule(of=TemplatePod)
def taken_claim_template(pod: TemplatePod) -> Iterator[Diagnostic]:
    """An error where a volume has the name of a claim template."""
    if pod.base.pod_needs.claim_templates and any(volume["name"] == VOLUME for volume in pod.pod.volumes):
        yield make_diagnostic("E318", pod.origin.at("spec", "volumes"), name=VOLUME)
