"""KV cache that an engine keeps outside of its accelerators: `spec.kvCacheOffloading` of a Playground
(docs/kv-cache.md). How an engine is told so stands in its preset, as entries of `engine.derived` with the words below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from renderer import quantity, template
from renderer.api import App, Inputs
from renderer.diagnostics import Collector, Origin, Path, counted
from renderer.json_values import map_at, text_at
from renderer.plan import Body, Container, Pod
from renderer.resolve.engine.backend_runtime import DerivedEntry, Engine
from renderer.resolve.engine.dialect import ArgLayer
from renderer.resolve.engine.template_words import NO_OFFLOADING
from renderer.resolve.flavors import Accelerator
from renderer.resolve.layers import ValueLayer
from renderer.template import TemplateError, Words

KEY: Path = ("spec", "kvCacheOffloading")
_VOLUME = "kv-cache"
_SHARED_MEMORY = "dshm"
_GIB = 2**30
_WORD = frozenset(["Path"])  # of `tier` in presets


class Tier(Struct, frozen=True):
    """A folder for files of the KV cache. `volume`: its name; `source`: what the volume is, in the API's words;
    `size`: in bytes, 0 for a claim.
    """

    volume: str
    path: str
    source: Body
    size: int
    origin: Origin


class KVOffloading(Struct, frozen=True):
    """What a Playground says of its KV cache. `memory`: of each pod, a canonical quantity; `origin`: of the key."""

    memory: str
    policy: str
    tiers: tuple[Tier, ...]
    origin: Origin

    @property
    def size(self) -> int:
        """The memory in bytes."""
        return _bytes(self.memory)


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
        tiers.append(Tier(volume, path, source, _bytes(size) if size else 0, tier_origin))
    return KVOffloading(memory, spec.get("evictionPolicy", ""), tuple(tiers), origin) if memory else None


def _read_size(value: object, origin: Origin, diagnostics: Collector) -> str:
    """The canonical size; an error and '' for what is none."""
    try:
        size = quantity.canonical(value)
    except ValueError:
        diagnostics.add("E305", origin, value=value)
        return ""
    if _bytes(size) < 1:
        diagnostics.add("E298", origin, value=value, what="no size", hint="write one such as 64Gi")
        return ""
    return size


def _bytes(size: str) -> int:
    return quantity.nanos(size) // 10**9


def _add(size: object, more: str) -> str:
    """The canonical sum of two sizes. Raises ValueError."""
    total = _bytes(quantity.canonical(size)) + _bytes(more)
    return quantity.canonical(f"{total // 1024}Ki" if total % 1024 == 0 else total)


def offloading_words(
    engine: Engine, offloading: KVOffloading, accelerator: Accelerator, ranks: int, diagnostics: Collector
) -> Mapping[str, object]:
    """The words of a preset's templates. `ranks`: data parallel ranks of a pod, among which its memory is shared out.
    Raises Stop where the preset's `tier` is no template.
    """
    pattern: str = (engine.spec.get("kvCacheOffloading") or {}).get("tier", "")
    try:
        filler = template.compile_template(pattern, _WORD)
        tiers = [str(filler({"Path": tier.path})) if filler else pattern for tier in offloading.tiers]
    except TemplateError as error:
        origin = engine.origin.at("engine", "kvCacheOffloading", "tier")
        diagnostics.stop("E420", origin, what=error, hint="the one word here is Path")
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


# What does not go together


def validate_engine(
    inputs: Inputs, engine: Engine, accelerator: Accelerator, offloading: KVOffloading, diagnostics: Collector
) -> None:
    """An error for what the engine cannot do, on any accelerator or on this one, and for too little memory."""
    name, origin = engine.runtime.name, Origin(offloading.origin.source, offloading.origin.path, key=True)
    ability = engine.spec.get("kvCacheOffloading")
    if not ability:
        able = ", ".join(_able_engines(inputs))
        hint = f"leave it out, or use an engine that can: {able}" if able else "leave it out"
        diagnostics.add("E372", origin, backend=name, what="takes no kvCacheOffloading", hint=hint)
        return
    vendors = ability.get("accelerators") or [accelerator.vendor]
    if accelerator.vendor not in vendors:
        where = (
            f"on {accelerator.vendor}" if accelerator.resource else "without an accelerator, where it is memory anyway"
        )
        hint = f"leave it out, or take a flavor of {', '.join(vendors)}"
        diagnostics.add("E372", origin, backend=name, what=f"offloads no KV cache {where}", hint=hint)
        return
    if offloading.size < max(accelerator.number, 1) * _GIB:
        number = accelerator.number
        what = f"less than 1Gi for each of {number} accelerators" if number > 1 else "less than 1Gi"
        hint = f"write {max(number, 1)}Gi or more"
        diagnostics.add("E298", offloading.origin.at("cpu"), value=offloading.memory, what=what, hint=hint)
    policies = ability.get("evictionPolicies") or []
    if offloading.policy and offloading.policy not in policies:
        hint = f"it knows {', '.join(policies)}" if policies else "leave it out"
        what = f"knows no eviction policy '{offloading.policy}'"
        diagnostics.add("E372", offloading.origin.at("evictionPolicy"), backend=name, what=what, hint=hint)
    most = ability.get("mostTiers", len(offloading.tiers)) if "tier" in ability else 0
    if len(offloading.tiers) > most:
        few = f"keeps files in {counted(most, 'folder')}, not in {len(offloading.tiers)}"
        what = few if most else "keeps no KV cache in files"
        tier_origin = offloading.tiers[most].origin
        diagnostics.add(
            "E372", tier_origin, backend=name, what=what, hint="leave this one out" if most else "leave it out"
        )


def _able_engines(inputs: Inputs) -> Iterator[str]:
    for name, runtime in inputs.runtimes.items():
        if "kvCacheOffloading" in (runtime.spec.get("engine") or {}):
            yield name


def validate_options(
    engine: Engine,
    words: Words,
    offloading: KVOffloading,
    layers: Sequence[ArgLayer],
    envs: Sequence[ValueLayer],
    diagnostics: Collector,
) -> None:
    """An error for each option and variable of users that says what the key says. `layers`, `envs`: those of the
    OpenModel and the Playground.
    """
    entries = [entry for entry in engine.derivation(words).entries if not entry.words.isdisjoint(NO_OFFLOADING)]
    ability = engine.spec.get("kvCacheOffloading") or {}
    options = {engine.style.name(option) for option in ability.get("options") or ()}
    options |= {engine.style.name(arg) for entry in entries if entry.args for arg in entry.args(words)} - {""}
    multipliers = {engine.style.name(option) for option in ability.get("multipliedBy") or ()}
    variables = {str(variable["name"]) for entry in entries for variable in _variables(entry, words)}
    file, line, _ = offloading.origin.place
    for layer in layers:
        for i, token in enumerate(layer.args):
            option = token.partition("=")[0]
            if engine.style.name(token) in options:
                diagnostics.add("E373", layer.origin.at(i), given=option, file=file, line=line)
            elif engine.style.name(token) in multipliers:
                what = f"would keep {offloading.memory} of KV cache for each of the engines that {option} runs"
                hint = f"say data under spec.parallelism, or leave kvCacheOffloading in line {line} of {file} out"
                diagnostics.add("E372", layer.origin.at(i), backend=engine.runtime.name, what=what, hint=hint)
    for env in envs:
        for i, variable in enumerate(env.value):
            if (name := str(variable.get("name"))) in variables:
                diagnostics.add("E373", env.origin.at(i, "name"), given=name, file=file, line=line)


def _variables(entry: DerivedEntry, words: Words) -> Sequence[Mapping[str, object]]:
    variables = entry.envs(words) if entry.envs else ()
    return variables if isinstance(variables, list) else ()


def warn_unbounded(engine: Engine, words: Words, offloading: KVOffloading, diagnostics: Collector) -> None:
    """A warning for each empty volume whose size nothing keeps the engine's files below."""
    if any("KVOffloadDiskShare" in entry.words for entry in engine.derivation(words).entries):
        return
    for tier in offloading.tiers:
        if tier.size:
            origin = tier.origin.at("emptyDir")
            diagnostics.add(
                "W370", origin, backend=engine.runtime.name, size=text_at(tier.source, "emptyDir", "sizeLimit")
            )


