"""Pods: what holds together inside one, wherever its template stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeVar

from renderer import quantity
from renderer.check.finding import Body, Finding
from renderer.problems import Path
from renderer.yamlio import Shared

_NAME: Callable[[Body], Any] = itemgetter("name")
_PATH: Callable[[Body], Any] = itemgetter("mountPath")

_BYTES = frozenset(("memory", "ephemeral-storage"))
_MEBI = 2**20 * 10**9  # in billionths, as quantities are counted
_KEPT = 1_000
T = TypeVar("T")


def _once(said: Callable[[Body], T]) -> Callable[[Body], T]:
    """What is said of a part of a pod; of one that many pods share, once: nobody changes that any more."""
    known: dict[int, tuple[Body, T]] = {}  # by its id, which no other gets while it is in here

    def once(part: Body) -> T:
        if part.__class__ is not Shared:
            return said(part)
        found = known.get(id(part))
        if found is None:
            if len(known) >= _KEPT:
                known.clear()
            found = known[id(part)] = part, said(part)
        return found[1]

    return once


def pod(spec: Body) -> Iterator[Finding]:
    """Unique names, mounts with a volume, probes on a port that is there, requests within limits, time to sleep."""
    volumes = _unique(spec.get("volumes") or (), _NAME)
    if isinstance(volumes, int):
        yield "E520", ("volumes", volumes, "name"), {"what": "volume", "name": spec["volumes"][volumes]["name"]}
        return
    spread: list[tuple[str, str]] = []
    for i, each in enumerate(spec.get("topologySpreadConstraints") or ()):
        key = each["topologyKey"], each["whenUnsatisfiable"]
        if key in spread:
            words = {"what": "topology spread constraint", "name": ", ".join(key)}
            yield "E520", ("topologySpreadConstraints", i), words
        spread.append(key)
    names: set[str] = set()
    for group in ("initContainers", "containers"):
        for i, container in enumerate(spec.get(group) or ()):
            path: Path = (group, i)
            if container["name"] in names:
                yield "E520", (*path, "name"), {"what": "container", "name": container["name"]}
            names.add(container["name"])
            for code, below, words in _container(container, volumes):
                yield code, (*path, *below), words
            if "lifecycle" in container:
                yield from _sleeps(spec, container["lifecycle"], path)


def _sleeps(spec: Body, lifecycle: Body, path: Path) -> Iterator[Finding]:
    """A hook may sleep as long as the pod's grace period, even the one after the start."""
    grace = spec.get("terminationGracePeriodSeconds", 30)
    for hook, seconds in _slept(lifecycle):
        if seconds > grace:
            said: Path = ("terminationGracePeriodSeconds",)
            where = said if said[0] in spec else (*path, "lifecycle", hook, "sleep", "seconds")
            yield "E527", where, {"hook": hook, "seconds": seconds, "grace": grace}


@_once
def _slept(lifecycle: Body) -> list[tuple[str, float]]:
    """The hooks that sleep, and how long."""
    handlers = [(hook, lifecycle.get(hook) or {}) for hook in ("postStart", "preStop")]
    return [(hook, sleep.get("seconds", 0)) for hook, handler in handlers if (sleep := handler.get("sleep"))]


def _container(container: Body, volumes: set[str]) -> Iterator[Finding]:
    ports: set[Any] = set()
    for i, port in enumerate(container.get("ports") or ()):
        if "name" in port:
            if port["name"] in ports:
                yield "E520", ("ports", i, "name"), {"what": "port", "name": port["name"]}
            ports.add(port["name"])
    env = container.get("env") or ()
    if isinstance(twice := _unique(env, _NAME), int):
        yield "E520", ("env", twice, "name"), {"what": "environment variable", "name": env[twice]["name"]}
    for i, entry in enumerate(env):
        if "valueFrom" not in entry:
            continue
        if entry.get("value"):
            yield "E524", ("env", i), {"name": entry["name"]}
        field = (entry["valueFrom"] or {}).get("fieldRef")
        if field and field.get("apiVersion", "") not in ("", "v1"):
            yield "E528", ("env", i, "valueFrom", "fieldRef", "apiVersion"), {"version": field["apiVersion"]}
    mounts = container.get("volumeMounts") or ()
    if isinstance(twice := _unique(mounts, _PATH), int):
        yield "E520", ("volumeMounts", twice, "mountPath"), {"what": "mount", "name": mounts[twice]["mountPath"]}
    if not volumes.issuperset(map(_NAME, mounts)):
        for i, mount in enumerate(mounts):
            if mount["name"] not in volumes:
                yield "E521", ("volumeMounts", i, "name"), {"name": mount["name"]}
    for key in ("startupProbe", "readinessProbe", "livenessProbe"):
        for action, name in _asked(probe) if (probe := container.get(key)) else ():
            if name not in ports:
                yield "E522", (key, action, "port"), {"name": name}
    if sides := container.get("resources"):
        yield from _amounts(sides)


