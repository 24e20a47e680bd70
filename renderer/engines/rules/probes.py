"""Whether the probes of an engine ask it as it answers, and let it start."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache

from renderer.diagnostics import Diagnostic, Origin, listed, make_diagnostic, rule
from renderer.engines.given_options import written_options
from renderer.engines.handwritten_command import absent_paths, option_variable, table_entry
from renderer.engines.running_engine import RunningEngine
from renderer.fit.weights import read_weights
from renderer.kubernetes.json_values import as_text, map_at, number_at, text_at, texts_at
from renderer.kubernetes.server_defaults import constants
from renderer.kubernetes.workloads import stays
from renderer.plan import Body

_TLS = "tls"
_PLAIN, _SECURE = "HTTP", "HTTPS"
_LARGE = 5  # GiB of weights that take longer than three probes
_LOADS = 120  # seconds that such a model takes at least, with the start of its engine
_WAITS = 1800  # seconds that a hint lets a model take
_KEPT = ("persistentVolumeClaim", "hostPath", "nfs", "csi")  # volumes that may have the weights from an earlier start


def _probes(running: RunningEngine) -> dict[str, Body]:
    """The probes of the container by their fields."""
    container = running.container
    return {
        "startupProbe": container.startup_probe,
        "readinessProbe": container.readiness_probe,
        "livenessProbe": container.liveness_probe,
    }


def _asks_absent_path(running: RunningEngine) -> bool:
    """Whether a probe asks for a path that the engine's version may not have."""
    paths = absent_paths(running.line.backend, running.line.version)
    return bool(paths) and any(_asked_path(probe) in paths for probe in _probes(running).values())


def _asked_path(probe: Body) -> str:
    return text_at(probe, "httpGet", "path").partition("?")[0].rstrip("/")


