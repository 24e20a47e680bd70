"""The kinds of risks, and what rules about them share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from msgspec import Struct

from renderer.diff.fields import FieldChange
from renderer.diff.objects import Body, ObjectKey
from renderer.secrets.detection import hide_in_text

NAME = "\0"  # no YAML holds it
# What a risk costs, the worst first: what judges the change; requests that fail, or wait for too few replicas; names
# that clients ask for; pods that restart; none of these.
RiskClass = Literal["guard", "requests", "names", "restarts", "other"]
CLASSES: tuple[RiskClass, ...] = get_args(RiskClass)


class RiskKind(Struct, frozen=True):
    """A kind of risk. Each has a class, by which risks are sorted, and a remedy."""

    title: str
    risk_class: RiskClass  # the most that a risk of this kind costs
    remedy: str  # what to write or do instead, in one line; what is code stands in backticks

    @property
    def marked_remedy(self) -> str:
        """The remedy with its code between NAME characters."""
        return self.remedy.replace("`", NAME)


GUARD = "guard"
_SECOND_APP = (
    "add a second app with another `metadata.name`; once it is ready, lead the name to it by `backends` of a ModelRoute"
)
KINDS: Mapping[str, RiskKind] = {
    GUARD: RiskKind(
        "changes what is checked", "guard", "change it in a pull request of its own, before the files that it allows"
    ),
    "lost-requests": RiskKind("requests fail while it rolls out", "requests", _SECOND_APP),
    "roles": RiskKind("prefill and decode roll out independently", "requests", _SECOND_APP),
    "share": RiskKind(
        "more requests than replicas",
        "requests",
        "give the backend `replicas` for its part of the requests first, or a lower `weight`",
    ),
    "replaced": RiskKind("replaced", "requests", _SECOND_APP),
    "renamed": RiskKind(
        "renamed",
        "requests",
        "keep `metadata.name`, and write the name for clients as `servedModelName`",
    ),
    "listener-gone": RiskKind(
        "Gateway listener gone",
        "requests",
        "keep it until no client uses it: `gateway.create`, `gateway.hostnames` and `gateway.tls` as they were",
    ),
    "closed": RiskKind(
        "closes access", "requests", "name who else connects to the models in `pods.networkPolicy.from`"
    ),
    "hand-over": RiskKind(
        "scales to 1 (hand-over to an autoscaler)",
        "requests",
        "with Argo CD, apply what `llmaz argocd application --hand-over NAMESPACE/NAME` prints, then merge",
    ),
    "scale-to-zero": RiskKind(
        "scales to zero", "requests", "write `replicas: 1`, or `minReplicas: 1` in `elasticConfig`"
    ),
    "scale-to-one": RiskKind("scales to 1", "requests", "write `replicas: 2`, or `minReplicas: 2` in `elasticConfig`"),
    "no-backend": RiskKind(
        "a route loses its last backend",
        "names",
        "keep the old name, as `servedModelName` of the app that takes over or as `modelName` of a ModelRoute",
    ),
    "path": RiskKind(
        "clients ask on another path", "names", "tell clients the path that `llmaz routes` shows before the merge"
    ),
    "model-deleted": RiskKind(
        "model deleted",
        "names",
        "keep it until no client uses it, or lead its name to another app: `modelName` of a ModelRoute",
    ),
    "restart": RiskKind(
        "restarts pods",
        "restarts",
        "write `maxSurge: 1` and `maxUnavailable: 0` in `workload.rollout`: new replicas start first, if GPUs are free",
    ),
    "held-back": RiskKind(
        "a rollout stops partway",
        "restarts",
        "lower `workload.rollout.partition` once the new replicas do well: at 0 all of them are replaced",
    ),
    "immutable": RiskKind(
        "immutable field",
        "other",
        "write the old value, give the app another `metadata.name`, or delete the object before the merge",
    ),
    "queue": RiskKind(
        "Kueue refuses it", "other", "delete the workload before the merge, or give the app another `metadata.name`"
    ),
    "rights": RiskKind(
        "opens access",
        "other",
        "keep `gateway.auth`, `gateway.allow` and `service.type` as they were, unless this access is wanted",
    ),
    "privileges": RiskKind(
        "privileges on the node", "other", "leave the field out of `podTemplate`, and keep `hardening` as it was"
    ),
    "service-account": RiskKind(
        "another service account",
        "other",
        "keep `serviceAccountName` as it was, and write `automountServiceAccountToken: false`",
    ),
    "priority": RiskKind(
        "system priority class",
        "other",
        "write a PriorityClass for models as `priorityClassName`, not a `system-` one",
    ),
    "whole-secret": RiskKind(
        "a Secret as a whole", "other", "name the keys: `secretKeyRef` in `env`, or `items` in the volume"
    ),
    "provider-host": RiskKind(
        "new provider host", "other", "list the hosts that are allowed in `providers.hosts` of a RenderPolicy"
    ),
    "plaintext-secret": RiskKind(
        "plaintext secret",
        "other",
        "keep it out of git, encrypted or made by something else; `valueFrom.secretKeyRef` in `env` reads a Secret, "
        "and an option the variable as `$(NAME)`",
    ),
    "host-path": RiskKind("hostPath", "other", "write `modelCache.pvc`, or a volume of another kind"),
    "floating-tag": RiskKind(
        "floating tag",
        "other",
        "write `backendRuntimeConfig.version`, the tag of one version, or a digest in `images.digests`",
    ),
    "autoscaler": RiskKind(
        "another autoscaler takes over",
        "other",
        "keep `autoscaling.autoscaler` as it was, or merge while the load is steady",
    ),
    "group-network": RiskKind(
        "tensor parallel over hosts without RDMA",
        "other",
        "write `tensor` for the GPUs of a host and `pipeline` for the hosts, or `rdma/…` in the flavor's `limits`",
    ),
    "listener": RiskKind(
        "Gateway listener", "other", "keep `gateway.hostnames` and `gateway.tls` as they were, unless this is wanted"
    ),
    "new-claim": RiskKind("new claim", "other", "once no app uses it, delete it by hand: `kubectl delete pvc`"),
    "download": RiskKind(
        "downloads weights", "other", "merge ahead of time: pods that start wait until the Job has loaded the weights"
    ),
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


class Risk(Struct, frozen=True, order=True):
    """A risk of a change."""

    kind: str  # a key of KINDS
    key: ObjectKey
    # The message; each name from the input stands between two NAME characters, so that a format can quote it.
    marked_text: str
    own_remedy: str = ""  # in place of the remedy of its kind, marked like the message
    fails_requests: bool = False  # it costs more than others of its kind: nothing answers
    lead: str = ""  # the beginning of the message, alike for many objects; marked like the rest

    @property
    def title(self) -> str:
        """The title of its kind."""
        return KINDS[self.kind].title

    @property
    def risk_class(self) -> RiskClass:
        """Its class: that of its kind, or of requests that fail."""
        return "requests" if self.fails_requests else KINDS[self.kind].risk_class

    @property
    def message(self) -> str:
        """The whole message without the marks."""
        return f"{self.lead}{self.marked_text}".replace(NAME, "")

    @property
    def marked_remedy(self) -> str:
        """What to write or do instead, marked like the message."""
        return self.own_remedy or KINDS[self.kind].marked_remedy

    @property
    def remedy(self) -> str:
        """What to write or do instead, without the marks."""
        return self.marked_remedy.replace(NAME, "")


class ObjectPair(Struct, frozen=True):
    """An object on both sides, {} where it is absent; for a workload also changed fields. Secrets are not hidden."""

    key: ObjectKey
    was: ObjectKey | None
    before: Body
    after: Body
    changes: Sequence[FieldChange]


def sort_risks(risks: Iterable[Risk]) -> list[Risk]:
    """The risks without duplicates, by class, then in the order of KINDS, then by object."""
    kinds = list(KINDS)
    return sorted(set(risks), key=lambda risk: (CLASSES.index(risk.risk_class), kinds.index(risk.kind), risk))


def marked(text: object) -> str:
    """A name from the input between NAME marks, its secrets hidden."""
    return f"{NAME}{hide_in_text(str(text)).replace(NAME, '')}{NAME}"


def format_value(value: object) -> str:
    """The value as text; `none` for None."""
    return "none" if value is None else str(value)
