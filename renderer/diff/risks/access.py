"""Who may call, who may use what is in another namespace, and where a Gateway listens."""

from __future__ import annotations

from collections.abc import Iterator, Set

from renderer.diff.fields import same
from renderer.diff.objects import Body, ObjectKey
from renderer.diff.risks.kinds import ObjectPair, Risk, marked
from renderer.diff.traffic import RIGHTS, ROUTE
from renderer.kubernetes.json_values import list_at, map_at, maps_at, value_at
from renderer.secrets.detection import hide_secrets

OPEN_SERVICES = ("LoadBalancer", "NodePort")
AUTHENTICATION = ("apiKeyAuth", "jwt", "basicAuth", "oidc", "extAuth")


def access_risks(pair: ObjectPair, removed: Set[ObjectKey]) -> Iterator[Risk]:
    """Access that the object opens; `removed`: the objects that are gone."""
    key = pair.key
    if key.kind == RIGHTS and not (_targets(pair.before) and _targets(pair.before) <= removed):
        messages = _access_gains(pair.before, pair.after)
    elif key.kind == "ReferenceGrant":
        messages = _new_grants(pair.before, pair.after)
    elif key.kind == "ClientTrafficPolicy" and key not in removed:
        messages = _allowed_headers(pair.before, pair.after)
    elif key.kind == "Service":
        messages = _opened_service(pair.before, pair.after)
    else:
        return
    yield from (Risk("rights", key, message) for message in messages)


def listener_risks(pair: ObjectPair) -> Iterator[Risk]:
    """Listeners of a Gateway that are new, gone or changed."""
    if pair.key.kind == "Gateway":
        yield from (Risk(kind, pair.key, what) for kind, what in _listener_changes(pair.before, pair.after))


def policy_risks(pair: ObjectPair) -> Iterator[Risk]:
    """Whom a NetworkPolicy lets in now, or its pods out to, and did not before, and the other way round."""
    if pair.key.kind != "NetworkPolicy":
        return
    old, new = _allowed(pair.before), _allowed(pair.after)
    state = "the policy is gone" if not pair.after else "the policy is new" if not pair.before else "policyTypes"
    for way in dict.fromkeys([*old, *new]):
        word, all_of_them, only = _WAYS[way]
        if way not in new:
            yield _opened(pair, f"{state}: {all_of_them}")
        elif way not in old:
            peers = f": {', '.join(map(marked, new[way]))}" if way == "Egress" and new[way] else ""
            yield _closed(pair, way, f"{state}: the pods that it selects {only}{peers}")
        else:
            if lost := [peer for peer in old[way] if peer not in new[way]]:
                yield _closed(pair, way, f"no longer {word} {', '.join(map(marked, lost))}")
            if added := [peer for peer in new[way] if peer not in old[way]]:
                yield _opened(pair, f"also {word} {', '.join(map(marked, added))}")


# By policy type: the word before a peer, what a policy that is gone allows, and what a new one leaves.
_WAYS = {
    "Ingress": (
        "from",
        "anyone who reaches the pods that it selected may connect",
        "take connections only from its peers",
    ),
    "Egress": ("to", "the pods that it selected may connect to anything", "connect only to its peers"),
}
_EGRESS_REMEDY = (
    f"allow in {marked('egress')} what the pods need: DNS, where weights come from, and the other pods of a group"
)


def _closed(pair: ObjectPair, way: str, message: str) -> Risk:
    return Risk("closed", pair.key, message, _EGRESS_REMEDY if way == "Egress" else "")


def _opened(pair: ObjectPair, message: str) -> Risk:
    remedy = f"keep {marked('pods.networkPolicy')} as it was, unless this access is wanted"
    return Risk("rights", pair.key, message, remedy)


def _allowed(policy: Body) -> dict[str, list[str]]:
    """Who may connect, and to whom its pods may, each peer in words, by the types of the policy."""
    spec = map_at(policy, "spec")
    types = list_at(spec, "policyTypes") or ["Ingress", *(["Egress"] if "egress" in spec else [])]
    ways = {"Ingress": ("ingress", "from"), "Egress": ("egress", "to")}
    return {way: _peers(spec, *ways[way]) for way in ways if policy and way in types}


