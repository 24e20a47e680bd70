"""An InferenceModel → its Way: a public name over one pool, by criticality and weights (llmaz-api.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from renderer import patterns
from renderer.api import App, Traffic
from renderer.plan import Plan, Steering, Target, Way
from renderer.problems import Findings, Origin, Path, Stop, guess
from renderer.records import NamedTuple
from renderer.resolve import names, pickers, routing
from renderer.resolve.memo import Memo, door, picker
from renderer.resolve.modelroutes import leans, reached
from renderer.resolve.routing import Asked, Part
from renderer.resolve.workloads import broken, serving

_GROUPS = ("inference.networking.k8s.io", "inference.networking.x-k8s.io", "")
_OLD = "inference.networking.x-k8s.io"
_PRIORITIES = {"Critical": 10, "Standard": 0, "Sheddable": -10}


class _Wanted(NamedTuple):
    """A target: its name, its weight where weights are said, and who says it."""

    name: str
    weight: int | None
    at: Origin
    said: bool = True


def way(memo: Memo, item: Traffic, found: Findings) -> Way:
    """Everything decided. Raises Stop when there is no pool to go on with."""
    names.route_name(item, found)
    name = item.spec["modelName"]
    _speakable(name, item.origin("spec", "modelName"), found)
    wanted = _targets(item, found)
    app = _pool(memo, item, found)
    here = door(memo, item.namespace)
    if here.mode == "off" and (app is None or routing.mode(app, here) == "off"):
        return Way(app=f"{item.name}.route", namespace=item.namespace, file=item.file)
    made = Way(app=f"{item.name}.route", namespace=item.namespace, file=item.file)
    if wanted and not any(each.weight is None or each.weight for each in wanted):
        # All weights 0: the name is kept, and nothing is behind it.
        return made._replace(shared=(routing.claimed(item, here, name),))
    itself = [_Wanted(name, None, item.origin("spec", "modelName"), said=False)]
    pool = app is None or routing.mode(app, here) == "pool"
    plans = reached(memo, app, item.origin("spec", "poolRef", "name"), found) if app else []
    apps = [app] if app else []
    if pool:
        if plans:
            _served_by(plans[0], wanted or itself, found)
        targets: Sequence[Target] = (Target(item.spec["poolRef"]["name"], 1, name, pool=True),)
    else:
        if item.spec.get("criticality"):
            found.add("W244", item.origin("spec", "criticality"))
        parts = [_part(memo, item, app, plans, each, found) for each in wanted or itself] if app else []
        targets = routing.split([part for part, _ in parts])
        apps = [one for _, one in parts]
    of = memo.inputs.models[plans[0].model] if plans else None
    asked = Asked(name, item.origin("spec", "modelName"), tuple(targets), of)
    if app:
        asked = _guarded(item, asked.by(app), apps, found)
    route = routing.route(item, here, asked, found)
    made = made._replace(
        leans=leans(item.namespace, route.targets, []) if app else (),
        steering=_steering(memo, item, wanted, found) if pool else None,
    )
    if pool and _led(memo, item):
        return made
    return made._replace(
        shared=(*routing.wanted(here, route), routing.claimed(item, here, name, (), route.name)), route=route
    )


def _led(memo: Memo, item: Traffic) -> bool:
    """Whether a ModelRoute over the same pool has the name, and so the route; what the picker is told stays here."""
    others = memo.traffic.get((item.namespace, item.spec["poolRef"]["name"]), ())
    return any(each.kind == "ModelRoute" and each.spec["modelName"] == item.spec["modelName"] for each in others)


def _speakable(name: str, at: Origin, found: Findings) -> None:
    if not name.strip() or any(each < " " or each == "\x7f" for each in name):
        found.add("E654", at, name=name)


def _targets(item: Traffic, found: Findings) -> list[_Wanted]:
    """The targets, by the rules of the item's version."""
    made: list[_Wanted] = []
    for i, each in enumerate(item.spec.get("targetModels") or ()):
        at = item.origin("spec", "targetModels", i)
        _speakable(each["name"], at.at("name"), found)
        if each["name"] in [one.name for one in made]:
            found.add("E657", at.at("name"), name=each["name"])
        if item.version == "v1alpha2" and each.get("weight") == 0:
            found.add("E656", at.at("weight"))
        made.append(_Wanted(each["name"], each.get("weight"), at.at("name")))
    if len({each.weight is None for each in made}) > 1:
        missing = next(i for i, each in enumerate(made) if each.weight is None)
        found.add("E655", item.origin("spec", "targetModels", missing))
    return made


def _pool(memo: Memo, item: Traffic, found: Findings) -> App | None:
    """The app that poolRef names, None where it is a pool of somebody else's. Raises Stop when nobody knows it."""
    reference, at = item.spec["poolRef"], item.origin("spec", "poolRef")
    name = reference["name"]
    for key, allowed in (("kind", ("InferencePool",)), ("group", _GROUPS)):
        if reference.get(key, allowed[0]) not in allowed:
            found.stop("E659", at.at(key), key=key, value=reference[key], allowed=" or ".join(filter(None, allowed)))
    if app := memo.apps.get((item.namespace, name)):
        return app
    if broken(memo, item.namespace, name):
        raise Stop
    places = []
    for body in memo.inputs.around:
        metadata = body.get("metadata")
        if body.get("kind") == "InferencePool" and isinstance(metadata, dict) and metadata.get("name") == name:
            space = metadata.get("namespace") or "default"
            if space == item.namespace:
                if str(body.get("apiVersion")).partition("/")[0] == _OLD:
                    found.stop("E661", at.at("name"), name=name)
                return None
            places.append(space)
    places += [space for space, own in memo.apps if own == name]
    if not _declared(memo.inputs.config.get("external") or (), item.namespace, name):
        near = [own for space, own in memo.apps if space == item.namespace]
        _unknown(item, name, places, near, at.at("name"), found)
    return None


