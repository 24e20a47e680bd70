"""On which flavors' nodes the pods of an app may run, for those who make nodes."""

from __future__ import annotations

from renderer.api import App, OpenModel
from renderer.problems import Findings, Origin
from renderer.records import NamedTuple
from renderer.resolve import claims, flavors, variants
from renderer.resolve.flavors import INSTANCE_TYPE, Flavor
from renderer.resolve.memo import Memo


class Placed(NamedTuple):
    """A workload. `flavors`: those on whose nodes its pods may run, the best first, none where the model has none;
    `handed`: another scheduler chooses among these nodes; `claim`: where the app names the model.
    """

    name: str
    model: OpenModel
    flavors: tuple[Flavor, ...]
    handed: bool
    claim: Origin


def placed(memo: Memo, app: App) -> tuple[Placed, ...]:
    """One for each workload of an app that has plans, in their order."""
    return tuple(_placed(memo, each) for each in variants.variants(memo.inputs, app))


def _placed(memo: Memo, app: App) -> Placed:
    claim = claims.claim(memo.inputs, app, Findings())
    if app.flavor:
        claim = claim._replace(flavors=(app.flavor,))
    found = flavors.placement(memo.inputs, memo.catalog, app, claim, Findings()).flavors
    handed = flavors.policy(memo.inputs, app) == flavors.INFTYAI
    return Placed(app.name, claim.main, found, handed, app.origin(*claim.models[0].path))


def told(memo: Memo, placed: Placed, name: str, label: str = "") -> Origin:
    """Where the flavor of that name stands, or a label of its nodes: in the OpenModel, else in the catalog; where the
    app names the model, when that is a preset.
    """
    offered = placed.model.spec["inferenceConfig"]["flavors"]
    index = next(i for i, each in enumerate(offered) if each["name"] == name)
    model = Origin(placed.model.document, ("spec", "inferenceConfig", "flavors", index))
    catalog = memo.inputs.config.get("flavors", name) or {}
    # An instance type is a label too; of two that say it, the nodeSelector wins.
    keys = [("nodeSelector", label), *([("params", "INSTANCE-TYPE")] if label == INSTANCE_TYPE else [])]
    for key, written in keys if label else ():
        if written in (offered[index].get(key) or {}):
            return placed.claim if placed.model.ours else model.at(key, written)
        if written in (catalog.get(key) or {}):
            return memo.inputs.config.origin("flavors", name, key, written)
    if catalog:
        return memo.inputs.config.origin("flavors", name, key=True)
    return placed.claim if placed.model.ours else model.at("name")