@_once
def _asked(probe: Body) -> list[tuple[str, str]]:
    """What a probe does, and the name of the port that it does it to."""
    actions = [(action, probe.get(action) or {}) for action in ("httpGet", "tcpSocket")]
    return [(action, port) for action, asked in actions if isinstance(port := asked.get("port"), str)]


@_once
def _amounts(sides: Body) -> list[Finding]:
    """What is wrong with requests and limits."""
    found: list[Finding] = []
    try:
        found.extend(_resources(sides))
    except ValueError:
        found.extend(_unreadable(sides))
    return found


def _resources(sides: Body) -> Iterator[Finding]:
    """Requests within limits; extended resources whole and alike on both sides; bytes in sizes that somebody may mean.
    Raises ValueError.
    """
    limits = sides.get("limits") or {}
    for name, request in (sides.get("requests") or {}).items():
        limit = limits.get(name, request)
        if request != limit and quantity.nanos(request) > quantity.nanos(limit):
            yield "E523", ("resources", "requests", name), {"name": name, "request": request, "limit": limit}
        elif _fixed(name) and (name not in limits or quantity.nanos(request) != quantity.nanos(limit)):
            yield "E525", ("resources", "requests", name), {"name": name, "request": request}
        if name in _BYTES and _tiny(request):
            yield "W524", ("resources", "requests", name), _meant(name, request)
    for name, limit in limits.items():
        if name in _BYTES:
            if _tiny(limit):
                yield "W524", ("resources", "limits", name), _meant(name, limit)
        elif _extended(name) and not str(limit).isdecimal() and quantity.nanos(limit) % 10**9:
            yield "E526", ("resources", "limits", name), {"name": name, "value": limit}


def _unreadable(sides: Body) -> Iterator[Finding]:
    """Quantities that a schema takes and Kubernetes does not."""
    for side in ("limits", "requests"):
        for name, value in (sides.get(side) or {}).items():
            try:
                quantity.nanos(value)
            except ValueError:
                yield "E305", ("resources", side, name), {"value": value}


def _extended(name: str) -> bool:
    """Whether a device plugin or the like brings the resource: Kubernetes does not divide or overcommit those."""
    return "/" in name and "kubernetes.io/" not in name


def _fixed(name: str) -> bool:
    """Whether a request needs a limit, and the same one."""
    return ("/" in name and "kubernetes.io/" not in name) or name.startswith("hugepages-")


@lru_cache(maxsize=1024)
def _tiny(value: object) -> bool:
    """Whether a number of bytes is so small that something else was meant."""
    return 0 < quantity.nanos(value) < _MEBI


def _meant(name: str, value: object) -> dict[str, Any]:
    """The words for a tiny number of bytes: `512m` is half a byte, and `16` is sixteen."""
    number = str(value).rstrip("numkKi")
    hint = f"did you mean {number}Mi{'' if number != str(value) else f', or {number}Gi'}?"
    return {"name": name, "value": value, "hint": hint}


def _unique(items: Sequence[Body], key: Callable[[Body], Any]) -> set[str] | int:
    """All values of the key, or the index of the first that came before."""
    seen = set(map(key, items))
    if len(seen) == len(items):
        return seen
    values = [*map(key, items)]
    return next(i for i, value in enumerate(values) if value in values[:i])
