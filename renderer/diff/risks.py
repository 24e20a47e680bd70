"""The risks of a change: effects that a reviewer should know before it is merged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from renderer import disaggregated_sets, quantity, wellknown
from renderer.diagnostics import Path
from renderer.diff.disaggregation import rolling_pairs, successors
from renderer.diff.fields import ABSENT, FieldChange, same
from renderer.diff.models import ModelChange
from renderer.diff.objects import Body, Items, ObjectKey, is_workload
from renderer.diff.traffic import RIGHTS, ROUTE, PublicName, public_names
from renderer.json_values import list_at, map_at, maps_at, value_at
from renderer.secret_detection import find_secrets, find_url_secrets, hide_in_text, hide_secrets, is_literal_secret
from renderer.wellknown import HPA, SCALED_OBJECT

GUARD = "guard"
# In the order of output: first what cannot be undone, or is easily overlooked.
KINDS = {
    GUARD: "changes what is judged",
    "model-deleted": "model deleted",
    "no-backend": "a route loses its last backend",
    "immutable": "immutable field",
    "queue": "Kueue refuses it",
    "rights": "opens access",
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
    "plaintext-secret",
    "host-path",
    "floating-tag",
)  # risks of the new state itself, not of the transition to it
NAME = "\0"  # no YAML holds it
_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_ROLLOUT: Path = ("spec", "rolloutStrategy", "rollingUpdateConfiguration")
_DEPLOYED: Path = ("spec", "template")
_SELECTORS: Mapping[str, Path] = {  # of pods that answer requests
    "Service": ("spec", "selector"),
    "InferencePool": ("spec", "selector", "matchLabels"),
}
_ROLES: Path = ("spec", "roles")  # of a DisaggregatedSet
_RESTARTS = (_TEMPLATE, ("spec", "networkConfig"), _DEPLOYED)
_LEADER = "leader: "
_COPIED = tuple(f"leaderworkerset.sigs.k8s.io/{word}exclusive-topology" for word in ("", "subgroup-"))
_MOVING = re.compile(r"(?:latest|nightly|main|master|dev|edge|stable)\b|[^0-9]+$")
_SIZES = {"limits", "requests", "sizeLimit"}
_TAKEOVERS = {
    SCALED_OBJECT: "HorizontalPodAutoscaler → ScaledObject: KEDA takes the HPA of this name over, replicas stay",
    HPA: "ScaledObject → HorizontalPodAutoscaler: two scale until the ScaledObject and its HPA are deleted",
}
_CLAIM, _CACHE, _CACHE_VOLUME = "PersistentVolumeClaim", "model-cache", "model-claim"
_IMMUTABLE: Mapping[tuple[str, ...], str] = {  # of a LeaderWorkerSet
    ("groupIdentity",): "the API server refuses it",
    (
        "leaderWorkerTemplate",
        "volumeClaimTemplates",
    ): "the StatefulSets of its pods refuse it, so the rollout stands still",
}
_QUEUE = "kueue.x-k8s.io/queue-name"
_ADMITTED = {"resources", "ports", "nodeSelector", "affinity", "tolerations"}
_OPEN_SERVICES = ("LoadBalancer", "NodePort")
_AUTHENTICATION = ("apiKeyAuth", "jwt", "basicAuth", "oidc", "extAuth")


class Risk(Struct, frozen=True, order=True):
    """A risk: its kind (a key of KINDS), the object, and the message. In `marked_text` each name from the input stands
    between two NAME characters, so that a format can quote it.
    """

    kind: str
    key: ObjectKey
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


def find_risks(pairs: Iterable[ObjectPair], models: Iterable[ModelChange], before: Items, after: Items) -> list[Risk]:
    """All risks without duplicates, sorted by the order of KINDS and by object."""
    listed = list(pairs)
    removed = {pair.key for pair in listed if not pair.after}
    all_risks = [risk for pair in listed for risk in _object_risks(pair, removed)]
    followers = successors(models)
    all_risks += [risk for model in models for risk in _model_risks(model, followers.get(model.key, ()))]
    all_risks += _unlike_roles(models)
    all_risks += _lost_requests(listed, before)
    all_risks += _downloads(listed, models)
    all_risks += _unanswered_names(before, after)
    order = list(KINDS)
    return sorted(set(all_risks), key=lambda risk: (order.index(risk.kind), risk))


def _object_risks(pair: ObjectPair, removed: set[ObjectKey]) -> Iterator[Risk]:
    key = pair.key
    if is_workload(key, pair.after) and pair.before and pair.after and not pair.was:
        if fields := restarting_fields(pair.changes):
            text = ", ".join(map(_name, fields[:4])) + (f" and {len(fields) - 4} more" if len(fields) > 4 else "")
            together = ": all roles roll out together" if key.kind == disaggregated_sets.KIND else ""
            if _runs_pods(pair.before):
                yield Risk("restart", key, _rollout_of_groups(pair) + text + together)
        path = (*_TEMPLATE, "subGroupPolicy", "subGroupSize")
        old, new = value_at(pair.before, *path), value_at(pair.after, *path)
        if old != new:
            yield Risk(
                "immutable",
                key,
                f"subGroupSize {_name(_format_value(old))} → {_name(_format_value(new))}: the API server refuses it",
            )
        for what in _queue_refusals(pair):
            yield Risk("queue", key, what)
        for field, why in _IMMUTABLE.items():
            was, now = (value_at(body, "spec", *field) for body in (pair.before, pair.after))
            if not same(was, now):
                yield Risk("immutable", key, f"{field[-1]}: {why}")
    for kind, what in _new_pod_findings(pair):
        yield Risk(kind, key, what)
    if key.kind == _CLAIM and pair.after:
        yield from _claim_risks(pair)
    if key.kind == RIGHTS and not (_targets(pair.before) and _targets(pair.before) <= removed):
        for what in _access_gains(pair.before, pair.after):
            yield Risk("rights", key, what)
    elif key.kind == "ReferenceGrant":
        for what in _new_grants(pair.before, pair.after):
            yield Risk("rights", key, what)
    elif key.kind == "ClientTrafficPolicy":
        path = ("spec", "headers", "earlyRequestHeaders", "remove")
        allowed_headers = [header for header in list_at(pair.before, *path) if header not in list_at(pair.after, *path)]
        if allowed_headers and key not in removed:
            yield Risk("rights", key, f"clients may send {', '.join(map(_name, allowed_headers))} themselves")
    elif key.kind == "Service":
        old, new = (value_at(body, "spec", "type") for body in (pair.before, pair.after))
        if new in _OPEN_SERVICES and old != new:
            yield Risk("rights", key, f"of type {_name(new)}: clients outside the cluster get past the gateway")
    elif key.kind == "Gateway":
        for what in _listener_changes(pair.before, pair.after):
            yield Risk("listener", key, what)


def _rollout_of_groups(pair: ObjectPair) -> str:
    """How many groups of several hosts are replaced at a time, and what each needs; '' for replicas of one host."""
    old, new = (value_at(body, *_TEMPLATE, "size") or 1 for body in (pair.before, pair.after))
    if old == new == 1:
        return ""
    at_once = value_at(pair.after, *_ROLLOUT, "maxUnavailable") or 1
    groups = f"{_name(at_once)} group{'' if at_once == 1 else 's'}"
    if isinstance(at_once, str):
        groups = f"{_name(at_once)} of the groups"
    if old == new:
        return f"{groups} of {_name(new)} hosts at a time: "
    return f"{groups} at a time, on {_name(new)} host{'' if new == 1 else 's'} in the place of {_name(old)}: "


def _lost_requests(pairs: Iterable[ObjectPair], before: Items) -> Iterator[Risk]:
    """Services and pools that lead to leaders alone, and will lead to all pods: until the workers of today are gone,
    which do not answer, to these too.
    """
    for pair in pairs:
        if pair.key.kind not in _SELECTORS:
            continue
        old, new = (map_at(body, *_SELECTORS[pair.key.kind]) for body in (pair.before, pair.after))
        if wellknown.WORKER_INDEX not in old or wellknown.WORKER_INDEX in new or not new:
            continue
        for key, item in before.items():
            if key.namespace == pair.key.namespace and new.items() <= _worker_labels(key, item.body).items():
                what = f"leads to workers of {_name(key.name)} too, and those that are not rolled out yet do not answer"
                yield Risk("lost-requests", pair.key, what)


def _worker_labels(key: ObjectKey, body: Body) -> Mapping[str, object]:
    """The labels of workers beside leaders that alone answer requests; {} where there are none."""
    template = map_at(body, *_TEMPLATE)
    if key.kind != wellknown.LEADER_WORKER_SET or "leaderTemplate" not in template:
        return {}
    return {**map_at(template, "workerTemplate", "metadata", "labels"), wellknown.GROUPS: key.name}


def _runs_pods(body: Body) -> bool:
    """Whether a workload has replicas, as far as it says itself."""
    roles = disaggregated_sets.set_roles(body)
    counts = [role.spec.get("replicas") for role in roles] if roles else [value_at(body, "spec", "replicas")]
    return any(count != 0 for count in counts)


def _claim_risks(pair: ObjectPair) -> Iterator[Risk]:
    """What the API server refuses about a claim that is there, and that a new one stays."""
    size: Path = ("spec", "resources", "requests", "storage")
    old, new = value_at(pair.before, *size), value_at(pair.after, *size)
    if not pair.before:
        yield Risk("new-claim", pair.key, f"{_name(_format_value(new))}, which nothing deletes")
        return
    if _is_smaller(new, old):
        text = f"storage {_name(_format_value(old))} → {_name(_format_value(new))}: the API server refuses it"
        yield Risk("immutable", pair.key, text)
    for field in ("storageClassName", "accessModes"):
        old, new = value_at(pair.before, "spec", field), value_at(pair.after, "spec", field)
        if old != new:
            words = [
                _name(", ".join(map(str, value)) if isinstance(value, list) else _format_value(value))
                for value in (old, new)
            ]
            yield Risk("immutable", pair.key, f"{field} {words[0]} → {words[1]}: the API server refuses it")


def _is_smaller(new: object, old: object) -> bool:
    try:
        return quantity.nanos(new) < quantity.nanos(old)
    except ValueError:
        return False


def _downloads(pairs: Sequence[ObjectPair], models: Iterable[ModelChange]) -> Iterator[Risk]:
    """For each new Job that fills a cache: why it runs, or what it spares."""
    jobs = [pair for pair in pairs if pair.key.kind == "Job" and _component(pair.after or pair.before) == _CACHE]
    if not jobs:
        return
    old = {_owner(pair.before): pair.before for pair in jobs if (pair.before and not pair.after) or pair.was}
    pods: dict[tuple[str, str], int] = {}
    for model in models:
        if model.after and model.before and _CACHE_VOLUME in model.after.leader.volumes:
            place = model.key.namespace, model.after.name
            pods[place] = pods.get(place, 0) + model.after.high * model.after.size
    for pair in jobs:
        if not pair.after or (pair.before and not pair.was):
            continue
        owner = _owner(pair.after)
        if before := old.get(owner):
            revisions = [_loader_variable(body, "REVISION") for body in (before, pair.after)]
            changed = revisions[0] != revisions[1]
            why = f"the revision {_name(revisions[0])} → {_name(revisions[1])}" if changed else "another pod template"
            yield Risk("download", pair.key, f"{_name(owner[1])}: the Job runs again, for {why}")
        else:
            spared = f" instead of {pods[owner]} times" if pods.get(owner, 0) > 1 else ""
            size = value_at(pair.after, "metadata", "annotations", wellknown.WEIGHTS_SIZE)
            what = f"{_name(size)} GiB of {_name(owner[1])}" if size else _name(owner[1])
            yield Risk("download", pair.key, f"{what} once{spared}, and pods wait for it")


def _component(body: Body) -> object:
    return value_at(body, "metadata", "labels", wellknown.COMPONENT)


def _owner(body: Body) -> tuple[str, str]:
    """Namespace and model of a cache."""
    metadata = map_at(body, "metadata")
    return str(metadata.get("namespace", "")), str(value_at(metadata, "labels", wellknown.NAME))


def _loader_variable(body: Body, name: str) -> str:
    """The value of a variable of the Job's loader; '' without it."""
    for container in maps_at(body, "spec", "template", "spec", "initContainers"):
        for entry in maps_at(container, "env"):
            if entry.get("name") == name:
                return str(entry.get("value", ""))
    return ""


