"""Security contexts of containers: what a preset knows its image to bear (docs/design/contract.md#hardening)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from renderer import template
from renderer.plan import Body
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import SecuritySpec

NO_ESCALATION = SharedMap({"allowPrivilegeEscalation": False})


def context(security: SecuritySpec, *, read_only: bool) -> Body:
    """The preset's user, nothing else that a container may gain; only no escalation where nobody knows a user."""
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
