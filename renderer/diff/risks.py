"""What a change does that somebody should know before it is merged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from renderer import quantity
from renderer.diff.fields import ABSENT, Change, same
from renderer.diff.models import ModelChange
from renderer.diff.objects import WORKLOAD, Body, Items, Key, at, items_of, maps, table
from renderer.diff.traffic import RIGHTS, ROUTE, Public, names
from renderer.problems import Path
from renderer.records import NamedTuple
from renderer.secrets import hidden_in_text, literal, secrets_in, url_secrets, veiled

# In the order in which they are said: what cannot be taken back, or is not seen, first.
KINDS = {
    "model-deleted": "model deleted",
    "no-backend": "a route loses its last backend",
    "immutable": "immutable field",
    "rights": "opens access",
    "plaintext-secret": "plaintext secret",
    "hand-over": "scales to 1 (hand-over to an autoscaler)",
    "scale-to-zero": "scales to zero",
    "scale-to-one": "scales to 1",
    "renamed": "renamed",
    "listener": "Gateway listener",
    "host-path": "hostPath",
    "floating-tag": "floating tag",
    "restart": "restarts pods",
}
STANDING = ("rights", "plaintext-secret", "host-path", "floating-tag")  # they hold of a side, and not of a step to it
NAME = "\0"  # no YAML holds it
_TEMPLATE: Path = ("spec", "leaderWorkerTemplate")
_RESTARTS = (_TEMPLATE, ("spec", "networkConfig"))
_COPIED = tuple(f"leaderworkerset.sigs.k8s.io/{word}exclusive-topology" for word in ("", "subgroup-"))
_MOVING = re.compile(r"(?:latest|nightly|main|master|dev|edge|stable)\b|[^0-9]+$")
_SIZES = {"limits", "requests", "sizeLimit"}
_AUTHENTICATION = ("apiKeyAuth", "jwt", "basicAuth", "oidc", "extAuth")


class Risk(NamedTuple):
    """A risk: its kind (a key of KINDS), the object, and what there is to say. In `said` a name of the input's stands
    between two NAMEs.
    """

    kind: str
    key: Key
    said: str

    @property
    def what(self) -> str:
        """The words alone."""
        return self.said.replace(NAME, "")


class Pair(NamedTuple):
    """An object on both sides, {} where it is not, and the fields in which a workload differs, with its secrets."""

    key: Key
    was: Key | None
    before: Body
    after: Body
    changes: Sequence[Change]


def risks(pairs: Iterable[Pair], models: Iterable[ModelChange], before: Items, after: Items) -> list[Risk]:
    """Every risk, by kind and object, each once."""
    listed = list(pairs)
    gone = {pair.key for pair in listed if not pair.after}
    found = [risk for pair in listed for risk in _of_object(pair, gone)]
    found += [risk for each in models for risk in _of_model(each)]
    found += _nobody_left(before, after)
    order = list(KINDS)
    return sorted(set(found), key=lambda risk: (order.index(risk.kind), risk))


def _of_object(pair: Pair, gone: set[Key]) -> Iterator[Risk]:
    key = pair.key
    if key.kind == WORKLOAD and pair.before and pair.after and not pair.was:
        if fields := restarting(pair.changes):
            most = ", ".join(map(_name, fields[:4])) + (f" and {len(fields) - 4} more" if len(fields) > 4 else "")
            if at(pair.before, "spec", "replicas") != 0:
                yield Risk("restart", key, most)
        path = (*_TEMPLATE, "subGroupPolicy", "subGroupSize")
        old, new = at(pair.before, *path), at(pair.after, *path)
        if old != new:
            yield Risk(
                "immutable", key, f"subGroupSize {_name(_word(old))} → {_name(_word(new))}: the API server refuses it"
            )
    for kind, what in _pods(pair):
        yield Risk(kind, key, what)
    if key.kind == RIGHTS and not (_targets(pair.before) and _targets(pair.before) <= gone):
        for what in _opened(pair.before, pair.after):
            yield Risk("rights", key, what)
    elif key.kind == "ReferenceGrant":
        for what in _granted(pair.before, pair.after):
            yield Risk("rights", key, what)
    elif key.kind == "ClientTrafficPolicy":
        path = ("spec", "headers", "earlyRequestHeaders", "remove")
        left = [each for each in items_of(pair.before, *path) if each not in items_of(pair.after, *path)]
        if left and key not in gone:
            yield Risk("rights", key, f"clients may send {', '.join(map(_name, left))} themselves")
    elif key.kind == "Gateway":
        for what in _listeners(pair.before, pair.after):
            yield Risk("listener", key, what)


def _name(text: object) -> str:
    """A word of the input's, marked, without secrets."""
    return f"{NAME}{hidden_in_text(str(text)).replace(NAME, '')}{NAME}"


def _word(value: Any) -> str:
    return "none" if value is None else str(value)


