"""Security contexts of containers: what a preset knows its image to bear (contract, section 4.11)."""

from __future__ import annotations

from renderer import template
from renderer.api import Spec
from renderer.plan import Body
from renderer.yamlio import Shared

NO_ESCALATION = Shared({"allowPrivilegeEscalation": False})


def context(security: Spec, *, read_only: bool) -> Body:
    """The preset's user, nothing else that a container may gain; only no escalation where nobody knows a user."""
    if "user" not in security:
        return NO_ESCALATION
    made: Body = template.shared(
        {
            "runAsNonRoot": True,
            "runAsUser": security["user"],
            "runAsGroup": security.get("group", security["user"]),
            **({"readOnlyRootFilesystem": True} if read_only else {}),
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
    )
    return made
