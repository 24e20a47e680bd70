"""Finds all risks of a change: each is about both sides of objects, and has a cost by which it is sorted, so that it is
no finding of a rule about one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from renderer.diff.models import ModelChange
from renderer.diff.objects import Items, ObjectKey
from renderer.diff.risks.access import access_risks, listener_risks, policy_risks
from renderer.diff.risks.exposed_keys import exposed_keys
from renderer.diff.risks.group_networks import tensor_over_hosts
from renderer.diff.risks.hosts import provider_risks
from renderer.diff.risks.images_and_secrets import pod_risks
from renderer.diff.risks.kinds import ObjectPair, Risk, sort_risks
from renderer.diff.risks.names import new_replaced_names, other_paths, unanswered_names
from renderer.diff.risks.privileges import privilege_risks
from renderer.diff.risks.replicas import replica_risks
from renderer.diff.risks.requests import lost_requests, unlike_roles
from renderer.diff.risks.rollout import update_risks
from renderer.diff.risks.shares import overloaded_backends
from renderer.diff.risks.storage import claim_risks, downloads
from renderer.output.manifest_files import OutputFile
from renderer.resolve import ReplacedName


def find_risks(
    pairs: Iterable[ObjectPair],
    models: Iterable[ModelChange],
    before: Items,
    after: Items,
    *,
    unchanged: Sequence[OutputFile] = (),
    pathless: Mapping[tuple[str, str], str] = {},
    replaced: Sequence[ReplacedName] = (),
) -> list[Risk]:
    """All risks without duplicates, those that cost most first. `unchanged`: the files that are the same on both
    sides; `pathless`: the task of each app for which the AI gateway has no path, by namespace and name; `replaced`:
    names of apps of the second side whose route a ModelRoute replaces.
    """
    listed, changed_models = list(pairs), list(models)
    removed = {pair.key for pair in listed if not pair.after}
    running = {
        change.object_key: min(change.before.low, change.after.low)
        for change in changed_models
        if change.before and change.after
    }
    all_risks = [risk for pair in listed for risk in _object_risks(pair, removed, running)]
    all_risks += privilege_risks(listed, before, after)
    all_risks += provider_risks(listed, before, unchanged)
    all_risks += exposed_keys(listed, before, after, unchanged)
    all_risks += replica_risks(changed_models)
    all_risks += unlike_roles(changed_models)
    all_risks += tensor_over_hosts(changed_models)
    all_risks += lost_requests(listed, before)
    all_risks += downloads(listed, changed_models)
    all_risks += overloaded_backends(before, after)
    all_risks += unanswered_names(before, after, pathless)
    all_risks += new_replaced_names(before, after, replaced)
    all_risks += other_paths(listed)
    return sort_risks(all_risks)


def _object_risks(pair: ObjectPair, removed: Set[ObjectKey], replicas: Mapping[ObjectKey, int]) -> Iterator[Risk]:
    """The risks of an object. `removed`: the objects that are gone; `replicas`: of each workload, that run for sure."""
    yield from update_risks(pair, replicas)
    yield from pod_risks(pair)
    yield from claim_risks(pair)
    yield from access_risks(pair, removed)
    yield from listener_risks(pair)
    yield from policy_risks(pair)