def _peers(spec: Body, rules: str, field: str) -> list[str]:
    """The peers of rules of a policy, in words."""
    at, everybody = ("to", "everybody") if field == "from" else ("at", "anything")
    peers: list[str] = []
    for rule in maps_at(spec, rules):
        ports = [str(port.get("port", "any port")) for port in maps_at(rule, "ports")]
        to_ports = f" {at} {' and '.join(ports)}" if ports else ""
        peers += [f"{_peer(peer)}{to_ports}" for peer in maps_at(rule, field)] or [f"{everybody}{to_ports}"]
    return peers


def _peer(peer: Body) -> str:
    """A peer in words, such as `pods app=web of namespaces team=a`."""
    if block := map_at(peer, "ipBlock"):
        excluded = " and ".join(map(str, list_at(block, "except")))
        return f"{block.get('cidr')}{f' without {excluded}' if excluded else ''}"
    pods, namespaces = (_labels(map_at(peer, field)) for field in ("podSelector", "namespaceSelector"))
    words = [f"pods {pods}" if pods else "pods"] if pods or "podSelector" in peer else []
    if "namespaceSelector" in peer:
        words.append(f"namespaces {namespaces}" if namespaces else "all namespaces")
    return " of ".join(words)


def _labels(selector: Body) -> str:
    labels = [f"{key}={value}" for key, value in map_at(selector, "matchLabels").items()]
    for expression in maps_at(selector, "matchExpressions"):
        values = ", ".join(map(str, list_at(expression, "values")))
        labels.append(f"{expression.get('key')} {expression.get('operator')}{f' {values}' if values else ''}")
    return " and ".join(labels)


def _allowed_headers(before: Body, after: Body) -> Iterator[str]:
    path = ("spec", "headers", "earlyRequestHeaders", "remove")
    if headers := [header for header in list_at(before, *path) if header not in list_at(after, *path)]:
        yield f"clients may send {', '.join(map(marked, headers))} themselves"


def _opened_service(before: Body, after: Body) -> Iterator[str]:
    old, new = (value_at(body, "spec", "type") for body in (before, after))
    if new in OPEN_SERVICES and old != new:
        yield f"of type {marked(new)}: clients outside the cluster get past the gateway"


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
        yield "the policy is gone: any client that the Gateway lets in may call"
        return
    old, new = map_at(before, "spec"), map_at(after, "spec")
    for key in sorted(_targets(before) - _targets(after)):
        yield f"it no longer acts on {marked(key)}"
    for field in AUTHENTICATION:
        if field in old and field not in new:
            yield f"{field} is gone"
    was, now = map_at(old, "authorization"), map_at(new, "authorization")
    if was and not now:
        yield "authorization is gone: every authenticated client may call"
    elif was.get("defaultAction", "Deny") == "Deny" and now.get("defaultAction", "Deny") == "Allow" and was:
        yield "defaultAction Deny → Allow"
    elif was and (
        more := [shown for principal, shown in _principals(now).items() if principal not in _principals(was)]
    ):
        yield f"also for {', '.join(map(marked, more))}"


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
                marked(f"{target.get('kind')} {target.get('name', '*')}") for target in maps_at(after, "spec", "to")
            )
            yield f"{marked(source.get('kind'))} of namespace {marked(source.get('namespace'))} may use {what}"


def _listener_changes(before: Body, after: Body) -> Iterator[tuple[str, str]]:
    """The kind of risk, and a message."""
    old, new = (
        {str(listener.get("name")): listener for listener in maps_at(body, "spec", "listeners")}
        for body in (before, after)
    )
    if not before or not after:
        kind, state = ("listener-gone", "gone") if before else ("listener", "new")
        yield kind, f"the Gateway is {state}: {', '.join(map(marked, [*old, *new])) or 'no listener'}"
        return
    for name in dict.fromkeys([*old, *new]):
        if name not in new:
            yield "listener-gone", f"{marked(name)} is gone"
        elif name not in old:
            yield "listener", f"{marked(name)} is new"
        elif not same(old[name], new[name]):
            fields = [key for key in {**old[name], **new[name]} if not same(old[name].get(key), new[name].get(key))]
            yield "listener", f"{marked(name)}: {', '.join(map(marked, fields))}"
