"""Groups of a LeaderWorkerSet: the pods that its controller makes of the templates, started and ended together."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import NamedTuple

from tests.engines.kubelet import Body, End, Pod, Unstartable


class Member(NamedTuple):
    """A pod of a group: its name, the DNS name of what it lies below, and its spec with LeaderWorkerSet's variables."""

    name: str
    subdomain: str
    spec: Body


def members(body: Body) -> Iterator[Member]:
    """The pods of the first group of a LeaderWorkerSet, the leader first."""
    templates = body["spec"]["leaderWorkerTemplate"]
    leader = f"{body['metadata']['name']}-0"
    unique = body["spec"].get("networkConfig", {}).get("subdomainPolicy") == "UniquePerReplica"
    subdomain = f"{leader if unique else body['metadata']['name']}.{body['metadata'].get('namespace', 'default')}"
    size = int(templates.get("size", 1))
    for index in range(size):
        template = templates.get("leaderTemplate") if index == 0 else None
        variables = {
            "LWS_LEADER_ADDRESS": f"{leader}.{subdomain}",
            "LWS_GROUP_SIZE": str(size),
            "LWS_WORKER_INDEX": str(index),
        }
        spec = with_variables((template or templates["workerTemplate"])["spec"], variables)
        yield Member(f"{leader}-{index}" if index else leader, subdomain, spec)


def with_variables(spec: Body, variables: Mapping[str, str]) -> Body:
    """The spec of a pod whose containers have these variables, before all others and in their place."""
    spec = copy.deepcopy(spec)
    first = [{"name": name, "value": value} for name, value in variables.items()]
    for container in [*spec.get("initContainers", ()), *spec["containers"]]:
        container["env"] = [*first, *(entry for entry in container.get("env", ()) if entry["name"] not in variables)]
    return spec


class Group:
    """The pods of a group. In a `with` block they are started, the leader first; after it they are gone."""

    def __init__(self, pods: Sequence[Pod]) -> None:
        self.pods, self.leader = pods, pods[0]
        self._stack = ExitStack()

    def __enter__(self) -> Group:
        with ExitStack() as stack:
            for pod in self.pods:
                stack.enter_context(pod)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def wait_ready(self, timeout: float) -> None:
        """Returns when all pods are ready. Unstartable when one of them has ended, or it takes longer."""
        end = time.monotonic() + timeout
        while not all(pod.ready for pod in self.pods):
            for pod in self.pods:
                if pod.over.wait(0.1):
                    raise Unstartable(f"{pod.name} ended too early: {'; '.join(pod.events)}: {pod.tail()}")
            if time.monotonic() > end:
                states = " / ".join(f"{pod.name}: {'; '.join(pod.events)}: {pod.tail(2)}" for pod in self.pods)
                raise Unstartable(f"not ready after {timeout:.0f} s: {states}")


def end_together(pods: Sequence[Pod]) -> list[End]:
    """How pods ended that are all told so at the same time."""
    with ThreadPoolExecutor(len(pods)) as threads:
        return list(threads.map(Pod.end, pods))
