"""The hosts outside of the cluster that providers, Backends and Services lead to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from renderer.api import RenderPolicy
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_map, maps_at, text_at
from renderer.policy.denial import Denial, quoted_globs
from renderer.policy.globs import name_globs
from renderer.policy.objects import JudgedObject

HOSTS: Final = ("providers", "hosts")
BACKEND = ("gateway.envoyproxy.io", "Backend")
SERVICE = ("", "Service")
KINDS: Final = (BACKEND, SERVICE)  # that name hosts
# Names of Services as every cluster has them. Another domain of a cluster is a setting of the tree, so a policy has to
# list it.
_IN_CLUSTER = (".svc", ".svc.cluster.local")
_ANY = "*"


def judge_hosts(policy: RenderPolicy, judged: JudgedObject) -> Iterator[Denial]:
    """A denial of each host that the policy does not list."""
    allowed = name_globs(policy, *HOSTS)
    if allowed is None:
        return
    for path, host in _hosts(judged):
        name = host.rstrip(".").lower()
        if not name.endswith(_IN_CLUSTER) and not (_ANY in allowed.globs if name == _ANY else allowed.fit(name)):
            words = {"host": host, "allowed": quoted_globs(allowed.globs)}
            yield Denial("E816", judged.origin(path), HOSTS, words)


def _hosts(judged: JudgedObject) -> Iterator[tuple[Path, str]]:
    """The hosts that an object names, with their paths; `*` where clients choose one."""
    spec = as_map(judged.body.get("spec"))
    if judged.kind == SERVICE:
        if spec.get("type") == "ExternalName":
            yield ("spec", "externalName"), text_at(spec, "externalName")
        return
    if spec.get("type") == "DynamicResolver":
        yield ("spec", "type"), _ANY
    for i, endpoint in enumerate(maps_at(spec, "endpoints")):
        for field in (("fqdn", "hostname"), ("ip", "address")):
            if host := text_at(endpoint, *field):
                yield ("spec", "endpoints", i, *field), host
