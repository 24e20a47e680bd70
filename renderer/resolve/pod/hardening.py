"""Hardening: the security contexts of pods and containers, as far as a preset says that its image supports them
(docs/design/contract.md#hardening).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from renderer import template
from renderer.kubernetes.json_values import list_at, map_at
from renderer.plan import Body, Container
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.api import App
    from renderer.input_types import SecuritySpec
    from renderer.resolve.context import RunContext

RESTRICTED, OPENSHIFT, OFF = "restricted", "openshift", "off"
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
        leave_ids(pod_security, level),
        leave_ids(security_context(image_security, read_only=read_only), level),
        image_security.get("writable", ()) if read_only else (),
    )


def group_security(group: int) -> Body:
    """A claim belongs to root at first: the group lets the loader write, and later pods need not go through it."""
    return {"fsGroup": group, "fsGroupChangePolicy": "OnRootMismatch"}


def with_capabilities(security: Body, capabilities: Sequence[str]) -> Body:
    """The security context of a container with these capabilities."""
    added: dict[str, object] = {"capabilities": {**map_at(security, "capabilities"), "add": list(capabilities)}}
    without_escalation = {key: value for key, value in security.items() if key != "allowPrivilegeEscalation"}
    return {**(without_escalation if needs_escalation(added) else security), **added}


def hardening_level(context: RunContext, app: App) -> str:
    """The level of an app: its own, else RenderConfig's."""
    return app.spec.get("hardening") or context.hardening


def leave_ids(security: Body, level: str) -> Body:
    """The security context of a container or a pod; under OpenShift without numbers of users and groups."""
    return {key: value for key, value in security.items() if key not in _IDS} if level == OPENSHIFT else security


def security_at(level: str, security: Body) -> Body:
    """The security context of a preset's container at a level; {} where pods are not hardened."""
    return {} if level == OFF else leave_ids(security, level)


def harden(container: Container, level: str) -> Container:
    """The container with its security context at a level."""
    return replace(container, security_context=security_at(level, container.security_context))


def deny_escalation(container: Container) -> Container:
    """The container without privilege escalation, unless that contradicts its own security context."""
    security = container.security_context
    if "allowPrivilegeEscalation" in security or needs_escalation(security):
        return container
    return replace(container, security_context={**security, **NO_ESCALATION} if security else NO_ESCALATION)


def needs_escalation(security: Body) -> bool:
    """Whether the API server refuses this security context with `allowPrivilegeEscalation: false`."""
    return bool(security.get("privileged")) or "SYS_ADMIN" in list_at(security, "capabilities", "add")
