"""Presets in the user's own hands: copied into their tree, and a copy compared with ours."""

from __future__ import annotations

import os
from typing import Any

from msgspec import Struct

from renderer import __version__, escapes, load, yamlio
from renderer.api import Inputs, RenderOptions
from renderer.diagnostics import RenderError
from renderer.load import PresetRefused
from renderer.output.folder import write_file
from renderer.sequence_diff import unified
from renderer.source import tree
from renderer.yamlio import Document

_KINDS = {"backends": "BackendRuntime", "models": "OpenModel"}
_EDITORS = "# yaml-language-server:"  # this line leads to a schema of ours, by a path that holds in presets/ only


class VendoredPreset(Struct, frozen=True):
    """A preset's copy: its file, and whether `render` reads it there."""

    path: str
    read: bool


class PresetDifference(Struct, frozen=True):
    """The user's file, and a unified diff for people from our preset to it; '' when both say the same."""

    file: str
    lines: str


def vendor(name: str, to: str, force: bool = False) -> VendoredPreset:
    """Copies a backend or a model into the folder `to` as a file of its name; comments stay.

    Raises Refused, with nothing written, for a name that is no such preset, for a file in the way without `force`, and
    when the tree around the folder has one of that name in another file; RenderError.
    """
    folder, own = _preset(name)
    target = os.path.normpath(os.path.join(to, f"{own}.yaml"))
    tree.refuse_links(target)
    if os.path.isdir(target):
        raise PresetRefused(f"{target} is a folder; write another one with --to")
    if os.path.lexists(target) and not force:
        raise PresetRefused(f"{target} is there already; --force overwrites it, llmaz presets diff {name} compares it")
    paths = _around(to)
    if paths:
        existing = _own(load.inputs(load.scope(RenderOptions(paths)))[0], folder, own)
        if existing and _real(existing.name) != _real(target):
            file, line, _ = existing.origin("metadata", "name").place
            raise PresetRefused(
                f"{_KINDS[folder]} '{own}' is already in {file}:{line}, and two of one name are an error; "
                f"llmaz presets diff {name} compares it"
            )
    with open(os.path.join(load.PRESETS, folder, f"{own}.yaml"), encoding="utf-8") as preset_paths:
        lines = [line for line in preset_paths if not line.startswith(_EDITORS)]
    head = f"# The preset {folder}/{own} of llmaz {__version__}; to compare: llmaz presets diff {name}\n"
    try:
        write_file(target, head + "".join(lines))
    except OSError as error:
        raise PresetRefused(f"{target}: cannot be written: {error.strerror or error}") from None
    read = paths and any(
        _real(file_read.path) == _real(target) for file_read in load.scope(RenderOptions(paths)).tree.files
    )
    return VendoredPreset(target, bool(read))


def preset_difference(name: str, paths: tuple[str, ...] = ()) -> PresetDifference:
    """What the user's BackendRuntime or OpenModel of that name says otherwise than our preset.

    Both are compared as documents: comments, style, the order of keys, labels and status make no difference. Raises
    Refused for a name that is no such preset, or that the files below `paths` do not have; RenderError.
    """
    folder, own = _preset(name)
    inputs, problems = load.inputs(load.scope(RenderOptions(paths, allow_empty=True)))
    theirs = _own(inputs, folder, own)
    if theirs is None:
        if inputs.unreadable:  # there it may be
            raise RenderError(problems)
        raise PresetRefused(f"no {_KINDS[folder]} of yours is named '{own}'; llmaz presets vendor {name} writes one")
    ours = _said(load.preset(f"{folder}/{own}").value)
    texts = (yamlio.dump(ours).splitlines(True), yamlio.dump(_like(_said(theirs.value), ours)).splitlines(True))
    diff = unified(*texts, f"ours (llmaz {__version__})", escapes.line(theirs.name))
    return PresetDifference(theirs.name, escapes.lines("".join(diff)))


def _preset(name: str) -> tuple[str, str]:
    """Folder and name of a backend or a model. Raises Refused."""
    folder, _, own = load.find_preset(name, load.preset_paths()).partition("/")
    if folder not in _KINDS:
        raise PresetRefused(
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
    wanted = nearest = os.path.abspath(to)
    while not os.path.isdir(nearest):
        nearest = os.path.dirname(nearest)
    base, config = tree.base_of((nearest,))
    if config:
        return (os.path.relpath(base),)
    cwd = os.getcwd()
    if os.path.commonpath((cwd, nearest)) == cwd:
        return (".",)
    return (os.path.relpath(nearest),) if nearest == wanted else ()


def _real(path: str) -> str:
    """The one name of a file, links to its folder followed."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _said(value: Any) -> dict[str, Any]:
    """The part of a document that says anything to us."""
    return {"kind": value["kind"], "metadata": {"name": value["metadata"]["name"]}, "spec": value.get("spec")}


def _like(theirs: object, ours: object) -> object:
    """Their value with its keys in the order of ours; further keys come behind, in their own order."""
    if isinstance(theirs, dict):
        known = ours if isinstance(ours, dict) else {}
        keys = [*(key for key in known if key in theirs), *(key for key in theirs if key not in known)]
        return {key: _like(theirs[key], known.get(key)) for key in keys}
    if isinstance(theirs, list):
        items = ours if isinstance(ours, list) else []
        names = {item["name"]: item for item in items if isinstance(item, dict) and isinstance(item.get("name"), str)}
        return [
            _like(entry, _same(entry, names) or (items[i] if i < len(items) else None))
            for i, entry in enumerate(theirs)
        ]
    return theirs


def _same(item: object, names: dict[str, Any]) -> Any:
    """The item of our list that has the name of theirs."""
    name = item.get("name") if isinstance(item, dict) else None
    return names.get(name) if isinstance(name, str) else None