def _queue_refusals(pair: ObjectPair) -> Iterator[str]:
    """Messages about changes of a running workload that Kueue's webhook refuses."""
    old, new = (value_at(body, "metadata", "labels", _QUEUE) for body in (pair.before, pair.after))
    if new is None or value_at(pair.before, "spec", "replicas") == 0:
        return
    if old != new:
        yield f"queue {_name(_format_value(old))} → {_name(new)} while replicas run: delete the workload first"
        return
    fields = [change for change in pair.changes if _ADMITTED & set(change.path) and not _is_same_quantity(change)]
    if names := list(dict.fromkeys(_name(_shorten_path(change.path)) for change in fields)):
        yield f"{', '.join(names[:4])} of replicas that it has admitted: delete the workload first"


def _name(text: object) -> str:
    """A name from the input between NAME marks, its secrets hidden."""
    return f"{NAME}{hide_in_text(str(text)).replace(NAME, '')}{NAME}"


def _format_value(value: object) -> str:
    return "none" if value is None else str(value)


def restarting_fields(changes: Iterable[FieldChange]) -> list[str]:
    """Short names of the changed fields of a LeaderWorkerSet that cause its pods to be replaced.

    docs/design/delivery.md#comparing-two-states
    """
    fields: list[str] = []
    for change in changes:
        path = change.path
        if path[:2] == _ROLES:
            fields += _restarting_role_fields(path)
            continue
        copied = path[:2] == ("metadata", "annotations") and (path[2:] == () or path[2] in _COPIED)
        if path[:2] in _RESTARTS or path == ("spec",) or copied:
            if not (copied and path[2:] == ()) and not _is_same_quantity(change):
                fields.append(_shorten_path(path))
            elif copied and any(name in _keys(change) for name in _COPIED):
                fields.append("annotations")
    of_both = {f"{_LEADER}{field}" for field in fields}
    return [field for field in dict.fromkeys(fields) if field not in of_both]


