"""Whether the image of an engine knows the user that its pod runs it as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from renderer.check.engines.containers import EngineContainer
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule
from renderer.kubernetes.json_values import map_at, maps_at, text_at, value_at

_SECURITY = "securityContext"


@rule(of=EngineContainer)
def unknown_user(container: EngineContainer) -> Iterator[Diagnostic]:
    """A warning for a user that the image of the engine's project does not have. One that has to be another than root
    without a number is none: OpenShift gives it one.
    """
    if not container.recognised.is_own_image:
        return
    known = _image_security(container)
    user, origin = _field(container, "runAsUser")
    backend, entry = container.recognised.engine.runtime.name, known.get("user")
    advice = f"write runAsUser: {entry}, runAsGroup: {known.get('group', entry)}" if entry is not None else ""
    if user not in (None, 0, entry) and not known.get("anyUser") and not _has_home(container):
        home = "write the variables HOME and USER, and mount volumes where it writes: "
        folders = ", ".join([*known.get("writable", ()), "its caches"])
        hint = f"{advice}, or {home}{folders}" if advice else f"{home}{folders}"
        yield make_diagnostic("W309", origin, backend=backend, user=user, hint=hint)


def _has_home(container: EngineContainer) -> bool:
    """Whether somebody has thought of the home of a user that the image does not know."""
    return any(variable.get("name") == "HOME" for variable in maps_at(container.body, "env"))


def _field(container: EngineContainer, field: str) -> tuple[object, Origin]:
    """The value of a field of the container's security context, else of its pod's, and its place."""
    if (value := value_at(container.body, _SECURITY, field)) is not None:
        return value, container.origin(_SECURITY, field)
    return value_at(container.pod, _SECURITY, field), container.document.origin(*container.pod_path, _SECURITY, field)


def _image_security(container: EngineContainer) -> Mapping[str, Any]:
    """`security` of the preset's variant with this image, else of the preset."""
    engine = map_at(container.recognised.engine.runtime.spec, "engine")
    name = text_at(container.body, "image").partition("@")[0].rpartition("/")[2].partition(":")[0]
    for variant in maps_at(engine, "variants"):
        image = text_at(variant, "image") or container.recognised.engine.runtime.spec["image"]
        if image.rpartition("/")[2] == name and variant.get("security"):
            return map_at(variant, "security")
    return map_at(engine, "security")
