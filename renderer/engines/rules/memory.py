"""Whether the memory of a pod holds what its engine keeps there."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache

from msgspec import Struct

from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule
from renderer.engines.dialect import Dialect
from renderer.engines.given_options import option_values, written_options
from renderer.engines.handwritten_command import table_entry
from renderer.engines.rules.accelerators import accelerators_used
from renderer.engines.running_engine import EngineLine, HeldCache, RunningEngine
from renderer.engines.version_order import version_key
from renderer.fit.weights import GIB, read_weights
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import (
    as_map,
    as_text,
    list_at,
    map_at,
    maps_at,
    number_at,
    text_at,
    texts_at,
    value_at,
)
from renderer.plan import Container

_BESIDE = 16  # GiB that an engine needs beside what it holds there
_LAYERS = 0.75  # of the weights of a model, at least: engines offload no embeddings
_LEAST = 256 * 2**20  # bytes that Python and the libraries of an engine, or the smallest model, need
_LEAST_CPU = 10  # thousandths of a CPU: sidecars request so little, no engine
_OWN_SHARED = 64 * 2**20  # bytes of shared memory that each container has without a volume
_RDMA = "rdma/"  # what the device plugins of RDMA begin their resources with
_LOCK = "IPC_LOCK"
_LOCK_HINT = (
    "write capabilities: [IPC_LOCK] in the flavor, or securityContext: {capabilities: {add: [IPC_LOCK]}} in the "
    "container; PodSecurity baseline and restricted refuse it"
)
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where engines look for it


def _holds_cache(running: RunningEngine) -> object:
    return running.held_cache


@rule(of=RunningEngine, when=_holds_cache)
def too_little_memory(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for a container whose memory cannot hold the KV cache outside of accelerators."""
    cache, (_, memory) = running.held_cache, bounded_memory(running.container)
    if cache and memory and quantity.nanos(memory) // 10**9 < cache.size:
        yield make_diagnostic("E370", cache.memory.origin, memory=memory, sum=cache.memory.least, **_params(cache))


