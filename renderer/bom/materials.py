"""What the apps of a tree are made of: the models that they claim, and the images of their containers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from renderer import resolve
from renderer.api import App, OpenModel, RenderConfig, RenderOptions, TrafficInput
from renderer.diagnostics import Diagnostic, counted
from renderer.kubernetes import wellknown
from renderer.kubernetes.json_values import map_at, maps_at, text_at
from renderer.plan import Body, CacheNeed, Plan, Pod, TrafficPlan
from renderer.planning import plan_environments
from renderer.policy.definitions import moving_weights, weight_addresses
from renderer.resolve.kube.images import image_reference
from renderer.yamlio import Document

_IMAGE_SCHEME = "oci://"
_PAGES = {"Huggingface": "https://huggingface.co/", "ModelScope": "https://modelscope.cn/models/"}  # of models


class BilledModel(Struct, frozen=True, order=True):
    """A model, with what its OpenModel says of it."""

    name: str
    family: str
    task: str  # '' where nobody says it, as of the next two
    architecture: str
    licence: str
    address: str  # of its weights: that of a hub as hf://ORGANISATION/NAME
    hub_id: str  # on Hugging Face, '' elsewhere
    page: str  # that describes it, '' where none is known
    image: str  # that holds the weights, as its source says it, with its digest where one is known; '' for none
    revision: str  # on a hub
    files: tuple[str, ...]  # of the source, () where that is all
    moves: bool  # it names a branch or tag of its weights, or nothing where it could


class BilledImage(Struct, frozen=True):
    """An image, and the name of a container, or volume, that has it."""

    reference: str
    container: str


class BilledApp(Struct, frozen=True):
    """A Playground or Service in an environment."""

    environment: str  # '' for a tree without environments
    namespace: str
    kind: str
    name: str
    file: str
    engines: tuple[str, ...]  # with their versions
    models: frozenset[BilledModel]
    images: frozenset[BilledImage]


class Bill(Struct, frozen=True):
    """The bill of materials of a tree."""

    name: str  # of its RenderConfig
    apps: tuple[BilledApp, ...]

    @property
    def models(self) -> frozenset[BilledModel]:
        """Those of all apps."""
        return frozenset(model for app in self.apps for model in app.models)

    @property
    def images(self) -> frozenset[BilledImage]:
        """Those of all apps."""
        return frozenset(image for app in self.apps for image in app.images)


def bill_of_materials(options: RenderOptions) -> tuple[Bill, list[Diagnostic]]:
    """What the apps below PATHS are made of, in all environments or in the one of the options, and the diagnostics of
    the input. No objects are built, so errors that only the checks of objects find are missing. Raises RenderError.
    """
    trees, problems = plan_environments(options, _item_materials)
    apps = [
        replace(app, environment=name)
        for name, planned in trees.items()
        for answer in planned.answers
        for app in answer
    ]
    config = next(iter(trees.values())).scope.config.document
    name = text_at(config.value, "metadata", "name") if isinstance(config, Document) else ""
    return Bill(name or "llmaz", tuple(apps)), problems


def summary(bill: Bill) -> str:
    """What it holds, in one line, with what is not known."""
    references = {image.reference for image in bill.images}
    parts = [counted(len(bill.apps), "app"), counted(len(bill.models), "model"), counted(len(references), "image")]
    gaps = []
    if silent := sum(not model.licence for model in bill.models):
        gaps.append(f"{counted(silent, 'model')} without a licence")
    if moving := sum(model.moves for model in bill.models):
        gaps.append(f"{counted(moving, 'model')} on a branch or tag")
    return "; ".join(filter(None, (", ".join(parts), ", ".join(gaps))))


def _item_materials(
    context: resolve.RunContext, item: App | TrafficInput, plans: Sequence[Plan | TrafficPlan]
) -> list[BilledApp]:
    """The materials of an app, without the environment; none for traffic."""
    if not isinstance(item, App):
        return []
    workloads = [plan for plan in plans if isinstance(plan, Plan)]
    claimed = [model for place in resolve.app_placements(context, item) for model in place.claimed]
    models = frozenset(_billed_model(context.inputs.config, model) for model in claimed)
    others = {"", *(_weight_image(context.inputs.config, model.address) for model in models)}
    images = frozenset(image for image in _images(context, workloads) if image.reference not in others)
    engines = {f"{plan.backend} {text_at(plan.annotations, wellknown.ENGINE_VERSION)}".strip() for plan in workloads}
    return [
        BilledApp(
            environment="",
            namespace=item.namespace,
            kind=item.kind,
            name=item.name,
            file=item.document.name,
            engines=tuple(sorted(engines - {""})),
            models=models,
            images=images,
        )
    ]


def _billed_model(config: RenderConfig, model: OpenModel) -> BilledModel:
    source, facts = map_at(model.spec, "source"), map_at(model.spec, "facts")
    hub = map_at(source, "modelHub")
    hub_name, hub_id = text_at(hub, "name", default="Huggingface"), text_at(hub, "modelID")
    address = next((text for _, text in weight_addresses(model)), "")
    digest = _weight_image(config, address).partition("@")[2]
    image = address.removeprefix(_IMAGE_SCHEME).partition("@")[0] if address.startswith(_IMAGE_SCHEME) else ""
    return BilledModel(
        name=model.name,
        family=text_at(model.spec, "familyName"),
        task=text_at(facts, "kind"),
        architecture=text_at(facts, "architecture"),
        licence=text_at(facts, "licence"),
        address=address,
        hub_id=hub_id if hub_name == "Huggingface" else "",
        page=f"{_PAGES[hub_name]}{hub_id}" if hub_id and hub_name in _PAGES else "",
        image=f"{image}@{digest}" if digest else image,
        revision=text_at(hub, "revision"),
        files=tuple(filter(None, (text_at(hub, "filename"), text_at(source, "projector")))),
        moves=moving_weights(model) is not None and not digest,
    )


def _weight_image(config: RenderConfig, address: str) -> str:
    """The image that pods mount for weights in one, at its mirror and with its digest; '' for another address."""
    return image_reference(config, address.removeprefix(_IMAGE_SCHEME)) if address.startswith(_IMAGE_SCHEME) else ""


def _images(context: resolve.RunContext, workloads: Iterable[Plan]) -> Iterator[BilledImage]:
    """The images of the pods of an app, of its picker, and of the Jobs that load its weights."""
    needs = set[CacheNeed]()
    for plan in workloads:
        for pod in (plan.leader, plan.worker if plan.size > 1 or not plan.leader else None):
            yield from _pod_images(pod) if pod else ()
        if plan.pool:
            yield BilledImage(plan.pool.image, wellknown.PICKER_CONTAINER)
        needs.update(need for need in plan.shared if isinstance(need, CacheNeed))
    for shared in resolve.cache_plans(context, sorted(needs), []):
        yield from _job_images(map_at(shared.cache.template, "spec") if shared.cache else {})


def _pod_images(pod: Pod) -> Iterator[BilledImage]:
    for container in (*pod.init_containers, *pod.containers):
        yield BilledImage(container.image, container.name)
    yield from _volume_images(pod.volumes)


def _job_images(spec: Mapping[str, object]) -> Iterator[BilledImage]:
    for container in (*maps_at(spec, "initContainers"), *maps_at(spec, "containers")):
        yield BilledImage(text_at(container, "image"), text_at(container, "name"))


def _volume_images(volumes: Sequence[Body]) -> Iterator[BilledImage]:
    for volume in volumes:
        yield BilledImage(text_at(volume, "image", "reference"), text_at(volume, "name"))