def _restarting_role_fields(path: Path) -> Iterator[str]:
    """The short name of a changed field of a DisaggregatedSet's roles where it is part of what they are made of."""
    role = str(path[2]).strip("[]") if len(path) > 2 else ""
    if len(path) <= len(_ROLES) + 1:
        yield f"role {role}" if role else "roles"
    elif path[3:5] == _TEMPLATE:
        yield f"{_shorten_path(path[3:])} in {role}"


def _keys(change: FieldChange) -> set[str]:
    return {key for side in (change.before, change.after) if isinstance(side, dict) for key in side}


def _is_same_quantity(change: FieldChange) -> bool:
    """Whether both sides are the same quantity in two spellings, which LeaderWorkerSet's webhook makes equal."""
    if not _SIZES & set(change.path) or ABSENT in (change.before, change.after):
        return False
    try:
        return quantity.canonical(change.before) == quantity.canonical(change.after)
    except ValueError:
        return False


def _shorten_path(path: Path) -> str:
    """A path of the pod template in short: `args of model-runner`, `size`."""
    rest = (
        [str(part) for part in path[2:] if part not in ("spec", "metadata")]
        if path[:2] in (_TEMPLATE, _DEPLOYED)
        else list(path[1:])
    )
    role = _LEADER if rest[:1] == ["leaderTemplate"] else ""
    if rest[:1] in (["leaderTemplate"], ["workerTemplate"]):
        rest = rest[1:]
    if rest[:1] in (["containers"], ["initContainers"]) and len(rest) > 2:
        name = str(rest[1]).strip("[]")
        inner = str(rest[3]).strip("[]") if rest[2] == "env" and len(rest) > 3 and str(rest[3]) != "[*]" else ""
        return f"{role}{rest[2]}{f' {inner}' if inner else ''} of {name}"
    return role + (" ".join(str(part).strip("[]") for part in rest[:2] if part != "[*]") or "the whole template")


