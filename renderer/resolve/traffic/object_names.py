"""The names of the apps of a tree, which the objects that are made of them have too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from renderer.api import App, Inputs
from renderer.kubernetes import wellknown
from renderer.resolve.gateway import task_routes

_SERVICES = (wellknown.LB_SERVICE, wellknown.LEADERS_SERVICE)  # suffixes of the Services of a LeaderWorkerSet


class TreeNames(Struct, frozen=True, eq=False):
    """The apps and variants of a tree by their names."""

    inputs: Inputs
    variants: Sequence[App]
    owners: Mapping[tuple[str, str], App]  # apps before variants, by namespace and name
    suffixed: Sequence[tuple[str, str]]  # those of the owners with a suffix of Services; rarely any

    def service_owner(self, namespace: str, name: str) -> App | None:
        """The app or variant beside whose workload or picker a Service of this name is made."""
        for suffix in (*_SERVICES, wellknown.PICKER):
            app = self.owners.get((namespace, name.removesuffix(suffix))) if name.endswith(suffix) else None
            if app and (suffix != wellknown.PICKER or self.has_pool(app)):
                return app
        return None

    def has_pool(self, app: App) -> bool:
        """Whether a picker is rendered for the app."""
        return task_routes.has_pool(self.inputs, app)

    def workload_services(self) -> Iterator[tuple[App, str]]:
        """Each app and variant with the name of each Service of its workload, where these may clash with others."""
        for app in (*self.inputs.apps, *self.variants) if self.suffixed else ():
            for suffix in _SERVICES:
                yield app, app.name + suffix


def tree_names(inputs: Inputs, variants: Sequence[App]) -> TreeNames:
    """The apps of the tree and these variants by their names."""
    owners = {(app.namespace, app.name): app for app in inputs.apps}
    for variant in variants:
        owners.setdefault((variant.namespace, variant.name), variant)
    suffixed = [key for key in owners if key[1].endswith((*_SERVICES, wellknown.PICKER))]
    return TreeNames(inputs, variants, owners, suffixed)
