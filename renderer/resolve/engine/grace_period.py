"""The grace period of a pod, which a preset states under `drain` (docs/presets.md#startup-and-drain).

It holds the whole drain: the hook's sleep, until nobody sends to the pod any more, and what the engine takes then.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from renderer.api import BackendRuntime
from renderer.diagnostics import Diagnostic, Origin, Path, make_diagnostic
from renderer.engines.runtime_versions import GRACE_PERIOD_NAMES

if TYPE_CHECKING:
    from renderer.input_types import DrainSpec, EngineSpec

_NAME, _OLD_NAME = GRACE_PERIOD_NAMES
_DRAIN: Path = ("spec", "engine", "drain")
_WITHOUT_DRAIN = 130  # seconds
_PRESET_SLEEP = 10  # seconds of the hook's sleep with which presets state it


def grace_seconds(engine_spec: EngineSpec, drain_sleep: int) -> int:
    """The grace period with this sleep of the hook."""
    drain = engine_spec.get("drain") or {}
    seconds = drain.get(stating_key(drain))
    return _WITHOUT_DRAIN if seconds is None else seconds + drain_sleep - _PRESET_SLEEP


def stating_key(drain: DrainSpec) -> Literal["gracePeriodSeconds", "seconds"]:
    """The key that states it."""
    return _OLD_NAME if _OLD_NAME in drain else _NAME


def invalid_drains(runtime: BackendRuntime) -> Iterator[Diagnostic]:
    """An error for each `drain` that states it by both names, and for the runtime's own where it does not at all."""
    engine: EngineSpec = runtime.spec.get("engine") or {}
    drains: list[tuple[Path, DrainSpec | None]] = [(_DRAIN, engine.get("drain"))]
    for i, entry in enumerate(engine.get("versions") or ()):
        drains.append((("spec", "engine", "versions", i, "drain"), entry.get("drain")))
    for path, drain in drains:
        if drain and all(name in drain for name in GRACE_PERIOD_NAMES):
            yield make_diagnostic(
                "E872", Origin(runtime.document, (*path, _OLD_NAME), key=True), old=_OLD_NAME, name=_NAME
            )
        elif drain is not None and path == _DRAIN and not any(name in drain for name in GRACE_PERIOD_NAMES):
            yield make_diagnostic("E302", Origin(runtime.document, path, key=True), word=_NAME, hint="")
