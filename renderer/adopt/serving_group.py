"""The llmaz Service of a workload over several hosts: its own templates, with the engine's container by our name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer.adopt.adopted_workload import AdoptedWorkload
from renderer.adopt.playground_fields import LOADS_ITSELF, CommentedBody
from renderer.adopt.pod_changes import kept_metadata, own_containers
from renderer.adopt.pod_patch import patch_between
from renderer.adopt.server_defaults import without_defaults
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at
from renderer.kubernetes.wellknown import RUNNER
from renderer.kubernetes.workloads import pod_templates
from renderer.load.validation import KINDS
from renderer.resolve.app_annotations import SKIP

Body = Mapping[str, Any]
_USUAL: Mapping[str, object] = {"maxUnavailable": 1, "maxSurge": 0, "partition": 0}
_RESTART = "RecreateGroupOnPodRestart"
_STARTUP = "LeaderCreated"


def draft_group(adopted: AdoptedWorkload, model_name: str, flavor: str) -> CommentedBody:
    """The Service whose pods are those of the workload, with no more than the images of their containers."""
    workload = adopted.workload
    value = workload.document.value
    group = next((map_at(value, *template.path[:-1]) for template in pod_templates(value)), {})
    templates: dict[str, Any] = {"size": workload.hosts}
    if group.get("restartPolicy", _RESTART) != _RESTART:
        templates["restartPolicy"] = group["restartPolicy"]
    if group.get("subGroupPolicy"):
        templates["subGroupPolicy"] = group["subGroupPolicy"]
    for key, template in _originals(adopted).items():
        containers = [_image(body) for body in _containers(adopted, template)]
        templates[key] = {"spec": {"containers": containers}}
    metadata: dict[str, object] = {"name": adopted.takeover.name}
    if workload.namespace not in ("", "default"):
        metadata["namespace"] = workload.namespace
    metadata["annotations"] = {SKIP: "true"}
    spec: dict[str, Any] = {} if workload.replicas is None else {"replicas": workload.replicas}
    spec["modelClaims"] = {"models": [{"name": model_name}], "inferenceFlavors": [flavor]}
    if rollout := {key: value for key, value in workload.rollout.items() if _USUAL.get(key) != value}:
        spec["rolloutStrategy"] = {"type": "RollingUpdate", "rollingUpdateConfiguration": rollout}
    policy = value_at(workload.document.value, "spec", "startupPolicy")
    if policy not in (None, _STARTUP):
        spec["startupPolicy"] = policy
    spec["workloadTemplate"] = templates
    comments: dict[Path, str] = {("metadata", "annotations"): LOADS_ITSELF}
    body = {"apiVersion": KINDS["Service"], "kind": "Service", "metadata": metadata, "spec": spec}
    return CommentedBody(body, comments)


def complete_group(adopted: AdoptedWorkload, group: CommentedBody, rendered: Body, *, live: bool) -> None:
    """Adds to the templates of a draft what its rendered pods lack. `rendered`: the workload that the draft becomes."""
    templates = group.body["spec"]["workloadTemplate"]
    rendered_pods = {template.path[-1]: template.body for template in pod_templates(rendered)}
    for key, template in _originals(adopted).items():
        spec = dict(map_at(template, "spec"))
        spec = without_defaults(spec) if live else spec
        spec["containers"] = _containers(adopted, {"spec": spec})
        rendered_pod = rendered_pods.get(key, {})
        original = own_containers({**kept_metadata(template), "spec": spec}, template, rendered_pod)
        patch = patch_between(original, rendered_pod)
        images = templates[key]["spec"]["containers"]
        patches = {text_at(body, "name"): body for body in maps_at(patch, "spec", "containers")}
        containers = [{**body, **patches.get(str(body["name"]), {})} for body in images]
        templates[key] = {**patch, "spec": {**map_at(patch, "spec"), "containers": containers}}


def _image(container: Body) -> Body:
    return {key: container[key] for key in ("name", "image") if key in container}


def _originals(adopted: AdoptedWorkload) -> dict[str, Body]:
    """The templates of the workload, by their keys."""
    leader, worker = adopted.workload.leader_template, adopted.workload.template
    return {"leaderTemplate": leader, "workerTemplate": worker} if leader else {"workerTemplate": worker}


def _containers(adopted: AdoptedWorkload, template: Body) -> list[Body]:
    """The containers of a template, the engine's by our name: the one of its name, else the first."""
    engine = text_at(adopted.container.body, "name")
    containers = maps_at(template, "spec", "containers")
    names = [text_at(body, "name") for body in containers]
    place = names.index(engine) if engine in names else 0
    return [{**body, "name": RUNNER} if i == place else body for i, body in enumerate(containers)]
