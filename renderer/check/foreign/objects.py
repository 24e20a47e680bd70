"""The two sides that are compared: rendered objects, and foreign ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.api import App, Inputs, TrafficInput
from renderer.check.finding import Body
from renderer.check.graph.pods import KINDS
from renderer.check.graph.view import Key, kind_in, kind_of
from renderer.check.pod_quotas import CLAIM_TEMPLATE, QuotaShare, claimed_devices, quota_shares
from renderer.check.shared_volumes import MountedClaim, least_replicas, most_replicas, mounted_claims
from renderer.kubernetes import disaggregated_sets, wellknown
from renderer.kubernetes.json_values import as_map, map_at, maps_at, text_at
from renderer.kubernetes.workloads import made_pods, replicas
from renderer.plan import Manifest
from renderer.source.tree import ReadableFile
from renderer.yamlio import Document

CLUSTER_KINDS = ("GatewayClass", "Namespace")
_SHARED = ("", "", "")


class OwnObject(Struct, frozen=True):
    """A rendered object, as processes exchange it."""

    key: Key
    owner: tuple[str, str, str]  # kind, namespace and name of its input, all '' where inputs share it
    targets: tuple[Key, ...] = ()  # what a policy or autoscaler acts on
    replicas: bool = False  # it says how many there are
    role_scalers: tuple[str, ...] = ()  # what the controller of a DisaggregatedSet makes for autoscalers
    pods: tuple[Mapping[str, object], ...] = ()  # the labels of its pods
    claims: tuple[MountedClaim, ...] = ()  # that its pods mount
    bounds: tuple[int, int] = (0, 0)  # the fewest and the most replicas that an autoscaler may ask for
    quota_shares: tuple[QuotaShare, ...] = ()  # what quotas count, if the run has some
    devices: Mapping[str, int] = {}  # of a template of claims, likewise


CREATED_KINDS = {"AIGatewayRoute": ("HTTPRoute",), wellknown.LEADER_WORKER_SET: ("Service", "StatefulSet")}
"""By kind of a rendered object, the kinds of objects that its controller makes under the same name."""


def own_objects(
    manifests: Iterable[Manifest], owner: tuple[str, str, str] = _SHARED, *, has_quotas: bool = False
) -> Iterator[OwnObject]:
    """What is compared of the manifests of an input. `has_quotas`: there are ResourceQuotas among the others."""
    for manifest in manifests:
        body = manifest.body
        metadata, spec = body["metadata"], as_map(body.get("spec"))
        kind, namespace = kind_of(body["apiVersion"], body["kind"]), metadata.get("namespace", "")
        targets = maps_at(spec, "targetRefs")
        if kind in wellknown.AUTOSCALERS:
            targets = [dict(as_map(spec["scaleTargetRef"]))]
        keys = tuple((target_kind(target), namespace, text_at(target, "name")) for target in targets)
        roles = disaggregated_sets.set_roles(body) if kind == disaggregated_sets.KIND else ()
        role_scalers = tuple(role.scaler for role in roles)
        key = (kind, namespace, metadata["name"])
        runs_pods, scales = kind in KINDS, kind in wellknown.AUTOSCALERS
        yield OwnObject(
            key,
            owner,
            targets=keys,
            replicas="replicas" in spec,
            role_scalers=role_scalers,
            pods=tuple(pods.labels for pods in made_pods(body)) if runs_pods else (),
            claims=mounted_claims(body) if runs_pods else (),
            bounds=(least_replicas(body), most_replicas(body)) if scales else (0, 0),
            quota_shares=tuple(quota_shares(body, replicas(body))) if runs_pods and has_quotas else (),
            devices=claimed_devices(map_at(spec, "spec")) if has_quotas and kind == CLAIM_TEMPLATE else {},
        )


def target_kind(reference: Body) -> str:
    """The kind, as in Keys, that a policy or an autoscaler refers to."""
    kind = text_at(reference, "kind")
    if "apiVersion" in reference:
        return kind_of(text_at(reference, "apiVersion"), kind)
    return kind_in(text_at(reference, "group"), kind)


class OwnObjects:
    """All rendered objects of a run, by key, and what makes them."""

    def __init__(self, inputs: Inputs, objects: Sequence[OwnObject]) -> None:
        self.objects: Mapping[Key, OwnObject] = {rendered.key: rendered for rendered in objects}
        self.role_scalers: Sequence[Key] = [
            (disaggregated_sets.ROLE_SCALER, rendered.key[1], name)
            for rendered in objects
            for name in rendered.role_scalers
        ]
        self.mounted = [(rendered, claim) for rendered in objects for claim in rendered.claims]
        self.quota_shares = [share for rendered in objects for share in rendered.quota_shares]
        self.names = {rendered.key[2] for rendered in objects} | {claim.name for _, claim in self.mounted}
        self.namespaces = {rendered.key[1] for rendered in objects}
        self.acting: Mapping[tuple[str, Key], OwnObject] = {
            (rendered.key[0], target): rendered for rendered in objects for target in rendered.targets
        }
        self.apps: Mapping[tuple[str, str], App] = {(app.namespace, app.name): app for app in inputs.apps}
        self._traffic = {(item.kind, item.namespace, item.name): item for item in inputs.rendered_traffic}

    def input_of(self, rendered: OwnObject) -> App | TrafficInput | None:
        """The input that makes an object; None where several share it."""
        return self._traffic.get(rendered.owner) or self.apps.get(rendered.owner[1:])

    def owner(self, rendered: OwnObject) -> str:
        """The words for what makes an object, with its place."""
        item = self.input_of(rendered)
        return describe(item) if item else "llmaz"


def describe(item: App | TrafficInput) -> str:
    """The words for an input: kind, name and place."""
    file, line, _ = item.origin("metadata", "name").place
    return f"the {item.kind} '{item.name}' in {file}:{line}"


class ForeignObject(Struct, frozen=True):
    """An object of the tree that we do not render."""

    key: Key
    body: Body  # with the namespace that it gets where it names none
    document: Document
    file: ReadableFile
    passed: bool  # its file is passed through

    @property
    def kind(self) -> str:
        """The kind as its author wrote it."""
        return text_at(self.body, "kind")


def foreign_objects(document: Document, file: ReadableFile, namespace: str, passed: bool) -> Iterator[ForeignObject]:
    """The objects of a document, without what is not an object, or only a patch of one. `namespace`: of those that name
    none.
    """
    for part in document.objects:
        yield from _foreign_object(part, file, namespace, passed)


def _foreign_object(document: Document, file: ReadableFile, namespace: str, passed: bool) -> Iterator[ForeignObject]:
    body: object = document.value
    if not isinstance(body, dict) or "$patch" in body:
        return
    metadata = body.get("metadata")
    if not isinstance(metadata, dict):
        return
    version, kind, name = body.get("apiVersion"), body.get("kind"), metadata.get("name")
    space = metadata.get("namespace") or namespace
    if not (isinstance(version, str) and isinstance(kind, str) and isinstance(name, str) and isinstance(space, str)):
        return
    kind_key = kind_of(version, kind)
    if kind_key in CLUSTER_KINDS:
        space = ""
    elif not metadata.get("namespace"):
        body = {**body, "metadata": {**metadata, "namespace": space}}
    yield ForeignObject((kind_key, space, name), body, document, file, passed)
