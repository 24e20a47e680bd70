"""The rules about objects, whatever made them, and which of them a policy and a kind ask for: a rule is asked where the
policy has its key, and denies by what stands there, so that it is none about an object alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from msgspec import Struct

from renderer.api import RenderPolicy
from renderer.kubernetes.pod_parts import volume_path
from renderer.kubernetes.workloads import Kind, kind_of
from renderer.plan import Manifest
from renderer.policy import containers, hosts, pod_privileges
from renderer.policy.denial import Denial
from renderer.policy.globs import restricts
from renderer.policy.namespaces import judge_namespace
from renderer.policy.objects import (
    NO_DEFINITIONS,
    Definitions,
    JudgedObject,
    has_parts,
    judged_object,
    namespace_of,
)
from renderer.yamlio import Document

_ANY_KIND: Kind = ("example.com", "Any")  # of which nothing is known
ObjectRule = Callable[[RenderPolicy, JudgedObject], Iterator[Denial]]


class Rules(Struct, frozen=True):
    """The rules about objects of one kind, and those about each of its pods."""

    of_objects: Sequence[ObjectRule]
    of_pods: Sequence[pod_privileges.PodRule]


def judge_objects(
    policy: RenderPolicy,
    sources: Sequence[Manifest | Document],
    path: str | None,
    definitions: Definitions = NO_DEFINITIONS,
    *,
    namespaces: bool = True,
) -> Iterator[Denial]:
    """A denial of each field of the objects that the policy does not allow. `path`: of the file that makes them, as the
    policy's globs are about it; `definitions`: what CRDs of the tree say; `namespaces`: whether it may write to its
    namespaces is judged as well.
    """
    known: set[str] = set()  # namespaces that are judged already
    for source in sources:
        body = source.body if isinstance(source, Manifest) else source.value
        if namespaces and (namespace := namespace_of(body)) not in known:
            known.update([namespace] if namespace else ())
            yield from judge_namespace(policy, judged_object(source, path))
        if rules := _rules(policy, kind_of(body)):
            yield from _denials(policy, rules, judged_object(source, path, definitions))


def _denials(policy: RenderPolicy, rules: Rules, judged: JudgedObject) -> Iterator[Denial]:
    for rule in rules.of_objects:
        yield from rule(policy, judged)
    for pod in judged.pods if rules.of_pods else ():
        for pod_rule in rules.of_pods:
            yield from pod_rule(policy, judged, pod)


@cache
def judges_pods(policy: RenderPolicy) -> bool:
    """Whether the policy has a key about pods, or about their images or volumes."""
    return bool(_rules(policy, _ANY_KIND))


@cache
def _rules(policy: RenderPolicy, kind: Kind) -> Rules | None:
    """The rules about a kind that the policy has a key for; None without one."""
    candidates: list[tuple[tuple[str, ...], ObjectRule]] = []
    if has_parts(kind):
        candidates.append((containers.REGISTRIES, containers.judge_images))
        candidates.append((containers.PRIVILEGED, containers.judge_privileged))
        candidates.append((containers.ROOT, containers.judge_root))
    if kind in hosts.KINDS:
        candidates.append((hosts.HOSTS, hosts.judge_hosts))
    if volume_path(kind):
        candidates.append((pod_privileges.HOST_PATHS, pod_privileges.judge_persistent_volume))
    elif has_parts(kind):
        candidates.append((pod_privileges.HOST_PATHS, pod_privileges.judge_host_paths))
    of_objects = tuple(rule for key, rule in candidates if restricts(policy, key))
    of_pods = pod_privileges.pod_rules(policy) if has_parts(kind) else ()
    return Rules(of_objects, of_pods) if of_objects or of_pods else None
