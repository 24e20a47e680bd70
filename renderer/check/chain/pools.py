"""InferencePools: their pods, and who picks one of them."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.check.chain.backends import LEADERS, listed, listening, served_by, unknown, view_pods
from renderer.check.chain.gateways import CONFIG
from renderer.check.chain.view import Place, View, kind_in
from renderer.check.finding import Body, Finding
from renderer.problems import Path

OLD = "InferencePool.inference.networking.x-k8s.io"
_LOAD = "or load an adapter of this name by the engine's options"
STEERING = ("inference.networking.x-k8s.io", "llm-d.ai")  # groups of what tells a picker more


def pool(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """It has a picker whose Service is there and has the port, and pods that listen."""
    spec = body["spec"]
    picker = spec.get("endpointPickerRef")
    if not picker:
        yield "E598", ("spec",), {"name": name}
    elif picker.get("kind", "Service") == "Service" and not picker.get("group"):
        yield from _picked(view, picker, namespace)
    selector = spec["selector"]["matchLabels"]
    pods = view_pods(view, namespace, selector) if selector else []
    if not pods:
        yield "N582", ("spec", "selector", "matchLabels"), {"name": name}
        return
    listened = listening(pods)
    for i, port in enumerate(spec["targetPorts"]):
        if listened and port["number"] not in listened:
            words = {"what": f"InferencePool '{name}'", "port": port["number"], "ports": listed(listened)}
            yield "E592", ("spec", "targetPorts", i, "number"), words


def _picked(view: View, picker: Body, namespace: str) -> Iterator[Finding]:
    path: Path = ("spec", "endpointPickerRef")
    name = picker["name"]
    if picker.get("failureMode") == "FailOpen":
        yield "W580", (*path, "failureMode"), {}
    service = view.find("Service", namespace, name)
    if service is None:
        yield view.missing("Service", namespace, name, (*path, "name"))
    elif service and "port" in picker:
        number = picker["port"]["number"]
        ports = [each["port"] for each in service["spec"].get("ports") or ()]
        if number not in ports:
            known = ", ".join(map(str, ports)) or "none"
            yield "E591", (*path, "port", "number"), {"name": name, "port": number, "ports": known}


def referred(view: View, reference: Body, namespace: str, path: Path) -> Iterator[Finding]:
    """A route's reference to a pool: looked for in the route's own namespace, whatever it says."""
    name = reference["name"]
    if (said := reference.get("namespace")) and said != namespace:
        yield "E596", (*path, "namespace"), {"name": name, "namespace": namespace}
    elif view.find("InferencePool", namespace, name) is None and view.find(OLD, namespace, name) is None:
        yield view.missing("InferencePool", namespace, name, (*path, "name"))


def asked(view: View, namespace: str, name: str, sent: str, path: Path) -> Iterator[Finding]:
    """A pool's engine is asked for a model by a name that it is told, or that a rewrite makes into another."""
    for found in _known(view, namespace, name, sent, path, "or make an InferenceModelRewrite of it"):
        rewritten = view.once("rewritten", _rewritten).get((namespace, name), ())
        if sent not in rewritten and None not in rewritten:
            yield found


def rewrite(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """InferenceModelRewrite: the names that it makes are names of the pool's engine."""
    spec = body["spec"]
    for r, rule in enumerate(spec.get("rules") or ()):
        for t, target in enumerate(rule.get("targets") or ()):
            path: Path = ("spec", "rules", r, "targets", t, "modelRewrite")
            yield from _known(view, namespace, spec["poolRef"]["name"], target["modelRewrite"], path, _LOAD)
    yield from _lost(view, spec, namespace)


def _lost(view: View, spec: Body, namespace: str) -> Iterator[Finding]:
    """Where somebody counts tokens, the AI gateway writes streams anew after the picker has."""
    counting = view.once("counting", _counting)
    gateways = view.once("gateways of pools", _gateways).get((namespace, spec["poolRef"]["name"]), ())
    place = next((each for each in gateways if each in counting), None)
    for r, rule in enumerate(spec.get("rules") or () if place else ()):
        asked = {(each.get("model") or {}).get("value") for each in rule.get("matches") or [{}]}
        for t, target in enumerate(rule.get("targets") or ()):
            if place and asked != {target["modelRewrite"]}:
                path: Path = ("spec", "rules", r, "targets", t, "modelRewrite")
                yield "W585", path, {"what": counting[place], "gateway": "/".join(place)}
                return


def _counting(view: View) -> dict[Place, str]:
    """The Gateways where somebody counts tokens."""
    made: dict[Place, str] = {}
    for namespace, name, body in view.all("AIGatewayRoute"):
        for parent in (body["spec"].get("parentRefs") or ()) if body["spec"].get("llmRequestCosts") else ():
            made.setdefault((parent.get("namespace") or namespace, parent["name"]), f"AIGatewayRoute '{name}'")
    for namespace, name, body in view.all("Gateway"):
        config = (body["metadata"].get("annotations") or {}).get(CONFIG)
        found = view.find("GatewayConfig", namespace, config) if config else None
        if found and (found.get("spec") or {}).get("globalLLMRequestCosts"):
            made.setdefault((namespace, name), f"GatewayConfig '{config}'")
    return made


def _gateways(view: View) -> dict[Place, list[Place]]:
    """By pool, the Gateways through which it is reached."""
    made: dict[Place, list[Place]] = {}
    for namespace, _, body in view.all("AIGatewayRoute"):
        names = {
            each["name"]
            for rule in body["spec"]["rules"]
            for each in rule.get("backendRefs") or ()
            if each.get("kind") == "InferencePool"
        }
        for name in names:
            for parent in body["spec"].get("parentRefs") or ():
                made.setdefault((namespace, name), []).append((parent.get("namespace") or namespace, parent["name"]))
    return made


def _known(view: View, namespace: str, name: str, sent: str, path: Path, hint: str) -> Iterator[Finding]:
    found = view.find("InferencePool", namespace, name)
    workload = found["spec"]["selector"]["matchLabels"].get(LEADERS) if found else None
    known = served_by(view, namespace, workload) if workload else None
    if known and (words := unknown(*known, sent)):
        yield "E610", path, {**words, "hint": f"ask for '{known[1]}', {hint}"}


def _rewritten(view: View) -> dict[tuple[str, str], set[str | None]]:
    """By namespace and name of a pool, the names that requests lose; None where they lose any."""
    made: dict[tuple[str, str], set[str | None]] = {}
    for group in STEERING:
        for namespace, _, body in view.all(kind_in(group, "InferenceModelRewrite")):
            names = made.setdefault((namespace, body["spec"]["poolRef"]["name"]), set())
            for rule in body["spec"].get("rules") or ():
                names |= {(each.get("model") or {}).get("value") for each in rule.get("matches") or [{}]}
    return made


def old_pool(view: View, body: Body, namespace: str, name: str) -> Iterator[Finding]:
    """A pool of the group that is gone: no route can name it."""
    yield "E597", ("apiVersion",), {"name": name}
