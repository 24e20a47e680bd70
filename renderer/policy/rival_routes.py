"""Routes that get requests for models before the routes of these models do."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.api import RenderPolicy
from renderer.check.graph.attachments import Attachment, attachments
from renderer.check.graph.request_matches import RequestMatch, located_matches
from renderer.diagnostics import Path
from renderer.kubernetes.json_values import as_map, texts_at
from renderer.kubernetes.wellknown import MODEL_PATHS
from renderer.kubernetes.workloads import Kind
from renderer.plan import Body
from renderer.policy.denial import Denial
from renderer.policy.known_objects import AI_GROUP, MOST, NAMING_ROUTES, KnownObjects
from renderer.policy.objects import JudgedObject
from renderer.policy.public_names import EVERY_NAME, allows_name, name_denial

_RIVALS: tuple[Kind, ...] = (*NAMING_ROUTES, (AI_GROUP, "MCPRoute"))
_LONGEST_HOST = 253  # characters


def judge_rivals(policy: RenderPolicy, judged: JudgedObject, known: KnownObjects) -> Iterator[Denial]:
    """A denial of each part of a route by which it gets requests for any model, where its namespace may not have every
    public name.
    """
    if judged.kind not in _RIVALS or allows_name(policy, judged.namespace, EVERY_NAME):
        return
    spec = as_map(judged.body.get("spec"))
    beside: dict[RequestMatch, str] = {}  # the matches of models on a host of the route, with their Gateway
    for i, own in attachments(known.view, spec, judged.namespace):
        for host in own.hosts:
            for routed in known.models_at(own, host):
                beside |= dict.fromkeys(routed.matches, "/".join(filter(None, own.gateway)))
            hidden = next((other for other in _wider_hosts(host) if _is_missed(known, own, other, host)), None)
            if hidden is not None:
                yield _hidden_host(policy, judged, host, hidden, _host_path(spec, host, i))
    if len(beside) > MOST:
        beside = {RequestMatch(): next(iter(beside.values()))}
    for located in located_matches(judged.kind[1], spec) if beside else ():
        rivals = (of_model for of_model in beside if not located.of_model and _is_chosen(located.match, of_model))
        if rival := next(rivals, None):
            yield _taken_requests(policy, judged, located.path, located.match, beside[rival])


def _wider_hosts(host: str) -> Iterator[str]:
    """The hosts that requests for a host fit as well, the most exact first; '' for any."""
    labels = host.removeprefix("*.").split(".") if 0 < len(host) <= _LONGEST_HOST else []
    yield from (f"*.{'.'.join(labels[i:])}" for i in range(1, len(labels)))
    if host:
        yield ""


def _is_missed(known: KnownObjects, own: Attachment, other: str, host: str) -> bool:
    """Whether a route of models is for the other host alone, and so for less of it where this host has a route."""
    return any(routed.misses(host) for routed in known.models_at(own, other))


def _is_chosen(match: RequestMatch, of_model: RequestMatch) -> bool:
    """Whether a match gets requests for a model. Of two that are alike the older route gets them, which may be it, but
    not where it matches everything.
    """
    return not match.is_plain and match.order >= of_model.order and match.shares_model_path(of_model)


def _host_path(spec: Body, host: str, parent: int) -> Path:
    """The field that says a host: the route's own, or the reference to what has it."""
    hostnames = texts_at(spec, "hostnames")
    return ("spec", "hostnames", hostnames.index(host)) if host in hostnames else ("spec", "parentRefs", parent)


def _hidden_host(policy: RenderPolicy, judged: JudgedObject, host: str, hidden: str, path: Path) -> Denial:
    models = f"of models for '{hidden}'" if hidden else "of models, which are for any host"
    what = f"may not match every public name: requests for '{host}' miss the routes {models}"
    apart = "give the routes of models hosts of their own, by gateway.hostnames where they are rendered"
    hint = "take a host that is not below it" if hidden else apart
    return name_denial(policy, judged.namespace, judged.origin(path), what, f"{hint}, or take another Gateway")


def _taken_requests(
    policy: RenderPolicy, judged: JudgedObject, path: Path, match: RequestMatch, gateway: str
) -> Denial:
    what = f"may not match every public name: {match} comes before the routes of models on the Gateway {gateway}"
    paths = f"{', '.join(MODEL_PATHS[:-1])} or {MODEL_PATHS[-1]}"
    hint = f"take a path that is neither above nor below {paths}, another host, or another Gateway"
    return name_denial(policy, judged.namespace, judged.origin(path), what, hint)
