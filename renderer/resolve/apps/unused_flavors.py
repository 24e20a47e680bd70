"""The flavors of RenderConfig's catalog that nothing of a tree uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from renderer.api import App, Inputs, OpenModel
from renderer.diagnostics import Diagnostic, listed, make_diagnostic
from renderer.resolve import claims, flavors
from renderer.resolve.apps import variants

_NAMED = 12  # of the unused flavors


def unused_flavors(environments: Iterable[Inputs]) -> list[Diagnostic]:
    """One note that names the flavors which no model and no app of any environment uses. `environments`: the inputs of
    each, of a whole tree without errors.
    """
    unused, used = dict[str, Inputs](), set[str]()
    for inputs in environments:
        if catalog := inputs.config.get("flavors"):
            unused |= {name: inputs for name in catalog if name not in unused}
            used.update(_used_flavors(inputs))
    names = [name for name in unused if name not in used]
    if not names:
        return []
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    origin = unused[names[0]].config.origin("flavors", names[0], key=True)
    return [make_diagnostic("N914", origin, names=listed([*(f"'{name}'" for name in names[:_NAMED]), *more]))]


def _used_flavors(inputs: Inputs) -> Iterator[str]:
    """The flavors of the tree's models and of those that its apps claim, and the flavors that these claim."""
    for item in inputs.definitions:
        if isinstance(item, OpenModel):
            yield from flavors.flavor_names(item)
    for app in inputs.apps:
        for variant in variants.app_variants(inputs, app):
            yield from _claimed_flavors(inputs, variant)


def _claimed_flavors(inputs: Inputs, app: App) -> Iterator[str]:
    for claim in (app.spec.get("modelClaim"), app.spec.get("modelClaims")):
        yield from (claim or {}).get("inferenceFlavors") or ()
    if model := claims.main_model(inputs, app):
        yield from flavors.flavor_names(model)
