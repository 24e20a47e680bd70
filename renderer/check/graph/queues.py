"""Kueue's ClusterQueues that do not cover what the workloads of their LocalQueues request.

By Kueue 0.14, pkg/scheduler/flavorassigner/flavorassigner.go: a workload that requests a resource of which no group of
the ClusterQueue knows is not admitted.
"""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph.pods import KINDS, view_templates
from renderer.check.graph.rules import side_rules
from renderer.check.graph.view import ObjectView, kind_in
from renderer.diagnostics import Finding, listed
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at, texts_at
from renderer.kubernetes.pod_amounts import pod_amounts

CLUSTER_QUEUE, LOCAL_QUEUE = (kind_in(wellknown.KUEUE, kind) for kind in ("ClusterQueue", "LocalQueue"))


@side_rules.about(CLUSTER_QUEUE)
def validate_coverage(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A finding for a ClusterQueue that does not cover a resource which a workload that waits for it requests."""
    groups = maps_at(body, "spec", "resourceGroups")
    covered = {resource for group in groups for resource in texts_at(group, "coveredResources")}
    queues = {
        (space, queue)
        for space, queue, local in view.all(LOCAL_QUEUE)
        if text_at(local, "spec", "clusterQueue") == name
    }
    if not covered or not queues or view.external.ambiguous:
        return
    for (kind, space, workload), waiting in view.objects.items():
        if kind not in KINDS or not waiting or _queue(space, waiting) not in queues:
            continue
        try:
            amounts = [pod_amounts(template.spec) for template in view_templates(view, waiting)]
        except ValueError:
            continue  # a container's quantity, which is told as such
        lacking = sorted({resource for pod in amounts for resource, amount in pod.items() if amount} - covered)
        if lacking:
            who = f"{text_at(waiting, 'kind')} '{workload}'"
            words = {"name": name, "who": who, "resources": listed(lacking)}
            yield Finding("W881", ("spec", "resourceGroups", 0, "coveredResources"), words)
            return


def _queue(namespace: str, body: Body) -> tuple[str, str]:
    """The LocalQueue in which a workload waits, by its label."""
    return namespace, text_at(map_at(body, "metadata", "labels"), wellknown.QUEUE_NAME)