def _new_pod_findings(pair: ObjectPair) -> Iterator[tuple[str, str]]:
    """Kind and message of new hostPath volumes, plaintext secrets and floating tags."""
    if now := dict.fromkeys(_pod_findings(pair.after)):
        old = {(kind, word) for kind, word, _ in _pod_findings(pair.before)}
        yield from ((kind, what) for kind, word, what in now if (kind, word) not in old)


def _pod_findings(value: object) -> Iterator[tuple[str, str, str]]:
    """Kind, identity and message of every hostPath, plaintext secret and floating tag in a value, at any depth. The
    identity of a secret is its value, which never appears in the message.
    """
    if isinstance(value, dict):
        if isinstance(path := value_at(value, "hostPath", "path"), str):
            yield "host-path", path, f"volume {_name(value.get('name', ''))} is {_name(path)} of the node"
        if is_literal_secret(value.get("name"), value.get("value")):
            name = value["name"]
            yield (
                "plaintext-secret",
                f"{name}={value['value']}",
                f"env {_name(name)} is written out; use a secretKeyRef",
            )
        elif isinstance(name := value.get("name"), str):
            for userinfo in find_url_secrets(value.get("value")):
                yield "plaintext-secret", f"{name}={userinfo}", f"env {_name(name)} holds a URL with a password"
        for field in ("image", "reference"):
            image = value.get(field)
            if isinstance(image, str) and "name" in value and is_floating(image):
                yield "floating-tag", image, f"{_name(image)} names no fixed image"
            elif field == "image" and isinstance(image, dict) and is_floating(str(image.get("reference", "1:1"))):
                yield "floating-tag", str(image["reference"]), f"{_name(image['reference'])} names no fixed image"
        for item in value.values():
            yield from _pod_findings(item)
    elif isinstance(value, list):
        for _, option, secret in find_secrets(value):
            what = f"option {_name(option)} is written out; use an env of a Secret"
            yield "plaintext-secret", f"{option}={secret}", what
        option = ""
        for item in value:
            if isinstance(item, str) and item.startswith("-"):
                option = item.partition("=")[0]
            for userinfo in find_url_secrets(item):
                what = f"option {_name(option)}" if option else "an argument"
                yield "plaintext-secret", f"{option}={userinfo}", f"{what} holds a URL with a password"
            yield from _pod_findings(item)