def restarting(changes: Iterable[Change]) -> list[str]:
    """The fields of a LeaderWorkerSet whose change replaces its pods; shortened, since all lie in its template."""
    found = []
    for change in changes:
        path = change.path
        copied = path[:2] == ("metadata", "annotations") and (path[2:] == () or path[2] in _COPIED)
        if path[:2] in _RESTARTS or path == ("spec",) or copied:
            if not (copied and path[2:] == ()) and not _respelt(change):
                found.append(_short(path))
            elif copied and any(name in _keys(change) for name in _COPIED):
                found.append("annotations")
    return list(dict.fromkeys(found))


def _keys(change: Change) -> set[str]:
    return {key for side in (change.before, change.after) if isinstance(side, dict) for key in side}


def _respelt(change: Change) -> bool:
    """Whether both sides are one quantity, which LeaderWorkerSet's webhook spells the same."""
    if not _SIZES & set(change.path) or ABSENT in (change.before, change.after):
        return False
    try:
        return quantity.canonical(change.before) == quantity.canonical(change.after)
    except ValueError:
        return False


def _short(path: Path) -> str:
    """The part of a path that tells: `args of model-runner`, `size`."""
    rest = (
        [str(part) for part in path[2:] if part not in ("spec", "metadata")]
        if path[:2] == _TEMPLATE
        else list(path[1:])
    )
    role = "leader: " if rest[:1] == ["leaderTemplate"] else ""
    if rest[:1] in (["leaderTemplate"], ["workerTemplate"]):
        rest = rest[1:]
    if rest[:1] in (["containers"], ["initContainers"]) and len(rest) > 2:
        name = str(rest[1]).strip("[]")
        inner = str(rest[3]).strip("[]") if rest[2] == "env" and len(rest) > 3 and str(rest[3]) != "[*]" else ""
        return f"{role}{rest[2]}{f' {inner}' if inner else ''} of {name}"
    return role + (" ".join(str(part).strip("[]") for part in rest[:2] if part != "[*]") or "the whole template")


def _pods(pair: Pair) -> Iterator[tuple[str, str]]:
    """hostPath volumes, secrets and floating tags that were not there before."""
    if now := dict.fromkeys(_found(pair.after)):
        old = {(kind, word) for kind, word, _ in _found(pair.before)}
        yield from ((kind, what) for kind, word, what in now if (kind, word) not in old)


def _found(value: Any) -> Iterator[tuple[str, str, str]]:
    """Kind, what tells it apart, and what to say, of everything below. A secret is told apart by its value, and never
    said.
    """
    if isinstance(value, dict):
        if isinstance(path := at(value, "hostPath", "path"), str):
            yield "host-path", path, f"volume {_name(value.get('name', ''))} is {_name(path)} of the node"
        if literal(value.get("name"), value.get("value")):
            name = value["name"]
            yield (
                "plaintext-secret",
                f"{name}={value['value']}",
                f"env {_name(name)} is written out; use a secretKeyRef",
            )
        elif isinstance(name := value.get("name"), str):
            for each in url_secrets(value.get("value")):
                yield "plaintext-secret", f"{name}={each}", f"env {_name(name)} holds a URL with a password"
        for field in ("image", "reference"):
            image = value.get(field)
            if isinstance(image, str) and "name" in value and floating(image):
                yield "floating-tag", image, f"{_name(image)} names no fixed image"
            elif field == "image" and isinstance(image, dict) and floating(str(image.get("reference", "1:1"))):
                yield "floating-tag", str(image["reference"]), f"{_name(image['reference'])} names no fixed image"
        for each in value.values():
            yield from _found(each)
    elif isinstance(value, list):
        for _, option, secret in secrets_in(value):
            what = f"option {_name(option)} is written out; use an env of a Secret"
            yield "plaintext-secret", f"{option}={secret}", what
        option = ""
        for each in value:
            if isinstance(each, str) and each.startswith("-"):
                option = each.partition("=")[0]
            for userinfo in url_secrets(each):
                what = f"option {_name(option)}" if option else "an argument"
                yield "plaintext-secret", f"{option}={userinfo}", f"{what} holds a URL with a password"
            yield from _found(each)


def floating(image: str) -> bool:
    """Whether somebody may put another image behind this reference."""
    if "@" in image or not image:
        return False
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return not colon or bool(_MOVING.match(tag))


def _targets(policy: Body) -> set[Key]:
    """The routes and Gateways that a policy acts on; an HTTPRoute is that of its AIGatewayRoute."""
    namespace = str(at(policy, "metadata", "namespace") or "")
    found = set()
    for each in maps(policy, "spec", "targetRefs"):
        kind, group = str(each.get("kind")), str(each.get("group"))
        if kind == "HTTPRoute":
            kind, group = ROUTE, "aigateway.envoyproxy.io"
        found.add(Key(group, kind, namespace, str(each.get("name"))))
    return found


