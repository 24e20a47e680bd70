"""The rules in CEL that CRDs hold (`x-kubernetes-validations`), judged as an API server does when an object is new; and
for the same kinds, that no two items of a list have the same key.

What the rules of a kind can see of an object was worked out when the schemas were made. An object is reduced to that,
and whatever looks alike is judged once: of 10,000 routes nearly all do.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from renderer import schema
from renderer.check.finding import Body, Finding
from renderer.problems import Path


def _routed(*backends: Any) -> Any:
    """What rules see of a route of ours over such backends."""
    rule = {
        "matches": [{"headers": [{"name": "x-ai-eg-model"}]}],
        "backendRefs": [*backends],
        "timeouts": {"request": "300s"},
    }
    return {"spec": {"parentRefs": [{"kind": "Gateway"}], "rules": [rule]}}


def _aimed(kind: str, **more: Any) -> Any:
    """What rules see of a policy for something of Gateway API."""
    return {"spec": {"targetRefs": [{"group": "gateway.networking.k8s.io", "kind": kind}], **more}}


def _keyed(kind: str, field: str, seen: Any = True) -> Any:
    """What rules see of a provider's key."""
    target = {"group": "aigateway.envoyproxy.io", "kind": "AIServiceBackend"}
    return {"spec": {"targetRefs": [target], "type": kind, field: seen}}


_ENDPOINTS = {"type": "Endpoints", "endpoints": [{"fqdn": True}]}
_BY_KEY = {"extractFrom": [{"headers": True}]}
_ALLOWED = {"rules": [{"principal": {"headers": True}}]}

# What rules see of nearly every object that we render. They take it, as a test finds out each time, so that no run
# without anything rare has to bring CEL up.
TAKEN: Mapping[str, Sequence[Any]] = {
    "cel/gateway.envoyproxy.io/backend_v1alpha1": ({"spec": _ENDPOINTS},),
    "cel/aigateway.envoyproxy.io/aiservicebackend_v1beta1": (
        {"spec": {"backendRef": {"group": "gateway.envoyproxy.io", "kind": "Backend"}}},
    ),
    "cel/aigateway.envoyproxy.io/aigatewayroute_v1beta1": (
        _routed({}),
        _routed({"group": "inference.networking.k8s.io", "kind": "InferencePool"}),
    ),
}
# The same of others that we render, which are not so many that a schema of their own would be worth while.
ALSO_TAKEN: Mapping[str, Sequence[Any]] = {
    "cel/inference.networking.k8s.io/inferencepool_v1": (
        {"spec": {"targetPorts": [{"number": 8080}], "endpointPickerRef": {"kind": "Service", "port": True}}},
    ),
    "cel/aigateway.envoyproxy.io/aigatewayroute_v1beta1": (
        _routed({}, {}),
        _routed({}, {}, {}),
    ),
    "cel/gateway.envoyproxy.io/backend_v1alpha1": (
        {
            "spec": {
                **_ENDPOINTS,
                "tls": {"wellKnownCACertificates": "System", "sni": True, "insecureSkipVerify": False},
            }
        },
    ),
    "cel/aigateway.envoyproxy.io/backendsecuritypolicy_v1beta1": (
        _keyed("APIKey", "apiKey"),
        _keyed("AnthropicAPIKey", "anthropicAPIKey"),
        _keyed("AzureAPIKey", "azureAPIKey"),
        _keyed("AWSCredentials", "awsCredentials", {}),
    ),
    "cel/gateway.envoyproxy.io/backendtrafficpolicy_v1alpha1": (_aimed("HTTPRoute"),),
    "cel/gateway.envoyproxy.io/securitypolicy_v1alpha1": (
        _aimed("HTTPRoute", apiKeyAuth=_BY_KEY, authorization=_ALLOWED),
        _aimed("Gateway", apiKeyAuth=_BY_KEY),
    ),
    "cel/gateway.envoyproxy.io/clienttrafficpolicy_v1alpha1": (
        _aimed("Gateway", connection={}, headers={"earlyRequestHeaders": {}}),
    ),
    "cel/gateway.envoyproxy.io/envoyproxy_v1alpha1": tuple(
        {"spec": {"provider": {"kubernetes": {"envoyDeployment": {}, "envoyService": {"type": each}}}}}
        for each in ("ClusterIP", "LoadBalancer")
    ),
    "cel/gateway.networking.k8s.io/gateway_v1": (
        {"spec": {"infrastructure": {}, "listeners": [{"name": "http", "protocol": "HTTP", "port": 80}]}},
    ),
}