def is_floating(image: str) -> bool:
    """Whether the image reference can point to another image later: no digest, and a tag such as `latest` or none."""
    if "@" in image or not image:
        return False
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return not colon or bool(_MOVING.match(tag))


def _targets(policy: Body) -> set[ObjectKey]:
    """The keys of the routes and Gateways that a policy targets; an HTTPRoute counts as its AIGatewayRoute."""
    namespace = str(value_at(policy, "metadata", "namespace") or "")
    targets = set()
    for reference in maps_at(policy, "spec", "targetRefs"):
        kind, group = str(reference.get("kind")), str(reference.get("group"))
        if kind == "HTTPRoute":
            kind, group = ROUTE, "aigateway.envoyproxy.io"
        targets.add(ObjectKey(group, kind, namespace, str(reference.get("name"))))
    return targets


def _access_gains(before: Body, after: Body) -> Iterator[str]:
    """Messages about what a SecurityPolicy allows now and did not before."""
    if not before:
        return
    if not after:
        yield "the policy is gone: whoever the Gateway lets in may call"
        return
    old, new = map_at(before, "spec"), map_at(after, "spec")
    for key in sorted(_targets(before) - _targets(after)):
        yield f"it no longer acts on {_name(key)}"
    for field in _AUTHENTICATION:
        if field in old and field not in new:
            yield f"{field} is gone"
    was, now = map_at(old, "authorization"), map_at(new, "authorization")
    if was and not now:
        yield "authorization is gone: everybody who is known may call"
    elif was.get("defaultAction", "Deny") == "Deny" and now.get("defaultAction", "Deny") == "Allow" and was:
        yield "defaultAction Deny → Allow"
    elif was and (
        more := [shown for principal, shown in _principals(now).items() if principal not in _principals(was)]
    ):
        yield f"also for {', '.join(map(_name, more))}"