def validate_hosts(offloading: KVOffloading, hosts: int, diagnostics: Collector) -> None:
    """An error for a replica of several pods: nobody has seen that work."""
    if hosts > 1:
        diagnostics.add("E374", Origin(offloading.origin.source, offloading.origin.path, key=True), hosts=hosts)


class PodSizes(Struct, frozen=True):
    """What a pod with offloading has to have. `memory`: with what the engine asks for without it; `memory_origin`: of
    what the runner has; `shared_memory`: the size of /dev/shm, '' where nothing of it lies there.
    """

    memory: str
    memory_origin: Origin
    shared_memory: str
    shared_memory_origin: Origin


def validate_pod(offloading: KVOffloading, pod: Pod, sizes: PodSizes, diagnostics: Collector) -> None:
    """Errors for a pod whose memory, or shared memory, is too small, and for folders that other mounts are in the way
    of.
    """
    runner = pod.containers[0]
    file, line, _ = offloading.origin.at("cpu").place
    words = {"cpu": offloading.memory, "file": file, "line": line}
    memory = runner_memory(runner)[1]
    if memory and _bytes(memory) < offloading.size:
        diagnostics.add("E370", sizes.memory_origin, memory=memory, sum=sizes.memory, **words)
    volume = next((volume for volume in pod.volumes if volume["name"] == _SHARED_MEMORY), {})
    shared = text_at(volume, "emptyDir", "sizeLimit")
    if shared and sizes.shared_memory and quantity.nanos(shared) < quantity.nanos(sizes.shared_memory):
        diagnostics.add("E371", sizes.shared_memory_origin, size=shared, sum=sizes.shared_memory, **words)
    own = {tier.volume for tier in offloading.tiers}
    others = [str(mount["mountPath"]).rstrip("/") for mount in runner.mounts if mount["name"] not in own]
    for tier in offloading.tiers:
        for path in others:
            if f"{path}/".startswith(f"{tier.path}/") or f"{tier.path}/".startswith(f"{path}/"):
                what = f"{tier.path} and {path} would be mounted one over the other"
                hint = "take another path, such as /mnt/kv-cache"
                diagnostics.add("E299", tier.origin.at("path"), what=what, hint=hint)


def runner_memory(runner: Container) -> tuple[str, str]:
    """The side of the runner's resources that bounds its memory, and how much that is; '' where nothing does."""
    for side in ("limits", "requests"):
        if memory := text_at(runner.resources, side, "memory"):
            return side, memory
    return "requests", ""
