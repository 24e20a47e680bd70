"""AIGatewayRoute and HTTPRoute: every rule can match a request, and leads to a backend."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.finding import Body
from renderer.check.graph import pools
from renderer.check.graph.backends import (
    backend_model,
    portless_service,
    resolve_backend,
    unknown_model_words,
    validate_backend_mix,
    validate_service_port,
)
from renderer.check.graph.gateways import validate_parents
from renderer.check.graph.references import validate_grant
from renderer.check.graph.rules import reference_rules
from renderer.check.graph.view import ObjectView, kind_in, named_place
from renderer.diagnostics import Finding, Path
from renderer.kubernetes.json_values import as_map, as_maps, as_text, maps_at, text_at
from renderer.kubernetes.wellknown import MODEL_HEADER

_MAX_NAME = 222  # ai-eg-route-not-found-response-<name> has at most 253 characters


@reference_rules.about("AIGatewayRoute")
def validate_ai_gateway_route(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the parents of an AIGatewayRoute, and about the matches and backends of each rule."""
    spec = as_map(body.get("spec"))
    if len(name) > _MAX_NAME:
        yield Finding("E589", ("metadata", "name"), {"length": len(name), "most": _MAX_NAME})
    yield from validate_parents(view, spec, namespace)
    for r, rule in enumerate(as_maps(spec.get("rules"))):
        path: Path = ("spec", "rules", r)
        matches = as_maps(rule.get("matches"))
        if not matches or [match for match in matches if not match.get("headers")]:
            yield Finding("E588", (*path, "matches") if matches else path, {})
        references = as_maps(rule.get("backendRefs"))
        if not references:
            yield Finding("E587", path, {})
            continue
        if not [reference for reference in references if reference.get("weight", 1)]:
            yield Finding("E586", (*path, "backendRefs"), {})
        backends = []
        for b, reference in enumerate(references):
            reference_path: Path = (*path, "backendRefs", b)
            if reference.get("kind") == "InferencePool":
                yield from pools.validate_pool_reference(view, reference, namespace, reference_path)
                pool = as_text(reference.get("name"))
                for header_path, model in _matched_models(rule):
                    yield from pools.validate_pool_model(view, namespace, pool, model, (*path, *header_path))
                continue
            backend, findings = resolve_backend(view, namespace, reference, reference_path)
            yield from findings
            if backend and reference.get("weight", 1):  # Envoy Gateway leaves those of weight 0 aside
                backends.append(backend)
                yield from _validate_model_name(view, rule, b, backend, path)
        if len(backends) > 1:
            yield from validate_backend_mix(backends, (*path, "backendRefs"))


def _validate_model_name(view: ObjectView, rule: Body, index: int, backend: Body, path: Path) -> Iterator[Finding]:
    """The engine must know the model name that it is sent, as far as its command line shows its names."""
    served = backend_model(view, backend)
    if served is None:
        return
    override = text_at(rule, "backendRefs", index, "modelNameOverride")
    for reference_path, model in (
        [(("backendRefs", index, "modelNameOverride"), override)] if override else _matched_models(rule)
    ):
        if words := unknown_model_words(view, served, model):
            yield Finding(
                "E610", (*path, *reference_path), {**words, "hint": f"write modelNameOverride: {served.name}"}
            )


def _matched_models(rule: Body) -> list[tuple[Path, str]]:
    """The public names that a rule matches, with their paths in the rule."""
    return [
        (("matches", m, "headers", h, "value"), as_text(header.get("value")))
        for m, match in enumerate(as_maps(rule.get("matches")))
        for h, header in enumerate(as_maps(match.get("headers")))
        if as_text(header.get("name")).lower() == MODEL_HEADER and header.get("type", "Exact") == "Exact"
    ]


@reference_rules.about("HTTPRoute")
def validate_http_route(view: ObjectView, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """Findings about the parents and backends of an HTTPRoute, and one where it has the name of an AIGatewayRoute's."""
    spec = as_map(body.get("spec"))
    if view.find("AIGatewayRoute", namespace, name) is not None:
        owners = maps_at(body, "metadata", "ownerReferences")
        if not any(owner.get("kind") == "AIGatewayRoute" and owner.get("name") == name for owner in owners):
            yield Finding("E590", ("metadata", "name"), {"name": name})
            return
        for r, rule in enumerate(as_maps(spec.get("rules"))):
            for b, reference in enumerate(as_maps(rule.get("backendRefs"))):
                if reference.get("filters"):
                    words = {"what": "filters of a backendRef", "hint": "move them to the rule"}
                    yield Finding("E594", ("spec", "rules", r, "backendRefs", b, "filters"), words)
    yield from validate_parents(view, spec, namespace)
    for r, rule in enumerate(as_maps(spec.get("rules"))):
        for b, reference in enumerate(as_maps(rule.get("backendRefs"))):
            kind = kind_in(reference.get("group", ""), reference.get("kind", "Service"))
            backend_namespace, backend_name = named_place(reference, namespace)
            reference_path: Path = ("spec", "rules", r, "backendRefs", b)
            object_ = view.find(kind, backend_namespace, backend_name)
            is_service = object_ is None and kind == "Service"
            if is_service and (
                portless := [*portless_service(view, backend_namespace, backend_name, (*reference_path, "name"))]
            ):
                yield from portless
            elif object_ is None:
                yield view.missing(kind, backend_namespace, backend_name, (*reference_path, "name"))
            elif object_ and kind == "Service" and "port" in reference:
                yield from validate_service_port(
                    view, object_, backend_namespace, reference["port"], (*reference_path, "port"), by_name=False
                )
            if backend_namespace != namespace and kind in ("Backend", "InferencePool", "Service"):
                yield from validate_grant(
                    view,
                    "HTTPRoute",
                    namespace,
                    (kind, backend_namespace, backend_name),
                    (*reference_path, "namespace"),
                )
