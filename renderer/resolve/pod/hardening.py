"""Hardening: the security contexts of pods and containers, as far as a preset says that its image supports them
(docs/design/contract.md#hardening).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from renderer import template
from renderer.kubernetes.json_values import list_at, map_at
from renderer.plan import Body, Container, Pod
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import SecuritySpec

RESTRICTED, OPENSHIFT = "restricted", "openshift"
TIGHT = frozenset((RESTRICTED, OPENSHIFT))
"""The levels whose pods a namespace may take that takes no root and no folder of a node."""
_IDS = frozenset(("runAsUser", "runAsGroup", "fsGroup", "fsGroupChangePolicy"))  # which OpenShift gives to namespaces
SECCOMP = SharedMap({"seccompProfile": SharedMap({"type": "RuntimeDefault"})})
NO_ESCALATION = SharedMap({"allowPrivilegeEscalation": False})
_ANY_USER = SharedMap(
    {"runAsNonRoot": True, "allowPrivilegeEscalation": False, "capabilities": SharedMap({"drop": ["ALL"]})}
)


def security_context(security: SecuritySpec, *, read_only: bool) -> Body:
    """The context for a preset's `security`: its user, and no capabilities; only no privilege escalation where it names
    no user.
    """
    if "user" not in security:
        return NO_ESCALATION
    hardened: Body = template.share_maps(
        {
            "runAsNonRoot": True,
            "runAsUser": security["user"],
            "runAsGroup": security.get("group", security["user"]),
            **({"readOnlyRootFilesystem": True} if read_only else {}),
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
    )
    return hardened


def security_contexts(level: str, image_security: SecuritySpec) -> tuple[Body, Body, Sequence[str]]:
    """The security contexts of pod and runner, and the paths that need a writable volume.

    docs/design/contract.md#hardening
    """
    if level == OPENSHIFT and "user" not in image_security:
        return SECCOMP, _ANY_USER, image_security.get("writable", ())
    if level == "default" or "user" not in image_security:
        return SECCOMP, NO_ESCALATION, ()
    read_only = image_security.get("readOnlyRoot", True)
    pod_security = {**({"fsGroup": image_security["fsGroup"]} if "fsGroup" in image_security else {}), **SECCOMP}
    return (
        pod_security,
        security_context(image_security, read_only=read_only),
        image_security.get("writable", ()) if read_only else (),
    )


def with_capabilities(security: Body, capabilities: Sequence[str]) -> Body:
    """The security context of a container with these capabilities."""
    added: dict[str, object] = {"capabilities": {**map_at(security, "capabilities"), "add": list(capabilities)}}
    without_escalation = {key: value for key, value in security.items() if key != "allowPrivilegeEscalation"}
    return {**(without_escalation if needs_escalation(added) else security), **added}


def without_ids(security: Body) -> Body:
    """The security context of a container or a pod without numbers of users and groups."""
    return {key: value for key, value in security.items() if key not in _IDS}


def pod_without_ids(pod: Pod) -> Pod:
    """The pod without numbers of users and groups in any security context."""
    containers, init_containers = (
        tuple([replace(container, security=without_ids(container.security)) for container in group])
        for group in (pod.containers, pod.init_containers)
    )
    return replace(pod, security=without_ids(pod.security), containers=containers, init_containers=init_containers)


def deny_escalation(container: Container) -> Container:
    """The container without privilege escalation, unless that contradicts its own security context."""
    security = container.security
    if "allowPrivilegeEscalation" in security or needs_escalation(security):
        return container
    return replace(container, security={**security, "allowPrivilegeEscalation": False} if security else NO_ESCALATION)


def needs_escalation(security: Body) -> bool:
    """Whether the API server refuses this security context with `allowPrivilegeEscalation: false`."""
    return bool(security.get("privileged")) or "SYS_ADMIN" in list_at(security, "capabilities", "add")
