"""The hand-written pod of a Service, and what the models add to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from renderer.api import RenderConfig
from renderer.kubernetes.json_values import map_at, maps_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.plan import Body, Container, Pod
from renderer.resolve import pod_defaults
from renderer.resolve.kube import images, resources
from renderer.resolve.layers import merge_entries
from renderer.resolve.pod import needs as needs_of_pods
from renderer.resolve.pod.hardening import SECCOMP, deny_escalation, group_security
from renderer.resolve.pod.loaders import without_offline
from renderer.resolve.pod.needs import PodNeeds

_KEPT_METADATA = ("labels", "annotations", "finalizers", "name", "namespace")
_OWN_LABELS = "app.kubernetes.io/"
_OWN_FIELDS = frozenset(  # of a pod spec, which a Pod has as fields of its own
    [
        *("initContainers", "containers", "volumes", "nodeSelector", "affinity"),
        *("schedulerName", "securityContext"),
    ]
)


def complete_pod(
    config: RenderConfig,
    needs: PodNeeds,
    template: Mapping[str, Any],
    *,
    answers: bool,
    with_model_labels: bool,
    hosts: int,
) -> Pod:
    """The hand-written pod of a Service (with API defaults written out) and what the models need. `answers`: requests
    come to it, so it has the model's annotations; `with_model_labels`: with the model's labels too; `hosts`: pods of a
    replica.
    """
    metadata = {key: value for key, value in (template.get("metadata") or {}).items() if key in _KEPT_METADATA}
    spec: Mapping[str, Any] = template.get("spec") or {}
    rest = {key: value for key, value in spec.items() if key not in _OWN_FIELDS}
    placement, defaults, hardened = needs.placement, needs.defaults, needs.hardening != "off"
    labels = {**defaults.labels, **metadata.pop("labels", {})}
    annotations = {**defaults.annotations, **metadata.pop("annotations", {})}
    init_containers, containers = _containers(config, needs, spec)
    pod = Pod(
        labels={**labels, **_model_labels(needs, with_model_labels)},
        annotations={**annotations, **needs.annotations} if answers else annotations,
        scheduler_name=spec.get("schedulerName") or needs.scheduler,
        containers=containers,
        init_containers=init_containers,
        volumes=(*images.volume_references(config, spec.get("volumes") or ()), *_missing_volumes(needs, spec)),
        node_selector={**placement.node_selector, **(spec.get("nodeSelector") or {})},
        affinity=_affinity(needs, spec),
        security_context={
            **(group_security(needs.fs_group) if needs.fs_group is not None else {}),
            **(SECCOMP if hardened else {}),
            **(spec.get("securityContext") or {}),
        },
        automount_service_account_token=False
        if hardened and "serviceAccountName" not in rest and "automountServiceAccountToken" not in rest
        else None,
        enable_service_links=False if hardened and "enableServiceLinks" not in rest else None,
        metadata=metadata,
        rest=pod_defaults.complete_pod_spec(
            defaults,
            rest,
            pod_defaults.spread_selector(needs.own_pods, hosts),
            needs_of_pods.tolerations(needs, spec.get("tolerations") or ()),
            placement.runtime_class,
        ),
    )
    devices = needs_of_pods.device_template(needs)
    return needs_of_pods.with_devices(pod, devices) if devices else pod


def _model_labels(needs: PodNeeds, with_model_labels: bool) -> Body:
    if with_model_labels:
        return needs.labels
    return {key: value for key, value in needs.labels.items() if key.startswith(_OWN_LABELS)}


def _affinity(needs: PodNeeds, spec: Mapping[str, Any]) -> Body:
    """The affinity, with that of the flavors where the template has none for nodes."""
    affinity = dict(spec.get("affinity") or {})
    if needs.placement.node_affinity:
        affinity.setdefault("nodeAffinity", needs.placement.node_affinity)
    return affinity


def _missing_volumes(needs: PodNeeds, spec: Mapping[str, Any]) -> Iterator[Body]:
    """The volumes that the models need, without those whose name the template has already."""
    names = {volume["name"] for volume in spec.get("volumes") or ()}
    return (volume for volume in needs_of_pods.added_volumes(needs) if volume["name"] not in names)


def _containers(
    config: RenderConfig, needs: PodNeeds, spec: Mapping[str, Any]
) -> tuple[tuple[Container, ...], tuple[Container, ...]]:
    """The init containers, with the loaders behind the template's own; and the containers with a complete runner."""
    containers = [_read_container(config, container) for container in maps_at(spec, "containers")]
    index = next((i for i, container in enumerate(containers) if container.name == RUNNER), None)
    env: Sequence[Body] = ()
    for i, container in enumerate(containers):
        if container.name == RUNNER:
            with_defaults = _with_default_env(needs, container)
            env = with_defaults.env if i == index else env
            containers[i] = _complete_runner(needs, with_defaults)
    loader_containers = needs_of_pods.loader_containers(needs, without_offline(env))
    own_init_containers = (_read_container(config, container) for container in maps_at(spec, "initContainers"))
    init_containers = [*own_init_containers, *loader_containers]
    if needs.hardening == "off":
        return tuple(init_containers), tuple(containers)
    return tuple(map(deny_escalation, init_containers)), tuple(map(deny_escalation, containers))


def _with_default_env(needs: PodNeeds, runner: Container) -> Container:
    if not needs.defaults.env and not needs.defaults.ca:
        return runner
    ca_env = needs.defaults.ca.env if needs.defaults.ca else ()
    return replace(runner, env=merge_entries([ca_env, needs.defaults.env, runner.env]).entries)


def _read_container(config: RenderConfig, body: Mapping[str, Any]) -> Container:
    container = Container.read(body)
    image = images.image_reference(config, container.image) if container.image else ""
    return replace(container, image=image, env=merge_entries([container.env]).entries)


def _complete_runner(needs: PodNeeds, runner: Container) -> Container:
    """The runner with mounts, credentials and accelerators. A mount of its own wins over one for the same path."""
    mounts = [*needs.mounts, *(mount for credentials in needs.skip_credentials for mount in credentials.mounts)]
    mounts += [needs.defaults.ca.mount] if needs.defaults.ca else []
    mounted_paths = {str(mount["mountPath"]).rstrip("/") for mount in runner.volume_mounts}
    added = [mount for mount in mounts if str(mount["mountPath"]).rstrip("/") not in mounted_paths]
    limits = needs.placement.limits
    sides = runner.resources
    if limits:
        merged = {side: {**map_at(sides, side), **limits} for side in ("limits", "requests")}
        sides = {
            **sides,
            **{
                side: resources.order_resources({name: str(amount) for name, amount in amounts.items()})
                for side, amounts in merged.items()
            },
        }
    return replace(
        runner,
        env=needs_of_pods.add_credentials(needs, runner.env),
        volume_mounts=(*runner.volume_mounts, *added),
        resources=sides,
    )
