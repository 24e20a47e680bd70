"""Rules across objects: from a Gateway's listener to the container that answers, over any set of objects.

`validate_graph` follows the references between objects and finds faults that controllers do not report
(docs/routing.md); `find_route_conflicts` compares all routes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from renderer.check.finding import Body, IndexedFinding
from renderer.check.graph import (
    issuers,
    pod_references,
    pools,
    queues,
    references,
    secret_keys,
    storage_classes,
    vertical_autoscalers,
)
from renderer.check.graph.policies import api_keys
from renderer.check.graph.route_conflicts import find_route_conflicts
from renderer.check.graph.route_matches import route_matches
from renderer.check.graph.rules import check_rules, side_rules, validate_graph
from renderer.check.graph.view import ExternalObjects, ObjectView

UNJUDGED_KINDS = frozenset(
    (
        *(pools.OLD, vertical_autoscalers.VERTICAL, pod_references.RUNTIME_CLASSES),
        *references.OBJECTIVES,
        *secret_keys.MAKERS,
        *(queues.CLUSTER_QUEUE, queues.LOCAL_QUEUE, storage_classes.STORAGE_CLASS),
        *(issuers.CLUSTER_ISSUER, issuers.ISSUER, issuers.CERTIFICATE),
    )
)
"""Kinds whose rules take whatever an object holds, so that no schema has to have judged it first."""


def validate_whole_graph(bodies: Sequence[Body], external: ExternalObjects) -> Iterator[IndexedFinding]:
    """The findings of `validate_graph` and `find_route_conflicts` over a complete set of objects."""
    view = ObjectView(bodies, external)
    yield from validate_graph(view)
    yield from validate_graph(view, check_rules, side_rules)
    yield from find_route_conflicts(route_matches(view), external, api_keys(view))


def known_objects(bodies: Sequence[Body], external: ExternalObjects) -> ExternalObjects:
    """The external objects with these bodies added: rules look into them, and do not judge them."""
    return replace(external, others=ObjectView(bodies, external))
