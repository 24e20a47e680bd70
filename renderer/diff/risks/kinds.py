"""The kinds of risks, and what rules about them share."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from renderer.diff.fields import FieldChange
from renderer.diff.objects import Body, ObjectKey
from renderer.secrets.detection import hide_in_text

GUARD = "guard"
KINDS = {
    GUARD: "changes what is judged",
    "model-deleted": "model deleted",
    "no-backend": "a route loses its last backend",
    "immutable": "immutable field",
    "queue": "Kueue refuses it",
    "rights": "opens access",
    "privileges": "privileges on the node",
    "service-account": "another service account",
    "priority": "system priority class",
    "whole-secret": "a Secret as a whole",
    "provider-host": "new provider host",
    "plaintext-secret": "plaintext secret",
    "hand-over": "scales to 1 (hand-over to an autoscaler)",
    "autoscaler": "another autoscaler takes over",
    "scale-to-zero": "scales to zero",
    "scale-to-one": "scales to 1",
    "replaced": "replaced",
    "renamed": "renamed",
    "listener": "Gateway listener",
    "host-path": "hostPath",
    "floating-tag": "floating tag",
    "roles": "prefill and decode roll out independently",
    "lost-requests": "requests fail while it rolls out",
    "restart": "restarts pods",
    "new-claim": "new claim",
    "download": "downloads weights",
}
STANDING = (
    "rights",
    "privileges",
    "service-account",
    "priority",
    "whole-secret",
    "provider-host",
    "plaintext-secret",
    "host-path",
    "floating-tag",
)  # risks of the new state itself, not of the transition to it
NAME = "\0"  # no YAML holds it


class Risk(Struct, frozen=True, order=True):
    """A risk of a change."""

    kind: str  # a key of KINDS
    key: ObjectKey
    # The message; each name from the input stands between two NAME characters, so that a format can quote it.
    marked_text: str

    @property
    def message(self) -> str:
        """The message without the marks."""
        return self.marked_text.replace(NAME, "")


class ObjectPair(Struct, frozen=True):
    """An object on both sides, {} where it is absent; for a workload also changed fields. Secrets are not hidden."""

    key: ObjectKey
    was: ObjectKey | None
    before: Body
    after: Body
    changes: Sequence[FieldChange]


def marked(text: object) -> str:
    """A name from the input between NAME marks, its secrets hidden."""
    return f"{NAME}{hide_in_text(str(text)).replace(NAME, '')}{NAME}"


def format_value(value: object) -> str:
    """The value as text; `none` for None."""
    return "none" if value is None else str(value)
