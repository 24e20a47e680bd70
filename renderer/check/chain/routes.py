"""AIGatewayRoute and HTTPRoute: every rule is met by a request, and leads somewhere."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.chain import pools
from renderer.check.chain.backends import behind, mixed, reached, told, unknown
from renderer.check.chain.fleet import MODEL
from renderer.check.chain.gateways import parents
from renderer.check.chain.references import granted
from renderer.check.chain.view import View, kind_in
from renderer.check.finding import Body, Finding
from renderer.problems import Path

_LONGEST = 222  # ai-eg-route-not-found-response-<name> has at most 253 characters


def ai_gateway_route(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Parents, matches and backends of each rule."""
    spec = body["spec"]
    if len(name) > _LONGEST:
        yield "E589", ("metadata", "name"), {"length": len(name), "most": _LONGEST}
    yield from parents(view, spec, namespace)
    for r, rule in enumerate(spec["rules"]):
        path: Path = ("spec", "rules", r)
        matches = rule.get("matches")
        if not matches or [each for each in matches if not each.get("headers")]:
            yield "E588", (*path, "matches") if matches else path, {}
        references = rule.get("backendRefs")
        if not references:
            yield "E587", path, {}
            continue
        if not [each for each in references if each.get("weight", 1)]:
            yield "E586", (*path, "backendRefs"), {}
        backends = []
        for b, reference in enumerate(references):
            at: Path = (*path, "backendRefs", b)
            if reference.get("kind") == "InferencePool":
                yield from pools.referred(view, reference, namespace, at)
                for where, sent in _matched(rule):
                    yield from pools.asked(view, namespace, reference["name"], sent, (*path, *where))
                continue
            found, wrong = behind(view, namespace, reference, at)
            yield from wrong
            if found and reference.get("weight", 1):  # Envoy Gateway leaves those of weight 0 aside
                backends.append(found)
                yield from _called(view, rule, b, found, path)
        if len(backends) > 1:
            yield from mixed(backends, (*path, "backendRefs"))


def _called(view: View, rule: Body, index: int, backend: Body, path: Path) -> Iterator[Finding]:
    """The engine is asked for the model by the name that it is told, where its command line shows one."""
    known = told(view, backend)
    if known is None:
        return
    override = rule["backendRefs"][index].get("modelNameOverride")
    for at, sent in [(("backendRefs", index, "modelNameOverride"), override)] if override else _matched(rule):
        if found := unknown(*known, sent):
            yield "E610", (*path, *at), {**found, "hint": f"write modelNameOverride: {known[1]}"}


def _matched(rule: Body) -> list[tuple[Path, str]]:
    """The public names that a rule takes, and where they stand."""
    return [
        (("matches", m, "headers", h, "value"), header["value"])
        for m, match in enumerate(rule.get("matches") or ())
        for h, header in enumerate(match.get("headers") or ())
        if header["name"].lower() == MODEL and header.get("type", "Exact") == "Exact"
    ]


def http_route(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Parents and backends; and that it is not in the way of the one that an AIGatewayRoute makes."""
    spec = body["spec"]
    if view.find("AIGatewayRoute", namespace, name) is not None:
        owners = body["metadata"].get("ownerReferences") or ()
        if not any(each.get("kind") == "AIGatewayRoute" and each.get("name") == name for each in owners):
            yield "E590", ("metadata", "name"), {"name": name}
            return
        for r, rule in enumerate(spec.get("rules") or ()):
            for b, reference in enumerate(rule.get("backendRefs") or ()):
                if reference.get("filters"):
                    words = {"what": "filters of a backendRef", "hint": "move them to the rule"}
                    yield "E594", ("spec", "rules", r, "backendRefs", b, "filters"), words
    yield from parents(view, spec, namespace)
    for r, rule in enumerate(spec.get("rules") or ()):
        for b, reference in enumerate(rule.get("backendRefs") or ()):
            kind = kind_in(reference.get("group", ""), reference.get("kind", "Service"))
            space, title = reference.get("namespace") or namespace, reference["name"]
            at: Path = ("spec", "rules", r, "backendRefs", b)
            found = view.find(kind, space, title)
            if found is None:
                yield view.missing(kind, space, title, (*at, "name"))
            elif found and kind == "Service" and "port" in reference:
                yield from reached(view, found, space, reference["port"], (*at, "port"), by_name=False)
            if space != namespace and kind in ("Backend", "InferencePool", "Service"):
                yield from granted(view, "HTTPRoute", namespace, (kind, space, title), (*at, "namespace"))