@rule(of=RunningEngine, when=_asks_absent_path)
def missing_paths(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for each probe of a path that the engine's version does not have: the server answers with 404."""
    line, number = running.line, running.port()
    if not number or not line.is_own_image() or line.hides_options:
        return
    if not line.options.isdisjoint(texts_at(table_entry(line.backend), "otherPaths")):
        return
    paths = absent_paths(line.backend, line.version)
    ports: dict[str, object] = {text_at(port, "name"): port.get("containerPort") for port in running.container.ports}
    for field, probe in _probes(running).items():
        path, target = _asked_path(probe), map_at(probe, "httpGet").get("port")
        if path not in paths or (ports.get(target) if isinstance(target, str) else target) != number:
            continue
        if origin := running.origin_of((*running.path, field, "httpGet", "path")):
            ready, alive = line.engine.health_paths
            right = alive if field == "livenessProbe" else ready
            words = {"probe": field, "path": path, "name": line.subject.name, "right": right}
            yield make_diagnostic("E469", origin, **words)


def _may_have_scheme(running: RunningEngine) -> bool:
    """Whether it is known by which scheme the engine answers, and a probe may ask by another one."""
    if not running.is_whole or _TLS not in table_entry(running.line.backend):
        return False
    if "ssl" in " ".join(running.line.options) or _tls_variables(running):
        return True
    return any(text_at(probe, "httpGet", "scheme") == _SECURE for probe in _probes(running).values())


@rule(of=RunningEngine, when=_may_have_scheme)
def other_scheme(running: RunningEngine) -> Iterator[Diagnostic]:
    """An error for the probes by HTTPS of an engine without certificates, and by HTTP of one that answers by HTTPS
    alone: the connection fails, and so does the probe. Those that have no place of their own are told together.
    """
    scheme, number = _served_scheme(running), running.port()
    if not scheme or not number:
        return
    line, container = running.line, running.container
    ports: dict[str, object] = {text_at(port, "name"): port.get("containerPort") for port in container.ports}
    beside = [body for body in running.pod.containers if body.name != container.name]
    others = [port.get("containerPort") for body in beside for port in body.ports]
    failing: dict[Origin, list[str]] = {}
    for field, probe in _probes(running).items():
        handler = map_at(probe, "httpGet")
        target, asked_scheme = handler.get("port"), text_at(handler, "scheme") or _PLAIN
        port = ports.get(target) if isinstance(target, str) else target
        if not handler or port != number or port in others or asked_scheme == scheme:
            continue
        option = next(written_options(line.engine.style, line.written, _tls_options(running)), None)
        written = option.origin if option else line.shared.where()
        if origin := running.origin_of((*running.path, field, "httpGet", "scheme")) or written:
            failing.setdefault(origin, []).append(field)
    hint = "write scheme: HTTPS in httpGet" if scheme == _SECURE else "leave scheme: HTTPS out of httpGet"
    if scheme == _PLAIN and (options := texts_at(table_entry(line.backend), _TLS)):
        hint += f", or start the engine with {' and '.join(options)}"
    unanswered = _PLAIN if scheme == _SECURE else _SECURE
    for origin, fields in failing.items():
        ask = f"the {listed(fields)} {'ask' if len(fields) > 1 else 'asks'} by {unanswered}"
        of_each = " of each, in podTemplate" if len(fields) > 1 and scheme == _SECURE else ""
        words = {"ask": ask, "name": line.subject.name, "scheme": scheme, "hint": hint + of_each}
        yield make_diagnostic("E495", origin, **words)


def _tls_options(running: RunningEngine) -> tuple[str, ...]:
    """The options with which the engine answers by HTTPS, all of them; none for one that cannot."""
    style = running.line.engine.style
    return tuple(map(style.name, texts_at(table_entry(running.line.backend), _TLS)))


def _tls_variables(running: RunningEngine) -> list[str]:
    """The variables of the container that say such options."""
    names = _tls_variable_names(running.line.backend)
    variables = [as_text(variable.get("name")) for variable in running.container.env] if names else []
    return [name for name in names if name in variables]


@cache
def _tls_variable_names(backend: str) -> list[str]:
    """The variables that say the options with which an engine answers by HTTPS."""
    entry = table_entry(backend)
    return list(filter(None, (option_variable(entry, option) for option in texts_at(entry, _TLS))))


def _served_scheme(running: RunningEngine) -> str:
    """The scheme by which the engine answers; '' where that is not known."""
    line, container, entry = running.line, running.container, table_entry(running.line.backend)
    if line.hides_options or not (line.is_own_image() or container.command):
        return ""
    options = _tls_options(running)
    given_count = len(line.options.intersection(options)) + len(_tls_variables(running))
    if options and given_count >= len(options):
        return _SECURE
    settings = frozenset(map(line.engine.style.name, texts_at(entry, "settingsFile")))
    has_variables = entry.get("optionVariables") is not None and container.rest.get("envFrom")
    says_more = has_variables or not line.options.isdisjoint(settings)
    return "" if given_count or (options and says_more) else _PLAIN


@rule(of=RunningEngine, when=lambda running: running.container.startup_probe)
def hasty_start(running: RunningEngine) -> Iterator[Diagnostic]:
    """A warning for a startup probe that ends the engine before large weights are loaded, or before a model is there
    that the engine downloads at its start; such a probe has 30 s by default.
    """
    probe = running.container.startup_probe
    defaults = constants("core.Probe")
    period, failures = (number_at(probe, key, default=defaults[key]) for key in ("periodSeconds", "failureThreshold"))
    seconds = number_at(probe, "initialDelaySeconds") + period * failures
    if seconds >= _LOADS or period <= 0:
        return
    weights = read_weights(running.facts())
    if weights and weights.gib > _LARGE:
        work = f"it loads {weights.gib:.1f} GiB of weights"
    elif not weights and _downloads(running):
        work = "it downloads its model"
    else:
        return
    if origin := running.origin_of((*running.path, "startupProbe")):
        least = math.ceil(_WAITS / period)
        words = {"name": running.line.subject.name, "seconds": f"{seconds:g}", "work": work, "least": least}
        yield make_diagnostic("W495", origin, **words)


def _downloads(running: RunningEngine) -> bool:
    """Whether the engine downloads the model at each start of its pod."""
    mounted = {mount.get("name") for mount in running.container.volume_mounts}
    has_kept_volume = any(
        volume.get("name") in mounted and not volume.keys().isdisjoint(_KEPT) for volume in running.pod.volumes
    )
    if has_kept_volume or any(not stays(("initContainers",), body.rest) for body in running.pod.init_containers):
        return False
    style, entry = running.line.engine.style, table_entry(running.line.backend)
    options = frozenset(map(style.name, texts_at(entry, "hubRepository")))
    return bool(running.weights_folder()) or not options.isdisjoint(running.line.options)