@rule(of=RunningEngine, when=_holds_cache)
def too_little_shared_memory(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for shared memory that cannot hold such a cache beside what else lies there."""
    cache, shared = running.held_cache, _shared_memory(running)
    need = cache.shared_memory if cache else None
    if cache and need and shared and quantity.nanos(shared) < quantity.nanos(need.least):
        yield make_diagnostic("E371", need.origin, size=shared, sum=need.least, **_params(cache))


@rule(
    of=RunningEngine,
    when=lambda running: running.line.engine.shares_memory and running.line.shared.accelerator.number > 1,
)
def without_shared_memory(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning where the processes of several accelerators have only the shared memory of any container, 64 MiB, or no
    more than that by a volume.
    """
    line, pod = running.line, running.pod
    volume, size_limit = _shared_volume(running)
    is_mounted = any(mount.get("mountPath") == _SHARED_MEMORY for mount in running.container.volume_mounts)
    if pod.rest.get("hostIPC") or (is_mounted and not (size_limit and 0 < _bytes(size_limit) <= _OWN_SHARED)):
        return
    size = accelerators_used(line.engine, line.args)
    if size is None or max(size, line.shared.size) < 2:
        return
    words = {"name": line.subject.name, "count": line.shared.accelerator.number}
    if not is_mounted and line.shared.origin:
        hint = "mount an emptyDir with medium: Memory there"
        yield make_diagnostic("W428", line.shared.origin, volume="no volume", size="64 MiB", hint=hint, **words)
    elif is_mounted and (origin := running.origin_of(("spec", "volumes", volume, "emptyDir", "sizeLimit"))):
        hint = "leave the size out, or write one such as 8Gi"
        yield make_diagnostic("W428", origin, volume="a small volume", size=size_limit, hint=hint, **words)


@rule(of=RunningEngine, when=lambda running: running.container.resources.get("limits"))
def tiny_memory(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for a limit of memory in which no engine starts, such as 64M for 64G, or this one does not on
    accelerators.
    """
    line, memory = running.line, text_at(running.container.resources, "limits", "memory")
    if not memory or (size := _bytes(memory)) < 2**20:  # W524 has those below
        return
    least = number_at(table_entry(line.backend), "leastMemory") if line.shared.accelerator.resource else 0
    if size >= max(least, _LEAST):
        return
    if origin := running.origin_of((*running.path, "resources", "limits", "memory")):
        likely_amount = memory.replace("M", "G") if "M" in memory else f"{math.ceil(size / 2**20)}Gi"
        hint = f"did you mean {likely_amount}? Leave" if size < _LEAST else "write 16Gi or more, or leave"
        words = {
            "name": line.subject.name,
            "memory": memory,
            "engine": "no engine starts" if size < _LEAST else f"{line.backend} does not start on an accelerator",
            "hint": f"{hint} the limit out where nobody knows how much is needed",
        }
        yield make_diagnostic("W491", origin, **words)


def _requests_part_of_a_cpu(running: RunningEngine) -> bool:
    return not str(value_at(running.container.resources, "requests", "cpu") or 0).isdecimal()


@rule(of=RunningEngine, when=_requests_part_of_a_cpu)
def tiny_cpu(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for a request of few thousandths of a CPU, such as 4m for 4. Of limits, which it may follow, `check`
    says so for any container.
    """
    sides = running.container.resources
    request, thousandths = value_at(sides, "requests", "cpu"), 0
    with suppress(ValueError):
        thousandths = quantity.thousandths(request)
    if not 0 < thousandths < _LEAST_CPU or request == value_at(sides, "limits", "cpu"):
        return
    if origin := running.origin_of((*running.path, "resources", "requests", "cpu")):
        words = {"name": "cpu", "value": request, "least": f"{_LEAST_CPU}m, with which no engine answers"}
        yield make_diagnostic("W524", origin, **words, hint=f"did you mean {thousandths}?")


@rule(of=RunningEngine, when=lambda running: _RDMA in "".join(map_at(running.container.resources, "limits")))
def unlocked_memory(running: RunningEngine) -> Iterator[Diagnostic]:
    """A note where a container with a device for RDMA may lock no more memory than any other."""
    container = running.container
    limits = map_at(container.resources, "limits")
    resource = next((name for name in limits if name.startswith(_RDMA) and limits[name] not in (0, "0")), "")
    security = as_map(container.security_context)
    if not resource or security.get("privileged") or _LOCK in list_at(security, "capabilities", "add"):
        return
    if origin := running.origin_of((*running.path, "resources", "limits", resource)) or running.line.shared.where():
        yield make_diagnostic("N482", origin, name=running.line.subject.name, resource=resource, hint=_LOCK_HINT)


@cache
def _held_options(backend: str, style: Dialect) -> frozenset[str]:
    """The names of the options by which the engine of a preset keeps KV cache or weights in memory."""
    return frozenset(style.name(text_at(row, "option")) for row in maps_at(table_entry(backend), "heldInMemory"))


@rule(
    of=RunningEngine,
    when=lambda running: (
        not running.line.options.isdisjoint(_held_options(running.line.backend, running.line.engine.style))
    ),
)
def cache_above_memory(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for KV cache or weights that somebody lets the engine keep in memory, where that alone is more than the
    container may have, or than shared memory has where it lies there.
    """
    line, container = running.line, running.container
    for row in maps_at(table_entry(line.backend), "heldInMemory"):
        is_cache = not row.get("weights")
        if line.engine.style.name(text_at(row, "option")) not in line.options or (is_cache and running.held_cache):
            continue
        cache = _held_bytes(line, row) if is_cache else _held_weights(running, row)
        origin = _option_origin(line, text_at(row, "option"))
        if not cache or origin is None:
            continue
        words = {"option": text_at(row, "option"), "amount": f"{cache.size / 2**30:.1f} GiB"}
        what = "KV cache" if is_cache else "weights"
        least = f"{math.ceil(cache.size / 2**30) + _BESIDE}Gi"
        limit, shared = text_at(container.resources, "limits", "memory"), _shared_memory(running)
        if limit and _bytes(limit) < cache.size:
            yield make_diagnostic("E488", origin, what=what, memory=limit, least=least, **words)
        if cache.is_shared and shared and _bytes(shared) < cache.size:
            yield make_diagnostic("E489", origin, size=shared, least=least, **words)


class _Held(Struct, frozen=True):
    """What lies in memory, as a command line says it."""

    size: float  # in bytes
    is_shared: bool  # it lies in shared memory


def _held_bytes(line: EngineLine, row: Mapping[str, object]) -> _Held | None:
    """How much an option says; None without it, and for what is no number."""
    option = text_at(row, "option")
    text = option_values(line.engine.style, line.args, frozenset([line.engine.style.name(option)]))
    value: object = next(iter(text.values()), "")
    settings: object = {}
    if key := text_at(row, "key"):
        try:
            settings = json.loads(str(value))
        except ValueError:
            return None
        value = value_at(settings, *key.split(".")) if isinstance(settings, dict) else None
    try:
        size = float(str(value)) * number_at(row, "unit")
    except ValueError:
        return None
    if row.get("each"):
        size *= line.shared.accelerator.number if line.shared.hosts == 1 else 1
    beside, first = text_at(row, "sharedWith"), as_text(row.get("sharedFrom"))
    is_shared = bool(beside and isinstance(settings, dict) and value_at(settings, *beside.split(".")))
    is_later = bool(first and line.version and version_key(line.version) >= version_key(first))
    is_later = is_later and line.shared.accelerator.vendor != text_at(row, "exceptOn")
    return _Held(size, is_shared or is_later) if 0 < size < math.inf else None


def _held_weights(running: RunningEngine, row: Mapping[str, object]) -> _Held | None:
    """How many weights an option moves to memory, at least; None where nobody knows how many there are."""
    line = running.line
    most, weights = _held_bytes(line, row), read_weights(running.facts())
    names = {line.engine.style.name(option) for option in texts_at(row, "unless")}
    if most is None or weights is None or not line.options.isdisjoint(names):
        return None
    return _Held(min(most.size, weights.gib * GIB * _LAYERS), is_shared=False)


def _option_origin(line: EngineLine, option: str) -> Origin | None:
    """Where somebody wrote an option last."""
    style, place = line.engine.style, None
    for written in written_options(style, line.written, (style.name(option),)):
        place = written.origin
    return place


def _bytes(amount: str) -> float:
    """A quantity in bytes; endless for what is none."""
    try:
        return quantity.nanos(amount) / 10**9
    except ValueError:
        return math.inf


def bounded_memory(container: Container) -> tuple[str, str]:
    """The side of a container's resources that bounds its memory, and how much that is; '' where nothing does."""
    for side in ("limits", "requests"):
        if memory := text_at(container.resources, side, "memory"):
            return side, memory
    return "requests", ""


def _shared_memory(running: RunningEngine) -> str:
    """The size of shared memory, '' without one."""
    return _shared_volume(running)[1]


def _shared_volume(running: RunningEngine) -> tuple[int, str]:
    """The index of the volume of shared memory, and its size; -1 and '' without one."""
    mounts = (
        mount.get("name") for mount in running.container.volume_mounts if mount.get("mountPath") == _SHARED_MEMORY
    )
    name = next(mounts, None)
    volumes = [(i, volume) for i, volume in enumerate(running.pod.volumes) if volume.get("name") == name]
    return (volumes[0][0], text_at(volumes[0][1], "emptyDir", "sizeLimit")) if volumes else (-1, "")


def _params(cache: HeldCache) -> dict[str, object]:
    file, line, _ = cache.origin.place
    return {"cpu": cache.amount, "file": file, "line": line}
