"""What a ResourceList asks for: the RenderConfig, and what is to be rendered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from renderer import yamlio
from renderer.load.kinds import GROUPS, KINDS
from renderer.load.rule import Rule
from renderer.problems import Origin, Path, RenderError, problem
from renderer.records import NamedTuple
from renderer.yamlio import Document

VERSION, KIND = "config.kubernetes.io/v1", "ResourceList"
MARKER: Mapping[str, Any] = {
    "apiVersion": "renderer.llmaz.io/v1alpha1",
    "kind": "Rendered",
    "metadata": {"name": "llmaz"},
}
Item = Mapping[str, Any]


class Asked(NamedTuple):
    """What is to be done. `config`: the functionConfig; `items`: without it, each with its position in the list;
    `paths`: what the functionConfig says, or would say, that a generator reads; None for a transformer, whose input
    are the items.
    """

    document: Document
    config: dict[str, Any]
    items: tuple[tuple[int, Item], ...]
    paths: Any


def asked(name: str, data: bytes) -> Asked:
    """What stands in `data`. Raises RenderError."""
    document, items = _list(name, data)
    value = document.value.get("functionConfig")
    if value is None:
        raise RenderError([problem("E731", Origin(Rule(name)))])
    if not isinstance(value, dict) or (value.get("kind"), value.get("apiVersion")) != _CONFIG:
        raise RenderError([problem("E732", document.origin("functionConfig", "kind"), what=_called(value))])
    value = _worded(document, value, ("functionConfig",))
    spec = value.get("spec")
    given = spec.get("paths") if isinstance(spec, dict) else None
    others = tuple(
        (i, _worded(document, each, ("items", i)) if ours(each) else each)
        for i, each in enumerate(items)
        if not same(each, value)
    )
    # Kustomize gives a generator its own configuration for an item, and a transformer what was there before it.
    generates = given is not None or len(others) < len(items)
    made = Asked(document, value, others, (["."] if given is None else given) if generates else None)
    _refuse(made)
    return made


def ours(item: Item) -> bool:
    """Whether an item is input of ours, right or wrong."""
    version, kind = item.get("apiVersion"), item.get("kind")
    group = version.partition("/")[0] if isinstance(version, str) else ""
    named = KINDS.get(kind, "") if isinstance(kind, str) else ""
    return group in GROUPS or (bool(group) and group == named.partition("/")[0])


def same(one: Any, other: Any) -> bool:
    """Whether both are one RenderConfig, whatever kustomize did to it on its way."""
    keys = ("apiVersion", "kind", "spec")
    return all(isinstance(each, dict) and each.get("kind") == "RenderConfig" for each in (one, other)) and all(
        _said(one.get(key) or None) == _said(other.get(key) or None) for key in keys
    )


_CONFIG = ("RenderConfig", KINDS["RenderConfig"])
_WORDS = ("hardening", "mode")
_NO, _YES = ("false", "off", "no", "n"), ("true", "on", "yes", "y")


def _said(value: Any) -> Any:
    """A value in which `off` is what it is for us: a word or false."""
    if isinstance(value, dict):
        return {key: _said(each) for key, each in value.items() if each is not None}
    if isinstance(value, list):
        return [_said(each) for each in value]
    if isinstance(value, (bool, str)):
        word = str(value).lower()
        return "false" if word in _NO else "true" if word in _YES else value
    return value


def _worded(document: Document, value: Any, path: Path) -> Any:
    """A value of the list in which a plain `off` is that word where our kinds have it for one."""
    if isinstance(value, list):
        return [_worded(document, each, (*path, i)) for i, each in enumerate(value)]
    if not isinstance(value, dict):
        off = value is False and path[-1] in _WORDS and (document.raw(path) or "").lower() == "off"
        return "off" if off else value
    return {key: _worded(document, each, (*path, key)) for key, each in value.items()}


def _list(name: str, data: bytes) -> tuple[Document, list[Item]]:
    """The one document, and its items."""
    documents, problems = yamlio.parse(name, data)
    if problems:
        raise RenderError(problems)
    if len(documents) != 1:
        what = f"{len(documents)} documents" if documents else "nothing"
        raise RenderError([problem("E730", Origin(Rule(name)), what=what)])
    [document] = documents
    value = document.value
    if not isinstance(value, dict) or (value.get("kind"), value.get("apiVersion")) != (KIND, VERSION):
        raise RenderError([problem("E730", document.origin(), what=_called(value))])
    items = value.get("items")
    if not isinstance(items, list | None):
        raise RenderError([problem("E730", document.origin("items"), what="items that are no list")])
    for i, item in enumerate(items or ()):
        if not isinstance(item, dict):
            raise RenderError([problem("E730", document.origin("items", i), what="an item that is no object")])
    return document, items or []


def _called(value: Any) -> str:
    """Kind and version of what is there instead."""
    if not isinstance(value, dict):
        return "no object"
    kind, version = value.get("kind"), value.get("apiVersion")
    return " of ".join(str(each) for each in (kind, version) if each) or "an object without a kind"


def _refuse(made: Asked) -> None:
    """Raises RenderError where the list makes no sense as a whole."""
    found = []
    for i, item in made.items:
        origin = made.document.origin("items", i)
        if (item.get("apiVersion"), item.get("kind")) == (MARKER["apiVersion"], MARKER["kind"]):
            found.append(problem("E739", origin))
        elif item.get("kind") == "RenderConfig" and ours(item):
            found.append(problem("E734", origin))
        elif ours(item) and made.paths is not None:
            found.append(problem("E735", origin, what=called(item)))
    if found:
        raise RenderError(found)


def called(item: Item) -> str:
    """An object's kind, namespace and name, on one line."""
    metadata = item.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name = "/".join(str(each) for each in (metadata.get("namespace"), metadata.get("name")) if each)
    return " ".join(f"{item.get('kind')} {name}".split())
