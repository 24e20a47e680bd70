"""Presets in the user's own hands: copied into their tree, and a copy compared with ours."""

from __future__ import annotations

import os
from typing import Any

from renderer import __version__, escapes, load, tree, yamlio
from renderer.api import Inputs, Options
from renderer.differences import unified
from renderer.load import Refused
from renderer.problems import RenderError
from renderer.records import NamedTuple
from renderer.writer import write_file
from renderer.yamlio import Document

_KINDS = {"backends": "BackendRuntime", "models": "OpenModel"}
_EDITORS = "# yaml-language-server:"  # this line leads to a schema of ours, by a path that holds in presets/ only


class Vendored(NamedTuple):
    """A preset's copy: its file, and whether `render` reads it there."""

    path: str
    read: bool


class Difference(NamedTuple):
    """The user's file, and a unified diff for people from our preset to it; '' when both say the same."""

    file: str
    lines: str


def vendor(name: str, to: str, force: bool = False) -> Vendored:
    """Copies a backend or a model into the folder `to` as a file of its name; comments stay.

    Raises Refused, with nothing written, for a name that is no such preset, for a file in the way without `force`, and
    when the tree around the folder has one of that name in another file; RenderError.
    """
    folder, own = _preset(name)
    target = os.path.normpath(os.path.join(to, f"{own}.yaml"))
    tree.refuse_links(target)
    if os.path.isdir(target):
        raise Refused(f"{target} is a folder; write another one with --to")
    if os.path.lexists(target) and not force:
        raise Refused(f"{target} is there already; --force overwrites it, llmaz presets diff {name} compares it")
    paths = _around(to)
    if paths:
        there = _own(load.inputs(load.scope(Options(paths)))[0], folder, own)
        if there and _real(there.name) != _real(target):
            file, line, _ = there.origin("metadata", "name").place
            raise Refused(
                f"{_KINDS[folder]} '{own}' is already in {file}:{line}, and two of one name are an error; "
                f"llmaz presets diff {name} compares it"
            )
    with open(os.path.join(load.PRESETS, folder, f"{own}.yaml"), encoding="utf-8") as shipped:
        lines = [line for line in shipped if not line.startswith(_EDITORS)]
    head = f"# The preset {folder}/{own} of llmaz {__version__}; to compare: llmaz presets diff {name}\n"
    try:
        write_file(target, head + "".join(lines))
    except OSError as error:
        raise Refused(f"{target}: cannot be written: {error.strerror or error}") from None
    read = paths and any(_real(each.path) == _real(target) for each in load.scope(Options(paths)).tree.files)
    return Vendored(target, bool(read))


def difference(name: str, paths: tuple[str, ...] = ()) -> Difference:
    """What the user's BackendRuntime or OpenModel of that name says otherwise than our preset.

    Both are compared as documents: comments, style, the order of keys, labels and status make no difference. Raises
    Refused for a name that is no such preset, or that the files below `paths` do not have; RenderError.
    """
    folder, own = _preset(name)
    inputs, problems = load.inputs(load.scope(Options(paths, allow_empty=True)))
    theirs = _own(inputs, folder, own)
    if theirs is None:
        if inputs.unreadable:  # there it may be
            raise RenderError(problems)
        raise Refused(f"no {_KINDS[folder]} of yours is named '{own}'; llmaz presets vendor {name} writes one")
    ours = _said(load.preset(f"{folder}/{own}").value)
    texts = (yamlio.dump(ours).splitlines(True), yamlio.dump(_like(_said(theirs.value), ours)).splitlines(True))
    diff = unified(*texts, f"ours (llmaz {__version__})", escapes.line(theirs.name))
    return Difference(theirs.name, escapes.lines("".join(diff)))


def _preset(name: str) -> tuple[str, str]:
    """Folder and name of a backend or a model. Raises Refused."""
    folder, _, own = load.named(name, load.shipped()).partition("/")
    if folder not in _KINDS:
        raise Refused(
            f"'{name}' is a loader, and there are none of one's own yet; "
            f"RenderConfig's loaders.{own} changes its image, resources and environment"
        )
    return folder, own


def _own(inputs: Inputs, folder: str, name: str) -> Document | None:
    """The user's document of that name, in good order or not."""
    shelf = inputs.runtimes if folder == "backends" else inputs.models
    if name in shelf and not shelf[name].ours:
        return shelf[name].document
    return inputs.broken.get((_KINDS[folder], name))


def _around(to: str) -> tuple[str, ...]:
    """What `render` reads around a folder that need not be there yet: the folder of the nearest llmaz.yaml, else the
    current one, else that folder itself; empty when it would be the first in a place of its own.
    """
    wanted = there = os.path.abspath(to)
    while not os.path.isdir(there):
        there = os.path.dirname(there)
    base, config = tree.base_of((there,))
    if config:
        return (os.path.relpath(base),)
    here = os.getcwd()
    if os.path.commonpath((here, there)) == here:
        return (".",)
    return (os.path.relpath(there),) if there == wanted else ()


def _real(path: str) -> str:
    """The one name of a file, links to its folder followed."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _said(value: Any) -> dict[str, Any]:
    """The part of a document that says anything to us."""
    return {"kind": value["kind"], "metadata": {"name": value["metadata"]["name"]}, "spec": value.get("spec")}


def _like(theirs: Any, ours: Any) -> Any:
    """Their value with its keys in the order of ours; further keys come behind, in their own order."""
    if isinstance(theirs, dict):
        known = ours if isinstance(ours, dict) else {}
        keys = [*(key for key in known if key in theirs), *(key for key in theirs if key not in known)]
        return {key: _like(theirs[key], known.get(key)) for key in keys}
    if isinstance(theirs, list):
        items = ours if isinstance(ours, list) else []
        names = {each["name"]: each for each in items if isinstance(each, dict) and isinstance(each.get("name"), str)}
        return [
            _like(each, _same(each, names) or (items[i] if i < len(items) else None)) for i, each in enumerate(theirs)
        ]
    return theirs


def _same(item: Any, names: dict[str, Any]) -> Any:
    """The item of our list that has the name of theirs."""
    name = item.get("name") if isinstance(item, dict) else None
    return names.get(name) if isinstance(name, str) else None