def _unknown(
    item: Traffic, name: str, places: Sequence[str], near: Sequence[str], at: Origin, found: Findings
) -> NoReturn:
    whole = f"InferencePool/{item.namespace}/{name}"
    hint = f"there is one in namespace '{min(places)}', and a pool serves its own namespace only; " if places else ""
    hint += "" if places or not near else f"{guess(name, near)}; "
    hint += f"if it exists elsewhere, write it into RenderConfig's external: {whole}"
    found.stop("E658", at, name=name, namespace=item.namespace, hint=hint)


def _declared(external: Sequence[str], namespace: str, name: str) -> bool:
    return any(patterns.fits(f"InferencePool/{namespace}/{name}", each) for each in external)


def _served_by(plan: Plan, wanted: Sequence[_Wanted], found: Findings) -> None:
    """A pool's engine takes its served name and those of its adapters."""
    known = (plan.serves, *plan.adapters)
    for each in wanted:
        if each.name not in known:
            words = {"name": each.name, "where": f"in the pool '{plan.name}'"}
            found.add("E660", each.at, **words, hint=_known(each.name, known, said=each.said))


def _known(name: str, known: Sequence[str], *, said: bool) -> str:
    """What to do about a name that nobody serves. `said`: it stands in targetModels."""
    near = guess(name, known)
    more = "adapters are loaded by the engine's options" if said else "write targetModels to lead the name to others"
    return f"{near}{' ' if near.endswith('?') else '; '}{more}"


def _guarded(item: Traffic, asked: Asked, apps: Sequence[App], found: Findings) -> Asked:
    """With the rights of the apps behind it, since an InferenceModel can say none: an error where they differ."""
    own = [asked.by(each) for each in apps]
    for app, each in zip(apps, own, strict=True):
        if set(each.allow) != set(own[0].allow):
            hint = "let all of its apps allow the same, or write a ModelRoute with spec.gateway.allow"
            guarded = app if each.allow else apps[0]
            found.add("E664", item.origin("spec", "targetModels"), name=guarded.name, hint=hint)
            break
    return asked._replace(allow=own[0].allow, allowing=own[0].allowing)


def _part(
    memo: Memo, item: Traffic, own: App, plans: Sequence[Plan], wanted: _Wanted, found: Findings
) -> tuple[Part, App]:
    """What answers for a target: the app that serves this name, else an adapter of poolRef's own. Raises Stop."""
    weight = 1 if wanted.weight is None else wanted.weight
    if plans[0].serves == wanted.name:
        return Part(routing.targets(plans), weight), own
    names = serving(memo, item.namespace)
    known = names.get(wanted.name, [])
    also = wanted.name in plans[0].adapters
    if len(known) + also > 1:
        these = [f"'{each.name}'" for each in known] + ([f"an adapter of '{own.name}'"] if also else [])
        found.stop("E667", wanted.at, name=wanted.name, these=" or ".join(these[:3]))
    if known:
        app = known[0]
        if routing.mode(app, door(memo, app.namespace)) == "pool":
            found.stop("E644", wanted.at, name=app.name)
        return Part(routing.targets(reached(memo, app, wanted.at, found)), weight), app
    if wanted.name not in plans[0].adapters:
        hint = _known(wanted.name, [*names, *plans[0].adapters], said=wanted.said)
        found.stop("E660", wanted.at, name=wanted.name, where="in this namespace", hint=hint)
    return Part([each._replace(model=wanted.name) for each in routing.targets(plans)], weight), own


def _steering(memo: Memo, item: Traffic, wanted: Sequence[_Wanted], found: Findings) -> Steering:
    name = pickers.named(memo.inputs, door(memo, item.namespace), found)
    origins: Mapping[Path, Origin] = {
        (): item.origin(),
        ("name",): item.origin("metadata", "name"),
        ("namespace",): item.origin("metadata", "namespace"),
        ("priority",): item.origin("spec", "criticality"),
        ("targets",): item.origin("spec", "targetModels"),
        ("model",): item.origin("spec", "modelName"),
        ("pool",): item.origin("spec", "poolRef", "name"),
    }
    return Steering(
        name=item.name,
        namespace=item.namespace,
        labels=routing.labels(item.name),
        group=picker(memo, name).group,
        pool=item.spec["poolRef"]["name"],
        model=item.spec["modelName"],
        priority=_PRIORITIES[item.spec.get("criticality", "Standard")],
        # A weight of 0 beside others: nobody goes there, and the rewrite takes none.
        names=tuple((each.name, each.weight) for each in wanted if each.weight != 0),
        origins=lambda: origins,
    )
