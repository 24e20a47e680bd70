"""Security contexts of containers, as far as a preset says that its image supports them
(docs/design/contract.md#hardening).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from renderer import template
from renderer.plan import Body
from renderer.yamlio import SharedMap

if TYPE_CHECKING:
    from renderer.input_types import SecuritySpec

NO_ESCALATION = SharedMap({"allowPrivilegeEscalation": False})


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