def _principals(authorization: Body) -> dict[str, str]:
    """The principals that may call (header values, JWT claims, networks), each with its form without secrets."""
    principals: dict[str, str] = {}
    for rule in maps_at(authorization, "rules"):
        if rule.get("action", "Allow") == "Allow":
            principal = rule.get("principal")
            principals |= zip(_texts(principal), _texts(hide_secrets(principal)), strict=True)
    return principals


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for key, item in value.items() if key not in ("name", "provider") for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [str(value)]


def _new_grants(before: Body, after: Body) -> Iterator[str]:
    old = maps_at(before, "spec", "from")
    for source in maps_at(after, "spec", "from"):
        if not any(same(source, previous) for previous in old):
            what = " and ".join(
                _name(f"{target.get('kind')} {target.get('name', '*')}") for target in maps_at(after, "spec", "to")
            )
            yield f"{_name(source.get('kind'))} of namespace {_name(source.get('namespace'))} may use {what}"


def _listener_changes(before: Body, after: Body) -> Iterator[str]:
    old, new = (
        {str(listener.get("name")): listener for listener in maps_at(body, "spec", "listeners")}
        for body in (before, after)
    )
    if not before or not after:
        yield f"the Gateway is {'gone' if before else 'new'}: {', '.join(map(_name, [*old, *new])) or 'no listener'}"
        return
    for name in dict.fromkeys([*old, *new]):
        if name not in new:
            yield f"{_name(name)} is gone"
        elif name not in old:
            yield f"{_name(name)} is new"
        elif not same(old[name], new[name]):
            fields = [key for key in {**old[name], **new[name]} if not same(old[name].get(key), new[name].get(key))]
            yield f"{_name(name)}: {', '.join(map(_name, fields))}"