def cel_rules(name: str) -> Callable[[Body], Sequence[Finding]] | None:
    """What says what the rules of a kind have against an object that holds against the schema of that name; None when
    the kind has no rules.

    A rule that cannot be evaluated is broken. Rules about a change, from an old object to a new one, do not count.
    """
    rules = name.replace("output/", "cel/", 1)
    return _judge(rules) if schema.exists(rules) else None


class _Node:
    """A part of a schema. `fields`: name → what CEL calls it, and its node; `defaults`: what stands there when nothing
    does. In a node without anything all that counts is that it is there. `deep`: there are nodes below.
    """

    __slots__ = ("deep", "defaults", "fields", "items", "keys", "rules", "values", "whole")

    def __init__(self, raw: Any, nodes: list[_Node], rules: Any) -> None:
        shown = raw.get("as", {})
        self.fields = {name: (shown.get(name, name), nodes[number]) for name, number in raw.get("fields", {}).items()}
        self.items = nodes[raw["items"]] if "items" in raw else None
        self.values = nodes[raw["values"]] if "values" in raw else None
        self.keys = raw.get("keys", ())
        self.whole = raw.get("whole", False)
        self.deep = bool(self.fields or self.items or self.values)
        self.defaults = [(name, self._inside(name, each)) for name, each in raw.get("defaults", {}).items()]
        self.rules = tuple(tuple(rules[number]) for number in raw.get("rules", ()))

    def seen(self, value: Any) -> Any:
        """The part of the value that rules can see, with defaults in it, in plain types."""
        if self.fields:
            made = {}
            fields = self.fields
            for name, each in value.items():
                if name in fields:
                    shown, inner = fields[name]
                    made[shown] = inner.seen(each) if inner.deep else each if inner.whole else True
            for name, (shown, default) in self.defaults:
                if name not in value:
                    made[shown] = default
            return made
        if self.items:
            return [self.items.seen(each) for each in value]
        if self.values:
            return {name: self.values.seen(each) for name, each in value.items()}
        return value if self.whole else True

    def like(self, seen: Any) -> Any:
        """A JSON Schema that takes, of what holds against the kind's own, just what is reduced to this. To JSON 1 is
        1.0, to CEL it is not: `seen` holds no numbers. (Maps of any keys are left to who asks `seen`.)
        """
        if self.fields:
            optional = [name for name, (shown, default) in self.defaults if seen.get(shown) == default]
            there = {name for name, (shown, _) in self.fields.items() if shown in seen}
            properties = {
                name: inner.like(seen[shown]) if name in there else False
                for name, (shown, inner) in self.fields.items()
            }
            return {"type": "object", "properties": properties, "required": sorted(there.difference(optional))}
        if self.items:
            items = [self.items.like(each) for each in seen]
            return {"type": "array", "items": items, "minItems": len(items), "maxItems": len(items)}
        return not self.values and ({"const": seen} if self.whole else True)

    def _inside(self, name: str, value: Any) -> tuple[str, Any]:
        """What CEL calls a field, and what it sees of the field's value."""
        shown, inner = self.fields[name]
        return shown, inner.seen(value)

    def findings(self, seen: Any) -> tuple[Finding, ...]:
        """What is wrong with what is seen, from the top down."""
        return (*self.walk(seen, (), _Node.twice), *self.walk(seen, (), _Node.broken))

    def walk(self, seen: Any, path: Path, found: _Found) -> Iterator[Finding]:
        """What is found here and below."""
        yield from found(self, seen, path)
        for name, (shown, inner) in self.fields.items():
            if shown in seen:
                yield from inner.walk(seen[shown], (*path, name), found)
        if self.items:
            for i, each in enumerate(seen):
                yield from self.items.walk(each, (*path, i), found)
        if self.values:
            for name, each in seen.items():
                yield from self.values.walk(each, (*path, name), found)

    def broken(self, seen: Any, path: Path) -> Iterator[Finding]:
        """The rules that stand here and do not hold."""
        for rule, message in self.rules:
            if not _holds(rule, seen):
                yield "E570", path, {"message": message}

    def twice(self, seen: Any, path: Path) -> Iterator[Finding]:
        """Items of a list whose key another has had."""
        if not self.keys:
            return
        known = set()
        for i, item in enumerate(seen):
            key = tuple((name, item.get(name)) for name in self.keys)
            if key in known:
                yield "E571", (*path, i), {"what": " and ".join(f"{name} {value!r}" for name, value in key)}
            known.add(key)


