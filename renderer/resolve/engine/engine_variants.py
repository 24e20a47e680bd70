"""Engine variants: which entry of engine.variants an accelerator takes, the error where none does, and their images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from renderer.api import BackendRuntime, Inputs, RenderConfig
from renderer.diagnostics import Collector, Origin
from renderer.engines.accelerator import Accelerator
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.flavors import Placement
from renderer.resolve.kube import images

if TYPE_CHECKING:
    from renderer.input_types import BackendRuntimeSpec, VariantSpec


def find_variant(engine: Engine, accelerator: Accelerator, has_flavors: bool) -> VariantSpec | None:
    """The first variant for the accelerator, {} without any variants; None when none fits. `has_flavors`: the model."""
    variants = engine.spec.get("variants")
    if not variants:
        return {}
    without_accelerator = not has_flavors and not accelerator.resource
    for candidate in variants:
        if candidate.get("unflavored") if without_accelerator else candidate["accelerator"] == accelerator.vendor:
            match: VariantSpec = candidate
            return match
    return None


def tag_of_own_image(engine: Engine, config: RenderConfig, image: str) -> str:
    """The tag of an image in one of the engine's repositories or in a mirror of it; '' of every other image, and
    without a tag.
    """
    repository, tag = images.split_tag(images.original_image(config, image))
    return tag if images.split_image(repository) in own_repositories(engine.runtime.spec) else ""


def is_own_image(spec: BackendRuntimeSpec, config: RenderConfig, image: str) -> bool:
    """Whether an image is in one of a runtime's repositories or in a mirror of it."""
    repository, _ = images.split_tag(images.original_image(config, image))
    return images.split_image(repository) in own_repositories(spec)


def own_repositories(spec: BackendRuntimeSpec) -> frozenset[tuple[str, str]]:
    """The repositories of a runtime's images: registry and path of each."""
    variants = (spec.get("engine") or {}).get("variants") or ()
    own = [spec["image"], *(variant["image"] for variant in variants if variant.get("image"))]
    return frozenset(map(images.split_image, own))


def refuse_accelerator(
    inputs: Inputs,
    engine: Engine,
    accelerator: Accelerator,
    placement: Placement,
    origin: Origin,
    diagnostics: Collector,
) -> NoReturn:
    """The error that no variant fits the accelerator. Raises Stop."""
    without_accelerator = not placement.has_flavors and not accelerator.resource
    vendors = [known_variant["accelerator"] for known_variant in _engine_variants(engine.runtime)]
    resources = [
        entry["name"]
        for vendor in vendors
        for entry in inputs.accelerators
        if entry.get("vendor") == vendor and entry["count"] == "tp"
    ][:2]
    if without_accelerator:
        place = "under spec.inferenceConfig.flavors"
        on_cpus = "to run on CPUs, add {name: cpu}, which has no limits"
        on_accelerators = "add one with the accelerators of a pod, such as {name: gpu, limits: {%s: 1}}"
        if placement.flavors:  # the catalog lends one
            place = f"in RenderConfig's flavor '{placement.flavors[0].name}'"
            on_cpus, on_accelerators = (
                "limits: {} to run on CPUs",
                "write the accelerators of a pod, such as limits: {%s: 1}",
            )
        ways = [on_accelerators % resources[0] if resources else "", on_cpus if "none" in vendors else ""]
        hint = f"{place} {'; '.join(filter(None, ways)) or 'add one'}"
        diagnostics.stop("E402", origin, backend=engine.runtime.name, hint=hint)
    vendor = accelerator.vendor if accelerator.resource else "nodes without an accelerator"
    diagnostics.stop(
        "E401", origin, backend=engine.runtime.name, vendor=vendor, hint=_accelerator_hint(inputs, engine, accelerator)
    )


def _accelerator_hint(inputs: Inputs, engine: Engine, accelerator: Accelerator) -> str:
    """The accelerators that this engine supports, and the engines that support this one."""
    vendor, name = accelerator.vendor, engine.runtime.name
    others = [
        other
        for other in inputs.runtimes
        if other != name and any(entry["accelerator"] == vendor for entry in _engine_variants(inputs.runtimes[other]))
    ]
    runs = f"it runs on {', '.join(entry['accelerator'] for entry in _engine_variants(engine.runtime))}"
    reason = (engine.spec.get("unsupported") or {}).get(vendor)
    nodes = vendor if accelerator.resource else "nodes without one"
    able = f"engines for {nodes}: {', '.join(others)}" if others else f"no backend known here runs on {nodes}"
    return "; ".join(filter(None, [reason, runs, able]))


def _engine_variants(runtime: BackendRuntime) -> Sequence[VariantSpec]:
    """The entries of `engine.variants`."""
    return (runtime.spec.get("engine") or {}).get("variants") or []
