"""Whether the memory of a pod holds what its engine keeps there."""

from __future__ import annotations

from collections.abc import Iterator

from renderer.diagnostics import Diagnostic, make_diagnostic, rule
from renderer.engines.rules.accelerators import accelerators_used
from renderer.engines.running_engine import HeldCache, RunningEngine
from renderer.kubernetes import quantity
from renderer.kubernetes.json_values import text_at
from renderer.plan import Container

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
    """A warning where the processes of several accelerators have only the shared memory of any container, 64 MiB."""
    line, pod = running.line, running.pod
    if any(mount.get("mountPath") == _SHARED_MEMORY for mount in running.container.volume_mounts) or pod.rest.get(
        "hostIPC"
    ):
        return
    size = accelerators_used(line.engine, line.args)
    if size is not None and max(size, line.shared.size) > 1 and line.shared.origin:
        words = {"name": line.subject.name, "count": line.shared.accelerator.number}
        yield make_diagnostic("W428", line.shared.origin, **words)


def bounded_memory(container: Container) -> tuple[str, str]:
    """The side of a container's resources that bounds its memory, and how much that is; '' where nothing does."""
    for side in ("limits", "requests"):
        if memory := text_at(container.resources, side, "memory"):
            return side, memory
    return "requests", ""


def _shared_memory(running: RunningEngine) -> str:
    """The size of shared memory, '' without one."""
    mounts = (mount["name"] for mount in running.container.volume_mounts if mount["mountPath"] == _SHARED_MEMORY)
    name = next(mounts, None)
    volume = next((volume for volume in running.pod.volumes if volume["name"] == name), {})
    return text_at(volume, "emptyDir", "sizeLimit")


def _params(cache: HeldCache) -> dict[str, object]:
    file, line, _ = cache.origin.place
    return {"cpu": cache.amount, "file": file, "line": line}