def _opened(before: Body, after: Body) -> Iterator[str]:
    """How a SecurityPolicy lets in more than before."""
    if not before:
        return
    if not after:
        yield "the policy is gone: whoever the Gateway lets in may call"
        return
    old, new = table(before, "spec"), table(after, "spec")
    for key in sorted(_targets(before) - _targets(after)):
        yield f"it no longer acts on {_name(key)}"
    for field in _AUTHENTICATION:
        if field in old and field not in new:
            yield f"{field} is gone"
    was, now = table(old, "authorization"), table(new, "authorization")
    if was and not now:
        yield "authorization is gone: everybody who is known may call"
    elif was.get("defaultAction", "Deny") == "Deny" and now.get("defaultAction", "Deny") == "Allow" and was:
        yield "defaultAction Deny → Allow"
    elif was and (more := [shown for each, shown in _principals(now).items() if each not in _principals(was)]):
        yield f"also for {', '.join(map(_name, more))}"


def _principals(authorization: Body) -> dict[str, str]:
    """Who may call, and how that is shown: values of headers, JWT claims, networks."""
    found: dict[str, str] = {}
    for rule in maps(authorization, "rules"):
        if rule.get("action", "Allow") == "Allow":
            principal = rule.get("principal")
            found |= zip(_texts(principal), _texts(veiled(principal)), strict=True)
    return found


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for key, each in value.items() if key not in ("name", "provider") for text in _texts(each)]
    if isinstance(value, list):
        return [text for each in value for text in _texts(each)]
    return [str(value)]


def _granted(before: Body, after: Body) -> Iterator[str]:
    old = maps(before, "spec", "from")
    for each in maps(after, "spec", "from"):
        if not any(same(each, one) for one in old):
            what = " and ".join(_name(f"{to.get('kind')} {to.get('name', '*')}") for to in maps(after, "spec", "to"))
            yield f"{_name(each.get('kind'))} of namespace {_name(each.get('namespace'))} may use {what}"


def _listeners(before: Body, after: Body) -> Iterator[str]:
    old, new = ({str(each.get("name")): each for each in maps(body, "spec", "listeners")} for body in (before, after))
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


def _of_model(each: ModelChange) -> Iterator[Risk]:
    before, after = each.before, each.after
    if before and not after:
        yield Risk("model-deleted", each.key, f"{_plural(before.high)} of {_name(before.name or each.key.name)}")
        return
    if not before or not after:
        return
    if each.state == "renamed" and each.was:
        what = f"{_name(each.was.place)} is deleted at once, and this one has to load first"
        yield Risk("renamed", each.key, what)
        return
    if before.fixed is not None and after.fixed is None and before.fixed > 1:
        yield Risk("hand-over", each.key, f"replicas {before.fixed} → left out: 1 runs until the autoscaler acts")
    elif before.high > 0 and after.high == 0:
        yield Risk("scale-to-zero", each.key, f"replicas {before.replicas} → 0")
    elif before.low > 0 and after.low == 0:
        yield Risk("scale-to-zero", each.key, f"replicas {before.replicas} → {after.replicas}")
    elif (before.low > 1 and after.low == 1) or (before.high > 1 and after.high == 1):
        yield Risk("scale-to-one", each.key, f"replicas {before.replicas} → {after.replicas}")


def _plural(replicas: int) -> str:
    return f"{replicas} replica{'' if replicas == 1 else 's'}"


def _nobody_left(before: Items, after: Items) -> Iterator[Risk]:
    """Public names that somebody answered, and nobody does any more: anywhere, or at a Gateway or host."""
    gone = {(key.namespace, key.name) for key in before if key.kind == "AIServiceBackend" and key not in after}
    new: dict[str, list[Public]] = {}
    for each in names(after):
        new.setdefault(each.name, []).append(each)
    for was in names(before):
        if not _answered(was, set()):
            continue
        now = new.get(was.name, [])
        there = [each for each in now if _answered(each, gone)]
        if not now:
            yield Risk("no-backend", was.route, f"nobody answers to {_name(was.name)} any more")
        elif not there:
            route = was.route if was.route in {each.route for each in now} else now[0].route
            yield Risk("no-backend", route, f"{_name(was.name)} has no backend left that takes requests")
        else:
            for where in _left(was, there):
                yield Risk("no-backend", was.route, f"nobody answers to {_name(was.name)} at {where} any more")


def _answered(public: Public, gone: set[tuple[str, str]]) -> bool:
    there = (
        (leg.weight > 0 or leg.pool) and (public.route.namespace, to) not in gone for to, leg in public.legs.items()
    )
    return any(there)


def _left(was: Public, there: Sequence[Public]) -> Iterator[str]:
    """The Gateways, and hosts of a Gateway, where a name is no longer answered."""
    for gateway in was.gateways:
        here = [each for each in there if gateway in each.gateways]
        hosts = dict.fromkeys(host for each in here for host in each.hosts)
        if not here:
            yield f"Gateway {_name(gateway)}"
        elif all(each.hosts for each in here):
            if not was.hosts:
                yield f"Gateway {_name(gateway)}, but for {', '.join(map(_name, hosts))},"
            for host in was.hosts:
                if not any(_covers(each, host) for each in hosts):
                    yield f"{_name(host)} of Gateway {_name(gateway)}"


def _covers(pattern: str, host: str) -> bool:
    return pattern == host or (pattern.startswith("*.") and host.endswith(pattern[1:]))
