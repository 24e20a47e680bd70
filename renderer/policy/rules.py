"""The rules about objects, whatever made them, and which of them a policy and a kind ask for: a rule is asked where the
policy has its key, and denies by what stands there, so that it is none about an object alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain

from renderer.api import RenderPolicy
from renderer.kubernetes.pod_parts import volume_path
from renderer.kubernetes.workloads import Kind, kind_of
from renderer.plan import Manifest
from renderer.policy import host_access, hosts, images, security_contexts, service_accounts
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


_RULES: Sequence[tuple[tuple[str, ...], Callable[[Kind], object], ObjectRule]] = (
    (images.REGISTRIES, has_parts, images.judge_images),
    (security_contexts.PRIVILEGED, has_parts, security_contexts.judge_privileged),
    (security_contexts.ROOT, has_parts, security_contexts.judge_root),
    (hosts.HOSTS, lambda kind: kind in hosts.KINDS, hosts.judge_hosts),
    (host_access.HOST_PATHS, volume_path, host_access.judge_persistent_volume),
    (
        host_access.HOST_PATHS,
        lambda kind: has_parts(kind) and not volume_path(kind),
        host_access.judge_host_paths,
    ),
    (service_accounts.ACCOUNTS, has_parts, service_accounts.judge_service_accounts),
    (service_accounts.PRIORITY_CLASSES, has_parts, service_accounts.judge_priority_classes),
    (host_access.HOST_NETWORK, has_parts, host_access.judge_host_network),
    (host_access.HOST_PID, has_parts, host_access.judge_host_pid),
)
"""The keys of a policy, which kinds each is about, and what denies."""


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
            judged = judged_object(source, path, definitions)
            yield from chain.from_iterable(rule(policy, judged) for rule in rules)


@cache
def judges_pods(policy: RenderPolicy) -> bool:
    """Whether the policy has a key about pods, or about their images or volumes."""
    return bool(_rules(policy, _ANY_KIND))


@cache
def _rules(policy: RenderPolicy, kind: Kind) -> Sequence[ObjectRule]:
    """The rules about a kind that the policy has a key for; a key that is true allows all."""
    return [rule for key, is_about, rule in _RULES if is_about(kind) and restricts(policy, key)]