def _model_risks(change: ModelChange, followers: Sequence[ModelChange]) -> Iterator[Risk]:
    """The risks of a model; `followers`: what comes in the place of one that is gone."""
    before, after, key = change.before, change.after, change.object_key
    model = after or before
    role = f" in {_name(model.role)}" if model and key != change.key else ""
    keys = dict.fromkeys(other.object_key for other in followers if other.object_key != key)
    if names := [_name(other if other.place == key.place else other.place) for other in keys]:
        have = "has" if len(names) == 1 else "have"
        what = f"the {key.kind} is deleted at once with its pods, and {' and '.join(names)} {have} to load first"
        yield Risk("replaced", key, what)
        return
    if before and not after:
        yield Risk("model-deleted", key, f"{_plural(before.high)} of {_name(before.name or change.key.name)}{role}")
        return
    if not before or not after:
        return
    if change.was and change.was.kind != change.key.kind:
        what = f"the {change.was.kind} is deleted at once with its pods, and the {change.key.kind} has to load first"
        yield Risk("replaced", key, what)
    elif old := change.renamed_from:
        what = f"{_name(old.place)} is deleted at once, and this one has to load first"
        yield Risk("renamed", key, what)
        return
    if before.scaled and after.scaled and before.scaler != after.scaler:
        yield Risk("autoscaler", key, _TAKEOVERS.get(after.scaler, "") + role)
    if before.spec_replicas is not None and after.spec_replicas is None and before.spec_replicas > 1:
        yield Risk(
            "hand-over", key, f"replicas {before.spec_replicas} → left out: 1 runs until the autoscaler acts{role}"
        )
    elif before.high > 0 and after.high == 0:
        yield Risk("scale-to-zero", key, f"replicas {before.replicas} → 0{role}")
    elif before.low > 0 and after.low == 0:
        yield Risk("scale-to-zero", key, f"replicas {before.replicas} → {after.replicas}{role}")
    elif (before.low > 1 and after.low == 1) or (before.high > 1 and after.high == 1):
        yield Risk("scale-to-one", key, f"replicas {before.replicas} → {after.replicas}{role}")


def _unlike_roles(models: Iterable[ModelChange]) -> Iterator[Risk]:
    """What both LeaderWorkerSets of an app have to have alike, and have not while they are updated."""
    for prefill, decode, names in rolling_pairs(models):
        text = f"{', '.join(map(_name, names))}: requests may fail until both are done"
        yield from (Risk("roles", change.key, text) for change in (prefill, decode))


def _plural(replicas: int) -> str:
    return f"{replicas} replica{'' if replicas == 1 else 's'}"


def _unanswered_names(before: Items, after: Items) -> Iterator[Risk]:
    """Risks for public names that lose their last backend: everywhere, or on one Gateway or host."""
    removed = {(key.namespace, key.name) for key in before if key.kind == "AIServiceBackend" and key not in after}
    new: dict[str, list[PublicName]] = {}
    for name in public_names(after):
        new.setdefault(name.name, []).append(name)
    for was in public_names(before):
        if not _has_backend(was, set()):
            continue
        same_name = new.get(was.name, [])
        remaining = [public for public in same_name if _has_backend(public, removed)]
        if not same_name:
            yield Risk("no-backend", was.route, f"nobody answers to {_name(was.name)} any more")
        elif not remaining:
            route = was.route if was.route in {public.route for public in same_name} else same_name[0].route
            yield Risk("no-backend", route, f"{_name(was.name)} has no backend left that takes requests")
        else:
            for where in _lost_places(was, remaining):
                yield Risk("no-backend", was.route, f"nobody answers to {_name(was.name)} at {where} any more")


def _has_backend(public: PublicName, removed: set[tuple[str, str]]) -> bool:
    has_backend = (
        (leg.weight > 0 or leg.pool) and (public.route.namespace, to) not in removed for to, leg in public.legs.items()
    )
    return any(has_backend)


def _lost_places(was: PublicName, remaining: Sequence[PublicName]) -> Iterator[str]:
    """The Gateways, and hosts of Gateways, where no route in `remaining` serves the name any more."""
    for gateway in was.gateways:
        at_gateway = [public for public in remaining if gateway in public.gateways]
        hosts = dict.fromkeys(host for public in at_gateway for host in public.hosts)
        if not at_gateway:
            yield f"Gateway {_name(gateway)}"
        elif all(public.hosts for public in at_gateway):
            if not was.hosts:
                yield f"Gateway {_name(gateway)}, but for {', '.join(map(_name, hosts))},"
            for host in was.hosts:
                if not any(_covers(pattern, host) for pattern in hosts):
                    yield f"{_name(host)} of Gateway {_name(gateway)}"


def _covers(pattern: str, host: str) -> bool:
    return pattern == host or (pattern.startswith("*.") and host.endswith(pattern[1:]))