_Found = Callable[[_Node, Any, Path], Iterator[Finding]]


def root(name: str) -> _Node:
    """The rules of a kind, from the top of its schema."""
    with open(schema.path_of(name), "rb") as file:
        raw = json.loads(file.read())
    nodes: list[_Node] = []
    for each in raw["nodes"]:
        nodes.append(_Node(each, nodes, raw["rules"]))
    return nodes[-1]


def _judge(name: str) -> Callable[[Body], tuple[Finding, ...]]:
    """What judges objects of the kind, and keeps its verdicts."""
    top = root(name)
    taken = [top.like(seen) for seen in TAKEN.get(name, ())]
    usual = schema.like(json.dumps({"anyOf": taken})) if taken else None
    verdicts: dict[bytes, tuple[Finding, ...]] = {_key(seen): () for seen in ALSO_TAKEN.get(name, ())}

    def judge(body: Body) -> tuple[Finding, ...]:
        if usual and usual(body):
            return ()
        seen = top.seen(body)
        key = _key(seen)
        found = verdicts.get(key)
        if found is None:
            found = verdicts[key] = top.findings(seen)
        return found

    return judge


def _key(seen: Any) -> bytes:
    return marshal.dumps(seen, 2)  # the last version that writes equal values alike


def _holds(rule: str, seen: Any) -> bool:
    return _program(rule).eval(data={"self": seen}).value() is True


@cache
def _program(rule: str) -> Any:
    return _environment().compile(rule)


@cache
def _environment() -> Any:
    """CEL as Kubernetes has it, as far as the CRDs that we know go."""
    from cel_expr_python import cel  # type: ignore[import-untyped]
    from cel_expr_python.ext import ext_strings  # type: ignore[import-untyped]

    of = cel.Type
    is_ip = cel.Overload("is_ip_string", return_type=of.BOOL, parameters=[of.STRING], is_member=False, impl=_is_ip)
    find = cel.Overload(
        "string_find_string", return_type=of.STRING, parameters=[of.STRING, of.STRING], is_member=True, impl=_find
    )
    return cel.NewEnv(
        variables={"self": of.DYN},
        extensions=[ext_strings.ExtStrings()],
        functions=[cel.FunctionDecl("isIP", [is_ip]), cel.FunctionDecl("find", [find])],
    )


def _is_ip(text: str) -> bool:
    """Kubernetes' isIP: no zone, and no IPv4 address in the clothes of IPv6."""
    import ipaddress

    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text and getattr(found, "ipv4_mapped", None) is None


def _find(text: str, pattern: str) -> str:
    """Kubernetes' find: the first part of the text that the pattern fits, or nothing."""
    import re

    found = re.search(pattern, text)
    return found[0] if found else ""


_NAMES = ("model", "backend", "route_name")
_COUNTS = tuple(
    f"{each}_tokens" for each in ("input", "cached_input", "cache_creation_input", "output", "total", "reasoning")
)


def uncountable(rule: str) -> str:
    """Why the AI gateway cannot work out a cost by this rule, '' where it can; it tries a request of no tokens."""
    try:
        found = _counting().compile(rule).eval(data={**dict.fromkeys(_NAMES, "dummy"), **dict.fromkeys(_COUNTS, 0)})
    except RuntimeError as error:
        why = str(error).partition("\n")[0].removesuffix(" [INVALID_ARGUMENT]")
        return why.rpartition("ERROR: <input>:")[2].partition(" expecting ")[0] or why
    kind, value = found.type().name(), found.value()
    if kind == "ERROR":
        return f"of a request without tokens: {str(value).rpartition(': ')[2]}"
    if kind not in ("INT", "UINT"):
        return "it gives no whole number"
    return f"it gives {value}" if value < 0 else ""


@cache
def _counting() -> Any:
    """CEL as the AI gateway has it for costs."""
    from cel_expr_python import cel

    return cel.NewEnv(
        variables={**dict.fromkeys(_NAMES, cel.Type.STRING), **dict.fromkeys(_COUNTS, cel.Type.UINT)},
    )
