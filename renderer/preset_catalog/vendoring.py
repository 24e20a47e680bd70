"""Copies presets into the user's tree, and compares copies with the presets."""

from __future__ import annotations

import os
from typing import Any

from msgspec import Struct

from renderer import __version__, load, yamlio
from renderer.api import Inputs, RenderOptions
from renderer.diagnostics import RenderError
from renderer.load import PresetRefused
from renderer.output.folder_writer import write_file
from renderer.source import tree
from renderer.text import escapes
from renderer.text.differences import unified
from renderer.yamlio import Document

_KINDS = {"backends": "BackendRuntime", "models": "OpenModel"}
_COPY = "# The preset "  # begins the first line of a copy
_EDITORS = "# yaml-language-server:"  # a line with the path of a schema that is only valid in presets/


class VendoredPreset(Struct, frozen=True):
    """A copy of a preset."""

    path: str  # of its file
    is_read: bool  # `render` reads the file


class PresetDifference(Struct, frozen=True):
    """A preset beside the user's file in place of it."""

    file: str  # of the user
    diff: str  # unified, from the preset to the user's file, '' when they are equal


def vendor(name: str, to: str, force: bool = False) -> VendoredPreset:
    """Copies a backend or a model into the folder `to` as a file of its name, with its comments; '' for the folder of
    such files, as `llmaz init` makes one, else the current folder.

    Raises PresetRefused, with nothing written, for an unknown name, for an existing file without `force`, and when the
    tree around the folder has that name in another file; RenderError.
    """
    folder, preset_name = _preset(name)
    to = to or (folder if os.path.isdir(folder) else ".")
    target = os.path.normpath(os.path.join(to, f"{preset_name}.yaml"))
    tree.refuse_links(target)
    if os.path.isdir(target):
        raise PresetRefused(f"{target} is a folder; write another one with --to")
    if os.path.lexists(target) and not force:
        raise PresetRefused(f"{target} already exists; --force overwrites it, llmaz presets diff {name} compares it")
    paths = _surrounding_paths(to)
    if paths:
        existing = _user_document(load.inputs(load.scope(RenderOptions(paths)))[0], folder, preset_name)
        if existing and _real_path(existing.name) != _real_path(target):
            file, line, _ = existing.origin("metadata", "name").place
            raise PresetRefused(
                f"{_KINDS[folder]} '{preset_name}' is already in {file}:{line}, and two of one name are an error; "
                f"llmaz presets diff {name} compares it"
            )
    with open(os.path.join(load.PRESETS, folder, f"{preset_name}.yaml"), encoding="utf-8") as preset_paths:
        lines = [line for line in preset_paths if not line.startswith(_EDITORS)]
    head = f"{_COPY}{folder}/{preset_name} of llmaz {__version__}; to compare: llmaz presets diff {name}\n"
    try:
        write_file(target, head + "".join(lines))
    except OSError as error:
        raise PresetRefused(f"{target}: cannot be written: {error.strerror or error}") from None
    is_read = paths and any(
        _real_path(file_read.path) == _real_path(target) for file_read in load.scope(RenderOptions(paths)).tree.files
    )
    return VendoredPreset(target, bool(is_read))


def is_copy(document: Document) -> bool:
    """Whether a document is in a file that `vendor` wrote."""
    return document.data.startswith(_COPY.encode())


def preset_difference(name: str, paths: tuple[str, ...] = ()) -> PresetDifference:
    """The difference between a preset and the user's BackendRuntime or OpenModel of that name.

    Comments, style, the order of keys, labels and status are ignored. Raises PresetRefused for an unknown name, and for
    one that the files below `paths` do not have; RenderError.
    """
    folder, preset_name = _preset(name)
    inputs, problems = load.inputs(load.scope(RenderOptions(paths, allow_empty=True)))
    user_document = _user_document(inputs, folder, preset_name)
    if user_document is None:
        if inputs.unreadable:  # there it may be
            raise RenderError(problems)
        raise PresetRefused(
            f"no {_KINDS[folder]} of yours is named '{preset_name}'; llmaz presets vendor {name} writes one"
        )
    preset = _comparable_part(load.preset(f"{folder}/{preset_name}").value)
    texts = (
        yamlio.dump(preset).splitlines(True),
        yamlio.dump(_ordered_like(_comparable_part(user_document.value), preset)).splitlines(True),
    )
    diff = unified(*texts, f"ours (llmaz {__version__})", escapes.line(user_document.name))
    return PresetDifference(user_document.name, escapes.lines("".join(diff)))


def _preset(name: str) -> tuple[str, str]:
    """Folder and name of a backend or a model. Raises PresetRefused."""
    folder, _, preset_name = load.find_preset(name, load.preset_paths()).partition("/")
    if folder not in _KINDS:
        raise PresetRefused(
            f"'{name}' is a loader, and you cannot have your own yet; "
            f"RenderConfig's loaders.{preset_name} changes its image, resources and environment"
        )
    return folder, preset_name


def _user_document(inputs: Inputs, folder: str, name: str) -> Document | None:
    """The user's document of that name, valid or not."""
    documents = inputs.runtimes if folder == "backends" else inputs.models
    if name in documents and not documents[name].ours:
        return documents[name].document
    return inputs.broken.get((_KINDS[folder], name))


def _surrounding_paths(to: str) -> tuple[str, ...]:
    """The paths that `render` would read for a folder: the folder of the nearest llmaz.yaml, else the current one, else
    that folder itself; empty when it does not exist outside of the current one.
    """
    target = nearest = os.path.abspath(to)
    while not os.path.isdir(nearest):
        nearest = os.path.dirname(nearest)
    base, config = tree.base_of((nearest,))
    if config:
        return (os.path.relpath(base),)
    cwd = os.getcwd()
    if os.path.commonpath((cwd, nearest)) == cwd:
        return (".",)
    return (os.path.relpath(nearest),) if nearest == target else ()


def _real_path(path: str) -> str:
    """The path of a file with links in its folder resolved."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _comparable_part(value: Any) -> dict[str, Any]:
    """The fields of a document that are compared."""
    return {"kind": value["kind"], "metadata": {"name": value["metadata"]["name"]}, "spec": value.get("spec")}


def _ordered_like(value: object, reference: object) -> object:
    """A value with its keys in the order of a reference; other keys follow in their own order."""
    if isinstance(value, dict):
        known = reference if isinstance(reference, dict) else {}
        keys = [*(key for key in known if key in value), *(key for key in value if key not in known)]
        return {key: _ordered_like(value[key], known.get(key)) for key in keys}
    if isinstance(value, list):
        items = reference if isinstance(reference, list) else []
        names = {item["name"]: item for item in items if isinstance(item, dict) and isinstance(item.get("name"), str)}
        return [
            _ordered_like(entry, _same_name(entry, names) or (items[i] if i < len(items) else None))
            for i, entry in enumerate(value)
        ]
    return value


def _same_name(item: object, names: dict[str, Any]) -> Any:
    """The item of the same name."""
    name = item.get("name") if isinstance(item, dict) else None
    return names.get(name) if isinstance(name, str) else None
