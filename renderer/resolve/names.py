"""Validates names against Kubernetes' rules for all objects and labels made of them
(docs/design/contract.md#names-that-fit).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from renderer.api import App, OpenModel, TrafficInput
from renderer.diagnostics import Diagnostic, Origin, make_diagnostic, rule
from renderer.kubernetes import wellknown

if TYPE_CHECKING:
    from renderer.input_types import EngineSpec

_LABEL = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_OBJECT = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
_DNS_LABEL = 63
_SUBDOMAIN = 253
_REVISION = 11  # `-` and ten characters that a StatefulSet adds to its name in a pod label
_SHORT = _DNS_LABEL - _REVISION  # a name of this length is always valid where a group has one pod


def invalid_app_names(app: App, size: int, groups: int) -> Iterator[Diagnostic]:
    """Errors for the app's name, names derived from it, and its namespace. `size`: pods a group; `groups`: at most."""
    if size > 1 or len(app.name) > _SHORT or not _LABEL.fullmatch(app.name):
        yield from _invalid_app_name(app, size, groups)
    if not is_dns_label(app.namespace):
        yield make_diagnostic("E282", app.origin("metadata", "namespace"), name=app.namespace)


def _invalid_app_name(app: App, size: int, groups: int) -> Iterator[Diagnostic]:
    name = app.name
    if not _LABEL.fullmatch(name):
        yield make_diagnostic(
            "E280",
            app.origin("metadata", "name"),
            name=name,
            hint="begin with a letter"
            if name[:1].isdigit()
            else "use small letters, digits and '-', a letter first and no '-' last",
        )
    else:
        longest = name if size == 1 else f"{name}-{max(groups - 1, 0)}"
        suffix = f"-{app.role}" if app.role else ""  # of a role, which nobody can shorten
        most = _DNS_LABEL - _REVISION - (len(longest) - len(name)) - len(suffix)
        limit = _DNS_LABEL - _REVISION
        if len(name) + len(wellknown.LEADERS_SERVICE) > _DNS_LABEL:
            longest, limit = name + wellknown.LEADERS_SERVICE, _DNS_LABEL
        if len(longest) > limit:
            words = {"name": longest, "length": len(longest), "limit": limit, "most": most}
            yield make_diagnostic("E281", app.origin("metadata", "name"), **words)


def invalid_group_names(app: App, groups: int) -> Iterator[Diagnostic]:
    """Errors for the names of groups of several pods, of which there are at most so many, where the app's own fits."""
    if len(app.name) <= _SHORT and _LABEL.fullmatch(app.name):
        yield from _invalid_app_name(app, 2, groups)


class RoleGroups(Struct, frozen=True):
    """The groups of a role: its name, the pods of each, and how many there are at most."""

    role: str
    size: int
    most: int


def invalid_set_name(app: App, roles: Sequence[RoleGroups]) -> Iterator[Diagnostic]:
    """An error where a LeaderWorkerSet that is made of a role of a DisaggregatedSet has too long a name for its pods:
    one for all roles, about that for which the name has to be shortened most. It counts the slice, as
    renderer/check/kinds/disaggregated_sets.py does.
    """
    excess, limit, role = max((_excess(app.name, groups) for groups in roles), key=lambda by_role: by_role[0])
    if excess > 0:
        name = f"{app.name}-0-<8 digits>-{role}"
        words = {"name": name, "length": limit + excess, "limit": limit, "less": excess}
        yield make_diagnostic("E390", app.origin("metadata", "name"), **words)


def _excess(name: str, groups: RoleGroups) -> tuple[int, int, str]:
    """By how many characters the name of a role's LeaderWorkerSet is too long, how many it may have, and the role."""
    limit = _SHORT - (len(f"-{max(groups.most - 1, 0)}") if groups.size > 1 else 0)
    return len(f"{name}-0-12345678-{groups.role}") - limit, limit, groups.role


@lru_cache(maxsize=1024)
def is_dns_label(namespace: str) -> bool:
    """Whether it is a DNS-1123 label."""
    return bool(_OBJECT.fullmatch(namespace)) and len(namespace) <= _DNS_LABEL


@rule(of=TrafficInput)
def invalid_route_names(item: TrafficInput) -> Iterator[Diagnostic]:
    """Errors for name (a label's value) and namespace of a ModelRoute or InferenceModel."""
    if not _OBJECT.fullmatch(item.name) or len(item.name) > _DNS_LABEL:
        yield make_diagnostic("E662", item.origin("metadata", "name"), name=item.name)
    if not is_dns_label(item.namespace):
        yield make_diagnostic("E282", item.origin("metadata", "namespace"), name=item.namespace)


def invalid_model_name(model: OpenModel) -> Iterator[Diagnostic]:
    """An error for a name that is not a DNS-1123 label, which upstream's webhook requires of OpenModels."""
    name = model.name
    if not _OBJECT.fullmatch(name) or len(name) > _DNS_LABEL:
        hint = (
            f"write '{name.lower().replace('.', '--')}' and put the real name into spec.servedModelName"
            if "." in name
            else "use small letters, digits and '-', at most 63 characters"
        )
        yield make_diagnostic("E283", Origin(model.document, ("metadata", "name")), name=name, hint=hint)


def invalid_runtime_name(name: str, origin: Origin) -> Iterator[Diagnostic]:
    """An error for a name that is not a DNS-1123 subdomain, which the API server requires of any object."""
    if len(name) > _SUBDOMAIN or not all(_OBJECT.fullmatch(part) for part in name.split(".")):
        yield make_diagnostic("E283", origin, name=name, hint="use small letters, digits, '-' and '.'")


def invalid_family_name(model: OpenModel) -> Iterator[Diagnostic]:
    """An error for a familyName that is not a label's value (docs/deviations.md#bugs-of-the-operator, 40)."""
    value = model.spec["familyName"]
    if not _is_label_value(value):
        yield make_diagnostic("E284", Origin(model.document, ("spec", "familyName")), value=value)


@lru_cache(maxsize=1024)
def _is_label_value(text: str) -> bool:
    return len(text) <= _DNS_LABEL and bool(_VALUE.fullmatch(text))


# host/namespace/name:tag, in parts that cannot be taken for an option. As text: few runs need it, and re caches it.
_PULLED = r"(?a)[A-Za-z0-9_][\w.:@-]*(?:/[A-Za-z0-9_][\w.:@-]*){0,3}"


def is_pullable(name: str) -> bool:
    """Whether an engine that pulls models by name accepts this name."""
    return bool(re.fullmatch(_PULLED, name))


def served_name_hint(engine: EngineSpec, name: str) -> str:
    """What to do about a served name that the backend's `engine.servedName` does not allow; '' where it does."""
    kind = engine.get("servedName", "option")
    if kind == "directory" and ("/" in name or name in (".", "..")):
        return "there it is the name of a folder: leave out '/', and '.' alone"
    if kind == "model" and not is_pullable(name):
        return "write it as name or name:tag, of letters, digits, '-', '_' and '.'"
    if kind == "option" and name.startswith("-"):
        return "there it is the value of an option: begin with a letter or digit"
    return ""
