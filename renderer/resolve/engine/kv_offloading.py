"""KV cache that an engine keeps outside of its accelerators: `spec.kvCacheOffloading` of a Playground
(docs/kv-cache.md). How an engine is told so stands in its preset, as entries of `engine.derived` with the words below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from renderer import template
from renderer.api import App
from renderer.diagnostics import Collector, Origin, Path
from renderer.engines.accelerator import Accelerator
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import map_at
from renderer.plan import Body
from renderer.resolve.engine.backend_runtime import Engine
from renderer.resolve.layers import ValueLayer
from renderer.template import TemplateError

KEY: Path = ("spec", "kvCacheOffloading")
_VOLUME = "kv-cache"
_GIB = 2**30
_WORD = frozenset(["Path"])  # of `tier` in presets


class Tier(Struct, frozen=True):
    """A folder for files of the KV cache."""

    volume: str  # its name
    path: str
    source: Body  # what the volume is, in the API's words
    size: int  # in bytes, 0 for a claim
    origin: Origin


class KVOffloading(Struct, frozen=True):
    """What a Playground says of its KV cache."""

    memory: str  # of each pod, a canonical quantity
    policy: str
    tiers: tuple[Tier, ...]
    origin: Origin  # of the key

    @property
    def size(self) -> int:
        """The memory in bytes."""
        return size_in_bytes(self.memory)


def read_offloading(app: App, diagnostics: Collector) -> KVOffloading | None:
    """What the app says; None where it says nothing, or no size."""
    spec = app.spec.get("kvCacheOffloading")
    if not spec:
        return None
    origin = app.origin(*KEY)
    memory = _read_size(spec["cpu"], origin.at("cpu"), diagnostics)
    tiers: list[Tier] = []
    for i, entry in enumerate(spec.get("secondary") or ()):
        volume, tier_origin = f"{_VOLUME}-{i}", origin.at("secondary", i)
        source: Body = {"persistentVolumeClaim": {"claimName": entry.get("pvc")}}
        size = ""
        if "emptyDir" in entry:
            size = _read_size(entry["emptyDir"], tier_origin.at("emptyDir"), diagnostics)
            source = {"emptyDir": {"sizeLimit": size}}
        path = entry.get("path") or f"/mnt/{volume}"
        if any(path == tier.path for tier in tiers):
            diagnostics.add("E294", tier_origin.at("path"), name=path)
        tiers.append(Tier(volume, path, source, size_in_bytes(size) if size else 0, tier_origin))
    return KVOffloading(memory, spec.get("evictionPolicy", ""), tuple(tiers), origin) if memory else None


def _read_size(value: object, origin: Origin, diagnostics: Collector) -> str:
    """The canonical size; an error and '' for what is none."""
    try:
        size = quantity.canonical(value)
    except ValueError:
        diagnostics.add("E305", origin, value=value, hint=quantity.hint(value))
        return ""
    if size_in_bytes(size) < 1:
        diagnostics.add("E298", origin, value=value, what="not a size", hint="write one such as 64Gi")
        return ""
    return size


def size_in_bytes(size: str) -> int:
    """A canonical size in bytes."""
    return quantity.nanos(size) // 10**9


def _add(size: object, more: str) -> str:
    """The canonical sum of two sizes. Raises ValueError."""
    total = size_in_bytes(quantity.canonical(size)) + size_in_bytes(more)
    return quantity.canonical(f"{total // 1024}Ki" if total % 1024 == 0 else total)


def offloading_words(
    engine: Engine, offloading: KVOffloading, accelerator: Accelerator, ranks: int, diagnostics: Collector
) -> Mapping[str, object]:
    """The words of a preset's templates. `ranks`: data parallel ranks of a pod, among which its memory is shared out.
    Raises Stop where the preset's `tier` is not a template.
    """
    pattern: str = (engine.spec.get("kvCacheOffloading") or {}).get("tier", "")
    try:
        filler = template.compile_template(pattern, _WORD)
        tiers = [str(filler({"Path": tier.path})) if filler else pattern for tier in offloading.tiers]
    except TemplateError as error:
        origin = engine.origin.at("engine", "kvCacheOffloading", "tier")
        diagnostics.stop("E420", origin, what=error, hint="the only word here is Path")
    number = max(accelerator.number, 1)
    gib, rest = divmod(offloading.size, _GIB * ranks)
    fraction = offloading.size / _GIB if ranks == 1 else offloading.size * 100 // (_GIB * ranks) / 100  # never more
    disk = min([tier.size for tier in offloading.tiers if tier.size], default=0)
    return {
        "KVOffloadGiB": fraction if rest else gib,
        "KVOffloadShareGB": offloading.size // number // 10**9,
        "KVOffloadPolicy": offloading.policy,
        "KVOffloadTiers": ", ".join(tiers),
        "KVOffloadDiskShare": disk * 9 // 10 // number,
    }


def memory_layer(offloading: KVOffloading, layers: Sequence[ValueLayer]) -> ValueLayer:
    """The layer of resources that adds the memory to what `layers` ask for without it."""
    sides: dict[str, dict[str, object]] = {}
    for layer in layers:
        for side in ("limits", "requests"):
            if value := map_at(layer.value, side).get("memory"):
                sides[side] = {"memory": value}
    sides.setdefault("requests", {"memory": "0"})
    for side, amounts in sides.items():
        try:
            sides[side] = {"memory": _add(amounts["memory"], offloading.memory)}
        except ValueError:
            continue  # reported where it is said
    return ValueLayer(sides, offloading.origin.at("cpu"))


def shared_memory_layers(offloading: KVOffloading, layers: Sequence[ValueLayer]) -> list[ValueLayer]:
    """The layer of shared memory that adds the memory to what `layers` come to without it; none for no quantity."""
    try:
        size = _add(layers[-1].value if layers else "0", offloading.memory)
    except ValueError:
        return []  # reported where it is said
    return [ValueLayer(size, offloading.origin.at("cpu"))]


class SumOrigin(Struct, frozen=True):
    """The origin of sums that are made of one size: the same for each of them."""

    origin: Origin

    def at(self, *path: str | int) -> Origin:
        """The origin of the size."""
        return self.origin


def tier_mounts(offloading: KVOffloading) -> tuple[Body, ...]:
    """The mounts of the folders."""
    return tuple({"name": tier.volume, "mountPath": tier.path} for tier in offloading.tiers)


def tier_volumes(offloading: KVOffloading) -> tuple[Body, ...]:
    """The volumes of the folders."""
    return tuple({"name": tier.volume, **tier.source} for tier in offloading.tiers)
