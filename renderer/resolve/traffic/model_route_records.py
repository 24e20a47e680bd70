"""The records of a ModelRoute: as it is written, its backends, and what each of them gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from renderer.api import App, TrafficInput
from renderer.diagnostics import Origin
from renderer.plan import Plan, ProviderPlan
from renderer.resolve.claims import other_model
from renderer.resolve.context import RunContext
from renderer.resolve.gateway import task_routes
from renderer.resolve.gateway.route_backends import BackendShare
from renderer.resolve.gateway.settings import GatewaySettings, gateway_settings

if TYPE_CHECKING:
    from renderer.input_types import BackendSpec


class ModelRoute(Struct, frozen=True, eq=False):
    """A ModelRoute as it is written."""

    context: RunContext
    item: TrafficInput
    settings: GatewaySettings
    off: bool  # no route is made, since RenderConfig and all backends turn routes off
    provider_names: Mapping[int, str]  # by index of a backend, the name of its provider's objects
    first_backends: Mapping[tuple[str, str, int], int]  # by app, model and priority, the first backend's index


def read_model_route(context: RunContext, item: TrafficInput) -> ModelRoute:
    """The ModelRoute with its settings."""
    settings, backends = gateway_settings(context, item.namespace), item.spec["backends"]
    first_backends: dict[tuple[str, str, int], int] = {}
    for i, backend in enumerate(backends):
        if "provider" not in backend:
            first_backends.setdefault(_backend_key(context, item, backend), i)
    off = settings.mode == "off" and not any(_wants_route(context, item, backend, settings) for backend in backends)
    return ModelRoute(context, item, settings, off, dict(provider_names(item)), first_backends)


def _backend_key(context: RunContext, item: TrafficInput, backend: BackendSpec) -> tuple[str, str, int]:
    name = backend.get("playground") or backend.get("service") or ""
    app = context.apps.get((item.namespace, name))
    return name, other_model(app, backend) if app else "", backend.get("priority", 0)


def _wants_route(context: RunContext, item: TrafficInput, backend: BackendSpec, settings: GatewaySettings) -> bool:
    """Whether a backend turns routes on for itself although RenderConfig turns them off."""
    app = context.apps.get((item.namespace, backend.get("playground") or backend.get("service") or ""))
    return app is not None and task_routes.app_mode(context.inputs, app, settings) != "off"


def provider_names(item: TrafficInput) -> Iterator[tuple[int, str]]:
    """The names of the objects of a ModelRoute's providers, by the index of the backend."""
    names: list[str] = []
    for i, backend in enumerate(item.spec["backends"] if item.kind == "ModelRoute" else ()):
        if "provider" in backend:
            name = f"{item.name}-{backend['provider']['hostname'].replace('.', '-')}"
            while name in names:
                name += "-2"
            names.append(name)
            yield i, name


def leads_to_main(item: TrafficInput, app: App) -> bool:
    """Whether a ModelRoute of the namespace of an app leads to its first main model."""
    return item.kind == "ModelRoute" and any(
        app.name in (backend.get("playground"), backend.get("service")) and not other_model(app, backend)
        for backend in item.spec["backends"]
    )


class RouteBackend(Struct, frozen=True, eq=False):
    """A backend of a ModelRoute as it is written."""

    route: ModelRoute
    index: int

    @property
    def spec(self) -> BackendSpec:
        """Its settings."""
        spec: BackendSpec = self.route.item.spec["backends"][self.index]
        return spec

    @property
    def is_first(self) -> bool:
        """Whether no backend before it leads to the same models with the same priority."""
        return self.route.first_backends[_backend_key(self.route.context, self.route.item, self.spec)] == self.index

    @property
    def field(self) -> Literal["playground", "service", "provider"]:
        """The field that says where it leads."""
        return "provider" if "provider" in self.spec else "playground" if "playground" in self.spec else "service"

    @property
    def app_name(self) -> str:
        """The name of the app that it leads to."""
        return self.spec.get("playground") or self.spec.get("service") or ""

    @property
    def origin(self) -> Origin:
        """Where it is said where it leads."""
        return self.route.item.origin("spec", "backends", self.index, self.field)

    @property
    def model_field(self) -> Literal["adapter", "model"]:
        """The field that says which model of the app it leads to."""
        return "adapter" if "adapter" in self.spec else "model"

    @property
    def model_origin(self) -> Origin:
        """Where it is said which one."""
        return self.route.item.origin("spec", "backends", self.index, self.model_field)


class AppBackend(Struct, frozen=True, eq=False):
    """A backend with the app that it leads to."""

    backend: RouteBackend
    app: App


class BackendWorkloads(Struct, frozen=True, eq=False):
    """A backend with the workloads of its app."""

    of_app: AppBackend
    plans: Sequence[Plan]


class PoolShare(Struct, frozen=True, eq=False):
    """What a backend in a pool gets."""

    plan: Plan  # the workload
    name_in_engine: str  # by which requests ask its engine for the model or the adapter
    weight: int
    origin: Origin  # of the name


class PlannedBackend(Struct, frozen=True, eq=False):
    """A backend with what it leads to."""

    share: BackendShare
    plans: Sequence[Plan] = ()  # the workloads of its app
    provider: ProviderPlan | None = None
    pool_share: PoolShare | None = None  # in a pool


class RouteShares(Struct, frozen=True, eq=False):
    """What each backend of a ModelRoute gets of its requests."""

    route: ModelRoute
    shares: Sequence[BackendShare]  # of each backend
    plans: Sequence[Plan]  # the workloads of all apps
    providers: Sequence[ProviderPlan]
    pool_shares: Sequence[PoolShare]  # of the backends in pools

    @property
    def backends(self) -> list[RouteBackend]:
        """The backends as they are written."""
        return [RouteBackend(self.route, i) for i in range(len(self.route.item.spec["backends"]))]

    @property
    def priorities(self) -> set[int]:
        """The priorities of its backends."""
        return {share.priority for share in self.shares}

    @property
    def rewritten(self) -> PoolShare | None:
        """The first backend in a pool whose engine is asked for another name than the public one, for an adapter."""
        spec = self.route.item.spec
        if not any("adapter" in backend for backend in spec["backends"]):
            return None  # E647 holds the names together
        return next((share for share in self.pool_shares if share.name_in_engine != spec["modelName"]), None)
