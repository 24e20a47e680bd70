"""Public names that nobody answers any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from renderer.diff.objects import Items
from renderer.diff.risks.kinds import ObjectPair, Risk, marked
from renderer.diff.traffic import PublicName, public_names
from renderer.kubernetes.json_values import text_at
from renderer.kubernetes.wellknown import LB_SERVICE
from renderer.resolve import ReplacedName


def unanswered_names(before: Items, after: Items, pathless: Mapping[tuple[str, str], str]) -> Iterator[Risk]:
    """Risks for public names that lose their last backend: everywhere, or on one Gateway or host. `pathless`: the task
    of each app for which the AI gateway has no path.
    """
    removed = {(key.namespace, key.name) for key in before if key.kind == "AIServiceBackend" and key not in after}
    new: dict[str, list[PublicName]] = {}
    for name in public_names(after):
        new.setdefault(name.name, []).append(name)
    for was in public_names(before):
        if not _has_backend(was, set()):
            continue
        same_name = new.get(was.name, [])
        remaining = [public for public in same_name if _has_backend(public, removed)]
        led = ((app, pathless[was.route.namespace, app]) for app in was.legs if (was.route.namespace, app) in pathless)
        if not same_name and (app_and_task := next(led, None)):
            app, task = app_and_task
            what = f"nothing answers to {marked(was.name)} any more, and no request could pass before: the AI gateway"
            remedy = f"let clients ask the Service {marked(app + LB_SERVICE)}"
            yield Risk("no-backend", was.route, f"{what} has no path for task {marked(task)}", remedy)
        elif not same_name:
            yield Risk("no-backend", was.route, f"nothing answers to {marked(was.name)} any more")
        elif not remaining:
            route = was.route if was.route in {public.route for public in same_name} else same_name[0].route
            remedy = f"give a backend of the route a {marked('weight')} above 0, or keep the one that it leads to"
            yield Risk("no-backend", route, f"{marked(was.name)} has no backend left that takes requests", remedy)
        else:
            for where, remedy in _lost_places(was, remaining):
                yield Risk(
                    "no-backend", was.route, f"nothing answers to {marked(was.name)} at {where} any more", remedy
                )


def new_replaced_names(before: Items, after: Items, replaced: Sequence[ReplacedName]) -> Iterator[Risk]:
    """Risks for names of apps whose route a new ModelRoute replaces: nothing leads to them, and nothing did before."""
    if not replaced:
        return
    known = {public.name for side in (before, after) for public in public_names(side)}
    routes = {(key.namespace, key.name): key for key in after if key.kind == "AIGatewayRoute" and key not in before}
    for name in replaced:
        if (route := routes.get((name.namespace, name.route))) and name.name not in known:
            what = f"nothing answers to {marked(name.name)}, the name of {name.kind} {marked(name.app)}"
            remedy = f"if clients ask for it, add a ModelRoute with {marked(f'modelName: {name.name}')}"
            yield Risk("no-backend", route, f"{what}: this ModelRoute replaces its route", f"{remedy} that leads there")


def other_paths(pairs: Sequence[ObjectPair]) -> Iterator[Risk]:
    """Risks for backends of routes that clients have to ask on other paths, since their API is another one."""
    for pair in pairs:
        if pair.key.kind == "AIServiceBackend" and pair.before and pair.after:
            was, now = (text_at(body, "spec", "schema", "name") for body in (pair.before, pair.after))
            if was != now:
                what = f"its API is {marked(now)} in place of {marked(was)}: requests on the old paths fail"
                yield Risk("path", pair.key, what)


def _has_backend(public: PublicName, removed: set[tuple[str, str]]) -> bool:
    has_backend = (
        (leg.weight > 0 or leg.pool) and (public.route.namespace, to) not in removed for to, leg in public.legs.items()
    )
    return any(has_backend)


def _lost_places(was: PublicName, remaining: Sequence[PublicName]) -> Iterator[tuple[str, str]]:
    """The Gateways, and hosts of Gateways, where no route in `remaining` serves the name any more, each with a
    remedy.
    """
    setting = marked("gateway.hostnames")
    for gateway in was.gateways:
        at_gateway = [public for public in remaining if gateway in public.gateways]
        hosts = dict.fromkeys(host for public in at_gateway for host in public.hosts)
        if not at_gateway:
            yield (
                f"Gateway {marked(gateway)}",
                f"keep {marked('gateway.name')} as it was until no client uses this Gateway",
            )
        elif all(public.hosts for public in at_gateway):
            if not was.hosts:
                where = f"Gateway {marked(gateway)}, but for {', '.join(map(marked, hosts))},"
                yield where, f"leave {setting} out until every client uses one of these hosts"
            for host in was.hosts:
                if not any(_covers(pattern, host) for pattern in hosts):
                    where = f"{marked(host)} of Gateway {marked(gateway)}"
                    yield where, f"keep {marked(host)} in {setting} until no client uses it"


def _covers(pattern: str, host: str) -> bool:
    return pattern == host or (pattern.startswith("*.") and host.endswith(pattern[1:]))
