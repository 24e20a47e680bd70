"""Validates the rendered objects of an app, at the places of the input that caused them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from renderer import schema_validation
from renderer.check.finding import Body, locate_finding
from renderer.check.graph import (
    ExternalObjects,
    Key,
    ObjectView,
    validate_graph,
)
from renderer.check.graph.pods import view_replicas
from renderer.check.object_rules import valid_bodies, validate_object
from renderer.check.relations import validate_relations
from renderer.diagnostics import Diagnostic, has_errors
from renderer.kubernetes import component_versions
from renderer.kubernetes.workloads import replicas
from renderer.plan import Manifest


def manifest_validator(
    apps: Sequence[Sequence[Manifest]], external: ExternalObjects
) -> Callable[[Sequence[Manifest], frozenset[Key]], list[Diagnostic]]:
    """`validate_manifests` for the apps of a batch. Objects of one kind are first validated in a row: schema and rules
    stay in the processor's cache.
    """
    kinds: dict[tuple[str, str], list[Body]] = defaultdict(list)
    for app_manifests in apps:
        for manifest in app_manifests:
            kinds[manifest.body["apiVersion"], manifest.body["kind"]].append(manifest.body)
    doubtful: set[int] = set()
    for (version, kind), bodies in kinds.items():
        valid: Sequence[Body] = ()
        with suppress(Exception):  # raised again when the body is validated alone, where its file is known
            valid = valid_bodies(schema_validation.name_of(version, kind), bodies, external.targets)
        if len(valid) < len(bodies):
            doubtful.update(map(id, bodies))
            doubtful.difference_update(map(id, valid))
    return partial(validate_manifests, external=external, doubtful=doubtful)


def validate_manifests(
    app_manifests: Sequence[Manifest],
    others: frozenset[Key] = frozenset(),
    external: ExternalObjects | None = None,
    targets: component_versions.TargetVersions | None = None,
    doubtful: Set[int] | None = None,
) -> list[Diagnostic]:
    """All diagnostics about one app's objects, at the input's places; with `external` also those of the graph from
    Gateway to pod.

    `others`: objects of other apps that these refer to; `targets`: the target versions, where `external` is not known;
    `doubtful`: where all bodies have been validated alone, the ids of those that may be wrong.
    """
    if external and others:
        external = replace(external, present=external.present | others)
    problems = []
    bodies = [manifest.body for manifest in app_manifests]
    if doubtful is None or doubtful:
        for manifest in app_manifests:
            if doubtful is None or id(manifest.body) in doubtful:
                for finding in validate_object(manifest.body, targets=external.targets if external else targets):
                    if not (external and external.allows(finding)):
                        problems.append(locate_finding(manifest, finding))
    view = ObjectView(bodies, external) if external else None
    for index, finding in validate_relations(bodies, partial(view_replicas, view) if view else replicas):
        problems.append(locate_finding(app_manifests[index], finding))
    broken = problems and has_errors(problems)
    for index, finding in validate_graph(view) if view and not broken else ():
        if finding.code[0] != "N":
            problems.append(locate_finding(app_manifests[index], finding))
    return problems
